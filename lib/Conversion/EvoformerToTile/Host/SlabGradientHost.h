//===- SlabGradientHost.h - Gradients by slabs of logits' ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_SLABGRADIENTHOST_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_SLABGRADIENTHOST_H

#include "../Kernels/GradientKernels.h"

namespace mlir::evoformer {

/// Writes the launches for all of them with one recomputation: for so many rows
/// at a time as memory holds their logits' gradients, a slab, the kernel of
/// keys and values stores these, that of the query multiplies them with keys,
/// and they are added to the bias's. Slabs take at most `partialSumBytes`; -1:
/// a share of the memory of the gradients of query, key and value. Where that
/// holds too few rows to fill a chip, `apart` writes the launches.
void writeSlabProgram(TileBuilder &builder, KernelFactory &factory,
                      const AttentionFacts &facts,
                      const SlabGradients &gradients, int64_t partialSumBytes,
                      function_ref<void(TileBuilder &)> apart);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_SLABGRADIENTHOST_H
