//===- HeadSchedule.h - When items have heads -------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_HEADSCHEDULE_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_HEADSCHEDULE_H

#include "../Kernels/GradientKernels.h"

namespace mlir::evoformer {

/// Whether on this chip one kernel may be faster for the gradients of query,
/// key and value than one for the first and one for both others.
bool mayTakeHeads(tile::TargetAttr target);

/// Chooses how that kernel is cut; none: gradients are made apart.
std::optional<GradientSchedule>
chooseHeadSchedule(Location loc, StringRef function, tile::TargetAttr target,
                   const AttentionFacts &facts,
                   const GradientOperands &operands);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_HEADSCHEDULE_H
