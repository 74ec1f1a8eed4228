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

/// Stores the sums over all heads that share the head of keys that `item` has.
static void writeGroup(const LogitRecompute &shared, WorkItem item) {
  TileBuilder &builder = item.builder;
  const Bias &keySum = shared.operands.keySum;
  item.keys.head = item.head;
  Value size = builder.index(shared.facts.groupSize), one = builder.index(1);
  Value first = builder.mul(item.head, size);
  using Sums = KeyBlock::Sums;
  auto overHeads =
      [&](TileBuilder &outer, const Sums &start,
          function_ref<Sums(TileBuilder &, const KeyBlock &, const Sums &)>
              add) {
        return start.with(outer.loop(
            shared.zero, size, one, start.carried(),
            [&](TileBuilder &b, Value member, ValueRange sums) {
              KeyBlock head(shared, item.withHead(b, b.add(first, member)),
                            /*keysFirst=*/true);
              return add(b, head, start.with(sums)).carried();
            }));
      };
  WorkItem whole = item.withHead(builder, first);
  // Where heads drop keys of their own, each is cleared before it is added, for
  // which registers hold its sums beside those of all.
  if (keySum.memory && !keySum.broadcast[kBiasH]) {
    KeyBlock::store(
        shared, whole,
        overHeads(builder, KeyBlock::start(builder, shared),
                  [](TileBuilder &b, const KeyBlock &head, const Sums &sums) {
                    return head.addCleared(b, sums);
                  }),
        /*slices=*/nullptr);
    return;
  }
  Sums all = KeyBlock::sumWithCare(
      builder, shared,
      [&](TileBuilder &outer, const LogitRecompute &recompute,
          const Sums &start) {
        return overHeads(
            outer, start,
            [&](TileBuilder &b, const KeyBlock &head, const Sums &sums) {
              return head.sumQueries(b, recompute, sums);
            });
      });
  LogitRecompute::Slices slices = shared.slice(whole);
  KeyBlock::store(shared, whole, all, &slices);
}

void evoformer::writeKeyValueGradient(TileBuilder &builder,
                                      const LogitRecompute &shared) {
  WorkItem item =
      WorkItem::find(builder, shared.alignedRows, shared.operands.getShape(),
                     shared.blocks, shared.facts.keys, /*ownsKeyBlock=*/true);
  if (shared.facts.groupSize != 1)
    return writeGroup(shared, item);
  KeyBlock(shared, item, /*keysFirst=*/true).write();
}
