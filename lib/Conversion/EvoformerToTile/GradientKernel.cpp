//===- GradientKernel.cpp - Gradients from recomputed logits --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientKernels.h"
#include "WorkItem.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What cutting off the lower half of an f32 takes away on average, where
/// mantissas are distributed as those of powers are: 2^-8 / (2 ln 2) / 2.
static constexpr double kTruncation = 0.00282;

SmallVector<Value *> GradientOperands::present() {
  SmallVector<Value *> all = {&query, &key, &value, &weighted, &keySum.memory};
  for (Bias &bias : biases)
    all.push_back(&bias.memory);
  all.append(
      {&stats, &delta, &queryGrad, &keyGrad, &valueGrad, &biasGrad.memory});
  llvm::erase_if(all, [](Value *operand) { return !*operand; });
  return all;
}

GradientKind evoformer::getGradientKind(const GradientOperands &operands) {
  if (operands.queryGrad)
    return GradientKind::Query;
  return operands.biasGrad.memory ? GradientKind::Bias : GradientKind::KeyValue;
}

OwnedDim evoformer::getOwnedDim(const GradientOperands &operands) {
  switch (getGradientKind(operands)) {
  case GradientKind::Query:
    return OwnedDim::Queries;
  case GradientKind::KeyValue:
    return OwnedDim::Keys;
  case GradientKind::Bias:
    break;
  }
  const std::array<bool, 5> &summed = operands.biasGrad.broadcast;
  if (!summed[kBiasQ])
    return OwnedDim::Queries;
  return summed[kBiasK] ? OwnedDim::None : OwnedDim::Keys;
}

/// Slowest first, as in the forward kernel: blocks share what the item loops
/// over, heads share cache lines.
enum SpaceDim { kSpaceB, kSpaceRows, kSpaceH, kSpaceBlocks };
/// A gradient of a bias: those of its dimensions that it has, 1 for the others.
enum BiasSpaceDim { kSpaceN = 1, kSpaceQueries = 3, kSpaceKeys = 4 };

SmallVector<Value> evoformer::getGradientSpace(TileBuilder &builder,
                                               const GradientOperands &operands,
                                               const AttentionBlocks &blocks) {
  OpFoldResult sizes[] = {
      builder.dim(operands.query, 0), builder.dim(operands.query, 1),
      builder.dim(operands.query, 2), builder.dim(operands.query, 3),
      builder.dim(operands.key, 3)};
  if (getGradientKind(operands) == GradientKind::Bias) {
    SmallVector<Value> space;
    for (int64_t dim = 0; dim < 5; ++dim) {
      int64_t block = dim == kBiasQ   ? blocks.queries
                      : dim == kBiasK ? blocks.keys
                                      : 1;
      space.push_back(operands.biasGrad.broadcast[dim]
                          ? builder.index(1)
                          : builder.ceilDiv(sizes[dim], block));
    }
    return space;
  }
  SmallVector<Value> space(4);
  space[kSpaceB] = builder.index(sizes[kBiasB]);
  space[kSpaceRows] = builder.ceilDiv(sizes[kBiasN], blocks.rows);
  space[kSpaceH] = builder.index(sizes[kBiasH]);
  space[kSpaceBlocks] = operands.queryGrad
                            ? builder.ceilDiv(sizes[kBiasQ], blocks.queries)
                            : builder.ceilDiv(sizes[kBiasK], blocks.keys);
  return space;
}

namespace {
/// The programs of all kinds: the weights p = 2^(logits - stats) and the
/// gradients of the logits, p * (weighted * value^T - delta), of a tile after
/// the other (Dao et al., "FlashAttention", 2022, appendix B.4).
class GradientProgram {
public:
  GradientProgram(TileBuilder &builder, const AttentionFacts &facts,
                  const GradientOperands &operands,
                  const AttentionBlocks &blocks, bool alignedRows,
                  TargetAttr target)
      : builder(builder), facts(facts), operands(operands), blocks(blocks),
        alignedRows(alignedRows), zero(builder.index(0)),
        // See the forward kernel.
        fastRounding(target.isCPU() ||
                     target.hasProperty("native_bf16_convert")),
        chooseDrops(target.isCPU() || facts.elementType.isF32()),
        parts(cutDepth(facts.elementType, facts.depth)),
        valueParts(cutDepth(facts.elementType, facts.valueDepth)) {}

  void writeQuery();
  void writeKeyValue();
  void writeBias();

private:
  /// Memory of an item, from where its ranges start.
  struct Slices {
    Value query, key, value, weighted, stats, delta;
    LogitsSlices logits;
  };
  /// What a tile needs of its queries: depth parts, and the negatives of
  /// stats (in base 2) and delta [rows, queries].
  struct QueryTiles {
    SmallVector<Value> query, weighted;
    Value stats, delta;
  };
  struct KeyTiles {
    SmallVector<Value> key, value;
  };
  /// [rows, queries, keys] or [rows, keys, queries].
  struct Recomputed {
    Value weights, logits;
  };

  bool needsLogitGradient() const { return operands.delta != nullptr; }

  /// `hasBias`: only these biases.
  Slices slice(const WorkItem &item,
               function_ref<bool(const Bias &)> hasBias = nullptr);
  QueryTiles loadQueries(TileBuilder &b, const WorkItem &item,
                         const Slices &slices, Value offset);
  KeyTiles loadKeys(TileBuilder &b, const WorkItem &item, const Slices &slices,
                    Value offset);
  Recomputed recompute(TileBuilder &b, const Slices &slices,
                       const QueryTiles &queries, const KeyTiles &keys,
                       const LogitsTile &tile, const LogitsTerms &terms = {});

  /// Without an instruction for it, rounding to bf16 costs more than the
  /// exponential; cutting off the lower half is a byte permutation, and a
  /// factor on the sums makes up for it.
  bool truncates() const { return facts.elementType.isBF16() && !fastRounding; }
  Value narrow(TileBuilder &b, Value tile);

  /// sums + a * b for each part.
  SmallVector<Value> accumulate(TileBuilder &b, ValueRange sums, Value a,
                                ArrayRef<Value> parts);
  SmallVector<Value> zeros(int64_t positions, ArrayRef<DepthPart> parts);
  void store(const WorkItem &item, ValueRange sums, ArrayRef<DepthPart> parts,
             double factor, Value memory, const ItemRange &range);

  TileBuilder &builder;
  const AttentionFacts &facts;
  const GradientOperands &operands;
  const AttentionBlocks &blocks;
  bool alignedRows;
  Value zero;
  bool fastRounding, chooseDrops;
  SmallVector<DepthPart> parts, valueParts;
};
} // namespace

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
  for (DepthPart part : parts)
    tiles.query.push_back(
        item.load(b, slices.query, offset, item.queries, part));
  for (DepthPart part : valueParts)
    tiles.weighted.push_back(
        item.load(b, slices.weighted, offset, item.queries, part));
  // Beyond the last query weights are 0 whatever the biases hold.
  Value stats = item.loadStatistic(b, slices.stats, offset, kInfinity);
  tiles.stats = b.mulf(stats, b.splatLike(stats, -llvm::numbers::log2e));
  // Without a key all logits are -inf, and so is stats: no weight then.
  tiles.stats =
      b.select(b.equals(stats, -kInfinity), b.splatLike(stats, 0), tiles.stats);
  if (needsLogitGradient())
    tiles.delta = arith::NegFOp::create(
        b, item.loadStatistic(b, slices.delta, offset, 0));
  return tiles;
}

GradientProgram::KeyTiles GradientProgram::loadKeys(TileBuilder &b,
                                                    const WorkItem &item,
                                                    const Slices &slices,
                                                    Value offset) {
  KeyTiles tiles;
  auto load = [&](Value slice, DepthPart part) {
    Value tile = item.load(b, slice, offset, item.keys, part);
    return operands.keySum.memory
               ? item.clearDropped(b, slices.logits.keySum, tile, offset)
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
                           const LogitsTile &tile, const LogitsTerms &terms) {
  auto multiply = [&](ArrayRef<Value> ofQueries, ArrayRef<Value> ofKeys,
                      Value start) {
    Value sum;
    for (auto [query, key] : llvm::zip_equal(ofQueries, ofKeys)) {
      Value some =
          tile.keysFirst
              ? multiplyTransposed(b, key, query, sum ? Value() : start)
              : multiplyTransposed(b, query, key, sum ? Value() : start);
      sum = sum ? b.addf(sum, some) : some;
    }
    return sum;
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
  result.logits = b.mulf(result.weights, difference);
  // A dropped key's value may hold anything.
  if (chooseDrops && !operands.biases.empty())
    result.logits = b.select(b.equals(result.weights, 0),
                             b.splatLike(result.logits, 0), result.logits);
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
  Value narrow = b.convert(tile, facts.elementType);
  if (truncates()) {
    auto truncate = narrow.getDefiningOp<arith::TruncFOp>();
    truncate.setRoundingmode(arith::RoundingMode::toward_zero);
    truncate.setFastmath(arith::FastMathFlags::nnan);
  }
  return narrow;
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

//===----------------------------------------------------------------------===//
// The query's gradient: a loop over keys
//===----------------------------------------------------------------------===//

void GradientProgram::writeQuery() {
  Value id[4];
  for (int64_t dim = 0; dim < 4; ++dim)
    id[dim] = WorkItemIdOp::create(builder, dim);
  Value row = builder.mul(id[kSpaceRows], builder.index(blocks.rows));
  Value query = builder.mul(id[kSpaceBlocks], builder.index(blocks.queries));
  WorkItem item{
      builder,
      alignedRows,
      id[kSpaceB],
      id[kSpaceH],
      ItemRange::ofBlock(builder, builder.dim(operands.query, 1), row,
                         blocks.rows),
      ItemRange::ofBlock(builder, builder.dim(operands.query, 3), query,
                         blocks.queries),
      ItemRange::whole(builder, builder.dim(operands.key, 3), blocks.keys)};
  Slices slices = slice(item);
  QueryTiles queries = loadQueries(builder, item, slices, zero);
  auto loop = scf::ForOp::create(
      builder, zero, builder.index(item.keys.extent),
      builder.index(blocks.keys), zeros(blocks.queries, parts),
      [&](OpBuilder &nested, Location loc, Value key, ValueRange sums) {
        TileBuilder b(loc, nested);
        KeyTiles keys = loadKeys(b, item, slices, key);
        LogitsTile tile{{blocks.rows, blocks.queries, blocks.keys},
                        /*keysFirst=*/false,
                        {zero, zero, key}};
        Recomputed some = recompute(b, slices, queries, keys, tile);
        scf::YieldOp::create(b, accumulate(b, sums, some.logits, keys.key));
      });
  store(item, loop.getResults(), parts, facts.scale, operands.queryGrad,
        item.queries);
}

//===----------------------------------------------------------------------===//
// The gradients of key and value: a loop over queries
//===----------------------------------------------------------------------===//

void GradientProgram::writeKeyValue() {
  Value id[4];
  for (int64_t dim = 0; dim < 4; ++dim)
    id[dim] = WorkItemIdOp::create(builder, dim);
  Value row = builder.mul(id[kSpaceRows], builder.index(blocks.rows));
  Value key = builder.mul(id[kSpaceBlocks], builder.index(blocks.keys));
  WorkItem item{
      builder,
      alignedRows,
      id[kSpaceB],
      id[kSpaceH],
      ItemRange::ofBlock(builder, builder.dim(operands.query, 1), row,
                         blocks.rows),
      ItemRange::whole(builder, builder.dim(operands.query, 3), blocks.queries),
      ItemRange::ofBlock(builder, builder.dim(operands.key, 3), key,
                         blocks.keys),
      /*ownsKeyBlock=*/true};
  Slices slices = slice(item);
  KeyTiles keys = loadKeys(builder, item, slices, zero);
  SmallVector<Value> start;
  if (operands.keyGrad)
    start = zeros(blocks.keys, parts);
  size_t numKeySums = start.size();
  if (operands.valueGrad)
    llvm::append_range(start, zeros(blocks.keys, valueParts));
  auto loop = scf::ForOp::create(
      builder, zero, builder.index(item.queries.extent),
      builder.index(blocks.queries), start,
      [&](OpBuilder &nested, Location loc, Value query, ValueRange sums) {
        TileBuilder b(loc, nested);
        QueryTiles queries = loadQueries(b, item, slices, query);
        LogitsTile tile{{blocks.rows, blocks.keys, blocks.queries},
                        /*keysFirst=*/true,
                        {zero, query, zero}};
        Recomputed some = recompute(b, slices, queries, keys, tile);
        SmallVector<Value> next;
        if (operands.keyGrad)
          next = accumulate(b, sums.take_front(numKeySums), some.logits,
                            queries.query);
        if (operands.valueGrad)
          llvm::append_range(next, accumulate(b, sums.drop_front(numKeySums),
                                              some.weights, queries.weighted));
        scf::YieldOp::create(b, next);
      });
  if (operands.keyGrad)
    store(item, loop.getResults().take_front(numKeySums), parts, facts.scale,
          operands.keyGrad, item.keys);
  if (operands.valueGrad)
    store(item, loop.getResults().drop_front(numKeySums), valueParts, 1,
          operands.valueGrad, item.keys);
}

//===----------------------------------------------------------------------===//
// A bias's gradient: a loop over what is summed
//===----------------------------------------------------------------------===//

void GradientProgram::writeBias() {
  const std::array<bool, 5> &summed = operands.biasGrad.broadcast;
  const int64_t block[] = {1, 1, 1, blocks.queries, blocks.keys};
  OpFoldResult sizes[] = {
      builder.dim(operands.query, 0), builder.dim(operands.query, 1),
      builder.dim(operands.query, 2), builder.dim(operands.query, 3),
      builder.dim(operands.key, 3)};
  std::array<Value, 5> id, count;
  Value total = builder.index(1);
  for (int64_t dim = 0; dim < 5; ++dim) {
    id[dim] = WorkItemIdOp::create(builder, dim);
    if (!summed[dim])
      continue;
    count[dim] = builder.ceilDiv(sizes[dim], block[dim]);
    total = builder.mul(total, count[dim]);
  }
  bool keysFirst = getOwnedDim(operands) == OwnedDim::Keys;
  SmallVector<int64_t, 3> shape = {1, blocks.queries, blocks.keys};
  if (keysFirst)
    std::swap(shape[1], shape[2]);
  // Biases that no step changes are read once. An item that exists has every
  // dimension that they have.
  auto isFixed = [&](const Bias &bias) {
    for (int64_t dim = 0; dim < 5; ++dim)
      if (summed[dim] && !bias.broadcast[dim])
        return false;
    return true;
  };
  LogitsTerms fixed;
  {
    auto range = [&](int64_t dim) {
      return ItemRange::ofBlock(builder, sizes[dim],
                                builder.mul(id[dim], builder.index(block[dim])),
                                block[dim]);
    };
    WorkItem item{builder,       alignedRows,          id[kBiasB],
                  id[kBiasH],    range(kBiasN),        range(kBiasQ),
                  range(kBiasK), /*ownsKeyBlock=*/true};
    LogitsSlices slices;
    for (const Bias &bias : operands.biases)
      if (isFixed(bias))
        slices.biases.push_back(item.sliceBias(bias));
    addTerms(builder, slices, {shape, keysFirst, {zero, zero, zero}}, fixed);
  }
  Value start = builder.splat(shape, builder.getF32Type(), 0);
  auto loop = scf::ForOp::create(
      builder, zero, total, builder.index(1), ValueRange{start},
      [&](OpBuilder &nested, Location loc, Value step, ValueRange sums) {
        TileBuilder b(loc, nested);
        // The place of the step, the last summed dimension fastest.
        std::array<Value, 5> place = id;
        Value rest = step;
        for (int64_t dim = 4, first = llvm::find(summed, true) - summed.begin();
             dim >= 0; --dim) {
          if (!summed[dim])
            continue;
          place[dim] = rest;
          if (dim == first)
            continue;
          place[dim] = arith::RemUIOp::create(b, rest, count[dim]);
          rest = arith::DivUIOp::create(b, rest, count[dim]);
        }
        auto range = [&](int64_t dim) {
          return ItemRange::ofBlock(b, sizes[dim],
                                    b.mul(place[dim], b.index(block[dim])),
                                    block[dim]);
        };
        WorkItem item{b,
                      alignedRows,
                      place[kBiasB],
                      place[kBiasH],
                      range(kBiasN),
                      range(kBiasQ),
                      range(kBiasK),
                      /*ownsKeyBlock=*/true};
        Slices slices =
            slice(item, [&](const Bias &bias) { return !isFixed(bias); });
        Value origin = b.index(0);
        QueryTiles queries = loadQueries(b, item, slices, origin);
        KeyTiles keys = loadKeys(b, item, slices, origin);
        LogitsTile tile{shape, keysFirst, {origin, origin, origin}};
        Recomputed some = recompute(b, slices, queries, keys, tile, fixed);
        scf::YieldOp::create(b, b.addf(sums[0], some.logits));
      });

  Value sum = loop.getResult(0);
  SmallVector<SliceDim> dims(5);
  OpFoldResult origin = builder.getIndexAttr(0);
  for (int64_t dim : {kBiasB, kBiasN, kBiasH})
    dims[dim] = {summed[dim] ? origin : OpFoldResult(id[dim]), {}};
  // The tile's first dimension.
  dims[kBiasN].extent = builder.getIndexAttr(1);
  SmallVector<bool> inBounds = {true};
  for (int64_t dim : {kBiasK, kBiasQ}) {
    if (!summed[dim])
      continue;
    // The last dimension of the tile that is left.
    sum = builder.reduce(ReduceKind::Add, sum,
                         TileBuilder::typeOf(sum).getRank() - 1);
    dims[dim] = {origin, {}};
  }
  for (int64_t dim : {kBiasQ, kBiasK}) {
    if (summed[dim])
      continue;
    Value first = builder.mul(id[dim], builder.index(block[dim]));
    ItemRange range = ItemRange::ofBlock(
        builder, builder.dim(operands.biasGrad.memory, dim), first, block[dim]);
    dims[dim] = {first, range.extent};
    inBounds.push_back(range.fits);
  }
  Value memory = builder.slice(operands.biasGrad.memory, dims);
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  builder.store(builder.convert(sum, element), memory,
                SmallVector<Value>(inBounds.size(), zero), inBounds);
}

KernelOp evoformer::createGradientKernel(KernelFactory &factory, Location loc,
                                         const AttentionFacts &facts,
                                         const GradientOperands &operands,
                                         const GradientSchedule &schedule,
                                         bool alignedRows) {
  GradientOperands inside = operands;
  SmallVector<Type> types;
  for (Value *operand : inside.present())
    types.push_back(operand->getType());
  GradientKind kind = getGradientKind(operands);
  StringRef suffix = kind == GradientKind::Query  ? "query_grad"
                     : kind == GradientKind::Bias ? "bias_grad"
                                                  : "key_value_grad";
  return factory.create(
      loc, suffix, types, schedule.attr,
      [&](TileBuilder &builder, ValueRange arguments) {
        for (auto [operand, argument] : llvm::zip(inside.present(), arguments))
          *operand = argument;
        GradientProgram program(builder, facts, inside, schedule.blocks,
                                alignedRows, factory.getTarget());
        if (kind == GradientKind::Query)
          program.writeQuery();
        else if (kind == GradientKind::KeyValue)
          program.writeKeyValue();
        else
          program.writeBias();
      });
}
