//===- OverlapProducts.cpp - Products beside other work -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_OVERLAPPRODUCTS
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Whether something may be waited for here, or memory change. Nothing moves
/// past regions, whose captures are no operands.
static bool mayChangeMemory(Operation *op) {
  return op->getNumRegions() > 0 ||
         (!isMemoryEffectFree(op) &&
          !isa<LoadOp, GroupMmaOp, GroupFenceOp, GroupWaitOp>(op));
}

/// The rows of a product where they are registers.
static Value getRegisterRows(GroupMmaOp mma) {
  for (Value operand : {mma.getA(), mma.getB()})
    if (isa<RankedTensorType>(operand.getType()))
      return operand;
  return {};
}

/// What a product needs of its block, operands before users.
static SetVector<Operation *> findNeeded(GroupMmaOp mma) {
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) {
    return op->getBlock() == mma->getBlock();
  };
  SetVector<Operation *> needed;
  // Fails for what is not in the block.
  (void)getBackwardSlice(mma.getOperation(), &needed, options);
  return topologicalSort(needed);
}

/// Issues products between which memory does not change, and none of which
/// needs another, one after the other.
static void issueTogether(ArrayRef<GroupMmaOp> products) {
  GroupMmaOp first = products.front(), before = first;
  for (GroupMmaOp mma : products.drop_front()) {
    for (Operation *op : findNeeded(mma))
      if (first->isBeforeInBlock(op))
        op->moveBefore(first);
    mma->moveAfter(before);
    before = mma;
  }
}

/// Hands registers to products that are issued together, before the first.
static void handOver(ArrayRef<GroupMmaOp> products) {
  SmallVector<OpOperand *> uses;
  SetVector<Value> tiles;
  for (GroupMmaOp mma : products)
    for (OpOperand &use : mma->getOpOperands())
      // What was there before was handed over before; and an instruction knows
      // by itself to start at zero.
      if (isa<RankedTensorType>(use.get().getType()) &&
          use.get().getParentBlock() == mma->getBlock() &&
          !matchPattern(use.get(), m_AnyZeroFloat())) {
        uses.push_back(&use);
        tiles.insert(use.get());
      }
  Operation *first = products.front();
  OpBuilder builder(first);
  auto fence = GroupFenceOp::create(
      builder, first->getLoc(),
      llvm::to_vector(ValueRange(tiles.getArrayRef()).getTypes()),
      tiles.getArrayRef());
  for (OpOperand *use : uses)
    use->set(fence.getResult(
        std::distance(tiles.begin(), llvm::find(tiles, use->get()))));
}

/// Puts arithmetic on tiles that no product needs behind them all: what it
/// waits for, as a load, may arrive while they multiply.
static void sinkOthers(ArrayRef<GroupMmaOp> products) {
  Operation *last = products.back();
  SmallVector<Operation *> before;
  for (Operation &op :
       llvm::make_range(last->getBlock()->begin(), Block::iterator(last)))
    before.push_back(&op);
  // Users before operands.
  for (Operation *op : llvm::reverse(before)) {
    bool isArithmetic =
        op->getNumRegions() == 0 && isPure(op) &&
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if (isArithmetic && llvm::all_of(op->getUsers(), [&](Operation *user) {
          Operation *use = last->getBlock()->findAncestorOpInBlock(*user);
          return use && last->isBeforeInBlock(use);
        }))
      op->moveAfter(last);
  }
}

/// The op before which the result of a product is waited for: its first use, or
/// what may change memory that it reads.
static Operation *findEnd(GroupMmaOp mma) {
  for (Operation *op = mma->getNextNode(); op; op = op->getNextNode()) {
    if (op->hasTrait<OpTrait::IsTerminator>() || mayChangeMemory(op))
      return op;
    for (Operation *user : mma->getUsers())
      if (op->isAncestor(user))
        return op;
  }
  llvm_unreachable("a block of a kernel has a terminator");
}

/// Waits for products that are issued together, each as late as may be.
static void waitFor(ArrayRef<GroupMmaOp> products) {
  for (auto [i, mma] : llvm::enumerate(products)) {
    Operation *end = findEnd(mma);
    OpBuilder builder(end);
    SmallVector<Value> rows;
    if (Value own = getRegisterRows(mma))
      rows.push_back(own);
    auto wait = GroupWaitOp::create(
        builder, mma->getLoc(), mma->getResultTypes(), mma->getResults(), rows,
        builder.getI64IntegerAttr(products.size() - 1 - i));
    mma->getResult(0).replaceAllUsesExcept(wait.getResult(0), wait);
  }
}

/// Whether some subgroups have no rows: these branch around the product, and
/// would leave it under way in the others only.
static bool hasIdleSubgroups(GroupMmaOp mma) {
  auto type = cast<RankedTensorType>(mma.getC().getType());
  auto c = cast<FragAttr>(type.getEncoding());
  int64_t rows = c.getDims()[0];
  return type.getDimSize(rows) < countSubgroups(c, rows) * c.getInstr().getM();
}

static void overlap(ArrayRef<GroupMmaOp> products) {
  // Where one needs another, subgroups that wait multiply in turns: together
  // they would all wait at once.
  bool anyNeedsAnother = llvm::any_of(products, [](GroupMmaOp mma) {
    return llvm::any_of(findNeeded(mma),
                        [](Operation *op) { return isa<GroupMmaOp>(op); });
  });
  if (products.size() < 2 || anyNeedsAnother)
    return;
  issueTogether(products);
  handOver(products);
  sinkOthers(products);
  for (GroupMmaOp mma : products)
    mma.setAsync(true);
  waitFor(products);
}

namespace {
struct OverlapProductsPass
    : evoformer::tile::impl::OverlapProductsBase<OverlapProductsPass> {
protected:
  void runOnOperation() override {
    getOperation()->walk([](Block *block) {
      SmallVector<GroupMmaOp> products;
      for (Operation &op : llvm::make_early_inc_range(*block)) {
        auto mma = dyn_cast<GroupMmaOp>(op);
        if (mma && !mma.getAsync() && !hasIdleSubgroups(mma))
          products.push_back(mma);
        else if (!mma && mayChangeMemory(&op))
          overlap(std::exchange(products, {}));
      }
      overlap(products);
    });
  }
};
} // namespace
