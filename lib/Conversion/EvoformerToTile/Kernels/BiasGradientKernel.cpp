//===- BiasGradientKernel.cpp - The gradient of a bias --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLoop.h"
#include "GradientProgram.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

//===----------------------------------------------------------------------===//
// A bias's gradient: a loop over what is summed
//===----------------------------------------------------------------------===//

std::array<Value, 5> evoformer::countBiasSteps(TileBuilder &builder,
                                               const GradientOperands &operands,
                                               const AttentionBlocks &blocks) {
  BlockGrid grid = BlockGrid::of(builder, operands.query, operands.key, blocks);
  std::array<Value, 5> count;
  for (int64_t dim = 0; dim < 5; ++dim)
    if (operands.biasGrad.broadcast[dim])
      count[dim] = grid.count(builder, dim);
  return count;
}

void GradientProgram::writeBias() {
  const std::array<bool, 5> &summed = operands.biasGrad.broadcast;
  BlockGrid grid = BlockGrid::of(builder, operands.query, operands.key, blocks);
  BlockGrid::Place id;
  std::array<Value, 5> count = countBiasSteps(builder, operands, blocks);
  Value first = zero, end = builder.index(1);
  for (int64_t dim = 0; dim < 5; ++dim) {
    id[dim] = WorkItemIdOp::create(builder, dim);
    if (count[dim])
      end = builder.mul(end, count[dim]);
  }
  Value part;
  if (operands.stepsOfPart) {
    part = WorkItemIdOp::create(builder, 5);
    first = builder.mul(part, operands.stepsOfPart);
    end = arith::MinUIOp::create(builder, end,
                                 builder.add(first, operands.stepsOfPart));
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
  // Of each bias, null where steps change it.
  SmallVector<Value> fixed(operands.biases.size());
  {
    WorkItem item = grid.itemAt(builder, id, alignedRows);
    LogitsTile tile{shape, keysFirst, {zero, zero, zero}};
    for (auto [bias, read] : llvm::zip_equal(operands.biases, fixed))
      if (isFixed(bias))
        read = readBias(builder, item.sliceBias(bias), tile);
  }
  bool choosesAlways = chooseDrops;
  auto sumSteps = [&](TileBuilder &outer) {
    bool isCareful = chooseDrops && !choosesAlways;
    Value start = outer.splat(shape, outer.getF32Type(), 0);
    return BlockLoop::through(outer, grid, alignedRows, id, count, first, end,
                              keysFirst)
        .run(outer, start,
             [&](TileBuilder &b, const BlockStep &step,
                 ValueRange sums) -> SmallVector<Value> {
               const WorkItem &item = step.item;
               Slices slices = slice(item);
               // What is rarely run keeps no registers of the rest.
               if (!isCareful)
                 for (auto [bias, read] :
                      llvm::zip_equal(slices.logits.biases, fixed))
                   bias.tile = read;
               Value origin = step.offset(LogitDim::Keys);
               QueryTiles queries = loadQueries(b, item, slices, origin);
               KeyTiles keys = loadKeys(b, item, slices, origin);
               if (!operands.queryGrad)
                 return {recompute(b, slices, queries, keys, step.tile, sums[0])
                             .logits};
               // All keys are in the tile, so that this is all of the query's
               // gradient in this step.
               Recomputed some = recompute(b, slices, queries, keys, step.tile);
               Value narrow = narrowLogits(b, some.logits);
               for (const Bias &gradient : operands.logitGrads)
                 storeLogits(b, item, some.logits, narrow, gradient, origin);
               SmallVector<Value> cleared = clearNaN(b, keys.key);
               store(item,
                     accumulate(b, zeros(b, blocks.queries, parts), narrow,
                                cleared),
                     parts, facts.scale, operands.queryGrad, item.queries);
               return {b.addf(sums[0], some.logits)};
             });
  };
  SmallVector<Value> sums = sumSteps(builder);
  if (!chooseDrops && (operands.keySum.memory || !operands.biases.empty()))
    sums = repeatWithCare(builder, sums, sumSteps);
  Value sum = sums.front();
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
  int64_t leading = part ? 1 : 0;
  for (int64_t dim : {kBiasQ, kBiasK}) {
    if (summed[dim])
      continue;
    Value origin = grid.origin(builder, id, dim);
    ItemRange range = ItemRange::ofBlock(
        builder, builder.dim(operands.biasGrad.memory, leading + dim), origin,
        grid.block[dim]);
    dims[dim] = {origin, range.extent};
    inBounds.push_back(range.fits);
  }
  if (part)
    dims.insert(dims.begin(), {part, {}});
  Value memory = builder.slice(operands.biasGrad.memory, dims);
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  builder.store(builder.convert(sum, element), memory,
                SmallVector<Value>(inBounds.size(), zero), inBounds);
}
