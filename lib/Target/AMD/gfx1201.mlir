// gfx1201 (RDNA4; others.txt names chips that share this table).
//
// Sources: "RDNA4 Instruction Set Architecture", section 7.12 'Wave Matrix Multiply
// Accumulate (WMMA)' (register layouts) and 'Data Share Operations' (LDS); the
// rate of WMMA is an estimate from peak figures.

// Wave32. Lane % 16 is the row of A (the column of B), lane / 16 the half of k;
// C and D: row = 8 * (lane / 16) + r. Section 7.12.2 numbers k in another order,
// 8 * (r / 4) + 4 * (lane / 16) + r % 4, in A and in B alike: which lane and
// register an element of A meets is the same, and only that is seen. Numbered as
// here, a lane's elements are next to each other in memory.
#wmma_f32_16x16x16_bf16_rdna4 = #evo_tile.matrix_instr<
  name = "wmma_f32_16x16x16_bf16_rdna4", m = 16, n = 16, k = 16,
  a_type = bf16, b_type = bf16, c_type = f32,
  a = <registers = [[8, 0, 1]], lanes = [[16, 1, 0], [2, 0, 8]], subgroups = []>,
  b = <registers = [[8, 1, 0]], lanes = [[16, 0, 1], [2, 8, 0]], subgroups = []>,
  c = <registers = [[8, 1, 0]], lanes = [[16, 0, 1], [2, 8, 0]], subgroups = []>,
  intrinsic = "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v8i16",
  a_regs = [vector<8xi16>], b_regs = [vector<8xi16>], c_regs = [vector<8xf32>],
  cycles = 16>
#wmma_f32_16x16x16_f16_rdna4 = #evo_tile.matrix_instr<
  name = "wmma_f32_16x16x16_f16_rdna4", m = 16, n = 16, k = 16,
  a_type = f16, b_type = f16, c_type = f32,
  a = <registers = [[8, 0, 1]], lanes = [[16, 1, 0], [2, 0, 8]], subgroups = []>,
  b = <registers = [[8, 1, 0]], lanes = [[16, 0, 1], [2, 8, 0]], subgroups = []>,
  c = <registers = [[8, 1, 0]], lanes = [[16, 0, 1], [2, 8, 0]], subgroups = []>,
  intrinsic = "llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16",
  a_regs = [vector<8xf16>], b_regs = [vector<8xf16>], c_regs = [vector<8xf32>],
  cycles = 16>
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
  chip = "gfx1201", triple = "amdgcn-amd-amdhsa", features = "+wavefrontsize32,-real-true16",
  subgroup_size = 32, max_workgroup = 1024, registers = 256,
  lds_bytes = 65536, lds_banks = 32,
  matrix = [#wmma_f32_16x16x16_bf16_rdna4, #wmma_f32_16x16x16_f16_rdna4,
            #fma_f32_4x8x1],
  properties = {rates = #evo_tile.unit_rates<overlap = transcendental, simds = 2, vector = 1, multiply = 4, transcendental = 4, lds_bytes = 128, cache_bytes = 64, cache_access = 2>,
                buffer_resources = 822243328 : i64, unaligned_access,
                lds_barrier, sched_barrier,
                packed_i16, carry_conditions, rounds_products,
                uniform = "llvm.amdgcn.readfirstlane.i32", permlane_x16},
  tuning = {widening_rows = 64}>} {}
