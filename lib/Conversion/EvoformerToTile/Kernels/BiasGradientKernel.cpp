//===- BiasGradientKernel.cpp - The gradient of a bias --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientProgram.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

//===----------------------------------------------------------------------===//
// A bias's gradient: a loop over what is summed
//===----------------------------------------------------------------------===//

std::array<Value, 5> evoformer::countBiasSteps(TileBuilder &builder,
                                               const GradientOperands &operands,
                                               const AttentionBlocks &blocks) {
  const int64_t block[] = {1, 1, 1, blocks.queries, blocks.keys};
  OpFoldResult sizes[] = {
      builder.dim(operands.query, 0), builder.dim(operands.query, 1),
      builder.dim(operands.query, 2), builder.dim(operands.query, 3),
      builder.dim(operands.key, 3)};
  std::array<Value, 5> count;
  for (int64_t dim = 0; dim < 5; ++dim)
    if (operands.biasGrad.broadcast[dim])
      count[dim] = builder.ceilDiv(sizes[dim], block[dim]);
  return count;
}

void GradientProgram::writeBias() {
  const std::array<bool, 5> &summed = operands.biasGrad.broadcast;
  const int64_t block[] = {1, 1, 1, blocks.queries, blocks.keys};
  OpFoldResult sizes[] = {
      builder.dim(operands.query, 0), builder.dim(operands.query, 1),
      builder.dim(operands.query, 2), builder.dim(operands.query, 3),
      builder.dim(operands.key, 3)};
  std::array<Value, 5> id;
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
    auto range = [&](int64_t dim) {
      return ItemRange::ofBlock(builder, sizes[dim],
                                builder.mul(id[dim], builder.index(block[dim])),
                                block[dim]);
    };
    WorkItem item{builder,       alignedRows,          id[kBiasB],
                  id[kBiasH],    range(kBiasN),        range(kBiasQ),
                  range(kBiasK), /*ownsKeyBlock=*/true};
    LogitsTile tile{shape, keysFirst, {zero, zero, zero}};
    for (auto [bias, read] : llvm::zip_equal(operands.biases, fixed))
      if (isFixed(bias))
        read = readBias(builder, item.sliceBias(bias), tile);
  }
  bool choosesAlways = chooseDrops;
  auto sumSteps = [&](TileBuilder &outer) {
    bool isCareful = chooseDrops && !choosesAlways;
    Value start = outer.splat(shape, outer.getF32Type(), 0);
    auto loop = scf::ForOp::create(
        outer, first, end, outer.index(1), ValueRange{start},
        [&](OpBuilder &nested, Location loc, Value step, ValueRange sums) {
          TileBuilder b(loc, nested);
          // The place of the step, the last summed dimension fastest.
          std::array<Value, 5> place = id;
          Value rest = step;
          for (int64_t dim = 4,
                       slowest = llvm::find(summed, true) - summed.begin();
               dim >= 0; --dim) {
            if (!summed[dim])
              continue;
            place[dim] = rest;
            if (dim == slowest)
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
          Slices slices = slice(item);
          // What is rarely run keeps no registers of the rest.
          if (!isCareful)
            for (auto [bias, read] :
                 llvm::zip_equal(slices.logits.biases, fixed))
              bias.tile = read;
          Value origin = b.index(0);
          QueryTiles queries = loadQueries(b, item, slices, origin);
          KeyTiles keys = loadKeys(b, item, slices, origin);
          LogitsTile tile{shape, keysFirst, {origin, origin, origin}};
          if (!operands.queryGrad) {
            Recomputed some =
                recompute(b, slices, queries, keys, tile, sums[0]);
            scf::YieldOp::create(b, some.logits);
            return;
          }
          // All keys are in the tile, so that this is all of the query's
          // gradient in this step.
          Recomputed some = recompute(b, slices, queries, keys, tile);
          Value narrow = narrowLogits(b, some.logits);
          for (const Bias &gradient : operands.logitGrads)
            storeLogits(b, item, some.logits, narrow, gradient, origin);
          SmallVector<Value> cleared = clearNaN(b, keys.key);
          store(item,
                accumulate(b, zeros(b, blocks.queries, parts), narrow, cleared),
                parts, facts.scale, operands.queryGrad, item.queries);
          scf::YieldOp::create(b, b.addf(sums[0], some.logits));
        });
    return SmallVector<Value>{loop.getResult(0)};
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
    Value origin = builder.mul(id[dim], builder.index(block[dim]));
    ItemRange range = ItemRange::ofBlock(
        builder, builder.dim(operands.biasGrad.memory, leading + dim), origin,
        block[dim]);
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
