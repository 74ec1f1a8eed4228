// RUN: evoformer-opt %s --convert-evoformer-to-tile="target=cpu" --split-input-file --verify-diagnostics

// A module without attention needs no target.
func.func @nothing() {
  return
}

// -----

func.func @tensors(%x: tensor<1x1x4x1x8xf32>) -> tensor<1x1x4x1x8xf32> {
  // expected-error @below {{'evoformer.attention' op is on tensors, expected memrefs: run one-shot-bufferize first}}
  %0 = evoformer.attention
      query(%x : tensor<1x1x4x1x8xf32>)
      key(%x : tensor<1x1x4x1x8xf32>)
      value(%x : tensor<1x1x4x1x8xf32>)
      outs(%x : tensor<1x1x4x1x8xf32>)
  return %0 : tensor<1x1x4x1x8xf32>
}

// -----

module {
  module @inner {
    func.func @nested(%x: memref<1x1x4x1x8xf32>, %o: memref<1x1x4x1x8xf32>) {
      // expected-error @below {{'evoformer.attention' op must be in a function of the module that the pass runs on}}
      evoformer.attention
          query(%x : memref<1x1x4x1x8xf32>)
          key(%x : memref<1x1x4x1x8xf32>)
          value(%x : memref<1x1x4x1x8xf32>)
          outs(%o : memref<1x1x4x1x8xf32>)
      return
    }
  }
}
