// Who calls the generator of random tiles, and how often. A call is 14 products of
// 64 bits. That the draws are right: test/Simulator/random-layouts.py.
//
// RUN: %python %S/../../Dialect/Tile/Inputs/with_target.py gfx942 %s "block = [1, 64, 64], subgroups = [1, 1, 1], stages = 1" > %t.gfx942
// RUN: evoformer-opt %t.gfx942 --convert-tile-to-gpu | FileCheck %s --check-prefixes=CHECK,CARRY
// RUN: sed 's/packed_i16, carry_conditions,//' %t.gfx942 > %t.plain
// RUN: evoformer-opt %t.plain --convert-tile-to-gpu | FileCheck %s --check-prefixes=CHECK,PLAIN
//
// 32 lanes hold a column each, 16 rows of it: eight of them need the same 16 calls.
#rows = #evo_tile.lane_map<registers = [[16, 2, 0]], lanes = [[32, 0, 1], [2, 1, 0]], subgroups = [], inner = 1>
// A lane holds eight columns of a row; two lanes those of a row.
#columns = #evo_tile.lane_map<registers = [[8, 0, 1]], lanes = [[32, 1, 0], [2, 0, 8]], subgroups = [], inner = 1>

// Each makes two. Of each call's words both draws are compared at once; four words
// of two draws make 16 bits.
// CHECK-LABEL: gpu.func @shared
// CHECK-COUNT-28: arith.muli {{.*}} : i64
// CHECK-NOT: arith.muli {{.*}} : i64
// CARRY-COUNT-8: llvm.intr.ssub.sat({{.*}}) : (vector<2xi16>, vector<2xi16>) -> vector<2xi16>
// CARRY-NOT: llvm.intr.ssub.sat
// PLAIN-NOT: llvm.intr.ssub.sat
// The lanes that differ in the lowest bit exchange odd columns for even ones, which
// are the upper halves of words.
// CHECK: arith.select %{{.*}}, %c-65536_i32{{.*}}, %c65535_i32
// CHECK: gpu.shuffle xor
// CHECK: llvm.intr.fshr
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle
// A bit at a time is taken out, from the highest, or all at once.
// CARRY-COUNT-16: arith.addui_extended
// CARRY-NOT: arith.addui_extended
// PLAIN-NOT: arith.addui_extended
// PLAIN-COUNT-16: arith.cmpi ne
// CHECK: vector.from_elements
evo_tile.kernel @shared(%seed: i64, %offset: i64, %stream: index, %row: index, %column: index, %x: memref<32x32xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %keep = evo_tile.random %seed, %offset, %stream at [%row along 0, %column along 1] threshold 6554 multiple 32 : tensor<32x32xi1, #rows>
  %one = arith.constant dense<1.0> : tensor<32x32xf32, #rows>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #rows>
  %c = arith.select %keep, %one, %zero : tensor<32x32xi1, #rows>, tensor<32x32xf32, #rows>
  evo_tile.store %c, %x[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<32x32xf32, #rows>, memref<32x32xf32>
  evo_tile.return
}

// Which columns lanes have is not known to a call: a call for each element.
// CHECK-LABEL: gpu.func @unknown
// CHECK-NOT: gpu.shuffle
// CHECK-COUNT-224: arith.muli {{.*}} : i64
// CHECK-NOT: arith.muli {{.*}} : i64
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
evo_tile.kernel @unknown(%seed: i64, %offset: i64, %stream: index, %row: index, %column: index, %x: memref<32x32xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %keep = evo_tile.random %seed, %offset, %stream at [%row along 0, %column along 1] threshold 6554 multiple 4 : tensor<32x32xi1, #rows>
  %one = arith.constant dense<1.0> : tensor<32x32xf32, #rows>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #rows>
  %c = arith.select %keep, %one, %zero : tensor<32x32xi1, #rows>, tensor<32x32xf32, #rows>
  evo_tile.store %c, %x[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<32x32xf32, #rows>, memref<32x32xf32>
  evo_tile.return
}

// Lanes that share nothing make what they need.
// CHECK-LABEL: gpu.func @alone
// CHECK-NOT: gpu.shuffle
// CHECK-COUNT-14: arith.muli {{.*}} : i64
// CHECK-NOT: arith.muli {{.*}} : i64
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
evo_tile.kernel @alone(%seed: i64, %offset: i64, %stream: index, %row: index, %column: index, %x: memref<32x16xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %keep = evo_tile.random %seed, %offset, %stream at [%row along 0, %column along 1] threshold 6554 multiple 16 : tensor<32x16xi1, #columns>
  %one = arith.constant dense<1.0> : tensor<32x16xf32, #columns>
  %zero = arith.constant dense<0.0> : tensor<32x16xf32, #columns>
  %c = arith.select %keep, %one, %zero : tensor<32x16xi1, #columns>, tensor<32x16xf32, #columns>
  evo_tile.store %c, %x[%c0, %c0] {in_bounds = array<i1: true, true>} : tensor<32x16xf32, #columns>, memref<32x16xf32>
  evo_tile.return
}
