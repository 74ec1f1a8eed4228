//===- SumMemory.h - Memory that items sum in -------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_SUMMEMORY_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_SUMMEMORY_H

#include "../Kernels/GradientKernels.h"
#include "HostBuilder.h"

namespace mlir::evoformer {

/// Where items put the sums of a gradient.
struct SumMemory {
  /// [copies, b, n, h, x, y] of f32; null: there is no such gradient.
  Value memory;
  /// Whether that is not the gradient itself; null: it never is.
  Value isCopied;
};

/// The memory of `copies` sums of `sum`, 0 of them where it needs none. Null
/// has none.
SumMemory prepareSums(TileBuilder &builder, HostBuilder &host, Value sum,
                      Value copies);

/// Adds up copies.
void finishSums(TileBuilder &builder, HostBuilder &host, KernelFactory &factory,
                Value sum, const SumMemory &sums);

/// Launches the kernel that adds parts up.
void launchPartSum(TileBuilder &at, HostBuilder &host, KernelFactory &factory,
                   PartSumOperands operands);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_SUMMEMORY_H
