//===- HeadGradientHost.h - Gradients by heads --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HEADGRADIENTHOST_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HEADGRADIENTHOST_H

#include "../Kernels/GradientKernels.h"

namespace mlir::evoformer {

/// Writes the launch of one kernel for the gradients of query, key and value,
/// whose items have a head of a row each, where there are enough of these for a
/// chip, and the sums of the query's fit in `partialSumBytes` (-1: the memory
/// of the three gradients); and else `apart`.
void writeHeadProgram(TileBuilder &builder, KernelFactory &factory,
                      const AttentionFacts &facts,
                      const GradientOperands &operands,
                      const GradientSchedule &schedule, int64_t partialSumBytes,
                      function_ref<void(TileBuilder &)> apart);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HEADGRADIENTHOST_H
