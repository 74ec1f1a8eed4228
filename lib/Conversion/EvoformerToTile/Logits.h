//===- Logits.h - Logits of one tile ------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_LOGITS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_LOGITS_H

#include "AttentionProblem.h"
#include "TileBuilder.h"

namespace mlir::evoformer {

/// The part of a bias that a work item reads: a memref with those of the tile's
/// dimensions (rows, queries, keys) that the bias has.
struct BiasSlice {
  Value memory;
  SmallVector<int64_t, 3> dims;
  SmallVector<bool, 3> inBounds;
  bool isMask;
  /// Of whole vectors, in bytes; 0 if nothing is known.
  int64_t alignment = 0;
};

/// What the logits of one work item depend on besides the scores.
struct LogitsSlices {
  /// Null memory: no prepared sum.
  BiasSlice keySum;
  SmallVector<BiasSlice> biases;
  float scale;
  /// Drop a key where the biases' sum is -inf whatever its scores hold, at two
  /// instructions a logit; else a NaN score is one of the logits there.
  bool chooseDrops = false;
};

/// The logits, in base 2 and relative to the prepared maximum, of the keys from
/// `keyOffset` on: scale * scores + biases, and -inf for dropped keys whatever
/// the scores hold there. `scores` is a tile [rows, queries, keys] of f32.
Value buildLogits(TileBuilder &builder, const LogitsSlices &slices,
                  Value scores, Value keyOffset);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_LOGITS_H
