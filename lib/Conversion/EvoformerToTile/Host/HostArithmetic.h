//===- HostArithmetic.h - Sizes and counts of host programs ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HOSTARITHMETIC_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HOSTARITHMETIC_H

#include "../Kernels/GradientKernels.h"

namespace mlir::evoformer {

/// Of values that are there; null ones count as 1.
Value getProduct(TileBuilder &builder, ArrayRef<Value> values);

/// The number of elements of a memref.
Value countElements(TileBuilder &builder, Value memory);

/// What a condition is where sizes make it known.
std::optional<bool> evaluate(Value condition);

Value atLeastOne(TileBuilder &builder, Value value);
Value atMost(TileBuilder &builder, Value value, Value limit);
Value ceilDiv(TileBuilder &builder, Value value, Value divisor);

/// The work items that fill the largest device of a chip.
int64_t getWantedItems(tile::TargetAttr target);

/// Which number of turns is worth more, where several leave few workgroups
/// idle.
enum class Turns { Few, Many };

/// How many times `items` workgroups let those that a chip holds `atOnce` take
/// turns of which the last is almost full: of one to `mostTurns` turns, or
/// where none is, the fullest, of equal ones the most, among which idle
/// workgroups are spread. Turns that take more than `most` times do not count.
Value fillTurns(TileBuilder &builder, Value items, int64_t atOnce,
                int64_t mostTurns, Turns preferred, Value most);

/// The bytes that partial sums may take: `partialSumBytes` or, where that is
/// -1, those of the gradients of query, key and value.
Value getPartBudget(TileBuilder &builder, const GradientOperands &operands,
                    int64_t partialSumBytes);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_HOST_HOSTARITHMETIC_H
