// RUN: evoformer-opt %s -split-input-file -verify-diagnostics --evo-tile-promote-to-lds

// expected-error @below {{evo-tile-promote-to-lds needs kernels with a 'target' and a 'schedule'; 'untargeted' has no target}}
evo_tile.kernel @untargeted(%m: memref<4xf32>) {
  evo_tile.return
}

// -----

#tiny = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 64, lds_bytes = 512, lds_banks = 32, matrix = []>
// expected-error @below {{evo-tile-promote-to-lds needs kernels with a 'target' and a 'schedule'; 'unscheduled' has no schedule}}
evo_tile.kernel @unscheduled(%m: memref<4xf32>) attributes {target = #tiny} {
  evo_tile.return
}

// -----

#tiny = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 64, lds_bytes = 512, lds_banks = 32, matrix = []>
#two = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 2>
evo_tile.kernel @without_layouts(%m: memref<4xf32>) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{evo-tile-promote-to-lds needs tiles with layouts, got 'tensor<4xf32>'; run evo-tile-assign-layouts first}}
  %x = evo_tile.load %m[%c0] : memref<4xf32> -> tensor<4xf32>
  evo_tile.return
}

// -----

#tiny = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 64, lds_bytes = 512, lds_banks = 32, matrix = []>
#two = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 2>
#rows = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = [[2, 0, 0]]>
// expected-error @below {{evo-tile-promote-to-lds needs 640 bytes of workgroup memory for kernel 'too_large', tiny has 512}}
evo_tile.kernel @too_large(%m: memref<?x16xf16>, %o: memref<?x16xf16>, %n: index) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  // expected-note @below {{128 bytes for this buffer}}
  %held = evo_tile.alloc_lds : memref<32xf32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %n step %c16 {
    // expected-note @below {{512 bytes for this tile}}
    %x = evo_tile.load %m[%i, %c0] : memref<?x16xf16> -> tensor<16x16xf16, #rows>
    evo_tile.store %x, %o[%i, %c0] : tensor<16x16xf16, #rows>, memref<?x16xf16>
  }
  evo_tile.return
}

// -----

#tiny = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 64, lds_bytes = 4096, lds_banks = 32, matrix = []>
#two = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 2>
#rows = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 8], [16, 1, 0]], subgroups = [[2, 0, 16]]>
#other = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[2, 0, 16], [16, 1, 0]], subgroups = [[2, 0, 8]]>
evo_tile.kernel @half_bytes(%m: memref<16x32xi4>, %o: memref<16x32xi4>) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  %x = evo_tile.load %m[%c0, %c0] : memref<16x32xi4> -> tensor<16x32xi4, #rows>
  // expected-error @below {{needs a pass through LDS, which holds elements of whole bytes, not 'i4'}}
  %y = evo_tile.convert_layout %x : tensor<16x32xi4, #rows> -> tensor<16x32xi4, #other>
  evo_tile.store %y, %o[%c0, %c0] : tensor<16x32xi4, #other>, memref<16x32xi4>
  evo_tile.return
}

// -----

#chip = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 64, lds_bytes = 512, lds_banks = 32, matrix = []>
#schedule = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 2>
#x = #evo_tile.lane_map<registers = [[1, 0]], lanes = [[32, 1]], subgroups = [[2, 32]]>
#y = #evo_tile.lane_map<registers = [[1, 0]], lanes = [[2, 32], [16, 1]], subgroups = [[2, 16]]>
evo_tile.kernel @exchange_inside(%c: memref<64xf32>) attributes {target = #chip, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %c[%c0] : memref<64xf32> -> tensor<64xf32, #x>
  %n = arith.cmpf uno, %t, %t : tensor<64xf32, #x>
  %r = evo_tile.where %n, %t {
    // expected-error @below {{needs a pass through LDS inside evo_tile.where, where subgroups do not wait for each other}}
    %u = evo_tile.convert_layout %t : tensor<64xf32, #x> -> tensor<64xf32, #y>
    %v = evo_tile.convert_layout %u : tensor<64xf32, #y> -> tensor<64xf32, #x>
    evo_tile.yield %v : tensor<64xf32, #x>
  } : tensor<64xi1, #x>, tensor<64xf32, #x>
  evo_tile.return
}
