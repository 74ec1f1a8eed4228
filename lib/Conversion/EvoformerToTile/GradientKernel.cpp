//===- GradientKernel.cpp - Gradients from recomputed logits --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientProgram.h"
#include "Truncation.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

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
  OpFoldResult sizes[] = {
      builder.dim(operands.query, 0), builder.dim(operands.query, 1),
      builder.dim(operands.query, 2), builder.dim(operands.query, 3),
      builder.dim(operands.key, 3)};
  if (operands.biasGrad.memory) {
    SmallVector<Value> space;
    for (int64_t dim = 0; dim < 5; ++dim) {
      int64_t block = dim == kBiasQ   ? blocks.queries
                      : dim == kBiasK ? blocks.keys
                                      : 1;
      space.push_back(operands.biasGrad.broadcast[dim]
                          ? builder.index(1)
                          : builder.ceilDiv(sizes[dim], block));
    }
    if (operands.stepsOfPart)
      space.push_back(builder.index(builder.dim(operands.biasGrad.memory, 0)));
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
    slices.logits.chooseDrops = chooseDrops;
    auto loop = scf::ForOp::create(
        outer, zero, outer.index(item.keys.extent), outer.index(block),
        zeros(outer, blocks.queries, parts),
        [&](OpBuilder &nested, Location loc, Value key, ValueRange sums) {
          TileBuilder b(loc, nested);
          KeyTiles keys = loadKeys(b, some, slices, key);
          LogitsTile tile{{blocks.rows, blocks.queries, block},
                          /*keysFirst=*/false,
                          {zero, zero, key}};
          Recomputed again = recompute(b, slices, queries, keys, tile);
          Value narrow = narrowLogits(b, again.logits);
          for (const Bias &gradient : operands.logitGrads)
            storeLogits(b, some, again.logits, narrow, gradient, key);
          scf::YieldOp::create(
              b, accumulate(b, sums, narrow, clearNaN(b, keys.key)));
        });
    return llvm::to_vector_of<Value>(loop.getResults());
  };
  SmallVector<Value> sums = sumKeys(builder, blocks.keys);
  sums = repeatWithCare(
      sums, /*mayDrop=*/!operands.biases.empty(),
      [&](TileBuilder &b) { return sumKeys(b, getCarefulBlock(blocks.keys)); });
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
  auto sumQueries = [&](TileBuilder &outer, int64_t block,
                        const KeySums &start) {
    WorkItem some = item;
    some.queries.block = block;
    slices.logits.chooseDrops = chooseDrops;
    auto loop = scf::ForOp::create(
        outer, zero, outer.index(item.queries.extent), outer.index(block),
        start.carried(),
        [&](OpBuilder &nested, Location loc, Value query, ValueRange sums) {
          TileBuilder b(loc, nested);
          QueryTiles queries = loadQueries(b, some, slices, query);
          LogitsTile tile{{blocks.rows, blocks.keys, block},
                          /*keysFirst=*/true,
                          {zero, query, zero}};
          Recomputed again = recompute(b, slices, queries, keys, tile);
          Value narrow =
              start.key.empty() ? Value() : narrowLogits(b, again.logits);
          KeySums next = accumulateKeys(b, start.with(sums), tile, narrow,
                                        again.weights, queries);
          scf::YieldOp::create(b, next.carried());
        });
    return start.with(loop.getResults());
  };
  KeySums sums = sumQueries(builder, blocks.queries,
                            startKeySums(builder, operands.keyGrad != nullptr,
                                         operands.valueGrad != nullptr));
  // One after the other, which takes fewer registers than both at once.
  auto repeat = [&](ValueRange sums, bool ofKey) {
    return repeatWithCare(
        sums, /*mayDrop=*/!operands.biases.empty(), [&](TileBuilder &b) {
          return sumQueries(b, getCarefulBlock(blocks.queries),
                            startKeySums(b, ofKey, !ofKey))
              .carried();
        });
  };
  if (operands.keyGrad)
    sums.key = repeat(sums.key, /*ofKey=*/true);
  if (operands.valueGrad)
    sums.value = repeat(sums.value, /*ofKey=*/false);
  storeKeySums(item, slices, sums);
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

GradientProgram::KeySums
GradientProgram::accumulateKeys(TileBuilder &b, const KeySums &sums,
                                const LogitsTile &tile, Value narrow,
                                Value weights, const QueryTiles &queries) {
  auto withKeysFirst = [&](Value value) {
    return tile.keysFirst ? value : transposeLast(b, value);
  };
  KeySums next;
  if (!sums.key.empty())
    next.key = accumulate(b, sums.key, withKeysFirst(narrow),
                          clearNaN(b, queries.query));
  if (!sums.value.empty())
    next.value =
        accumulate(b, sums.value, withKeysFirst(narrowWeights(b, weights)),
                   queries.weighted);
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
