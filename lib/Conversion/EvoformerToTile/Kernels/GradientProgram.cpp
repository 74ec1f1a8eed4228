//===- GradientProgram.cpp - Recomputed weights and gradients of logits ---===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientProgram.h"
#include "Truncation.h"

#include "llvm/Support/SaveAndRestore.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool evoformer::choosesDrops(TargetAttr target, const AttentionFacts &facts) {
  constexpr int64_t kLargeDepth = 64;
  return target.isCPU() || facts.elementType.isF32() ||
         std::max(facts.depth, facts.valueDepth) > kLargeDepth;
}

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

GradientProgram::Slices GradientProgram::slice(const WorkItem &item) {
  Slices slices;
  slices.query = item.sliceSequence(operands.query, item.queries);
  slices.weighted = item.sliceSequence(operands.weighted, item.queries);
  slices.key = item.sliceSequence(operands.key, item.keys);
  slices.value = item.sliceSequence(operands.value, item.keys);
  slices.maximum = item.sliceStatistic(operands.stats, 0);
  slices.logSum = item.sliceStatistic(operands.stats, 1);
  if (needsLogitGradient())
    slices.delta = item.sliceStatistic(operands.delta);
  slices.logits.scale = facts.scale;
  slices.logits.unit = getLogitUnit(facts.elementType);
  slices.logits.drops = getDrops();
  if (operands.keySum.memory)
    slices.logits.keySum = item.sliceKeySum(operands.keySum);
  for (const Bias &bias : operands.biases)
    slices.logits.biases.push_back(item.sliceBias(bias));
  return slices;
}

GradientProgram::QueryTiles GradientProgram::loadQueries(TileBuilder &b,
                                                         const WorkItem &item,
                                                         const Slices &slices,
                                                         Value offset) {
  QueryTiles tiles;
  // An item that owns queries stores nothing beyond the last. Elsewhere these
  // have weights of 0, and reading the last one again adds nothing where it is
  // finite: 16-bit types on GPUs save the choices that zeros take.
  bool ownsQueries = getOwnedDim(operands) == OwnedDim::Queries;
  bool anyOutside = ownsQueries || !chooseDrops;
  // A key may be infinite, where zeros have no finite score; but the last query
  // would also fill what atoms of matrix instructions have beyond the depth.
  constexpr int64_t kDepthOfAtoms = 16;
  bool repeatsLast = anyOutside || llvm::all_of(parts, [](DepthPart part) {
                       return part.size % kDepthOfAtoms == 0;
                     });
  for (DepthPart part : parts)
    tiles.query.push_back(
        item.load(b, slices.query, offset, item.queries, part, repeatsLast));
  for (DepthPart part : valueParts)
    tiles.weighted.push_back(
        item.load(b, slices.weighted, offset, item.queries, part, anyOutside));
  auto negative = [&](Value slice, double outside) -> Value {
    return arith::NegFOp::create(
        b, item.loadStatistic(b, slice, offset,
                              ownsQueries ? std::nullopt
                                          : std::optional<double>(outside)));
  };
  // Beyond the last query weights are 0 where scores are finite.
  tiles.maximum = negative(slices.maximum, kInfinity);
  tiles.logSum = negative(slices.logSum, 0);
  if (raisesExponents())
    tiles.logSum = b.addf(tiles.logSum,
                          b.splatLike(tiles.logSum, getTruncationExponent()));
  if (needsLogitGradient())
    tiles.delta = negative(slices.delta, 0);
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
                           const LogitsTile &tile, Value sum) {
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
  Value scores = multiply(queries.query, keys.key, keys.keyColumns, {});
  Value logits = buildLogits(b, slices.logits, tile, scores);
  Value dropped = choosesZeros() ? b.equals(logits, -kInfinity) : Value();
  Recomputed result;
  result.dropped = dropped;
  // The maximum first: where it is large, its sum with the logarithm would
  // have no digits for that.
  Value relative = b.addf(logits, tile.broadcast(b, queries.maximum, perQuery));
  result.weights =
      b.exp2(b.fma(relative, b.splatLike(relative, slices.logits.unit),
                   tile.broadcast(b, queries.logSum, perQuery)));
  // Nor does the logarithm of a row that keeps a NaN reach what the row drops.
  if (dropped)
    result.weights = b.select(dropped, b.splatLike(logits, 0), result.weights);
  if (!needsLogitGradient())
    return result;
  // The product starts from -delta.
  Value difference = multiply(queries.weighted, keys.value, keys.valueColumns,
                              tile.broadcast(b, queries.delta, perQuery));
  // A dropped key's value may hold anything, and so may delta.
  if (dropped)
    difference = b.select(dropped, b.splatLike(difference, 0), difference);
  if (sum)
    result.logits = b.fma(result.weights, difference, sum);
  else
    result.logits = b.mulf(result.weights, difference);
  return result;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

SmallVector<Value> GradientProgram::clearNaN(TileBuilder &b,
                                             ArrayRef<Value> parts) {
  if (!chooseDrops || operands.biases.empty())
    return llvm::to_vector(parts);
  return llvm::map_to_vector(parts, [&](Value part) {
    return b.select(b.isNaN(part), b.splatLike(part, 0), part);
  });
}

SmallVector<Value> GradientProgram::repeatWithCare(
    TileBuilder &b, ValueRange sums,
    llvm::function_ref<SmallVector<Value>(TileBuilder &)> sumAgain) {
  // Of all that a position has: infinite sums may add up to NaN, too.
  bool hasDepth = getGradientKind(operands) != GradientKind::Bias;
  Value total;
  for (Value sum : sums) {
    Value some = hasDepth ? b.reduce(ReduceKind::Add, sum, 2) : sum;
    total = total ? b.addf(total, some) : some;
  }
  llvm::SaveAndRestore choose(chooseDrops, true);
  llvm::SaveAndRestore chooseAll(choosesAll, true);
  return b.where(b.isNaN(total), sums, sumAgain);
}

SmallVector<Value> GradientProgram::clearDropped(const WorkItem &item,
                                                 const Slices &slices,
                                                 ValueRange sums) {
  if (!operands.keySum.memory)
    return llvm::to_vector(sums);
  return llvm::map_to_vector(sums, [&](Value sum) {
    return item.clearDropped(item.builder, slices.logits.keySum, sum, zero);
  });
}

SmallVector<Value> GradientProgram::zeros(TileBuilder &b, int64_t positions,
                                          ArrayRef<DepthPart> parts) {
  return llvm::map_to_vector(parts, [&](DepthPart part) {
    return b.splat({blocks.rows, positions, part.size}, b.getF32Type(), 0);
  });
}

Value GradientProgram::narrowWeights(TileBuilder &b, Value weights) {
  return truncates() ? b.truncate(weights, facts.elementType)
                     : b.convert(weights, facts.elementType);
}

Value GradientProgram::narrowLogits(TileBuilder &b, Value logits) {
  return truncates() ? b.round(logits, facts.elementType)
                     : b.convert(logits, facts.elementType);
}

SmallVector<Value> GradientProgram::accumulate(TileBuilder &b, ValueRange sums,
                                               Value a, ArrayRef<Value> parts) {
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

Value GradientProgram::sliceGradient(const WorkItem &item,
                                     const Bias &gradient) {
  OpFoldResult origin = builder.getIndexAttr(0);
  auto at = [&](int64_t dim, Value index) {
    return gradient.broadcast[dim] ? origin : OpFoldResult(index);
  };
  // Where it broadcasts there is one row.
  return item.builder.slice(
      gradient.memory,
      {{at(kBiasB, item.batch), {}},
       {at(kBiasN, item.rows.start), gradient.broadcast[kBiasN]
                                         ? OpFoldResult(builder.getIndexAttr(1))
                                         : item.rows.extent},
       {at(kBiasH, item.head), {}},
       {item.queries.start, item.queries.extent},
       {item.keys.start, item.keys.extent}});
}

void GradientProgram::storeLogits(TileBuilder &b, const WorkItem &item,
                                  Value logits, Value narrow,
                                  const Bias &gradient, Value key,
                                  Value query) {
  Value memory = sliceGradient(item, gradient);
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  b.store(element == facts.elementType ? narrow : b.convert(logits, element),
          memory, {zero, query ? query : zero, key},
          {item.rows.fits, item.queries.fits, item.keys.fits},
          operands.alignedLogitGrads ? getKeyAlignment(element, blocks.keys)
                                     : 0);
}

void GradientProgram::store(const WorkItem &item, ValueRange sums,
                            ArrayRef<DepthPart> parts, double factor,
                            Value memory, const ItemRange &range) {
  Value slice = item.sliceSequence(memory, range);
  for (auto [sum, part] : llvm::zip_equal(sums, parts))
    item.store(factor == 1 ? sum
                           : item.builder.mulf(
                                 sum, item.builder.splatLike(sum, factor)),
               slice, range, part.start);
}
