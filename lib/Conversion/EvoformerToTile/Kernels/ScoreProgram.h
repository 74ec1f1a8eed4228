//===- ScoreProgram.h - A score region on tiles -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the region says of one pair is done for a tile of pairs. Each op works
// on the smallest shape that its operands have: a number where they are the
// same for the whole item, one number a row, a query or a key, or one a pair.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_SCOREPROGRAM_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_SCOREPROGRAM_H

#include "../AttentionProblem.h"
#include "TileBuilder.h"

namespace mlir::evoformer {

struct LogitsSlices;
struct LogitsTile;

/// The region's arguments for an item, as indices.
struct ScorePlace {
  /// Where slices start that tiles have offsets in.
  Value batch, row, head, query, key;
  Value numQueries, numKeys;
  /// Whether tiles lie inside of the row.
  bool queriesFit, keysFit;
};

/// What the region yields for a tile with these scores, in its shape.
SmallVector<Value> applyScore(TileBuilder &builder, const LogitsSlices &slices,
                              const LogitsTile &tile, Value scores);

/// Writes functions of the op's region that no target has with those that all
/// have, in few operations.
void expandScore(Operation *op);

/// Whether all that the score does is to add to the product what does not
/// depend on it.
bool isScoreSum(Block &body);

/// sum + factor * what a score that is a sum adds, for a tile with these
/// offsets, in its shape. A null sum is 0, and so is a null result.
Value addScoreSummands(TileBuilder &builder, const LogitsSlices &slices,
                       const LogitsTile &tile, double factor, Value sum);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_SCOREPROGRAM_H
