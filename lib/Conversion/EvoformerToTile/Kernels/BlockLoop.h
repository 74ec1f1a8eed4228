//===- BlockLoop.h - The blocks that a work item visits ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_BLOCKLOOP_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_BLOCKLOOP_H

#include "WorkItem.h"
#include <functional>

namespace mlir::evoformer {

/// The logits [b, n, h, q, k] of an attention, cut into blocks.
struct BlockGrid {
  /// Of a block, in the order of BiasDim.
  using Place = std::array<Value, 5>;

  std::array<OpFoldResult, 5> sizes;
  std::array<int64_t, 5> block;
  /// Which keys and values queries share.
  SharedKeys sharedKeys = {};
  /// Which keys queries see, where all rows are as long; none: all of them.
  std::optional<SeenKeys> seen = {};
  /// What an attention says besides sizes.
  LogitShape shape = {};
  KeyRange range = {};
  /// Of all blocks, where `findCounts` has found them to be the same.
  std::optional<RowCounts> counts = {};

  static BlockGrid of(TileBuilder &builder, const LogitShape &shape,
                      const AttentionBlocks &blocks);
  /// With what an attention says besides sizes.
  static BlockGrid of(TileBuilder &builder, const LogitShape &shape,
                      const AttentionBlocks &blocks,
                      const AttentionFacts &facts);

  /// How many there are along a dimension.
  Value count(TileBuilder &builder, int64_t dim) const;
  /// The first element of a block along a dimension.
  Value origin(TileBuilder &builder, const Place &place, int64_t dim) const;
  /// Whether blocks that differ in the dimensions which `moves` has are of rows
  /// with the same lengths.
  bool haveEqualLengths(const std::array<Value, 5> &moves) const;
  /// Reads the lengths of a place once, for all of whose row.
  void findCounts(TileBuilder &builder, const Place &place);
  /// Whether some pairs of a block may not see each other.
  bool mayMask() const { return !range.isWhole() || shape.lengths.any(); }
  /// The item that has one block.
  WorkItem itemAt(TileBuilder &builder, const Place &place,
                  bool alignedRows) const;
};

/// The place of the block with the number `step` of those along the dimensions
/// that have a count, the last one fastest. In the others it is that of
/// `place`.
BlockGrid::Place findPlace(TileBuilder &builder, BlockGrid::Place place,
                           const std::array<Value, 5> &counts, Value step);

/// A tile of logits on an item's way.
struct BlockStep {
  /// What the tile is read from: slices of memory start where its ranges do.
  WorkItem item;
  /// Its shape and order, and where it lies in those slices.
  LogitsTile tile;

  /// The tile of an item that starts so far from where its slices do.
  static LogitsTile makeTile(const WorkItem &item, bool keysFirst,
                             const std::array<Value, 3> &offsets);

  Value offset(LogitDim dim) const {
    return tile.offsets[static_cast<unsigned>(dim)];
  }
};

/// The way of a work item from one tile of logits to the next: the loop of all
/// kernels that compute logits. Which tiles there are is known here alone:
/// where queries see a range of keys, blocks outside of it are not visited;
/// those on its edges, where a tile says which pairs count, come first, in a
/// loop of their own.
class BlockLoop {
public:
  /// Along the queries or keys of `item`, in its blocks. Items stay, and so do
  /// slices of their memory; offsets move.
  static BlockLoop along(TileBuilder &builder, LogitDim dim,
                         const WorkItem &item, bool keysFirst = false);

  /// The blocks along queries or keys that `along` does not visit, of what is
  /// written.
  static BlockLoop outside(TileBuilder &builder, LogitDim dim,
                           const WorkItem &item);

  /// From block to block of `grid`, one number for all dimensions that move,
  /// the last one fastest: from `first` to before `end`. `place` has the others
  /// and `counts` how many blocks there are along those that move, null along
  /// the others. Each step is an item of its own. Where neither queries nor
  /// keys move, nor lengths, tiles are not masked: that is for who sums them to
  /// do, once.
  static BlockLoop through(TileBuilder &builder, const BlockGrid &grid,
                           bool alignedRows, const BlockGrid::Place &place,
                           const std::array<Value, 5> &counts, Value first,
                           Value end, bool keysFirst);

  /// The same with each block in so many equal parts along `dim`, one after the
  /// other in a loop of their own, as far as there are any: what they read can
  /// be copied as a block, and registers hold a part.
  BlockLoop inParts(LogitDim dim, int64_t count) const;

  /// What surrounds the parts of a block.
  struct Around {
    std::function<void(TileBuilder &, const BlockStep &)> before;
    /// As a step: given what the last part has left, it gives what it leaves.
    std::function<SmallVector<Value>(TileBuilder &, const BlockStep &,
                                     ValueRange)>
        behind;
  };
  /// The same with something around the parts of each block. All of them are
  /// computed then, those without queries (keys) as well.
  BlockLoop withAround(Around around) const;

  /// A dimension of tiles that is the item's block of keys (queries).
  struct Owned {
    LogitDim dim;
    int64_t tileDim = 1;
  };
  /// The same where all that steps leave are tiles with these dimensions:
  /// subgroups without any of the block's keys (queries) may skip steps. What
  /// these add behind the end of the row must be 0, or not be read.
  BlockLoop skippingIdle(ArrayRef<Owned> owned) const;

  /// Writes the loop: `body` is given what the step before has left, at first
  /// `start`. Gives what the last one has left.
  SmallVector<Value>
  run(TileBuilder &builder, ValueRange start,
      function_ref<SmallVector<Value>(TileBuilder &, const BlockStep &,
                                      ValueRange)>
          body) const;

private:
  /// The step at a value of the loop's variable, with a builder inside of it.
  using StepAt = std::function<BlockStep(TileBuilder &, Value)>;

  /// Steps along an item; `isMasked`: a tile says which pairs count.
  static StepAt stepsAlong(TileBuilder &builder, LogitDim dim,
                           const WorkItem &item, bool keysFirst, bool isMasked);

  /// Steps through a grid.
  struct GridSteps {
    BlockGrid grid;
    bool alignedRows;
    BlockGrid::Place place;
    std::array<Value, 5> counts;
    bool keysFirst;

    /// `move` makes blocks of what a number says along dimensions that move.
    using MoveFn = std::function<void(TileBuilder &, BlockGrid::Place &)>;
    StepAt at(bool isMasked, MoveFn move = {}) const;
  };
  /// The steps from `first` to before `end` of those through what the block of
  /// queries (keys) goes with, where keys (queries) move.
  void addRange(TileBuilder &builder, const GridSteps &steps, LogitDim along,
                const SeenBlocks &blocks, Value first, Value end);

  /// One loop of those that follow each other.
  struct Part {
    Value first, end, step;
    StepAt stepAt;
    /// Whether a step has anything to do; null: each has.
    std::function<Value(TileBuilder &, const BlockStep &)> isNeeded = {};
  };

  /// Those of `step` along `dim`; `hasAll`: also those beyond the last query
  /// (key).
  static BlockLoop inside(TileBuilder &builder, const BlockStep &step,
                          LogitDim dim, int64_t count, bool hasAll);

  /// `next`, or `before` in subgroups for which the step has nothing.
  SmallVector<Value> skipIdle(TileBuilder &b, const BlockStep &step,
                              ValueRange before, ValueRange next) const;

  SmallVector<Part, 2> parts;
  /// What subgroups must have any of lest they skip steps.
  SmallVector<Owned, 2> owned = {};
  /// Makes the loop of a step's parts; null: it has one.
  std::function<BlockLoop(TileBuilder &, const BlockStep &, bool hasAll)>
      partsOf = {};
  std::optional<Around> around = {};
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_BLOCKLOOP_H
