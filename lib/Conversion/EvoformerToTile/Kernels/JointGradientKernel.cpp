//===- JointGradientKernel.cpp - All gradients from one recomputation -----===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An item has some rows of a head and some of its keys. For each row and block
// of keys it loops over the queries and sums the gradients of key and value, as
// the kernel for these does; what a tile adds to the gradients of the query and
// of a bias it adds to memory that no other item writes. Five products a logit
// instead of nine, for targets that hold such sums in a cache.
//
//===----------------------------------------------------------------------===//

#include "BlockLoop.h"
#include "GradientProgram.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// A loop without results over multiples of `step`.
static void forEach(TileBuilder &builder, Value first, Value end, int64_t step,
                    function_ref<void(TileBuilder &, Value)> body) {
  builder.loop(first, end, builder.index(step), {},
               [&](TileBuilder &b, Value at, ValueRange) -> SmallVector<Value> {
                 body(b, at);
                 return {};
               });
}

/// The part `index` of memory with the parts as its leading dimension.
static Value slicePart(TileBuilder &builder, Value memory, Value index) {
  SmallVector<SliceDim> dims = {{index, {}}};
  for (int64_t dim = 1; dim < 6; ++dim)
    dims.push_back({builder.getIndexAttr(0), builder.dim(memory, dim)});
  return builder.slice(memory, dims);
}

void GradientProgram::clearQueries(const WorkItem &item, Value queryMemory) {
  Value slice = item.sliceSequence(queryMemory, item.queries);
  forEach(item.builder, zero, item.builder.index(item.queries.extent),
          blocks.queries, [&](TileBuilder &b, Value query) {
            for (auto [part, tile] :
                 llvm::zip_equal(parts, zeros(builder, blocks.queries, parts)))
              b.store(tile, slice, {zero, query, b.index(part.start)},
                      {item.rows.fits, item.queries.fits, true});
          });
}

void GradientProgram::clearBias(const WorkItem &item, const Bias &biasGrad) {
  Value slice = sliceGradient(item, biasGrad);
  TileBuilder &builder = item.builder;
  Value tile = builder.splat({blocks.rows, blocks.queries, blocks.keys},
                             builder.getF32Type(), 0);
  forEach(builder, zero, builder.index(item.queries.extent), blocks.queries,
          [&](TileBuilder &b, Value query) {
            b.store(tile, slice, {zero, query, zero},
                    {item.rows.fits, item.queries.fits, item.keys.fits});
          });
}

void GradientProgram::writeKeyBlock(const WorkItem &item, Value queryMemory,
                                    const Bias &biasGrad) {
  TileBuilder &outer = item.builder;
  Slices slices = slice(item);
  KeyTiles keys = loadKeys(outer, item, slices, zero);
  // Once, for all queries.
  for (Value part : keys.key)
    keys.keyColumns.push_back(transposeLast(outer, part));
  for (Value part : keys.value)
    keys.valueColumns.push_back(transposeLast(outer, part));
  SmallVector<Value> ofKeys = clearNaN(outer, keys.key);
  Value querySums =
      queryMemory ? item.sliceSequence(queryMemory, item.queries) : Value();
  Value biasSums = biasGrad.memory ? sliceGradient(item, biasGrad) : Value();
  KeySums start = startKeySums(outer, operands.keyGrad != nullptr,
                               operands.valueGrad != nullptr);
  KeySums sums = start.with(
      BlockLoop::along(outer, LogitDim::Queries, item)
          .run(outer, start.carried(),
               [&](TileBuilder &b, const BlockStep &step, ValueRange carried) {
                 Value query = step.offset(LogitDim::Queries);
                 const LogitsTile &tile = step.tile;
                 QueryTiles queries = loadQueries(b, item, slices, query);
                 Recomputed some = recompute(b, slices, queries, keys, tile);
                 Value narrow = narrowLogits(b, some.logits);
                 KeySums next = accumulateKeys(b, start.with(carried), tile,
                                               narrow, some, queries);
                 if (querySums) {
                   for (auto [part, ofKey] : llvm::zip_equal(parts, ofKeys)) {
                     Value added = evoformer::multiply(b, narrow, ofKey);
                     Value sum =
                         item.load(b, querySums, query, item.queries, part);
                     sum = b.fma(added, b.splatLike(added, facts.scale), sum);
                     b.store(sum, querySums, {zero, query, b.index(part.start)},
                             {item.rows.fits, item.queries.fits, true});
                   }
                 }
                 if (biasSums) {
                   SmallVector<bool> inBounds = {
                       item.rows.fits, item.queries.fits, item.keys.fits};
                   Value sum = b.load(biasSums, {zero, query, zero}, tile.shape,
                                      inBounds, b.getF32FloatAttr(0));
                   b.store(b.addf(sum, some.logits), biasSums,
                           {zero, query, zero}, inBounds);
                 }
                 for (const Bias &gradient : operands.logitGrads)
                   storeLogits(b, item, some.logits, narrow, gradient, zero,
                               query);
                 return next.carried();
               }));
  if (operands.valueGrad)
    sums.value =
        sumValuesWithCare(item, slices, keys, /*keysFirst=*/false, sums.value);
  storeKeySums(item, slices, sums);
}

void GradientProgram::writeJoint() {
  Value id[4];
  for (int64_t dim = 0; dim < 4; ++dim)
    id[dim] = WorkItemIdOp::create(builder, dim);
  Value batch = id[kSpaceB], part = id[kSpaceRows], head = id[kSpaceH];
  auto range = [&](Value start, Value count, OpFoldResult size) {
    Value end = builder.add(start, count);
    return arith::MinUIOp::create(builder, end, builder.index(size));
  };
  OpFoldResult numRows = builder.dim(operands.query, 1);
  OpFoldResult numKeys = builder.dim(operands.key, 3);
  Value firstRow = builder.mul(part, operands.stepsOfPart);
  Value endRow = range(firstRow, operands.stepsOfPart, numRows);
  Value firstKey = builder.mul(id[kSpaceBlocks], operands.keysOfItem);
  Value endKey = range(firstKey, operands.keysOfItem, numKeys);

  Value queryMemory;
  if (operands.queryGrad)
    queryMemory = slicePart(builder, operands.queryGrad, id[kSpaceBlocks]);
  // A set of parts for each dimension in which the bias broadcasts.
  Bias biasGrad = operands.biasGrad;
  if (biasGrad.memory) {
    Value index = zero;
    auto append = [&](int64_t dim, Value count, Value at) {
      if (biasGrad.broadcast[dim])
        index = builder.add(builder.mul(index, count), at);
    };
    append(kBiasB, builder.index(builder.dim(operands.query, 0)), batch);
    append(kBiasH, builder.index(builder.dim(operands.query, 2)), head);
    Value numParts = arith::CeilDivUIOp::create(builder, builder.index(numRows),
                                                operands.stepsOfPart);
    append(kBiasN, numParts, part);
    biasGrad.memory = slicePart(builder, biasGrad.memory, index);
  }

  auto itemAt = [&](TileBuilder &b, Value row, Value key) {
    return WorkItem{
        b,
        alignedRows,
        batch,
        head,
        ItemRange::ofBlock(b, numRows, row, blocks.rows),
        ItemRange::whole(b, b.dim(operands.query, 3), blocks.queries),
        ItemRange::ofBlock(b, numKeys, key, blocks.keys),
        /*ownsKeyBlock=*/true};
  };
  auto clearBiasAt = [&](TileBuilder &b, Value row) {
    forEach(b, firstKey, endKey, blocks.keys, [&](TileBuilder &b, Value key) {
      clearBias(itemAt(b, row, key), biasGrad);
    });
  };
  bool sumsRows = biasGrad.memory && biasGrad.broadcast[kBiasN];
  if (sumsRows)
    clearBiasAt(builder, firstRow);
  forEach(builder, firstRow, endRow, blocks.rows,
          [&](TileBuilder &b, Value row) {
            if (biasGrad.memory && !sumsRows)
              clearBiasAt(b, row);
            if (queryMemory)
              clearQueries(itemAt(b, row, firstKey), queryMemory);
            forEach(b, firstKey, endKey, blocks.keys,
                    [&](TileBuilder &b, Value key) {
                      writeKeyBlock(itemAt(b, row, key), queryMemory, biasGrad);
                    });
          });
}
