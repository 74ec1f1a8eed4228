// Copies are told from layouts and workgroup memory.
//
// RUN: %python %S/Inputs/with_target.py sm_90 %s 'block = [1], subgroups = [1, 4, 1], stages = 1' > %t.mlir
// RUN: not evoformer-opt %t.mlir --evo-tile-copy-boxes 2>&1 | FileCheck %s

// CHECK: error: evo-tile-copy-boxes needs tiles with layouts, got 'tensor<64x16xf32>'
evo_tile.kernel @bare(%in: memref<64x16xf32>) attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %x = evo_tile.load %in[%c0, %c0] : memref<64x16xf32> -> tensor<64x16xf32>
  evo_tile.store %x, %in[%c0, %c0] : tensor<64x16xf32>, memref<64x16xf32>
  evo_tile.return
}
