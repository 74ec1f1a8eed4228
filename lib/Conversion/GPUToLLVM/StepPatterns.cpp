//===- StepPatterns.cpp - Addresses that grow step by step ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A load that runs ahead reads at i + (i + 1 < n ? 1 : 0). LLVM makes additions
// of products with an induction variable, but not of products with this sum,
// and a 64-bit product takes half a dozen instructions for each operand. So the
// step is kept apart up to the address: it is a word of all ones or none, and
// one instruction, times a stride that is known before the loop.
//
//===----------------------------------------------------------------------===//

#include "LoweringFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::evoformer;

/// Whether `value` is the same in every iteration.
static bool isInvariant(scf::ForOp loop, Value value) {
  // What a memref says of itself is read next to its use.
  auto metadata = value.getDefiningOp<memref::ExtractStridedMetadataOp>();
  return matchPattern(value, m_Constant()) ||
         loop.isDefinedOutsideOfLoop(metadata ? metadata.getSource() : value);
}

/// The sign of an index, all ones or none: indices have 64 bits here.
static bool isSign(Value value) {
  auto shift = value.getDefiningOp<arith::ShRSIOp>();
  APInt by;
  return shift && matchPattern(shift.getRhs(), m_ConstantInt(&by)) && by == 63;
}

/// amount & sign, as makeStep builds it.
static arith::AndIOp getStep(Value value) {
  auto step = value.getDefiningOp<arith::AndIOp>();
  return step && isSign(step.getRhs()) ? step : arith::AndIOp();
}

/// A sum with a step on the right.
static arith::AddIOp getStepped(Value value) {
  auto sum = value.getDefiningOp<arith::AddIOp>();
  return sum && getStep(sum.getRhs()) ? sum : arith::AddIOp();
}

namespace {
/// x + (a < b ? step : 0) to x + (step & sign of (a - b)): sizes are too small
/// for that difference to overflow.
struct MakeStep : OpRewritePattern<arith::AddIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddIOp op,
                                PatternRewriter &rewriter) const override {
    auto loop = op->getParentOfType<scf::ForOp>();
    auto choice = op.getRhs().getDefiningOp<arith::SelectOp>();
    if (!loop || !choice || !op.getType().isIndex() ||
        op.getLhs() != loop.getInductionVar() ||
        !matchPattern(choice.getFalseValue(), m_Zero()) ||
        !isInvariant(loop, choice.getTrueValue()))
      return failure();
    auto inside = choice.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!inside || inside.getPredicate() != arith::CmpIPredicate::slt ||
        !inside.getLhs().getType().isIndex())
      return failure();
    Location loc = op.getLoc();
    Value difference =
        arith::SubIOp::create(rewriter, loc, inside.getLhs(), inside.getRhs());
    Value sign = arith::ShRSIOp::create(
        rewriter, loc, difference,
        arith::ConstantIndexOp::create(rewriter, loc, 63));
    Value step =
        arith::AndIOp::create(rewriter, loc, choice.getTrueValue(), sign);
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, op.getLhs(), step);
    return success();
  }
};

/// (x + step) * y to x * y + step * y.
struct MultiplyStep : OpRewritePattern<arith::MulIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulIOp op,
                                PatternRewriter &rewriter) const override {
    auto loop = op->getParentOfType<scf::ForOp>();
    arith::AddIOp sum = getStepped(op.getLhs());
    Value factor = op.getRhs();
    if (!loop || !sum || !isInvariant(loop, factor))
      return failure();
    arith::AndIOp step = getStep(sum.getRhs());
    auto times = [&](Value value) -> Value {
      return arith::MulIOp::create(rewriter, op.getLoc(), value, factor);
    };
    Value longer = arith::AndIOp::create(rewriter, op.getLoc(),
                                         times(step.getLhs()), step.getRhs());
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, times(sum.getLhs()), longer);
    return success();
  }
};

/// (x + step) + y to (x + y) + step.
struct AddStepLast : OpRewritePattern<arith::AddIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddIOp op,
                                PatternRewriter &rewriter) const override {
    Value other = op.getRhs();
    arith::AddIOp sum = getStepped(op.getLhs());
    if (!sum) {
      other = op.getLhs();
      sum = getStepped(op.getRhs());
    }
    if (!sum || getStep(other))
      return failure();
    Value rest =
        arith::AddIOp::create(rewriter, op.getLoc(), sum.getLhs(), other);
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, rest, sum.getRhs());
    return success();
  }
};
} // namespace

void mlir::evoformer::populateStepPatterns(RewritePatternSet &patterns) {
  patterns.add<MakeStep, MultiplyStep, AddStepLast>(patterns.getContext());
}
