// RUN: evoformer-opt %s --split-input-file --verify-diagnostics

!s = memref<2x3x16x4x32xf16>
func.func @kind(%q: !s, %o: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      // expected-error @+1 {{weights are 'softmax', 'linear' or 'retention<min = 1.0>', not 'relu'}}
      weights(relu)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @negative(%q: !s, %o: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      // expected-error @+1 {{retention divides by a finite f32 from 0 on at least, not by -1.000000e+00 : f32}}
      weights(retention<min = -1.0>)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @infinite(%q: !s, %o: !s) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      // expected-error @+1 {{retention divides by a finite f32 from 0 on at least, not by 0x7F800000 : f32}}
      weights(retention<min = 0x7F800000>)
  return
}

// -----

// expected-error @+1 {{softmax is what weights are without the attribute}}
func.func private @attribute() attributes {test.weights = #evoformer.weights<softmax>}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @lse(%q: !s, %o: !s, %l: memref<2x3x4x16xf32>) {
  // expected-error @+1 {{lse is the logarithm of a sum of exponentials, but weights are not softmax: stats has what rows are divided by}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      lse(%l : memref<2x3x4x16xf32>) weights(linear)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @bias(%q: !s, %m: memref<1x1x1x1x16xi1>, %c: memref<1x1x4x16x16xf16>,
                %o: !s) {
  // expected-error @+1 {{bias #1 must be a mask of i1 where weights are not softmax, but has elements of type 'f16': what is added to a score stands in its region}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s)
      bias(%m : memref<1x1x1x1x16xi1>) bias(%c : memref<1x1x4x16x16xf16>)
      outs(%o : !s) weights(retention<min = 1.0>)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
!l = memref<2x3x4x16xf32>
func.func @delta(%q: !s, %t: memref<2x2x3x4x16xf32>, %l: !l, %o: !s) {
  // expected-error @+1 {{has delta, which softmax's gradient reads, but weights are not softmax}}
  evoformer.attention_gradient query(%q : !s) key(%q : !s) value(%q : !s)
      weighted_grad(%q : !s) stats(%t : memref<2x2x3x4x16xf32>) delta(%l : !l)
      query_grad(%o : !s) weights(linear)
  return
}
