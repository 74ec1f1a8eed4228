// Loops of 16-bit types on GPUs whose items have few queries subtract one number
// from logits, NaN where it has too few digits for two: what a NaN has spoilt is
// summed again with the reference first, and with dropped keys cleared.

// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx942 --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=cpu --canonicalize --cse | FileCheck %s --check-prefix=APART

// CHECK-LABEL: evo_tile.kernel @f_query_grad(
// CHECK:         %[[MINUS_REF:.*]] = arith.negf
// CHECK:         %[[MINUS_LOG:.*]] = arith.negf
// CHECK:         %[[ONE:.*]] = math.fma %[[MINUS_REF]], %{{.*}}, %[[MINUS_LOG]] : [[ROW:tensor<1x[0-9]+xf32>]]
// CHECK:         %[[SIZE:.*]] = math.absf %[[MINUS_REF]] : [[ROW]]
// CHECK:         %[[SMALL:.*]] = arith.cmpf olt, %[[SIZE]], %{{.*}} : [[ROW]]
// CHECK:         %[[OFFSET:.*]] = arith.select %[[SMALL]], %[[ONE]], %{{.*}} : tensor<{{.*}}xi1>, [[ROW]]
// CHECK:         scf.for
// CHECK:           %[[LOGITS:.*]] = evo_tile.mma
// CHECK-NOT:       math.fma
// CHECK:           %[[BROAD:.*]] = evo_tile.broadcast %[[OFFSET]] dim 2
// CHECK:           %[[EXPONENT:.*]] = math.fma %[[LOGITS]], %{{.*}}, %[[BROAD]]
// CHECK:           math.exp2 %[[EXPONENT]]
// CHECK:         evo_tile.where
// CHECK:           scf.for
// CHECK:             arith.select %{{.*}} : tensor<{{.*}}xi1>, tensor<{{.*}}xbf16>
// CHECK:             %[[LOGITS:.*]] = math.fma
// CHECK:             %[[BROAD:.*]] = evo_tile.broadcast %{{.*}} dim 2
// CHECK:             %[[RELATIVE:.*]] = arith.addf %{{.*}}, %[[BROAD]]
// CHECK:             math.fma %[[RELATIVE]]

// APART-LABEL: evo_tile.kernel @f_query_grad(
// APART-NOT:     evo_tile.where
// APART:         arith.addf
// APART:         math.exp2
func.func @f(%x: memref<1x?x?x4x32xbf16>, %dq: memref<1x?x?x4x32xbf16>,
             %m: memref<1x?x1x1x?xbf16>,
             %s: memref<1x?x4x?xf32>, %stats: memref<2x1x?x4x?xf32>) {
  evoformer.attention_gradient
      query(%x : memref<1x?x?x4x32xbf16>) key(%x : memref<1x?x?x4x32xbf16>)
      value(%x : memref<1x?x?x4x32xbf16>) bias(%m : memref<1x?x1x1x?xbf16>)
      weighted_grad(%x : memref<1x?x?x4x32xbf16>)
      stats(%stats : memref<2x1x?x4x?xf32>) delta(%s : memref<1x?x4x?xf32>)
      query_grad(%dq : memref<1x?x?x4x32xbf16>)
  return
}
