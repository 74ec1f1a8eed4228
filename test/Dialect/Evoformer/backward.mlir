// RUN: evoformer-opt %s | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --mlir-print-op-generic | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --emit-bytecode | evoformer-opt | FileCheck %s
// RUN: evoformer-opt %s --canonicalize | FileCheck %s --check-prefix=CANON
// RUN: evoformer-opt %s --one-shot-bufferize=bufferize-function-boundaries --canonicalize | FileCheck %s --check-prefix=BUFFER

// Every clause, orders, results with their names. What nobody uses goes away:
// here the value's gradient.
// CHECK-LABEL: func @everything
// CHECK:         %[[DQ:query_grad]], %[[DK:key_grad]], %{{value_grad}}, %[[DB:bias_grad]], %[[DB1:bias_grad_0]], %[[DG:gate_grad]] = evoformer.attention_backward
// CHECK-NEXT:      query(%{{.*}} as bnhsd : tensor<2x3x5x16x24xf16>)
// CHECK-NEXT:      key(%{{.*}} as dshnb : tensor<24x32x5x3x2xf16>)
// CHECK-NEXT:      value(%{{.*}} : tensor<2x3x32x5x40xf16>)
// CHECK-NEXT:      bias(%{{.*}} : tensor<2x3x1x1x32xi1>)
// CHECK-NEXT:      bias(%{{.*}} as kqhnb : tensor<32x16x5x1x2xf16>)
// CHECK-NEXT:      bias(%{{.*}} : tensor<2x3x1x1x32xf32>)
// CHECK-NEXT:      gate(%{{.*}} : tensor<2x3x16x5x40xf32>)
// CHECK-NEXT:      output(%{{.*}} as bnhsd : tensor<2x3x5x16x40xf32>)
// CHECK-NEXT:      stats(%{{.*}} : tensor<2x2x3x5x16xf32>)
// CHECK-NEXT:      output_grad(%{{.*}} as bnhsd : tensor<2x3x5x16x40xf16>)
// CHECK-NEXT:      query_grad(%{{.*}} : tensor<2x3x16x5x24xf32>)
// CHECK-NEXT:      key_grad(%{{.*}} as bnhsd : tensor<2x3x5x32x24xf16>)
// CHECK-NEXT:      value_grad(%{{.*}} : tensor<2x3x32x5x40xf16>)
// CHECK-NEXT:      bias_grad[1](%{{.*}} as bnhkq : tensor<2x1x5x32x16xf32>)
// CHECK-NEXT:      bias_grad[2](%{{.*}} : tensor<2x3x1x1x32xf32>)
// CHECK-NEXT:      gate_grad(%{{.*}} : tensor<2x3x16x5x40xf32>)
// CHECK-NEXT:      scale(2.500000e-01) {note = "kept"}
// CHECK-NEXT:    return %[[DQ]], %[[DK]], %[[DB]], %[[DB1]], %[[DG]]

// CANON-LABEL: func @everything
// CANON:         %query_grad, %key_grad, %bias_grad, %bias_grad_0, %gate_grad = evoformer.attention_backward
// CANON:           key_grad(%{{.*}} as bnhsd : tensor<2x3x5x32x24xf16>)
// CANON-NEXT:      bias_grad[1](%{{.*}} as bnhkq : tensor<2x1x5x32x16xf32>)
// CANON-NEXT:      bias_grad[2](%{{.*}} : tensor<2x3x1x1x32xf32>)
// CANON:           scale(2.500000e-01) {note = "kept"}

// The key's depth is not innermost: a copy in the default order.
// BUFFER-LABEL: func @everything
// BUFFER:         memref.copy
// BUFFER:         evoformer.attention_backward
// BUFFER-NEXT:      query(%{{.*}} as bnhsd : memref<
// BUFFER-NEXT:      key(%{{.*}} : memref<2x3x32x5x24xf16>)
// BUFFER:           key_grad(%[[DK:.*]] as bnhsd : memref<
// BUFFER:         return %{{.*}}, %[[DK]],
func.func @everything(
    %q: tensor<2x3x5x16x24xf16>, %k: tensor<24x32x5x3x2xf16>,
    %v: tensor<2x3x32x5x40xf16>, %m: tensor<2x3x1x1x32xi1>,
    %p: tensor<32x16x5x1x2xf16>, %b: tensor<2x3x1x1x32xf32>,
    %g: tensor<2x3x16x5x40xf32>, %o: tensor<2x3x5x16x40xf32>,
    %s: tensor<2x2x3x5x16xf32>, %do: tensor<2x3x5x16x40xf16>,
    %dq: tensor<2x3x16x5x24xf32>, %dk: tensor<2x3x5x32x24xf16>,
    %dv: tensor<2x3x32x5x40xf16>, %dp: tensor<2x1x5x32x16xf32>,
    %db: tensor<2x3x1x1x32xf32>, %dg: tensor<2x3x16x5x40xf32>)
    -> (tensor<2x3x16x5x24xf32>, tensor<2x3x5x32x24xf16>,
        tensor<2x1x5x32x16xf32>, tensor<2x3x1x1x32xf32>,
        tensor<2x3x16x5x40xf32>) {
  %0:6 = evoformer.attention_backward
      query(%q as bnhsd : tensor<2x3x5x16x24xf16>)
      key(%k as dshnb : tensor<24x32x5x3x2xf16>)
      value(%v : tensor<2x3x32x5x40xf16>)
      bias(%m : tensor<2x3x1x1x32xi1>)
      bias(%p as kqhnb : tensor<32x16x5x1x2xf16>)
      bias(%b : tensor<2x3x1x1x32xf32>)
      gate(%g : tensor<2x3x16x5x40xf32>)
      output(%o as bnhsd : tensor<2x3x5x16x40xf32>)
      stats(%s : tensor<2x2x3x5x16xf32>)
      output_grad(%do as bnhsd : tensor<2x3x5x16x40xf16>)
      query_grad(%dq : tensor<2x3x16x5x24xf32>)
      key_grad(%dk as bnhsd : tensor<2x3x5x32x24xf16>)
      value_grad(%dv : tensor<2x3x32x5x40xf16>)
      bias_grad[1](%dp as bnhkq : tensor<2x1x5x32x16xf32>)
      bias_grad[2](%db : tensor<2x3x1x1x32xf32>)
      gate_grad(%dg : tensor<2x3x16x5x40xf32>)
      scale(0.25) {note = "kept"}
  return %0#0, %0#1, %0#3, %0#4, %0#5
      : tensor<2x3x16x5x24xf32>, tensor<2x3x5x32x24xf16>,
        tensor<2x1x5x32x16xf32>, tensor<2x3x1x1x32xf32>,
        tensor<2x3x16x5x40xf32>
}

// The steps, on memrefs.
// CHECK-LABEL: func @steps
// CHECK:         evoformer.attention_delta
// CHECK-NEXT:      gate(%{{.*}} : memref<?x?x?x4x32xf16>)
// CHECK-NEXT:      output(%{{.*}} : memref<?x?x?x4x32xf16>)
// CHECK-NEXT:      output_grad(%{{.*}} : memref<?x?x?x4x32xf16>)
// CHECK-NEXT:      delta(%{{.*}} : memref<?x?x4x?xf32>)
// CHECK-NEXT:      weighted_grad(%{{.*}} : memref<?x?x?x4x32xf16>)
// CHECK-NEXT:      gate_grad(%{{.*}} : memref<?x?x?x4x32xf16>)
// CHECK-NEXT:    evoformer.attention_gradient
// CHECK-NEXT:      query(%{{.*}} : memref<?x?x?x4x32xf16>)
// CHECK-NEXT:      key(%{{.*}} : memref<?x?x?x4x32xf16>)
// CHECK-NEXT:      value(%{{.*}} : memref<?x?x?x4x32xf16>)
// CHECK-NEXT:      weighted_grad(%{{.*}} : memref<?x?x?x4x32xf16>)
// CHECK-NEXT:      stats(%{{.*}} : memref<2x?x?x4x?xf32>)
// CHECK-NEXT:      delta(%{{.*}} : memref<?x?x4x?xf32>)
// CHECK-NEXT:      query_grad(%{{.*}} : memref<?x?x?x4x32xf32>)
// CHECK-NEXT:    return
func.func @steps(%x: memref<?x?x?x4x32xf16>, %s: memref<2x?x?x4x?xf32>,
                 %d: memref<?x?x4x?xf32>, %w: memref<?x?x?x4x32xf16>,
                 %dg: memref<?x?x?x4x32xf16>, %dq: memref<?x?x?x4x32xf32>) {
  evoformer.attention_delta
      gate(%x : memref<?x?x?x4x32xf16>)
      output(%x : memref<?x?x?x4x32xf16>)
      output_grad(%x : memref<?x?x?x4x32xf16>)
      delta(%d : memref<?x?x4x?xf32>)
      weighted_grad(%w : memref<?x?x?x4x32xf16>)
      gate_grad(%dg : memref<?x?x?x4x32xf16>)
  evoformer.attention_gradient
      query(%x : memref<?x?x?x4x32xf16>)
      key(%x : memref<?x?x?x4x32xf16>)
      value(%x : memref<?x?x?x4x32xf16>)
      weighted_grad(%w : memref<?x?x?x4x32xf16>)
      stats(%s : memref<2x?x?x4x?xf32>)
      delta(%d : memref<?x?x4x?xf32>)
      query_grad(%dq : memref<?x?x?x4x32xf32>)
  return
}

// A gradient that is all unused is not computed at all.
// CANON-LABEL: func @unused
// CANON-NEXT:    return
func.func @unused(%x: tensor<1x2x16x4x32xf32>, %s: tensor<2x1x2x4x16xf32>) {
  %0 = evoformer.attention_backward
      query(%x : tensor<1x2x16x4x32xf32>)
      key(%x : tensor<1x2x16x4x32xf32>)
      value(%x : tensor<1x2x16x4x32xf32>)
      output(%x : tensor<1x2x16x4x32xf32>)
      stats(%s : tensor<2x1x2x4x16xf32>)
      output_grad(%x : tensor<1x2x16x4x32xf32>)
      query_grad(%x : tensor<1x2x16x4x32xf32>)
  return
}
