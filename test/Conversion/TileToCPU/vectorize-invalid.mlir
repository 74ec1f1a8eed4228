// RUN: evoformer-opt %s --pass-pipeline='builtin.module(func.func(evo-cpu-vectorize))' --split-input-file --verify-diagnostics

// The pass takes what kernels have become: linalg on buffers.
func.func @tensors(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {evo_tile.cpu_kernel} {
  // expected-error @below {{cannot become loops; it must work on buffers}}
  %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
