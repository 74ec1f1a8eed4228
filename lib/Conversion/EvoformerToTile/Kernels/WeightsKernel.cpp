//===- WeightsKernel.cpp - The weights themselves -------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientPrograms.h"

using namespace mlir;
using namespace mlir::evoformer;

void evoformer::writeWeights(TileBuilder &builder,
                             const LogitRecompute &shared) {
  WorkItem item =
      WorkItem::find(builder, shared.alignedRows, shared.operands.getShape(),
                     shared.blocks, shared.facts.keys)
          .withSharedKeys(shared.facts.shared);
  shared.clearLogitGrads(item, LogitDim::Keys);
  LogitRecompute::Slices slices = shared.slice(item);
  LogitRecompute::QueryTiles queries =
      shared.loadQueries(builder, item, slices, shared.zero);
  BlockLoop::along(builder, LogitDim::Keys, item)
      .run(builder, {},
           [&](TileBuilder &b, const BlockStep &step,
               ValueRange) -> SmallVector<Value> {
             LogitRecompute::KeyTiles keys = shared.loadKeys(
                 b, step.item, slices, step.offset(LogitDim::Keys));
             shared.storeWeights(
                 b, step,
                 shared.recompute(b, slices, queries, keys, step.tile));
             return {};
           });
}
