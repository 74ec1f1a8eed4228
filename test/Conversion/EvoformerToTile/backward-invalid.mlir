// RUN: evoformer-opt %s --convert-evoformer-to-tile=target=gfx942 --split-input-file --verify-diagnostics

func.func @whole(%x: memref<1x2x64x4x8xf16>, %s: memref<2x1x2x4x64xf32>,
                 %dq: memref<1x2x64x4x8xf16>) {
  // expected-error @+1 {{must be split into its steps: run evoformer-split-backward first}}
  evoformer.attention_backward
      query(%x : memref<1x2x64x4x8xf16>) key(%x : memref<1x2x64x4x8xf16>)
      value(%x : memref<1x2x64x4x8xf16>) output(%x : memref<1x2x64x4x8xf16>)
      stats(%s : memref<2x1x2x4x64xf32>)
      output_grad(%x : memref<1x2x64x4x8xf16>)
      query_grad(%dq : memref<1x2x64x4x8xf16>)
  return
}

// -----

func.func @two(%x: memref<1x2x64x4x8xf16>, %s: memref<1x2x4x64xf32>,
               %stats: memref<2x1x2x4x64xf32>,
               %dq: memref<1x2x64x4x8xf16>, %dk: memref<1x2x64x4x8xf16>) {
  // expected-error @+1 {{must ask for the gradient of the query, for those of key and value, or for that of one bias, but asks for 2 of these: run evoformer-split-backward}}
  evoformer.attention_gradient
      query(%x : memref<1x2x64x4x8xf16>) key(%x : memref<1x2x64x4x8xf16>)
      value(%x : memref<1x2x64x4x8xf16>)
      weighted_grad(%x : memref<1x2x64x4x8xf16>)
      stats(%stats : memref<2x1x2x4x64xf32>) delta(%s : memref<1x2x4x64xf32>)
      query_grad(%dq : memref<1x2x64x4x8xf16>)
      key_grad(%dk : memref<1x2x64x4x8xf16>)
  return
}

// -----

func.func @none(%x: memref<1x2x64x4x8xf16>, %s: memref<2x1x2x4x64xf32>) {
  // expected-error @+1 {{but asks for 0 of these}}
  evoformer.attention_gradient
      query(%x : memref<1x2x64x4x8xf16>) key(%x : memref<1x2x64x4x8xf16>)
      value(%x : memref<1x2x64x4x8xf16>)
      weighted_grad(%x : memref<1x2x64x4x8xf16>)
      stats(%s : memref<2x1x2x4x64xf32>)
  return
}

// -----

func.func @tensors(%x: tensor<1x2x64x4x8xf16>, %s: tensor<1x2x4x64xf32>) {
  // expected-error @+1 {{is on tensors, expected memrefs: run one-shot-bufferize first}}
  %0 = evoformer.attention_delta
      output(%x : tensor<1x2x64x4x8xf16>)
      output_grad(%x : tensor<1x2x64x4x8xf16>) delta(%s : tensor<1x2x4x64xf32>)
  return
}
