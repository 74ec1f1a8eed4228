//===- ScoreCanonicalization.cpp - Folds of a score -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is linear goes into the scale, what does nothing goes away. Ops inside
// of the region are folded as everywhere.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/Score.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// A score whose first argument is only multiplied by a constant: that is part
/// of the scale.
template <typename OpTy> struct FoldFactorOfScore : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Block *body = op.getScoreBody();
    if (!body || !body->getArgument(0).hasOneUse())
      return rewriter.notifyMatchFailure(op, "no score with one use");
    Value score = body->getArgument(0);
    auto product = dyn_cast<arith::MulFOp>(*score.user_begin());
    FloatAttr factor;
    if (!product || (!matchPattern(product.getRhs(), m_Constant(&factor)) &&
                     !matchPattern(product.getLhs(), m_Constant(&factor))))
      return rewriter.notifyMatchFailure(op, "the score has no factor");
    float scale = op.getScaleValue() * factor.getValue().convertToFloat();
    if (!std::isfinite(scale))
      return rewriter.notifyMatchFailure(op, "the scale would be infinite");
    rewriter.modifyOpInPlace(
        op, [&] { op.setScaleAttr(rewriter.getF32FloatAttr(scale)); });
    rewriter.replaceOp(product, score);
    return success();
  }
};

/// A score that gives its first argument goes away, and so does what it
/// captures.
struct DropIdentityScore : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    Block *body = op.getScoreBody();
    if (!body || cast<YieldOp>(body->getTerminator()).getValues().front() !=
                     body->getArgument(0))
      return rewriter.notifyMatchFailure(op, "the score does something");
    auto plain = AttentionOp::create(
        rewriter, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(),
        op.getBiases(), op.getGate(), op.getOutput(), op.getLse(),
        op.getStats(), op.getScaleAttr(), op.getKeyLengths(),
        op.getQueryLengths(), op.getRagged(), /*hasScore=*/false,
        /*captures=*/ValueRange(), op.getDropout(), op.getKeysFromOperands(),
        op.getKeysToOperands());
    plain.copyFacts(op);
    plain->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, plain->getResults());
    return success();
  }
};

/// What a score captures and does not read goes away.
struct DropUnusedCapture : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    Block *body = op.getScoreBody();
    if (!body)
      return rewriter.notifyMatchFailure(op, "no score");
    for (unsigned number = 0; number < op.getCaptures().size(); ++number) {
      if (!body->getArgument(kNumScoreArguments + number).use_empty())
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        auto orders = llvm::to_vector_of<Attribute>(op.getAllCaptureOrders());
        orders.erase(orders.begin() + number);
        op.getCapturesMutable().erase(number);
        op.setCaptureOrdersAttr(rewriter.getArrayAttr(orders));
        body->eraseArgument(kNumScoreArguments + number);
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "every capture is read");
  }
};
} // namespace

void evoformer::addScorePatterns(RewritePatternSet &patterns) {
  patterns.add<FoldFactorOfScore<AttentionOp>, DropIdentityScore,
               DropUnusedCapture>(patterns.getContext());
}

void evoformer::addScoreGradientPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldFactorOfScore<AttentionBackwardOp>>(patterns.getContext());
}

void evoformer::addScoreWeightsPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldFactorOfScore<AttentionWeightsOp>>(patterns.getContext());
}
