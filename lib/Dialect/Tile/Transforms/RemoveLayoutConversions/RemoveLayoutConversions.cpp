//===- RemoveLayoutConversions.cpp - Fewer changes of layout --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../KernelMemory.h"

#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_REMOVELAYOUTCONVERSIONS
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-remove-layout-conversions";

static bool isSplat(Value value) {
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat();
}

/// What has no layout of its own is made in the one that is wanted.
static LogicalResult makeInLayout(ConvertLayoutOp op,
                                  PatternRewriter &rewriter) {
  Operation *source = op.getSource().getDefiningOp();
  auto type = cast<RankedTensorType>(op.getType());
  if (!source)
    return failure();
  DenseElementsAttr elements;
  if (isSplat(op.getSource())) {
    matchPattern(op.getSource(), m_Constant(&elements));
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, elements.reshape(type));
    return success();
  }
  if (!isa<LoadOp, IotaOp, RandomOp>(source) || !source->hasOneUse())
    return failure();
  auto load = dyn_cast<LoadOp>(source);
  if (load && isWrittenByKernel(load))
    return failure();
  // Memory is read where it was.
  rewriter.modifyOpInPlace(source, [&] { source->getResult(0).setType(type); });
  rewriter.replaceOp(op, source->getResult(0));
  return success();
}

/// What has no dimensions of its own to convert, or fewer.
static bool isRepeated(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return isSplat(value) || (broadcast && broadcast->hasOneUse() &&
                            cast<RankedTensorType>(value.getType())
                                    .getDimSize(broadcast.getDim()) > 1);
}

/// A conversion of what is repeated comes before that.
static LogicalResult moveBeforeBroadcast(ConvertLayoutOp op,
                                         PatternRewriter &rewriter) {
  auto broadcast = op.getSource().getDefiningOp<BroadcastOp>();
  if (!broadcast || !broadcast->hasOneUse())
    return failure();
  auto type = cast<RankedTensorType>(op.getType());
  int64_t dim = broadcast.getDim();
  auto slice = SliceAttr::get(op.getContext(), dim, type.getDimSize(dim),
                              type.getEncoding());
  auto source = cast<RankedTensorType>(broadcast.getSource().getType());
  Value converted = ConvertLayoutOp::create(
      rewriter, op.getLoc(), withLayout(source, slice), broadcast.getSource());
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, type, converted, dim);
  return success();
}

static bool convertsFrom(ConvertLayoutOp op, Attribute layout) {
  return cast<RankedTensorType>(op.getSource().getType()).getEncoding() ==
         layout;
}

/// Whether a loop carries this for one use, and converts what comes next from
/// `layout`.
static bool isCarriedFrom(Value value, Attribute layout) {
  auto carried = dyn_cast<BlockArgument>(value);
  if (!carried || !value.hasOneUse())
    return false;
  auto loop = dyn_cast_or_null<scf::ForOp>(carried.getOwner()->getParentOp());
  if (!loop || value == loop.getInductionVar())
    return false;
  auto next = loop.getTiedLoopYieldedValue(carried)
                  ->get()
                  .getDefiningOp<ConvertLayoutOp>();
  return next && convertsFrom(next, layout);
}

/// Whether a chain of elementwise ops, each the only user of the one before and
/// what is repeated aside of one tile, begins with something that can be made
/// in `layout` or with a conversion from it. Anywhere else a conversion stays
/// where it is: before work that narrows it would move more.
static bool beginsIn(Value value, Attribute layout) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto convert = dyn_cast<ConvertLayoutOp>(op))
      return convertsFrom(convert, layout);
    if (!op->hasOneUse())
      return false;
    if (auto load = dyn_cast<LoadOp>(op))
      return !isWrittenByKernel(load);
    if (isa<IotaOp, RandomOp>(op))
      return true;
    if (!isElementwise(op))
      return false;
    Value next;
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()) || isRepeated(operand))
        continue;
      if (next)
        return false;
      next = operand;
    }
    if (!next)
      return false;
    value = next;
  }
  return isCarriedFrom(value, layout);
}

/// A conversion of elementwise work moves to its operands where that makes
/// fewer, or up a chain to where it is not needed.
static LogicalResult moveToOperands(ConvertLayoutOp op,
                                    PatternRewriter &rewriter) {
  Operation *source = op.getSource().getDefiningOp();
  if (!source || !source->hasOneUse() || !isElementwise(source))
    return failure();
  Attribute layout = cast<RankedTensorType>(op.getType()).getEncoding();
  auto wanted = [&](Value operand) {
    return withLayout(cast<RankedTensorType>(operand.getType()), layout);
  };
  auto undone = [&](Value operand) {
    auto inner = operand.getDefiningOp<ConvertLayoutOp>();
    return inner && inner.getSource().getType() == wanted(operand) ? inner
                                                                   : nullptr;
  };
  int64_t removed = 1, added = 0;
  for (Value operand : source->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()) || isRepeated(operand))
      continue;
    if (ConvertLayoutOp inner = undone(operand))
      removed += inner->hasOneUse();
    else
      ++added;
  }
  if (added > removed ||
      (added == removed && !beginsIn(op.getSource(), layout)))
    return failure();
  SmallVector<Value> operands;
  for (Value operand : source->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      operands.push_back(operand);
    else if (ConvertLayoutOp inner = undone(operand))
      operands.push_back(inner.getSource());
    else
      operands.push_back(ConvertLayoutOp::create(rewriter, op.getLoc(),
                                                 wanted(operand), operand));
  }
  OperationState state(source->getLoc(), source->getName(), operands,
                       op->getResultTypes(), source->getAttrs());
  state.propertiesAttr = source->getPropertiesAsAttribute();
  rewriter.replaceOp(op, rewriter.create(state));
  return success();
}

/// The type to which all uses of what a loop carries convert it, if they do.
static Type findCarriedType(Value carried) {
  Type type;
  for (Operation *user : carried.getUsers()) {
    auto convert = dyn_cast<ConvertLayoutOp>(user);
    if (!convert || (type && convert.getType() != type))
      return {};
    type = convert.getType();
  }
  return type;
}

/// What a loop's iterations convert at their begin and back at their end is
/// carried in the layout in between, and converted outside.
static LogicalResult convertOutside(scf::ForOp loop,
                                    PatternRewriter &rewriter) {
  for (unsigned i = 0, e = loop.getNumResults(); i < e; ++i) {
    BlockArgument carried = loop.getRegionIterArg(i);
    Type type = findCarriedType(carried);
    OpOperand &yielded = loop.getBody()->getTerminator()->getOpOperand(i);
    auto back = yielded.get().getDefiningOp<ConvertLayoutOp>();
    if (!type || !back || back.getSource().getType() != type)
      continue;
    Type outside = carried.getType();
    Value result = loop.getResult(i);
    rewriter.setInsertionPoint(loop);
    Value start = ConvertLayoutOp::create(rewriter, loop.getLoc(), type,
                                          loop.getInitArgs()[i]);
    SmallVector<Operation *> inner(carried.getUsers());
    rewriter.modifyOpInPlace(loop, [&] {
      loop.getInitArgsMutable()[i].assign(start);
      carried.setType(type);
      result.setType(type);
    });
    for (Operation *convert : inner)
      rewriter.replaceOp(convert, carried);
    rewriter.modifyOpInPlace(yielded.getOwner(),
                             [&] { yielded.set(back.getSource()); });
    rewriter.setInsertionPointAfter(loop);
    auto after =
        ConvertLayoutOp::create(rewriter, loop.getLoc(), outside, result);
    rewriter.replaceAllUsesExcept(result, after, after);
    return success();
  }
  return failure();
}

static int64_t countConversions(KernelOp kernel) {
  int64_t count = 0;
  kernel.walk([&](ConvertLayoutOp) { ++count; });
  return count;
}

namespace {
struct RemoveLayoutConversions
    : evoformer::tile::impl::RemoveLayoutConversionsBase<
          RemoveLayoutConversions> {
  using RemoveLayoutConversionsBase::RemoveLayoutConversionsBase;

protected:
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(makeInLayout);
    patterns.add(moveBeforeBroadcast);
    patterns.add(moveToOperands);
    patterns.add(convertOutside);
    FrozenRewritePatternSet frozen(std::move(patterns));
    WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      if (kernel.getTarget() && kernel.getTarget()->isCPU())
        return WalkResult::skip();
      if (failed(requireFragments(kernel, kPass)))
        return WalkResult::interrupt();
      int64_t before = countConversions(kernel);
      if (before == 0)
        return WalkResult::skip();
      if (failed(applyPatternsGreedily(kernel, frozen)))
        return WalkResult(kernel.emitError()
                          << kPass << " does not come to an end on kernel '"
                          << kernel.getSymName() << "'");
      remark::passed(kernel.getLoc(),
                     remark::RemarkOpts::name("conversions").category(kPass))
          << remark::metric("before", before)
          << remark::metric("after", countConversions(kernel));
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
