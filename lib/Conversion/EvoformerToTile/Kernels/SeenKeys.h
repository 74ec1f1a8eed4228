//===- SeenKeys.h - Which keys go with which queries ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_SEENKEYS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_SEENKEYS_H

#include "../AttentionProblem.h"
#include "Logits.h"

namespace mlir::evoformer {

/// The blocks, by number, of one dimension of the logits that a block of the
/// other goes with: those of [begin, end) are visited, and in those of
/// [fullBegin, fullEnd), which lie among them, every pair counts.
struct SeenBlocks {
  Value begin, end, fullBegin, fullEnd;
  /// Whether blocks before the full ones, and behind them, may be visited.
  bool hasLow, hasHigh;
  /// Whether at most one is on an edge: the last of a row, which ends in it.
  bool isOneEdge = false;
};

/// Whether later queries (keys) go with more of the other dimension, so that
/// the last blocks take longest.
bool growsWith(const KeyRange &range, LogitDim dim);

/// Behind the last of which nothing is seen: tiles say so. Else what is there
/// does not matter.
struct ExactEnds {
  bool queries = false, keys = false;
};

/// A range of keys with the sizes and sums of operands that its bounds are of.
class SeenKeys {
public:
  SeenKeys(const KeyRange &range, Value numQueries, Value numKeys,
           ExactEnds exact = {}, const KeyOffsets &offsets = {})
      : from(makeBound(range.from, offsets.from)),
        to(makeBound(range.to, offsets.to)), moves(range.moves()),
        numQueries(numQueries), numKeys(numKeys), exact(exact) {}

  bool isExact(LogitDim dim) const {
    return dim == LogitDim::Keys ? exact.keys : exact.queries;
  }

  /// The blocks of `block` along `dim`, queries or keys, that the elements
  /// [first, last] of the other dimension go with. Null `isFull`: all of these
  /// elements count; else they do where it holds.
  SeenBlocks find(TileBuilder &b, LogitDim dim, int64_t block, Value first,
                  Value last, Value isFull = {}) const;

  /// i1 in the shape of `tile`, which starts at a query and a key: the pairs
  /// that count. With `sumsQueries` there are none of queries beyond the last,
  /// which would see keys that no other does.
  Value isSeen(TileBuilder &b, const LogitsTile &tile, Value firstQuery,
               Value firstKey, bool sumsQueries) const;

private:
  /// A bound with what its operands add, see KeyOffsets; null: it has none.
  struct Bound : KeyBound {
    Value offset;
  };
  static std::optional<Bound> makeBound(const std::optional<KeyBound> &bound,
                                        Value offset) {
    return bound ? std::optional<Bound>({*bound, offset}) : std::nullopt;
  }

  /// What of a bound does not depend on the query.
  Value getOffset(TileBuilder &b, const Bound &bound) const;
  /// A bound of keys for a query, within [0, numKeys].
  Value at(TileBuilder &b, const Bound &bound, Value query) const;
  /// The first query whose bound is beyond a key, within [0, numQueries].
  Value firstBeyond(TileBuilder &b, const Bound &bound, Value key) const;

  std::optional<Bound> from, to;
  /// Whether queries see different keys.
  bool moves;
  Value numQueries, numKeys;
  ExactEnds exact;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_SEENKEYS_H
