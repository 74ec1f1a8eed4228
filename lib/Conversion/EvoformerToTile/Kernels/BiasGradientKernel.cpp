//===- BiasGradientKernel.cpp - The gradient of a bias --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientPrograms.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

std::array<Value, 5> evoformer::countBiasSteps(TileBuilder &builder,
                                               const GradientOperands &operands,
                                               const AttentionBlocks &blocks) {
  BlockGrid grid = BlockGrid::of(builder, operands.getShape(), blocks);
  std::array<Value, 5> count;
  for (int64_t dim = 0; dim < 5; ++dim)
    if (operands.biasGrad.broadcast[dim])
      count[dim] = grid.count(builder, dim);
  return count;
}

namespace {
/// A loop over what is summed; a step is a block of logits of its own.
class BiasGradient {
public:
  BiasGradient(TileBuilder &builder, const LogitRecompute &shared)
      : builder(builder), shared(shared), operands(shared.operands),
        summed(operands.biasGrad.broadcast),
        grid(BlockGrid::of(builder, operands.getShape(), shared.blocks,
                           shared.facts)),
        counts(countBiasSteps(builder, operands, shared.blocks)),
        keysFirst(getOwnedDim(operands) == OwnedDim::Keys) {
    findSteps();
    if (operands.lengths.any() && grid.haveEqualLengths(counts))
      grid.findCounts(builder, place);
  }

  void write() {
    SmallVector<Value> fixed = readFixed();
    SmallVector<Value> sums = sumSteps(builder, shared, fixed);
    if (!shared.choosesDrops())
      // What is rarely run keeps no registers of the rest.
      sums = shared.repeatWithCare(
          builder, sums, [&](TileBuilder &b, const LogitRecompute &careful) {
            return sumSteps(b, careful, /*fixed=*/{});
          });
    if (!operands.biasGrad.entries)
      return store(sums.front());
    for (auto [number, sum] : llvm::enumerate(sums))
      storeEntry(sum, number);
  }

private:
  /// The item's place, and the steps of its part of the sum.
  void findSteps() {
    first = shared.zero;
    end = builder.index(1);
    for (int64_t dim = 0; dim < 5; ++dim) {
      place[dim] = WorkItemIdOp::create(builder, dim);
      if (counts[dim])
        end = builder.mul(end, counts[dim]);
    }
    // A table's entries are no block of keys.
    if (operands.biasGrad.entries) {
      firstEntry = builder.mul(place[kBiasK], builder.index(kEntriesOfItem));
      place[kBiasK] = shared.zero;
    }
    if (!operands.stepsOfPart)
      return;
    part = WorkItemIdOp::create(builder, 5);
    first = builder.mul(part, operands.stepsOfPart);
    end = arith::MinUIOp::create(builder, end,
                                 builder.add(first, operands.stepsOfPart));
  }

  /// Biases that no step changes, null for the others. An item that exists has
  /// every dimension that they have.
  SmallVector<Value> readFixed() {
    auto isFixed = [&](const Bias &bias) {
      for (int64_t dim = 0; dim < 5; ++dim)
        if (summed[dim] && !bias.broadcast[dim])
          return false;
      return true;
    };
    SmallVector<Value> fixed(operands.biases.size());
    // Whatever the lengths of the rows that share them.
    WorkItem item = grid.itemAt(builder, place, shared.alignedRows).withAll();
    LogitsTile tile = BlockStep::makeTile(
        item, keysFirst, {shared.zero, shared.zero, shared.zero});
    for (auto [bias, read] : llvm::zip_equal(operands.biases, fixed))
      if (isFixed(bias))
        read = readBias(builder, item.sliceBias(bias), tile);
    return fixed;
  }

  /// `fixed`: what readFixed gives, or nothing.
  SmallVector<Value> sumSteps(TileBuilder &outer, const LogitRecompute &shared,
                              ArrayRef<Value> fixed) {
    SmallVector<int64_t, 3> shape = {1, shared.blocks.queries,
                                     shared.blocks.keys};
    if (keysFirst)
      std::swap(shape[1], shape[2]);
    Value start = outer.splat(shape, outer.getF32Type(), 0);
    SmallVector<Value> starts = {start};
    if (firstEntry)
      starts.assign(kEntriesOfItem, outer.splat({1, shared.blocks.queries},
                                                outer.getF32Type(), 0));
    BlockLoop loop = BlockLoop::through(outer, grid, shared.alignedRows, place,
                                        counts, first, end, keysFirst);
    if (!shared.isRepeat() && !firstEntry && !operands.queryGrad)
      loop = loop.skippingIdle(findOwned());
    SmallVector<Value> sums = loop.run(
        outer, starts,
        [&](TileBuilder &b, const BlockStep &step,
            ValueRange sums) -> SmallVector<Value> {
          const WorkItem &item = step.item;
          LogitRecompute::Slices slices = shared.slice(item);
          for (auto [bias, read] : llvm::zip(slices.logits.biases, fixed))
            bias.tile = read;
          LogitRecompute::QueryTiles queries = shared.loadQueries(
              b, item, slices, step.offset(LogitDim::Queries));
          LogitRecompute::KeyTiles keys =
              shared.loadKeys(b, item, slices, step.offset(LogitDim::Keys));
          if (firstEntry)
            return addEntries(
                b, sums, shared.recompute(b, slices, queries, keys, step.tile));
          if (operands.ofCapture)
            return {b.addf(sums[0],
                           shared.recompute(b, slices, queries, keys, step.tile)
                               .scoreGrad)};
          if (!operands.queryGrad)
            return {
                shared.recompute(b, slices, queries, keys, step.tile, sums[0])
                    .logitGrad};
          LogitRecompute::Recomputed again =
              shared.recompute(b, slices, queries, keys, step.tile);
          storeQuery(b, step, again, keys);
          return {b.addf(sums[0], again.logitGrad)};
        });
    if (!grid.mayMask() || firstEntry || counts[kBiasQ] || counts[kBiasK] ||
        !grid.haveEqualLengths(counts))
      return sums;
    // All steps have had the same pairs in their tile.
    WorkItem item = grid.itemAt(outer, place, shared.alignedRows);
    Value seen = item.findSeen(
        outer, BlockStep::makeTile(item, keysFirst,
                                   {shared.zero, shared.zero, shared.zero}));
    return {outer.select(seen, sums.front(), start)};
  }

  /// The dimensions of the sum along which all steps have the same block.
  SmallVector<BlockLoop::Owned> findOwned() const {
    SmallVector<BlockLoop::Owned> owned;
    if (!counts[kBiasQ])
      owned.push_back({LogitDim::Queries, keysFirst ? 2 : 1});
    if (!counts[kBiasK])
      owned.push_back({LogitDim::Keys, keysFirst ? 1 : 2});
    return owned;
  }

  /// What each query adds to the entries of an item: the gradients of the keys
  /// for which it looks these up.
  SmallVector<Value> addEntries(TileBuilder &b, ValueRange sums,
                                const LogitRecompute::Recomputed &again) {
    SmallVector<Value> next;
    for (auto [number, sum] : llvm::enumerate(sums)) {
      Value entry = arith::SIToFPOp::create(
          b, b.getF32Type(),
          arith::IndexCastOp::create(
              b, b.getI32Type(),
              b.add(firstEntry, b.index(static_cast<int64_t>(number)))));
      Value isMine = arith::CmpFOp::create(
          b, arith::CmpFPredicate::OEQ, again.entry,
          tensor::SplatOp::create(b, again.entry.getType(), entry));
      Value mine =
          b.select(isMine, again.scoreGrad, b.splatLike(again.scoreGrad, 0));
      next.push_back(b.addf(sum, b.reduce(ReduceKind::Add, mine, 2)));
    }
    return next;
  }

  /// All keys are in the tile, so that this is all of the query's gradient in
  /// this step.
  void storeQuery(TileBuilder &b, const BlockStep &step,
                  const LogitRecompute::Recomputed &again,
                  const LogitRecompute::KeyTiles &keys) {
    Value narrow = shared.narrowScoreGrad(b, again);
    shared.storeLogitGrads(b, step, again, narrow);
    SmallVector<Value> cleared = shared.clearNaN(b, keys.key);
    step.item.storeParts(
        shared.accumulate(b,
                          shared.zeros(b, shared.blocks.queries, shared.parts),
                          narrow, cleared),
        shared.parts, shared.getProductDerivative(), operands.queryGrad,
        step.item.queries);
  }

  void store(Value sum) {
    SmallVector<SliceDim> dims(5);
    OpFoldResult origin = builder.getIndexAttr(0);
    for (int64_t dim : {kBiasB, kBiasN, kBiasH})
      dims[dim] = {summed[dim] ? origin : OpFoldResult(place[dim]), {}};
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
      Value origin = grid.origin(builder, place, dim);
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
                  SmallVector<Value>(inBounds.size(), shared.zero), inBounds);
  }

  /// Stores the sum of an entry, where the table has that.
  void storeEntry(Value sum, int64_t number) {
    OpFoldResult origin = builder.getIndexAttr(0);
    Value entry = builder.add(firstEntry, builder.index(number));
    Value behind = builder.index(operands.biasGrad.entries);
    // None behind the last.
    Value count = arith::MinSIOp::create(
        builder, builder.index(1),
        arith::MaxSIOp::create(builder, builder.sub(behind, entry),
                               shared.zero));
    SmallVector<SliceDim> dims = {
        {summed[kBiasB] ? origin : OpFoldResult(place[kBiasB]), {}},
        {origin, builder.getIndexAttr(1)},
        {summed[kBiasH] ? origin : OpFoldResult(place[kBiasH]), {}},
        {origin, {}},
        {entry, count}};
    if (part)
      dims.insert(dims.begin(), {part, {}});
    Value memory = builder.slice(operands.biasGrad.memory, dims);
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    sum = builder.reduce(ReduceKind::Add, sum, 1);
    sum = builder.convert(builder.broadcast(sum, {0}, {1, 1}), element);
    builder.store(sum, memory, {shared.zero, shared.zero}, {true, false});
  }

  TileBuilder &builder;
  const LogitRecompute &shared;
  const GradientOperands &operands;
  /// By dimension of the bias, and how many blocks are there.
  const std::array<bool, 5> &summed;
  BlockGrid grid;
  std::array<Value, 5> counts;
  bool keysFirst;
  BlockGrid::Place place;
  Value first, end;
  /// Of a table: the first entry of the item; else null.
  Value firstEntry;
  /// Which part of the sum; null where it has one.
  Value part;
};
} // namespace

void evoformer::writeBiasGradient(TileBuilder &builder,
                                  const LogitRecompute &shared) {
  BiasGradient(builder, shared).write();
}
