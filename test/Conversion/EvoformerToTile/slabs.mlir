// One recomputation for all gradients: for so many rows as the budget holds, the
// kernel of keys and values stores their logits' gradients, that of the query
// multiplies these with keys, and they are added to the bias's gradient.
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_90 --canonicalize --cse | FileCheck %s
// Few rows, a small depth, a bias that heads share, f32, and other chips: apart.
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=sm_90 partial-sum-bytes=0' --canonicalize | FileCheck %s --check-prefix=APART
// RUN: sed 's/x128xbf16/x64xbf16/g' %s | evoformer-opt --convert-evoformer-to-tile=target=sm_90 --canonicalize | FileCheck %s --check-prefix=ONLY-APART
// RUN: sed 's/bf16/f32/g' %s | evoformer-opt --convert-evoformer-to-tile=target=sm_90 --canonicalize | FileCheck %s --check-prefix=ONLY-APART
// RUN: sed 's/1x1x4x384x384x/1x1x1x384x384x/g' %s | evoformer-opt --convert-evoformer-to-tile=target=sm_90 --canonicalize | FileCheck %s --check-prefix=ONLY-APART
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_80 --canonicalize | FileCheck %s --check-prefix=ONLY-APART
// A forced schedule is for the kernels that there are without slabs.
// RUN: evoformer-opt %s --convert-evoformer-to-tile='target=sm_90 schedule=bias_grad:v1:k=64' --canonicalize | FileCheck %s --check-prefix=ONLY-APART

// What the kernel of keys and values makes again with care it stores again.
// CHECK-LABEL: evo_tile.kernel @f_key_value_grad(
// CHECK:         evo_tile.store {{.*}} {alignment = 16 : i64, in_bounds = array<i1: true, true, true>} : tensor<1x128x64xbf16>
// CHECK:         evo_tile.where
// CHECK:           evo_tile.store {{.*}} : tensor<1x128x64xbf16>
// CHECK-LABEL: evo_tile.kernel @f_query_grad(
// CHECK-NOT:     math.exp2
// CHECK:         scf.for
// CHECK:           %[[DS:.*]] = evo_tile.transpose %{{.*}} [0, 2, 1] : tensor<1x64x128xbf16>
// CHECK:           evo_tile.mma %[[DS]], %{{.*}} : tensor<1x128x64xbf16>, tensor<1x64x128xbf16>
// CHECK-LABEL: func.func @f(
// CHECK:         scf.for
// CHECK:           evo_tile.launch @f_key_value_grad
// CHECK:           evo_tile.launch @f_query_grad
// CHECK:           scf.if
// CHECK:             evo_tile.launch @f_sum_parts
// CHECK:           } else {
// CHECK:             evo_tile.launch @f_sum_parts
// CHECK:         evo_tile.launch @f_sum_parts
// CHECK-NOT:     @f_bias_grad
// APART-LABEL: func.func @f(
// APART-NOT:     scf.for
// APART:         evo_tile.launch @f_bias_grad
// ONLY-APART-LABEL: func.func @f(
// ONLY-APART-NOT:     scf.for
// ONLY-APART:         evo_tile.launch @f_bias_grad
func.func @f(%q: memref<1x384x384x4x128xbf16>, %w: memref<1x384x384x4x128xbf16>,
             %p: memref<1x1x4x384x384xbf16>, %s: memref<1x384x4x384xf32>,
             %stats: memref<2x1x384x4x384xf32>, %dq: memref<1x384x384x4x128xbf16>,
             %dk: memref<1x384x384x4x128xbf16>, %dv: memref<1x384x384x4x128xbf16>,
             %dp: memref<1x1x4x384x384xbf16>) {
  evoformer.attention_gradient
      query(%q : memref<1x384x384x4x128xbf16>) key(%q : memref<1x384x384x4x128xbf16>)
      value(%q : memref<1x384x384x4x128xbf16>) bias(%p : memref<1x1x4x384x384xbf16>)
      weighted_grad(%w : memref<1x384x384x4x128xbf16>)
      stats(%stats : memref<2x1x384x4x384xf32>) delta(%s : memref<1x384x4x384xf32>)
      query_grad(%dq : memref<1x384x384x4x128xbf16>)
  evoformer.attention_gradient
      query(%q : memref<1x384x384x4x128xbf16>) key(%q : memref<1x384x384x4x128xbf16>)
      value(%q : memref<1x384x384x4x128xbf16>) bias(%p : memref<1x1x4x384x384xbf16>)
      weighted_grad(%w : memref<1x384x384x4x128xbf16>)
      stats(%stats : memref<2x1x384x4x384xf32>) delta(%s : memref<1x384x4x384xf32>)
      key_grad(%dk : memref<1x384x384x4x128xbf16>)
      value_grad(%dv : memref<1x384x384x4x128xbf16>)
  evoformer.attention_gradient
      query(%q : memref<1x384x384x4x128xbf16>) key(%q : memref<1x384x384x4x128xbf16>)
      value(%q : memref<1x384x384x4x128xbf16>) bias(%p : memref<1x1x4x384x384xbf16>)
      weighted_grad(%w : memref<1x384x384x4x128xbf16>)
      stats(%stats : memref<2x1x384x4x384xf32>) delta(%s : memref<1x384x4x384xf32>)
      bias_grad[0](%dp : memref<1x1x4x384x384xbf16>)
  return
}
