//===- CooperativeCopy.h - All lanes copy a tile ----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_COOPERATIVECOPY_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_COOPERATIVECOPY_H

#include "Evoformer/Dialect/Tile/IR/LaneMap.h"

#include <vector>

namespace mlir::evoformer::tile {

/// A layout by which a whole workgroup copies a tile, every element once.
struct CooperativeCopy {
  /// Registers run along the source's contiguous dimension and, where another
  /// one is contiguous in the destination, then along that.
  LaneMap map;
  int64_t bytes; ///< of one access to the source
};

/// Layouts for a tile of this shape, from a source contiguous along
/// `sourceDim` to a destination contiguous along `destDim`, best coalescing
/// first; an access to the source moves at most `maxBytes`. Where a tile is
/// smaller than the workgroup the box reaches beyond the tile, so that the
/// lanes that are left over copy nothing (and no two write the same element).
/// `pastRegisters`: whether copies pass these by.
std::vector<CooperativeCopy>
getCooperativeCopies(llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
                     int64_t sourceDim, int64_t destDim, int64_t maxBytes,
                     int64_t lanes, int64_t subgroups, bool pastRegisters);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_COOPERATIVECOPY_H
