// RUN: evoformer-opt %s --canonicalize --split-input-file | FileCheck %s

// A head-major query and a transposed bias are read where they lie.
// CHECK-LABEL: func @transposed_operands(
// CHECK-SAME:    %[[Q:[^:]*]]: tensor<2x5x3x16x24xf16>, %[[K:[^:]*]]: tensor<2x3x32x5x24xf16>, %[[B:[^:]*]]: tensor<32x1x16x5x2xf16>
// CHECK-NOT:     linalg.transpose
// CHECK:         query(%[[Q]] as bhnsd : tensor<2x5x3x16x24xf16>)
// CHECK-NEXT:    key(%[[K]] :
// CHECK-NEXT:    value(%[[K]] :
// CHECK-NEXT:    bias(%[[B]] as knqhb : tensor<32x1x16x5x2xf16>)
func.func @transposed_operands(%q: tensor<2x5x3x16x24xf16>, %k: tensor<2x3x32x5x24xf16>,
                               %b: tensor<32x1x16x5x2xf16>, %o: tensor<2x3x16x5x24xf16>)
    -> tensor<2x3x16x5x24xf16> {
  %qe = tensor.empty() : tensor<2x3x5x16x24xf16>
  %qt = linalg.transpose ins(%q : tensor<2x5x3x16x24xf16>)
      outs(%qe : tensor<2x3x5x16x24xf16>) permutation = [0, 2, 1, 3, 4]
  %be = tensor.empty() : tensor<2x1x5x16x32xf16>
  %bt = linalg.transpose ins(%b : tensor<32x1x16x5x2xf16>)
      outs(%be : tensor<2x1x5x16x32xf16>) permutation = [4, 1, 3, 2, 0]
  %0 = evoformer.attention
      query(%qt as bnhsd : tensor<2x3x5x16x24xf16>)
      key(%k : tensor<2x3x32x5x24xf16>)
      value(%k : tensor<2x3x32x5x24xf16>)
      bias(%bt : tensor<2x1x5x16x32xf16>)
      outs(%o : tensor<2x3x16x5x24xf16>)
  return %0 : tensor<2x3x16x5x24xf16>
}

// -----

// A transpose that moves the depth inwards is the copy that is needed anyway.
// CHECK-LABEL: func @transposed_depth(
// CHECK:         %[[T:.*]] = linalg.transpose
// CHECK:         query(%[[T]] : tensor<1x1x16x4x24xf16>)
func.func @transposed_depth(%q: tensor<1x1x4x24x16xf16>, %o: tensor<1x1x16x4x24xf16>)
    -> tensor<1x1x16x4x24xf16> {
  %e = tensor.empty() : tensor<1x1x16x4x24xf16>
  %t = linalg.transpose ins(%q : tensor<1x1x4x24x16xf16>)
      outs(%e : tensor<1x1x16x4x24xf16>) permutation = [0, 1, 4, 2, 3]
  %0 = evoformer.attention
      query(%t : tensor<1x1x16x4x24xf16>)
      key(%t : tensor<1x1x16x4x24xf16>)
      value(%t : tensor<1x1x16x4x24xf16>)
      outs(%o : tensor<1x1x16x4x24xf16>)
  return %0 : tensor<1x1x16x4x24xf16>
}

// -----

// Views of buffers: inputs, the gate, and the output.
// CHECK-LABEL: func @transposed_views(
// CHECK-SAME:    %[[Q:[^:]*]]: memref<?x4x?x?x24xf16>, %[[O:[^:]*]]: memref<?x4x?x?x24xf16>)
// CHECK-NOT:     memref.transpose
// CHECK:         query(%[[Q]] as bhnsd : memref<?x4x?x?x24xf16>)
// CHECK:         gate(%[[Q]] as bhnsd : memref<?x4x?x?x24xf16>)
// CHECK-NEXT:    outs(%[[O]] as bhnsd : memref<?x4x?x?x24xf16>)
func.func @transposed_views(%q: memref<?x4x?x?x24xf16>, %o: memref<?x4x?x?x24xf16>) {
  %qt = memref.transpose %q (b, h, n, s, d) -> (b, n, s, h, d)
      : memref<?x4x?x?x24xf16> to memref<?x?x?x4x24xf16, strided<[?, ?, 24, ?, 1]>>
  %ot = memref.transpose %o (b, h, n, s, d) -> (b, n, s, h, d)
      : memref<?x4x?x?x24xf16> to memref<?x?x?x4x24xf16, strided<[?, ?, 24, ?, 1]>>
  evoformer.attention
      query(%qt : memref<?x?x?x4x24xf16, strided<[?, ?, 24, ?, 1]>>)
      key(%qt : memref<?x?x?x4x24xf16, strided<[?, ?, 24, ?, 1]>>)
      value(%qt : memref<?x?x?x4x24xf16, strided<[?, ?, 24, ?, 1]>>)
      gate(%qt : memref<?x?x?x4x24xf16, strided<[?, ?, 24, ?, 1]>>)
      outs(%ot : memref<?x?x?x4x24xf16, strided<[?, ?, 24, ?, 1]>>)
  return
}

// -----

// The output is written in the order that is wanted.
// CHECK-LABEL: func @transposed_result(
// CHECK-SAME:    %[[Q:[^:]*]]: tensor<2x3x?x5x24xf16>
// CHECK:         %[[S:.*]] = tensor.dim %[[Q]]
// CHECK:         %[[E:.*]] = tensor.empty(%[[S]]) : tensor<2x3x5x?x24xf16>
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[OUT:.*]] = evoformer.attention
// CHECK:         outs(%[[E]] as bnhsd : tensor<2x3x5x?x24xf16>)
// CHECK:         return %[[OUT]] : tensor<2x3x5x?x24xf16>
func.func @transposed_result(%q: tensor<2x3x?x5x24xf16>) -> tensor<2x3x5x?x24xf16> {
  %c2 = arith.constant 2 : index
  %s = tensor.dim %q, %c2 : tensor<2x3x?x5x24xf16>
  %o = tensor.empty(%s) : tensor<2x3x?x5x24xf16>
  %0 = evoformer.attention
      query(%q : tensor<2x3x?x5x24xf16>)
      key(%q : tensor<2x3x?x5x24xf16>)
      value(%q : tensor<2x3x?x5x24xf16>)
      outs(%o : tensor<2x3x?x5x24xf16>)
  %e = tensor.empty(%s) : tensor<2x3x5x?x24xf16>
  %t = linalg.transpose ins(%0 : tensor<2x3x?x5x24xf16>)
      outs(%e : tensor<2x3x5x?x24xf16>) permutation = [0, 1, 3, 2, 4]
  return %t : tensor<2x3x5x?x24xf16>
}

// -----

// With a second user the output keeps its order.
// CHECK-LABEL: func @result_with_two_users(
// CHECK:         linalg.transpose
func.func @result_with_two_users(%q: tensor<2x3x4x5x24xf16>)
    -> (tensor<2x3x4x5x24xf16>, tensor<2x3x5x4x24xf16>) {
  %o = tensor.empty() : tensor<2x3x4x5x24xf16>
  %0 = evoformer.attention
      query(%q : tensor<2x3x4x5x24xf16>)
      key(%q : tensor<2x3x4x5x24xf16>)
      value(%q : tensor<2x3x4x5x24xf16>)
      outs(%o : tensor<2x3x4x5x24xf16>)
  %e = tensor.empty() : tensor<2x3x5x4x24xf16>
  %t = linalg.transpose ins(%0 : tensor<2x3x4x5x24xf16>)
      outs(%e : tensor<2x3x5x4x24xf16>) permutation = [0, 1, 3, 2, 4]
  return %0, %t : tensor<2x3x4x5x24xf16>, tensor<2x3x5x4x24xf16>
}

// -----

// CHECK-LABEL: func @unused_lse(
// CHECK:         %[[OUT:[^,]*]], %[[STATS:[^,]*]] = evoformer.attention
// CHECK:           bias(%{{.*}} as bnhkq :
// CHECK:           outs(%{{.*}} as bnhsd : tensor<1x1x4x16x32xf32>)
// CHECK-NEXT:      stats(%{{.*}} : tensor<2x1x1x4x16xf32>)
// CHECK-NEXT:      scale(5.000000e-01) {note}
// CHECK-NEXT:    return %[[OUT]], %[[STATS]]
func.func @unused_lse(%q: tensor<1x1x16x4x32xf32>, %b: tensor<1x1x4x16x16xf32>,
                      %o: tensor<1x1x4x16x32xf32>, %s: tensor<1x1x4x16xf32>,
                      %stats: tensor<2x1x1x4x16xf32>)
    -> (tensor<1x1x4x16x32xf32>, tensor<2x1x1x4x16xf32>) {
  %0:3 = evoformer.attention
      query(%q : tensor<1x1x16x4x32xf32>)
      key(%q : tensor<1x1x16x4x32xf32>)
      value(%q : tensor<1x1x16x4x32xf32>)
      bias(%b as bnhkq : tensor<1x1x4x16x16xf32>)
      outs(%o as bnhsd : tensor<1x1x4x16x32xf32>)
      lse(%s : tensor<1x1x4x16xf32>)
      stats(%stats : tensor<2x1x1x4x16xf32>)
      scale(0.5) {note}
  return %0#0, %0#2 : tensor<1x1x4x16x32xf32>, tensor<2x1x1x4x16xf32>
}

// -----

// CHECK-LABEL: func @unused(
// CHECK-NOT:     evoformer.attention
// CHECK:         return
func.func @unused(%q: tensor<1x1x16x4x32xf32>, %s: tensor<1x1x4x16xf32>,
                  %stats: tensor<2x1x1x4x16xf32>) {
  %0:3 = evoformer.attention
      query(%q : tensor<1x1x16x4x32xf32>)
      key(%q : tensor<1x1x16x4x32xf32>)
      value(%q : tensor<1x1x16x4x32xf32>)
      outs(%q : tensor<1x1x16x4x32xf32>)
      lse(%s : tensor<1x1x4x16xf32>)
      stats(%stats : tensor<2x1x1x4x16xf32>)
  return
}

// -----

// Biases without effect: zeros (of either sign) and true everywhere, constant,
// splat or filled. The others keep their orders.
// CHECK-LABEL: func @neutral_biases(
// CHECK-SAME:    %[[Q:[^:]*]]: tensor<1x2x2x4x32xf32>, %[[B:[^:]*]]: tensor<1x1x1x2x1xf32>
// CHECK:         value(
// CHECK-NEXT:    bias(%{{.*}} : tensor<1x2x1x1x2xi1>)
// CHECK-NEXT:    bias(%[[B]] as bnhkq : tensor<1x1x1x2x1xf32>)
// CHECK-NEXT:    bias(%{{.*}} : tensor<1x1x1x1x2xf32>)
// CHECK-NEXT:    outs
func.func @neutral_biases(%q: tensor<1x2x2x4x32xf32>, %b: tensor<1x1x1x2x1xf32>)
    -> tensor<1x2x2x4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %zeros = arith.constant dense<0.0> : tensor<1x1x1x1x2xf32>
  %signed = arith.constant dense<[[[[[0.0, -0.0]]]]]> : tensor<1x1x1x1x2xf32>
  %trues = arith.constant dense<true> : tensor<1x2x1x1x2xi1>
  %mixed = arith.constant dense<[[[[[true, true]]], [[[true, false]]]]]> : tensor<1x2x1x1x2xi1>
  %small = arith.constant dense<1.0e-30> : tensor<1x1x1x1x2xf32>
  %splat = tensor.splat %true : tensor<1x2x1x1x2xi1>
  %e = tensor.empty() : tensor<1x2x4x2x2xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x4x2x2xf32>) -> tensor<1x2x4x2x2xf32>
  %0 = evoformer.attention
      query(%q : tensor<1x2x2x4x32xf32>)
      key(%q : tensor<1x2x2x4x32xf32>)
      value(%q : tensor<1x2x2x4x32xf32>)
      bias(%zeros : tensor<1x1x1x1x2xf32>)
      bias(%mixed : tensor<1x2x1x1x2xi1>)
      bias(%signed : tensor<1x1x1x1x2xf32>)
      bias(%trues : tensor<1x2x1x1x2xi1>)
      bias(%b as bnhkq : tensor<1x1x1x2x1xf32>)
      bias(%splat : tensor<1x2x1x1x2xi1>)
      bias(%small : tensor<1x1x1x1x2xf32>)
      bias(%filled as bnhkq : tensor<1x2x4x2x2xf32>)
      outs(%q : tensor<1x2x2x4x32xf32>)
  return %0 : tensor<1x2x2x4x32xf32>
}

// -----

// Casts that only forget sizes or strides are dropped.
// CHECK-LABEL: func @memref_casts(
// CHECK-NOT:     memref.cast
// CHECK:         query(%{{.*}} : memref<1x2x16x4x32xf32>)
// CHECK:         outs(%{{.*}} : memref<1x2x16x4x32xf32>)
func.func @memref_casts(%q: memref<1x2x16x4x32xf32>, %o: memref<1x2x16x4x32xf32>) {
  %qc = memref.cast %q : memref<1x2x16x4x32xf32>
      to memref<?x?x?x4x32xf32, strided<[?, ?, ?, ?, ?], offset: ?>>
  %oc = memref.cast %o : memref<1x2x16x4x32xf32> to memref<?x?x?x4x32xf32>
  evoformer.attention
      query(%qc : memref<?x?x?x4x32xf32, strided<[?, ?, ?, ?, ?], offset: ?>>)
      key(%qc : memref<?x?x?x4x32xf32, strided<[?, ?, ?, ?, ?], offset: ?>>)
      value(%qc : memref<?x?x?x4x32xf32, strided<[?, ?, ?, ?, ?], offset: ?>>)
      outs(%oc : memref<?x?x?x4x32xf32>)
  return
}

// -----

// CHECK-LABEL: func @tensor_casts(
// CHECK:         %[[OUT:.*]] = evoformer.attention
// CHECK:           query(%{{.*}} : tensor<1x2x16x4x32xf32>)
// CHECK:           outs(%{{.*}} : tensor<1x2x16x4x32xf32>)
// CHECK:         %[[CAST:.*]] = tensor.cast %[[OUT]] : tensor<1x2x16x4x32xf32> to tensor<?x?x?x4x32xf32>
// CHECK:         return %[[CAST]]
func.func @tensor_casts(%q: tensor<1x2x16x4x32xf32>, %o: tensor<1x2x16x4x32xf32>)
    -> tensor<?x?x?x4x32xf32> {
  %qc = tensor.cast %q : tensor<1x2x16x4x32xf32> to tensor<?x?x?x4x32xf32>
  %oc = tensor.cast %o : tensor<1x2x16x4x32xf32> to tensor<?x?x?x4x32xf32>
  %0 = evoformer.attention
      query(%qc : tensor<?x?x?x4x32xf32>)
      key(%qc : tensor<?x?x?x4x32xf32>)
      value(%qc : tensor<?x?x?x4x32xf32>)
      outs(%oc : tensor<?x?x?x4x32xf32>)
  return %0 : tensor<?x?x?x4x32xf32>
}

// -----

// Bounds that every key keeps to go, alone where only one does.
// CHECK-DAG:   #[[TO:.*]] = affine_map<(d0)[s0, s1] -> (d0 + 1)>
// CHECK-LABEL: func @wide_bounds(
// CHECK:       evoformer.attention
// CHECK-NOT:     keys(
// CHECK:       evoformer.attention
// CHECK:         keys(to #[[TO]])
// CHECK:       evoformer.attention_backward
// CHECK-NOT:     keys(
// CHECK:         return
func.func @wide_bounds(%q: memref<2x3x16x8x32xf16>, %d: memref<2x3x?x8x32xf16>, %o: memref<2x3x16x8x32xf16>,
                       %e: memref<2x3x?x8x32xf16>, %s: memref<2x2x3x8x16xf32>, %g: memref<2x3x16x8x32xf16>) {
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      keys(from affine_map<(i)[sq, sk] -> (i - 15)>, to affine_map<(i)[sq, sk] -> (i + 16)>)
  evoformer.attention
      query(%d : memref<2x3x?x8x32xf16>)
      key(%d : memref<2x3x?x8x32xf16>)
      value(%d : memref<2x3x?x8x32xf16>)
      outs(%e : memref<2x3x?x8x32xf16>)
      keys(from affine_map<(i)[sq, sk] -> (-3)>, to affine_map<(i)[sq, sk] -> (i + 1)>)
  evoformer.attention_backward
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      output(%o : memref<2x3x16x8x32xf16>)
      stats(%s : memref<2x2x3x8x16xf32>)
      output_grad(%o : memref<2x3x16x8x32xf16>)
      query_grad(%g : memref<2x3x16x8x32xf16>)
      keys(to affine_map<(i)[sq, sk] -> (sk)>)
  return
}

// -----

// Lengths that no row falls short of go; bounds are of the rows' own lengths.
// CHECK-LABEL: func @full_lengths(
// CHECK:       evoformer.attention
// CHECK-NOT:     lengths(
// CHECK:         outs(
// CHECK:       evoformer.attention
// CHECK:         lengths(keys %{{.*}} : tensor<2x3xi32>)
// CHECK:         keys(from
// CHECK:       evoformer.attention_backward
// CHECK:         lengths(queries %{{.*}} : tensor<1x3xi32>)
// CHECK:         return
func.func @full_lengths(%q: tensor<2x3x16x8x32xf16>, %o: tensor<2x3x16x8x32xf16>, %l: tensor<2x3xi32>,
                        %s: tensor<2x2x3x8x16xf32>)
    -> (tensor<2x3x16x8x32xf16>, tensor<2x3x16x8x32xf16>, tensor<2x3x16x8x32xf16>) {
  %full = arith.constant dense<[[16, 17, 100]]> : tensor<1x3xi32>
  %0 = evoformer.attention
      query(%q : tensor<2x3x16x8x32xf16>)
      key(%q : tensor<2x3x16x8x32xf16>)
      value(%q : tensor<2x3x16x8x32xf16>)
      lengths(keys %full : tensor<1x3xi32>, queries %full : tensor<1x3xi32>)
      outs(%o : tensor<2x3x16x8x32xf16>)
  %1 = evoformer.attention
      query(%q : tensor<2x3x16x8x32xf16>)
      key(%q : tensor<2x3x16x8x32xf16>)
      value(%q : tensor<2x3x16x8x32xf16>)
      lengths(keys %l : tensor<2x3xi32>)
      outs(%o : tensor<2x3x16x8x32xf16>)
      keys(from affine_map<(i)[sq, sk] -> (i + sq - sk - 15)>)
  %short = arith.constant dense<[[16, 15, 100]]> : tensor<1x3xi32>
  %2 = evoformer.attention_backward
      query(%q : tensor<2x3x16x8x32xf16>)
      key(%q : tensor<2x3x16x8x32xf16>)
      value(%q : tensor<2x3x16x8x32xf16>)
      lengths(keys %full : tensor<1x3xi32>, queries %short : tensor<1x3xi32>)
      output(%o : tensor<2x3x16x8x32xf16>)
      stats(%s : tensor<2x2x3x8x16xf32>)
      output_grad(%o : tensor<2x3x16x8x32xf16>)
      query_grad(%o : tensor<2x3x16x8x32xf16>)
  return %0, %1, %2 : tensor<2x3x16x8x32xf16>, tensor<2x3x16x8x32xf16>, tensor<2x3x16x8x32xf16>
}

// -----

// What is dropped leaves the sequences as they are, and their bounds.
// CHECK-LABEL: func @ragged
// CHECK:         attention
// CHECK:         ragged(queries %{{.*}} : tensor<5xi32>, keys %{{.*}} : tensor<5xi32>, most %{{.*}}, %{{.*}})
// CHECK-NOT:     lse
// CHECK:         keys(to
func.func @ragged(%q: tensor<1x1x64x8x32xf16>, %i: tensor<5xi32>, %l: tensor<1x1x8x64xf32>)
    -> tensor<1x1x64x8x32xf16> {
  %most = arith.constant 16 : index
  %0, %1 = evoformer.attention
      query(%q : tensor<1x1x64x8x32xf16>)
      key(%q : tensor<1x1x64x8x32xf16>)
      value(%q : tensor<1x1x64x8x32xf16>)
      ragged(queries %i : tensor<5xi32>, keys %i : tensor<5xi32>, most %most, %most)
      outs(%q : tensor<1x1x64x8x32xf16>)
      lse(%l : tensor<1x1x8x64xf32>)
      keys(to affine_map<(i)[sq, sk] -> (i + sk - sq + 16)>)
  return %0 : tensor<1x1x64x8x32xf16>
}

// Rows of no sequence stay what they were in the output: a transposed one must be, too.
// CHECK-LABEL: func @transposed_ragged(
// CHECK:         %[[ZERO:.*]] = linalg.fill
// CHECK:         %[[OUT:.*]] = evoformer.attention
// CHECK:           outs(%[[ZERO]] :
// CHECK:         linalg.transpose ins(%[[OUT]]
func.func @transposed_ragged(%q: tensor<1x1x9x2x16xf32>, %e: tensor<3xi32>, %init: tensor<1x1x9x2x16xf32>) -> tensor<1x1x2x9x16xf32> {
  %most = arith.constant 5 : index
  %z = arith.constant 0.0 : f32
  %zero = linalg.fill ins(%z : f32) outs(%init : tensor<1x1x9x2x16xf32>) -> tensor<1x1x9x2x16xf32>
  %o = evoformer.attention
      query(%q : tensor<1x1x9x2x16xf32>)
      key(%q : tensor<1x1x9x2x16xf32>)
      value(%q : tensor<1x1x9x2x16xf32>)
      ragged(queries %e : tensor<3xi32>, keys %e : tensor<3xi32>, most %most, %most)
      outs(%zero : tensor<1x1x9x2x16xf32>)
  %t = tensor.empty() : tensor<1x1x2x9x16xf32>
  %r = linalg.transpose ins(%o : tensor<1x1x9x2x16xf32>) outs(%t : tensor<1x1x2x9x16xf32>) permutation = [0, 1, 3, 2, 4]
  return %r : tensor<1x1x2x9x16xf32>
}
