//===- ConsecutiveCopy.h - Lanes that follow each other ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_CONSECUTIVECOPY_H
#define EVOFORMER_DIALECT_TILE_IR_CONSECUTIVECOPY_H

#include "Evoformer/Dialect/Tile/IR/LaneMap.h"

namespace mlir::evoformer::tile {

/// The bytes of a piece, if a copy by `map` to memory of these strides (in
/// elements, the dimension of stride 1 contiguous) is one that an engine of
/// kind `consecutive` does: all lanes have pieces of that size, each lane's
/// next to the one of the lane before, and every lane of every subgroup its
/// own. 0 where it is not.
int64_t getConsecutiveBytes(const LaneMap &map, llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<int64_t> strides,
                            int64_t elementBytes);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_CONSECUTIVECOPY_H
