// Arguments that hold results of the only attention, or gradient, and nothing else: until
// they are written, their memory is nobody's (docs/rationale/lent-memory.md).
//
// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=sm_90 | FileCheck %s
// What the launch plan says of it.
// RUN: evoformer-run %s --function=one --target=cpu --no-run --emit-plan=%t.json
// RUN: FileCheck %s --check-prefix=PLAN < %t.json
// PLAN: "overwritten": true

!s = memref<1x?x?x2x32xf32>
!m = memref<1x?x1x1x?xi1>
!t = memref<2x1x?x2x?xf32>

// CHECK-LABEL: func.func @one(
// CHECK-NOT:     overwritten
// CHECK:         %{{[^:]*}}: memref<1x?x?x2x32xf32> {evoformer.overwritten}) {
func.func @one(%q: !s, %m: !m, %out: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) bias(%m : !m)
      outs(%out : !s)
  return
}

// What is read, or viewed, is none of them; an attribute that does not hold goes.
// CHECK-LABEL: func.func @viewed(
// CHECK-NOT:     overwritten
// CHECK:         return
func.func @viewed(%q: !s {evoformer.overwritten}, %out: !s) {
  %view = memref.cast %out : !s to memref<?x?x?x2x32xf32>
  %same = memref.cast %view : memref<?x?x?x2x32xf32> to !s
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%same : !s)
  return
}

// The second one's result may overlap what only the first one reads.
// CHECK-LABEL: func.func @two(
// CHECK-NOT:     overwritten
// CHECK:         return
func.func @two(%q: !s, %p: !s, %out: !s, %other: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%out : !s)
  evoformer.attention query(%p : !s) key(%p : !s) value(%p : !s) outs(%other : !s)
  return
}

// Rows that belong to no sequence stay as they are.
// CHECK-LABEL: func.func @ragged(
// CHECK-NOT:     overwritten
// CHECK:         return
func.func @ragged(%q: memref<1x1x?x2x32xf32>, %at: memref<3xi32>, %most: index,
                  %out: memref<1x1x?x2x32xf32>) {
  evoformer.attention query(%q : memref<1x1x?x2x32xf32>)
      key(%q : memref<1x1x?x2x32xf32>) value(%q : memref<1x1x?x2x32xf32>)
      ragged(queries %at : memref<3xi32>, keys %at : memref<3xi32>, most %most, %most)
      outs(%out : memref<1x1x?x2x32xf32>)
  return
}

// The forward pass reads nothing that the steps of its gradient do not read; what it
// writes they read.
// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %{{[^:]*}}: memref<1x?x?x2x32xf32>, %{{[^:]*}}: memref<1x?x?x2x32xf32>, %{{[^:]*}}: memref<2x1x?x2x?xf32>, %{{[^:]*}}: memref<1x?x?x2x32xf32>, %{{[^:]*}}: memref<1x?x2x?xf32>, %{{[^:]*}}: memref<1x?x?x2x32xf32> {evoformer.overwritten}, %{{[^:]*}}: memref<1x?x?x2x32xf32> {evoformer.overwritten})
func.func @both(%q: !s, %out: !s, %stats: !t, %g: !s, %delta: memref<1x?x2x?xf32>,
                %dq: !s, %dk: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%out : !s)
      stats(%stats : !t)
  evoformer.attention_delta output(%out : !s) output_grad(%g : !s)
      delta(%delta : memref<1x?x2x?xf32>)
  evoformer.attention_gradient query(%q : !s) key(%q : !s) value(%q : !s)
      weighted_grad(%g : !s) stats(%stats : !t) delta(%delta : memref<1x?x2x?xf32>)
      query_grad(%dq : !s)
  evoformer.attention_gradient query(%q : !s) key(%q : !s) value(%q : !s)
      weighted_grad(%g : !s) stats(%stats : !t) delta(%delta : memref<1x?x2x?xf32>)
      key_grad(%dk : !s)
  return
}
