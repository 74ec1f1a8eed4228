// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx942 --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_80 --canonicalize --cse | FileCheck %s --check-prefix=DIRECT

// The gradients of key and value read a bias by keys: one that all rows share
// is copied once, in f32, its queries contiguous and in whole blocks. A chip whose reads
// transpose takes it as it lies, and so do those of the query.

// CHECK-LABEL: evo_tile.kernel @pair_copy_bias(
//  CHECK-SAME:     memref<1x1x4x?x?xbf16>, %{{.+}}: memref<1x1x4x?x?xf32, strided<[?, ?, ?, 1, ?]>>
//       CHECK:   evo_tile.load %{{.+}} padding 0xFF80 : bf16 : {{.+}} -> tensor<32x128xbf16>
//       CHECK:   arith.extf
//       CHECK:   evo_tile.store {{.+}} {alignment = 16 : i64{{.*}}} : tensor<32x128xf32>
// CHECK-LABEL: evo_tile.kernel @pair_key_value_grad(
//       CHECK:   scf.for
//       CHECK:     evo_tile.load {{.+}} {alignment = 16 : i64, in_bounds = array<i1: true, true>} : memref<?x64xf32, strided<[1, ?], offset: ?>> -> tensor<32x64xf32>
// CHECK-LABEL: func.func @pair(
//       CHECK:   %[[COPY:.+]] = memref.alloc(%[[KEYS:.+]], %[[QUERIES:.+]]) {{.+}} : memref<1x1x4x?x?xf32>
//       CHECK:   memref.transpose %[[COPY]] (d0, d1, d2, d3, d4) -> (d0, d1, d2, d4, d3)

// DIRECT-LABEL: func.func @pair(
//   DIRECT-NOT:   -> (d0, d1, d2, d4, d3)
//       DIRECT:   evo_tile.launch @pair_key_value_grad
func.func @pair(%x: memref<1x?x?x4x32xbf16>, %p: memref<1x1x4x?x?xbf16>,
                %s: memref<2x1x?x4x?xf32>, %d: memref<1x?x4x?xf32>,
                %dk: memref<1x?x?x4x32xbf16>) {
  evoformer.attention_gradient
      query(%x : memref<1x?x?x4x32xbf16>) key(%x : memref<1x?x?x4x32xbf16>)
      value(%x : memref<1x?x?x4x32xbf16>) bias(%p : memref<1x1x4x?x?xbf16>)
      weighted_grad(%x : memref<1x?x?x4x32xbf16>)
      stats(%s : memref<2x1x?x4x?xf32>) delta(%d : memref<1x?x4x?xf32>)
      key_grad(%dk : memref<1x?x?x4x32xbf16>)
  return
}
