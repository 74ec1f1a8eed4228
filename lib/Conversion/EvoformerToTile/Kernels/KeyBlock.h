//===- KeyBlock.h - The sums of a block of keys over queries ----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_KEYBLOCK_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_KEYBLOCK_H

#include "LogitRecompute.h"
#include <vector>

namespace mlir::evoformer {

/// A block of keys of an item, and the gradients of key and value summed over
/// all queries.
class KeyBlock {
public:
  /// What else becomes of a tile of logits: the step, what has been computed,
  /// the gradients of its logits in the inputs' type, and what the step before
  /// has left. Gives what it leaves. Where blocks are computed in parts, the
  /// step is a whole one, and of what has been computed it is given the
  /// gradients alone, which any subgroup reads.
  using Beside = function_ref<SmallVector<Value>(
      TileBuilder &, const BlockStep &, const LogitRecompute::Recomputed &,
      Value, ValueRange)>;

  /// With `keysFirst` tiles of logits are [rows, keys, queries].
  KeyBlock(const LogitRecompute &shared, const WorkItem &item, bool keysFirst);

  /// The parts of the item's block that a step takes one after the other.
  static std::vector<KeyBlock> cut(const LogitRecompute &shared,
                                   const WorkItem &item, bool keysFirst);

  /// Depth parts of the keys.
  ArrayRef<Value> getKeys() const { return keys.key; }

  /// Writes the loop over queries and stores the gradients that are wanted.
  /// What is made again with care is beside again, too.
  void write(Beside beside = {}) const;
  /// The same for blocks of `item`, in one loop that reads queries once for all
  /// of them. What is made again with care, each makes for itself.
  static void write(const WorkItem &item, const std::vector<KeyBlock> &blocks);
  /// The same with what is beside once, from `start` on. Gives what it leaves.
  SmallVector<Value> writeOnce(Beside beside, ValueRange start) const;

  /// Depth parts of the gradients; none where not wanted.
  struct Sums {
    SmallVector<Value> key, value;
    /// Where the value's gradient is summed with care: how many elements that
    /// are NaN or infinite belong to it.
    SmallVector<Value> spoilt;
    /// What is beside, if it leaves anything.
    SmallVector<Value> beside;

    /// What a loop carries.
    SmallVector<Value> carried() const {
      return llvm::to_vector(
          llvm::concat<const Value>(key, value, spoilt, beside));
    }
    Sums with(ValueRange carried) const {
      auto take = [&](ArrayRef<Value> like) {
        SmallVector<Value> taken(carried.take_front(like.size()));
        carried = carried.drop_front(like.size());
        return taken;
      };
      Sums sums;
      sums.key = take(key);
      sums.value = take(value);
      sums.spoilt = take(spoilt);
      sums.beside = take(beside);
      return sums;
    }
  };

  /// Zeros for the gradients that are wanted.
  static Sums start(TileBuilder &b, const LogitRecompute &shared);
  /// Adds to `start` what the item's head has, or with a careful `recompute`
  /// what it has without all that is dropped.
  Sums sumQueries(TileBuilder &outer, const LogitRecompute &recompute,
                  const Sums &start, Beside beside = {}) const;
  /// Adds a loop's sums to `start`.
  using SumLoop = function_ref<Sums(
      TileBuilder &, const LogitRecompute &recompute, const Sums &start)>;
  /// What the loop makes of zeros, and of those sums that are NaN what it makes
  /// with care; what starts as `beside` is not made again.
  static Sums sumWithCare(TileBuilder &builder, const LogitRecompute &shared,
                          SumLoop loop, ValueRange beside = {});
  /// `first`, or what the loop makes with care of those that are NaN.
  static Sums mend(TileBuilder &builder, const LogitRecompute &shared,
                   const Sums &first, SumLoop loop);
  /// The same where heads have dropped keys of their own: what others leave.
  Sums addCleared(TileBuilder &b, const Sums &sums) const;
  /// Stores them where the gradients lie; with `slices` what the prepared sum
  /// drops is cleared.
  static void store(const LogitRecompute &shared, const WorkItem &item,
                    const Sums &sums, const LogitRecompute::Slices *slices,
                    Value keyGrad, Value valueGrad);

private:
  static Sums start(TileBuilder &b, const LogitRecompute &shared, bool ofKey,
                    bool ofValue);
  /// What this item's head adds to zeros, and its steps to `start` beside.
  Sums sum(Beside beside = {}, bool isRepeated = true,
           ValueRange start = {}) const;
  /// The loop over an item's queries.
  static BlockLoop overQueries(TileBuilder &builder,
                               const LogitRecompute &recompute,
                               const WorkItem &item, bool keysFirst);
  /// What a step of that loop reads of keys, as far as it is read before it.
  LogitRecompute::Slices prepareSlices(TileBuilder &builder,
                                       const LogitRecompute &recompute) const;
  /// The logits of a step, with these keys.
  LogitsTile findTile(TileBuilder &b, const BlockStep &step) const;
  /// With what a step adds, whose queries have been read.
  Sums addStep(TileBuilder &b, const LogitRecompute &recompute,
               const LogitRecompute::Slices &slices, const BlockStep &step,
               const LogitRecompute::QueryTiles &queries, const Sums &sums,
               Beside beside = {}) const;
  /// With what a tile adds; `narrow` are the gradients of its logits.
  Sums add(TileBuilder &b, const LogitRecompute &shared, const Sums &sums,
           const LogitRecompute::Recomputed &again, Value narrow,
           const LogitRecompute::QueryTiles &queries) const;
  /// The value's gradient again where it is NaN: a NaN or an infinity of the
  /// weighted sum's gradient counts for the keys that its query keeps.
  static SmallVector<Value> sumValuesWithCare(TileBuilder &builder,
                                              const LogitRecompute &shared,
                                              ValueRange sums, SumLoop loop);

  const LogitRecompute &shared;
  WorkItem item;
  bool keysFirst;
  LogitRecompute::Slices slices;
  LogitRecompute::KeyTiles keys;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_KEYBLOCK_H
