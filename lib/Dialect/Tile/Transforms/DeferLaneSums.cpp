//===- DeferLaneSums.cpp - Sums over lanes after a loop -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_DEFERLANESUMS
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-defer-lane-sums";

namespace {
/// A sum that a loop carries.
class LaneSum {
public:
  LaneSum(scf::ForOp loop, unsigned index) : loop(loop), index(index) {}

  /// Whether all that the loop does with it is to add sums over lanes, and to
  /// multiply it by what lanes agree on. Lanes may carry their parts then.
  bool match();
  /// `held` has the parts that reductions have become so far.
  void defer(llvm::MapVector<ReduceOp, Value> &held);

private:
  /// Whether a use of one of `sums` makes another one, or yields it.
  bool follow(OpOperand &use);
  /// Whether what an op hands on is one of `sums` whichever way it goes.
  bool isAlwaysSum(Value value);
  bool addPart(OpOperand &use);

  scf::ForOp loop;
  unsigned index;
  /// The carried number and what becomes of it in the loop.
  llvm::SetVector<Value> sums;
  /// Where reductions are added.
  SmallVector<OpOperand *> parts;
};
} // namespace

static ReduceOp getReduction(OpOperand *part) {
  return part->get().getDefiningOp<ReduceOp>();
}

/// How many lanes exchange what they hold in a reduction.
static int64_t countLanes(ReduceOp reduce) {
  auto source = cast<RankedTensorType>(reduce.getSource().getType());
  std::optional<LaneMap> map = getLaneMap(source);
  int64_t count = 1;
  if (map)
    for (const LayoutAxis &axis : map->lanes)
      if (axis.strides[reduce.getDim()] != 0)
        count *= axis.size;
  return count;
}

/// Whether a number may differ between lanes that share it.
static bool isHeld(Value value, DenseSet<Value> &seen) {
  if (!isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
    return false;
  auto isAnyHeld = [&](ValueRange values) {
    return llvm::any_of(values, [&](Value some) { return isHeld(some, seen); });
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return !loop || isHeld(loop.getTiedLoopInit(argument)->get(), seen) ||
           isHeld(loop.getTiedLoopYieldedValue(argument)->get(), seen);
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getHeld() || isHeld(reduce.getSource(), seen);
  // Subgroups decide as a whole.
  if (auto where = dyn_cast<WhereOp>(op))
    return isHeld(where.getInits()[number], seen) ||
           isHeld(where.getYield()->getOperand(number), seen);
  if (auto inner = dyn_cast<scf::ForOp>(op))
    return isHeld(inner.getRegionIterArg(number), seen);
  return op->getNumRegions() > 0 ||
         (!isa<CombineOp>(op) && isAnyHeld(op->getOperands()));
}

bool LaneSum::addPart(OpOperand &use) {
  auto reduce = use.get().getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != ReduceKind::Add || reduce.getHeld() ||
      !loop->isProperAncestor(reduce) || countLanes(reduce) == 1)
    return false;
  // What is exchanged after the loop is of one kind.
  if (!parts.empty()) {
    ReduceOp first = getReduction(parts.front());
    if (first.getSource().getType() != reduce.getSource().getType() ||
        first.getDim() != reduce.getDim())
      return false;
  }
  parts.push_back(&use);
  return true;
}

bool LaneSum::follow(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::AddFOp add) {
        sums.insert(add.getResult());
        return addPart(add->getOpOperand(1 - number));
      })
      .Case([&](arith::MulFOp multiply) {
        sums.insert(multiply.getResult());
        Value factor = multiply->getOperand(1 - number);
        DenseSet<Value> seen;
        return !sums.contains(factor) && !isHeld(factor, seen);
      })
      .Case([&](WhereOp where) {
        // The condition, which comes first, is no number.
        sums.insert(where.getResult(number - 1));
        return true;
      })
      .Case([&](YieldOp yield) {
        auto where = dyn_cast<WhereOp>(yield->getParentOp());
        if (where)
          sums.insert(where.getResult(number));
        return !!where;
      })
      .Case([&](scf::YieldOp yield) {
        return yield->getParentOp() == loop && number == index;
      })
      .Default(false);
}

bool LaneSum::isAlwaysSum(Value value) {
  auto where = value.getDefiningOp<WhereOp>();
  if (!where)
    return true;
  unsigned number = cast<OpResult>(value).getResultNumber();
  return sums.contains(where.getInits()[number]) &&
         sums.contains(where.getYield()->getOperand(number));
}

bool LaneSum::match() {
  BlockArgument carried = loop.getRegionIterArg(index);
  auto type = dyn_cast<RankedTensorType>(carried.getType());
  if (!type || !type.getEncoding() || !isa<FloatType>(type.getElementType()))
    return false;
  sums.insert(carried);
  // The set grows meanwhile.
  for (size_t i = 0; i < sums.size(); ++i)
    for (OpOperand &use : sums[i].getUses())
      if (!follow(use))
        return false;
  // A share of what other types start from may be lost.
  bool startsRight = type.getElementType().isF32() ||
                     matchPattern(loop.getInitArgs()[index], m_AnyZeroFloat());
  return !parts.empty() && startsRight &&
         sums.contains(loop.getYieldedValues()[index]) &&
         llvm::all_of(sums, [&](Value value) { return isAlwaysSum(value); });
}

/// What only rare work reads is made there.
static void sinkIntoRareWork(ReduceOp reduce) {
  Block *block = (*reduce->user_begin())->getBlock();
  bool isRare = isa<WhereOp>(block->getParentOp()) &&
                block->getParentOp()->getBlock() == reduce->getBlock();
  if (isRare && llvm::all_of(reduce->getUsers(), [&](Operation *user) {
        return user->getBlock() == block;
      }))
    reduce->moveBefore(&block->front());
}

void LaneSum::defer(llvm::MapVector<ReduceOp, Value> &held) {
  ImplicitLocOpBuilder builder(loop.getLoc(), loop);
  Value start = loop.getInitArgs()[index], own = loop.getResult(index);
  ReduceOp first = getReduction(parts.front());
  // Each lane starts with its share.
  if (!matchPattern(start, m_AnyZeroFloat())) {
    auto type = cast<RankedTensorType>(start.getType());
    auto share = DenseElementsAttr::get(
        type,
        builder.getFloatAttr(type.getElementType(), 1.0 / countLanes(first)));
    loop.getInitArgsMutable()[index].assign(arith::MulFOp::create(
        builder, start, arith::ConstantOp::create(builder, share)));
  }
  builder.setInsertionPointAfter(loop);
  Value sum = CombineOp::create(builder, own, first.getDim(),
                                first.getSource().getType());
  own.replaceAllUsesExcept(sum, sum.getDefiningOp());
  for (OpOperand *part : parts) {
    ReduceOp reduce = getReduction(part);
    Value &ofLane = held[reduce];
    if (!ofLane) {
      builder.setInsertionPoint(reduce);
      auto clone = cast<ReduceOp>(builder.clone(*reduce));
      clone.setHeld(true);
      ofLane = clone;
    }
    part->set(ofLane);
  }
}

namespace {
struct DeferLaneSumsPass
    : mlir::evoformer::tile::impl::DeferLaneSumsBase<DeferLaneSumsPass> {
protected:
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](KernelOp kernel) {
      if (kernel.getTarget() && !kernel.getTarget()->isCPU())
        kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
      return WalkResult::skip();
    });
    llvm::MapVector<ReduceOp, Value> held;
    for (scf::ForOp loop : loops) {
      int64_t count = 0;
      for (unsigned index = 0, e = loop.getNumRegionIterArgs(); index < e;
           ++index) {
        LaneSum sum(loop, index);
        if (!sum.match())
          continue;
        sum.defer(held);
        ++count;
      }
      if (count > 0)
        remark::passed(loop.getLoc(),
                       remark::RemarkOpts::name("deferred").category(kPass))
            << remark::metric("sums", count);
    }
    for (auto [reduce, ofLane] : held)
      if (reduce->use_empty())
        reduce->erase();
      else
        sinkIntoRareWork(reduce);
  }
};
} // namespace
