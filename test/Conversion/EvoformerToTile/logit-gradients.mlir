// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=cpu --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_80 --canonicalize --cse | FileCheck %s --check-prefix=GPU

// Gradients of biases in which nothing is summed are stored as the loop over
// keys makes them: in the inputs' type what the product takes, in f32 what it
// was before.
// CHECK-LABEL: evo_tile.kernel @f_query_grad(
// CHECK:         scf.for %[[KEY:.*]] = %c0 to %c104 step %c64 iter_args
// CHECK:           %[[DS:.*]] = arith.mulf %{{.*}} : tensor<1x32x64xf32>
// CHECK:           %[[NARROW:.*]] = arith.truncf %[[DS]] : tensor<1x32x64xf32> to tensor<1x32x64xf16>
// CHECK:           %[[A:.*]] = memref.subview %{{.*}} : memref<2x1x4x48x104xf16> to
// CHECK:           evo_tile.store %[[NARROW]], %{{.*}}[%c0, %c0, %[[KEY]]]
// CHECK:           evo_tile.store %[[DS]], %{{.*}}[%c0, %c0, %[[KEY]]]
// CHECK:           evo_tile.mma %[[NARROW]]
// CHECK-LABEL: func.func @f(
// CHECK:         evo_tile.launch @f_query_grad
// CHECK-NOT:     evo_tile.launch

// On a GPU another guard says whether whole vectors hold rows of the gradient.
// GPU-LABEL: evo_tile.kernel @f_query_grad(
// GPU:         evo_tile.store {{.*}} {alignment = 16 : i64, in_bounds = array<i1: true, false, false>} : tensor<1x128x32xf16>
// GPU-LABEL: evo_tile.kernel @f_query_grad_{{[0-9]}}(
// GPU:         evo_tile.store {{.*}} {in_bounds = array<i1: true, false, false>} : tensor<1x128x32xf16>
// GPU-LABEL: evo_tile.kernel @f_query_grad_{{[0-9]}}(
// GPU-LABEL: func.func @f(
// GPU:         scf.if
// GPU-NEXT:      scf.if
// GPU-NEXT:        evo_tile.launch @f_query_grad space
// GPU-NEXT:      } else {
// GPU-NEXT:        evo_tile.launch @f_query_grad_[[SECOND:[0-9]]] space
// GPU-NEXT:      }
// GPU-NEXT:    } else {
// GPU-NOT:       @f_query_grad_[[SECOND]]
// GPU:           evo_tile.launch @f_query_grad_{{[0-9]}} space
func.func @f(%q: memref<2x1x48x4x32xf16>, %k: memref<2x1x104x4x32xf16>,
             %p: memref<2x1x4x48x104xf16>, %s: memref<2x1x4x48xf32>,
             %stats: memref<2x2x1x4x48xf32>, %dq: memref<2x1x48x4x32xf16>,
             %dp: memref<2x1x4x48x104xf16>, %dr: memref<2x1x4x48x104xf32>) {
  evoformer.attention_gradient
      query(%q : memref<2x1x48x4x32xf16>) key(%k : memref<2x1x104x4x32xf16>)
      value(%k : memref<2x1x104x4x32xf16>) bias(%p : memref<2x1x4x48x104xf16>)
      bias(%p : memref<2x1x4x48x104xf16>)
      weighted_grad(%q : memref<2x1x48x4x32xf16>)
      stats(%stats : memref<2x2x1x4x48xf32>) delta(%s : memref<2x1x4x48xf32>)
      query_grad(%dq : memref<2x1x48x4x32xf16>)
      bias_grad[0](%dp : memref<2x1x4x48x104xf16>)
      bias_grad[1](%dr : memref<2x1x4x48x104xf32>)
  return
}
