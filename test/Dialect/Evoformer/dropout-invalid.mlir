// RUN: evoformer-opt %s --split-input-file --verify-diagnostics

!s = memref<2x3x16x4x32xf16>
func.func @one(%q: !s, %state: memref<2xi64>, %o: !s) {
  // expected-error @+1 {{the probability of dropout must be from 0 to before 1, but is 1.000000e+00 : f32}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(1.0, %state : memref<2xi64>) outs(%o : !s)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @negative(%q: !s, %state: memref<2xi64>, %o: !s) {
  // expected-error @+1 {{the probability of dropout must be from 0 to before 1, but is -1.000000e-01 : f32}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(-0.1, %state : memref<2xi64>) outs(%o : !s)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @nan(%q: !s, %state: memref<2xi64>, %o: !s) {
  // expected-error @+1 {{the probability of dropout must be from 0 to before 1, but is 0x7FC00000 : f32}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0x7FC00000, %state : memref<2xi64>) outs(%o : !s)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @type(%q: !s, %state: memref<2xi32>, %o: !s) {
  // expected-error @+1 {{element type of dropout must be i64, a seed and an offset, but is 'i32'}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0.5, %state : memref<2xi32>) outs(%o : !s)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @size(%q: !s, %state: memref<3xi64>, %o: !s) {
  // expected-error @+1 {{dimension 0 of dropout must be a static 2, a seed and an offset, but is 3}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0.5, %state : memref<3xi64>) outs(%o : !s)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @dynamic(%q: !s, %state: memref<?xi64>, %o: !s) {
  // expected-error @+1 {{dimension 0 of dropout must be a static 2, a seed and an offset, but is dynamic}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0.5, %state : memref<?xi64>) outs(%o : !s)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @rank(%q: !s, %state: memref<1x2xi64>, %o: !s) {
  // expected-error @+1 {{dropout must have rank 1 (dimensions 2), but has rank 2}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0.5, %state : memref<1x2xi64>) outs(%o : !s)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @semantics(%q: !s, %state: tensor<2xi64>, %o: !s) {
  // expected-error @+1 {{operands must be all tensors or all memrefs}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      dropout(0.5, %state : tensor<2xi64>) outs(%o : !s)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @no_probability(%q: !s, %state: memref<2xi64>, %o: !s) {
  // expected-error @+1 {{dropout has both a probability and a state of random numbers, but there is no probability}}
  "evoformer.attention"(%q, %q, %q, %state, %o)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0>}>
      : (!s, !s, !s, memref<2xi64>, !s) -> ()
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @no_state(%q: !s, %o: !s) {
  // expected-error @+1 {{dropout has both a probability and a state of random numbers, but there is no state}}
  "evoformer.attention"(%q, %q, %q, %o)
      <{dropout_p = 0.5 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}>
      : (!s, !s, !s, !s) -> ()
  return
}
