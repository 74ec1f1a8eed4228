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

/// Logits are in base 2 and in units of 16, times log2(e) / 16: then not even
/// the sum of ten lowest finite numbers is infinite, which would drop a key.
inline constexpr double kLogitUnit = 16;

/// The dimensions of logits.
enum class LogitDim { Rows, Queries, Keys };

/// The part of a bias that a work item reads: a memref with those of the
/// logits' dimensions that the bias has, in the order of the enumeration.
struct BiasSlice {
  Value memory;
  SmallVector<LogitDim, 3> dims;
  SmallVector<bool, 3> inBounds;
  bool isMask = false;
  /// Of whole vectors, in bytes; 0 if nothing is known.
  int64_t alignment = 0;
  /// What readBias gives, where it has been read before; else null.
  Value tile;
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

/// The bias of a tile of logits, in its shape: f32, or i1 for 'keep'.
Value readBias(TileBuilder &builder, const BiasSlice &bias,
               const LogitsTile &tile);

/// The logits, in their units and relative to the prepared maximum: scale *
/// scores + biases, and -inf for dropped keys whatever the scores hold there.
/// `scores` is a tile of f32. Every kernel adds the terms in the same order, so
/// that it rounds logits as the others do.
Value buildLogits(TileBuilder &builder, const LogitsSlices &slices,
                  const LogitsTile &tile, Value scores);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_LOGITS_H
