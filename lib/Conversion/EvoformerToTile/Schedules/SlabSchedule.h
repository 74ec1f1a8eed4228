//===- SlabSchedule.h - When slabs pay --------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_SLABSCHEDULE_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_SLABSCHEDULE_H

#include "../Kernels/GradientKernels.h"

namespace mlir::evoformer {

/// Whether on this chip it may be faster to store the gradients of logits, and
/// read them again, than to make them again.
bool mayStoreSlabs(tile::TargetAttr target);

/// Chooses how the kernels that store and read slabs are cut; false: gradients
/// are made apart.
bool chooseSlabSchedules(Location loc, StringRef function,
                         tile::TargetAttr target, const AttentionFacts &facts,
                         SlabGradients &gradients);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_SLABSCHEDULE_H
