// gfx1100 (RDNA3; others.txt names chips that share this table).
//
// Sources: "RDNA3 Instruction Set Architecture", section 7.9 (wave matrix
// multiply accumulate); the rate of WMMA is an estimate from peak figures.

// Wave32. A and B are replicated in both half waves: lane % 16 is the row
// (column), the 16 registers' halves are k. C and D: row = 2 * r + lane / 16.
#wmma_f32_16x16x16_bf16 = #evo_tile.matrix_instr<
  name = "wmma_f32_16x16x16_bf16", m = 16, n = 16, k = 16,
  a_type = bf16, b_type = bf16, c_type = f32,
  a = <registers = [[16, 0, 1]], lanes = [[16, 1, 0], [2, 0, 0]], subgroups = []>,
  b = <registers = [[16, 1, 0]], lanes = [[16, 0, 1], [2, 0, 0]], subgroups = []>,
  c = <registers = [[8, 2, 0]], lanes = [[16, 0, 1], [2, 1, 0]], subgroups = []>,
  intrinsic = "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16",
  a_regs = [vector<16xi16>], b_regs = [vector<16xi16>], c_regs = [vector<8xf32>],
  cycles = 32>
#wmma_f32_16x16x16_f16 = #evo_tile.matrix_instr<
  name = "wmma_f32_16x16x16_f16", m = 16, n = 16, k = 16,
  a_type = f16, b_type = f16, c_type = f32,
  a = <registers = [[16, 0, 1]], lanes = [[16, 1, 0], [2, 0, 0]], subgroups = []>,
  b = <registers = [[16, 1, 0]], lanes = [[16, 0, 1], [2, 0, 0]], subgroups = []>,
  c = <registers = [[8, 2, 0]], lanes = [[16, 0, 1], [2, 1, 0]], subgroups = []>,
  intrinsic = "llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16",
  a_regs = [vector<16xf16>], b_regs = [vector<16xf16>], c_regs = [vector<8xf32>],
  cycles = 32>
// No f32 matrix unit: plain FMA on lanes arranged 4 x 8.
#fma_f32_4x8x1 = #evo_tile.matrix_instr<
  name = "fma_f32_4x8x1", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32",
  a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>

// buffer_resources: word 3 of a resource, 'Buffer Resource Descriptor': a format of 32-bit floats,
// range checks of raw buffers.
module attributes {evo_tile.target = #evo_tile.target<
  chip = "gfx1100", triple = "amdgcn-amd-amdhsa", features = "+wavefrontsize32,-real-true16",
  subgroup_size = 32, max_workgroup = 1024, registers = 256,
  lds_bytes = 65536, lds_banks = 32,
  matrix = [#wmma_f32_16x16x16_bf16, #wmma_f32_16x16x16_f16, #fma_f32_4x8x1],
  properties = {rates = #evo_tile.unit_rates<overlap = transcendental, simds = 2, vector = 1, multiply = 4, transcendental = 4, lds_bytes = 128, cache_bytes = 64, cache_access = 2>,
                buffer_resources = 822243328 : i64, unaligned_access,
                lds_barrier, sched_barrier,
                packed_i16, carry_conditions, rounds_products,
                uniform = "llvm.amdgcn.readfirstlane.i32", permlane_x16},
  tuning = {indexed_exchange}>} {}
