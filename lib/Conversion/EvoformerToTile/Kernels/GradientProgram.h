//===- GradientProgram.h - Programs of gradient kernels -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_GRADIENTPROGRAM_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_GRADIENTPROGRAM_H

#include "GradientKernels.h"
#include "WorkItem.h"

namespace mlir::evoformer {

/// The programs of all kinds: the weights p = 2^(logits - maximum) / sum and
/// the gradients of the logits, p * (weighted * value^T - delta), of a tile
/// after the other (Dao et al., "FlashAttention", 2022, appendix B.4).
class GradientProgram {
public:
  GradientProgram(TileBuilder &builder, const AttentionFacts &facts,
                  const GradientOperands &operands,
                  const AttentionBlocks &blocks, bool alignedRows,
                  tile::TargetAttr target)
      : builder(builder), facts(facts), operands(operands), blocks(blocks),
        alignedRows(alignedRows), zero(builder.index(0)),
        // See the forward kernel.
        fastRounding(target.isCPU() || target.hasNativeBF16Convert()),
        // What a loop has stored cannot be made again.
        chooseDrops(choosesDrops(target, facts) ||
                    !operands.logitGrads.empty() ||
                    getGradientKind(operands) == GradientKind::QueryBias),
        choosesAll(target.isCPU()),
        parts(cutDepth(facts.elementType, facts.depth)),
        valueParts(cutDepth(facts.elementType, facts.valueDepth)) {}

  void writeQuery();
  void writeKeyValue();
  void writeBias();
  void writeJoint();

private:
  /// Memory of an item, from where its ranges start.
  struct Slices {
    Value query, key, value, weighted, maximum, logSum, delta;
    LogitsSlices logits;
  };
  /// What a tile needs of its queries: depth parts, and the negatives of the
  /// statistics and delta [rows, queries].
  struct QueryTiles {
    SmallVector<Value> query, weighted;
    Value maximum, logSum, delta;
  };
  struct KeyTiles {
    SmallVector<Value> key, value;
    /// [rows, depth, keys], where a loop over queries takes them as they are;
    /// empty: products transpose.
    SmallVector<Value> keyColumns, valueColumns;
  };
  /// [rows, queries, keys] or [rows, keys, queries]; `dropped` is null where
  /// zeros are not chosen.
  struct Recomputed {
    Value weights, logits, dropped;
  };
  /// Depth parts of the gradients of key and value; none where not wanted.
  struct KeySums {
    SmallVector<Value> key, value;
    /// Where the value's gradient is summed with care: how many elements that
    /// are NaN or infinite belong to it.
    SmallVector<Value> spoilt;

    /// What a loop carries.
    SmallVector<Value> carried() const {
      return llvm::to_vector(llvm::concat<const Value>(key, value, spoilt));
    }
    KeySums with(ValueRange carried) const {
      return {llvm::to_vector(carried.take_front(key.size())),
              llvm::to_vector(
                  carried.drop_front(key.size()).take_front(value.size())),
              llvm::to_vector(carried.take_back(spoilt.size()))};
    }
  };

  bool needsLogitGradient() const { return operands.delta != nullptr; }
  /// Whether weights of dropped keys and gradients of their logits are chosen
  /// to be 0, at three instructions a logit; else a NaN of the key, the value
  /// or a statistic is seen there.
  bool choosesZeros() const {
    return chooseDrops && (operands.keySum.memory || !operands.biases.empty());
  }
  Drops getDrops() const {
    if (!chooseDrops)
      return Drops::Added;
    return choosesAll ? Drops::Chosen : Drops::ChosenByQuery;
  }

  Slices slice(const WorkItem &item);
  QueryTiles loadQueries(TileBuilder &b, const WorkItem &item,
                         const Slices &slices, Value offset);
  KeyTiles loadKeys(TileBuilder &b, const WorkItem &item, const Slices &slices,
                    Value offset);
  /// `sum`: to which the gradient of the logits is added.
  Recomputed recompute(TileBuilder &b, const Slices &slices,
                       const QueryTiles &queries, const KeyTiles &keys,
                       const LogitsTile &tile, Value sum = {});

  /// Without an instruction for it, rounding to bf16 costs more than the
  /// exponential; cutting off the lower half is a byte permutation. Weights are
  /// cut off, for which raised exponents make up (see Truncation.h); of the
  /// gradients of logits, which have either sign, a few large ones may make up
  /// a sum: those are rounded, by one addition.
  bool truncates() const { return facts.elementType.isBF16() && !fastRounding; }
  /// Weights and gradients of logits are larger by kTruncationShare.
  bool raisesExponents() const { return truncates() && operands.valueGrad; }
  Value narrowWeights(TileBuilder &b, Value weights);
  Value narrowLogits(TileBuilder &b, Value logits);

  /// sums + a * b for each part, `a` being narrow.
  SmallVector<Value> accumulate(TileBuilder &b, ValueRange sums, Value a,
                                ArrayRef<Value> parts);
  /// Depth parts of a key (query) without NaNs for the sum of the query's (the
  /// key's) gradient, where a bias of the query may drop it: kept, it has made
  /// the gradient of its logit NaN.
  SmallVector<Value> clearNaN(TileBuilder &b, ArrayRef<Value> parts);
  /// `sums`, or where one of a position is NaN what `sumAgain` makes of it,
  /// which chooses: what a key holds that some query drops, or a query that
  /// drops a key, may have spoilt them. This costs the usual case one vote an
  /// item.
  SmallVector<Value> repeatWithCare(
      TileBuilder &b, ValueRange sums,
      llvm::function_ref<SmallVector<Value>(TileBuilder &)> sumAgain);
  /// Sums of keys; dropped ones have none, whatever else is NaN.
  SmallVector<Value> clearDropped(const WorkItem &item, const Slices &slices,
                                  ValueRange sums);
  /// The sums of those that are wanted, where they start; with what a tile
  /// adds, `narrow` being the gradients of its logits; and into memory.
  KeySums startKeySums(TileBuilder &b, bool ofKey, bool ofValue);
  KeySums sumQueries(TileBuilder &b, const WorkItem &item, Slices slices,
                     const KeyTiles &keys, int64_t queryBlock, bool keysFirst,
                     const KeySums &start);
  KeySums accumulateKeys(TileBuilder &b, const KeySums &sums,
                         const LogitsTile &tile, Value narrow,
                         const Recomputed &again, const QueryTiles &queries);
  /// The value's gradient again where it is NaN: a NaN or an infinity of the
  /// weighted sum's gradient counts for the keys that its query keeps.
  SmallVector<Value> sumValuesWithCare(const WorkItem &item,
                                       const Slices &slices,
                                       const KeyTiles &keys, bool keysFirst,
                                       ValueRange sums);
  void storeKeySums(const WorkItem &item, const Slices &slices,
                    const KeySums &sums);
  /// The item's part [rows, queries, keys] of the gradient of a bias.
  Value sliceGradient(const WorkItem &item, const Bias &gradient);
  /// Stores the gradients of a tile of logits, from `key` on, as those of a
  /// bias; `narrow` are the same in the inputs' type.
  void storeLogits(TileBuilder &b, const WorkItem &item, Value logits,
                   Value narrow, const Bias &gradient, Value key,
                   Value query = {});
  /// Of joint gradients: one row and block of keys, with all queries.
  void writeKeyBlock(const WorkItem &item, Value queryMemory,
                     const Bias &biasGrad);
  /// Sets what the item's sums start from to zero.
  void clearQueries(const WorkItem &item, Value queryMemory);
  void clearBias(const WorkItem &item, const Bias &biasGrad);
  SmallVector<Value> zeros(TileBuilder &b, int64_t positions,
                           ArrayRef<DepthPart> parts);
  void store(const WorkItem &item, ValueRange sums, ArrayRef<DepthPart> parts,
             double factor, Value memory, const ItemRange &range);

  TileBuilder &builder;
  const AttentionFacts &facts;
  const GradientOperands &operands;
  const AttentionBlocks &blocks;
  bool alignedRows;
  Value zero;
  bool fastRounding;
  /// See LogitsSlices, choosesZeros and repeatWithCare.
  bool chooseDrops;
  /// What the prepared sum drops is chosen as well: where that costs little, or
  /// is rarely run.
  bool choosesAll;
  SmallVector<DepthPart> parts, valueParts;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_GRADIENTPROGRAM_H
