// RUN: evoformer-opt %s -split-input-file -verify-diagnostics --evo-tile-share-operands

// expected-error @below {{evo-tile-share-operands needs kernels with a 'target' and a 'schedule'; 'untargeted' has no target}}
evo_tile.kernel @untargeted(%m: memref<4xf32>) {
  evo_tile.return
}

// -----

#tiny = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 64, lds_bytes = 512, lds_banks = 32, matrix = []>
#two = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 2>
evo_tile.kernel @without_layouts(%m: memref<4xf32>) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{evo-tile-share-operands needs tiles with layouts, got 'tensor<4xf32>'; run evo-tile-assign-layouts first}}
  %x = evo_tile.load %m[%c0] : memref<4xf32> -> tensor<4xf32>
  evo_tile.return
}

// -----

evo_tile.kernel @other_types(%m: memref<4xf32>) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{gives its tiles as they are: 'tensor<4xf32>' are no 'tensor<8xf32>'}}
  %y = evo_tile.group_fence %x : tensor<4xf32> -> tensor<8xf32>
  evo_tile.return
}

// -----

evo_tile.kernel @no_product(%m: memref<4xf32>) {
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{needs results of asynchronous products of its block, got}}
  %y = evo_tile.group_wait %x pending 0 : tensor<4xf32> -> tensor<4xf32>
  evo_tile.return
}
