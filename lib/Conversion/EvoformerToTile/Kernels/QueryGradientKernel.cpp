//===- QueryGradientKernel.cpp - The gradient of the query ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientPrograms.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

void evoformer::writeQueryGradientOfSlab(TileBuilder &builder,
                                         const LogitRecompute &shared) {
  const GradientOperands &operands = shared.operands;
  const AttentionBlocks &blocks = shared.blocks;
  WorkItem item =
      WorkItem::find(builder, shared.alignedRows, operands.getShape(), blocks,
                     shared.facts.keys);
  LogitRecompute::Slices slices = shared.slice(item);
  Value slab = item.sliceSlab(operands.slab);
  auto sumKeys = [&](TileBuilder &outer, const LogitRecompute &shared,
                     const WorkItem &item) {
    return BlockLoop::along(outer, LogitDim::Keys, item)
        .run(outer, shared.zeros(outer, blocks.queries, shared.parts),
             [&](TileBuilder &b, const BlockStep &step, ValueRange sums) {
               Value offset = step.offset(LogitDim::Keys);
               LogitRecompute::KeyTiles keys =
                   shared.loadKeys(b, step.item, slices, offset);
               Value grads = step.item.loadSlab(b, slab, offset);
               return shared.accumulate(b, sums, transposeLast(b, grads),
                                        shared.clearNaN(b, keys.key));
             });
  };
  SmallVector<Value> sums = sumKeys(builder, shared, item);
  if (!shared.choosesDrops())
    sums = shared.repeatWithCare(
        builder, sums, [&](TileBuilder &b, const LogitRecompute &careful) {
          return sumKeys(b, careful, item);
        });
  item.storeParts(sums, shared.parts, shared.getProductDerivative(),
                  operands.queryGrad, item.queries);
}

SmallVector<Value>
evoformer::sumKeysOfQueries(TileBuilder &builder, const LogitRecompute &shared,
                            const WorkItem &item,
                            const LogitRecompute::Slices &slices) {
  LogitRecompute::QueryTiles queries =
      shared.loadQueries(builder, item, slices, shared.zero);
  BlockLoop loop = BlockLoop::along(builder, LogitDim::Keys, item);
  // What is stored is computed by all.
  if (!shared.isRepeat() && shared.operands.logitGrads.empty())
    loop = loop.skippingIdle({{LogitDim::Queries}});
  return loop.run(
      builder, shared.zeros(builder, shared.blocks.queries, shared.parts),
      [&](TileBuilder &b, const BlockStep &step, ValueRange sums) {
        LogitRecompute::KeyTiles keys =
            shared.loadKeys(b, step.item, slices, step.offset(LogitDim::Keys));
        LogitRecompute::Recomputed again =
            shared.recompute(b, slices, queries, keys, step.tile);
        Value narrow = shared.narrowScoreGrad(b, again);
        shared.storeLogitGrads(b, step, again, narrow);
        return shared.accumulate(b, sums, narrow, shared.clearNaN(b, keys.key));
      });
}

void evoformer::writeQueryGradient(TileBuilder &builder,
                                   const LogitRecompute &shared) {
  const GradientOperands &operands = shared.operands;
  WorkItem item =
      WorkItem::find(builder, shared.alignedRows, operands.getShape(),
                     shared.blocks, shared.facts.keys)
          .withSharedKeys(shared.facts.shared);
  shared.clearLogitGrads(item, LogitDim::Keys);
  LogitRecompute::Slices slices = shared.slice(item);
  SmallVector<Value> sums = sumKeysOfQueries(builder, shared, item, slices);
  if (!shared.choosesDrops())
    sums = shared.repeatWithCare(
        builder, sums, [&](TileBuilder &b, const LogitRecompute &careful) {
          // What is stored again is found here.
          WorkItem again =
              item.withHead(b, item.head).withCarefulBlocks(LogitDim::Keys);
          // It is all that was stored: blocks of another size end elsewhere.
          if (!operands.logitGrads.empty() && (item.seen || item.keys.visited))
            again.keys.block = item.keys.block;
          return sumKeysOfQueries(b, careful, again, slices);
        });
  item.storeParts(sums, shared.parts, shared.getProductDerivative(),
                  operands.queryGrad, item.queries);
}
