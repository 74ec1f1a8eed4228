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

/// Bytes of a barrier object in workgroup memory.
inline constexpr int64_t kBarrierBytes = 8;

/// Bytes of a slot: an object that tells of arrival, and behind it one that
/// tells of release where subgroups do.
constexpr int64_t getSlotBytes(bool released) {
  return released ? 2 * kBarrierBytes : kBarrierBytes;
}

/// The types of a kernel's arguments that launches pass: all but the tensor
/// maps, which come last.
llvm::ArrayRef<Type> getPassedTypes(KernelOp kernel);

/// Whether boxes are of such elements.
bool isBoxElement(Type type);

/// How boxes fill a tile in workgroup memory: side by side along its rows.
struct BoxTiling {
  /// Of a box, the slowest dimension first: those of more than one element.
  /// Rows may go on where the tile's have ended, up to the next one.
  llvm::SmallVector<int64_t> sizes;
  int64_t count = 1;
  /// The bytes of a row within which pieces of 16 change places, 0: none do.
  int64_t swizzle = 0;

  int64_t getNumElements() const;
};

/// Nothing where memory of this type has gaps that no box can fill, or a
/// swizzle that tensor maps do not know ("Parallel Thread Execution ISA",
/// 'Swizzling modes').
std::optional<BoxTiling> findBoxTiling(MemRefType memory);

/// The dimensions of more than one element.
llvm::SmallVector<int64_t> getWideSizes(llvm::ArrayRef<int64_t> sizes);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_BOXES_H
