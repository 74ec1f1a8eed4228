//===- BlockLoopTest.cpp - The blocks that a work item visits -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Conversion/EvoformerToTile/Kernels/BlockLoop.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

namespace {

/// The value of arithmetic on constants.
int64_t evaluate(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  int64_t a = evaluate(op->getOperand(0)), b = evaluate(op->getOperand(1));
  if (isa<arith::MulIOp>(op))
    return a * b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  return isa<arith::RemUIOp>(op) ? a % b : a / b;
}

struct Loops : testing::Test {
  Loops()
      : context(MLIRContext::Threading::DISABLED),
        loc(UnknownLoc::get(&context)) {
    context.loadDialect<TileDialect, arith::ArithDialect, memref::MemRefDialect,
                        scf::SCFDialect>();
    module = ModuleOp::create(loc);
    builder = std::make_unique<TileBuilder>(
        loc, OpBuilder::atBlockEnd(module->getBody()));
  }
  /// [2, 3, 4, positions, 8].
  Value sequence(int64_t positions) {
    auto type = MemRefType::get({2, 3, 4, positions, 8}, builder->getF32Type());
    return memref::AllocOp::create(*builder, type);
  }
  BlockGrid grid(int64_t queries, int64_t keys) {
    return BlockGrid::of(*builder,
                         LogitShape{sequence(queries), sequence(keys), {}},
                         {1, 32, 64});
  }

  MLIRContext context;
  Location loc;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<TileBuilder> builder;
};

TEST_F(Loops, CountBlocksThatStickOut) {
  BlockGrid blocks = grid(33, 128);
  std::vector<int64_t> counts;
  for (int64_t dim = 0; dim < 5; ++dim)
    counts.push_back(evaluate(blocks.count(*builder, dim)));
  EXPECT_EQ(counts, (std::vector<int64_t>{2, 3, 4, 2, 2}));
}

TEST_F(Loops, VisitEveryPlaceOnceTheLastDimensionFastest) {
  // Rows and keys move, the others stay.
  BlockGrid::Place stays;
  for (int64_t dim = 0; dim < 5; ++dim)
    stays[dim] = builder->index(10 + dim);
  std::array<Value, 5> counts;
  counts[kBiasN] = builder->index(3);
  counts[kBiasK] = builder->index(2);
  std::vector<std::pair<int64_t, int64_t>> visited;
  for (int64_t step = 0; step < 6; ++step) {
    BlockGrid::Place place =
        findPlace(*builder, stays, counts, builder->index(step));
    visited.push_back({evaluate(place[kBiasN]), evaluate(place[kBiasK])});
    EXPECT_EQ(evaluate(place[kBiasB]), 10);
    EXPECT_EQ(evaluate(place[kBiasH]), 12);
    EXPECT_EQ(evaluate(place[kBiasQ]), 13);
  }
  EXPECT_EQ(visited, (std::vector<std::pair<int64_t, int64_t>>{
                         {0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}));
}

TEST_F(Loops, StayWithoutCounts) {
  BlockGrid::Place stays;
  for (int64_t dim = 0; dim < 5; ++dim)
    stays[dim] = builder->index(dim);
  BlockGrid::Place place = findPlace(*builder, stays, {}, builder->index(0));
  EXPECT_EQ(place, stays);
}

TEST_F(Loops, ItemsHaveOneBlock) {
  BlockGrid blocks = grid(33, 128);
  BlockGrid::Place place;
  for (int64_t dim = 0; dim < 5; ++dim)
    place[dim] = builder->index(1);
  WorkItem item = blocks.itemAt(*builder, place, /*alignedRows=*/false);
  EXPECT_EQ(evaluate(item.queries.start), 32);
  EXPECT_FALSE(item.queries.fits);
  EXPECT_EQ(evaluate(builder->index(item.queries.extent)), 1);
  EXPECT_EQ(evaluate(item.keys.start), 64);
  EXPECT_TRUE(item.keys.fits);
  EXPECT_TRUE(item.ownsKeyBlock);
}

TEST_F(Loops, MoveAlongOneDimension) {
  BlockGrid blocks = grid(96, 128);
  BlockGrid::Place place;
  for (int64_t dim = 0; dim < 5; ++dim)
    place[dim] = builder->index(0);
  WorkItem item = blocks.itemAt(*builder, place, /*alignedRows=*/false);
  item.queries = ItemRange::whole(*builder, builder->getIndexAttr(96), 32);
  Value start = builder->splat({1}, builder->getF32Type(), 0);
  SmallVector<int64_t> shape;
  bool moves = false;
  SmallVector<Value> result =
      BlockLoop::along(*builder, LogitDim::Queries, item, /*keysFirst=*/true)
          .run(*builder, start,
               [&](TileBuilder &, const BlockStep &step,
                   ValueRange carried) -> SmallVector<Value> {
                 llvm::append_range(shape, step.tile.shape);
                 moves = isa<BlockArgument>(step.offset(LogitDim::Queries)) &&
                         !isa<BlockArgument>(step.offset(LogitDim::Keys));
                 return {carried[0]};
               });
  EXPECT_EQ(shape, (SmallVector<int64_t>{1, 64, 32}));
  EXPECT_TRUE(moves);
  auto loop = result[0].getDefiningOp<scf::ForOp>();
  ASSERT_TRUE(loop);
  EXPECT_EQ(evaluate(loop.getLowerBound()), 0);
  EXPECT_EQ(evaluate(loop.getUpperBound()), 96);
  EXPECT_EQ(evaluate(loop.getStep()), 32);
}

TEST_F(Loops, CarefulBlocksDivideTheOthersInWholeAtoms) {
  for (auto [block, careful] : {std::pair(64, 32), std::pair(32, 16),
                                std::pair(16, 16), std::pair(48, 48)}) {
    WorkItem item{*builder, false, {}, {}, {}, {}, {}};
    item.queries.block = 7;
    item.keys.block = block;
    EXPECT_EQ(item.withCarefulBlocks(LogitDim::Keys).keys.block, careful);
    EXPECT_EQ(item.withCarefulBlocks(LogitDim::Keys).queries.block, 7);
  }
}

} // namespace
