//===- ScoreFunctions.cpp - A score in ops that all targets have ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites a score's region, and those of its derivatives, alike: kernels of
// gradients make the logits again that the forward pass had.
//
//===----------------------------------------------------------------------===//

#include "ScoreProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// Writes ops of f32 where an op is.
struct Writer {
  Writer(PatternRewriter &rewriter, Operation *op)
      : rewriter(rewriter), loc(op->getLoc()) {}

  Value number(double value) {
    return arith::ConstantOp::create(
        rewriter, loc, rewriter.getF32FloatAttr(static_cast<float>(value)));
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(rewriter, loc, a, b);
  }
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(rewriter, loc, a, b, c);
  }
  Value negate(Value a) { return arith::NegFOp::create(rewriter, loc, a); }
  /// 1 - 2 / (1 + e^2x).
  Value tanhOfPower(Value x) {
    Value one = number(1);
    Value power = math::Exp2Op::create(
        rewriter, loc, mul(x, number(2 * llvm::numbers::log2e)));
    Value inverse = arith::DivFOp::create(
        rewriter, loc, one, arith::AddFOp::create(rewriter, loc, power, one),
        arith::FastMathFlags::arcp);
    return fma(inverse, number(-2), one);
  }

  PatternRewriter &rewriter;
  Location loc;
};

/// e^x as 2^(x log2(e)).
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Writer w(rewriter, op);
    rewriter.replaceOpWithNewOp<math::Exp2Op>(
        op, w.mul(op.getOperand(), w.number(llvm::numbers::log2e)));
    return success();
  }
};

/// ln(x) as log2(x) ln(2).
struct ExpandLog : OpRewritePattern<math::LogOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::LogOp op,
                                PatternRewriter &rewriter) const override {
    Writer w(rewriter, op);
    Value log2 = math::Log2Op::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, log2,
                                               w.number(llvm::numbers::ln2));
    return success();
  }
};

/// tanh(x) as 1 - 2 / (1 + e^2x), which is off by some units in the last place
/// of 1: where x is small that is much of the result, and unless approximations
/// are allowed it is a polynomial there. That is x + x^3 P(x^2) for |x| < 0.6,
/// of least relative error (found by Lawson's algorithm, "Contributions to the
/// theory of linear least maximum approximation", 1961): with its roundings 2.5
/// units of roundoff. The other way is off by as much at 0.6 where exponentials
/// are exact, by 7 where they are off by two units in the last place.
struct ExpandTanh : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override {
    constexpr double kSmall = 0.6;
    constexpr double kPolynomial[] = {-0.33332598, 0.13313117, -0.05221181,
                                      0.01561263};
    Writer w(rewriter, op);
    Location loc = op.getLoc();
    Value x = op.getOperand();
    if (bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn)) {
      rewriter.replaceOp(op, w.tanhOfPower(x));
      return success();
    }
    Value size = math::AbsFOp::create(rewriter, loc, x);
    Value ofLarge =
        math::CopySignOp::create(rewriter, loc, w.tanhOfPower(size), x);
    Value square = w.mul(x, x), sum = w.number(std::end(kPolynomial)[-1]);
    for (double coefficient : llvm::reverse(ArrayRef(kPolynomial).drop_back()))
      sum = w.fma(sum, square, w.number(coefficient));
    Value ofSmall = w.fma(w.mul(x, square), sum, x);
    Value isSmall = arith::CmpFOp::create(
        rewriter, loc, arith::CmpFPredicate::OLT, size, w.number(kSmall));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isSmall, ofSmall, ofLarge);
    return success();
  }
};

/// x / c as x * (1 / c), which is off by one unit of roundoff more; torch
/// divides by a number in this way, too.
struct InvertDivisor : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr divisor;
    if (!matchPattern(op.getRhs(), m_Constant(&divisor)))
      return rewriter.notifyMatchFailure(op, "another divisor each time");
    float number = divisor.getValue().convertToFloat(), inverse = 1 / number;
    if (!std::isnormal(number) || !std::isnormal(inverse))
      return rewriter.notifyMatchFailure(op, "no ordinary number");
    rewriter.replaceOpWithNewOp<arith::MulFOp>(
        op, op.getLhs(), Writer(rewriter, op).number(inverse));
    return success();
  }
};

/// (x * c) * d as x * (c * d), which overflows later if at all.
struct MultiplyConstants : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::MulFOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr c, d;
    auto inner = op.getLhs().getDefiningOp<arith::MulFOp>();
    if (!inner || !matchPattern(op.getRhs(), m_Constant(&d)) ||
        !matchPattern(inner.getRhs(), m_Constant(&c)))
      return rewriter.notifyMatchFailure(op, "not two constants");
    float product =
        c.getValue().convertToFloat() * d.getValue().convertToFloat();
    if (!std::isnormal(product))
      return rewriter.notifyMatchFailure(op, "no ordinary number");
    rewriter.replaceOpWithNewOp<arith::MulFOp>(
        op, inner.getLhs(), Writer(rewriter, op).number(product));
    return success();
  }
};

/// a * b + c in one rounding, whoever else uses the product. Of two products
/// neither: where they are equal their difference is 0.
template <typename OpTy> struct Contract : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    constexpr bool subtracts = std::is_same_v<OpTy, arith::SubFOp>;
    auto left = op.getLhs().template getDefiningOp<arith::MulFOp>();
    auto right = op.getRhs().template getDefiningOp<arith::MulFOp>();
    if (!left == !right)
      return rewriter.notifyMatchFailure(op, "not one product");
    Writer w(rewriter, op);
    auto signedAs = [&](Value value) {
      return subtracts ? w.negate(value) : value;
    };
    rewriter.replaceOp(
        op, left
                ? w.fma(left.getLhs(), left.getRhs(), signedAs(op.getRhs()))
                : w.fma(signedAs(right.getLhs()), right.getRhs(), op.getLhs()));
    return success();
  }
};
} // namespace

void evoformer::expandScore(Operation *op) {
  if (op->getNumRegions() == 0)
    return;
  RewritePatternSet patterns(op->getContext());
  patterns
      .add<ExpandExp, ExpandLog, ExpandTanh, InvertDivisor, MultiplyConstants,
           Contract<arith::AddFOp>, Contract<arith::SubFOp>>(op->getContext());
  // Straight lines of a few ops, which each pattern leaves with fewer to do.
  (void)applyPatternsGreedily(op->getRegion(0), std::move(patterns));
}
