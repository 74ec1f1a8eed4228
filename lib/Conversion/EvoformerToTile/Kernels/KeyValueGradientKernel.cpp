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

std::array<Value, 5> evoformer::countSharers(TileBuilder &builder,
                                             const LogitShape &shape,
                                             const SharedKeys &shared) {
  std::array<Value, 5> counts;
  if (shared.batch)
    counts[kBiasB] = builder.index(shape.size(builder, kBiasB));
  if (shared.rows)
    counts[kBiasN] = builder.index(shape.size(builder, kBiasN));
  if (shared.groupSize != 1)
    counts[kBiasH] = builder.index(shared.groupSize);
  return counts;
}

namespace {
/// All queries that share the keys and values of an item: those of a group of
/// heads, and of all n or b.
class Sharers {
public:
  Sharers(TileBuilder &builder, const LogitRecompute &shared,
          const WorkItem &item)
      : shared(shared), shape(shared.operands.getShape()), item(item) {
    const SharedKeys &keys = shared.facts.shared;
    place[kBiasB] = item.batch;
    place[kBiasN] = item.rows.start;
    place[kBiasH] = builder.mul(item.head, builder.index(keys.groupSize));
    counts = countSharers(builder, shape, keys);
    begin = shared.zero;
    for (Value count : counts)
      if (count)
        end = end ? builder.mul(end, count) : count;
    Value steps = shared.operands.stepsOfPart;
    if (!steps)
      return;
    part = WorkItemIdOp::create(builder, 4);
    begin = builder.mul(part, steps);
    end = arith::MinUIOp::create(builder, end, builder.add(begin, steps));
  }

  /// The numbers of those that the item has, from the first to before the end.
  Value getFirst() const { return begin; }
  Value getEnd() const { return end; }
  /// Where the item's sums lie among those of all parts; null: there are none.
  Value getPart() const { return part; }

  /// The first, with all keys that any has.
  WorkItem first(TileBuilder &b) const {
    WorkItem one = item.withHead(b, place[kBiasH]);
    return endApart() ? one.withAll() : one;
  }

  /// The one with this number, heads fastest.
  WorkItem at(TileBuilder &b, Value number) const {
    BlockGrid::Place own = findPlace(b, {}, counts, number);
    WorkItem one = item.withHead(
        b, own[kBiasH] ? b.add(place[kBiasH], own[kBiasH]) : place[kBiasH]);
    if (own[kBiasB])
      one.batch = own[kBiasB];
    if (own[kBiasN])
      one.rows.start = own[kBiasN];
    if (!endApart())
      return one;
    WorkItem row = one.withAll();
    row.endRow(shape, shared.facts.keys);
    return row;
  }

private:
  /// Whether rows may differ in their lengths: those of a sequence do not.
  bool endApart() const {
    return shape.lengths.any() && !shape.lengths.isRagged() &&
           (counts[kBiasB] || counts[kBiasN]);
  }

  const LogitRecompute &shared;
  LogitShape shape;
  const WorkItem &item;
  BlockGrid::Place place;
  /// By dimension, null where they differ in none.
  std::array<Value, 5> counts;
  Value begin, end, part;
};
} // namespace

/// Stores the sums over the queries that share the keys and values of `item`,
/// all of them or a part.
static void writeShared(const LogitRecompute &shared, WorkItem item) {
  TileBuilder &builder = item.builder;
  const Bias &keySum = shared.operands.keySum;
  const SharedKeys &keys = shared.facts.shared;
  item.keys.shared = {keys.batch ? item.batch : Value(),
                      keys.rows ? item.rows.start : Value(),
                      keys.groupSize != 1 ? item.head : Value()};
  Sharers sharers(builder, shared, item);
  Value one = builder.index(1);
  using Sums = KeyBlock::Sums;
  auto overAll =
      [&](TileBuilder &outer, const Sums &start,
          function_ref<Sums(TileBuilder &, const KeyBlock &, const Sums &)>
              add) {
        return start.with(outer.loop(
            sharers.getFirst(), sharers.getEnd(), one, start.carried(),
            [&](TileBuilder &b, Value number, ValueRange sums) {
              KeyBlock block(shared, sharers.at(b, number),
                             /*keysFirst=*/true);
              return add(b, block, start.with(sums)).carried();
            }));
      };
  WorkItem whole = sharers.first(builder);
  auto ofPart = [&](Value memory) {
    return memory && sharers.getPart()
               ? slicePart(builder, memory, sharers.getPart())
               : memory;
  };
  Value keyGrad = ofPart(shared.operands.keyGrad);
  Value valueGrad = ofPart(shared.operands.valueGrad);
  // Where sharers drop keys of their own, each is cleared before it is added,
  // for which registers hold its sums beside those of all.
  const std::pair<bool, int64_t> dims[] = {
      {keys.batch, kBiasB}, {keys.rows, kBiasN}, {keys.groupSize != 1, kBiasH}};
  bool dropOwn = keySum.memory && llvm::any_of(dims, [&](auto entry) {
                   return entry.first && !keySum.broadcast[entry.second];
                 });
  if (dropOwn) {
    KeyBlock::store(
        shared, whole,
        overAll(builder, KeyBlock::start(builder, shared),
                [](TileBuilder &b, const KeyBlock &block, const Sums &sums) {
                  return block.addCleared(b, sums);
                }),
        /*slices=*/nullptr, keyGrad, valueGrad);
    return;
  }
  Sums all = KeyBlock::sumWithCare(
      builder, shared,
      [&](TileBuilder &outer, const LogitRecompute &recompute,
          const Sums &start) {
        return overAll(
            outer, start,
            [&](TileBuilder &b, const KeyBlock &block, const Sums &sums) {
              return block.sumQueries(b, recompute, sums);
            });
      });
  LogitRecompute::Slices slices = shared.slice(whole);
  KeyBlock::store(shared, whole, all, &slices, keyGrad, valueGrad);
}

void evoformer::writeKeyValueGradient(TileBuilder &builder,
                                      const LogitRecompute &shared) {
  WorkItem item =
      WorkItem::find(builder, shared.alignedRows, shared.operands.getShape(),
                     shared.blocks, shared.facts.keys, /*ownsKeyBlock=*/true);
  if (shared.facts.shared.any())
    return writeShared(shared, item);
  if (!shared.operands.slab)
    return KeyBlock::write(item,
                           KeyBlock::cut(shared, item, /*keysFirst=*/true));
  KeyBlock block(shared, item, /*keysFirst=*/true);
  // What is made again with care is stored again.
  Value slab = item.sliceSlab(shared.operands.slab);
  block.write([&](TileBuilder &b, const BlockStep &step,
                  const LogitRecompute::Recomputed &, Value narrow,
                  ValueRange) -> SmallVector<Value> {
    item.storeSlab(b, narrow, slab, step.offset(LogitDim::Queries));
    return {};
  });
}
