// gfx942 (MI300 series, CDNA3).
//
// Sources: "AMD Instinct MI300 Instruction Set Architecture", chapter 7 'Matrix
// Arithmetic Instructions' (7.1 register layouts, 7.5 passes), LLVM's AMDGPU usage
// page (features, LDS). A pass is four cycles.

// A and B of the 32x32 forms: lane % 32 is the row (column), lane / 32 selects
// the block of k; C and D: row = 8 * (r / 4) + 4 * (lane / 32) + r % 4.
#mfma_f32_32x32x8_bf16 = #evo_tile.matrix_instr<
  name = "mfma_f32_32x32x8_bf16", m = 32, n = 32, k = 8,
  a_type = bf16, b_type = bf16, c_type = f32,
  a = <registers = [[4, 0, 1]], lanes = [[32, 1, 0], [2, 0, 4]], subgroups = []>,
  b = <registers = [[4, 1, 0]], lanes = [[32, 0, 1], [2, 4, 0]], subgroups = []>,
  c = <registers = [[4, 1, 0], [4, 8, 0]], lanes = [[32, 0, 1], [2, 4, 0]], subgroups = []>,
  intrinsic = "llvm.amdgcn.mfma.f32.32x32x8bf16.1k",
  a_regs = [vector<4xi16>], b_regs = [vector<4xi16>], c_regs = [vector<16xf32>],
  immediates = [0 : i32, 0 : i32, 0 : i32], cycles = 32>
#mfma_f32_32x32x8_f16 = #evo_tile.matrix_instr<
  name = "mfma_f32_32x32x8_f16", m = 32, n = 32, k = 8,
  a_type = f16, b_type = f16, c_type = f32,
  a = <registers = [[4, 0, 1]], lanes = [[32, 1, 0], [2, 0, 4]], subgroups = []>,
  b = <registers = [[4, 1, 0]], lanes = [[32, 0, 1], [2, 4, 0]], subgroups = []>,
  c = <registers = [[4, 1, 0], [4, 8, 0]], lanes = [[32, 0, 1], [2, 4, 0]], subgroups = []>,
  intrinsic = "llvm.amdgcn.mfma.f32.32x32x8f16",
  a_regs = [vector<4xf16>], b_regs = [vector<4xf16>], c_regs = [vector<16xf32>],
  immediates = [0 : i32, 0 : i32, 0 : i32], cycles = 32>
#mfma_f32_32x32x2_f32 = #evo_tile.matrix_instr<
  name = "mfma_f32_32x32x2_f32", m = 32, n = 32, k = 2,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[32, 1, 0], [2, 0, 1]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[32, 0, 1], [2, 1, 0]], subgroups = []>,
  c = <registers = [[4, 1, 0], [4, 8, 0]], lanes = [[32, 0, 1], [2, 4, 0]], subgroups = []>,
  intrinsic = "llvm.amdgcn.mfma.f32.32x32x2f32",
  a_regs = [f32], b_regs = [f32], c_regs = [vector<16xf32>],
  immediates = [0 : i32, 0 : i32, 0 : i32], cycles = 64>
// The 16x16 forms: lane % 16 is the row (column), lane / 16 the block of k;
// C and D: row = 4 * (lane / 16) + r.
#mfma_f32_16x16x16_bf16 = #evo_tile.matrix_instr<
  name = "mfma_f32_16x16x16_bf16", m = 16, n = 16, k = 16,
  a_type = bf16, b_type = bf16, c_type = f32,
  a = <registers = [[4, 0, 1]], lanes = [[16, 1, 0], [4, 0, 4]], subgroups = []>,
  b = <registers = [[4, 1, 0]], lanes = [[16, 0, 1], [4, 4, 0]], subgroups = []>,
  c = <registers = [[4, 1, 0]], lanes = [[16, 0, 1], [4, 4, 0]], subgroups = []>,
  intrinsic = "llvm.amdgcn.mfma.f32.16x16x16bf16.1k",
  a_regs = [vector<4xi16>], b_regs = [vector<4xi16>], c_regs = [vector<4xf32>],
  immediates = [0 : i32, 0 : i32, 0 : i32], cycles = 16>
#mfma_f32_16x16x16_f16 = #evo_tile.matrix_instr<
  name = "mfma_f32_16x16x16_f16", m = 16, n = 16, k = 16,
  a_type = f16, b_type = f16, c_type = f32,
  a = <registers = [[4, 0, 1]], lanes = [[16, 1, 0], [4, 0, 4]], subgroups = []>,
  b = <registers = [[4, 1, 0]], lanes = [[16, 0, 1], [4, 4, 0]], subgroups = []>,
  c = <registers = [[4, 1, 0]], lanes = [[16, 0, 1], [4, 4, 0]], subgroups = []>,
  intrinsic = "llvm.amdgcn.mfma.f32.16x16x16f16",
  a_regs = [vector<4xf16>], b_regs = [vector<4xf16>], c_regs = [vector<4xf32>],
  immediates = [0 : i32, 0 : i32, 0 : i32], cycles = 16>
#mfma_f32_16x16x4_f32 = #evo_tile.matrix_instr<
  name = "mfma_f32_16x16x4_f32", m = 16, n = 16, k = 4,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[16, 1, 0], [4, 0, 1]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[16, 0, 1], [4, 1, 0]], subgroups = []>,
  c = <registers = [[4, 1, 0]], lanes = [[16, 0, 1], [4, 4, 0]], subgroups = []>,
  intrinsic = "llvm.amdgcn.mfma.f32.16x16x4f32",
  a_regs = [f32], b_regs = [f32], c_regs = [vector<4xf32>],
  immediates = [0 : i32, 0 : i32, 0 : i32], cycles = 32>

// buffer_resources: word 3 of a resource, 'Buffer Resource Descriptor': a format of 32-bit floats.
module attributes {evo_tile.target = #evo_tile.target<
  chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "",
  subgroup_size = 64, max_workgroup = 1024, registers = 512,
  lds_bytes = 65536, lds_banks = 32,
  matrix = [#mfma_f32_32x32x8_bf16, #mfma_f32_32x32x8_f16, #mfma_f32_32x32x2_f32,
            #mfma_f32_16x16x16_bf16, #mfma_f32_16x16x16_f16, #mfma_f32_16x16x4_f32],
  properties = {rates = #evo_tile.unit_rates<overlap = matrix, simds = 4, vector = 4, multiply = 16, transcendental = 16, lds_bytes = 128, cache_bytes = 64, cache_access = 4>,
                buffer_resources = 159744 : i64, unaligned_access,
                lds_barrier, sched_barrier,
                packed_i16, carry_conditions, rounds_products,
                uniform = "llvm.amdgcn.readfirstlane.i32", packed_f32},
  tuning = {widening_rows = 64}>} {}
