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

/// The dimensions of logits.
enum class LogitDim { Rows, Queries, Keys };

/// The part of a bias that a work item reads: a memref with those of the
/// logits' dimensions that the bias has, in the order of the enumeration.
struct BiasSlice {
  Value memory;
  SmallVector<LogitDim, 3> dims;
  SmallVector<bool, 3> inBounds;
  bool isMask;
  /// Of whole vectors, in bytes; 0 if nothing is known.
  int64_t alignment = 0;
};

/// A tile of logits: [rows, queries, keys], or [rows, keys, queries].
struct LogitsTile {
  SmallVector<int64_t, 3> shape;
  bool keysFirst = false;
  /// Where the tile starts in the slices, by LogitDim.
  std::array<Value, 3> offsets;

  int64_t getPosition(LogitDim dim) const {
    if (dim == LogitDim::Rows)
      return 0;
    return (dim == LogitDim::Keys) == keysFirst ? 1 : 2;
  }
  /// Repeats a tile with the dimensions `dims`, ascending, of the logits.
  Value broadcast(TileBuilder &builder, Value tile,
                  ArrayRef<LogitDim> dims) const;
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

/// What biases contribute to a tile of logits.
struct LogitsTerms {
  /// In base 2; null: nothing.
  Value sum;
  /// Of masks: which keys to keep.
  SmallVector<Value> keeps;
  /// Float biases of the query are in the sum.
  bool hasQueryTerms = false;
};

/// Loads what `slices` has and adds it.
void addTerms(TileBuilder &builder, const LogitsSlices &slices,
              const LogitsTile &tile, LogitsTerms &terms);

/// The logits, in base 2 and relative to the prepared maximum: scale * scores +
/// biases, and -inf for dropped keys whatever the scores hold there. `scores`
/// is a tile of f32; `terms` is what else the logits have, computed before.
Value buildLogits(TileBuilder &builder, const LogitsSlices &slices,
                  const LogitsTile &tile, Value scores, LogitsTerms terms = {});

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_LOGITS_H
