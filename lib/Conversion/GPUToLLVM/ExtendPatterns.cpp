//===- ExtendPatterns.cpp - From bf16 to f32 ------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bf16 is the upper half of f32. Of a register with two of them the lower one
// is a shift away from f32 and the upper one a mask. PTX knows conversions of
// 16-bit registers only, so the register is first taken apart; this form saves
// that (an instruction for every second element, and registers). AMD's code
// generator finds it by itself.
//
//===----------------------------------------------------------------------===//

#include "LoweringFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
struct ExtendPairs : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto from = dyn_cast<VectorType>(op.getIn().getType());
    if (!from || from.getRank() != 1 || from.isScalable() ||
        from.getNumElements() % 2 != 0 || !from.getElementType().isBF16() ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type(), f32 = rewriter.getF32Type();
    Value half = arith::ConstantIntOp::create(rewriter, loc, 16, 32);
    Value mask =
        arith::ConstantIntOp::create(rewriter, loc, int64_t(-0x10000), 32);
    auto wordsType = VectorType::get(from.getNumElements() / 2, i32);
    Value words =
        vector::BitCastOp::create(rewriter, loc, wordsType, op.getIn());
    auto split = vector::ToElementsOp::create(rewriter, loc, words);
    SmallVector<Value> elements;
    for (Value word : split.getResults()) {
      Value low = arith::ShLIOp::create(rewriter, loc, word, half);
      Value high = arith::AndIOp::create(rewriter, loc, word, mask);
      elements.push_back(arith::BitcastOp::create(rewriter, loc, f32, low));
      elements.push_back(arith::BitcastOp::create(rewriter, loc, f32, high));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, op.getType(),
                                                        elements);
    return success();
  }
};
} // namespace

void mlir::evoformer::populateExtendPatterns(RewritePatternSet &patterns) {
  patterns.add<ExtendPairs>(patterns.getContext());
}
