//===- SkipIdleSubgroups.cpp - Nothing to compute, nothing computed -------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelMemory.h"

#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_SKIPIDLESUBGROUPS
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-skip-idle-subgroups";

/// Where the tile's part of each subgroup starts along the dimensions that have
/// extents.
static SmallVector<int64_t> findStarts(SkipIdleOp op, int64_t numSubgroups) {
  LaneMap map = *getLaneMap(cast<RankedTensorType>(op.getType()));
  SmallVector<int64_t> starts;
  for (int64_t subgroup = 0; subgroup < numSubgroups; ++subgroup) {
    SmallVector<int64_t> start =
        map.subgroupOffset(subgroup % map.getNumSubgroups());
    for (int64_t dim : op.getDims())
      starts.push_back(start[dim]);
  }
  return starts;
}

/// Has all subgroups compute tiles.
static void computeByAll(ArrayRef<SkipIdleOp> ops) {
  for (SkipIdleOp op : ops) {
    op.getResult().replaceAllUsesWith(op.getValue());
    op.erase();
  }
}

/// Whether an op, and all in it, does nothing but compute and read memory.
static bool onlyReads(Operation *op) {
  WalkResult walk = op->walk([](Operation *inner) {
    bool isQuiet =
        isControlFlow(inner) || isMemoryEffectFree(inner) || isa<LoadOp>(inner);
    return isQuiet ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !walk.wasInterrupted();
}

/// Whether a number is known before the loop; moves what computes it there.
static bool moveBefore(LoopLikeOpInterface loop, Value number) {
  if (loop.isDefinedOutsideOfLoop(number))
    return true;
  Operation *op = number.getDefiningOp();
  if (!op || !isPure(op) || op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperands(),
                    [&](Value operand) { return moveBefore(loop, operand); }))
    return false;
  op->moveBefore(loop);
  return true;
}

/// Moves what the extents of a tile are computed from in front of the loop.
static bool moveExtentsBefore(LoopLikeOpInterface loop, SkipIdleOp op) {
  return llvm::all_of(op.getExtents(),
                      [&](Value extent) { return moveBefore(loop, extent); });
}

/// Whether the subgroup holds any of a tile's elements that count.
static Value createWorks(OpBuilder &builder, SkipIdleOp op) {
  return HoldsWithinOp::create(builder, op->getLoc(), op.getExtents(),
                               op.getDims(), op.getType());
}

namespace {
/// Tiles of a block that the same subgroups may leave out, where what makes
/// them is code of its own: loops over the parts of a step.
class IdleTiles {
public:
  explicit IdleTiles(ArrayRef<SkipIdleOp> ops) : ops(llvm::to_vector(ops)) {}

  /// Gives how many tiles are left out; what cannot be is computed by all.
  int64_t rewrite() {
    while (!ops.empty()) {
      findWork();
      SmallVector<SkipIdleOp> left, computed;
      for (SkipIdleOp op : ops)
        (work.contains(op.getValue().getDefiningOp()) ? left : computed)
            .push_back(op);
      if (computed.empty()) {
        moveWork();
        break;
      }
      computeByAll(computed);
      ops = left;
    }
    return ops.size();
  }

private:
  /// That which comes last in the block.
  SkipIdleOp getLast() const { return ops.back(); }

  /// Finds what of the block only these tiles need.
  void findWork() {
    work.clear();
    // Whether memory may change between the op at hand and the last tile.
    bool changes = false;
    for (Operation *op = getLast(); op; op = op->getPrevNode()) {
      if (isWork(op, changes))
        work.insert(op);
      else if (!onlyReads(op))
        changes = true;
    }
  }

  bool isWork(Operation *op, bool changes) const {
    if (op->use_empty() || op->hasTrait<OpTrait::ConstantLike>() ||
        isa<SkipIdleOp>(op) || !onlyReads(op) ||
        (changes && !isMemoryEffectFree(op)))
      return false;
    return llvm::all_of(op->getUses(), [&](OpOperand &use) {
      Operation *user = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (auto skip = dyn_cast_if_present<SkipIdleOp>(user))
        return llvm::is_contained(ops, skip) && &use == &skip.getValueMutable();
      return user && work.contains(user);
    });
  }

  /// Whether the subgroup holds any of the tiles' elements that count, before
  /// the loops that do not change that.
  Value findWorks() const {
    Operation *place = getLast();
    while (auto loop = place->getParentOfType<LoopLikeOpInterface>()) {
      if (loop != place->getParentOp() || !moveExtentsBefore(loop, ops.front()))
        break;
      place = loop;
    }
    OpBuilder builder(place);
    return createWorks(builder, ops.front());
  }

  /// Moves it into a loop that idle subgroups do not enter: a branch on tiles
  /// would keep the registers of both its sides apart.
  void moveWork() {
    SkipIdleOp last = getLast();
    Location loc = last->getLoc();
    OpBuilder builder(last);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value works = findWorks();
    Value steps = arith::SelectOp::create(builder, loc, works, one, zero);
    SmallVector<Value> before, values;
    for (SkipIdleOp op : ops) {
      before.push_back(op.getOtherwise());
      values.push_back(op.getValue());
    }
    auto loop = scf::ForOp::create(builder, loc, zero, steps, one, before);
    builder.setInsertionPointToEnd(loop.getBody());
    auto yield = scf::YieldOp::create(builder, loc, values);
    for (Operation &op : llvm::make_early_inc_range(*last->getBlock()))
      if (work.contains(&op))
        op.moveBefore(yield);
    for (auto [op, start, carried] :
         llvm::zip_equal(ops, before, loop.getRegionIterArgs()))
      // A constant stays one.
      if (!matchPattern(start, m_Constant()))
        start.replaceUsesWithIf(carried, [&](OpOperand &use) {
          return loop->isProperAncestor(use.getOwner());
        });
    for (auto [op, result] : llvm::zip_equal(ops, loop.getResults())) {
      op.getResult().replaceAllUsesWith(result);
      op.erase();
    }
  }

  /// In the order of the block.
  SmallVector<SkipIdleOp> ops;
  llvm::SmallPtrSet<Operation *, 32> work;
};

/// A loop whose sums some subgroups may leave as they are.
class IdleLoop {
public:
  /// Nothing where a subgroup without sums could not leave out what makes them.
  static std::optional<IdleLoop> of(ArrayRef<SkipIdleOp> ops) {
    auto loop = dyn_cast<scf::ForOp>(ops.front()->getParentOp());
    if (!loop)
      return std::nullopt;
    IdleLoop found(loop, ops);
    if (!found.findSums() || found.needsAll() ||
        !moveExtentsBefore(loop, ops.front()))
      return std::nullopt;
    return found;
  }

  /// Has subgroups without sums go through a loop of their own, which copies
  /// and meets the others and computes nothing.
  void split() {
    Location loc = loop.getLoc();
    SmallVector<Type> types;
    for (SkipIdleOp op : ops)
      types.push_back(op.getType());
    OpBuilder builder(loop);
    Value works = createWorks(builder, ops.front());
    auto branch = scf::IfOp::create(builder, loc, types, works,
                                    /*withElseRegion=*/true);
    SmallVector<Value> starts, sums;
    for (int number : isSum.set_bits()) {
      starts.push_back(loop.getInits()[number]);
      sums.push_back(loop.getResult(number));
      sums.back().replaceAllUsesWith(branch.getResult(sums.size() - 1));
    }
    builder = branch.getThenBodyBuilder();
    loop->moveBefore(scf::YieldOp::create(builder, loc, sums));
    // As many in both loops, whatever is left between them.
    loop->walk([](BarrierOp barrier) { barrier.setApart(true); });
    builder = branch.getElseBodyBuilder();
    addIdle(builder);
    scf::YieldOp::create(builder, loc, starts);
    computeByAll(ops);
  }

private:
  IdleLoop(scf::ForOp loop, ArrayRef<SkipIdleOp> ops)
      : loop(loop), ops(llvm::to_vector(ops)), isSum(loop.getNumResults()) {}

  /// Finds the tiles among what the loop carries: an idle subgroup carries them
  /// unchanged, and nothing else that it carries is used behind the loop.
  bool findSums() {
    for (SkipIdleOp op : ops) {
      if (!op->hasOneUse())
        return false;
      OpOperand &use = *op->use_begin();
      unsigned number = use.getOperandNumber();
      if (use.getOwner() != loop.getBody()->getTerminator() ||
          op.getOtherwise() != loop.getRegionIterArg(number))
        return false;
      isSum.set(number);
    }
    return llvm::all_of(loop.getResults(), [&](OpResult result) {
      return isSum.test(result.getResultNumber()) || result.use_empty();
    });
  }

  /// Products of several subgroups are executed by all of them together; tiles
  /// that they exchange get barriers of their own later.
  bool needsAll() {
    WalkResult found = loop->walk([](Operation *op) {
      return isa<GroupMmaOp, GroupFenceOp, GroupWaitOp, ExchangeOp>(op)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return found.wasInterrupted();
  }

  void addIdle(OpBuilder &builder) {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Value> starts;
    for (auto [number, start] : llvm::enumerate(loop.getInits()))
      if (!isSum.test(number))
        starts.push_back(start);
    auto idle =
        scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                           loop.getUpperBound(), loop.getStep(), starts);
    IRMapping map;
    map.map(loop.getInductionVar(), idle.getInductionVar());
    const auto *carried = idle.getRegionIterArgs().begin();
    for (auto [number, arg] : llvm::enumerate(loop.getRegionIterArgs()))
      map.map(arg,
              isSum.test(number) ? loop.getInits()[number] : Value(*carried++));
    builder.setInsertionPointToStart(idle.getBody());
    for (Operation &op : loop.getBody()->without_terminator())
      builder.clone(op, map);
    SmallVector<Value> next;
    for (auto [number, value] :
         llvm::enumerate(loop.getBody()->getTerminator()->getOperands()))
      if (!isSum.test(number))
        next.push_back(map.lookupOrDefault(value));
    // A loop that carries nothing has its terminator.
    if (!next.empty())
      scf::YieldOp::create(builder, loop.getLoc(), next);
    eraseUnused(*idle.getBody());
    if (isOpTriviallyDead(idle))
      idle->erase();
  }

  static void eraseUnused(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  scf::ForOp loop;
  SmallVector<SkipIdleOp> ops;
  /// By what the loop carries.
  llvm::SmallBitVector isSum;
};

struct SkipIdleSubgroupsPass
    : mlir::evoformer::tile::impl::SkipIdleSubgroupsBase<
          SkipIdleSubgroupsPass> {
protected:
  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    getOperation()->walk([&](KernelOp kernel) {
      kernels.push_back(kernel);
      return WalkResult::skip();
    });
    for (KernelOp kernel : kernels) {
      bool skips = kernel.getTarget() && kernel.getSchedule();
      // Before, what crosses subgroups does not show yet.
      if (skips && failed(requireStaged(kernel, kPass)))
        return signalPassFailure();
      SmallVector<SkipIdleOp> all;
      kernel.walk([&](SkipIdleOp op) { all.push_back(op); });
      if (!skips)
        computeByAll(all);
      else if (int64_t count =
                   skip(all, kernel.getSchedule()->getNumSubgroups()))
        remark::passed(kernel.getLoc(),
                       remark::RemarkOpts::name("skipped").category(kPass))
            << remark::metric("tiles", count);
    }
  }

  static int64_t skip(ArrayRef<SkipIdleOp> all, int64_t numSubgroups) {
    int64_t count = 0;
    for (const auto *it = all.begin(); it != all.end();) {
      SkipIdleOp first = *it;
      SmallVector<int64_t> starts = findStarts(first, numSubgroups);
      SmallVector<SkipIdleOp> group = {first};
      for (++it; it != all.end() && belongsTo(*it, group) &&
                 findStarts(*it, numSubgroups) == starts;
           ++it)
        group.push_back(*it);
      bool mayBeIdle = llvm::any_of(starts, [](int64_t s) { return s != 0; });
      if (mayBeIdle)
        count += leaveOut(group);
      else
        computeByAll(group);
    }
    return count;
  }

  /// Gives how many tiles are left out.
  static int64_t leaveOut(ArrayRef<SkipIdleOp> group) {
    bool haveParts = llvm::all_of(group, [](SkipIdleOp op) {
      return op.getValue().getDefiningOp<scf::ForOp>() != nullptr;
    });
    if (haveParts)
      return IdleTiles(group).rewrite();
    std::optional<IdleLoop> loop = IdleLoop::of(group);
    if (!loop) {
      computeByAll(group);
      return 0;
    }
    loop->split();
    return group.size();
  }

  /// Whether an op leaves out for the same subgroups as those before it, which
  /// nothing uses until then.
  static bool belongsTo(SkipIdleOp op, ArrayRef<SkipIdleOp> group) {
    SkipIdleOp first = group.front();
    if (op->getBlock() != first->getBlock() ||
        op.getDims() != first.getDims() ||
        op.getExtents() != first.getExtents())
      return false;
    return llvm::all_of(group, [&](SkipIdleOp known) {
      return llvm::all_of(known->getUsers(), [&](Operation *user) {
        Operation *use = op->getBlock()->findAncestorOpInBlock(*user);
        return !use || op->isBeforeInBlock(use);
      });
    });
  }
};
} // namespace
