//===- GradientHost.h - The host side of a gradient -----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_GRADIENTHOST_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_GRADIENTHOST_H

#include "../Kernels/GradientKernels.h"
#include "../Schedules/SizedCuts.h"

namespace mlir::evoformer {

/// How a recomputation is cut, and how it is instead where sizes ask for it.
struct GradientSchedules {
  GradientSchedule usual;
  SmallVector<SizedCut, 2> cuts;
};

/// Writes, at the builder's place, the launches of one recomputation.
/// `operands` has no key sum yet, and all biases as they are. Partial sums take
/// at most so many bytes; -1: those of the gradients of query, key and value.
void writeGradientProgram(TileBuilder &builder, KernelFactory &factory,
                          const AttentionFacts &facts,
                          const GradientOperands &operands,
                          const GradientSchedules &schedules,
                          int64_t partialSumBytes);

/// Whether one kernel of the target may compute all gradients.
bool mayBeJoint(tile::TargetAttr target);

/// Writes the launches of one recomputation for the gradients of key and value
/// and others, at most one of them that of a bias that is summed: one kernel
/// where sizes give it enough items and memory, and else `apart`.
void writeJointProgram(TileBuilder &builder, KernelFactory &factory,
                       const AttentionFacts &facts,
                       const GradientOperands &operands,
                       int64_t partialSumBytes,
                       function_ref<void(TileBuilder &)> apart);

/// Writes the launch of the first step.
void writeDeltaProgram(TileBuilder &builder, KernelFactory &factory,
                       const DeltaOperands &operands);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_GRADIENTHOST_H
