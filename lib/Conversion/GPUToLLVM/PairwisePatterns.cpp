//===- PairwisePatterns.cpp - Long vectors as pairs -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some operations exist in hardware on pairs, yet LLVM's legalization of longer
// vectors takes them apart to single elements: the conversion of f32 to bf16,
// and AMD's packed subtraction (an addition with a negated operand; longer
// additions, products and FMAs are split to pairs as they should). The other
// way round it is with a product that is rounded to f16, which V_FMA_MIXLO_F16
// and V_FMA_MIXHI_F16 do in one instruction and in their half of a register:
// pairs of f32 would hide it. So would they an absolute value, which single
// multiply-adds take of an operand for nothing.
//
//===----------------------------------------------------------------------===//

#include "LoweringFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// Rewrites an elementwise op on a long vector of even length as ops on pairs.
struct Pairwise : RewritePattern {
  Pairwise(MLIRContext *context, StringRef name, Type element)
      : RewritePattern(name, /*benefit=*/1, context), element(element) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type || type.getRank() != 1 || type.isScalable() ||
        type.getElementType() != element || type.getNumElements() <= 2 ||
        type.getNumElements() % 2 != 0)
      return failure();
    Location loc = op->getLoc();
    Type pairType = VectorType::get(2, element);
    SmallVector<Value> elements;
    for (int64_t i = 0, e = type.getNumElements(); i < e; i += 2) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(vector::ShuffleOp::create(rewriter, loc, operand,
                                                     operand, {i, i + 1}));
      Operation *piece = rewriter.create(loc, op->getName().getIdentifier(),
                                         operands, pairType, op->getAttrs());
      auto split =
          vector::ToElementsOp::create(rewriter, loc, piece->getResult(0));
      llvm::append_range(elements, split.getResults());
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }

  Type element;
};

/// Rewrites the rounding of a vector's products to f16 as that of single ones.
struct RoundProducts : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    auto product = op.getIn().getDefiningOp<arith::MulFOp>();
    if (!type || type.getRank() != 1 || type.isScalable() || !product ||
        !type.getElementType().isF16() ||
        !getElementTypeOrSelf(product.getType()).isF32() ||
        op.getRoundingmode())
      return failure();
    Location loc = op.getLoc();
    auto x = vector::ToElementsOp::create(rewriter, loc, product.getLhs());
    auto y = vector::ToElementsOp::create(rewriter, loc, product.getRhs());
    SmallVector<Value> elements;
    for (auto [a, b] : llvm::zip_equal(x.getResults(), y.getResults())) {
      Value one = arith::MulFOp::create(rewriter, product.getLoc(), a, b,
                                        product.getFastmathAttr());
      elements.push_back(
          arith::TruncFOp::create(rewriter, loc, type.getElementType(), one));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }
};

/// Rewrites a multiply-add of a vector's absolute values as single ones.
struct FoldAbsolute : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    auto isAbsolute = [](Value operand) {
      return operand.getDefiningOp<math::AbsFOp>() != nullptr;
    };
    if (!type || type.getRank() != 1 || type.isScalable() ||
        !type.getElementType().isF32() ||
        llvm::none_of(op->getOperands(), isAbsolute))
      return failure();
    Location loc = op.getLoc();
    SmallVector<SmallVector<Value>> operands(type.getNumElements());
    for (Value operand : op->getOperands()) {
      auto absolute = operand.getDefiningOp<math::AbsFOp>();
      auto elements = vector::ToElementsOp::create(
          rewriter, loc, absolute ? absolute.getOperand() : operand);
      for (auto [of, element] :
           llvm::zip_equal(operands, elements.getResults()))
        of.push_back(
            absolute ? math::AbsFOp::create(rewriter, loc, element).getResult()
                     : element);
    }
    SmallVector<Value> elements;
    for (ArrayRef<Value> of : operands)
      elements.push_back(math::FmaOp::create(rewriter, loc, of[0], of[1], of[2],
                                             op.getFastmathAttr()));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }
};
} // namespace

void mlir::evoformer::populatePairwisePatterns(RewritePatternSet &patterns,
                                               tile::TargetAttr target) {
  MLIRContext *context = patterns.getContext();
  if (target.hasNativeBF16Convert())
    patterns.add<Pairwise>(context, arith::TruncFOp::getOperationName(),
                           BFloat16Type::get(context));
  if (target.hasPackedF32()) {
    patterns.add<Pairwise>(context, arith::SubFOp::getOperationName(),
                           Float32Type::get(context));
    patterns.add<FoldAbsolute>(context);
  }
  if (target.roundsProducts())
    patterns.add<RoundProducts>(context);
}
