// Three loops in one, whose tiles are copied before each: their buffers lie in the
// same memory. Once their copies run ahead, all live as long as the loop around
// them, and where they do not find the memory beside each other none does.
//
// RUN: %python %S/Inputs/with_target.py gfx90a %s 'block = [1], subgroups = [1, 2, 1], stages = 2' | sed 's/lds_bytes = 65536/lds_bytes = 49152/' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-promote-to-lds --evo-tile-software-pipeline --remarks-filter='evo-tile-software-pipeline' --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: evoformer-opt %t.mlir --evo-tile-promote-to-lds --evo-tile-software-pipeline --convert-tile-to-gpu -o /dev/null
//
// CHECK: remark: [Missed] not-pipelined | {{.+}}reason="two stages need 57600 bytes of workgroup memory, there are 49152"

#tile = #evo_tile.lane_map<registers = [[4, 0, 1], [6, 4, 0]], lanes = [[16, 0, 4], [4, 1, 0]], subgroups = [[2, 0, 0]]>
evo_tile.kernel @twice(%m: memref<?x40xf32>, %o: memref<?x40xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c24 = arith.constant 24 : index
  %c120 = arith.constant 120 : index
  scf.for %i = %c0 to %n step %c120 {
    scf.for %j = %c0 to %c5 step %c1 {
      %offset = arith.muli %j, %c24 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %m[%k, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x40xf32> -> tensor<24x40xf32, #tile>
      evo_tile.store %x, %o[%k, %c0] {in_bounds = array<i1: true, true>} : tensor<24x40xf32, #tile>, memref<?x40xf32>
    }
    scf.for %j = %c0 to %c5 step %c1 {
      %offset = arith.muli %j, %c24 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %m[%k, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x40xf32> -> tensor<24x40xf32, #tile>
      evo_tile.store %x, %o[%k, %c0] {in_bounds = array<i1: true, true>} : tensor<24x40xf32, #tile>, memref<?x40xf32>
    }
    scf.for %j = %c0 to %c5 step %c1 {
      %offset = arith.muli %j, %c24 : index
      %k = arith.addi %i, %offset : index
      %x = evo_tile.load %m[%k, %c0] {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x40xf32> -> tensor<24x40xf32, #tile>
      evo_tile.store %x, %o[%k, %c0] {in_bounds = array<i1: true, true>} : tensor<24x40xf32, #tile>, memref<?x40xf32>
    }
  }
  evo_tile.return
}
