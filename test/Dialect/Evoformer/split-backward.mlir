// RUN: evoformer-opt %s --evoformer-split-backward --split-input-file | FileCheck %s
// RUN: evoformer-opt %s --evoformer-split-backward --one-shot-bufferize=bufferize-function-boundaries --split-input-file -o /dev/null

// Everything, with a gate: its gradient and that of the weighted sum come with
// delta.
// CHECK-LABEL: func @gated(
// CHECK-SAME:    %[[Q:[^:]*]]: tensor<2x?x16x4x32xf16>, %[[M:[^:]*]]: tensor<2x?x1x1x16xf32>, %[[P:[^:]*]]: tensor<2x1x4x16x16xf16>,
// CHECK-SAME:    %[[G:[^:]*]]: tensor<2x?x16x4x32xf16>, %[[S:[^:]*]]: tensor<2x2x?x4x16xf32>,
// CHECK-SAME:    %[[DM:[^:]*]]: tensor<2x?x1x1x16xf32>, %[[DP:[^:]*]]: tensor<2x1x4x16x16xf16>)
// CHECK:         %[[N:.*]] = tensor.dim %[[Q]]
// CHECK-DAG:     %[[E0:.*]] = tensor.empty(%[[N]]) : tensor<2x?x4x16xf32>
// CHECK-DAG:     %[[E1:.*]] = tensor.empty(%[[N]]) : tensor<2x?x16x4x32xf16>
// CHECK:         %[[DELTA:.*]], %[[W:.*]], %[[DG:.*]] = evoformer.attention_delta
// CHECK-NEXT:      gate(%[[G]] : {{.*}})
// CHECK-NEXT:      output(%[[Q]] : {{.*}})
// CHECK-NEXT:      output_grad(%[[G]] : {{.*}})
// CHECK-NEXT:      delta(%[[E0]] : {{.*}})
// CHECK-NEXT:      weighted_grad(%[[E1]] : {{.*}})
// CHECK-NEXT:      gate_grad(%[[G]] : {{.*}})
// CHECK:         %[[B0:.*]] = evoformer.attention_gradient
// CHECK:           bias_grad[0](%[[DM]] : {{.*}})
// CHECK:         %[[B1:.*]] = evoformer.attention_gradient
// CHECK:           bias_grad[1](%[[DP]] as bnhkq : {{.*}})
// CHECK:         %[[DQ:.*]] = evoformer.attention_gradient
// CHECK-NEXT:      query(%[[Q]] : {{.*}})
// CHECK-NEXT:      key(%[[Q]] : {{.*}})
// CHECK-NEXT:      value(%[[Q]] : {{.*}})
// CHECK-NEXT:      bias(%[[M]] : {{.*}})
// CHECK-NEXT:      bias(%[[P]] as bnhkq : {{.*}})
// CHECK-NEXT:      weighted_grad(%[[W]] : {{.*}})
// CHECK-NEXT:      stats(%[[S]] : {{.*}})
// CHECK-NEXT:      delta(%[[DELTA]] : {{.*}})
// CHECK-NEXT:      query_grad(%[[Q]] : {{.*}})
// CHECK-NEXT:      scale(2.000000e+00)
// CHECK-NEXT:    %[[DK:.*]], %[[DV:.*]] = evoformer.attention_gradient
// CHECK:           key_grad(%[[Q]] : {{.*}})
// CHECK-NEXT:      value_grad(%[[Q]] : {{.*}})
// CHECK:         return %[[DQ]], %[[DK]], %[[DV]], %[[B0]], %[[B1]], %[[DG]]
!s = tensor<2x?x16x4x32xf16>
func.func @gated(%q: !s, %m: tensor<2x?x1x1x16xf32>, %p: tensor<2x1x4x16x16xf16>,
                 %g: !s, %s: tensor<2x2x?x4x16xf32>, %dm: tensor<2x?x1x1x16xf32>,
                 %dp: tensor<2x1x4x16x16xf16>)
    -> (!s, !s, !s, tensor<2x?x1x1x16xf32>, tensor<2x1x4x16x16xf16>, !s) {
  %0:6 = evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s)
      bias(%m : tensor<2x?x1x1x16xf32>)
      bias(%p as bnhkq : tensor<2x1x4x16x16xf16>)
      gate(%g : !s) output(%q : !s) stats(%s : tensor<2x2x?x4x16xf32>)
      output_grad(%g : !s) query_grad(%q : !s) key_grad(%q : !s)
      value_grad(%q : !s) bias_grad[0](%dm : tensor<2x?x1x1x16xf32>)
      bias_grad[1](%dp as bnhkq : tensor<2x1x4x16x16xf16>)
      gate_grad(%g : !s) scale(2.0)
  return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5
      : !s, !s, !s, tensor<2x?x1x1x16xf32>, tensor<2x1x4x16x16xf16>, !s
}

// -----

// The value's gradient alone needs no delta, and without a gate nothing of the
// output.
// CHECK-LABEL: func @value(
// CHECK-NEXT:    evoformer.attention_gradient
// CHECK-NOT:       delta
// CHECK:           value_grad
// CHECK-NOT:     evoformer
// CHECK:         return
func.func @value(%x: memref<1x2x16x4x32xf16>, %s: memref<2x1x2x4x16xf32>,
                 %dv: memref<1x2x16x4x32xf32>) {
  evoformer.attention_backward
      query(%x : memref<1x2x16x4x32xf16>) key(%x : memref<1x2x16x4x32xf16>)
      value(%x : memref<1x2x16x4x32xf16>) output(%x : memref<1x2x16x4x32xf16>)
      stats(%s : memref<2x1x2x4x16xf32>)
      output_grad(%x : memref<1x2x16x4x32xf16>)
      value_grad(%dv : memref<1x2x16x4x32xf32>)
  return
}

// -----

// The gate's gradient alone is one read of output, gradient and gate.
// CHECK-LABEL: func @gate(
// CHECK-NEXT:    evoformer.attention_delta
// CHECK-NEXT:      gate
// CHECK-NEXT:      output
// CHECK-NEXT:      output_grad
// CHECK-NEXT:      gate_grad
// CHECK-NEXT:    return
func.func @gate(%x: memref<1x2x16x4x32xf16>, %s: memref<2x1x2x4x16xf32>,
                %dg: memref<1x2x16x4x32xf16>) {
  evoformer.attention_backward
      query(%x : memref<1x2x16x4x32xf16>) key(%x : memref<1x2x16x4x32xf16>)
      value(%x : memref<1x2x16x4x32xf16>) gate(%x : memref<1x2x16x4x32xf16>)
      output(%x : memref<1x2x16x4x32xf16>) stats(%s : memref<2x1x2x4x16xf32>)
      output_grad(%x : memref<1x2x16x4x32xf16>)
      gate_grad(%dg : memref<1x2x16x4x32xf16>)
  return
}

// -----

// On memrefs the intermediates are freed. An output in f32 has a gradient in
// f32, the products take the input's type.
// CHECK-LABEL: func @buffers(
// CHECK-DAG:     %[[DELTA:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x2x4x16xf32>
// CHECK-DAG:     %[[W:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x2x16x4x32xf16>
// CHECK:         evoformer.attention_delta
// CHECK-NOT:       gate
// CHECK:           weighted_grad(%[[W]] : {{.*}})
// CHECK:         evoformer.attention_gradient
// CHECK:           weighted_grad(%[[W]] : {{.*}})
// CHECK:           key_grad
// CHECK-NEXT:    memref.dealloc %[[DELTA]]
// CHECK-NEXT:    memref.dealloc %[[W]]
func.func @buffers(%x: memref<1x2x16x4x32xf16>, %o: memref<1x2x16x4x32xf32>,
                   %s: memref<2x1x2x4x16xf32>, %dk: memref<1x2x16x4x32xf16>) {
  evoformer.attention_backward
      query(%x : memref<1x2x16x4x32xf16>) key(%x : memref<1x2x16x4x32xf16>)
      value(%x : memref<1x2x16x4x32xf16>) output(%o : memref<1x2x16x4x32xf32>)
      stats(%s : memref<2x1x2x4x16xf32>)
      output_grad(%o : memref<1x2x16x4x32xf32>)
      key_grad(%dk : memref<1x2x16x4x32xf16>)
  return
}
