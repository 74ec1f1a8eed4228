// RUN: evoformer-opt %s -split-input-file -verify-diagnostics --evo-tile-software-pipeline

// expected-error @below {{evo-tile-software-pipeline needs kernels with a 'target' and a 'schedule'; 'untargeted' has no target}}
evo_tile.kernel @untargeted(%m: memref<4xf32>) {
  evo_tile.return
}

// -----

#tiny = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 64, lds_bytes = 512, lds_banks = 32, matrix = []>
#two = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 2>
evo_tile.kernel @without_layouts(%m: memref<4xf32>) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{evo-tile-software-pipeline needs tiles with layouts, got 'tensor<4xf32>'; run evo-tile-assign-layouts first}}
  %x = evo_tile.load %m[%c0] : memref<4xf32> -> tensor<4xf32>
  evo_tile.return
}

// -----

#tiny = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 64, lds_bytes = 512, lds_banks = 32, matrix = []>
#two = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 2>
#rows = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[32, 1]], subgroups = [[2, 32]]>
#both = #evo_tile.lane_map<registers = [[2, 32]], lanes = [[32, 1]], subgroups = [[2, 0]]>
evo_tile.kernel @not_staged(%m: memref<64xf32>) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %x = evo_tile.load %m[%c0] : memref<64xf32> -> tensor<64xf32, #rows>
  // expected-error @below {{evo-tile-software-pipeline needs what subgroups exchange to pass through workgroup memory; run evo-tile-promote-to-lds first}}
  %y = evo_tile.convert_layout %x : tensor<64xf32, #rows> -> tensor<64xf32, #both>
  evo_tile.return
}

// -----

#tiny = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 64, lds_bytes = 512, lds_banks = 32, matrix = []>
#two = #evo_tile.schedule<v1, block = [1], subgroups = [1, 1, 1], stages = 2>
#row = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[32, 1]], subgroups = []>
evo_tile.kernel @late_group(%m: memref<32xf32>) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %lds = evo_tile.alloc_lds : memref<32xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{evo-tile-software-pipeline needs every evo_tile.async_copy in the next evo_tile.async_group of its block, and in no other}}
  %copy = evo_tile.async_copy %m[%c0] to %lds[%c0] as tensor<32xf32, #row> : memref<32xf32>, memref<32xf32, #gpu.address_space<workgroup>>
  %none = evo_tile.async_group()
  %group = evo_tile.async_group(%copy)
  evo_tile.return
}
