// Row vectors: of what a product starts from, the next iteration's is loaded
// ahead, since nothing hides its latency; what is added to a product is loaded
// first in its own iteration.
// RUN: %python %S/Inputs/with_target.py gfx942 %s 'block = [64, 64, 32], subgroups = [1, 2, 2], stages = 2' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline | FileCheck %s

// CHECK-LABEL: evo_tile.kernel @rows
//       CHECK:   scf.for %{{.+}} iter_args(%{{[^ ]+}} = %{{[^ ]+}}, %[[START:[^ ]+]] = %
//       CHECK:     evo_tile.load %arg3
//       CHECK:     evo_tile.load %arg0
//       CHECK:     evo_tile.load %arg1
//       CHECK:     evo_tile.barrier
//   CHECK-NOT:     evo_tile.load %arg2
//       CHECK:     evo_tile.broadcast %[[START]] dim 1
//       CHECK:     evo_tile.mma
//       CHECK:     %[[AHEAD:.+]] = evo_tile.load %arg2
//       CHECK:     scf.yield %{{.+}}, %[[AHEAD]] :
evo_tile.kernel @rows(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %from: memref<?xf32>, %added: memref<?xf32>, %c: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %size = memref.dim %a, %c1 : memref<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %size step %c32 iter_args(%acc = %zero) -> tensor<64x64xf32> {
    %ta = evo_tile.load %a[%c0, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<64x32xbf16>
    %tb = evo_tile.load %b[%k, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<32x64xbf16>
    %f1 = evo_tile.load %from[%k] : memref<?xf32> -> tensor<64xf32>
    %start = evo_tile.broadcast %f1 dim 1 : tensor<64xf32> -> tensor<64x64xf32>
    %product = evo_tile.mma %ta, %tb, %start : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    %d1 = evo_tile.load %added[%k] : memref<?xf32> -> tensor<64xf32>
    %late = evo_tile.broadcast %d1 dim 1 : tensor<64xf32> -> tensor<64x64xf32>
    %both = arith.addf %product, %late : tensor<64x64xf32>
    %next = arith.addf %acc, %both : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  evo_tile.store %sum, %c[%c0, %c0] : tensor<64x64xf32>, memref<?x?xf32>
  evo_tile.return
}
