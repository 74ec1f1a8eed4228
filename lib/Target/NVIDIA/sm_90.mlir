// sm_90 (Hopper; H100, H200), with instructions that later chips do not have.
//
// Sources: those of sm_80.mlir; "Parallel Thread Execution ISA", section
// "Asynchronous Warpgroup Level Matrix Instructions" (wgmma, sm_90a); "NVIDIA
// Hopper Tuning Guide", "Unified Shared Memory/L1/Texture Cache" (227 KB of shared
// memory a block); "griddepcontrol".

// groupID = lane / 4, threadID_in_group = lane % 4 in the ISA's words.
#mma_m16n8k16_bf16 = #evo_tile.matrix_instr<
  name = "mma_m16n8k16_bf16", m = 16, n = 8, k = 16,
  a_type = bf16, b_type = bf16, c_type = f32,
  a = <registers = [[2, 0, 1], [2, 8, 0], [2, 0, 8]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  b = <registers = [[2, 1, 0], [2, 8, 0]], lanes = [[4, 2, 0], [8, 0, 1]], subgroups = []>,
  c = <registers = [[2, 0, 1], [2, 8, 0]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  intrinsic = "llvm.nvvm.mma.m16n8k16.row.col.bf16",
  a_regs = [i32, i32, i32, i32], b_regs = [i32, i32], c_regs = [f32, f32, f32, f32],
  cycles = 8>
#mma_m16n8k16_f16 = #evo_tile.matrix_instr<
  name = "mma_m16n8k16_f16", m = 16, n = 8, k = 16,
  a_type = f16, b_type = f16, c_type = f32,
  a = <registers = [[2, 0, 1], [2, 8, 0], [2, 0, 8]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  b = <registers = [[2, 1, 0], [2, 8, 0]], lanes = [[4, 2, 0], [8, 0, 1]], subgroups = []>,
  c = <registers = [[2, 0, 1], [2, 8, 0]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  intrinsic = "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
  a_regs = [vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>],
  b_regs = [vector<2xf16>, vector<2xf16>], c_regs = [f32, f32, f32, f32],
  cycles = 8>
// Of tf32, which has 8 bits of exponent and 10 of fraction, two terms hold an
// f32 to within 2^-23.
#mma_m16n8k8_tf32 = #evo_tile.matrix_instr<
  name = "mma_m16n8k8_tf32", m = 16, n = 8, k = 8,
  a_type = tf32, b_type = tf32, c_type = f32,
  a = <registers = [[2, 8, 0], [2, 0, 4]], lanes = [[4, 0, 1], [8, 1, 0]], subgroups = []>,
  b = <registers = [[2, 4, 0]], lanes = [[4, 1, 0], [8, 0, 1]], subgroups = []>,
  c = <registers = [[2, 0, 1], [2, 8, 0]], lanes = [[4, 0, 2], [8, 1, 0]], subgroups = []>,
  intrinsic = "llvm.nvvm.mma.m16n8k8.row.col.tf32",
  a_regs = [i32, i32, i32, i32], b_regs = [i32, i32], c_regs = [f32, f32, f32, f32],
  terms = 2, cycles = 8>
// Exact f32 is plain FMA on 8 x 4 lanes.
#fma_f32_8x4x1 = #evo_tile.matrix_instr<
  name = "fma_f32_8x4x1", m = 8, n = 4, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[4, 0, 0], [8, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[4, 0, 1], [8, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[4, 0, 1], [8, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32",
  a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>

// A warpgroup's product: each of four subgroups has the rows of one mma, of which
// the fragments are as there ("Register Fragments for wgmma.mma_async.m64nNk16").
#wgmma_bf16 = #evo_tile.group_matrix_instr<
  name = "wgmma_m64k16_bf16", each = #mma_m16n8k16_bf16, subgroups = 4, most_n = 256,
  opcode = "wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16", cycles = 4>
#wgmma_f16 = #evo_tile.group_matrix_instr<
  name = "wgmma_m64k16_f16", each = #mma_m16n8k16_f16, subgroups = 4, most_n = 256,
  opcode = "wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16", cycles = 4>

module attributes {evo_tile.target = #evo_tile.target<
  chip = "sm_90", triple = "nvptx64-nvidia-cuda", features = "+ptx80",
  subgroup_size = 32, max_workgroup = 1024, registers = 255,
  lds_bytes = 232448, lds_banks = 32,
  matrix = [#mma_m16n8k16_bf16, #mma_m16n8k16_f16,
            #mma_m16n8k8_tf32, #fma_f32_8x4x1],
  properties = {rates = #evo_tile.unit_rates<overlap = issue, simds = 4, vector = 1, multiply = 2, transcendental = 8, lds_bytes = 128, cache_bytes = 128, cache_access = 1>,
                code_chip = "sm_90a", copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4, 8, 16]>,
                early_starts,
                group_matrix = [#wgmma_bf16, #wgmma_f16], ldmatrix, native_bf16_convert,
                lds_reserved = 1024, max_lds_static = 49152,
                registers_per_processor = 65536, tensor_maps, uniform_registers},
  tuning = {enough_lanes = 256, group_depth = 48, latency_lanes = 384, most_subgroups = 8,
            operand_reuse_crowded = 2, processors = 132, shared_vector_bytes = 16}>} {}
