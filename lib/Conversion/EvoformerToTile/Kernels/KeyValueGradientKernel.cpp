//===- KeyValueGradientKernel.cpp - The gradients of key and value --------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientPrograms.h"
#include "KeyBlock.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// The sums over all heads that share the head of keys that `item` has.
static void writeGroup(const LogitRecompute &shared, WorkItem item) {
  TileBuilder &builder = item.builder;
  const GradientOperands &operands = shared.operands;
  // Where heads drop keys of their own, each is cleared before it is added.
  bool apart = shared.dropsForQueries() ||
               (operands.keySum.memory && !operands.keySum.broadcast[kBiasH]);
  item.keys.head = item.head;
  Value size = builder.index(shared.facts.groupSize);
  Value first = builder.mul(item.head, size);
  KeyBlock::Sums start = KeyBlock::start(builder, shared);
  SmallVector<Value> all = builder.loop(
      shared.zero, size, builder.index(1), start.carried(),
      [&](TileBuilder &b, Value member, ValueRange carried) {
        KeyBlock block(shared, item.withHead(b, b.add(first, member)),
                       /*keysFirst=*/true);
        KeyBlock::Sums sums = start.with(carried);
        sums = apart ? block.addCleared(b, sums) : block.sum(sums);
        return sums.carried();
      });
  WorkItem whole = item.withHead(builder, first);
  std::optional<LogitRecompute::Slices> slices;
  if (!apart)
    slices = shared.slice(whole);
  KeyBlock::store(shared, whole, start.with(all), slices ? &*slices : nullptr);
}

void evoformer::writeKeyValueGradient(TileBuilder &builder,
                                      const LogitRecompute &shared) {
  WorkItem item =
      WorkItem::find(builder, shared.alignedRows, shared.operands.query,
                     shared.operands.key, shared.blocks, shared.facts.keys,
                     shared.operands.lengths, /*ownsKeyBlock=*/true);
  if (shared.facts.groupSize != 1)
    return writeGroup(shared, item);
  KeyBlock(shared, item, /*keysFirst=*/true).write();
}
