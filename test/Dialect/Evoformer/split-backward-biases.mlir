// Where gradients of biases are computed.
// RUN: evoformer-opt %s --evoformer-split-backward | FileCheck %s --check-prefixes=CHECK,JOINED,AUTO
// RUN: evoformer-opt %s --evoformer-split-backward=bias-gradients=with-query | FileCheck %s --check-prefixes=CHECK,JOINED,WITH
// RUN: evoformer-opt %s --evoformer-split-backward=bias-gradients=apart | FileCheck %s --check-prefixes=CHECK,APART
// RUN: not evoformer-opt %s --evoformer-split-backward=bias-gradients=nowhere 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: not evoformer-opt %s --evoformer-lower='target=cpu bias-gradients=nowhere' 2>&1 | FileCheck %s --check-prefix=INVALID
// INVALID: split-backward-biases.mlir:{{[0-9]+}}:{{[0-9]+}}: error: bias-gradients is 'auto', 'apart' or 'with-query', not 'nowhere'

!x = tensor<2x1x?x4x32xf16>
!pair = tensor<2x1x4x?x?xf16>
!full = tensor<2x1x4x?x?xf32>
!row = tensor<2x1x1x?x?xf16>

// One row n: of biases with batches, heads, queries and keys nothing is summed.
// The one that heads share is summed over them.
// CHECK-LABEL: func @one_row(
// CHECK-SAME:    %[[DP:[^:,]*]]: tensor<2x1x4x?x?xf16>, %[[DR:[^:,]*]]: tensor<2x1x1x?x?xf16>, %[[DF:[^:,]*]]: tensor<2x1x4x?x?xf32>) ->
// JOINED:        %[[R:.*]] = evoformer.attention_gradient
// JOINED-NOT:      query_grad(
// JOINED:          bias_grad[1](%[[DR]] : {{.*}})
// JOINED-NEXT:   %[[Q:.*]], %[[B0:.*]], %[[B2:.*]] = evoformer.attention_gradient
// JOINED:          query_grad(
// JOINED-NEXT:     bias_grad[0](%[[DP]] : {{.*}})
// JOINED-NEXT:     bias_grad[2](%[[DF]] : {{.*}})
// JOINED-NOT:    evoformer
// JOINED:        return %[[Q]], %[[B0]], %[[R]], %[[B2]]
// APART:         %[[P:.*]] = evoformer.attention_gradient
// APART:           bias_grad[0]
// APART-NEXT:    %[[R:.*]] = evoformer.attention_gradient
// APART:           bias_grad[1]
// APART-NEXT:    %[[F:.*]] = evoformer.attention_gradient
// APART:           bias_grad[2]
// APART-NEXT:    %[[Q:.*]] = evoformer.attention_gradient
// APART:           query_grad(
// APART:         return %[[Q]], %[[P]], %[[R]], %[[F]]
func.func @one_row(%x: !x, %p: !pair, %r: !row, %f: !full,
                   %s: tensor<2x2x1x4x?xf32>, %dp: !pair, %dr: !row, %df: !full)
    -> (!x, !pair, !row, !full) {
  %0:4 = evoformer.attention_backward
      query(%x : !x) key(%x : !x) value(%x : !x) bias(%p : !pair)
      bias(%r : !row) bias(%f : !full) output(%x : !x)
      stats(%s : tensor<2x2x1x4x?xf32>) output_grad(%x : !x) query_grad(%x : !x)
      bias_grad[0](%dp : !pair) bias_grad[1](%dr : !row)
      bias_grad[2](%df : !full)
  return %0#0, %0#1, %0#2, %0#3 : !x, !pair, !row, !full
}

// Nobody asks for the query's gradient, so that there is nothing to join.
// CHECK-LABEL: func @alone(
// CHECK:         evoformer.attention_gradient
// CHECK-NOT:       query_grad(
// CHECK:           bias_grad[0]
// CHECK-NOT:     evoformer
// CHECK:         return
func.func @alone(%x: !x, %p: !pair, %s: tensor<2x2x1x4x?xf32>, %dp: !pair)
    -> !pair {
  %0 = evoformer.attention_backward
      query(%x : !x) key(%x : !x) value(%x : !x) bias(%p : !pair)
      output(%x : !x) stats(%s : tensor<2x2x1x4x?xf32>) output_grad(%x : !x)
      bias_grad[0](%dp : !pair)
  return %0 : !pair
}

// A number of rows that is not known may be larger than 1.
// CHECK-LABEL: func @any_rows(
// CHECK:         evoformer.attention_gradient
// CHECK-NOT:       query_grad(
// CHECK:           bias_grad[0]
// CHECK:         evoformer.attention_gradient
// CHECK:           query_grad(
// CHECK-NOT:       bias_grad[
// CHECK:         return
func.func @any_rows(%x: tensor<2x?x?x4x32xf16>, %p: !pair,
                    %s: tensor<2x2x?x4x?xf32>, %dp: !pair)
    -> (tensor<2x?x?x4x32xf16>, !pair) {
  %0:2 = evoformer.attention_backward
      query(%x : tensor<2x?x?x4x32xf16>) key(%x : tensor<2x?x?x4x32xf16>)
      value(%x : tensor<2x?x?x4x32xf16>) bias(%p : !pair)
      output(%x : tensor<2x?x?x4x32xf16>) stats(%s : tensor<2x2x?x4x?xf32>)
      output_grad(%x : tensor<2x?x?x4x32xf16>)
      query_grad(%x : tensor<2x?x?x4x32xf16>) bias_grad[0](%dp : !pair)
  return %0#0, %0#1 : tensor<2x?x?x4x32xf16>, !pair
}

// On request one bias that is summed joins where the number of keys is known: the
// first that has queries and keys.
// CHECK-LABEL: func @short_keys(
// WITH:          evoformer.attention_gradient
// WITH:            bias_grad[0](
// WITH-NEXT:     evoformer.attention_gradient
// WITH:            bias_grad[2](
// WITH-NEXT:     evoformer.attention_gradient
// WITH:            query_grad(
// WITH-NEXT:       bias_grad[1](
// AUTO:            query_grad(
// AUTO-NEXT:     memref.dealloc
// APART:           query_grad(
// APART-NEXT:    memref.dealloc
func.func @short_keys(%x: memref<2x?x64x4x32xf16>, %m: memref<2x?x1x1x64xf16>,
                      %p: memref<2x1x4x64x64xf16>, %s: memref<2x2x?x4x64xf32>,
                      %dq: memref<2x?x64x4x32xf16>, %dm: memref<2x?x1x1x64xf16>,
                      %d1: memref<2x1x4x64x64xf16>,
                      %d2: memref<2x1x4x64x64xf16>) {
  evoformer.attention_backward
      query(%x : memref<2x?x64x4x32xf16>) key(%x : memref<2x?x64x4x32xf16>)
      value(%x : memref<2x?x64x4x32xf16>) bias(%m : memref<2x?x1x1x64xf16>)
      bias(%p : memref<2x1x4x64x64xf16>) bias(%p : memref<2x1x4x64x64xf16>)
      output(%x : memref<2x?x64x4x32xf16>) stats(%s : memref<2x2x?x4x64xf32>)
      output_grad(%x : memref<2x?x64x4x32xf16>)
      query_grad(%dq : memref<2x?x64x4x32xf16>)
      bias_grad[0](%dm : memref<2x?x1x1x64xf16>)
      bias_grad[1](%d1 : memref<2x1x4x64x64xf16>)
      bias_grad[2](%d2 : memref<2x1x4x64x64xf16>)
  return
}
