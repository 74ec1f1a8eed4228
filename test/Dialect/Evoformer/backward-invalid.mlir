// RUN: evoformer-opt %s --split-input-file --verify-diagnostics

func.func @mask_gradient(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x3x1x1x8xf32>) {
  // expected-error @+1 {{bias #0 has no gradient: it is a mask of i1}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      bias_grad[0](%x0 : tensor<2x3x1x1x8xf32>)
  return
}

// -----

func.func @no_such_bias(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x1x4x16x8xf32>) {
  // expected-error @+1 {{bias_grad #0 belongs to bias #2, but there are 2 biases}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      bias_grad[2](%x0 : tensor<2x1x4x16x8xf32>)
  return
}

// -----

func.func @negative_bias(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x1x4x16x8xf32>) {
  // expected-error @+1 {{bias_grad #0 belongs to bias #-1, but there are 2 biases}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      bias_grad[-1](%x0 : tensor<2x1x4x16x8xf32>)
  return
}

// -----

func.func @twice(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x1x4x16x8xf32>,
    %x1: tensor<2x1x4x16x8xf32>) {
  // expected-error @+1 {{gradients of biases must come in the order of the biases, once each, but bias #1 follows bias #1}}
  %0:2 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      bias_grad[1](%x0 : tensor<2x1x4x16x8xf32>)
      bias_grad[1](%x1 : tensor<2x1x4x16x8xf32>)
  return
}

// -----

func.func @bias_gradient_type(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x1x4x16x8xbf16>) {
  // expected-error @+1 {{element type of bias_grad #0 must be 'f16', that of bias #1, or f32, but is 'bf16'}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      bias_grad[1](%x0 : tensor<2x1x4x16x8xbf16>)
  return
}

// -----

func.func @bias_gradient_broadcast(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x3x4x16x8xf32>) {
  // expected-error @+1 {{bias_grad #0 must broadcast where bias #1 does, but only one of them has a static 1 in dimension n}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      bias_grad[1](%x0 : tensor<2x3x4x16x8xf32>)
  return
}

// -----

func.func @gate_gradient_without_gate(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x3x16x4x24xf16>) {
  // expected-error @+1 {{gate_grad needs a gate, but there is none}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      gate_grad(%x0 : tensor<2x3x16x4x24xf16>)
  return
}

// -----

func.func @gate_gradient_type(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %g: tensor<2x3x16x4x24xf32>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x3x16x4x24xf16>) {
  // expected-error @+1 {{element type of gate_grad must be f32, but is 'f16'}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      gate(%g : tensor<2x3x16x4x24xf32>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      gate_grad(%x0 : tensor<2x3x16x4x24xf16>)
  return
}

// -----

func.func @query_gradient_type(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x3x16x4x32xbf16>) {
  // expected-error @+1 {{element type of query_grad must be 'f16' or f32, but is 'bf16'}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      query_grad(%x0 : tensor<2x3x16x4x32xbf16>)
  return
}

// -----

func.func @query_gradient_size(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x3x8x4x32xf16>) {
  // expected-error @+1 {{Sq is 16 in query, but 8 in query_grad (dimension 2)}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      query_grad(%x0 : tensor<2x3x8x4x32xf16>)
  return
}

// -----

func.func @value_gradient_depth(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x3x8x4x32xf16>) {
  // expected-error @+1 {{Dv is 24 in value, but 32 in value_grad (dimension 4)}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      value_grad(%x0 : tensor<2x3x8x4x32xf16>)
  return
}

// -----

func.func @stats_type(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf16>,
    %do: tensor<2x3x16x4x24xf16>,
    %x0: tensor<2x3x16x4x32xf16>) {
  // expected-error @+1 {{element type of stats must be f32, but is 'f16'}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf16>)
      output_grad(%do : tensor<2x3x16x4x24xf16>)
      query_grad(%x0 : tensor<2x3x16x4x32xf16>)
  return
}

// -----

func.func @output_gradient_rank(%q: tensor<2x3x16x4x32xf16>,
    %k: tensor<2x3x8x4x32xf16>,
    %v: tensor<2x3x8x4x24xf16>,
    %m: tensor<2x3x1x1x8xi1>,
    %p: tensor<2x1x4x16x8xf16>,
    %o: tensor<2x3x16x4x24xf16>,
    %s: tensor<2x2x3x4x16xf32>,
    %do: tensor<2x3x16x24xf16>,
    %x0: tensor<2x3x16x4x32xf16>) {
  // expected-error @+1 {{output_grad must have rank 5 (dimensions bnshd), but has rank 4}}
  %0:1 = evoformer.attention_backward
      query(%q : tensor<2x3x16x4x32xf16>)
      key(%k : tensor<2x3x8x4x32xf16>)
      value(%v : tensor<2x3x8x4x24xf16>)
      bias(%m : tensor<2x3x1x1x8xi1>)
      bias(%p : tensor<2x1x4x16x8xf16>)
      output(%o : tensor<2x3x16x4x24xf16>)
      stats(%s : tensor<2x2x3x4x16xf32>)
      output_grad(%do : tensor<2x3x16x24xf16>)
      query_grad(%x0 : tensor<2x3x16x4x32xf16>)
  return
}

// -----

func.func @aliases(%x: memref<2x3x16x4x32xf16>, %s: memref<2x2x3x4x16xf32>) {
  // expected-error @+1 {{query_grad must not alias query, but both are the same memref}}
  evoformer.attention_backward
      query(%x : memref<2x3x16x4x32xf16>)
      key(%x : memref<2x3x16x4x32xf16>)
      value(%x : memref<2x3x16x4x32xf16>)
      output(%x : memref<2x3x16x4x32xf16>)
      stats(%s : memref<2x2x3x4x16xf32>)
      output_grad(%x : memref<2x3x16x4x32xf16>)
      query_grad(%x : memref<2x3x16x4x32xf16>)
  return
}

// -----

func.func @strided(%x: memref<2x3x16x4x32xf16>, %s: memref<2x2x3x4x16xf32>,
    %do: memref<2x3x16x4x32xf16, strided<[6144, 2048, 128, 32, 2]>>,
    %dq: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{stride of dimension d of output_grad must be 1, but is 2}}
  evoformer.attention_backward
      query(%x : memref<2x3x16x4x32xf16>)
      key(%x : memref<2x3x16x4x32xf16>)
      value(%x : memref<2x3x16x4x32xf16>)
      output(%x : memref<2x3x16x4x32xf16>)
      stats(%s : memref<2x2x3x4x16xf32>)
      output_grad(%do : memref<2x3x16x4x32xf16, strided<[6144, 2048, 128, 32, 2]>>)
      query_grad(%dq : memref<2x3x16x4x32xf16>)
  return
}

// -----

func.func @orders(%x: tensor<2x3x16x4x32xf16>, %s: tensor<2x2x3x4x16xf32>) {
  // expected-error @+1 {{operand_orders must be empty or have one order for each of the 6 operands of rank 5, but has 1}}
  %0 = "evoformer.attention_backward"(%x, %x, %x, %x, %s, %x, %x) <{
      operand_orders = [#evoformer.order<bnshd>],
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0>}>
      : (tensor<2x3x16x4x32xf16>, tensor<2x3x16x4x32xf16>,
         tensor<2x3x16x4x32xf16>, tensor<2x3x16x4x32xf16>,
         tensor<2x2x3x4x16xf32>, tensor<2x3x16x4x32xf16>,
         tensor<2x3x16x4x32xf16>) -> tensor<2x3x16x4x32xf16>
  return
}

// -----

func.func @names(%x: tensor<2x3x16x4x32xf16>, %b: tensor<1x1x1x1x16xf16>,
                 %s: tensor<2x2x3x4x16xf32>) {
  // expected-error @+1 {{bias_gradients must name the bias of each of the 1 gradients of biases, but has 0 entries}}
  %0 = "evoformer.attention_backward"(%x, %x, %x, %b, %x, %s, %x, %b) <{
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0>}>
      : (tensor<2x3x16x4x32xf16>, tensor<2x3x16x4x32xf16>,
         tensor<2x3x16x4x32xf16>, tensor<1x1x1x1x16xf16>,
         tensor<2x3x16x4x32xf16>, tensor<2x2x3x4x16xf32>,
         tensor<2x3x16x4x32xf16>, tensor<1x1x1x1x16xf16>)
      -> tensor<1x1x1x1x16xf16>
  return
}

// -----

func.func @segments(%x: tensor<2x3x16x4x32xf16>) {
  // expected-error @+1 {{operand group #4 (gate, query_lengths, ragged queries, most queries, output, output_grad, delta, weighted_grad, gate_grad) must have 1 operand, but has 0}}
  "evoformer.attention_delta"(%x, %x) <{
      operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 1, 0, 0, 0>}>
      : (tensor<2x3x16x4x32xf16>, tensor<2x3x16x4x32xf16>) -> ()
  return
}

// -----

func.func @weighted_type(%x: memref<2x3x16x4x32xf16>, %s: memref<2x3x4x16xf32>,
                         %stats: memref<2x2x3x4x16xf32>,
                         %w: memref<2x3x16x4x32xf32>,
                         %dq: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{element type of weighted_grad must be that of query, 'f16', but is 'f32'}}
  evoformer.attention_gradient
      query(%x : memref<2x3x16x4x32xf16>)
      key(%x : memref<2x3x16x4x32xf16>)
      value(%x : memref<2x3x16x4x32xf16>)
      weighted_grad(%w : memref<2x3x16x4x32xf32>)
      stats(%stats : memref<2x2x3x4x16xf32>)
      delta(%s : memref<2x3x4x16xf32>)
      query_grad(%dq : memref<2x3x16x4x32xf16>)
  return
}

// -----

func.func @missing_index(%x: memref<2x3x16x4x32xf16>, %s: memref<2x3x4x16xf32>,
                         %stats: memref<2x2x3x4x16xf32>) {
  evoformer.attention_gradient
      query(%x : memref<2x3x16x4x32xf16>)
      key(%x : memref<2x3x16x4x32xf16>)
      value(%x : memref<2x3x16x4x32xf16>)
      weighted_grad(%x : memref<2x3x16x4x32xf16>)
      stats(%stats : memref<2x2x3x4x16xf32>)
      delta(%s : memref<2x3x4x16xf32>)
      // expected-error @+1 {{expected '['}}
      bias_grad(%x : memref<2x3x16x4x32xf16>)
  return
}

// -----

func.func @missing_delta(%x: memref<2x3x16x4x32xf16>, %s: memref<2x2x3x4x16xf32>,
                         %dq: memref<2x3x16x4x32xf16>) {
  // expected-error @+1 {{query_grad needs delta, but there is none}}
  evoformer.attention_gradient
      query(%x : memref<2x3x16x4x32xf16>)
      key(%x : memref<2x3x16x4x32xf16>)
      value(%x : memref<2x3x16x4x32xf16>)
      weighted_grad(%x : memref<2x3x16x4x32xf16>)
      stats(%s : memref<2x2x3x4x16xf32>)
      query_grad(%dq : memref<2x3x16x4x32xf16>)
  return
}
