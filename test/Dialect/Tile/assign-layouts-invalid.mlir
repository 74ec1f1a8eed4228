// RUN: evoformer-opt %s --evo-tile-assign-layouts --split-input-file --verify-diagnostics

// expected-error @below {{evo-tile-assign-layouts needs kernels with a 'target' and a 'schedule'; 'bare' has no target}}
evo_tile.kernel @bare() {
  evo_tile.return
}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
#chip = #evo_tile.target<chip = "small", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [#fma]>
// expected-error @below {{'untimed' has no schedule}}
evo_tile.kernel @untimed() attributes {target = #chip} {
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "small", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
#map = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[32, 1]], subgroups = []>
evo_tile.kernel @again(%x: memref<?xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{evo-tile-assign-layouts needs tiles without layouts, got 'tensor<32xf32, #}}
  %t = evo_tile.load %x[%c0] : memref<?xf32> -> tensor<32xf32, #map>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "small", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
evo_tile.kernel @scalar(%x: memref<f32>) attributes {target = #chip, schedule = #schedule} {
  // expected-error @below {{evo-tile-assign-layouts needs tiles of rank 1 or more, got 'tensor<f32>'}}
  %t = evo_tile.load %x[] : memref<f32> -> tensor<f32>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "small", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
evo_tile.kernel @index() attributes {target = #chip, schedule = #schedule} {
  // expected-error @below {{evo-tile-assign-layouts needs tiles of numbers of up to 64 bits, got 'tensor<4xindex>'}}
  %t = arith.constant dense<1> : tensor<4xindex>
  evo_tile.return
}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
#chip = #evo_tile.target<chip = "small", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [#fma]>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
evo_tile.kernel @type(%x: memref<8x8xf16>, %y: memref<8x8xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %a = evo_tile.load %x[%c0, %c0] : memref<8x8xf16> -> tensor<8x8xf16>
  %c = evo_tile.load %y[%c0, %c0] : memref<8x8xf32> -> tensor<8x8xf32>
  // expected-error @below {{has no matrix instruction on small for 'f16' operands and a 'f32' result}}
  %r = evo_tile.mma %a, %a, %c : tensor<8x8xf16>, tensor<8x8xf16>, tensor<8x8xf32>
  evo_tile.store %r, %y[%c0, %c0] : tensor<8x8xf32>, memref<8x8xf32>
  evo_tile.return
}

// -----

#fma = #evo_tile.matrix_instr<name = "fma", m = 4, n = 8, k = 1,
  a_type = f32, b_type = f32, c_type = f32,
  a = <registers = [[1, 0, 1]], lanes = [[8, 0, 0], [4, 1, 0]], subgroups = []>,
  b = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 0, 0]], subgroups = []>,
  c = <registers = [[1, 1, 0]], lanes = [[8, 0, 1], [4, 1, 0]], subgroups = []>,
  intrinsic = "llvm.fma.f32", a_regs = [f32], b_regs = [f32], c_regs = [f32], cycles = 1>
#chip = #evo_tile.target<chip = "small", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = [#fma]>
#schedule = #evo_tile.schedule<v1, block = [2, 8, 8], subgroups = [2, 1, 1], stages = 1>
evo_tile.kernel @batch(%y: memref<8x8xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c = evo_tile.load %y[%c0, %c0] : memref<8x8xf32> -> tensor<8x8xf32>
  // expected-error @below {{the schedule has 2 subgroups along a batch that this product lacks}}
  %r = evo_tile.mma %c, %c, %c : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  evo_tile.store %r, %y[%c0, %c0] : tensor<8x8xf32>, memref<8x8xf32>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "small", triple = "x", features = "", subgroup_size = 32,
  max_workgroup = 1024, registers = 64, lds_bytes = 1024, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1, 8, 8], subgroups = [1, 1, 1], stages = 1>
evo_tile.kernel @while(%x: memref<?xf32>, %again: i1) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0] : memref<?xf32> -> tensor<32xf32>
  // expected-error @below {{evo-tile-assign-layouts needs tiles to pass through scf.for, scf.if, scf.index_switch and evo_tile.where only, not through scf.while}}
  %r = scf.while (%a = %t) : (tensor<32xf32>) -> tensor<32xf32> {
    scf.condition(%again) %a : tensor<32xf32>
  } do {
  ^bb0(%b: tensor<32xf32>):
    %d = arith.addf %b, %t : tensor<32xf32>
    scf.yield %d : tensor<32xf32>
  }
  evo_tile.store %r, %x[%c0] : tensor<32xf32>, memref<?xf32>
  evo_tile.return
}
