// RUN: evoformer-opt %s --split-input-file --verify-roundtrip | FileCheck %s
// RUN: evoformer-opt %s --split-input-file --mlir-print-op-generic | evoformer-opt --split-input-file | FileCheck %s
// RUN: evoformer-opt %s --evoformer-split-backward --canonicalize --split-input-file | FileCheck %s --check-prefix=SPLIT
// RUN: evoformer-opt %s --canonicalize --split-input-file | FileCheck %s --check-prefix=FOLD

// Weights are dropped by a state that the device reads, in the gradient as well.
// CHECK-LABEL: func @both(
// CHECK:         evoformer.attention
// CHECK:           value(%{{.*}} : {{.*}})
// CHECK-NEXT:      dropout(1.250000e-01, %{{.*}} : tensor<2xi64>)
// CHECK-NEXT:      outs(%{{.*}} : {{.*}})
// CHECK:         evoformer.attention_backward
// CHECK:           value(%{{.*}} : {{.*}})
// CHECK-NEXT:      dropout(1.250000e-01, %{{.*}} : tensor<2xi64>)
// CHECK-NEXT:      output(%{{.*}} : {{.*}})
// Each recomputation has it, delta has none.
// SPLIT-LABEL: func @both(
// SPLIT:         evoformer.attention_delta
// SPLIT-NOT:       dropout
// SPLIT:         evoformer.attention_gradient
// SPLIT:           dropout(1.250000e-01, %{{.*}} : tensor<2xi64>)
// SPLIT:           query_grad
// SPLIT:         evoformer.attention_gradient
// SPLIT:           dropout(1.250000e-01, %{{.*}} : tensor<2xi64>)
// SPLIT:           key_grad
!s = tensor<2x3x16x4x32xbf16>
!t = tensor<2x2x3x4x16xf32>
func.func @both(%q: !s, %state: tensor<2xi64>, %d: !s, %o: !s, %t: !t)
    -> (!s, !s, !s, !s) {
  %out, %stats = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0.125, %state : tensor<2xi64>) outs(%o : !s) stats(%t : !t)
  %dq, %dk, %dv = evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0.125, %state : tensor<2xi64>)
      output(%out : !s) stats(%stats : !t) output_grad(%d : !s)
      query_grad(%o : !s) key_grad(%o : !s) value_grad(%o : !s)
  return %out, %dq, %dk, %dv : !s, !s, !s, !s
}

// -----

// Beside lengths, bounds and a score; what is not read goes away around it.
// CHECK-LABEL: func @beside(
// CHECK:           lengths(keys %{{.*}} : memref<2x3xi32>)
// CHECK-NEXT:      dropout({{0.99999.*|9.99.*}}, %{{.*}} : memref<2xi64, strided<[?]>>)
// CHECK-NEXT:      outs(
// CHECK:           keys(to #{{.*}})
// CHECK:           score(
// FOLD-LABEL: func @beside(
// FOLD:           dropout({{0.99999.*|9.99.*}}, %{{.*}} : memref<2xi64, strided<[?]>>)
!m = memref<2x3x16x4x32xf32>
func.func @beside(%q: !m, %j: memref<2x3xi32>,
    %state: memref<2xi64, strided<[?]>>, %o: !m) {
  evoformer.attention query(%q : !m) key(%q : !m) value(%q : !m)
      lengths(keys %j : memref<2x3xi32>)
      dropout(0.999999, %state : memref<2xi64, strided<[?]>>) outs(%o : !m)
      keys(to affine_map<(i)[sq, sk] -> (i + 1)>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %k: i32, %sq: i32,
            %sk: i32) {
        %y = math.tanh %x : f32
        evoformer.yield %y : f32
      }
  return
}

// -----

// Where none of 2^16 draws is dropped nothing is: p = 0, or less than half a
// draw.
// FOLD-LABEL: func @none(
// FOLD:         evoformer.attention
// FOLD-NOT:     dropout
// FOLD:         evoformer.attention_backward
// FOLD-NOT:     dropout
// FOLD:         return
!s = tensor<2x3x16x4x32xbf16>
!t = tensor<2x2x3x4x16xf32>
func.func @none(%q: !s, %state: tensor<2xi64>, %d: !s, %o: !s, %t: !t)
    -> (!s, !s) {
  %out, %stats = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0.0, %state : tensor<2xi64>) outs(%o : !s) stats(%t : !t)
  %dq = evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0.000007, %state : tensor<2xi64>)
      output(%out : !s) stats(%stats : !t) output_grad(%d : !s)
      query_grad(%o : !s)
  return %out, %dq : !s, !s
}

// -----

// A result that nobody reads goes away, dropout stays.
// FOLD-LABEL: func @unused(
// FOLD:           dropout(5.000000e-01, %{{.*}} : tensor<2xi64>)
// FOLD-NOT:       lse
!s = tensor<2x3x16x4x32xbf16>
!l = tensor<2x3x4x16xf32>
func.func @unused(%q: !s, %state: tensor<2xi64>, %o: !s, %l: !l) -> !s {
  %out, %lse = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0.5, %state : tensor<2xi64>) outs(%o : !s) lse(%l : !l)
  return %out : !s
}
