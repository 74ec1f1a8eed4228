// Equal attentions share kernels: what the first became is copied for the others.
//
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx942 --canonicalize --cse | FileCheck %s
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx942 | FileCheck %s --check-prefix=COPY

!seq = memref<1x2x64x1x16xf16>
!bias = memref<1x1x1x64x64xf16>
!strided = memref<1x2x64x1x16xf16, strided<[?, ?, ?, 16, 1]>>

// Each op has two variants of its kernel.
// CHECK-COUNT-8: evo_tile.kernel @f_attention
// CHECK-NOT: evo_tile.kernel @f_
// CHECK-LABEL: func.func @f(
func.func @f(%a: !seq, %b: !seq, %c: !seq, %y: !seq, %z: !seq, %s: !strided) {
  // CHECK-DAG: %[[A:.+]] = memref.transpose %arg0
  // CHECK-DAG: %[[B:.+]] = memref.transpose %arg1
  // CHECK-DAG: %[[C:.+]] = memref.transpose %arg2
  // CHECK-DAG: %[[Y:.+]] = memref.transpose %arg3
  // CHECK: launch @f_attention space({{.*}}) args(%[[A]], %[[B]], %[[C]], %[[Y]] :
  // CHECK: launch @f_attention_0 space
  evoformer.attention query(%a : !seq) key(%b : !seq) value(%c : !seq) outs(%y : !seq)
  // CHECK: %[[Z:.+]] = memref.transpose %arg4
  // CHECK: launch @f_attention space({{.*}}) args(%[[Y]], %[[C]], %[[A]], %[[Z]] :
  // CHECK: launch @f_attention_0 space
  evoformer.attention query(%y : !seq) key(%c : !seq) value(%a : !seq) outs(%z : !seq)
  // Another scale, operands that are the same value, other strides.
  // CHECK: launch @f_attention_1 space
  // CHECK: launch @f_attention_2 space
  evoformer.attention query(%a : !seq) key(%b : !seq) value(%c : !seq) outs(%y : !seq) scale(2.0)
  // CHECK: launch @f_attention_3 space
  // CHECK: launch @f_attention_4 space
  evoformer.attention query(%a : !seq) key(%a : !seq) value(%c : !seq) outs(%y : !seq)
  // CHECK: launch @f_attention_5 space
  // CHECK: launch @f_attention_6 space
  evoformer.attention query(%s : !strided) key(%b : !seq) value(%c : !seq) outs(%y : !seq)
  return
}

// The kernels of another function, too.
// What is copied was folded before, so that no pass has to do it for every copy.
// CHECK-LABEL: func.func @g(
// COPY-LABEL: func.func @g(
// COPY-NOT: extract_strided_metadata
// COPY-COUNT-4: arith.remui
// COPY-NOT: arith.remui
// COPY: launch @f_attention space
// CHECK: launch @f_attention space
// CHECK: launch @f_attention_0 space
func.func @g(%a: !seq, %b: !seq, %c: !seq, %y: !seq) {
  evoformer.attention query(%c : !seq) key(%b : !seq) value(%a : !seq) outs(%y : !seq)
  return
}

// A number that is known of queries is not the same number of keys.
// CHECK-LABEL: func.func @ragged(
// CHECK: launch @[[FIRST:ragged_attention.*]] space
// CHECK-NOT: launch @[[FIRST]] space
!packed = memref<1x1x?x2x16xf32>
func.func @ragged(%q: !packed, %y: !packed, %z: !packed, %i: memref<?xi32>, %m: index, %n: index) {
  %five = arith.constant 5 : index
  evoformer.attention query(%q : !packed) key(%q : !packed) value(%q : !packed)
      ragged(queries %i : memref<?xi32>, keys %i : memref<?xi32>, most %five, %m) outs(%y : !packed)
  evoformer.attention query(%q : !packed) key(%q : !packed) value(%q : !packed)
      ragged(queries %i : memref<?xi32>, keys %i : memref<?xi32>, most %n, %five) outs(%z : !packed)
  return
}
