// RUN: evoformer-opt %s --split-input-file --verify-diagnostics

!s = memref<2x3x16x8x32xf16>
func.func @none(%q: !s, %o: !s) {
  // expected-error @+1 {{keys(from) must have as many operands as its map has symbols behind sq and sk, 1, but has 0; the map is}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      keys(from affine_map<(i)[sq, sk, w] -> (i - w)>)
  return
}

// -----

!s = memref<2x3x16x8x32xf16>
func.func @one_too_many(%q: !s, %o: !s, %w: index) {
  // expected-error @+1 {{keys(to) must have as many operands as its map has symbols behind sq and sk, 1, but has 2; the map is}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      keys(from affine_map<(i)[sq, sk] -> (i)>, to affine_map<(i)[sq, sk, w] -> (i + w)>[%w, %w])
  return
}

// -----

!s = memref<2x3x16x8x32xf16>
func.func @twice(%q: !s, %o: !s, %w: index) {
  // expected-error @+1 {{keys(to) must be a bound that does not fall with the query's index; operands must have the coefficient -1, 0 or 1, but the map is}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      keys(to affine_map<(i)[sq, sk, w] -> (i + 2 * w)>[%w])
  return
}

// -----

!s = memref<2x3x16x8x32xf16>
func.func @product(%q: !s, %o: !s, %w: index) {
  // expected-error @+1 {{keys(to) must be a bound that does not fall with the query's index; accepted are sums of i or (i floordiv c) * c, sq, sk, operands and constants, but the map is}}
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      keys(to affine_map<(i)[sq, sk, w] -> ((i floordiv w) * w)>[%w])
  return
}

// -----

!s = memref<2x3x16x8x32xf16>
// expected-note @+1 {{prior use here}}
func.func @type(%q: !s, %o: !s, %w: i32) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      // expected-error @+1 {{use of value '%w' expects different type than prior uses: 'index' vs 'i32'}}
      keys(to affine_map<(i)[sq, sk, w] -> (i + w)>[%w])
  return
}

// -----

!s = memref<2x3x16x8x32xf16>
func.func @generic_type(%q: !s, %o: !s, %w: i32) {
  // expected-error @+1 {{operand #3 must be variadic of index, but got 'i32'}}
  "evoformer.attention"(%q, %q, %q, %w, %o)
      <{keys_from = affine_map<(i)[sq, sk, w] -> (i + w)>,
        operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0>}>
      : (!s, !s, !s, i32, !s) -> ()
  return
}

// -----

!s = memref<2x3x16x8x32xf16>
func.func @no_map(%q: !s, %o: !s, %w: index) {
  // expected-error @+1 {{keys(to) has operands, but no map}}
  "evoformer.attention"(%q, %q, %q, %w, %o)
      <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0>}>
      : (!s, !s, !s, index, !s) -> ()
  return
}

// -----

!s = memref<2x3x16x8x32xf16>
func.func @gradient(%q: !s, %t: memref<2x2x3x8x16xf32>, %o: !s, %w: index) {
  // expected-error @+1 {{keys(from) must have as many operands as its map has symbols behind sq and sk, 0, but has 1; the map is}}
  evoformer.attention_backward
      query(%q : !s) key(%q : !s) value(%q : !s)
      output(%q : !s) stats(%t : memref<2x2x3x8x16xf32>) output_grad(%q : !s)
      query_grad(%o : !s)
      keys(from affine_map<(i)[sq, sk] -> (i)>[%w])
  return
}

// -----

!s = memref<2x3x16x8x32xf16>
func.func @open(%q: !s, %o: !s, %w: index) {
  evoformer.attention query(%q : !s) key(%q : !s) value(%q : !s) outs(%o : !s)
      // expected-error @+1 {{expected ']'}}
      keys(to affine_map<(i)[sq, sk, w] -> (i + w)>[%w)
  return
}
