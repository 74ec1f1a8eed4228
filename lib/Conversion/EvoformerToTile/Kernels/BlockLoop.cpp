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

BlockGrid BlockGrid::of(TileBuilder &builder, Value query, Value key,
                        const AttentionBlocks &blocks, int64_t groupSize) {
  return {{builder.dim(query, 0), builder.dim(query, 1), builder.dim(query, 2),
           builder.dim(query, 3), builder.dim(key, 3)},
          {1, blocks.rows, 1, blocks.queries, blocks.keys},
          groupSize};
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
  WorkItem item{builder,       alignedRows,          place[kBiasB],
                place[kBiasH], range(kBiasN),        range(kBiasQ),
                range(kBiasK), /*ownsKeyBlock=*/true};
  return item.withGroups(groupSize);
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

BlockLoop BlockLoop::along(TileBuilder &builder, LogitDim dim,
                           const WorkItem &item, bool keysFirst) {
  assert(dim != LogitDim::Rows && "rows are cut by the space of items");
  const ItemRange &range = dim == LogitDim::Keys ? item.keys : item.queries;
  Value zero = builder.index(0);
  return {zero, builder.index(range.extent), builder.index(range.block),
          [=](TileBuilder &, Value offset) {
            std::array<Value, 3> offsets = {zero, zero, zero};
            offsets[static_cast<unsigned>(dim)] = offset;
            return BlockStep{item,
                             BlockStep::makeTile(item, keysFirst, offsets)};
          }};
}

BlockLoop BlockLoop::through(TileBuilder &builder, const BlockGrid &grid,
                             bool alignedRows, const BlockGrid::Place &place,
                             const std::array<Value, 5> &counts, Value first,
                             Value end, bool keysFirst) {
  return {first, end, builder.index(1), [=](TileBuilder &b, Value number) {
            WorkItem item = grid.itemAt(b, findPlace(b, place, counts, number),
                                        alignedRows);
            Value zero = b.index(0);
            return BlockStep{
                item, BlockStep::makeTile(item, keysFirst, {zero, zero, zero})};
          }};
}

SmallVector<Value>
BlockLoop::run(TileBuilder &builder, ValueRange start,
               function_ref<SmallVector<Value>(TileBuilder &, const BlockStep &,
                                               ValueRange)>
                   body) const {
  return builder.loop(first, end, step, start,
                      [&](TileBuilder &b, Value at, ValueRange carried) {
                        return body(b, stepAt(b, at), carried);
                      });
}
