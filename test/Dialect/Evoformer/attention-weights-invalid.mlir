// RUN: evoformer-opt %s --split-input-file --verify-diagnostics

!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @type(%q: !s, %t: !t, %o: memref<2x3x4x16x16xbf16>) {
  // expected-error @+1 {{element type of output must be 'f16' or f32, but is 'bf16'}}
  evoformer.attention_weights query(%q : !s) key(%q : !s) stats(%t : !t)
      outs(%o : memref<2x3x4x16x16xbf16>)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @size(%q: !s, %k: memref<2x3x24x4x32xf16>, %t: !t, %o: memref<2x3x4x16x16xf16>) {
  // expected-error @+1 {{Sk is 24 in key, but 16 in output (dimension 4)}}
  evoformer.attention_weights query(%q : !s) key(%k : memref<2x3x24x4x32xf16>) stats(%t : !t)
      outs(%o : memref<2x3x4x16x16xf16>)
  return
}

// -----

// Weights do not broadcast.
!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @one(%q: !s, %t: !t, %o: memref<2x1x4x16x16xf16>) {
  // expected-error @+1 {{N is 3 in query, but 1 in output (dimension 1)}}
  evoformer.attention_weights query(%q : !s) key(%q : !s) stats(%t : !t)
      outs(%o : memref<2x1x4x16x16xf16>)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @rank(%q: !s, %t: !t, %o: memref<2x3x4x16xf16>) {
  // expected-error @+1 {{output must have rank 5 (dimensions bnhqk), but has rank 4}}
  evoformer.attention_weights query(%q : !s) key(%q : !s) stats(%t : !t)
      outs(%o : memref<2x3x4x16xf16>)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @stride(%q: !s, %t: !t, %o: memref<2x3x4x16x16xf16, strided<[0, 1024, 256, 16, 1]>>) {
  // expected-error @+1 {{output is written, so that its strides must not be 0 (dimension 0 of 'memref<2x3x4x16x16xf16, strided<[0, 1024, 256, 16, 1]>>')}}
  evoformer.attention_weights query(%q : !s) key(%q : !s) stats(%t : !t)
      outs(%o : memref<2x3x4x16x16xf16, strided<[0, 1024, 256, 16, 1]>>)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @order(%q: !s, %t: !t, %o: memref<2x3x4x16x16xf16>) {
  evoformer.attention_weights query(%q : !s) key(%q : !s) stats(%t : !t)
      // expected-error @+1 {{expected a permutation of 'bnhqk', got 'bnshd'}}
      outs(%o as bnshd : memref<2x3x4x16x16xf16>)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @signs(%q: !s, %state: memref<2xi64>, %t: !t, %o: memref<2x3x4x16x16xf16>) {
  // expected-error @+1 {{has dropout, which the sign of a weight shows, but weights that are not softmax have signs of their own}}
  evoformer.attention_weights query(%q : !s) key(%q : !s)
      dropout(0.5, %state : memref<2xi64>) stats(%t : !t)
      outs(%o : memref<2x3x4x16x16xf16>) weights(linear)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @value(%q: !s, %t: !t, %o: memref<2x3x4x16x16xf16>) {
  // There is none.
  // expected-error @+1 {{expected 'stats'}}
  evoformer.attention_weights query(%q : !s) key(%q : !s) value(%q : !s) stats(%t : !t)
      outs(%o : memref<2x3x4x16x16xf16>)
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
!t = memref<2x2x3x4x16xf32>
func.func @derivative(%q: !s, %t: !t, %o: memref<2x3x4x16x16xf16>) {
  evoformer.attention_weights query(%q : !s) key(%q : !s) stats(%t : !t)
      outs(%o : memref<2x3x4x16x16xf16>)
      score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32, %sk: i32) {
        // expected-error @+1 {{must give 1 number, the score, but gives 2}}
        evoformer.yield %x, %x : f32, f32
      }
  return
}

// -----

!s = memref<2x3x16x4x32xf16>
func.func @stats(%q: !s, %o: memref<2x3x4x16x16xf16>) {
  // expected-error @+1 {{operand group #13 (query, key, bias, capture, key_lengths, query_lengths, ragged queries, ragged keys, most queries, most keys, dropout, operand of keys(from), operand of keys(to), stats, output) must have 1 operand, but has 0}}
  "evoformer.attention_weights"(%q, %q, %o, %o)
      <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2>}>
      : (!s, !s, memref<2x3x4x16x16xf16>, memref<2x3x4x16x16xf16>) -> ()
  return
}
