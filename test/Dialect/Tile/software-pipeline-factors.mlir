// A tile that a product multiplies is loaded an iteration ahead if the loop's
// other tiles leave room for it; one that is added to a product only within a
// sixteenth of the registers, 16 of 256.
// RUN: %python %S/Inputs/with_target.py gfx942 %s 'block = [1, 128, 64], subgroups = [1, 4, 1], stages = 2' > %t.mlir
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline | FileCheck %s
// RUN: evoformer-opt %t.mlir --evo-tile-assign-layouts --evo-tile-promote-to-lds --evo-tile-software-pipeline=prefetch-registers=16 | FileCheck %s --check-prefix=FEW

// CHECK-LABEL: evo_tile.kernel @factors
//       CHECK:   scf.for %{{.+}} iter_args(%{{[^ ]+}} = %{{[^ ]+}}, %[[NOW:[^ ]+]] = %
//       CHECK:     evo_tile.load %arg1
//       CHECK:     evo_tile.barrier
//       CHECK:     evo_tile.mma %[[NOW]],
//       CHECK:     %[[AHEAD:.+]] = evo_tile.load %arg0
//       CHECK:     scf.yield %{{.+}}, %[[AHEAD]] :
//   FEW-LABEL: evo_tile.kernel @factors
//         FEW:   scf.for
//         FEW:     evo_tile.barrier
//         FEW:     %[[A:.+]] = evo_tile.load %arg0
//         FEW:     evo_tile.mma %[[A]],
evo_tile.kernel @factors(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %added: memref<?x?xf32>, %c: memref<?x?xf32>)
    attributes {target = #target, schedule = #schedule} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %size = memref.dim %a, %c1 : memref<?x?xbf16>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %sum = scf.for %k = %c0 to %size step %c128 iter_args(%acc = %zero) -> tensor<128x64xf32> {
    %ta = evo_tile.load %a[%c0, %k] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<128x128xbf16>
    %tb = evo_tile.load %b[%k, %c0] padding 0.0 : bf16 {alignment = 16 : i64} : memref<?x?xbf16> -> tensor<128x64xbf16>
    %product = evo_tile.mma %ta, %tb, %zero : tensor<128x128xbf16>, tensor<128x64xbf16>, tensor<128x64xf32>
    %d = evo_tile.load %added[%c0, %k] padding 0.0 : f32 {alignment = 16 : i64} : memref<?x?xf32> -> tensor<128x64xf32>
    %both = arith.addf %product, %d : tensor<128x64xf32>
    %next = arith.addf %acc, %both : tensor<128x64xf32>
    scf.yield %next : tensor<128x64xf32>
  }
  evo_tile.store %sum, %c[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32>
  evo_tile.return
}
