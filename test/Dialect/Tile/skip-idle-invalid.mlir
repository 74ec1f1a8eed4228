// What crosses subgroups does not show before tiles are in workgroup memory.
//
// RUN: %python %S/Inputs/with_target.py sm_80 %s 'block = [1], subgroups = [1, 4, 1], stages = 1' > %t.mlir
// RUN: not evoformer-opt %t.mlir --evo-tile-skip-idle-subgroups 2>&1 | FileCheck %s

// CHECK: error: evo-tile-skip-idle-subgroups needs tiles with layouts, got 'tensor<64x16xf32>'
evo_tile.kernel @bare(%in: memref<64x16xf32>, %n: index) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %x = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32>
  %y = math.exp2 %x : tensor<64x16xf32>
  %z = evo_tile.skip_idle %y else %x within [%n] along [0] : tensor<64x16xf32>
  evo_tile.store %z, %in[%c0, %c0] : tensor<64x16xf32>, memref<64x16xf32>
  evo_tile.return
}
