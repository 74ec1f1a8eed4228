//===- GradientProgram.cpp - Recomputed weights and gradients of logits ---===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientProgram.h"

#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What cutting off the lower half of an f32 takes away on average, where
/// mantissas are distributed as those of powers are: 2^-8 / (2 ln 2) / 2.
static constexpr double kTruncation = 0.00282;

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

GradientProgram::Slices
GradientProgram::slice(const WorkItem &item,
                       function_ref<bool(const Bias &)> hasBias) {
  Slices slices;
  slices.query = item.sliceSequence(operands.query, item.queries);
  slices.weighted = item.sliceSequence(operands.weighted, item.queries);
  slices.key = item.sliceSequence(operands.key, item.keys);
  slices.value = item.sliceSequence(operands.value, item.keys);
  slices.stats = item.sliceStatistic(operands.stats);
  if (needsLogitGradient())
    slices.delta = item.sliceStatistic(operands.delta);
  slices.logits.scale = facts.scale;
  slices.logits.chooseDrops = chooseDrops;
  if (operands.keySum.memory)
    slices.logits.keySum = item.sliceKeySum(operands.keySum);
  for (const Bias &bias : operands.biases)
    if (!hasBias || hasBias(bias))
      slices.logits.biases.push_back(item.sliceBias(bias));
  return slices;
}

GradientProgram::QueryTiles GradientProgram::loadQueries(TileBuilder &b,
                                                         const WorkItem &item,
                                                         const Slices &slices,
                                                         Value offset) {
  QueryTiles tiles;
  // An item that owns queries stores nothing beyond the last.
  bool ownsQueries = getOwnedDim(operands) == OwnedDim::Queries;
  for (DepthPart part : parts)
    tiles.query.push_back(
        item.load(b, slices.query, offset, item.queries, part, ownsQueries));
  for (DepthPart part : valueParts)
    tiles.weighted.push_back(
        item.load(b, slices.weighted, offset, item.queries, part, ownsQueries));
  // Beyond the last query weights are 0 where scores are finite.
  auto outside = [&](double value) {
    return ownsQueries ? std::nullopt : std::optional<double>(value);
  };
  Value stats = item.loadStatistic(b, slices.stats, offset, outside(kInfinity));
  tiles.stats = b.mulf(stats, b.splatLike(stats, -llvm::numbers::log2e));
  // Without a key all logits are -inf, and so is stats: no weight then.
  tiles.stats =
      b.select(b.equals(stats, -kInfinity), b.splatLike(stats, 0), tiles.stats);
  if (needsLogitGradient())
    tiles.delta = arith::NegFOp::create(
        b, item.loadStatistic(b, slices.delta, offset, outside(0)));
  return tiles;
}

GradientProgram::KeyTiles GradientProgram::loadKeys(TileBuilder &b,
                                                    const WorkItem &item,
                                                    const Slices &slices,
                                                    Value offset) {
  KeyTiles tiles;
  // Keys beyond the last are dropped ones.
  bool hasDropped = operands.keySum.memory != nullptr;
  auto load = [&](Value slice, DepthPart part) {
    Value tile = item.load(b, slice, offset, item.keys, part, hasDropped);
    return hasDropped ? item.clearDropped(b, slices.logits.keySum, tile, offset)
                      : tile;
  };
  for (DepthPart part : parts)
    tiles.key.push_back(load(slices.key, part));
  if (needsLogitGradient())
    for (DepthPart part : valueParts)
      tiles.value.push_back(load(slices.value, part));
  return tiles;
}

GradientProgram::Recomputed
GradientProgram::recompute(TileBuilder &b, const Slices &slices,
                           const QueryTiles &queries, const KeyTiles &keys,
                           const LogitsTile &tile, const LogitsTerms &terms,
                           Value sum) {
  auto multiply = [&](ArrayRef<Value> ofQueries, ArrayRef<Value> ofKeys,
                      Value start) {
    Value product;
    for (auto [query, key] : llvm::zip_equal(ofQueries, ofKeys)) {
      Value from = product ? Value() : start;
      Value some = tile.keysFirst ? multiplyTransposed(b, key, query, from)
                                  : multiplyTransposed(b, query, key, from);
      product = product ? b.addf(product, some) : some;
    }
    return product;
  };
  constexpr LogitDim perQuery[] = {LogitDim::Rows, LogitDim::Queries};
  Value scores = multiply(queries.query, keys.key, {});
  Value logits = buildLogits(b, slices.logits, tile, scores, terms);
  Recomputed result;
  result.weights =
      b.exp2(b.addf(logits, tile.broadcast(b, queries.stats, perQuery)));
  if (!needsLogitGradient())
    return result;
  // The product starts from -delta.
  Value difference = multiply(queries.weighted, keys.value,
                              tile.broadcast(b, queries.delta, perQuery));
  // A dropped key's value may hold anything.
  if (chooseDrops && !operands.biases.empty())
    difference = b.select(b.equals(result.weights, 0),
                          b.splatLike(difference, 0), difference);
  if (sum)
    result.logits = b.fma(result.weights, difference, sum);
  else
    result.logits = b.mulf(result.weights, difference);
  return result;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

SmallVector<Value> GradientProgram::zeros(int64_t positions,
                                          ArrayRef<DepthPart> parts) {
  return llvm::map_to_vector(parts, [&](DepthPart part) {
    return builder.splat({blocks.rows, positions, part.size},
                         builder.getF32Type(), 0);
  });
}

Value GradientProgram::narrow(TileBuilder &b, Value tile) {
  return truncates() ? b.truncate(tile, facts.elementType)
                     : b.convert(tile, facts.elementType);
}

SmallVector<Value> GradientProgram::accumulate(TileBuilder &b, ValueRange sums,
                                               Value a, ArrayRef<Value> parts) {
  Value operand = narrow(b, a);
  SmallVector<Value> result;
  for (auto [sum, part] : llvm::zip_equal(sums, parts)) {
    // Long sums of f32 are made of short ones.
    bool isLong = facts.elementType.isF32();
    Value start = isLong ? b.splatLike(sum, 0) : sum;
    Value product = MmaOp::create(b, operand, part, start);
    result.push_back(isLong ? b.addf(sum, product) : product);
  }
  return result;
}

void GradientProgram::store(const WorkItem &item, ValueRange sums,
                            ArrayRef<DepthPart> parts, double factor,
                            Value memory, const ItemRange &range) {
  Value slice = item.sliceSequence(memory, range);
  if (truncates())
    factor *= 1 + kTruncation;
  for (auto [sum, part] : llvm::zip_equal(sums, parts))
    item.store(factor == 1 ? sum
                           : builder.mulf(sum, builder.splatLike(sum, factor)),
               slice, range, part.start);
}
