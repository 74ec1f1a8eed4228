// Weights may be rounded to the type of the operands where asked; what an option
// does not take is refused.
//
// RUN: evoformer-opt %S/Inputs/modules/sdpa_scale.mlir --evoformer-raise-attention --canonicalize | FileCheck %s --check-prefix=KEPT
// RUN: evoformer-opt %S/Inputs/modules/sdpa_scale.mlir --evoformer-raise-attention=round-weights --canonicalize | FileCheck %s --check-prefix=ROUNDED
// RUN: not evoformer-opt %s --evoformer-raise-attention=rows-without-keys=mean 2>&1 | FileCheck %s

// KEPT: query(%{{.*}} : tensor<1x2x2x5x4xf32>)
// ROUNDED: query(%{{.*}} : tensor<1x2x2x5x4xbf16>)
// ROUNDED: outs(%{{.*}} : tensor<1x2x2x5x4xbf16>)
// CHECK: error: rows-without-keys must be 'same' or 'zero', but is 'mean'
