// Every message of the verifiers of layouts, matrix instructions, targets and
// schedules.
//
// RUN: evoformer-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{an axis is a size and at least one stride}}
module attributes {x = #evo_tile.lane_map<registers = [[4]], lanes = [], subgroups = []>} {}

// -----

// expected-error @below {{expected 1 strides per axis}}
module attributes {x = #evo_tile.lane_map<registers = [[4, 1]], lanes = [[4, 1, 0]], subgroups = []>} {}

// -----

// expected-error @below {{a lane map needs at least one axis}}
module attributes {x = #evo_tile.lane_map<registers = [], lanes = [], subgroups = []>} {}

// -----

// expected-error @below {{expected a rank from 1 to 16, got 17}}
module attributes {x = #evo_tile.lane_map<registers = [[4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]], lanes = [], subgroups = []>} {}

// -----

// expected-error @below {{axis size 0 is too small}}
module attributes {x = #evo_tile.lane_map<registers = [[0, 1]], lanes = [], subgroups = []>} {}

// -----

// expected-error @below {{axis stride -1 is too small}}
module attributes {x = #evo_tile.lane_map<registers = [[4, -1]], lanes = [], subgroups = []>} {}

// -----

// expected-error @below {{axis size 16777217 is above 16777216}}
module attributes {x = #evo_tile.lane_map<registers = [[16777217, 1]], lanes = [], subgroups = []>} {}

// -----

// expected-error @below {{axis stride 9223372036854775807 is above 16777216}}
module attributes {x = #evo_tile.lane_map<registers = [[4, 9223372036854775807]], lanes = [], subgroups = []>} {}

// -----

// expected-error @below {{the axes have more than 16777216 positions}}
module attributes {x = #evo_tile.lane_map<registers = [[16384, 1]], lanes = [[1024, 0]], subgroups = [[2, 0]]>} {}

// -----

// expected-error @below {{'inner' is 2 of 1 register axes}}
module attributes {x = #evo_tile.lane_map<registers = [[4, 1]], lanes = [], subgroups = [], inner = 2>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{'dims' must name two different tile dimensions}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [1, 1], subgroups = [], order = []>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{'dims' must name two different tile dimensions}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0], subgroups = [], order = []>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{'dims' must name two different tile dimensions}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0, -1], subgroups = [], order = []>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{'subgroups' must be pairs of count and dimension}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [2], order = []>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{'subgroups' has a count below 1 or a dimension below -1}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [0, 1], order = []>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{'subgroups' has a count below 1 or a dimension below -1}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [2, -2], order = []>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{'subgroups' are more than 1024}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [4611686018427387904, 0, 4, 1], order = []>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{'order' must hold arrays of size, stride pairs}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [], order = [1 : i32]>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{'order' must hold arrays of size, stride pairs}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [], order = [array<i64: 2>]>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{sizes and strides in 'order' must be from 1 to 1048576, got 0}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [], order = [array<i64: 2, 0>]>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{sizes and strides in 'order' must be from 1 to 1048576, got 9223372036854775807}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [], order = [array<i64: 9223372036854775807, 1>]>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{'order' spans more than 1048576}}
module attributes {x = #evo_tile.frag<#fma, C, dims = [0, 1], subgroups = [], order = [array<i64: 1024, 1, 1025, 1>]>} {}

// -----

// expected-error @below {{the parent of a slice must be a layout}}
module attributes {x = #evo_tile.slice<dim = 0, size = 4, 1 : i32>} {}

// -----

// expected-error @below {{a slice needs a dimension >= 0 and a size from 1 to 1048576}}
module attributes {x = #evo_tile.slice<dim = -1, size = 4, #evo_tile.lane_map<registers = [], lanes = [[4, 1]], subgroups = []>>} {}

// -----

// expected-error @below {{a slice needs a dimension >= 0 and a size from 1 to 1048576}}
module attributes {x = #evo_tile.slice<dim = 0, size = 9223372036854775807, #evo_tile.lane_map<registers = [], lanes = [[4, 1]], subgroups = []>>} {}

// -----

// expected-error @below {{matrix instruction 'i', operand A: the map must have rank 2 and no subgroup axes}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 1]], lanes = [[32, 1]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{matrix instruction 'i', operand C: the map must have rank 2 and no subgroup axes}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = [[2, 0, 0]]>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{element type 'complex<f32>' is not a number}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = complex<f32>, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{the map has 2048 lanes and 1 registers, at most 64 and 1024 are possible}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[2048, 0, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{operand A: lane 8, register 0 holds [1, 0] of 1x1}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 1, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{operand B: the map holds 8 of 16 elements}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 16, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{register types must be numbers or vectors of them}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [1 : i32], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{register types must be numbers or vectors of them}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [none], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{operand C: the register types have 64 bits, the map's registers 32}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32, f32], cycles = 1>} {}

// -----

// expected-error @below {{matrix instruction 'i': m, n, k and cycles must be from 1 to 1024, got 0}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 0, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{m, n, k and cycles must be from 1 to 1024, got 9223372036854775807}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 9223372036854775807, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{matrix instruction 'i': terms must be 1, or up to 3 of bf16 or tf32 that is summed in f32, got 2 of 'f32' and 'f32' summed in 'f32'}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], terms = 2, cycles = 1>} {}

// -----

// expected-error @below {{terms must be 1, or up to 3 of bf16 or tf32 that is summed in f32, got 4 of 'bf16'}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = bf16, b_type = bf16, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [bf16], b_regs = [bf16], c_regs = [f32], terms = 4, cycles = 1>} {}

// -----

// expected-error @below {{the intrinsic's name must start with 'llvm.', got 'fma'}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "fma", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>} {}

// -----

// expected-error @below {{immediates must be integers}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], immediates = [f32], cycles = 1>} {}

// -----

// expected-error @below {{operands must be spread over equally many lanes}}
module attributes {x = #evo_tile.matrix_instr<name = "i", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[2, 2, 0]], lanes = [[8, 0, 1], [2, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32, f32], cycles = 1>} {}

// -----

// expected-error @below {{target 't': the triple is empty}}
module attributes {x = #evo_tile.target<chip = "t", triple = "", features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = []>} {}

// -----

// expected-error @below {{target 't': the subgroup size must be a power of two up to 64, got 48}}
module attributes {x = #evo_tile.target<chip = "t", triple = "x", features = "", subgroup_size = 48, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = []>} {}

// -----

// expected-error @below {{the subgroup size must be a power of two up to 64, got 4611686018427387904}}
module attributes {x = #evo_tile.target<chip = "t", triple = "x", features = "", subgroup_size = 4611686018427387904, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = []>} {}

// -----

// expected-error @below {{target 't': a workgroup of 16 lanes holds no subgroup of 32}}
module attributes {x = #evo_tile.target<chip = "t", triple = "x", features = "", subgroup_size = 32, max_workgroup = 16, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = []>} {}

// -----

// expected-error @below {{target 't': a workgroup has at most 65536 lanes, got 9223372036854775807}}
module attributes {x = #evo_tile.target<chip = "t", triple = "x", features = "", subgroup_size = 32, max_workgroup = 9223372036854775807, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = []>} {}

// -----

// expected-error @below {{registers and sizes of workgroup memory must be from 0 to 1073741824, got -1}}
module attributes {x = #evo_tile.target<chip = "t", triple = "x", features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256, lds_bytes = -1, lds_banks = 32, matrix = []>} {}

// -----

// expected-error @below {{registers and sizes of workgroup memory must be from 0 to 1073741824, got 9223372036854775807}}
module attributes {x = #evo_tile.target<chip = "t", triple = "x", features = "", subgroup_size = 32, max_workgroup = 1024, registers = 9223372036854775807, lds_bytes = 65536, lds_banks = 32, matrix = []>} {}

// -----

// expected-error @below {{'matrix' must hold matrix instructions, got 1 : i32}}
module attributes {x = #evo_tile.target<chip = "t", triple = "x", features = "", subgroup_size = 32, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = [1 : i32]>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1, a_type = f32, b_type = f32, c_type = f32, a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>, b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>, c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>, intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{matrix instruction 'fma' is for 32 lanes, the subgroup has 64}}
module attributes {x = #evo_tile.target<chip = "t", triple = "x", features = "", subgroup_size = 64, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = [#fma]>} {}

// -----

// expected-error @below {{'subgroups' needs three counts (batch, M, N), got 2}}
module attributes {x = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 4], stages = 1>} {}

// -----

// expected-error @below {{sizes of a schedule must be positive, got 0}}
module attributes {x = #evo_tile.schedule<v1, block = [1, 0, 8], subgroups = [1, 4, 1], stages = 1>} {}

// -----

// expected-error @below {{a schedule has a product of sizes above 1048576}}
module attributes {x = #evo_tile.schedule<v1, block = [4611686018427387904, 4, 1], subgroups = [1, 4, 1], stages = 1>} {}

// -----

// expected-error @below {{a schedule has a product of sizes above 1024}}
module attributes {x = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1024, 4, 1], stages = 1>} {}

// -----

// expected-error @below {{'stages' must be from 1 to 64, got 0}}
module attributes {x = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 4, 1], stages = 0>} {}

// -----

// expected-error @below {{'stages' must be from 1 to 64, got 65}}
module attributes {x = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 4, 1], stages = 65>} {}

// -----

// expected-error @below {{'resident' must be from 0 to 64 workgroups, got 65}}
module attributes {x = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 4, 1], stages = 1, resident = 65>} {}

// -----

// expected-error @below {{target 'odd': property 'copy_engine' must be #evo_tile.copy_engine, got 16 : i64}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {copy_engine = 16}>

// -----

// expected-error @below {{copy engine 'per_lane': bytes must be some of 4, 8, 12 and 16, least first, got [4, 6]}}
#odd = #evo_tile.copy_engine<per_lane, bytes = [4, 6]>

// -----

// expected-error @below {{copy engine 'consecutive': bytes must be some of 4, 8, 12 and 16, least first, got [16, 4]}}
#odd = #evo_tile.copy_engine<consecutive, bytes = [16, 4]>

// -----

// expected-error @below {{target 'odd': no chip of the triple 'amdgcn-amd-amdhsa' has a copy engine 'per_lane'}}
#odd = #evo_tile.target<chip = "odd", triple = "amdgcn-amd-amdhsa", features = "", subgroup_size = 64,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {copy_engine = #evo_tile.copy_engine<per_lane, bytes = [4]>}>

// -----

// expected-error @below {{target 'odd': no chip of the triple 'nvptx64-nvidia-cuda' has a copy engine 'consecutive'}}
#odd = #evo_tile.target<chip = "odd", triple = "nvptx64-nvidia-cuda", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {copy_engine = #evo_tile.copy_engine<consecutive, bytes = [4]>}>

// -----

// expected-error @below {{target 'odd': unknown property 'unalinged_acces'; known are 'buffer_resources' (i64 from 1 to 2147483647), 'carry_conditions' (unit), 'code_chip' (string with the name of a chip), 'copy_engine' (#evo_tile.copy_engine), 'early_starts' (unit), 'flushes_subnormals' (unit), 'group_matrix' (array of #evo_tile.group_matrix_instr), 'ldmatrix' (unit), 'lds_barrier' (unit), 'lds_reserved' (i64 from 1 to 1073741824), 'lds_transpose' (unit), 'max_lds_static' (i64 from 1 to 1073741824), 'native_bf16_convert' (unit), 'packed_f32' (unit), 'packed_i16' (unit), 'permlane_x16' (unit), 'rates' (#evo_tile.unit_rates), 'registers_per_processor' (i64 from 1 to 1073741824), 'rounds_products' (unit), 'sched_barrier' (unit), 'tensor_maps' (unit), 'unaligned_access' (unit), 'uniform' (string with the name of an LLVM intrinsic), 'uniform_registers' (unit)}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {unalinged_acces}>

// -----

// expected-error @below {{target 'odd': unknown property 'work_items'; known are}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {work_items = 64}>

// -----

// expected-error @below {{target 'odd': property 'lds_barrier' must be unit, got "x"}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {lds_barrier = "x"}>

// -----

// expected-error @below {{target 'odd': property 'packed_f32' must be unit, got 7 : i64}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {packed_f32 = 7}>

// -----

// expected-error @below {{target 'odd': property 'packed_f32' must be unit, got false}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {packed_f32 = false}>

// -----

// expected-error @below {{target 'odd': property 'max_lds_static' must be i64 from 1 to 1073741824, got 0 : i64}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {max_lds_static = 0}>

// -----

// expected-error @below {{target 'odd': property 'uniform' must be string with the name of an LLVM intrinsic, got unit}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {uniform}>

// -----

// expected-error @below {{target 'odd': property 'uniform' must be string with the name of an LLVM intrinsic, got "readfirstlane"}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {uniform = "readfirstlane"}>

// -----

// expected-error @below {{target 'odd': unknown tuning property 'packed_f32'; known are 'enough_lanes' (i64 from 1 to 1048576), 'group_depth' (i64 from 1 to 1048576), 'indexed_exchange' (unit), 'latency_lanes' (i64 from 1 to 1048576), 'memory_sum_items' (i64 from 1 to 1048576), 'most_subgroups' (i64 from 1 to 1024), 'operand_reuse' (i64 from 1 to 1048576), 'operand_reuse_crowded' (i64 from 1 to 1048576), 'processors' (i64 from 1 to 65536), 'shared_vector_bytes' (i64 from 1 to 1048576), 'widening_rows' (i64 from 1 to 1048576), 'work_items' (i64 from 1 to 1048576)}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  tuning = {packed_f32}>

// -----

// expected-error @below {{target 'odd': tuning property 'work_items' must be i64 from 1 to 1048576, got 1048577 : i64}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  tuning = {work_items = 1048577}>

// -----

// expected-error @below {{target 'odd': tuning property 'operand_reuse' must be i64 from 1 to 1048576, got true}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  tuning = {operand_reuse = true}>

// -----

// expected-error @below {{unknown key 'colour' of a target; known are 'chip' (string), 'triple' (string), 'features' (string), 'subgroup_size' (i64), 'max_workgroup' (i64), 'registers' (i64), 'lds_bytes' (i64), 'lds_banks' (i64), 'matrix' (array), 'properties' (dictionary), 'tuning' (dictionary)}}
#odd = #evo_tile.target<chip = "odd", triple = "x", colour = "red", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>

// -----

// expected-error @below {{key 'chip' of a target twice}}
#odd = #evo_tile.target<chip = "odd", triple = "x", chip = "even", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>

// -----

// expected-error @below {{key 'subgroup_size' of a target must be i64, got "32"}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = "32",
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>

// -----

// expected-error @below {{a target without 'features' (string)}}
#odd = #evo_tile.target<chip = "odd", triple = "x", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>

// -----

// expected-error @below {{needs a base from 0 to 19 and bits from above those that change to 19, got base = 4, from = [5, 8]}}
module attributes {x = #evo_tile.swizzled_lds<base = 4, from = [5, 8]>} {}

// -----

// expected-error @below {{got base = 4, from = [70]}}
module attributes {x = #evo_tile.swizzled_lds<base = 4, from = [70]>} {}

// -----

// expected-error @below {{got base = -1, from = [8]}}
module attributes {x = #evo_tile.swizzled_lds<base = -1, from = [8]>} {}

// -----

// expected-error @below {{expected 'resident', 'own' or 'products', got 'order'}}
module attributes {x = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 4, 1], stages = 1, order = 1>} {}

// -----

// expected-error @below {{expected 'registers' or 'lds', got 'memory'}}
module attributes {x = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 4, 1], stages = 1, own = memory>} {}

// -----

// expected-error @below {{expected 'subgroup' or 'group', got 'warp'}}
module attributes {x = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 4, 1], stages = 1, products = warp>} {}

// -----

// expected-error @below {{needs panels of three positive numbers: the lowest bit, above those that are XORed, how many bits tell a row's pieces and how many the rows, all below 20; got [7, 1]}}
module attributes {x = #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9], panels = [7, 1]>} {}

// -----

// expected-error @below {{got [4611686018427387904, 4611686018427387904, 4611686018427387904]}}
module attributes {x = #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9], panels = [4611686018427387904, 4611686018427387904, 4611686018427387904]>} {}

// -----

// expected-error @below {{got [6, 1, 6]}}
module attributes {x = #evo_tile.swizzled_lds<base = 4, from = [7, 8, 9], panels = [6, 1, 6]>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 8, n = 4, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 1, 0], [4, 0, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 0], [4, 0, 1]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 1, 0], [4, 0, 1]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{matrix instruction 'many': subgroups must be from 2 to}}
module attributes {x = #evo_tile.group_matrix_instr<name = "many", each = #fma, subgroups = 1, most_n = 64, opcode = "many{n}">} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 8, n = 4, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 1, 0], [4, 0, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 0], [4, 0, 1]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 1, 0], [4, 0, 1]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{most_n must be a multiple of the 4 columns of 'fma', got 6}}
module attributes {x = #evo_tile.group_matrix_instr<name = "many", each = #fma, subgroups = 4, most_n = 6, opcode = "many{n}">} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 8, n = 4, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 1, 0], [4, 0, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 0], [4, 0, 1]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 1, 0], [4, 0, 1]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{cycles must be from 0 to 1024, got -1}}
module attributes {x = #evo_tile.group_matrix_instr<name = "many", each = #fma, subgroups = 4, most_n = 8, opcode = "many{n}", cycles = -1>} {}

// -----

// expected-error @below {{rates of units must be from 1 to 4096, got 0}}
module attributes {x = #evo_tile.unit_rates<overlap = issue, simds = 4, vector = 1, multiply = 2, transcendental = 8, lds_bytes = 0, cache_bytes = 128, cache_access = 1>} {}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 8, n = 4, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 1, 0], [4, 0, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 0], [4, 0, 1]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 1, 0], [4, 0, 1]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
// expected-error @below {{the opcode must have {n} for the columns, got 'many'}}
module attributes {x = #evo_tile.group_matrix_instr<name = "many", each = #fma, subgroups = 4, most_n = 8, opcode = "many">} {}

// -----

// expected-error @below {{target 'odd': 'group_matrix' must hold #evo_tile.group_matrix_instr, got 1 : i64}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {group_matrix = [1]}>

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 8, n = 4, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 1, 0], [4, 0, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 0], [4, 0, 1]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 1, 0], [4, 0, 1]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
#many = #evo_tile.group_matrix_instr<name = "many", each = #fma, subgroups = 4, most_n = 8, opcode = "many{n}">
// expected-error @below {{target 'odd': 'matrix' lacks 'fma', which 'many' has of each subgroup}}
#odd = #evo_tile.target<chip = "odd", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [],
  properties = {group_matrix = [#many]}>

// -----

// expected-error @below {{a tensor map has 1 to 5 dimensions and two numbers for the end of each, got 6 and 12 numbers}}
func.func private @dimensions(!evo_tile.tensor_map<of = 0, box = [1, 1, 1, 1, 1, 8], ends = [-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 8]>)

// -----

// expected-error @below {{a tensor map has 1 to 5 dimensions and two numbers for the end of each, got 2 and 2 numbers}}
func.func private @ends(!evo_tile.tensor_map<of = 0, box = [1, 8], ends = [-1, 1]>)

// -----

// expected-error @below {{a box has 1 to 256 elements along each dimension, got 257}}
func.func private @box(!evo_tile.tensor_map<of = 0, box = [257, 8], ends = [-1, 1, -1, 8]>)

// -----

// expected-error @below {{'swizzle' is 32, 64 or 128 bytes, got 16}}
func.func private @swizzle(!evo_tile.tensor_map<of = 0, box = [8, 8], ends = [-1, 8, -1, 8], swizzle = 16>)

// -----

// expected-error @below {{target 'gfx942': no chip of the triple 'amdgcn-amd-amdhsa' copies by tensor maps}}
module attributes {test.target = #evo_tile.target<chip = "gfx942", triple = "amdgcn-amd-amdhsa", features = "",
  subgroup_size = 64, max_workgroup = 1024, registers = 256, lds_bytes = 65536, lds_banks = 32, matrix = [],
  properties = {tensor_maps}>} {}

// -----

// expected-error @below {{target 'sm_90': no chip of the triple 'nvptx64-nvidia-cuda' reads across rows of workgroup memory}}
module attributes {test.target = #evo_tile.target<chip = "sm_90", triple = "nvptx64-nvidia-cuda", features = "",
  subgroup_size = 32, max_workgroup = 1024, registers = 255, lds_bytes = 65536, lds_banks = 32, matrix = [],
  properties = {lds_transpose}>} {}
