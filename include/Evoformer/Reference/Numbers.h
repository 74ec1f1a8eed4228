//===- Numbers.h - Element types of the reference ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading elements from memory and rounding to their types. Everything under
// Reference is plain C++ that shares no code with the compiler it checks.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_REFERENCE_NUMBERS_H
#define EVOFORMER_REFERENCE_NUMBERS_H

#include <cstdint>

namespace mlir::evoformer::reference {

/// Element types in memory; an I1 takes a byte and is true if that is not 0.
enum class ElementType { F16, BF16, F32, F64, I1 };

/// Bytes of an element.
int64_t sizeOf(ElementType type);

/// The element at `index` (counted in elements) of `data`; I1 gives 0 or 1.
double readElement(const void *data, ElementType type, int64_t index);

/// Rounds `value` to `type`, to nearest, ties to even, and writes it.
void writeElement(void *data, ElementType type, int64_t index, double value);

/// `value` rounded to a floating-point type: nearest, ties to even, with
/// subnormals, overflow to infinity.
double roundTo(double value, ElementType type);

/// The distance of neighbouring numbers of a floating-point type at a finite
/// `value` (one unit in the last place).
double ulpOf(double value, ElementType type);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_REFERENCE_NUMBERS_H
