//===- ReachedMemory.h - Memory behind a product ----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_REACHEDMEMORY_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_REACHEDMEMORY_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// A load or store of a tile whose layout follows from a product's result:
/// elementwise work, transposes, broadcasts and loops lie between them.
struct ReachedMemory {
  Operation *access;
  RankedTensorType tile;
  MemRefType memory;
  /// Which dimension of the result each dimension of the tile is.
  SmallVector<int64_t> dims;
};
SmallVector<ReachedMemory> findReachedMemory(MmaOp mma);

/// How many accesses of a lane such a tile takes where the result has this map:
/// they move what consecutive registers hold along the memory's contiguous
/// dimension.
int64_t countAccesses(const ReachedMemory &reached, const LaneMap &result);

/// A load that an operand of a product holds, through elementwise work and
/// transposes, and which dimension of the load's tile each of the operand's is.
struct LoadedOperand {
  LoadOp load;
  SmallVector<int64_t> dims;
};
SmallVector<LoadedOperand> findLoadedOperands(Value operand);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_REACHEDMEMORY_H
