// sm_80 (Ampere; its code runs on every later chip).
//
// Sources: "Parallel Thread Execution ISA", sections "Matrix Fragments for
// mma.m16n8k16", "Matrix Fragments for mma.m16n8k8", "Alternate floating-point
// data formats" (tf32), "ldmatrix", "cp.async"; "CUDA C++ Programming Guide",
// "Compute Capabilities" (shared memory, registers); "NVIDIA Ampere GPU
// Architecture Tuning Guide", "Unified Shared Memory/L1/Texture Cache" (1 KB of
// shared memory is reserved for each block); "CUDA Binary Utilities",
// "Instruction Set Reference" (uniform datapath instructions).

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

module attributes {evo_tile.target = #evo_tile.target<
  chip = "sm_80", triple = "nvptx64-nvidia-cuda", features = "+ptx80",
  subgroup_size = 32, max_workgroup = 1024, registers = 255,
  lds_bytes = 166912, lds_banks = 32,
  matrix = [#mma_m16n8k16_bf16, #mma_m16n8k16_f16,
            #mma_m16n8k8_tf32, #fma_f32_8x4x1],
  properties = {rates = #evo_tile.unit_rates<overlap = issue, simds = 4, vector = 2, multiply = 2, transcendental = 8, lds_bytes = 128, cache_bytes = 64, cache_access = 2>,
                copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4, 8, 16]>,
                ldmatrix, native_bf16_convert,
                lds_reserved = 1024, max_lds_static = 49152,
                registers_per_processor = 65536, uniform_registers},
  tuning = {enough_lanes = 256, latency_lanes = 384, most_subgroups = 8,
            operand_reuse_crowded = 2, shared_vector_bytes = 16}>} {}
