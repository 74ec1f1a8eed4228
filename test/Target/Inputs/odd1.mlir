// A chip that nobody makes: subgroups of 16 lanes, matrix instructions of
// shapes that are no powers of two, little workgroup memory in 24 banks. Its
// rows are of the same kind as those under lib/Target.

// Lanes are 4 x 4: lane % 4 is the column, lane / 4 the block of rows. Each lane
// has all 6 k of its three rows of A and of its column of B.
#odd_f32_12x4x6_bf16 = #evo_tile.matrix_instr<
  name = "odd_f32_12x4x6_bf16", m = 12, n = 4, k = 6,
  a_type = bf16, b_type = bf16, c_type = f32,
  a = <registers = [[6, 0, 1], [3, 1, 0]], lanes = [[4, 0, 0], [4, 3, 0]], subgroups = []>,
  b = <registers = [[6, 1, 0]], lanes = [[4, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[3, 1, 0]], lanes = [[4, 0, 1], [4, 3, 0]], subgroups = []>,
  intrinsic = "llvm.odd.mma.12x4x6.bf16",
  a_regs = [vector<18xbf16>], b_regs = [vector<6xbf16>], c_regs = [vector<3xf32>],
  cycles = 8>
// Columns in registers, k spread over lanes.
#odd_f32_4x8x8_f16 = #evo_tile.matrix_instr<
  name = "odd_f32_4x8x8_f16", m = 4, n = 8, k = 8,
  a_type = f16, b_type = f16, c_type = f32,
  a = <registers = [[2, 0, 1]], lanes = [[4, 0, 2], [4, 1, 0]], subgroups = []>,
  b = <registers = [[4, 1, 0]], lanes = [[8, 0, 1], [2, 4, 0]], subgroups = []>,
  c = <registers = [[2, 0, 1]], lanes = [[4, 0, 2], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.odd.mma.4x8x8.f16",
  a_regs = [i32], b_regs = [i32, i32], c_regs = [f32, f32],
  immediates = [7 : i32], cycles = 4>
#odd_fma_2x8x1_f32 = #evo_tile.matrix_instr<
  name = "odd_fma_2x8x1_f32", m = 2, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [2, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [2, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [2, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32",
  a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>

module attributes {evo_tile.target = #evo_tile.target<
  chip = "odd1", triple = "nvptx64-nobody-odd", features = "",
  subgroup_size = 16, max_workgroup = 192, registers = 320,
  lds_bytes = 40000, lds_banks = 24,
  matrix = [#odd_f32_12x4x6_bf16, #odd_f32_4x8x8_f16, #odd_fma_2x8x1_f32],
  properties = {copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4]>, flushes_subnormals}, tuning = {operand_reuse = 1}>} {}
