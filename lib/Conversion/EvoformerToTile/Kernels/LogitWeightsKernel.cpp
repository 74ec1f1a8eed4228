//===- LogitWeightsKernel.cpp - Values weighted by logits -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLoop.h"
#include "Dropout.h"
#include "Kernels.h"
#include "WeightScale.h"
#include "WeightedValues.h"

#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// The kernel's program: logits * values, divided by the sums of the logits'
/// absolute values where rows are normalized (Sun et al., "Retentive Network: A
/// Successor to Transformer for Large Language Models", 2023, the parallel
/// form). Nothing is relative to anything, so that one loop is enough.
class LogitWeightsProgram {
public:
  LogitWeightsProgram(TileBuilder &builder, const AttentionFacts &facts,
                      const AttentionOperands &operands,
                      const AttentionBlocks &blocks, bool alignedRows,
                      bool fastRounding, double lostScale, bool fillsZeros)
      : builder(builder), facts(facts), operands(operands), blocks(blocks),
        fastRounding(fastRounding), lostScale(lostScale),
        parts(cutDepth(facts.elementType, facts.depth)),
        valueParts(cutDepth(facts.elementType, facts.valueDepth)),
        item(WorkItem::find(builder, alignedRows, operands.getShape(), blocks,
                            facts.keys)
                 .withSharedKeys(facts.shared)),
        zero(builder.index(0)),
        dropout(builder, facts, operands.dropout, operands.getShape()),
        slices(item.sliceLogits(facts, operands.keySum, operands.biases,
                                operands.captures, operands.getShape(),
                                fillsZeros)) {
    // Weights of dropped keys are chosen to be 0, for which their logits must
    // not be NaN.
    slices.drops = Drops::Chosen;
  }

  void write() {
    SmallVector<Value> sums = sumKeys();
    Value kept = tracksKept() ? sums.pop_back_val() : Value();
    Value size = isNormalized() ? sums.pop_back_val() : Value();
    Value divisor = findDivisor(size);
    // A quotient by less is no number of f32.
    Value empty =
        builder.compare(arith::CmpFPredicate::OLT, divisor, kLeastDivisor);
    if (kept)
      empty = arith::OrIOp::create(builder, empty, builder.equals(kept, 0));
    Value factor =
        builder.splatLike(divisor, dropout ? dropout.getFactor() : 1);
    storeWeightedValues(item, operands, valueParts, sums,
                        builder.divf(factor, divisor), empty);
    writeStatistics(divisor);
  }

private:
  bool isNormalized() const { return facts.weights.least.has_value(); }
  /// Whether a row may be left without keys: its values count for nothing then,
  /// whatever they are.
  bool tracksKept() const { return mayDrop(slices, item.seen.has_value()); }

  /// Depth parts of the weighted values, and behind them the sum of the
  /// weights' absolute values and whether there is any key, as far as they are
  /// needed.
  SmallVector<Value> sumKeys() {
    Value querySlice = item.sliceSequence(operands.query, item.queries);
    SmallVector<Value> queries =
        llvm::map_to_vector(parts, [&](DepthPart part) {
          return item.load(builder, querySlice, zero, item.queries, part);
        });
    Value keys = item.sliceSequence(operands.key, item.keys);
    Value values = item.sliceSequence(operands.value, item.keys);
    Type f32 = builder.getF32Type();
    SmallVector<Value> start =
        llvm::map_to_vector(valueParts, [&](DepthPart part) {
          return builder.splat({blocks.rows, blocks.queries, part.size}, f32,
                               0);
        });
    for (bool isCarried : {isNormalized(), tracksKept()})
      if (isCarried)
        start.push_back(builder.splat({blocks.rows, blocks.queries}, f32, 0));
    return BlockLoop::along(builder, LogitDim::Keys, item)
        .run(builder, start,
             [&](TileBuilder &b, const BlockStep &step, ValueRange carried) {
               Value key = step.offset(LogitDim::Keys), scores;
               for (auto [query, part] : llvm::zip_equal(queries, parts)) {
                 Value k = item.load(b, keys, key, step.item.keys, part);
                 if (slices.keySum.memory)
                   k = item.clearDropped(b, slices.keySum, k, key);
                 Value some = multiplyTransposed(b, query, k, Value());
                 scores = scores ? b.addf(scores, some) : some;
               }
               Value isKept;
               Value weights = makeWeights(b, step.tile, scores, isKept);
               SmallVector<Value> next;
               Value counted = drop(b, step.tile, weights);
               for (auto [sum, part] : llvm::zip(carried, valueParts))
                 next.push_back(addProduct(
                     b, sum, counted,
                     item.load(b, values, key, step.item.keys, part)));
               if (isNormalized())
                 next.push_back(
                     b.addf(carried[valueParts.size()],
                            b.reduce(ReduceKind::Add,
                                     math::AbsFOp::create(b, weights), 2)));
               if (tracksKept())
                 next.push_back(b.maxnum(carried.back(),
                                         b.reduce(ReduceKind::Max, isKept, 2)));
               return next;
             });
  }

  /// `isKept`: 1 for keys that are not dropped, else 0.
  Value makeWeights(TileBuilder &b, const LogitsTile &tile, Value scores,
                    Value &isKept) {
    Value logits = buildLogits(b, slices, tile, scores);
    isKept = b.splatLike(logits, 1);
    if (!mayDrop(slices, tile.seen != nullptr))
      return logits;
    Value dropped = b.equals(logits, -kInfinity);
    Value none = b.splatLike(logits, 0);
    isKept = b.select(dropped, none, isKept);
    return b.select(dropped, none, logits);
  }

  Value drop(TileBuilder &b, const LogitsTile &tile, Value weights) {
    if (!dropout)
      return weights;
    return b.select(dropout.findKept(b, slices.place, tile), weights,
                    b.splatLike(weights, 0));
  }

  /// sum + weights * values, of weights in the values' type.
  Value addProduct(TileBuilder &b, Value sum, Value weights, Value values) {
    // Long sums of f32 are made of short ones.
    if (facts.elementType.isF32())
      return b.addf(sum,
                    MmaOp::create(b, weights, values, b.splatLike(sum, 0)));
    Value narrow = narrowSigned(b, weights, facts.elementType, fastRounding);
    if (facts.valueDepth > kFewElements)
      return MmaOp::create(b, narrow, values, sum);
    Value lost = b.subf(weights, b.convert(narrow, b.getF32Type()));
    auto multiplyLost = [&](Value lost, Value start) -> Value {
      return MmaOp::create(
          b, narrowSigned(b, lost, facts.elementType, fastRounding), values,
          start);
    };
    if (lostScale == 1) {
      sum = multiplyLost(lost, sum);
    } else {
      Value part = multiplyLost(b.mulf(lost, b.splatLike(lost, lostScale)),
                                b.splatLike(sum, 0));
      sum = b.fma(part, b.splatLike(part, 1 / lostScale), sum);
    }
    return MmaOp::create(b, narrow, values, sum);
  }

  /// What rows are divided by; 0 for those that are not there.
  Value findDivisor(Value size) {
    Value divisor =
        builder.splat({blocks.rows, blocks.queries}, builder.getF32Type(), 1);
    if (isNormalized())
      // A NaN stays.
      divisor = builder.select(
          builder.isNaN(size), size,
          builder.maxnum(size, builder.splatLike(size, *facts.weights.least)));
    if (!item.queries.mayEndEarly())
      return divisor;
    Value present = item.queries.isPresent(
        builder, TileBuilder::typeOf(divisor).getShape(), /*dim=*/1, zero);
    return builder.select(present, divisor, builder.splatLike(divisor, 0));
  }

  void writeStatistics(Value divisor) {
    if (!operands.stats)
      return;
    WorkItem written = item.withWritten();
    Value tiles[] = {builder.splatLike(divisor, 0), divisor};
    for (auto [which, tile] : llvm::enumerate(tiles))
      builder.store(tile, written.sliceStatistic(operands.stats, which),
                    {zero, zero}, {item.rows.fits, written.queries.fits});
  }

  TileBuilder &builder;
  const AttentionFacts &facts;
  const AttentionOperands &operands;
  const AttentionBlocks &blocks;
  /// The target rounds to bf16 in one instruction, or speed is no matter.
  bool fastRounding;
  /// What narrowing takes away is multiplied by before a product that takes
  /// small numbers for 0: as large as the weights at most.
  double lostScale;
  /// Of the depth of queries and keys, and of that of values.
  SmallVector<DepthPart> parts, valueParts;
  WorkItem item;
  Value zero;
  Dropout dropout;
  LogitsSlices slices;
};
} // namespace

KernelOp evoformer::createLogitWeightsKernel(
    KernelFactory &factory, Location loc, const AttentionFacts &facts,
    const AttentionOperands &operands, const AttentionBlocks &blocks,
    bool alignedRows, ScheduleAttr schedule) {
  TargetAttr target = factory.getTarget();
  return factory.create<AttentionOperands>(
      loc, "attention", operands, schedule,
      [&](TileBuilder &builder, const AttentionOperands &inside) {
        LogitWeightsProgram(
            builder, facts, inside, blocks, alignedRows,
            target.isCPU() || target.hasNativeBF16Convert(),
            keepsSmallWeights(target, facts.elementType) ? 0x1p11 : 1,
            copiesPastRegisters(target))
            .write();
      });
}
