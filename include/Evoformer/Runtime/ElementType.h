//===- ElementType.h - Element types of buffers -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element types that buffers of a launch plan hold, their sizes and names.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_ELEMENTTYPE_H
#define EVOFORMER_RUNTIME_ELEMENTTYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::evoformer::runtime {

/// An i1 takes one byte an element in memory, 0 or 1.
enum class ElementType { I1, I8, I16, I32, I64, F16, BF16, F32, F64 };

/// Bytes of one element in memory.
unsigned getByteSize(ElementType type);

bool isFloat(ElementType type);

/// The name in MLIR's syntax: `f32`, `bf16`, `i1`, …
llvm::StringRef getName(ElementType type);

/// The inverse of getName.
std::optional<ElementType> parseElementType(llvm::StringRef name);

/// Product of `shape` times the element size; nullopt when it overflows 63
/// bits or a size is negative.
std::optional<int64_t> getByteCount(ElementType type,
                                    llvm::ArrayRef<int64_t> shape);

/// The element at `data` as a double (i1 and integers exactly).
double readElement(ElementType type, const char *data);

/// Stores `value`, rounded to nearest even, as an element at `data`.
void writeElement(ElementType type, double value, char *data);

/// `2x3xf32`.
std::string formatShape(ElementType type, llvm::ArrayRef<int64_t> shape);

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_ELEMENTTYPE_H
