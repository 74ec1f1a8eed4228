// RUN: evoformer-opt %s --split-input-file --verify-diagnostics
//
// One case for every rule of the op.

// Tensors and memrefs do not mix.
func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: tensor<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{operands must be all tensors or all memrefs, but query is 'memref<2x3x16x4x32xf16>' and key is 'tensor<2x3x8x4x32xf16>'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: tensor<2x3x16x4x32xf16>,
            %k: tensor<2x3x8x4x32xf16>,
            %v: tensor<2x3x8x4x24xf16, "csr">,
            %o: tensor<2x3x16x4x24xf16>) {
  // expected-error @+1 {{value must be a tensor without encoding, but is 'tensor<2x3x8x4x24xf16, "csr">'}}
  %0 = evoformer.attention
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16, "csr">)
      outs(%o : tensor<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16, 3>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{value must be in the default memory space, that of the device's global memory, but is 'memref<2x3x8x4x24xf16, 3>'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16, 3>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<*xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref, but got 'memref<*xf16>'}}
  evoformer.attention
      query(%q : memref<*xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

// A layout without strides.
func.func @f(%q: memref<2x3x16x4x32xf16, affine_map<(b, n, s, h, d) -> (b, n, s floordiv 4, h, d)>>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{operand #0 must be ranked tensor or strided memref, but got 'memref<2x3x16x4x32xf16, affine_map<}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16, affine_map<(b, n, s, h, d) -> (b, n, s floordiv 4, h, d)>>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

//===--- Element types ---===//

func.func @f(%q: memref<2x3x16x4x32xf64>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{element type of query must be f16, bf16 or f32, but is 'f64'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf64>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xbf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{element type of key must be that of query, 'f16', but is 'bf16'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xbf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf32>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{element type of value must be that of query, 'f16', but is 'f32'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf32>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %b0: memref<2x3x1x1x8xi1>,
            %b1: memref<2x3x1x1x8xi8>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{element type of bias #1 must be 'f16', f32 or i1, but is 'i8'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      bias(%b0 : memref<2x3x1x1x8xi1>)
      bias(%b1 : memref<2x3x1x1x8xi8>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf32>,
            %k: memref<2x3x8x4x32xf32>,
            %v: memref<2x3x8x4x24xf32>,
            %b0: memref<2x3x1x1x8xf16>,
            %o: memref<2x3x16x4x24xf32>) {
  // expected-error @+1 {{element type of bias #0 must be f32 or i1, but is 'f16'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf32>)
      key(%k : memref<2x3x8x4x32xf32>)
      value(%v : memref<2x3x8x4x24xf32>)
      bias(%b0 : memref<2x3x1x1x8xf16>)
      outs(%o : memref<2x3x16x4x24xf32>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %g: memref<2x3x16x4x24xbf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{element type of gate must be 'f16' or f32, but is 'bf16'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      gate(%g : memref<2x3x16x4x24xbf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf64>) {
  // expected-error @+1 {{element type of output must be 'f16' or f32, but is 'f64'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf64>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf32>,
            %k: memref<2x3x8x4x32xf32>,
            %v: memref<2x3x8x4x24xf32>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{element type of output must be f32, but is 'f16'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf32>)
      key(%k : memref<2x3x8x4x32xf32>)
      value(%v : memref<2x3x8x4x24xf32>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>,
            %l: memref<2x3x4x16xf16>) {
  // expected-error @+1 {{element type of lse must be f32, but is 'f16'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
      lse(%l : memref<2x3x4x16xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>,
            %s: memref<2x2x3x4x16xf64>) {
  // expected-error @+1 {{element type of stats must be f32, but is 'f64'}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
      stats(%s : memref<2x2x3x4x16xf64>)
  return
}

// -----

//===--- Ranks and sizes ---===//

func.func @f(%q: memref<2x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{query must have rank 5 (dimensions bnhsd), but has rank 4}}
  evoformer.attention
      query(%q as bnhsd : memref<2x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %b0: memref<16x8xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{bias #0 must have rank 5 (dimensions bnhqk), but has rank 2}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      bias(%b0 : memref<16x8xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>,
            %l: memref<2x3x4x16x1xf32>) {
  // expected-error @+1 {{lse must have rank 4 (dimensions bnhq), but has rank 5}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
      lse(%l : memref<2x3x4x16x1xf32>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x?xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{D (dimension 4 of query) must be static and from 1 to 256, but is dynamic}}
  evoformer.attention
      query(%q : memref<2x3x16x4x?xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x256xf16>,
            %k: memref<2x3x8x4x257xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{D (dimension 4 of key) must be static and from 1 to 256, but is 257}}
  evoformer.attention
      query(%q : memref<2x3x16x4x256xf16>)
      key(%k : memref<2x3x8x4x257xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x0xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{Dv (dimension 4 of value) must be static and from 1 to 256, but is 0}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x0xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<?x2x3x16x4xf16>) {
  // expected-error @+1 {{Dv (dimension 0 of output) must be static and from 1 to 256, but is dynamic}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o as dbnsh : memref<?x2x3x16x4xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<5x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{B is 2 in query, but 5 in key (dimension 0)}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<5x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

// A one of an operand other than a bias does not broadcast.
func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x1x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{N is 3 in query, but 1 in key (dimension 1)}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x1x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x4x8x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{H is 4 in query, but 8 in key (dimension 3); heads that share keys need group_size(...)}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x4x8x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x2x8x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{H is 4 in query, but 2 in value (dimension 2); heads that share keys need group_size(...)}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v as bnhsd : memref<2x3x2x8x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x24xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{D is 32 in query, but 24 in key (dimension 4)}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x24xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

// Known sizes of dynamic operands.
func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x?x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %b0: memref<1x1x1x1x9xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{Sk is 8 in value, but 9 in bias #0 (dimension 4); a bias must match or have a static 1}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x?x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      bias(%b0 : memref<1x1x1x1x9xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %b0: memref<1x1x4x8x8xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{Sq is 16 in query, but 8 in bias #0 (dimension 4); a bias must match or have a static 1}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      bias(%b0 as bnhkq : memref<1x1x4x8x8xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x17x4x24xf16>) {
  // expected-error @+1 {{Sq is 16 in query, but 17 in output (dimension 2)}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x17x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %g: memref<2x3x16x4x23xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{Dv is 24 in value, but 23 in gate (dimension 4)}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      gate(%g : memref<2x3x16x4x23xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>,
            %l: memref<2x3x4x8xf32>) {
  // expected-error @+1 {{Sq is 16 in query, but 8 in lse (dimension 3)}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
      lse(%l : memref<2x3x4x8xf32>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>,
            %s: memref<2x2x3x16x4xf32>) {
  // expected-error @+1 {{H is 4 in query, but 16 in stats (dimension 3)}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
      stats(%s : memref<2x2x3x16x4xf32>)
  return
}

// -----

//===--- Memory ---===//

func.func @f(%q: memref<2x3x16x4x32xf16, strided<[?, ?, ?, ?, 2]>>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{stride of dimension d of query must be 1, but is 2 (dimension 4 of 'memref<2x3x16x4x32xf16, strided<[?, ?, ?, ?, 2]>>')}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16, strided<[?, ?, ?, ?, 2]>>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x4x32x8xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{stride of dimension d of key must be 1, but is 8 (dimension 3 of 'memref<2x3x4x32x8xf16>')}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k as bnhds : memref<2x3x4x32x8xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16, strided<[?, ?, ?, ?, 0]>>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{stride of dimension d of value must be 1, but is 0}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16, strided<[?, ?, ?, ?, 0]>>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %g: memref<2x3x16x4x24xf16, strided<[?, ?, ?, ?, 3]>>,
            %o: memref<2x3x16x4x24xf16>) {
  // expected-error @+1 {{stride of dimension d of gate must be 1, but is 3}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      gate(%g : memref<2x3x16x4x24xf16, strided<[?, ?, ?, ?, 3]>>)
      outs(%o : memref<2x3x16x4x24xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16, strided<[?, 0, ?, ?, 1]>>) {
  // expected-error @+1 {{output is written, so that its strides must not be 0 (dimension 1 of 'memref<2x3x16x4x24xf16, strided<[?, 0, ?, ?, 1]>>')}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16, strided<[?, 0, ?, ?, 1]>>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>,
            %k: memref<2x3x8x4x32xf16>,
            %v: memref<2x3x8x4x24xf16>,
            %o: memref<2x3x16x4x24xf16>,
            %s: memref<2x2x3x4x16xf32, strided<[?, ?, ?, ?, 0]>>) {
  // expected-error @+1 {{stats is written, so that its strides must not be 0 (dimension 4}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%v : memref<2x3x8x4x24xf16>)
      outs(%o : memref<2x3x16x4x24xf16>)
      stats(%s : memref<2x2x3x4x16xf32, strided<[?, ?, ?, ?, 0]>>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %k: memref<2x3x8x4x32xf16>) {
  // expected-error @+1 {{output must not alias query, but both are the same memref}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%k : memref<2x3x8x4x32xf16>)
      outs(%q : memref<2x3x16x4x32xf16>)
  return
}

// -----

func.func @f(%q: memref<2x2x2x4x8xf32>, %k: memref<2x2x8x4x8xf32>,
             %v: memref<2x2x8x4x2xf32>, %o: memref<2x2x2x4x2xf32>) {
  // expected-error @+1 {{output must not alias stats, but both are the same memref}}
  evoformer.attention
      query(%q : memref<2x2x2x4x8xf32>)
      key(%k : memref<2x2x8x4x8xf32>)
      value(%v : memref<2x2x8x4x2xf32>)
      outs(%o : memref<2x2x2x4x2xf32>)
      stats(%o : memref<2x2x2x4x2xf32>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %k: memref<2x3x8x4x32xf16>,
             %o: memref<2x3x16x4x32xf16>, %s: memref<3x2x3x4x16xf32>) {
  // expected-error @+1 {{dimension 0 of stats must be a static 2, a maximum and a sum, but is 3}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%k : memref<2x3x8x4x32xf16>)
      outs(%o : memref<2x3x16x4x32xf16>)
      stats(%s : memref<3x2x3x4x16xf32>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %k: memref<2x3x8x4x32xf16>,
             %o: memref<2x3x16x4x32xf16>, %s: memref<?x2x3x4x16xf32>) {
  // expected-error @+1 {{dimension 0 of stats must be a static 2, a maximum and a sum, but is dynamic}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%k : memref<2x3x8x4x32xf16>)
      outs(%o : memref<2x3x16x4x32xf16>)
      stats(%s : memref<?x2x3x4x16xf32>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %k: memref<2x3x8x4x32xf16>,
             %o: memref<2x3x16x4x32xf16>, %s: memref<2x3x4x16xf32>) {
  // expected-error @+1 {{stats must have rank 5 (dimensions 2bnhq), but has rank 4}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%k : memref<2x3x8x4x32xf16>)
      value(%k : memref<2x3x8x4x32xf16>)
      outs(%o : memref<2x3x16x4x32xf16>)
      stats(%s : memref<2x3x4x16xf32>)
  return
}

// -----

//===--- Attributes ---===//

func.func @f(%q: memref<2x3x16x4x32xf16>, %o: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{scale must be finite, but is 0x7F800000 : f32}}
  evoformer.attention
      query(%q : memref<2x3x16x4x32xf16>)
      key(%q : memref<2x3x16x4x32xf16>)
      value(%q : memref<2x3x16x4x32xf16>)
      outs(%o : memref<2x3x16x4x32xf16>)
      scale(0x7F800000)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %o: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{attribute 'scale' failed to satisfy constraint: 32-bit float attribute}}
  "evoformer.attention"(%q, %q, %q, %o) <{scale = 1.0 : f64,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>,
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>) -> ()
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %o: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{the order of query must be a permutation of 'bnshd', but is 'bnhqk'}}
  "evoformer.attention"(%q, %q, %q, %o) <{query_order = #evoformer.order<bnhqk>,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>,
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>) -> ()
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %b: memref<1x1x1x1x1xf16>,
             %o: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{the order of bias #0 must be a permutation of 'bnhqk', but is 'bnshd'}}
  "evoformer.attention"(%q, %q, %q, %b, %o) <{
      bias_orders = [#evoformer.order<bnshd>],
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>,
      memref<2x3x16x4x32xf16>, memref<1x1x1x1x1xf16>,
      memref<2x3x16x4x32xf16>) -> ()
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %o: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{bias_orders must be empty or have one order for each of the 0 biases, but has 1}}
  "evoformer.attention"(%q, %q, %q, %o) <{
      bias_orders = [#evoformer.order<bnhqk>],
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>,
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>) -> ()
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %o: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{attribute 'bias_orders' failed to satisfy constraint: array of dimension orders}}
  "evoformer.attention"(%q, %q, %q, %o) <{bias_orders = [1],
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>,
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>) -> ()
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %o: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{gate_order is 'bnhsd', but there is no gate}}
  "evoformer.attention"(%q, %q, %q, %o) <{gate_order = #evoformer.order<bnhsd>,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>,
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>) -> ()
  return
}

// -----

//===--- Results and segments ---===//

func.func @f(%q: tensor<2x3x16x4x32xf16>) {
  // expected-error @+1 {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  "evoformer.attention"(%q, %q, %q, %q) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (
      tensor<2x3x16x4x32xf16>, tensor<2x3x16x4x32xf16>,
      tensor<2x3x16x4x32xf16>, tensor<2x3x16x4x32xf16>) -> ()
  return
}

// -----

func.func @f(%q: tensor<2x3x16x4x32xf16>) {
  // expected-error @+1 {{expected type of operand #3 ('tensor<2x3x16x4x32xf16>') to match type of corresponding result ('tensor<2x3x?x4x32xf16>')}}
  %0 = "evoformer.attention"(%q, %q, %q, %q) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (
      tensor<2x3x16x4x32xf16>, tensor<2x3x16x4x32xf16>,
      tensor<2x3x16x4x32xf16>, tensor<2x3x16x4x32xf16>)
      -> tensor<2x3x?x4x32xf16>
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{operand count (4) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
  "evoformer.attention"(%q, %q, %q, %q) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> : (
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>,
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>) -> ()
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{operand group #15 (query, key, value, bias, capture, gate, key_lengths, query_lengths, ragged queries, ragged keys, most queries, most keys, dropout, operand of keys(from), operand of keys(to), output, lse, stats) must have 1 operand, but has 0}}
  "evoformer.attention"(%q, %q, %q, %q) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> : (
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>,
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>) -> ()
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{operand group starting at #3 requires 0 or 1 element, but found 2}}
  "evoformer.attention"(%q, %q, %q, %q, %q, %q) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>,
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>,
      memref<2x3x16x4x32xf16>, memref<2x3x16x4x32xf16>) -> ()
  return
}

// -----

//===--- Syntax ---===//

// expected-error @+1 {{'bnshh' is no dimension order: expected a permutation of 'bnshd' (query, key, value, gate, output) or 'bnhqk' (bias)}}
func.func private @f() attributes {a = #evoformer.order<bnshh>}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{expected a permutation of 'bnshd', got 'bnhqk'}}
  evoformer.attention query(%q as bnhqk : memref<2x3x16x4x32xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>) {
  evoformer.attention query(%q : memref<2x3x16x4x32xf16>)
      key(%q : memref<2x3x16x4x32xf16>)
      value(%q : memref<2x3x16x4x32xf16>)
      // expected-error @+1 {{expected a permutation of 'bnhqk', got 'hij'}}
      bias(%q as hij : memref<2x3x16x4x32xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{expected 'key'}}
  evoformer.attention query(%q : memref<2x3x16x4x32xf16>) value(%q : memref<2x3x16x4x32xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>) {
  evoformer.attention query(%q : memref<2x3x16x4x32xf16>)
      key(%q : memref<2x3x16x4x32xf16>)
      value(%q : memref<2x3x16x4x32xf16>)
  // expected-error @+1 {{expected 'outs'; clauses come in the order query, key, value, bias, capture, gate, lengths, ragged, dropout, outs, lse, stats, scale, group_size, keys, weights, score}}
  return
}

// -----

func.func @f(%q: memref<2x3x16x4x32xf16>, %o: memref<2x3x16x4x32xf16>) {
  evoformer.attention query(%q : memref<2x3x16x4x32xf16>)
      key(%q : memref<2x3x16x4x32xf16>)
      value(%q : memref<2x3x16x4x32xf16>)
      outs(%o : memref<2x3x16x4x32xf16>)
      keys(to affine_map<(i)[sq, sk] -> (i)>)
  // expected-error @+1 {{unexpected 'scale'; clauses come in the order query, key, value, bias,}}
      scale(0.5)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %k: memref<2x3x5x3x32xf16>, %o: memref<2x3x16x8x32xf16>) {
  // expected-error @+1 {{H must be Hk times group_size, but H is 8 in query, Hk is 3 in key and group_size is 2}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%k : memref<2x3x5x3x32xf16>)
      value(%k : memref<2x3x5x3x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      group_size(2)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %k: memref<2x1x5x8x32xf16>, %v: memref<2x3x5x8x32xf16>, %o: memref<2x3x16x8x32xf16>) {
  // expected-error @+1 {{N is 3 in query, but 1 in key (dimension 1); key and value must match or have a static 1 alike, and so must their gradients}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%k : memref<2x1x5x8x32xf16>)
      value(%v : memref<2x3x5x8x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %k: memref<2x3x5x4x32xf16>, %v: memref<2x3x5x2x32xf16>, %o: memref<2x3x16x8x32xf16>) {
  // expected-error @+1 {{Hk is 4 in key, but 2 in value (dimension 3)}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%k : memref<2x3x5x4x32xf16>)
      value(%v : memref<2x3x5x2x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      group_size(2)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>) {
  // expected-error @+1 {{group_size must be from 1 to 65536, but is 0}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      group_size(0)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>) {
  // expected-error @+1 {{keys(from) must be a bound that does not fall with the query's index; the query's index must have the coefficient 0 or 1, but the map is}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      keys(from affine_map<(i)[sq, sk] -> (2 * i)>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>) {
  // expected-error @+1 {{keys(to) must be a bound that does not fall with the query's index; the query's index must have the coefficient 0 or 1}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      keys(to affine_map<(i)[sq, sk] -> (sk - i)>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>) {
  // expected-error @+1 {{keys(to) must be a map (i)[sq, sk] -> (..) of the query's index and the numbers of queries and keys, but is}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      keys(from affine_map<(i)[sq, sk] -> (i)>, to affine_map<(i)[sq] -> (i)>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>) {
  // expected-error @+1 {{keys(to) must be a bound that does not fall with the query's index; accepted are sums of i or (i floordiv c) * c, sq, sk, operands and constants}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      keys(to affine_map<(i)[sq, sk] -> (i mod 8)>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>) {
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      outs(%o : memref<2x3x16x8x32xf16>)
      // expected-error @+1 {{expected 'to'}}
      keys()
  return
}

// -----

func.func @no_lengths(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>) {
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      // expected-error @+1 {{expected 'queries'}}
      lengths()
      outs(%o : memref<2x3x16x8x32xf16>)
  return
}

// -----

func.func @lengths_in_order(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>, %l: memref<2x3xi32>) {
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      // expected-error @+1 {{expected ')'}}
      lengths(queries %l : memref<2x3xi32>, keys %l : memref<2x3xi32>)
      outs(%o : memref<2x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>, %l: memref<2x3xi64>) {
  // expected-error @+1 {{element type of key_lengths must be i32, but is 'i64'}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      lengths(keys %l : memref<2x3xi64>)
      outs(%o : memref<2x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>, %l: memref<2xi32>) {
  // expected-error @+1 {{key_lengths must have rank 2 (dimensions bn), but has rank 1}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      lengths(keys %l : memref<2xi32>)
      outs(%o : memref<2x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>, %l: memref<2x4xi32>) {
  // expected-error @+1 {{N is 3 in query, but 4 in key_lengths (dimension 1); lengths must match or have a static 1}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      lengths(keys %l : memref<2x4xi32>)
      outs(%o : memref<2x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<2x3x16x8x32xf16>, %o: memref<2x3x16x8x32xf16>, %e: memref<5xi32>, %l: memref<1x1xi32>) {
  %most = arith.constant 9 : index
  // expected-error @+1 {{ragged sequences lie one behind the other in one b: dimension 0 of query must be a static 1, but is 2}}
  evoformer.attention
      query(%q : memref<2x3x16x8x32xf16>)
      key(%q : memref<2x3x16x8x32xf16>)
      value(%q : memref<2x3x16x8x32xf16>)
      ragged(queries %e : memref<5xi32>, keys %e : memref<5xi32>, most %most, %most)
      outs(%o : memref<2x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<?x3x16x8x32xf16>, %o: memref<?x3x16x8x32xf16>, %e: memref<5xi32>, %l: memref<1x1xi32>) {
  %most = arith.constant 9 : index
  // expected-error @+1 {{ragged sequences lie one behind the other in one b: dimension 0 of query must be a static 1, but is dynamic}}
  evoformer.attention
      query(%q : memref<?x3x16x8x32xf16>)
      key(%q : memref<?x3x16x8x32xf16>)
      value(%q : memref<?x3x16x8x32xf16>)
      ragged(queries %e : memref<5xi32>, keys %e : memref<5xi32>, most %most, %most)
      outs(%o : memref<?x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<1x3x16x8x32xf16>, %o: memref<1x3x16x8x32xf16>, %e: memref<5xi64>, %l: memref<1x1xi32>) {
  %most = arith.constant 9 : index
  // expected-error @+1 {{element type of ragged queries must be i32, but is 'i64'}}
  evoformer.attention
      query(%q : memref<1x3x16x8x32xf16>)
      key(%q : memref<1x3x16x8x32xf16>)
      value(%q : memref<1x3x16x8x32xf16>)
      ragged(queries %e : memref<5xi64>, keys %e : memref<5xi64>, most %most, %most)
      outs(%o : memref<1x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<1x3x16x8x32xf16>, %o: memref<1x3x16x8x32xf16>, %e: memref<5x1xi32>, %l: memref<1x1xi32>) {
  %most = arith.constant 9 : index
  // expected-error @+1 {{ragged queries must have rank 1 (B + 1 cumulative lengths), but has rank 2}}
  evoformer.attention
      query(%q : memref<1x3x16x8x32xf16>)
      key(%q : memref<1x3x16x8x32xf16>)
      value(%q : memref<1x3x16x8x32xf16>)
      ragged(queries %e : memref<5x1xi32>, keys %e : memref<5x1xi32>, most %most, %most)
      outs(%o : memref<1x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<1x3x16x8x32xf16>, %o: memref<1x3x16x8x32xf16>, %e: memref<3xi32>, %l: memref<1x1xi32>) {
  %most = arith.constant -5 : index
  // expected-error @+1 {{most queries must be at least 0, but is -5}}
  evoformer.attention
      query(%q : memref<1x3x16x8x32xf16>)
      key(%q : memref<1x3x16x8x32xf16>)
      value(%q : memref<1x3x16x8x32xf16>)
      ragged(queries %e : memref<3xi32>, keys %e : memref<3xi32>, most %most, %most)
      outs(%o : memref<1x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<1x3x16x8x32xf16>, %o: memref<1x3x16x8x32xf16>, %e: memref<0xi32>, %l: memref<1x1xi32>) {
  %most = arith.constant 9 : index
  // expected-error @+1 {{ragged queries must have B + 1 numbers, at least 1, but has none}}
  evoformer.attention
      query(%q : memref<1x3x16x8x32xf16>)
      key(%q : memref<1x3x16x8x32xf16>)
      value(%q : memref<1x3x16x8x32xf16>)
      ragged(queries %e : memref<0xi32>, keys %e : memref<0xi32>, most %most, %most)
      outs(%o : memref<1x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<1x3x16x8x32xf16>, %o: memref<1x3x16x8x32xf16>, %e: memref<5xi32>, %l: memref<1x1xi32>) {
  %most = arith.constant 9 : index
  // expected-error @+1 {{ragged sequences are as long as their cumulative lengths say; there must not be key_lengths}}
  evoformer.attention
      query(%q : memref<1x3x16x8x32xf16>)
      key(%q : memref<1x3x16x8x32xf16>)
      value(%q : memref<1x3x16x8x32xf16>)
      lengths(keys %l : memref<1x1xi32>)
      ragged(queries %e : memref<5xi32>, keys %e : memref<5xi32>, most %most, %most)
      outs(%o : memref<1x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<1x3x16x8x32xf16>, %o: memref<1x3x16x8x32xf16>, %e: memref<5xi32>, %t: memref<1x1x8x10x9xf16>) {
  %most = arith.constant 9 : index
  // expected-error @+1 {{Sq is 9 in most queries, but 10 in bias #0 (dimension 3); a bias must match or have a static 1}}
  evoformer.attention
      query(%q : memref<1x3x16x8x32xf16>)
      key(%q : memref<1x3x16x8x32xf16>)
      value(%q : memref<1x3x16x8x32xf16>)
      bias(%t : memref<1x1x8x10x9xf16>)
      ragged(queries %e : memref<5xi32>, keys %e : memref<5xi32>, most %most, %most)
      outs(%o : memref<1x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<1x3x16x8x32xf16>, %o: memref<1x3x16x8x32xf16>, %e: memref<5xi32>, %t: memref<3x1x8x9x9xf16>) {
  %most = arith.constant 9 : index
  // expected-error @+1 {{B is 4 in ragged queries, but 3 in bias #0 (dimension 0); a bias must match or have a static 1}}
  evoformer.attention
      query(%q : memref<1x3x16x8x32xf16>)
      key(%q : memref<1x3x16x8x32xf16>)
      value(%q : memref<1x3x16x8x32xf16>)
      bias(%t : memref<3x1x8x9x9xf16>)
      ragged(queries %e : memref<5xi32>, keys %e : memref<5xi32>, most %most, %most)
      outs(%o : memref<1x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<1x3x16x8x32xf16>, %o: memref<1x3x16x8x32xf16>, %e: memref<5xi32>, %j: memref<6xi32>) {
  %most = arith.constant 9 : index
  // expected-error @+1 {{B + 1 is 5 in ragged queries, but 6 in ragged keys (dimension 0)}}
  evoformer.attention
      query(%q : memref<1x3x16x8x32xf16>)
      key(%q : memref<1x3x16x8x32xf16>)
      value(%q : memref<1x3x16x8x32xf16>)
      ragged(queries %e : memref<5xi32>, keys %j : memref<6xi32>, most %most, %most)
      outs(%o : memref<1x3x16x8x32xf16>)
  return
}

// -----

func.func @f(%q: memref<1x3x16x4x32xf16>, %o: memref<1x3x16x4x32xf16>, %e: memref<5xi32>) {
  // expected-error @+1 {{ragged has ragged queries, but no ragged keys}}
  "evoformer.attention"(%q, %q, %q, %e, %o) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0>}> : (
      memref<1x3x16x4x32xf16>, memref<1x3x16x4x32xf16>,
      memref<1x3x16x4x32xf16>, memref<5xi32>, memref<1x3x16x4x32xf16>) -> ()
  return
}
