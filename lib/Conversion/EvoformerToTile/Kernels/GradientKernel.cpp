//===- GradientKernel.cpp - Gradients from recomputed logits --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLoop.h"
#include "GradientProgram.h"
#include "Truncation.h"

#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

SmallVector<Value *> GradientOperands::present() {
  SmallVector<Value *> all = {&query, &key, &value, &weighted, &keySum.memory};
  for (Bias &bias : biases)
    all.push_back(&bias.memory);
  all.append(
      {&stats, &delta, &queryGrad, &keyGrad, &valueGrad, &biasGrad.memory});
  for (Bias &gradient : logitGrads)
    all.push_back(&gradient.memory);
  all.append({&stepsOfPart, &keysOfItem});
  llvm::erase_if(all, [](Value *operand) { return !*operand; });
  return all;
}

GradientKind evoformer::getGradientKind(const GradientOperands &operands) {
  if (operands.keysOfItem)
    return GradientKind::Joint;
  if (operands.biasGrad.memory)
    return operands.queryGrad ? GradientKind::QueryBias : GradientKind::Bias;
  return operands.queryGrad ? GradientKind::Query : GradientKind::KeyValue;
}

OwnedDim evoformer::getOwnedDim(const GradientOperands &operands) {
  switch (getGradientKind(operands)) {
  case GradientKind::Query:
  case GradientKind::QueryBias:
    return OwnedDim::Queries;
  case GradientKind::KeyValue:
  case GradientKind::Joint:
    return OwnedDim::Keys;
  case GradientKind::Bias:
    break;
  }
  const std::array<bool, 5> &summed = operands.biasGrad.broadcast;
  if (!summed[kBiasQ])
    return OwnedDim::Queries;
  return summed[kBiasK] ? OwnedDim::None : OwnedDim::Keys;
}

SmallVector<Value> evoformer::getGradientSpace(TileBuilder &builder,
                                               const GradientOperands &operands,
                                               const AttentionBlocks &blocks) {
  BlockGrid grid = BlockGrid::of(builder, operands.query, operands.key, blocks);
  if (operands.biasGrad.memory) {
    SmallVector<Value> space;
    for (int64_t dim = 0; dim < 5; ++dim)
      space.push_back(operands.biasGrad.broadcast[dim]
                          ? builder.index(1)
                          : grid.count(builder, dim));
    if (operands.stepsOfPart)
      space.push_back(builder.index(builder.dim(operands.biasGrad.memory, 0)));
    return space;
  }
  SmallVector<Value> space(4);
  space[kSpaceB] = grid.count(builder, kBiasB);
  space[kSpaceRows] = grid.count(builder, kBiasN);
  space[kSpaceH] = grid.count(builder, kBiasH);
  space[kSpaceBlocks] =
      grid.count(builder, operands.queryGrad ? kBiasQ : kBiasK);
  return space;
}

//===----------------------------------------------------------------------===//
// The query's gradient: a loop over keys
//===----------------------------------------------------------------------===//

void GradientProgram::writeQuery() {
  WorkItem item = WorkItem::find(builder, alignedRows, operands.query,
                                 operands.key, blocks);
  Slices slices = slice(item);
  QueryTiles queries = loadQueries(builder, item, slices, zero);
  auto sumKeys = [&](TileBuilder &outer, int64_t block) {
    WorkItem some = item;
    some.keys.block = block;
    slices.logits.drops = getDrops();
    return BlockLoop::along(outer, LogitDim::Keys, some)
        .run(outer, zeros(outer, blocks.queries, parts),
             [&](TileBuilder &b, const BlockStep &step, ValueRange sums) {
               Value key = step.offset(LogitDim::Keys);
               KeyTiles keys = loadKeys(b, some, slices, key);
               Recomputed again =
                   recompute(b, slices, queries, keys, step.tile);
               Value narrow = narrowLogits(b, again.logits);
               for (const Bias &gradient : operands.logitGrads)
                 storeLogits(b, some, again.logits, narrow, gradient, key);
               return accumulate(b, sums, narrow, clearNaN(b, keys.key));
             });
  };
  SmallVector<Value> sums = sumKeys(builder, blocks.keys);
  bool mayDrop = !operands.biases.empty() ||
                 (operands.keySum.memory && !operands.keySum.isTail);
  if (!chooseDrops && mayDrop)
    sums = repeatWithCare(builder, sums, [&](TileBuilder &b) {
      return sumKeys(b, getCarefulBlock(blocks.keys));
    });
  store(item, sums, parts, facts.scale, operands.queryGrad, item.queries);
}

//===----------------------------------------------------------------------===//
// The gradients of key and value: a loop over queries
//===----------------------------------------------------------------------===//

void GradientProgram::writeKeyValue() {
  WorkItem item =
      WorkItem::find(builder, alignedRows, operands.query, operands.key, blocks,
                     /*ownsKeyBlock=*/true);
  Slices slices = slice(item);
  KeyTiles keys = loadKeys(builder, item, slices, zero);
  KeySums sums = sumQueries(builder, item, slices, keys, blocks.queries,
                            /*keysFirst=*/true,
                            startKeySums(builder, operands.keyGrad != nullptr,
                                         operands.valueGrad != nullptr));
  // One after the other, which takes fewer registers than both at once.
  if (operands.keyGrad && !chooseDrops && !operands.biases.empty())
    sums.key = repeatWithCare(builder, sums.key, [&](TileBuilder &b) {
      return sumQueries(b, item, slices, keys, getCarefulBlock(blocks.queries),
                        /*keysFirst=*/true,
                        startKeySums(b, /*ofKey=*/true, /*ofValue=*/false))
          .carried();
    });
  if (operands.valueGrad)
    sums.value =
        sumValuesWithCare(item, slices, keys, /*keysFirst=*/true, sums.value);
  storeKeySums(item, slices, sums);
}

GradientProgram::KeySums
GradientProgram::sumQueries(TileBuilder &outer, const WorkItem &item,
                            Slices slices, const KeyTiles &keys,
                            int64_t queryBlock, bool keysFirst,
                            const KeySums &start) {
  WorkItem some = item;
  some.queries.block = queryBlock;
  slices.logits.drops = getDrops();
  return start.with(
      BlockLoop::along(outer, LogitDim::Queries, some, keysFirst)
          .run(outer, start.carried(),
               [&](TileBuilder &b, const BlockStep &step, ValueRange sums) {
                 QueryTiles queries = loadQueries(
                     b, some, slices, step.offset(LogitDim::Queries));
                 Recomputed again =
                     recompute(b, slices, queries, keys, step.tile);
                 Value narrow = start.key.empty()
                                    ? Value()
                                    : narrowLogits(b, again.logits);
                 return accumulateKeys(b, start.with(sums), step.tile, narrow,
                                       again, queries)
                     .carried();
               }));
}

SmallVector<Value> GradientProgram::sumValuesWithCare(const WorkItem &item,
                                                      const Slices &slices,
                                                      const KeyTiles &keys,
                                                      bool keysFirst,
                                                      ValueRange sums) {
  // What the prepared sum drops is cleared where sums are stored. Where GPUs'
  // loops choose, registers do not do for a second one.
  if (operands.biases.empty() || (chooseDrops && !choosesAll))
    return llvm::to_vector(sums);
  return repeatWithCare(item.builder, sums, [&](TileBuilder &b) {
    KeySums start = startKeySums(b, /*ofKey=*/false, /*ofValue=*/true);
    start.spoilt = start.value;
    KeySums again =
        sumQueries(b, item, slices, keys, getCarefulBlock(blocks.queries),
                   keysFirst, start);
    SmallVector<Value> result;
    for (auto [sum, spoilt] : llvm::zip_equal(again.value, again.spoilt))
      result.push_back(
          b.select(b.equals(spoilt, 0), sum,
                   b.splatLike(sum, std::numeric_limits<double>::quiet_NaN())));
    return result;
  });
}

GradientProgram::KeySums
GradientProgram::startKeySums(TileBuilder &b, bool ofKey, bool ofValue) {
  KeySums start;
  if (ofKey)
    start.key = zeros(b, blocks.keys, parts);
  if (ofValue)
    start.value = zeros(b, blocks.keys, valueParts);
  return start;
}

GradientProgram::KeySums GradientProgram::accumulateKeys(
    TileBuilder &b, const KeySums &sums, const LogitsTile &tile, Value narrow,
    const Recomputed &again, const QueryTiles &queries) {
  auto withKeysFirst = [&](Value value) {
    return tile.keysFirst ? value : transposeLast(b, value);
  };
  KeySums next;
  if (!sums.key.empty())
    next.key = accumulate(b, sums.key, withKeysFirst(narrow),
                          clearNaN(b, queries.query));
  if (sums.value.empty())
    return next;
  Value weights = withKeysFirst(narrowWeights(b, again.weights));
  if (sums.spoilt.empty()) {
    next.value = accumulate(b, sums.value, weights, queries.weighted);
    return next;
  }
  // Apart: what is finite, and the number of what is not among kept keys.
  SmallVector<Value> finite, spoilt;
  for (Value part : queries.weighted) {
    Value isFinite = b.isFinite(part);
    finite.push_back(b.select(isFinite, part, b.splatLike(part, 0)));
    spoilt.push_back(
        b.select(isFinite, b.splatLike(part, 0), b.splatLike(part, 1)));
  }
  Value one = b.splatLike(again.weights, 1);
  Value kept =
      again.dropped ? b.select(again.dropped, b.splatLike(one, 0), one) : one;
  next.value = accumulate(b, sums.value, weights, finite);
  next.spoilt =
      accumulate(b, sums.spoilt,
                 withKeysFirst(b.convert(kept, facts.elementType)), spoilt);
  return next;
}

void GradientProgram::storeKeySums(const WorkItem &item, const Slices &slices,
                                   const KeySums &sums) {
  if (operands.keyGrad)
    store(item, clearDropped(item, slices, sums.key), parts,
          raisesExponents() ? facts.scale / (1 + kTruncationShare)
                            : facts.scale,
          operands.keyGrad, item.keys);
  if (operands.valueGrad)
    store(item, clearDropped(item, slices, sums.value), valueParts, 1,
          operands.valueGrad, item.keys);
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
  StringRef suffix = kind == GradientKind::Joint  ? "all_grads"
                     : operands.queryGrad         ? "query_grad"
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
        else if (kind == GradientKind::Joint)
          program.writeJoint();
        else
          program.writeBias();
      });
}
