//===- BlockLoop.cpp - The blocks that a work item visits -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockLoop.h"

using namespace mlir;
using namespace mlir::evoformer;

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

BlockGrid BlockGrid::of(TileBuilder &builder, const LogitShape &shape,
                        const AttentionBlocks &blocks) {
  BlockGrid grid{{}, {1, blocks.rows, 1, blocks.queries, blocks.keys}};
  for (int64_t dim = 0; dim < 5; ++dim)
    grid.sizes[dim] = shape.size(builder, dim);
  return grid;
}

BlockGrid BlockGrid::of(TileBuilder &builder, const LogitShape &shape,
                        const AttentionBlocks &blocks,
                        const AttentionFacts &facts) {
  BlockGrid grid = of(builder, shape, blocks);
  grid.sharedKeys = facts.shared;
  grid.shape = shape;
  grid.range = facts.keys;
  if (!shape.lengths.any())
    grid.seen = makeSeenKeys(builder, facts.keys, shape);
  return grid;
}

bool BlockGrid::haveEqualLengths(const std::array<Value, 5> &moves) const {
  if (shape.lengths.isRagged() && moves[kBiasB])
    return false;
  for (Value memory : {shape.lengths.queries, shape.lengths.keys})
    for (int64_t dim : {kBiasB, kBiasN})
      if (memory && moves[dim] &&
          cast<MemRefType>(memory.getType()).getDimSize(dim) != 1)
        return false;
  return true;
}

void BlockGrid::findCounts(TileBuilder &builder, const Place &place) {
  counts = RowCounts::load(builder, shape, place[kBiasB],
                           origin(builder, place, kBiasN));
}

Value BlockGrid::count(TileBuilder &builder, int64_t dim) const {
  return builder.ceilDiv(sizes[dim], block[dim]);
}

Value BlockGrid::origin(TileBuilder &builder, const Place &place,
                        int64_t dim) const {
  return builder.mul(place[dim], builder.index(block[dim]));
}

WorkItem BlockGrid::itemAt(TileBuilder &builder, const Place &place,
                           bool alignedRows) const {
  auto range = [&](int64_t dim) {
    return ItemRange::ofBlock(builder, sizes[dim], origin(builder, place, dim),
                              block[dim]);
  };
  WorkItem item{builder,       alignedRows,           place[kBiasB],
                place[kBiasH], range(kBiasN),         range(kBiasQ),
                range(kBiasK), /*ownsKeyBlock=*/true, seen};
  const RowLengths &lengths = shape.lengths;
  if (lengths.any()) {
    RowCounts own =
        counts ? *counts
               : RowCounts::load(builder, shape, item.batch, item.rows.start);
    own = own.behindQuery(builder, item.queries.start, shape)
              .behindKey(builder, item.keys.start, shape);
    item.endAt(own, lengths);
    item.seen = makeSeenKeys(builder, this->range, shape, own,
                             {lengths.ofQueries(), lengths.ofKeys()});
  }
  return item.withSharedKeys(sharedKeys);
}

BlockGrid::Place evoformer::findPlace(TileBuilder &builder,
                                      BlockGrid::Place place,
                                      const std::array<Value, 5> &counts,
                                      Value step) {
  const auto *slowest =
      llvm::find_if(counts, [](Value count) { return count; });
  for (int64_t dim = 4; dim >= 0; --dim) {
    if (!counts[dim])
      continue;
    place[dim] = step;
    if (&counts[dim] == slowest)
      break;
    place[dim] = arith::RemUIOp::create(builder, step, counts[dim]);
    step = arith::DivUIOp::create(builder, step, counts[dim]);
  }
  return place;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

LogitsTile BlockStep::makeTile(const WorkItem &item, bool keysFirst,
                               const std::array<Value, 3> &offsets) {
  LogitsTile tile{{item.rows.block, item.queries.block, item.keys.block},
                  keysFirst,
                  offsets};
  if (keysFirst)
    std::swap(tile.shape[1], tile.shape[2]);
  return tile;
}

/// The tile of an item that starts so far from where its slices do; `isMasked`:
/// some of its pairs may not see each other.
static BlockStep makeStep(TileBuilder &b, const WorkItem &item, bool keysFirst,
                          const std::array<Value, 3> &offsets, bool isMasked) {
  BlockStep step{item, BlockStep::makeTile(item, keysFirst, offsets)};
  if (isMasked)
    step.tile.seen = item.findSeen(b, step.tile);
  return step;
}

/// The number of blocks on the edges of a range.
static Value countEdges(TileBuilder &b, const SeenBlocks &blocks) {
  if (blocks.isOneEdge) {
    // Passes see that there is no second one.
    Value isAny = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                        blocks.fullEnd, blocks.end);
    return b.select(isAny, b.index(1), b.index(0));
  }
  return b.sub(b.sub(blocks.end, blocks.begin),
               b.sub(blocks.fullEnd, blocks.fullBegin));
}

/// The block with a number among those on the edges, lowest first.
static Value findEdge(TileBuilder &b, const SeenBlocks &blocks, Value number) {
  if (!blocks.hasHigh)
    return b.add(blocks.begin, number);
  if (!blocks.hasLow)
    return b.add(blocks.fullEnd, number);
  Value low = b.sub(blocks.fullBegin, blocks.begin);
  Value isLow =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, low);
  Value lowBlock = b.add(blocks.begin, number);
  Value highBlock = b.add(blocks.fullEnd, b.sub(number, low));
  return b.select(isLow, lowBlock, highBlock);
}

BlockLoop::StepAt BlockLoop::stepsAlong(TileBuilder &builder, LogitDim dim,
                                        const WorkItem &item, bool keysFirst,
                                        bool isMasked) {
  Value zero = builder.index(0);
  return [=](TileBuilder &b, Value offset) {
    std::array<Value, 3> offsets = {zero, zero, zero};
    offsets[static_cast<unsigned>(dim)] = offset;
    return makeStep(b, item, keysFirst, offsets, isMasked);
  };
}

BlockLoop BlockLoop::along(TileBuilder &builder, LogitDim dim,
                           const WorkItem &item, bool keysFirst) {
  assert(dim != LogitDim::Rows && "rows are cut by the space of items");
  const ItemRange &range = dim == LogitDim::Keys ? item.keys : item.queries;
  Value zero = builder.index(0), block = builder.index(range.block);
  auto steps = [&](bool isMasked) {
    WorkItem some = item;
    // Full blocks end before the row does.
    if (!isMasked && item.seen && item.seen->isExact(dim))
      (dim == LogitDim::Keys ? some.keys : some.queries).fits = true;
    return stepsAlong(builder, dim, some, keysFirst, isMasked);
  };
  BlockLoop loop;
  if (!item.seen) {
    loop.parts = {{zero,
                   range.visited ? range.visited : builder.index(range.extent),
                   block, steps(/*isMasked=*/false)}};
    return loop;
  }
  SeenBlocks blocks = item.findBlocks(builder, dim);
  auto offsetOf = [&](Value number) { return builder.mul(number, block); };
  StepAt masked = steps(/*isMasked=*/true);
  if (item.isCareful) {
    loop.parts = {
        {offsetOf(blocks.begin), offsetOf(blocks.end), block, masked}};
    return loop;
  }
  StepAt atEdge = [=](TileBuilder &b, Value number) {
    return masked(b, b.mul(findEdge(b, blocks, number), block));
  };
  loop.parts = {{zero, countEdges(builder, blocks), builder.index(1), atEdge},
                {offsetOf(blocks.fullBegin), offsetOf(blocks.fullEnd), block,
                 steps(/*isMasked=*/false)}};
  return loop;
}

BlockLoop BlockLoop::inside(TileBuilder &builder, const BlockStep &step,
                            LogitDim dim, int64_t count, bool hasAll) {
  WorkItem item = step.item;
  ItemRange &range = dim == LogitDim::Keys ? item.keys : item.queries;
  assert(range.block % count == 0 && "parts of a block are equal");
  int64_t size = range.block /= count;
  Value start = step.offset(dim), end = builder.index(count);
  if (!hasAll && (!range.fits || range.visited)) {
    Value all = range.visited ? range.visited : builder.index(range.extent);
    end = arith::MinUIOp::create(
        builder, builder.ceilDiv(builder.sub(all, start), size), end);
    // Passes see that there is one.
    end = arith::MaxUIOp::create(builder, end, builder.index(1));
  }
  StepAt along = stepsAlong(builder, dim, item, step.tile.keysFirst,
                            /*isMasked=*/step.tile.seen != nullptr);
  BlockLoop loop;
  loop.parts = {{builder.index(0), end, builder.index(1),
                 [=](TileBuilder &b, Value number) {
                   return along(b, b.add(start, b.mul(number, b.index(size))));
                 }}};
  return loop;
}

BlockLoop BlockLoop::inParts(LogitDim dim, int64_t count) const {
  BlockLoop loop = *this;
  if (count > 1)
    loop.partsOf = [=](TileBuilder &b, const BlockStep &step, bool hasAll) {
      return inside(b, step, dim, count, hasAll);
    };
  return loop;
}

BlockLoop BlockLoop::skippingIdle(ArrayRef<Owned> owned) const {
  BlockLoop loop = *this;
  loop.owned.assign(owned.begin(), owned.end());
  return loop;
}

SmallVector<Value> BlockLoop::skipIdle(TileBuilder &b, const BlockStep &step,
                                       ValueRange before,
                                       ValueRange next) const {
  SmallVector<Value> extents;
  SmallVector<int64_t> dims;
  for (const Owned &owned : owned) {
    const ItemRange &range =
        owned.dim == LogitDim::Keys ? step.item.keys : step.item.queries;
    if (range.fits)
      continue;
    extents.push_back(b.index(range.extent));
    dims.push_back(owned.tileDim);
  }
  if (dims.empty())
    return llvm::to_vector(next);
  return llvm::map_to_vector(
      llvm::zip_equal(before, next), [&](auto pair) -> Value {
        auto [old, value] = pair;
        return tile::SkipIdleOp::create(b, value, old, extents,
                                        b.getDenseI64ArrayAttr(dims));
      });
}

BlockLoop BlockLoop::withAround(Around around) const {
  assert(partsOf && "what surrounds parts needs some");
  BlockLoop loop = *this;
  loop.around = std::move(around);
  return loop;
}

BlockLoop BlockLoop::outside(TileBuilder &builder, LogitDim dim,
                             const WorkItem &item) {
  BlockLoop loop;
  const ItemRange &range = dim == LogitDim::Keys ? item.keys : item.queries;
  if (!item.seen && !range.visited)
    return loop;
  Value zero = builder.index(0), block = builder.index(range.block);
  StepAt steps = stepsAlong(builder, dim, item, /*keysFirst=*/false,
                            /*isMasked=*/false);
  Value end = builder.index(range.all().extent);
  if (!item.seen) {
    loop.parts = {
        {builder.roundUp(range.visited, range.block), end, block, steps}};
    return loop;
  }
  SeenBlocks blocks = item.findBlocks(builder, dim);
  loop.parts = {{zero, builder.mul(blocks.begin, block), block, steps},
                {builder.mul(blocks.end, block), end, block, steps}};
  return loop;
}

/// Whether the row has any of the step's queries and of its keys.
static Value hasAny(TileBuilder &b, const BlockStep &step) {
  Value all;
  for (const ItemRange &range : {step.item.queries, step.item.keys}) {
    if (!range.mayEndEarly())
      continue;
    Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                       b.index(range.extent), b.index(0));
    all = all ? arith::AndIOp::create(b, all, some) : some;
  }
  return all;
}

BlockLoop BlockLoop::through(TileBuilder &builder, const BlockGrid &grid,
                             bool alignedRows, const BlockGrid::Place &place,
                             const std::array<Value, 5> &counts, Value first,
                             Value end, bool keysFirst) {
  bool movesQueries = counts[kBiasQ] != nullptr;
  bool movesKeys = counts[kBiasK] != nullptr;
  bool movesOne = movesQueries != movesKeys;
  LogitDim dim = movesQueries ? LogitDim::Queries : LogitDim::Keys;
  GridSteps steps{grid, alignedRows, place, counts, keysFirst};
  BlockLoop loop;
  bool isMasked = grid.mayMask();
  if (!isMasked || (movesQueries && movesKeys) ||
      !grid.haveEqualLengths(counts)) {
    loop.parts = {{first, end, builder.index(1), steps.at(isMasked)}};
    if (grid.shape.lengths.any())
      loop.parts.front().isNeeded = hasAny;
    return loop;
  }
  SeenBlocks blocks =
      grid.itemAt(builder, place, alignedRows).findBlocks(builder, dim);
  if (movesOne) {
    loop.addRange(builder, steps, dim, blocks, first, end);
    return loop;
  }
  // One block of both: all steps are of the same kind.
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
    return arith::CmpIOp::create(builder, predicate, place[kBiasK], bound);
  };
  Value isVisited = arith::AndIOp::create(
      builder, compare(arith::CmpIPredicate::uge, blocks.begin),
      compare(arith::CmpIPredicate::ult, blocks.end));
  loop.parts = {{first, builder.select(isVisited, end, first), builder.index(1),
                 steps.at(/*isMasked=*/false)}};
  return loop;
}

BlockLoop::StepAt BlockLoop::GridSteps::at(bool isMasked, MoveFn move) const {
  return [steps = *this, isMasked, move](TileBuilder &b, Value number) {
    BlockGrid::Place at = findPlace(b, steps.place, steps.counts, number);
    if (move)
      move(b, at);
    Value zero = b.index(0);
    return makeStep(b, steps.grid.itemAt(b, at, steps.alignedRows),
                    steps.keysFirst, {zero, zero, zero}, isMasked);
  };
}

void BlockLoop::addRange(TileBuilder &builder, const GridSteps &steps,
                         LogitDim along, const SeenBlocks &blocks, Value first,
                         Value end) {
  int64_t dim = along == LogitDim::Queries ? kBiasQ : kBiasK;
  auto withCount = [&](Value count) {
    GridSteps some = steps;
    some.counts[dim] = count;
    return some;
  };
  Value one = builder.index(1);
  auto countSteps = [&](const GridSteps &some) {
    Value product = one;
    for (Value count : some.counts)
      if (count)
        product = builder.mul(product, count);
    return product;
  };
  GridSteps ofEdges = withCount(countEdges(builder, blocks));
  GridSteps ofFull = withCount(builder.sub(blocks.fullEnd, blocks.fullBegin));
  Value edges = countSteps(ofEdges), full = countSteps(ofFull);
  // Steps on the edges have the first numbers.
  auto atMost = [&](Value x, Value y) -> Value {
    return arith::MinUIOp::create(builder, x, y);
  };
  auto behindEdges = [&](Value number) {
    return atMost(
        builder.sub(arith::MaxUIOp::create(builder, number, edges), edges),
        full);
  };
  auto toEdge = [=](TileBuilder &b, BlockGrid::Place &at) {
    at[dim] = findEdge(b, blocks, at[dim]);
  };
  auto toFull = [=](TileBuilder &b, BlockGrid::Place &at) {
    at[dim] = b.add(blocks.fullBegin, at[dim]);
  };
  parts = {{atMost(first, edges), atMost(end, edges), one,
            ofEdges.at(/*isMasked=*/true, toEdge)},
           {behindEdges(first), behindEdges(end), one,
            ofFull.at(/*isMasked=*/false, toFull)}};
}

SmallVector<Value>
BlockLoop::run(TileBuilder &builder, ValueRange start,
               function_ref<SmallVector<Value>(TileBuilder &, const BlockStep &,
                                               ValueRange)>
                   body) const {
  auto runStep = [&](TileBuilder &b, const BlockStep &step,
                     ValueRange carried) {
    if (!partsOf)
      return body(b, step, carried);
    BlockLoop parts = partsOf(b, step, /*hasAll=*/around.has_value());
    if (!around)
      return parts.run(b, carried, body);
    around->before(b, step);
    return around->behind(b, step, parts.run(b, carried, body));
  };
  auto skipStep = [&](TileBuilder &b, const BlockStep &step,
                      ValueRange carried) {
    return skipIdle(b, step, carried, runStep(b, step, carried));
  };
  SmallVector<Value> carried(start);
  for (const Part &part : parts)
    carried = builder.loop(
        part.first, part.end, part.step, carried,
        [&](TileBuilder &b, Value at, ValueRange carried) {
          BlockStep step = part.stepAt(b, at);
          if (!part.isNeeded)
            return skipStep(b, step, carried);
          // Of one step or none: a branch on tiles would keep the registers of
          // both its sides apart.
          Value zero = b.index(0), one = b.index(1);
          Value count = b.select(part.isNeeded(b, step), one, zero);
          return b.loop(zero, count, one, carried,
                        [&](TileBuilder &inner, Value, ValueRange carried) {
                          return skipStep(inner, part.stepAt(inner, at),
                                          carried);
                        });
        });
  return carried;
}
