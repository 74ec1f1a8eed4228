// Without products subgroups take rows; those that find none take columns, and
// what is left has what others have.
//
// RUN: %python %S/Inputs/with_target.py gfx1100 %s "block = [1, 512], subgroups = [1, 4, 1], stages = 1" > %t
// RUN: evoformer-opt %t --evo-tile-assign-layouts | FileCheck %s
// RUN: evoformer-opt %t --evo-tile-assign-layouts --evo-tile-remove-layout-conversions --evo-tile-promote-to-lds \
// RUN:   | FileCheck %s --check-prefix=STAGED

// CHECK-DAG: #[[COLUMNS:.+]] = #evo_tile.lane_map<registers = {{.+}}, lanes = {{.+}}, subgroups = {{\[}}[1, 1, 0], [4, 0, 128], [1, 0, 0]], inner = 1>
// CHECK-DAG: #[[TWO:.+]] = #evo_tile.lane_map<registers = {{.+}}, lanes = {{.+}}, subgroups = {{\[}}[1, 1, 0], [2, 0, 128], [2, 0, 0]], inner = 1>
// CHECK-DAG: #[[BOTH:.+]] = #evo_tile.lane_map<registers = {{.+}}, lanes = {{.+}}, subgroups = {{\[}}[2, 1, 0], [2, 0, 128], [1, 0, 0]], inner = 1>
// CHECK-DAG: #[[ROWS:.+]] = #evo_tile.lane_map<registers = {{.+}}, lanes = {{.+}}, subgroups = {{\[}}[4, 1, 0], [1, 0, 128], [1, 0, 0]], inner = 1>

// CHECK-LABEL: @one_row
//       CHECK: evo_tile.load {{.+}} -> tensor<1x512xf32, #[[COLUMNS]]>
// A sum along columns passes from one subgroup to the next.
// STAGED-LABEL: @one_row
//       STAGED: evo_tile.exchange
//       STAGED: evo_tile.reduce
evo_tile.kernel @one_row(%x: memref<1x512xf32>, %y: memref<1xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %tile = evo_tile.load %x[%c0, %c0] : memref<1x512xf32> -> tensor<1x512xf32>
  %sum = evo_tile.reduce add %tile dim 1 : tensor<1x512xf32> -> tensor<1xf32>
  evo_tile.store %sum, %y[%c0] : tensor<1xf32>, memref<1xf32>
  evo_tile.return
}

// CHECK-LABEL: @few_columns
//       CHECK: evo_tile.load {{.+}} -> tensor<1x256xf32, #[[TWO]]>
evo_tile.kernel @few_columns(%x: memref<1x256xf32>, %y: memref<1x256xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %tile = evo_tile.load %x[%c0, %c0] : memref<1x256xf32> -> tensor<1x256xf32>
  evo_tile.store %tile, %y[%c0, %c0] : tensor<1x256xf32>, memref<1x256xf32>
  evo_tile.return
}

// CHECK-LABEL: @two_rows
//       CHECK: evo_tile.load {{.+}} -> tensor<2x512xf32, #[[BOTH]]>
evo_tile.kernel @two_rows(%x: memref<2x512xf32>, %y: memref<2x512xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %tile = evo_tile.load %x[%c0, %c0] : memref<2x512xf32> -> tensor<2x512xf32>
  evo_tile.store %tile, %y[%c0, %c0] : tensor<2x512xf32>, memref<2x512xf32>
  evo_tile.return
}

// CHECK-LABEL: @rows
//       CHECK: evo_tile.load {{.+}} -> tensor<8x512xf32, #[[ROWS]]>
evo_tile.kernel @rows(%x: memref<8x512xf32>, %y: memref<8x512xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %tile = evo_tile.load %x[%c0, %c0] : memref<8x512xf32> -> tensor<8x512xf32>
  evo_tile.store %tile, %y[%c0, %c0] : tensor<8x512xf32>, memref<8x512xf32>
  evo_tile.return
}
