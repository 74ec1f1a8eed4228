//===- RowCounts.h - How many queries and keys rows have --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_ROWCOUNTS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_ROWCOUNTS_H

#include "../AttentionProblem.h"
#include "TileBuilder.h"

namespace mlir::evoformer {

/// What tells the sizes of the logits [b, n, h, q, k].
struct LogitShape {
  /// [b, n, h, s, d], or in the place of the query what has its sizes.
  Value query, key;
  RowLengths lengths;
  /// What bounds of keys are of besides sizes.
  KeyOffsets keyOffsets = {};

  /// The size of a dimension, read where `builder` is.
  OpFoldResult size(TileBuilder &builder, int64_t dim) const;
  /// The size of b for items that own queries, or keys: none where there are no
  /// such, whatever may be.
  Value countBatches(TileBuilder &builder, bool ofKeys) const;
};

/// How many queries or keys a row of [b, n] has, of `size` that there are:
/// lengths beyond are `size`, and negative ones 0.
Value loadLength(TileBuilder &b, Value lengths, Value batch, Value row,
                 OpFoldResult size);

/// Where in memory a sequence lies of those that lie one behind the other.
struct Span {
  Value start, length;

  /// Sequence `number` by the `starts` [b + 1] in `all` elements, of at most
  /// `most`. Whatever the numbers are, it lies inside.
  static Span load(TileBuilder &b, Value starts, Value number, OpFoldResult all,
                   OpFoldResult most);
};

/// The queries and keys of a row; null: all of them. And where they start in
/// memory; null: where the dimension does.
struct RowCounts {
  Value queries, keys;
  Value queryStart, keyStart;

  static RowCounts load(TileBuilder &b, const LogitShape &shape, Value batch,
                        Value row);
  /// None of the others where none of these is left from `first` on.
  RowCounts behindQuery(TileBuilder &b, Value first,
                        const LogitShape &shape) const;
  RowCounts behindKey(TileBuilder &b, Value first,
                      const LogitShape &shape) const;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_ROWCOUNTS_H
