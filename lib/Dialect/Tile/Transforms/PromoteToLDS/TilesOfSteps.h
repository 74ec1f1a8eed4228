//===- TilesOfSteps.h - Tiles of all iterations of a loop -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a loop of few iterations reads tile by tile, as one tile before it.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_TILESOFSTEPS_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_TILESOFSTEPS_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::evoformer::tile {

/// A loop from 0 by 1 inside of another one, of which it is known that it has
/// one iteration and at most `most`, which are 8 or fewer: to a constant, or to
/// maxui(minui(count, constant), 1). Where there is none, tiles stay as they
/// are, and have no dimension (-1) along which others lie.
struct FewSteps {
  scf::ForOp loop;
  int64_t most = 0;

  /// That around `op`; none where there is no such loop.
  static FewSteps around(Operation *op);

  explicit operator bool() const { return most > 1; }
  /// Whether it always has the most.
  bool hasAll() const;
  /// Whether all iterations find `value` before them.
  bool isBefore(Value value) const;

  /// The dimension along which the tiles of `load` lie behind each other in
  /// memory from iteration to iteration, -1 where all read the same; nothing
  /// where neither is known.
  std::optional<int64_t> findDim(LoadOp load) const;

  /// `type` with the tiles of all iterations along `dim`.
  RankedTensorType widen(RankedTensorType type, int64_t dim) const;
  /// What the load reads in the first iteration, and how much of it is inside.
  SmallVector<Value> getFirstIndices(OpBuilder &before, LoadOp load) const;
  DenseBoolArrayAttr getInBounds(LoadOp load, int64_t dim) const;
  /// Where in the tile of all iterations one finds its own.
  Value getOffset(OpBuilder &inside, Location loc, LoadOp load,
                  int64_t dim) const;
};

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_TILESOFSTEPS_H
