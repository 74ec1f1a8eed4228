//===- WorkItem.h - What a work item reads of an attention ----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_WORKITEM_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_WORKITEM_H

#include "Kernels.h"
#include "Logits.h"
#include "SeenKeys.h"

namespace mlir::evoformer {

/// The elements of one dimension that an item's slices of memory cover.
struct ItemRange {
  Value start;
  OpFoldResult extent;
  /// Elements of a tile.
  int64_t block;
  /// Tiles at multiples of the block lie inside.
  bool fits;
  /// Where in sequences, where that is not the item's place: queries may share
  /// keys and values.
  struct Shared {
    Value batch = {}, row = {}, head = {};
  };
  Shared shared = {};
  /// Where the row may end before the dimension does: the elements that there
  /// are, while `extent` are those of the row, at least 0; else null.
  OpFoldResult wholeExtent = {};
  bool wholeFits = false;
  /// Of sequences that lie one behind the other, in memory that has no b: where
  /// the item's starts; else null.
  Value offset = {};
  /// Where not all that there are: how many loops go through, from the first.
  Value visited = {};

  /// The block of `size` elements' dimension at `start`, a multiple of `block`.
  static ItemRange ofBlock(TileBuilder &builder, OpFoldResult size, Value start,
                           int64_t block);
  /// A whole dimension, to be read block by block.
  static ItemRange whole(TileBuilder &builder, OpFoldResult size,
                         int64_t block);

  /// Of a row of so many elements, which starts at `offset` in memory: those
  /// behind its end read as zeros.
  ItemRange upTo(TileBuilder &builder, Value length, Value offset = {}) const;
  /// One of the parts of a block: so many elements, behind as many as parts
  /// before it have. There may be none of them.
  ItemRange part(TileBuilder &builder, int64_t number, int64_t size) const;
  bool mayEndEarly() const { return !wholeExtent.isNull(); }
  /// With all elements, as the logits have them.
  ItemRange all() const;
  /// What is written of sequences and statistics: all elements, but behind the
  /// end of a sequence another one starts.
  ItemRange written() const { return offset ? *this : all(); }
  /// i1 in a tile's shape, of which dimension `dim` starts at `offset` in the
  /// range: what the row has.
  Value isPresent(TileBuilder &b, ArrayRef<int64_t> shape, int64_t dim,
                  Value offset) const;
};

/// The elements [start, start + size) of the depth.
struct DepthPart {
  int64_t start, size;
};

/// Sums of many products lose digits of f32. Where the inputs have as many,
/// long sums are made of short ones.
SmallVector<DepthPart> cutDepth(Type elementType, int64_t depth);

/// Which keys the queries of these operands see; none: all of them. `exact`:
/// what lies behind the row's end counts as not seen.
std::optional<SeenKeys> makeSeenKeys(TileBuilder &builder,
                                     const KeyRange &range,
                                     const LogitShape &shape,
                                     const RowCounts &counts = {},
                                     ExactEnds exact = {});

/// The dimensions of the space of kernels whose items own a block of queries or
/// of keys, slowest first: such blocks share what the item loops over, heads
/// share cache lines, and the rows that share a pair bias come one after the
/// other.
struct SpaceOrder {
  unsigned batch = 0, rows = 1, head = 2, blocks = 3;

  /// Where a range makes blocks see more and more (or less and less), the long
  /// ones of all heads come before the short ones of any.
  static SpaceOrder of(const KeyRange &range) {
    SpaceOrder order;
    if (growsWith(range, LogitDim::Queries) || growsWith(range, LogitDim::Keys))
      std::swap(order.head, order.blocks);
    return order;
  }
};

/// One (batch, head) and ranges of rows, queries and keys; slices of memory
/// start where the ranges do.
struct WorkItem {
  TileBuilder &builder;
  /// Rows of depths start at multiples of getVectorBytes of their size.
  bool alignedRows;
  Value batch, head;
  ItemRange rows, queries, keys;
  /// The item has one block of keys (its range is that block), not all.
  bool ownsKeyBlock = false;
  /// Which keys its queries see; none: all of them.
  std::optional<SeenKeys> seen = {};
  /// Its loops are rarely run: better short than quick.
  bool isCareful = false;

  /// The item of that space: a block of queries with all keys, or a block of
  /// keys with all queries. Items that see much come first.
  static WorkItem find(TileBuilder &builder, bool alignedRows,
                       const LogitShape &shape, const AttentionBlocks &blocks,
                       const KeyRange &range, bool ownsKeyBlock = false);

  /// With the blocks along queries or keys that rarely run loops take: parts of
  /// those of others, where these have some.
  WorkItem withCarefulBlocks(LogitDim dim, int64_t parts = 1) const;

  /// Lets its row end where these counts say, as far as it has lengths; loops
  /// go through so many in any case.
  void endAt(const RowCounts &counts, const RowLengths &lengths);
  /// The same, where its row's lengths say, if there are any.
  void endRow(const LogitShape &shape, const KeyRange &range);
  /// With ranges as `written` and `all` give them.
  WorkItem withWritten() const;
  WorkItem withAll() const;

  /// With the keys and values that queries share.
  WorkItem withSharedKeys(const SharedKeys &shared) const;
  /// With this head of the queries, in a loop that `b` writes.
  WorkItem withHead(TileBuilder &b, Value head) const;

  /// The pairs of a tile that see each other, see LogitsTile::seen; null where
  /// the item sees all.
  Value findSeen(TileBuilder &b, const LogitsTile &tile) const;
  /// The blocks along `dim`, queries or keys, that the item's block of the
  /// other goes with; an item that does not see all.
  SeenBlocks findBlocks(TileBuilder &b, LogitDim dim) const;

  /// The positions `range` (queries or keys) of a sequence [b, n, h, s, d], as
  /// a memref [rows, s, d].
  Value sliceSequence(Value memory, const ItemRange &range) const;

  /// A tile [rows, positions, depth] of such a slice from `offset` on. A zero
  /// outside, for atoms wider than the depth and positions beyond the last:
  /// 0 * 0 adds nothing where a repeated infinity would make a NaN. With
  /// `anyOutside` positions beyond the last read as the last one: where nobody
  /// sees what they give, or where they are dropped anyway.
  Value load(TileBuilder &b, Value slice, Value offset, const ItemRange &range,
             DepthPart depth, bool anyOutside = false) const;
  /// Writes a tile to such a slice, from an element of the depth on.
  void store(Value tile, Value slice, const ItemRange &range,
             int64_t depth = 0) const;
  /// The same from position `offset` on, of a tile of the slice's type, whose
  /// positions all exist if it `fits`.
  void storeAt(TileBuilder &b, Value tile, Value slice, Value offset, bool fits,
               int64_t depth) const;

  /// `tile`, whose dimension 1 is the item's block of the range, with zeros
  /// behind the end of the row.
  Value clearAbsent(Value tile, const ItemRange &range) const;
  /// Writes tiles of parts of the depth, multiplied by a factor, to the
  /// positions of a sequence; zeros behind the row's end.
  void storeParts(ValueRange tiles, ArrayRef<DepthPart> parts, double factor,
                  Value memory, const ItemRange &range) const;

  /// The queries of statistics [b, n, h, s], as a memref [rows, s]; of stats
  /// [2, b, n, h, s] those of one of the two.
  Value sliceStatistic(Value memory) const;
  Value sliceStatistic(Value memory, int64_t which) const;
  /// A tile [rows, queries] of such a slice; `outside` is read beyond the last
  /// query, or the last query's.
  Value loadStatistic(TileBuilder &b, Value slice, Value offset,
                      std::optional<double> outside) const;

  /// Whoever launches a kernel pads the keys of biases to whole blocks.
  BiasSlice sliceBias(const Bias &bias, bool fillsZeros = false) const;
  /// Where it is, for the score of these logits.
  ScorePlace findPlace(const LogitShape &shape) const;
  /// What its logits depend on; `keySum` without memory: no prepared sum.
  LogitsSlices sliceLogits(const AttentionFacts &facts, const Bias &keySum,
                           ArrayRef<Bias> biases, ArrayRef<Bias> captures,
                           const LogitShape &shape,
                           bool fillsZeros = false) const;
  /// [rows, queries, keys] of a bias's gradient; of one that broadcasts over
  /// rows the one that it has.
  Value sliceBiasGradient(const Bias &gradient) const;
  /// The keys and queries of a slab, see GradientOperands, as a memref
  /// [rows, k, q]; a tile of it from a key (query) on.
  Value sliceSlab(Value slab) const;
  Value loadSlab(TileBuilder &b, Value slice, Value key) const;
  void storeSlab(TileBuilder &b, Value tile, Value slice, Value query) const;
  /// A table that a score looks up, with its entries.
  BiasSlice readTable(const Bias &table) const;
  /// The prepared sum is a bias without the query's dimension.
  BiasSlice sliceKeySum(const Bias &sum, int64_t unit) const;

  /// Keys that are dropped for all queries score 0, so that a NaN in them is
  /// not seen; -inf is added to their scores later. Once per key, this costs
  /// less than a choice per logit. `tile` is [rows, keys, depth].
  Value clearDropped(TileBuilder &b, const BiasSlice &keySum, Value tile,
                     Value offset) const;

  /// Whether the prepared sum drops every key: i1 [rows, queries].
  Value keepsNone(TileBuilder &b, const BiasSlice &keySum) const;

  /// Of the rows, along the depth, of a slice [rows, s, d].
  int64_t rowAlignment(Value slice) const;

private:
  /// The batch and the first position of a range in a sequence or statistic, of
  /// which dimension `dim` has the positions.
  std::pair<OpFoldResult, OpFoldResult>
  placeOf(const ItemRange &range, Value memory, int64_t dim) const;
  /// Where the item starts in a dimension of a bias.
  OpFoldResult offsetIn(const Bias &bias, int64_t dim) const;
  /// Of the keys of a bias, which are whole blocks.
  OpFoldResult keyExtent(Value memory, int64_t dim) const;
};

/// [rows, x, y] as [rows, y, x].
Value transposeLast(TileBuilder &b, Value tile);

/// a * b for tiles [rows, x, depth] and [rows, depth, y], added to `c` (null:
/// zero).
Value multiply(TileBuilder &b, Value x, Value y, Value c = {});

/// a * b^T for tiles [rows, x, depth] and [rows, y, depth], added to `c` (null:
/// zero).
Value multiplyTransposed(TileBuilder &b, Value x, Value y, Value c = {});

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_WORKITEM_H
