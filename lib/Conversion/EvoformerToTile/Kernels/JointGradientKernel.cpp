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

#include "GradientPrograms.h"
#include "KeyBlock.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

namespace {
class JointGradient {
public:
  JointGradient(TileBuilder &builder, const LogitRecompute &shared)
      : builder(builder), shared(shared), operands(shared.operands),
        blocks(shared.blocks) {
    findItem();
  }

  void write() {
    bool sumsRows = biasGrad.memory && biasGrad.broadcast[kBiasN];
    if (sumsRows)
      clearBias(builder, firstRow);
    builder.forEach(firstRow, endRow, builder.index(blocks.rows),
                    [&](TileBuilder &b, Value row) {
                      if (biasGrad.memory && !sumsRows)
                        clearBias(b, row);
                      if (queryMemory)
                        clearQueries(itemAt(b, row, firstKey).withWritten());
                      b.forEach(firstKey, endKey, b.index(blocks.keys),
                                [&](TileBuilder &b, Value key) {
                                  writeKeyBlock(itemAt(b, row, key));
                                });
                    });
  }

private:
  /// The rows and keys of the item, and its memory for sums.
  void findItem() {
    constexpr SpaceOrder order;
    Value id[4];
    for (int64_t dim = 0; dim < 4; ++dim)
      id[dim] = WorkItemIdOp::create(builder, dim);
    batch = id[order.batch];
    head = id[order.head];
    Value part = id[order.rows];
    auto range = [&](Value start, Value count, OpFoldResult size) {
      Value end = builder.add(start, count);
      return arith::MinUIOp::create(builder, end, builder.index(size));
    };
    numRows = builder.dim(operands.query, 1);
    numKeys = builder.dim(operands.key, 3);
    firstRow = builder.mul(part, operands.stepsOfPart);
    endRow = range(firstRow, operands.stepsOfPart, numRows);
    firstKey = builder.mul(id[order.blocks], operands.keysOfItem);
    endKey = range(firstKey, operands.keysOfItem, numKeys);
    if (operands.queryGrad)
      queryMemory = slicePart(builder, operands.queryGrad, id[order.blocks]);
    biasGrad = operands.biasGrad;
    if (!biasGrad.memory)
      return;
    // A set of parts for each dimension in which the bias broadcasts.
    Value index = shared.zero;
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

  /// A row and a block of keys, with all queries.
  WorkItem itemAt(TileBuilder &b, Value row, Value key) {
    WorkItem item{b,
                  shared.alignedRows,
                  batch,
                  head,
                  ItemRange::ofBlock(b, numRows, row, blocks.rows),
                  ItemRange::whole(b, b.dim(operands.query, 3), blocks.queries),
                  ItemRange::ofBlock(b, numKeys, key, blocks.keys),
                  /*ownsKeyBlock=*/true};
    LogitShape shape = operands.getShape();
    const RowLengths &lengths = shape.lengths;
    RowCounts counts;
    if (lengths.any()) {
      counts = RowCounts::load(b, shape, batch, row).behindKey(b, key, shape);
      item.endAt(counts, lengths);
    }
    item.seen = makeSeenKeys(b, shared.facts.keys, shape, counts,
                             {lengths.ofQueries(), lengths.ofKeys()});
    return item;
  }

  /// Sets what the item's sums start from to zero.
  void clearQueries(const WorkItem &item) {
    Value slice = item.sliceSequence(queryMemory, item.queries);
    item.builder.forEach(
        shared.zero, item.builder.index(item.queries.extent),
        item.builder.index(blocks.queries), [&](TileBuilder &b, Value query) {
          for (auto [part, tile] : llvm::zip_equal(
                   shared.parts,
                   shared.zeros(builder, blocks.queries, shared.parts)))
            item.storeAt(b, tile, slice, query, item.queries.fits, part.start);
        });
  }
  void clearBias(TileBuilder &outer, Value row) {
    outer.forEach(
        firstKey, endKey, outer.index(blocks.keys),
        [&](TileBuilder &inner, Value key) {
          WorkItem item = itemAt(inner, row, key).withAll();
          Value slice = item.sliceBiasGradient(biasGrad);
          Value tile = inner.splat({blocks.rows, blocks.queries, blocks.keys},
                                   inner.getF32Type(), 0);
          inner.forEach(
              shared.zero, inner.index(item.queries.extent),
              inner.index(blocks.queries), [&](TileBuilder &b, Value query) {
                b.store(tile, slice, {shared.zero, query, shared.zero},
                        {item.rows.fits, item.queries.fits, item.keys.fits});
              });
        });
  }

  void writeKeyBlock(const WorkItem &item) {
    shared.clearLogitGrads(item, LogitDim::Queries);
    KeyBlock keys(shared, item, /*keysFirst=*/false);
    SmallVector<Value> ofKeys = shared.clearNaN(item.builder, keys.getKeys());
    Value querySums =
        queryMemory ? item.sliceSequence(queryMemory, item.queries) : Value();
    Value biasSums =
        biasGrad.memory ? item.sliceBiasGradient(biasGrad) : Value();
    keys.write([&](TileBuilder &b, const BlockStep &step,
                   const LogitRecompute::Recomputed &again, Value narrow,
                   ValueRange) -> SmallVector<Value> {
      if (querySums)
        addToQueries(b, step, querySums, narrow, ofKeys);
      if (biasSums) {
        SmallVector<bool> inBounds = {item.rows.fits, item.queries.fits,
                                      item.keys.fits};
        Value sum = b.load(biasSums, step.tile.offsets, step.tile.shape,
                           inBounds, b.getF32FloatAttr(0));
        b.store(b.addf(sum, again.logitGrad), biasSums, step.tile.offsets,
                inBounds);
      }
      shared.storeLogitGrads(b, step, again, narrow);
      return {};
    });
  }

  void addToQueries(TileBuilder &b, const BlockStep &step, Value memory,
                    Value narrow, ArrayRef<Value> keys) {
    const WorkItem &item = step.item;
    Value query = step.offset(LogitDim::Queries);
    for (auto [part, key] : llvm::zip_equal(shared.parts, keys)) {
      Value added = multiply(b, narrow, key);
      Value sum = item.load(b, memory, query, item.queries, part);
      sum =
          b.fma(added, b.splatLike(added, shared.getProductDerivative()), sum);
      item.storeAt(b, sum, memory, query, item.queries.fits, part.start);
    }
  }

  TileBuilder &builder;
  const LogitRecompute &shared;
  const GradientOperands &operands;
  const AttentionBlocks &blocks;
  Value batch, head;
  OpFoldResult numRows, numKeys;
  Value firstRow, endRow, firstKey, endKey;
  /// What no other item writes; null where there is no such gradient.
  Value queryMemory;
  Bias biasGrad;
};
} // namespace

void evoformer::writeJointGradient(TileBuilder &builder,
                                   const LogitRecompute &shared) {
  JointGradient(builder, shared).write();
}
