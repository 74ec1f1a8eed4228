//===- LogitRecompute.cpp - A tile's weights and gradients again ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LogitRecompute.h"
#include "Truncation.h"
#include "WeightedValues.h"

#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Whether groups of subgroups may multiply what these depths have.
static bool mayMultiplyTogether(TargetAttr target,
                                const AttentionFacts &facts) {
  constexpr int64_t kDepth = 16;
  return target.getGroupMatrix() && !facts.elementType.isF32() &&
         facts.depth % kDepth == 0 && facts.valueDepth % kDepth == 0;
}

bool evoformer::isChoosingCheap(TargetAttr target, const AttentionFacts &facts,
                                GradientKind kind) {
  bool readsKeys =
      kind == GradientKind::Query && mayMultiplyTogether(target, facts);
  // A redo takes registers of its own.
  bool holdsRedo = copiesPastRegisters(target) || hasManyRegisters(target);
  int64_t largeDepth = readsKeys ? 256 : holdsRedo ? 128 : 64;
  return target.isCPU() || facts.elementType.isF32() ||
         std::max(facts.depth, facts.valueDepth) > largeDepth;
}

/// Whether a loop stores what cannot be made again. Gradients of logits can,
/// with the gradient of the query that tells of their NaN.
static bool storesInLoop(const GradientOperands &operands) {
  GradientKind kind = getGradientKind(operands);
  return (!operands.logitGrads.empty() && kind != GradientKind::Query) ||
         kind == GradientKind::QueryBias || kind == GradientKind::Joint;
}

/// Whether a loop's tiles are to be boxes, which have zeros beyond the memory.
/// Products of several subgroups wait for those of short rows.
static bool readsBoxes(TargetAttr target, const AttentionFacts &facts,
                       const GradientOperands &operands) {
  constexpr int64_t kLineOf16Bits = 64;
  return target.hasTensorMaps() &&
         facts.elementType.getIntOrFloatBitWidth() == 16 &&
         getOwnedDim(operands) == OwnedDim::Queries &&
         (facts.depth < target.getGroupDepth() ||
          std::min(facts.depth, facts.valueDepth) >= kLineOf16Bits ||
          getGradientKind(operands) == GradientKind::Query);
}

LogitRecompute::LogitRecompute(TileBuilder &builder,
                               const AttentionFacts &facts,
                               const GradientOperands &operands,
                               const AttentionBlocks &blocks, bool alignedRows,
                               TargetAttr target)
    : facts(facts), operands(operands), blocks(blocks),
      alignedRows(alignedRows), zero(builder.index(0)),
      parts(cutDepth(facts.elementType, facts.depth)),
      valueParts(operands.value ? cutDepth(facts.elementType, facts.valueDepth)
                                : SmallVector<DepthPart>()),
      weightScale(facts.weights.areLogits
                      ? 1
                      : getWeightScale(target, facts.elementType)),
      dropout(builder, facts, operands.dropout, operands.getShape()),
      fastRounding(target.isCPU() || target.hasNativeBF16Convert()),
      chooseDrops(isChoosingCheap(target, facts, getGradientKind(operands)) ||
                  storesInLoop(operands)),
      chooseAll(target.isCPU()), mayStart(mayStartFromBiases(target, facts)),
      copiesPast(copiesPastRegisters(target)),
      fillsZeros(readsBoxes(target, facts, operands)) {
  // What the score makes of a key that is cleared may be NaN, and where the
  // weights are asked for, no NaN of the row shows in those of dropped keys.
  if (facts.weights.areLogits || (facts.score && !facts.score.isTotal) ||
      operands.ofWeights)
    chooseDrops = chooseAll = true;
}

LogitRecompute LogitRecompute::withStatisticsApart() const {
  LogitRecompute result = *this;
  result.apart = true;
  return result;
}

LogitRecompute LogitRecompute::withCare() const {
  LogitRecompute careful = *this;
  careful.chooseDrops = careful.chooseAll = careful.careful = true;
  return careful;
}

//===----------------------------------------------------------------------===//
// What a tile reads
//===----------------------------------------------------------------------===//

LogitRecompute::Slices LogitRecompute::slice(const WorkItem &item) const {
  Slices slices;
  slices.query = item.sliceSequence(operands.query, item.queries);
  if (operands.weightedGrad)
    slices.weightedGrad =
        item.sliceSequence(operands.weightedGrad, item.queries);
  slices.key = item.sliceSequence(operands.key, item.keys);
  if (operands.value)
    slices.value = item.sliceSequence(operands.value, item.keys);
  slices.maximum = item.sliceStatistic(operands.stats, 0);
  slices.logSum = item.sliceStatistic(operands.stats, 1);
  if (operands.delta)
    slices.delta = item.sliceStatistic(operands.delta);
  slices.logits =
      item.sliceLogits(facts, operands.keySum, operands.biases,
                       operands.captures, operands.getShape(), fillsZeros);
  slices.logits.loopsOverRows = getGradientKind(operands) == GradientKind::Bias;
  return slices;
}

LogitRecompute::QueryTiles LogitRecompute::loadQueries(TileBuilder &b,
                                                       const WorkItem &item,
                                                       const Slices &slices,
                                                       Value offset) const {
  QueryTiles tiles;
  // An item that owns queries stores nothing beyond the last. Elsewhere these
  // have weights of 0, and reading the last one again adds nothing where it is
  // finite: 16-bit types on GPUs save the choices that zeros take.
  // Behind a row's end there may be no last one.
  bool mayEndEarly = item.queries.mayEndEarly();
  bool ownsQueries = getOwnedDim(operands) == OwnedDim::Queries && !mayEndEarly;
  // What dropout keeps of the last one it may drop of another.
  bool needsZeros = mayEndEarly || fillsZeros || (dropout && !ownsQueries);
  bool anyOutside = (ownsQueries || !chooseDrops) && !needsZeros;
  // A key may be infinite, where zeros have no finite score; but the last query
  // would also fill what atoms of matrix instructions have beyond the depth.
  constexpr int64_t kDepthOfAtoms = 16;
  bool repeatsLast =
      !needsZeros && (anyOutside || llvm::all_of(parts, [](DepthPart part) {
                        return part.size % kDepthOfAtoms == 0;
                      }));
  for (DepthPart part : parts)
    tiles.query.push_back(
        item.load(b, slices.query, offset, item.queries, part, repeatsLast));
  for (DepthPart part : valueParts)
    tiles.weightedGrad.push_back(item.load(b, slices.weightedGrad, offset,
                                           item.queries, part, anyOutside));
  if (facts.weights.areLogits) {
    // Nothing beyond the last query, nor where there is nothing to divide.
    Value divisor = item.loadStatistic(b, slices.logSum, offset, kInfinity);
    tiles.inverse = b.select(
        b.compare(arith::CmpFPredicate::OLT, divisor, kLeastDivisor),
        b.splatLike(divisor, 0), b.divf(b.splatLike(divisor, 1), divisor));
    return tiles;
  }
  auto negative = [&](Value slice, double outside) -> Value {
    return arith::NegFOp::create(
        b, item.loadStatistic(b, slice, offset,
                              ownsQueries ? std::nullopt
                                          : std::optional<double>(outside)));
  };
  // Beyond the last query weights are 0 where scores are finite. One number
  // made of both needs a maximum that is not large.
  bool inOne = addsStatistics();
  tiles.minusMaximum = negative(slices.maximum, inOne ? 0 : kInfinity);
  tiles.minusLogSum = negative(slices.logSum, inOne ? kInfinity : 0);
  if (addsStatistics())
    addStatistics(b, tiles);
  if (raisesExponents())
    tiles.minusLogSum =
        b.addf(tiles.minusLogSum,
               b.splatLike(tiles.minusLogSum, getTruncationExponent()));
  if (needsLogitGrad())
    tiles.minusDelta = negative(slices.delta, 0);
  return tiles;
}

void LogitRecompute::addStatistics(TileBuilder &b, QueryTiles &tiles) const {
  // Smaller ones are rounded by at most 2^-14, which changes all weights of a
  // row by one factor.
  double unit = getLogitUnit(facts);
  Value sum = b.fma(tiles.minusMaximum, b.splatLike(tiles.minusMaximum, unit),
                    tiles.minusLogSum);
  Value isSmall = arith::CmpFOp::create(
      b, arith::CmpFPredicate::OLT, math::AbsFOp::create(b, tiles.minusMaximum),
      b.splatLike(sum, kLargestStart / unit));
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  tiles.minusMaximum = {};
  tiles.minusLogSum = b.select(isSmall, sum, b.splatLike(sum, nan));
}

LogitRecompute::KeyTiles LogitRecompute::loadKeys(TileBuilder &b,
                                                  const WorkItem &item,
                                                  const Slices &slices,
                                                  Value offset) const {
  KeyTiles tiles;
  // Keys beyond the last are dropped ones.
  bool hasDropped = operands.keySum.memory != nullptr;
  bool clears = hasDropped && !repeatsForKeys();
  bool repeatsLast = hasDropped && !item.keys.mayEndEarly() && !fillsZeros;
  auto load = [&](Value slice, DepthPart part) {
    Value tile = item.load(b, slice, offset, item.keys, part, repeatsLast);
    return clears ? item.clearDropped(b, slices.logits.keySum, tile, offset)
                  : tile;
  };
  for (DepthPart part : parts)
    tiles.key.push_back(load(slices.key, part));
  if (needsLogitGrad())
    for (DepthPart part : valueParts)
      tiles.value.push_back(load(slices.value, part));
  return tiles;
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

LogitRecompute::Recomputed
LogitRecompute::recompute(TileBuilder &b, const Slices &slices,
                          const QueryTiles &queries, const KeyTiles &keys,
                          const LogitsTile &tile, Value sum) const {
  auto multiply = [&](ArrayRef<Value> ofQueries, ArrayRef<Value> ofKeys,
                      ArrayRef<Value> columns, Value start) {
    Value product;
    for (auto [query, key] :
         llvm::zip_equal(ofQueries, columns.empty() ? ofKeys : columns)) {
      Value from = product ? Value() : start;
      Value some = tile.keysFirst    ? multiplyTransposed(b, key, query, from)
                   : columns.empty() ? multiplyTransposed(b, query, key, from)
                                     : evoformer::multiply(b, query, key, from);
      product = product ? b.addf(product, some) : some;
    }
    return product;
  };
  constexpr LogitDim perQuery[] = {LogitDim::Rows, LogitDim::Queries};
  LogitsSlices ofLogits =
      startsFromBiases() ? slices.logits.startingFromBiases() : slices.logits;
  ofLogits.drops = getDrops();
  Value scores = multiply(queries.query, keys.key, keys.keyColumns,
                          startOf(b, ofLogits, tile));
  SmallVector<Value, 2> ofScore;
  Value logits = buildLogits(b, ofLogits, tile, scores, &ofScore);
  Value derivative = ofScore.empty() ? Value() : ofScore.front();
  Value dropped = choosesZeros(tile) ? b.equals(logits, -kInfinity) : Value();
  Recomputed result;
  result.dropped = dropped;
  Value inverse =
      queries.inverse ? tile.broadcast(b, queries.inverse, perQuery) : Value();
  if (inverse) {
    result.weights = b.mulf(logits, inverse);
  } else {
    // The maximum first: where it is large, its sum with the logarithm would
    // have no digits for that.
    Value relative = logits;
    if (queries.minusMaximum)
      relative =
          b.addf(logits, tile.broadcast(b, queries.minusMaximum, perQuery));
    Value exponent = b.fma(relative, b.splatLike(relative, ofLogits.unit),
                           tile.broadcast(b, queries.minusLogSum, perQuery));
    // Large logits have no digits that tell a weight of 1 from an infinite one,
    // and are off by some of theirs where products add up in another order.
    if (queries.minusMaximum && !facts.elementType.isF32()) {
      Value largest = b.splatLike(
          exponent, raisesExponents() ? getTruncationExponent() : 0);
      Value isBeyond = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                             exponent, largest);
      exponent = b.select(isBeyond, largest, exponent);
    }
    result.weights = b.exp2(exponent);
  }
  // Nor does the logarithm of a row that keeps a NaN reach what the row drops.
  if (dropped)
    result.weights = b.select(dropped, b.splatLike(logits, 0), result.weights);
  result.keptWeights = result.weights;
  Value kept;
  if (dropout) {
    kept = dropout.findKept(b, slices.logits.place, tile);
    Value none = operands.ofWeights
                     ? Value(arith::NegFOp::create(b, result.weights))
                     : b.splatLike(result.weights, 0);
    result.keptWeights = b.select(kept, result.weights, none);
  }
  if (!needsLogitGrad())
    return result;
  // The product starts from -delta, where all of it counts.
  Value minusDelta = queries.minusDelta
                         ? tile.broadcast(b, queries.minusDelta, perQuery)
                         : Value();
  Value difference = multiply(queries.weightedGrad, keys.value,
                              keys.valueColumns, kept ? Value() : minusDelta);
  if (kept && !minusDelta)
    difference = b.mulf(b.select(kept, difference, b.splatLike(difference, 0)),
                        b.splatLike(difference, dropout.getFactor()));
  else if (kept)
    difference =
        b.fma(b.select(kept, difference, b.splatLike(difference, 0)),
              b.splatLike(difference, dropout.getFactor()), minusDelta);
  // A dropped key's value may hold anything, and so may delta.
  if (dropped)
    difference = b.select(dropped, b.splatLike(difference, 0), difference);
  Value share = inverse ? inverse : result.weights;
  if (sum)
    result.logitGrad = b.fma(share, difference, sum);
  else
    result.logitGrad = b.mulf(share, difference);
  // A row's NaN does not reach what the row drops.
  if (inverse && dropped)
    result.logitGrad =
        b.select(dropped, sum ? sum : b.splatLike(logits, 0), result.logitGrad);
  // No weight of the row tells of it, and clearNaN takes it from the operands
  // of sums.
  if (inverse && dropsForQueries())
    result.logitGrad =
        b.select(b.isNaN(logits),
                 b.splatLike(logits, std::numeric_limits<double>::quiet_NaN()),
                 result.logitGrad);
  result.scoreGrad = result.logitGrad;
  if (!derivative)
    return result;
  result.scoreGrad = b.mulf(result.logitGrad, derivative);
  if (ofScore.size() > 1)
    result.entry = ofScore[1];
  // A pair without a weight has no gradient, whatever the derivative is.
  if (dropped || !facts.score.isTotal)
    result.scoreGrad =
        b.select(b.equals(inverse ? result.logitGrad : result.weights, 0),
                 b.splatLike(logits, 0), result.scoreGrad);
  return result;
}

Value LogitRecompute::narrowWeights(TileBuilder &b, Value weights) const {
  if (weightScale != 1)
    weights = b.mulf(weights, b.splatLike(weights, weightScale));
  // Of either sign.
  if (facts.weights.areLogits)
    return narrowLogitGrad(b, weights);
  return truncates() ? b.truncate(weights, facts.elementType)
                     : b.convert(weights, facts.elementType);
}

Value LogitRecompute::narrowLogitGrad(TileBuilder &b, Value logitGrad) const {
  if (truncatesLogitGrads())
    return b.truncate(logitGrad, facts.elementType);
  return truncates() ? b.round(logitGrad, facts.elementType)
                     : b.convert(logitGrad, facts.elementType);
}

double LogitRecompute::getProductDerivative() const {
  // Raised weights make up for what is cut off of their gradients.
  if (raisesExponents() == truncatesLogitGrads())
    return facts.scale;
  constexpr double raise = 1 + kTruncationShare;
  return raisesExponents() ? facts.scale / raise : facts.scale * raise;
}

double LogitRecompute::getWeightFactor() const {
  return (dropout ? dropout.getFactor() : 1) / weightScale;
}

SmallVector<Value> LogitRecompute::accumulate(TileBuilder &b, ValueRange sums,
                                              Value a,
                                              ArrayRef<Value> parts) const {
  SmallVector<Value> result;
  for (auto [sum, part] : llvm::zip_equal(sums, parts)) {
    // Long sums of f32 are made of short ones.
    bool isLong = facts.elementType.isF32();
    Value start = isLong ? b.splatLike(sum, 0) : sum;
    Value product = MmaOp::create(b, a, part, start);
    result.push_back(isLong ? b.addf(sum, product) : product);
  }
  return result;
}

SmallVector<Value> LogitRecompute::zeros(TileBuilder &b, int64_t positions,
                                         ArrayRef<DepthPart> parts) const {
  return llvm::map_to_vector(parts, [&](DepthPart part) {
    return b.splat({blocks.rows, positions, part.size}, b.getF32Type(), 0);
  });
}

Value LogitRecompute::narrowScoreGrad(TileBuilder &b,
                                      const Recomputed &again) const {
  return narrowLogitGrad(b, again.scoreGrad);
}

void LogitRecompute::storeLogitGrads(TileBuilder &b, const BlockStep &step,
                                     const Recomputed &again,
                                     Value narrow) const {
  if (operands.logitGrads.empty())
    return;
  if (again.scoreGrad != again.logitGrad)
    narrow = narrowLogitGrad(b, again.logitGrad);
  storeLogitGrads(b, step, again.logitGrad, narrow);
}

void LogitRecompute::storeLogitGrads(TileBuilder &b, const BlockStep &step,
                                     Value logitGrad, Value narrow) const {
  const WorkItem item = step.item.withAll();
  std::tie(logitGrad, narrow) = clearAbsent(b, step, logitGrad, narrow);
  for (const Bias &gradient : operands.logitGrads) {
    Value memory = item.sliceBiasGradient(gradient);
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    b.store(
        element == facts.elementType ? narrow : b.convert(logitGrad, element),
        memory, step.tile.offsets,
        {item.rows.fits, item.queries.fits, item.keys.fits},
        operands.alignedLogitGrads ? getKeyAlignment(element, blocks.keys) : 0);
  }
}

std::pair<Value, Value> LogitRecompute::clearAbsent(TileBuilder &b,
                                                    const BlockStep &step,
                                                    Value logitGrad,
                                                    Value narrow) const {
  const ItemRange &queries = step.item.queries;
  if (!queries.mayEndEarly())
    return {logitGrad, narrow};
  Value present = queries.isPresent(b, step.tile.shape,
                                    step.tile.getPosition(LogitDim::Queries),
                                    step.offset(LogitDim::Queries));
  return {b.select(present, logitGrad, b.splatLike(logitGrad, 0)),
          b.select(present, narrow, b.splatLike(narrow, 0))};
}

void LogitRecompute::clearLogitGrads(const WorkItem &item, LogitDim dim) const {
  if (operands.logitGrads.empty())
    return;
  BlockLoop::outside(item.builder, dim, item)
      .run(item.builder, {},
           [&](TileBuilder &b, const BlockStep &step,
               ValueRange) -> SmallVector<Value> {
             Value none = b.splat(step.tile.shape, b.getF32Type(), 0);
             storeLogitGrads(b, step, none,
                             b.splat(step.tile.shape, facts.elementType, 0));
             return {};
           });
}

//===----------------------------------------------------------------------===//
// What is dropped
//===----------------------------------------------------------------------===//

SmallVector<Value> LogitRecompute::clearNaN(TileBuilder &b,
                                            ArrayRef<Value> parts) const {
  if (!chooseDrops || !dropsForQueries())
    return llvm::to_vector(parts);
  return llvm::map_to_vector(parts, [&](Value part) {
    return b.select(b.isNaN(part), b.splatLike(part, 0), part);
  });
}

SmallVector<Value> LogitRecompute::clearDropped(const WorkItem &item,
                                                const Slices &slices,
                                                ValueRange sums) const {
  if (!operands.keySum.memory)
    return llvm::to_vector(sums);
  return llvm::map_to_vector(sums, [&](Value sum) {
    return item.clearDropped(item.builder, slices.logits.keySum, sum, zero);
  });
}

SmallVector<Value> LogitRecompute::repeatWithCare(
    TileBuilder &b, ValueRange sums,
    function_ref<SmallVector<Value>(TileBuilder &, const LogitRecompute &)>
        sumAgain) const {
  LogitRecompute careful = withCare();
  return b.where(haveNaN(b, sums), sums,
                 [&](TileBuilder &inner) { return sumAgain(inner, careful); });
}

Value LogitRecompute::haveNaN(TileBuilder &b, ValueRange sums) const {
  // Of all that a position has: infinite sums may add up to NaN, too.
  bool hasDepth = getGradientKind(operands) != GradientKind::Bias;
  Value total;
  for (Value sum : sums) {
    Value some = hasDepth ? b.reduce(ReduceKind::Add, sum, 2) : sum;
    total = total ? b.addf(total, some) : some;
  }
  return b.isNaN(total);
}
