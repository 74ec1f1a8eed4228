//===- GradientSchedule.h - How gradients are cut ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_GRADIENTSCHEDULE_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_GRADIENTSCHEDULE_H

#include "../Kernels/GradientKernels.h"
#include "AttentionSchedule.h"

namespace mlir::evoformer {

/// The cut of the kernel for the gradients that `operands` has: what `request`
/// forces, and for the rest the largest that fits. What cannot be done is an
/// error at `loc`.
FailureOr<GradientSchedule> chooseGradientSchedule(
    Location loc, StringRef function, tile::TargetAttr target,
    const GradientOperands &operands, const AttentionFacts &facts,
    const ScheduleRequest &request);

/// Whether one recomputation serves the gradients of the query and of a bias
/// that is summed, which `operands` has: all keys are known and fit a tile.
bool fitsWithQuery(Location loc, tile::TargetAttr target,
                   const GradientOperands &operands,
                   const AttentionFacts &facts, const ScheduleRequest &request);

/// Whether the gradients of key and value, which `operands` has, are better
/// summed by a kernel each: together they leave registers for no schedule, or
/// for none whose products are as quick.
bool sumsKeysAndValuesApart(Location loc, tile::TargetAttr target,
                            const GradientOperands &operands,
                            const AttentionFacts &facts,
                            const ScheduleRequest &request);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_GRADIENTSCHEDULE_H
