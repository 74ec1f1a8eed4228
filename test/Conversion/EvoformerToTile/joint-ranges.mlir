// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=cpu | FileCheck %s

// Gradients of different ranges of keys are those of different logits: they share no
// recomputation.
// CHECK-NOT: all_grads
// CHECK: evo_tile.kernel @f_query_grad
// CHECK-NOT: all_grads
// CHECK: evo_tile.kernel @f_key_value_grad
// CHECK-NOT: all_grads
func.func @f(%q: memref<1x1x48x4x32xf32>, %s: memref<1x1x4x48xf32>, %stats: memref<2x1x1x4x48xf32>,
   %dq: memref<1x1x48x4x32xf32>, %dk: memref<1x1x48x4x32xf32>, %dv: memref<1x1x48x4x32xf32>) {
  evoformer.attention_gradient
      query(%q : memref<1x1x48x4x32xf32>) key(%q : memref<1x1x48x4x32xf32>)
      value(%q : memref<1x1x48x4x32xf32>)
      weighted_grad(%q : memref<1x1x48x4x32xf32>)
      stats(%stats : memref<2x1x1x4x48xf32>) delta(%s : memref<1x1x4x48xf32>)
      query_grad(%dq : memref<1x1x48x4x32xf32>)
      keys(to affine_map<(i)[sq, sk] -> (i + 1)>)
  evoformer.attention_gradient
      query(%q : memref<1x1x48x4x32xf32>) key(%q : memref<1x1x48x4x32xf32>)
      value(%q : memref<1x1x48x4x32xf32>)
      weighted_grad(%q : memref<1x1x48x4x32xf32>)
      stats(%stats : memref<2x1x1x4x48xf32>) delta(%s : memref<1x1x4x48xf32>)
      key_grad(%dk : memref<1x1x48x4x32xf32>)
      value_grad(%dv : memref<1x1x48x4x32xf32>)
  return
}
