//===- Boxes.h - How boxes lie in workgroup memory --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_BOXES_H
#define EVOFORMER_DIALECT_TILE_IR_BOXES_H

#include "Evoformer/Dialect/Tile/IR/SharedLayout.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// Bytes of a slot's barrier object in workgroup memory.
inline constexpr int64_t kSlotBytes = 8;

/// The types of a kernel's arguments that launches pass: all but the tensor
/// maps, which come last.
llvm::ArrayRef<Type> getPassedTypes(KernelOp kernel);

/// Whether boxes are of such elements.
bool isBoxElement(Type type);

/// Whether a box of these sizes, the slowest dimension first, fills memory of
/// this type from its first byte to the last: the dimensions of more than one
/// element are the same, in the same order, without gaps.
bool isFilledByBox(MemRefType memory, llvm::ArrayRef<int64_t> box);

/// The bytes of a row for which tensor maps know this swizzle, 0 for none;
/// nothing where they do not know it ("Parallel Thread Execution ISA",
/// 'Swizzling modes').
std::optional<int64_t> getSwizzledRowBytes(const Swizzle &swizzle);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_BOXES_H
