//===- AssignLayouts.cpp - Tiles get their layouts --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../KernelMemory.h"
#include "LayoutPropagation.h"

#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static StringRef stringify(LayoutRelation relation) {
  switch (relation) {
  case LayoutRelation::Same:
    return "same";
  case LayoutRelation::RegisterRename:
    return "register-rename";
  case LayoutRelation::LaneExchange:
    return "lane-exchange";
  case LayoutRelation::Shared:
    return "shared";
  }
  return "unknown";
}

/// Ops that can simply be made again in another layout: sources, and short
/// chains of elementwise work on them, which cost less than an exchange: a row
/// compared, a tile cleared by it, compared and cleared again.
static bool isRemade(Operation *op, int64_t depth = 4) {
  if (!op)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      isa<tensor::SplatOp, IotaOp, RandomOp>(op))
    return true;
  if (auto load = dyn_cast<LoadOp>(op))
    return !isWrittenByKernel(load);
  // Repeating a row vector moves nothing.
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return isRemade(broadcast.getSource().getDefiningOp(), depth);
  return depth > 0 && mapsElements(op) && op->getNumResults() == 1 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isRemade(operand.getDefiningOp(), depth - 1);
         });
}

namespace {
/// Rewrites one kernel once all layouts are known.
class LayoutRewriter {
public:
  LayoutRewriter(KernelOp kernel, const LayoutPropagation &layouts)
      : kernel(kernel), layouts(layouts) {}

  LogicalResult run(const llvm::MapVector<Operation *, MmaLayouts> &mmas);

private:
  /// `value` in the layout that a use wants.
  Value inLayout(Value value, Attribute wanted, Operation *user);
  void want(OpOperand &use, Attribute layout) {
    use.set(inLayout(use.get(), layout, use.getOwner()));
  }
  /// What yields `result` does so in `layout`, whatever layout it was tied to.
  void produceIn(Value result, Attribute layout);
  void setType(Value value, Attribute layout) {
    value.setType(withLayout(cast<RankedTensorType>(value.getType()), layout));
  }

  KernelOp kernel;
  const LayoutPropagation &layouts;
  DenseMap<std::pair<Value, Attribute>, Value> made;
};
} // namespace

/// Whether each subgroup has the same elements of either tile.
static bool holdSame(RankedTensorType one, RankedTensorType other) {
  std::optional<LaneMap> maps[] = {getLaneMap(one), getLaneMap(other)};
  if (!maps[0] || !maps[1])
    return false;
  auto isWithin = [&](const LaneMap &from, const LaneMap &to) {
    return LaneMap::relate(from, to, one.getShape()) != LayoutRelation::Shared;
  };
  return isWithin(*maps[0], *maps[1]) && isWithin(*maps[1], *maps[0]);
}

/// A constant's value must carry the layout of its result.
static void syncConstant(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return;
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (elements)
    constant.setValueAttr(
        elements.reshape(cast<ShapedType>(constant.getType())));
}

Value LayoutRewriter::inLayout(Value value, Attribute wanted, Operation *user) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getEncoding() == wanted)
    return value;
  if (Value known = made.lookup({value, wanted}))
    return known;
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfterValue(value);
  Operation *def = value.getDefiningOp();
  if (isRemade(def)) {
    IRMapping operands;
    Attribute ofOperands = wanted;
    if (auto broadcast = dyn_cast<BroadcastOp>(def))
      ofOperands = SliceAttr::get(builder.getContext(), broadcast.getDim(),
                                  type.getDimSize(broadcast.getDim()), wanted);
    for (Value operand : def->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        operands.map(operand, inLayout(operand, ofOperands, def));
    Operation *clone = builder.clone(*def, operands);
    setType(clone->getResult(0), wanted);
    syncConstant(clone);
    return made[{value, wanted}] = clone->getResult(0);
  }
  auto convert = ConvertLayoutOp::create(builder, value.getLoc(),
                                         withLayout(type, wanted), value);
  FailureOr<LaneMap> from = getLaneMap(type);
  FailureOr<LaneMap> to = getLaneMap(cast<RankedTensorType>(convert.getType()));
  if (succeeded(from) && succeeded(to))
    remark::passed(user->getLoc(), remark::RemarkOpts::name("convert-layout")
                                       .category("evo-tile-assign-layouts"))
        << remark::metric("relation", stringify(LaneMap::relate(
                                          *from, *to, type.getShape())));
  return made[{value, wanted}] = convert;
}

void LayoutRewriter::produceIn(Value result, Attribute layout) {
  auto type = cast<RankedTensorType>(result.getType());
  if (type.getEncoding() == layout)
    return;
  setType(result, layout);
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfterValue(result);
  auto convert =
      ConvertLayoutOp::create(builder, result.getLoc(), type, result);
  result.replaceAllUsesExcept(convert, convert);
}

LogicalResult
LayoutRewriter::run(const llvm::MapVector<Operation *, MmaLayouts> &mmas) {
  // Types first, everywhere; then uses that want another layout.
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) { ops.push_back(op); });
  auto assign = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()))
      setType(value, layouts.lookup(value));
  };
  for (Operation *op : ops) {
    for (Value result : op->getResults())
      assign(result);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (auto [argument, result] :
           llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
        argument.setType(result.getType());
    syncConstant(op);
  }
  auto encoding = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getEncoding();
  };
  for (Operation *op : ops) {
    auto wantTile = [&](OpOperand &use, Attribute layout) {
      if (isa<RankedTensorType>(use.get().getType()))
        want(use, layout);
    };
    if (auto mma = dyn_cast<MmaOp>(op)) {
      const MmaLayouts &wanted = mmas.find(op)->second;
      want(mma.getAMutable(), wanted.a);
      want(mma.getBMutable(), wanted.b);
      want(mma.getCMutable(), wanted.c);
      produceIn(mma.getResult(), wanted.c);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      auto source = cast<RankedTensorType>(reduce.getSource().getType());
      Attribute natural = SliceAttr::get(op->getContext(), reduce.getDim(),
                                         source.getDimSize(reduce.getDim()),
                                         source.getEncoding());
      produceIn(reduce.getResult(), natural);
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      auto result = cast<RankedTensorType>(broadcast.getType());
      want(broadcast.getSourceMutable(),
           SliceAttr::get(op->getContext(), broadcast.getDim(),
                          result.getDimSize(broadcast.getDim()),
                          result.getEncoding()));
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<int64_t> inverse(transpose.getPermutation().size());
      for (auto [i, d] : llvm::enumerate(transpose.getPermutation()))
        inverse[d] = i;
      auto result = cast<RankedTensorType>(transpose.getType());
      want(transpose.getSourceMutable(),
           permuteLayout(result.getEncoding(), result.getShape(), inverse));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, result] :
           llvm::zip(loop.getInitArgsMutable(), loop.getResults()))
        if (isa<RankedTensorType>(result.getType()))
          wantTile(init, encoding(result));
    } else if (auto where = dyn_cast<WhereOp>(op)) {
      if (where.getNumResults() == 0)
        continue;
      for (auto [init, result] :
           llvm::zip(where.getInitsMutable(), where.getResults()))
        wantTile(init, encoding(result));
      // A subgroup asks of what it has results of, whichever lane has it.
      Value first = where.getResult(0);
      Attribute layout = encoding(first);
      ArrayRef<int64_t> shape = cast<ShapedType>(first.getType()).getShape();
      auto condition = cast<RankedTensorType>(where.getCondition().getType());
      for (int64_t d = shape.size() - 1; d >= condition.getRank(); --d)
        layout = SliceAttr::get(op->getContext(), d, shape[d], layout);
      if (!holdSame(condition, withLayout(condition, layout)))
        want(where.getConditionMutable(), layout);
    } else if (isa<scf::YieldOp, YieldOp>(op)) {
      for (auto [use, result] :
           llvm::zip(op->getOpOperands(), op->getParentOp()->getResults()))
        if (isa<RankedTensorType>(result.getType()))
          wantTile(use, encoding(result));
    } else if (mapsElements(op) && op->getNumResults() == 1 &&
               isa<RankedTensorType>(op->getResult(0).getType())) {
      for (OpOperand &use : op->getOpOperands())
        wantTile(use, encoding(op->getResult(0)));
    }
  }
  // Remade ops may have left their originals without a use.
  for (Operation *op : llvm::reverse(ops))
    if (op != kernel && isOpTriviallyDead(op))
      op->erase();
  return success();
}

namespace {
struct AssignLayoutsPass
    : mlir::evoformer::tile::impl::AssignLayoutsBase<AssignLayoutsPass> {
protected:
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      return failed(assign(kernel)) ? WalkResult::interrupt()
                                    : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult assign(KernelOp kernel) {
    if (kernel.getTarget() && kernel.getTarget()->isCPU())
      return success();
    if (failed(requireTiles(kernel, "evo-tile-assign-layouts")))
      return failure();
    TargetAttr target = *kernel.getTarget();
    ScheduleAttr schedule = *kernel.getSchedule();

    SmallVector<Value> tiles;
    auto collect = [&](Value value) {
      if (isa<RankedTensorType>(value.getType()))
        tiles.push_back(value);
    };
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      llvm::for_each(op->getResults(), collect);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), collect);
    });

    auto mmas = chooseMmaLayouts(kernel);
    if (failed(mmas))
      return failure();
    LayoutPropagation layouts(kernel);
    for (auto &[op, wanted] : *mmas) {
      layouts.seed(cast<MmaOp>(op).getResult(), wanted.c);
      layouts.seed(cast<MmaOp>(op).getC(), wanted.c);
    }
    for (auto &[op, wanted] : *mmas) {
      layouts.seed(cast<MmaOp>(op).getA(), wanted.a);
      layouts.seed(cast<MmaOp>(op).getB(), wanted.b);
    }
    layouts.seedReduced();
    // What no product reaches: the largest tile of what is left decides.
    for (;;) {
      Value largest;
      auto size = [](Value v) {
        return cast<RankedTensorType>(v.getType()).getNumElements();
      };
      for (Value tile : tiles)
        if (!layouts.lookup(tile) && (!largest || size(tile) > size(largest)))
          largest = tile;
      if (!largest)
        break;
      auto type = cast<RankedTensorType>(largest.getType());
      layouts.seed(largest, getDefaultLayout(type, target, schedule));
      layouts.seedReduced();
    }
    return LayoutRewriter(kernel, layouts).run(*mmas);
  }
};
} // namespace
