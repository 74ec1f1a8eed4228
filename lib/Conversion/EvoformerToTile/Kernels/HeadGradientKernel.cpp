//===- HeadGradientKernel.cpp - Gradients of query, key and value ---------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An item has a head of a row. For each block of its keys it loops over the
// queries and sums the gradients of key and value, as the kernel for these
// does, and with the same gradients of logits those of the queries, which lie
// in memory between one block of keys and the next. Five products a logit
// instead of seven, and one exponential instead of two; nobody else writes an
// item's sums, so their order is fixed.
//
// Where a block has all keys, what a block of queries has is its gradient, and
// nothing lies in memory.
//
//===----------------------------------------------------------------------===//

#include "GradientPrograms.h"
#include "KeyBlock.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

namespace {
class HeadGradient {
public:
  HeadGradient(TileBuilder &builder, const LogitRecompute &shared)
      : builder(builder), shared(shared), operands(shared.operands),
        blocks(shared.blocks),
        whole(WorkItem::find(builder, shared.alignedRows, operands.getShape(),
                             blocks, shared.facts.keys,
                             /*ownsKeyBlock=*/true)),
        numQueries(builder.dim(operands.query, 3)),
        numKeys(builder.dim(operands.key, 3)) {}

  void write() {
    assert(!shared.choosesDrops() && "dropped keys are multiplied, too");
    if (operands.haveOneBlock()) {
      Value start = builder.splat({1, blocks.queries}, builder.getF32Type(), 0);
      writeAgain(writeKeyBlock(builder, shared.zero, start));
      return;
    }
    SmallVector<Value> start =
        shared.zeros(builder, blocks.queries, shared.parts);
    writeAgain(builder.loop(shared.zero, builder.index(numKeys),
                            builder.index(blocks.keys), start,
                            [&](TileBuilder &b, Value key, ValueRange spoilt) {
                              return writeKeyBlock(b, key, spoilt);
                            }));
  }

private:
  /// The head with these queries and keys.
  WorkItem itemOf(TileBuilder &b, const ItemRange &queries,
                  const ItemRange &keys, bool ownsKeyBlock) {
    WorkItem item = whole.withHead(b, whole.head);
    item.queries = queries;
    item.keys = keys;
    item.ownsKeyBlock = ownsKeyBlock;
    return item;
  }

  /// The block of keys at `key`. The first one starts the queries' sums, the
  /// last one stores them as gradients. Gives what tells of those that are NaN.
  SmallVector<Value> writeKeyBlock(TileBuilder &b, Value key,
                                   ValueRange spoilt) {
    WorkItem item = itemOf(b, ItemRange::whole(b, numQueries, blocks.queries),
                           ItemRange::ofBlock(b, numKeys, key, blocks.keys),
                           /*ownsKeyBlock=*/true);
    auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
      return arith::CmpIOp::create(b, predicate, x, y).getResult();
    };
    Value end = b.add(key, b.index(blocks.keys)), all = b.index(numKeys);
    QuerySums sums;
    if (operands.querySums) {
      sums.isFirst = compare(arith::CmpIPredicate::eq, key, shared.zero);
      sums.all = item.queries;
      sums.all.extent = builder.dim(operands.querySums, 3);
      sums.all.fits = true;
      sums.before = item.sliceSequence(operands.querySums, sums.all);
      sums.isLast = compare(arith::CmpIPredicate::uge, end, all);
    }
    sums.gradient = item.sliceSequence(operands.queryGrad, item.queries);
    // All subgroups multiply with all keys.
    Value slice = item.sliceSequence(operands.key, item.keys);
    for (DepthPart part : shared.parts)
      sums.keys.push_back(item.load(b, slice, shared.zero, item.keys, part));
    KeyBlock block(shared, item, /*keysFirst=*/true);
    return block.writeOnce(
        [&](TileBuilder &b, const BlockStep &step,
            const LogitRecompute::Recomputed &, Value narrow,
            ValueRange spoilt) {
          Value logitGrads = transposeLast(b, narrow);
          return operands.querySums
                     ? addToQueries(b, step, sums, logitGrads, spoilt)
                     : writeQueries(b, step, sums, logitGrads, spoilt);
        },
        spoilt);
  }

  /// Where the sums of all queries lie.
  struct QuerySums {
    /// Whole blocks of them.
    ItemRange all;
    /// Whether none has been stored, and whether these are the last ones.
    Value isFirst, isLast;
    /// Where they lie as sums, and as gradients.
    Value before, gradient;
    /// Depth parts of the keys.
    SmallVector<Value> keys;
  };

  /// The sums so far, asked for before the step computes anything: they are in
  /// memory that other steps have written.
  static Value loadFirst(TileBuilder &b, const WorkItem &item,
                         const QuerySums &sums, Value query, DepthPart part) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(query);
    return item.load(b, sums.before, query, sums.all, part);
  }

  /// Stores sums as gradients.
  void storeGradient(TileBuilder &b, const WorkItem &item,
                     const QuerySums &sums, Value sum, Value query,
                     DepthPart part) const {
    Type element = cast<MemRefType>(sums.gradient.getType()).getElementType();
    Value gradient =
        b.mulf(sum, b.splatLike(sum, shared.getProductDerivative()));
    item.storeAt(b, b.convert(gradient, element), sums.gradient, query,
                 item.queries.fits, part.start);
  }

  /// Stores the gradients of the step's queries, of which the tile has all
  /// logits. What tells of NaN is a sum for each query: the loop keeps it
  /// beside those of keys.
  SmallVector<Value> writeQueries(TileBuilder &b, const BlockStep &step,
                                  const QuerySums &sums, Value logitGrads,
                                  ValueRange spoilt) {
    Value query = step.offset(LogitDim::Queries), known = spoilt.front();
    for (auto [part, key, zeros] :
         llvm::zip_equal(shared.parts, sums.keys,
                         shared.zeros(b, blocks.queries, shared.parts))) {
      Value sum = multiply(b, logitGrads, key, zeros);
      storeGradient(b, step.item, sums, sum, query, part);
      known = b.addf(known, b.reduce(ReduceKind::Add, sum, 2));
    }
    return {known};
  }

  /// Adds a tile's share, the product of the gradients of its logits and its
  /// keys. Gives what tells of sums that are NaN.
  SmallVector<Value> addToQueries(TileBuilder &b, const BlockStep &step,
                                  const QuerySums &sums, Value logitGrads,
                                  ValueRange spoilt) {
    const WorkItem &item = step.item;
    Value query = step.offset(LogitDim::Queries);
    SmallVector<Value> result;
    for (auto [each, key, known] :
         llvm::zip_equal(shared.parts, sums.keys, spoilt)) {
      DepthPart part = each;
      Value before = loadFirst(b, item, sums, query, part);
      Value isFirst = tensor::SplatOp::create(
          b, sums.isFirst, TileBuilder::typeOf(before).clone(b.getI1Type()));
      Value sum = multiply(b, logitGrads, key,
                           b.select(isFirst, b.splatLike(before, 0), before));
      scf::IfOp::create(
          b, sums.isLast,
          [&](OpBuilder &nested, Location loc) {
            TileBuilder inner(loc, nested);
            storeGradient(inner, item, sums, sum, query, part);
            scf::YieldOp::create(inner);
          },
          [&](OpBuilder &nested, Location loc) {
            TileBuilder inner(loc, nested);
            item.storeAt(inner, sum, sums.before, query, sums.all.fits,
                         part.start);
            scf::YieldOp::create(inner);
          });
      result.push_back(b.fma(sum, b.splatLike(sum, 0), known));
    }
    return result;
  }

  /// The queries' gradients again, with care, where any is NaN. The last ones
  /// stand for those that tell of it: so subgroups own the same queries.
  void writeAgain(ValueRange spoilt) {
    LogitRecompute careful = shared.withCare();
    bool haveDepth = !operands.haveOneBlock();
    auto zerosOf = [](TileBuilder &b, ValueRange tiles) {
      return llvm::map_to_vector(
          tiles, [&](Value tile) { return b.splatLike(tile, 0); });
    };
    // Keys of a careful step: all of a block would take the registers of many.
    constexpr int64_t kKeys = 64;
    int64_t parts = haveDepth ? 1 : std::max<int64_t>(1, blocks.keys / kKeys);
    builder.where(
        haveDepth ? shared.haveNaN(builder, spoilt)
                  : builder.isNaN(spoilt.front()),
        spoilt, [&](TileBuilder &inner) {
          return inner.loop(
              shared.zero, inner.index(numQueries), inner.index(blocks.queries),
              zerosOf(inner, spoilt),
              [&](TileBuilder &b, Value query, ValueRange) {
                WorkItem item = itemOf(
                    b, ItemRange::ofBlock(b, numQueries, query, blocks.queries),
                    ItemRange::whole(b, numKeys, blocks.keys),
                    /*ownsKeyBlock=*/false);
                LogitRecompute::Slices slices = careful.slice(item);
                SmallVector<Value> sums = sumKeysOfQueries(
                    b, careful, item.withCarefulBlocks(LogitDim::Keys, parts),
                    slices);
                item.storeParts(sums, shared.parts,
                                shared.getProductDerivative(),
                                operands.queryGrad, item.queries);
                if (haveDepth)
                  return sums;
                return SmallVector<Value>{
                    b.reduce(ReduceKind::Add, sums.front(), 2)};
              });
        });
  }

  TileBuilder &builder;
  const LogitRecompute &shared;
  const GradientOperands &operands;
  const AttentionBlocks &blocks;
  /// The head, before any loop.
  const WorkItem whole;
  const OpFoldResult numQueries, numKeys;
};
} // namespace

void evoformer::writeHeadGradient(TileBuilder &builder,
                                  const LogitRecompute &shared) {
  HeadGradient(builder, shared).write();
}
