// RUN: evoformer-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --split-input-file | FileCheck %s
// RUN: evoformer-opt %s --one-shot-bufferize="bufferize-function-boundaries" --split-input-file | FileCheck %s --check-prefix=DYNAMIC

// The destination is written in place, nothing is copied.
// CHECK-LABEL: func @in_place(
// CHECK-SAME:    %[[Q:.*]]: memref<2x3x4x16x32xbf16>, %[[K:.*]]: memref<2x3x16x4x32xbf16>, %[[B:.*]]: memref<2x3x1x1x16xi1>, %[[O:.*]]: memref<2x3x16x4x32xbf16>)
// CHECK-NOT:     alloc
// CHECK-NOT:     copy
// CHECK:         evoformer.attention
// CHECK-NEXT:      query(%[[Q]] as bnhsd : memref<2x3x4x16x32xbf16>)
// CHECK-NEXT:      key(%[[K]] : memref<2x3x16x4x32xbf16>)
// CHECK-NEXT:      value(%[[K]] : memref<2x3x16x4x32xbf16>)
// CHECK-NEXT:      bias(%[[B]] : memref<2x3x1x1x16xi1>)
// CHECK-NEXT:      outs(%[[O]] : memref<2x3x16x4x32xbf16>)
// CHECK-NEXT:      scale(5.000000e-01)
// CHECK-NEXT:    return
// DYNAMIC-LABEL: func @in_place(
// DYNAMIC:         query(%{{.*}} as bnhsd : memref<2x3x4x16x32xbf16, strided<[?, ?, ?, ?, ?], offset: ?>>)
func.func @in_place(%q: tensor<2x3x4x16x32xbf16>, %k: tensor<2x3x16x4x32xbf16>,
                    %b: tensor<2x3x1x1x16xi1>,
                    %o: tensor<2x3x16x4x32xbf16> {bufferization.writable = true})
    -> tensor<2x3x16x4x32xbf16> {
  %0 = evoformer.attention
      query(%q as bnhsd : tensor<2x3x4x16x32xbf16>)
      key(%k : tensor<2x3x16x4x32xbf16>)
      value(%k : tensor<2x3x16x4x32xbf16>)
      bias(%b : tensor<2x3x1x1x16xi1>)
      outs(%o : tensor<2x3x16x4x32xbf16>)
      scale(0.5)
  return %0 : tensor<2x3x16x4x32xbf16>
}

// -----

// Three results, each in its own new buffer; what they held is not read.
// CHECK-LABEL: func @results(
// CHECK-DAG:     %[[O:.*]] = memref.alloc({{.*}}) {{.*}} : memref<?x3x?x4x8xf32>
// CHECK-DAG:     %[[L:.*]] = memref.alloc({{.*}}) {{.*}} : memref<?x3x4x?xf32>
// CHECK-DAG:     %[[S:.*]] = memref.alloc({{.*}}) {{.*}} : memref<2x?x3x4x?xf32>
// CHECK-NOT:     copy
// CHECK:         evoformer.attention
// CHECK:           outs(%[[O]] : memref<?x3x?x4x8xf32>)
// CHECK-NEXT:      lse(%[[L]] : memref<?x3x4x?xf32>)
// CHECK-NEXT:      stats(%[[S]] : memref<2x?x3x4x?xf32>)
// CHECK-NEXT:    return %[[O]], %[[L]], %[[S]]
func.func @results(%q: tensor<?x3x?x4x8xf32>, %b: index, %s: index)
    -> (tensor<?x3x?x4x8xf32>, tensor<?x3x4x?xf32>, tensor<2x?x3x4x?xf32>) {
  %o = tensor.empty(%b, %s) : tensor<?x3x?x4x8xf32>
  %l = tensor.empty(%b, %s) : tensor<?x3x4x?xf32>
  %t = tensor.empty(%b, %s) : tensor<2x?x3x4x?xf32>
  %0:3 = evoformer.attention
      query(%q : tensor<?x3x?x4x8xf32>)
      key(%q : tensor<?x3x?x4x8xf32>)
      value(%q : tensor<?x3x?x4x8xf32>)
      outs(%o : tensor<?x3x?x4x8xf32>)
      lse(%l : tensor<?x3x4x?xf32>)
      stats(%t : tensor<2x?x3x4x?xf32>)
  return %0#0, %0#1, %0#2
      : tensor<?x3x?x4x8xf32>, tensor<?x3x4x?xf32>, tensor<2x?x3x4x?xf32>
}

// -----

// A destination that is an input as well gets a buffer of its own, without a
// copy: its old content is not read.
// CHECK-LABEL: func @destination_is_input(
// CHECK-SAME:    %[[Q:.*]]: memref<1x1x16x4x32xf32>)
// CHECK:         %[[NEW:.*]] = memref.alloc() {{.*}} : memref<1x1x16x4x32xf32>
// CHECK-NOT:     copy
// CHECK:           query(%[[Q]] : memref<1x1x16x4x32xf32>)
// CHECK:           outs(%[[NEW]] : memref<1x1x16x4x32xf32>)
// CHECK-NEXT:    return %[[NEW]]
func.func @destination_is_input(%q: tensor<1x1x16x4x32xf32> {bufferization.writable = true})
    -> tensor<1x1x16x4x32xf32> {
  %0 = evoformer.attention
      query(%q : tensor<1x1x16x4x32xf32>)
      key(%q : tensor<1x1x16x4x32xf32>)
      value(%q : tensor<1x1x16x4x32xf32>)
      outs(%q : tensor<1x1x16x4x32xf32>)
  return %0 : tensor<1x1x16x4x32xf32>
}

// -----

// An order that puts another dimension innermost is legal on tensors; in
// memory the operand is copied once.
// CHECK-LABEL: func @depth_outside(
// CHECK-SAME:    %[[Q:[^:]*]]: memref<1x?x4x32x16xf32>, %[[V:[^:]*]]: memref<8x1x?x16x4xf32>
// CHECK:         %[[N:.*]] = memref.dim %[[Q]], %{{.*}} : memref<1x?x4x32x16xf32>
// CHECK:         %[[VIEW:.*]] = memref.transpose %[[Q]] (d0, d1, d2, d3, d4) -> (d0, d1, d4, d2, d3)
// CHECK:         %[[COPY:.*]] = memref.alloc(%[[N]]) {{.*}} : memref<1x?x16x4x32xf32>
// CHECK:         memref.copy %[[VIEW]], %[[COPY]]
// CHECK-NOT:     memref.transpose %[[Q]]
// CHECK:         memref.transpose %[[V]] (d0, d1, d2, d3, d4) -> (d1, d2, d3, d4, d0)
// CHECK:         evoformer.attention
// CHECK-NEXT:      query(%[[COPY]] : memref<1x?x16x4x32xf32>)
// CHECK-NEXT:      key(%[[COPY]] : memref<1x?x16x4x32xf32>)
// CHECK:           value(%{{.*}} : memref<1x?x16x4x8xf32>)
// CHECK-NEXT:      bias(%{{.*}} as kqhnb : memref<16x16x4x1x1xf32>)
// CHECK-NEXT:      outs(%{{.*}} as dbnsh : memref<8x1x?x16x4xf32>)
func.func @depth_outside(%q: tensor<1x?x4x32x16xf32>, %v: tensor<8x1x?x16x4xf32>,
                         %b: tensor<16x16x4x1x1xf32>,
                         %o: tensor<8x1x?x16x4xf32> {bufferization.writable = true})
    -> tensor<8x1x?x16x4xf32> {
  %0 = evoformer.attention
      query(%q as bnhds : tensor<1x?x4x32x16xf32>)
      key(%q as bnhds : tensor<1x?x4x32x16xf32>)
      value(%v as dbnsh : tensor<8x1x?x16x4xf32>)
      bias(%b as kqhnb : tensor<16x16x4x1x1xf32>)
      outs(%o as dbnsh : tensor<8x1x?x16x4xf32>)
  return %0 : tensor<8x1x?x16x4xf32>
}

// -----

// The stride of a slice's depth is unknown: it is copied, while what a caller
// passes is trusted to have stride 1.
// DYNAMIC-LABEL: func @unknown_stride(
// DYNAMIC-SAME:    %[[Q:[^:]*]]: memref<1x1x16x4x64xf32, strided<[?, ?, ?, ?, ?], offset: ?>>
// DYNAMIC-SAME:    %[[K:[^:]*]]: memref<1x1x16x4x8xf32, strided<[?, ?, ?, ?, ?], offset: ?>>
// DYNAMIC:         %[[SLICE:.*]] = memref.subview %[[Q]]
// DYNAMIC:         %[[VIEW:.*]] = memref.transpose %[[SLICE]] (d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)
// DYNAMIC:         %[[COPY:.*]] = memref.alloc() {{.*}} : memref<1x1x16x4x8xf32>
// DYNAMIC:         memref.copy %[[VIEW]], %[[COPY]]
// DYNAMIC:         query(%[[COPY]] : memref<1x1x16x4x8xf32>)
// DYNAMIC-NEXT:    key(%[[K]] :
func.func @unknown_stride(%q: tensor<1x1x16x4x64xf32>, %k: tensor<1x1x16x4x8xf32>,
                          %step: index) -> tensor<1x1x16x4x8xf32> {
  %slice = tensor.extract_slice %q[0, 0, 0, 0, 0] [1, 1, 16, 4, 8] [1, 1, 1, 1, %step]
      : tensor<1x1x16x4x64xf32> to tensor<1x1x16x4x8xf32>
  %o = tensor.empty() : tensor<1x1x16x4x8xf32>
  %0 = evoformer.attention
      query(%slice : tensor<1x1x16x4x8xf32>)
      key(%k : tensor<1x1x16x4x8xf32>)
      value(%k : tensor<1x1x16x4x8xf32>)
      outs(%o : tensor<1x1x16x4x8xf32>)
  return %0 : tensor<1x1x16x4x8xf32>
}
