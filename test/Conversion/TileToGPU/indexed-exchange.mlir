// Lanes 16 to 31 hold the other half of each row, and both halves shall have the whole of it.
// With `indexed_exchange` each word is read from the lane that has it. Otherwise lanes
// exchange what they hold and choose between that and their own.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx1100 %s "block = [1, 64, 64], subgroups = [1, 1, 1], stages = 1" > %t.gfx1100
// RUN: evoformer-opt %t.gfx1100 --convert-tile-to-gpu --cse | FileCheck %s
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx1201 %s "block = [1, 64, 64], subgroups = [1, 1, 1], stages = 1" > %t.gfx1201
// RUN: evoformer-opt %t.gfx1201 --convert-tile-to-gpu --cse | FileCheck %s --check-prefix=CHOICE
#halves = #evo_tile.lane_map<registers = [[4, 0, 1]], lanes = [[16, 1, 0], [2, 0, 4]], subgroups = [], inner = 1>
#whole = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[16, 1, 0], [2, 0, 0]], subgroups = [], inner = 1>
#other = #evo_tile.lane_map<registers = [[2, 0, 1], [2, 0, 4]], lanes = [[16, 1, 0], [2, 0, 2]], subgroups = [], inner = 1>

// CHECK-LABEL: gpu.func @repeat
// CHECK:         %[[LOW:.*]] = arith.andi %{{.*}}, %c15
// CHECK:         gpu.shuffle idx %{{.*}}, %[[LOW]], %c32
// CHECK:         gpu.shuffle idx %{{.*}}, %[[LOW]], %c32
// CHECK:         %[[HIGH:.*]] = arith.ori %[[LOW]], %c16
// CHECK:         gpu.shuffle idx %{{.*}}, %[[HIGH]], %c32
// CHECK:         gpu.shuffle idx %{{.*}}, %[[HIGH]], %c32
// CHECK-NOT:     arith.select
// CHECK:         gpu.return
// CHOICE-LABEL: gpu.func @repeat
// CHOICE-NOT:     gpu.shuffle idx
// CHOICE:         llvm.amdgcn.permlanex16
// CHOICE:         arith.select
// CHOICE:         gpu.return
evo_tile.kernel @repeat(%x: memref<16x8xbf16>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<16x8xbf16> -> tensor<16x8xbf16, #halves>
  %s = evo_tile.convert_layout %t : tensor<16x8xbf16, #halves> -> tensor<16x8xbf16, #whole>
  evo_tile.store %s, %x[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<16x8xbf16, #whole>, memref<16x8xbf16>
  evo_tile.return
}

// A lane's word lies in another register of the other half: there is a choice in any case.
// CHECK-LABEL: gpu.func @swap
// CHECK-NOT:     gpu.shuffle idx
// CHECK:         arith.select
// CHECK:         gpu.return
evo_tile.kernel @swap(%x: memref<16x8xbf16>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %t = evo_tile.load %x[%c0, %c0] {in_bounds = array<i1: true, true>} : memref<16x8xbf16> -> tensor<16x8xbf16, #halves>
  %s = evo_tile.convert_layout %t : tensor<16x8xbf16, #halves> -> tensor<16x8xbf16, #other>
  evo_tile.store %s, %x[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<16x8xbf16, #other>, memref<16x8xbf16>
  evo_tile.return
}
