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
