// RUN: evoformer-opt %s --evo-tile-remove-layout-conversions --split-input-file --verify-diagnostics

// expected-error @below {{evo-tile-remove-layout-conversions needs kernels with a 'target' and a 'schedule'; 'bare' has no target}}
evo_tile.kernel @bare() {
  evo_tile.return
}

// -----

#tiny = #evo_tile.target<chip = "tiny", triple = "none", features = "", subgroup_size = 32, max_workgroup = 128, registers = 64, lds_bytes = 512, lds_banks = 32, matrix = []>
#two = #evo_tile.schedule<v1, block = [1], subgroups = [1, 2, 1], stages = 2>
#wide = #evo_tile.lane_map<registers = [[1, 1]], lanes = [[64, 1]], subgroups = []>
evo_tile.kernel @other_lanes(%m: memref<64xf32>) attributes {target = #tiny, schedule = #two} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{evo-tile-remove-layout-conversions needs layouts for 32 lanes and at most 2 subgroups, got 64 and 1 in}}
  %x = evo_tile.load %m[%c0] : memref<64xf32> -> tensor<64xf32, #wide>
  evo_tile.return
}
