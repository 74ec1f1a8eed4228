//===- TileDepths.h - How deep tiles are ----------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_TILEDEPTHS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_TILEDEPTHS_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer {

/// How many elements tiles have of the rows of query and key, and of value.
struct TileDepths {
  int64_t depth, valueDepth;
};

/// Those of the rows, or more, of which the rest is zero: where products of
/// several subgroups pay, which take whole steps of the depth
/// (docs/rationale/tile-depths.md).
TileDepths chooseTileDepths(tile::TargetAttr target, Type elementType,
                            TileDepths rows);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_TILEDEPTHS_H
