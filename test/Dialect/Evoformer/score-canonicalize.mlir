// RUN: evoformer-opt %s --canonicalize --split-input-file | FileCheck %s

// A factor goes into the scale; a score that then does nothing goes away, and
// what it captures.
// CHECK-LABEL: func @scaled(
// CHECK:         evoformer.attention
// CHECK-NOT:     capture
// CHECK:         scale(5.000000e-01)
// CHECK-NOT:     score
// CHECK:         return
!s = tensor<2x3x16x4x32xf16>
func.func @scaled(%q: !s, %c: tensor<1x1x4x1x1xf32>, %o: !s) -> !s {
  %0 = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : tensor<1x1x4x1x1xf32>) outs(%o : !s) scale(0.25)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %slope: f32) {
        %two = arith.constant 2.0 : f32
        %zero = arith.constant -0.0 : f32
        %y = arith.mulf %two, %x : f32
        %z = arith.addf %y, %zero : f32
        evoformer.yield %z : f32
      }
  return %0 : !s
}

// -----

// The default scale is written down; what is left of the score stays, in it its
// constants. A capture that nobody reads goes away, and its order.
// CHECK-LABEL: func @kept(
// CHECK-SAME:    %[[Q:[^:]*]]: {{.*}}, %[[C:[^:]*]]: tensor<1x1x4x1x1xf32>, %[[D:[^:]*]]: tensor<1x1x16x4x1xf32>
// CHECK-NEXT:    evoformer.attention
// CHECK:         capture(%[[D]] as bnqhk :
// CHECK-NEXT:    outs
// CHECK-NEXT:    scale(0.353553385)
// CHECK-NEXT:    score(%[[X:.*]]: f32, {{.*}}, %[[T:.*]]: f32) {
// CHECK-NEXT:      %[[A:.*]] = math.tanh %[[X]] : f32
// CHECK-NEXT:      %[[B:.*]] = arith.mulf %[[A]], %[[T]] : f32
// CHECK-NEXT:      evoformer.yield %[[B]] : f32
!s = tensor<2x3x16x4x32xf16>
func.func @kept(%q: !s, %c: tensor<1x1x4x1x1xf32>, %d: tensor<1x1x16x4x1xf32>,
                %o: !s) -> !s {
  %0 = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      capture(%c : tensor<1x1x4x1x1xf32>) capture(%d as bnqhk : tensor<1x1x16x4x1xf32>)
      outs(%o : !s)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32, %slope: f32, %factor: f32) {
        %two = arith.constant 2.0 : f32
        %y = arith.mulf %x, %two : f32
        %t = math.tanh %y : f32
        %z = arith.mulf %t, %factor : f32
        evoformer.yield %z : f32
      }
  return %0 : !s
}

// -----

// Statistics that nobody reads go away; the score stays.
// CHECK-LABEL: func @unused(
// CHECK:         evoformer.attention
// CHECK-NOT:     lse(
// CHECK:         score(
// CHECK:         math.absf
!s = tensor<2x3x16x4x32xf16>
func.func @unused(%q: !s, %o: !s, %l: tensor<2x3x4x16xf32>) -> !s {
  %0, %1 = evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      outs(%o : !s) lse(%l : tensor<2x3x4x16xf32>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
            %sk: i32) {
        %y = math.absf %x : f32
        evoformer.yield %y : f32
      }
  return %0 : !s
}
