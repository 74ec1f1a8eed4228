// RUN: evoformer-opt %s --split-input-file --verify-roundtrip | FileCheck %s
// RUN: evoformer-opt %s --split-input-file --mlir-print-op-generic | evoformer-opt --split-input-file | FileCheck %s
// RUN: evoformer-opt %s --evoformer-split-backward --canonicalize --split-input-file | FileCheck %s --check-prefix=SPLIT
// RUN: evoformer-opt %s --canonicalize --split-input-file | FileCheck %s --check-prefix=FOLD

// How weights are made stands behind the range of keys, in the gradient as well.
// CHECK-LABEL: func @both(
// CHECK:         evoformer.attention
// CHECK:           keys(to #{{.*}})
// CHECK-NEXT:      weights(retention<min = 1.000000e+00>)
// CHECK-NEXT:      score(
// CHECK:         evoformer.attention_backward
// CHECK:           keys(to #{{.*}})
// CHECK-NEXT:      weights(retention<min = 1.000000e+00>)
// CHECK-NEXT:      score(
// Each recomputation has it; a divisor without a gradient needs no delta.
// SPLIT-LABEL: func @both(
// SPLIT-NOT:     evoformer.attention_delta
// SPLIT:         evoformer.attention_gradient
// SPLIT-NOT:       delta(
// SPLIT:           bias_grad[0]
// SPLIT:           weights(retention<min = 1.000000e+00>)
// SPLIT:         evoformer.attention_gradient
// SPLIT-NOT:       delta(
// SPLIT:           query_grad
// SPLIT:           weights(retention<min = 1.000000e+00>)
// SPLIT:         evoformer.attention_gradient
// SPLIT-NOT:       delta(
// SPLIT:           key_grad
// SPLIT:           weights(retention<min = 1.000000e+00>)
!s = tensor<2x3x16x4x32xbf16>
!t = tensor<2x2x3x4x16xf32>
!c = tensor<1x1x4x16x16xf32>
#to = affine_map<(i)[sq, sk] -> (i + 1)>
func.func @both(%q: !s, %c: !c, %d: !s, %o: !s, %t: !t) -> (!s, !s, !s, !s, !c) {
  %out, %stats = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : !c) outs(%o : !s) stats(%t : !t) keys(to #to)
      weights(retention<min = 1.0>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %m: f32) {
        %y = arith.mulf %x, %m : f32
        evoformer.yield %y : f32
      }
  %dq, %dk, %dv, %dc = evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s) capture(%c : !c)
      output(%out : !s) stats(%stats : !t) output_grad(%d : !s)
      query_grad(%o : !s) key_grad(%o : !s) value_grad(%o : !s)
      bias_grad[0](%c : !c) keys(to #to) weights(retention<min = 1.0>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %m: f32) {
        %y = arith.mulf %x, %m : f32
        evoformer.yield %y : f32
      }
  return %out, %dq, %dk, %dv, %dc : !s, !s, !s, !s, !c
}

// -----

// softmax is what nothing says; a mask may drop keys of any.
// CHECK-LABEL: func @kinds(
// CHECK-NOT:     weights
// CHECK:         weights(linear)
// CHECK:         weights(linear)
// A gate makes a gradient of the weighted sum, without delta.
// SPLIT-LABEL: func @kinds(
// SPLIT:         evoformer.attention_delta
// SPLIT-NOT:       delta(
// SPLIT:           weighted_grad
// SPLIT:         evoformer.attention_gradient
!s = tensor<2x3x16x4x32xbf16>
!t = tensor<2x2x3x4x16xf32>
!m = tensor<1x3x1x1x16xi1>
func.func @kinds(%q: !s, %m: !m, %d: !s, %o: !s, %t: !t) -> (!s, !s, !s) {
  %soft = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      outs(%o : !s) weights(softmax)
  %out, %stats = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      bias(%m : !m) gate(%q : !s) outs(%o : !s) stats(%t : !t) weights(linear)
  %dq = evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s) bias(%m : !m) gate(%q : !s)
      output(%out : !s) stats(%stats : !t) output_grad(%d : !s)
      query_grad(%o : !s) weights(linear)
  return %soft, %out, %dq : !s, !s, !s
}

// -----

// Statistics that nobody reads go away, the weights stay; and a factor of the
// score still becomes one of the scale.
// FOLD-LABEL: func @unused(
// FOLD-NOT:       stats
// FOLD:           scale(5.000000e-01)
// FOLD:           weights(retention<min = 0.000000e+00>)
// FOLD-NOT:       score
// FOLD:         #evoformer.weights<linear>
// CHECK:        #evoformer.weights<linear>, #evoformer.weights<retention<min = 2.000000e+00>>
!s = tensor<2x3x16x4x32xbf16>
!t = tensor<2x2x3x4x16xf32>
func.func @unused(%q: !s, %o: !s, %t: !t) -> !s {
  %out, %stats = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      outs(%o : !s) stats(%t : !t) scale(0.25) weights(retention<min = 0.0>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        %two = arith.constant 2.0 : f32
        %y = arith.mulf %x, %two : f32
        evoformer.yield %y : f32
      }
  return %out : !s
}
func.func private @attributes() attributes {
  test.weights = [#evoformer.weights<linear>,
                  #evoformer.weights<retention<min = 2.0>>]}
