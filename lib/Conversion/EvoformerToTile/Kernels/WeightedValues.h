//===- WeightedValues.h - What becomes of a sum of values -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_WEIGHTEDVALUES_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_WEIGHTEDVALUES_H

#include "WorkItem.h"

namespace mlir::evoformer {

/// Where weights are logits: rows whose divisor is less give 0. It is f32's
/// smallest normal number, whose quotients are numbers, too.
inline constexpr double kLeastDivisor = 0x1p-126;

/// In a row of so few elements the errors of its weights do not average out:
/// what narrowing them takes away is added as well.
inline constexpr int64_t kFewElements = 16;

/// What may have either sign, in the inputs' type: rounded. With `fastRounding`
/// the target does that to bf16 in one instruction, or speed is no matter.
Value narrowSigned(TileBuilder &builder, Value tile, Type element,
                   bool fastRounding);

/// Stores the depth parts of an item's sums of weighted values as its output:
/// times `inverse` [rows, queries], 0 where a query is `empty`, whatever the
/// sums are, and through the gate.
void storeWeightedValues(const WorkItem &item,
                         const AttentionOperands &operands,
                         ArrayRef<DepthPart> parts, ArrayRef<Value> sums,
                         Value inverse, Value empty);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_WEIGHTEDVALUES_H
