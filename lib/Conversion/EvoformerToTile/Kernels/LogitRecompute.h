//===- LogitRecompute.h - A tile's weights and gradients again --*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_LOGITRECOMPUTE_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_LOGITRECOMPUTE_H

#include "BlockLoop.h"
#include "Dropout.h"
#include "GradientKernels.h"
#include "WeightScale.h"

namespace mlir::evoformer {

/// Whether loops choose zeros for what biases drop, at three instructions a
/// logit. That is much for 16-bit types on GPUs, unless the products of large
/// depths take longer: those do again what NaN in dropped keys has spoilt. What
/// is chosen passes through registers; where engines copy past them, that is
/// one copy more of tiles that are read in two orders, and no product of groups
/// reads keys that are chosen.
bool isChoosingCheap(tile::TargetAttr target, const AttentionFacts &facts,
                     GradientKind kind);

/// What all programs for gradients share: the weights
/// p = 2^(logits - maximum) / sum and the gradients of the logits,
/// p * (weightedGrad * value^T - delta), of a tile (Dao et al.,
/// "FlashAttention", 2022, appendix B.4), and sums of products with them. Where
/// weights are logits they are p = logits / divisor and weightedGrad * value^T
/// / divisor, whose divisor has no gradient.
class LogitRecompute {
public:
  /// At the start of a kernel's program.
  LogitRecompute(TileBuilder &builder, const AttentionFacts &facts,
                 const GradientOperands &operands,
                 const AttentionBlocks &blocks, bool alignedRows,
                 tile::TargetAttr target);

  /// The same with both statistics (see addsStatistics).
  LogitRecompute withStatisticsApart() const;
  /// That, choosing zeros for all that is dropped (see choosesDrops).
  LogitRecompute withCare() const;
  /// Whether that made it.
  bool isCareful() const { return careful; }
  /// Whether either has.
  bool isRepeat() const { return careful || apart; }
  /// Whether what all steps of a loop over queries read of their keys is read
  /// before it. Registers hold what each step would wait for, where tiles are
  /// copied past these; what is rarely run has none to spare.
  bool readsKeysOnce() const { return copiesPast && !careful && !apart; }

  const AttentionFacts &facts;
  const GradientOperands &operands;
  const AttentionBlocks &blocks;
  const bool alignedRows;
  const Value zero;
  /// Of the depth of queries and keys, and of that of values.
  const SmallVector<DepthPart> parts, valueParts;
  /// See getWeightScale().
  const double weightScale;
  const Dropout dropout;

  //===--------------------------------------------------------------------===//
  // What a tile reads
  //===--------------------------------------------------------------------===//

  /// Memory of an item, from where its ranges start.
  struct Slices {
    Value query, key, value, weightedGrad, maximum, logSum, delta;
    LogitsSlices logits;
  };
  /// What a tile needs of its queries: depth parts, and the negatives of the
  /// statistics and delta [rows, queries]. A null maximum is part of the
  /// logarithm.
  struct QueryTiles {
    SmallVector<Value> query, weightedGrad;
    Value minusMaximum, minusLogSum, minusDelta;
    /// Where weights are logits: what these are multiplied by; null, as the
    /// others are then, elsewhere.
    Value inverse = {};
  };
  struct KeyTiles {
    SmallVector<Value> key, value;
    /// [rows, depth, keys], where a loop over queries takes them as they are;
    /// empty: products transpose.
    SmallVector<Value> keyColumns, valueColumns;
  };

  Slices slice(const WorkItem &item) const;
  QueryTiles loadQueries(TileBuilder &b, const WorkItem &item,
                         const Slices &slices, Value offset) const;
  KeyTiles loadKeys(TileBuilder &b, const WorkItem &item, const Slices &slices,
                    Value offset) const;

  //===--------------------------------------------------------------------===//
  // A tile
  //===--------------------------------------------------------------------===//

  /// [rows, queries, keys] or [rows, keys, queries].
  struct Recomputed {
    /// `logitGrad` is null where nobody needs it, and so is the gradient of the
    /// scaled score, which is the same where no region makes logits of scores.
    Value weights, logitGrad, scoreGrad;
    /// What sums of values' gradients take, without their factor: the weights,
    /// or those of them that dropout keeps; where the weights are asked for,
    /// the others negative.
    Value keptWeights;
    /// Null where zeros are not chosen.
    Value dropped;
    /// Of a table's gradient: the number of the entry that each pair looks up,
    /// of f32.
    Value entry = {};
  };
  /// `sum`: to which the gradient of the logits is added.
  Recomputed recompute(TileBuilder &b, const Slices &slices,
                       const QueryTiles &queries, const KeyTiles &keys,
                       const LogitsTile &tile, Value sum = {}) const;

  /// In the inputs' type; weights times `weightScale`.
  Value narrowWeights(TileBuilder &b, Value weights) const;
  Value narrowLogitGrad(TileBuilder &b, Value logitGrad) const;
  /// What products with queries and keys take.
  Value narrowScoreGrad(TileBuilder &b, const Recomputed &again) const;

  /// What sums of products with recomputed gradients of logits are multiplied
  /// by to be gradients of queries or keys: the derivative of a logit by the
  /// product of its query and key, without what the gradients have too much.
  double getProductDerivative() const;
  /// And to be gradients of values, of narrow weights.
  double getWeightFactor() const;

  /// sums + a * b for each part, `a` being narrow.
  SmallVector<Value> accumulate(TileBuilder &b, ValueRange sums, Value a,
                                ArrayRef<Value> parts) const;
  SmallVector<Value> zeros(TileBuilder &b, int64_t positions,
                           ArrayRef<DepthPart> parts) const;

  /// The gradients of a tile of logits, and the same in the inputs' type,
  /// without those of queries behind the row's end.
  std::pair<Value, Value> clearAbsent(TileBuilder &b, const BlockStep &step,
                                      Value logitGrad, Value narrow) const;
  /// Stores the gradients of a tile of logits as those of the biases in which
  /// nothing is summed; `narrow`: what narrowScoreGrad gives.
  void storeLogitGrads(TileBuilder &b, const BlockStep &step,
                       const Recomputed &again, Value narrow) const;
  /// Stores the weights of a tile in their place.
  void storeWeights(TileBuilder &b, const BlockStep &step,
                    const Recomputed &again) const {
    storeLogitGrads(b, step, again.keptWeights,
                    b.convert(again.keptWeights, facts.elementType));
  }
  /// Stores zeros there for the blocks that a loop along queries or keys does
  /// not visit.
  void clearLogitGrads(const WorkItem &item, LogitDim dim) const;

  //===--------------------------------------------------------------------===//
  // What is dropped
  //===--------------------------------------------------------------------===//

  /// Whether the loop chooses zeros for what biases drop. Where it does not, a
  /// NaN of a dropped key, its value or a statistic spoils sums.
  bool choosesDrops() const { return chooseDrops; }
  /// Whether some queries may drop a key that others keep.
  bool dropsForQueries() const {
    return !operands.biases.empty() || !facts.keys.isWhole();
  }
  /// And for what the prepared sum drops: where that costs little, or is rarely
  /// run.
  bool choosesAll() const { return chooseAll; }

  /// Depth parts of a key (query) without NaNs for the sum of the query's (the
  /// key's) gradient, where a bias of the query may drop it: kept, it has made
  /// the gradient of its logit NaN.
  SmallVector<Value> clearNaN(TileBuilder &b, ArrayRef<Value> parts) const;
  /// Sums of keys; dropped ones have none, whatever else is NaN.
  SmallVector<Value> clearDropped(const WorkItem &item, const Slices &slices,
                                  ValueRange sums) const;
  /// `sums`, or where one of a position is NaN what `sumAgain` makes of it with
  /// care: what a key holds that some query drops, or a query that drops a key,
  /// may have spoilt them. This costs the usual case one vote an item.
  SmallVector<Value>
  repeatWithCare(TileBuilder &b, ValueRange sums,
                 function_ref<SmallVector<Value>(TileBuilder &,
                                                 const LogitRecompute &careful)>
                     sumAgain) const;

  /// Positions whose sums are NaN.
  Value haveNaN(TileBuilder &b, ValueRange sums) const;
  /// Whether the statistics become one number, at an operation less a logit,
  /// and more where products then start from the biases: NaN where that has too
  /// few digits, after which sums are made again.
  bool addsStatistics() const {
    if (apart || chooseDrops)
      return false;
    switch (getGradientKind(operands)) {
    case GradientKind::Query:
      return true;
    case GradientKind::Bias:
      return getOwnedDim(operands) == OwnedDim::Queries;
    case GradientKind::KeyValue:
    case GradientKind::Head:
      return mayStart;
    default:
      return false;
    }
  }

private:
  bool needsLogitGrad() const {
    return operands.delta ||
           (facts.weights.areLogits && !operands.ofWeights &&
            (operands.queryGrad || operands.keyGrad ||
             operands.biasGrad.memory || !operands.logitGrads.empty()));
  }
  /// Whether weights of dropped keys and gradients of their logits in a tile
  /// are chosen to be 0, at three instructions a logit.
  bool choosesZeros(const LogitsTile &tile) const {
    return chooseDrops &&
           (operands.keySum.memory || !operands.biases.empty() || tile.seen ||
            (facts.weights.areLogits && facts.score));
  }
  /// Whether blocks of keys are read in the loop, and what a NaN has spoilt is
  /// done again.
  bool repeatsForKeys() const {
    GradientKind kind = getGradientKind(operands);
    return !chooseDrops &&
           (kind == GradientKind::Query || kind == GradientKind::Bias);
  }
  void addStatistics(TileBuilder &b, QueryTiles &tiles) const;
  /// Whether products of queries and keys start from the biases. A row whose
  /// logits are too large for that has no single number.
  bool startsFromBiases() const { return mayStart && addsStatistics(); }
  /// `narrow`: the same in the inputs' type.
  void storeLogitGrads(TileBuilder &b, const BlockStep &step, Value logitGrad,
                       Value narrow) const;
  Drops getDrops() const {
    if (!chooseDrops)
      return Drops::Added;
    return chooseAll ? Drops::Chosen : Drops::ChosenByQuery;
  }

  /// Without an instruction for it, rounding to bf16 costs more than the
  /// exponential; cutting off the lower half is a byte permutation. Weights are
  /// cut off, for which raised exponents make up (see Truncation.h).
  bool truncates() const { return facts.elementType.isBF16() && !fastRounding; }
  /// Gradients of logits are cut off as well, where they are operands and no
  /// results.
  bool truncatesLogitGrads() const {
    return truncates() && operands.logitGrads.empty() &&
           !facts.weights.areLogits;
  }
  /// Weights and gradients of logits are larger by kTruncationShare.
  bool raisesExponents() const {
    return truncates() && operands.valueGrad && !facts.weights.areLogits;
  }

  /// The target rounds to bf16 in one instruction, or speed is no matter.
  bool fastRounding;
  bool chooseDrops, chooseAll;
  /// See mayStartFromBiases().
  bool mayStart;
  bool copiesPast;
  /// The loop's tiles are zero beyond the memory, as copies of boxes make them;
  /// nothing is stored there. Loops of a bias's gradient by instructions of
  /// several subgroups wait longer for boxes than they save by them.
  bool fillsZeros;
  bool apart = false;
  bool careful = false;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_LOGITRECOMPUTE_H
