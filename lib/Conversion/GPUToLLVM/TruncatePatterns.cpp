//===- TruncatePatterns.cpp - Rounding f32 to bf16 ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bf16 is the upper half of f32. Without a conversion instruction, rounding is
// integer arithmetic on the bits and a byte permutation that packs two upper
// halves. Vector instructions per pair on AMD:
//
//   | rounding mode                   | with nnan | NaN kept |
//   |---------------------------------|-----------|----------|
//   | to_nearest_even (or none given) | 5         | 9        |
//   | to_nearest_away                 | 3         | 7        |
//   | toward_zero                     | 1         | 5        |
//
// Without care a NaN whose payload is all ones overflows into a zero and one
// whose payload is in the lower half becomes an infinity; so unless `nnan`
// says that there is none, a NaN is replaced by the canonical one.
//
//===----------------------------------------------------------------------===//

#include "LoweringFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {

/// `type` with its element type replaced.
Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

Value constant(OpBuilder &builder, Location loc, Type type, uint32_t value) {
  auto element = builder.getIntegerAttr(getElementTypeOrSelf(type),
                                        int64_t(int32_t(value)));
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(vector, Attribute(element)));
  return arith::ConstantOp::create(builder, loc, element);
}

struct IntegerTruncate : OpRewritePattern<arith::TruncFOp> {
  IntegerTruncate(MLIRContext *context, bool nativeNearest)
      : OpRewritePattern(context, /*benefit=*/2), nativeNearest(nativeNearest) {
  }

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getIn().getType();
    if (!getElementTypeOrSelf(type).isF32() ||
        !getElementTypeOrSelf(op.getType()).isBF16())
      return failure();
    auto mode =
        op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
    if (mode == arith::RoundingMode::upward ||
        mode == arith::RoundingMode::downward ||
        (mode == arith::RoundingMode::to_nearest_even && nativeNearest))
      return failure();

    Location loc = op.getLoc();
    Type wide = withElement(type, rewriter.getI32Type());
    Type narrow = withElement(type, rewriter.getI16Type());
    auto number = [&](uint32_t value) {
      return constant(rewriter, loc, wide, value);
    };
    Value bits = arith::BitcastOp::create(rewriter, loc, wide, op.getIn());
    Value half = number(16), rounded;
    switch (mode) {
    case arith::RoundingMode::to_nearest_even: {
      Value upper = arith::ShRUIOp::create(rewriter, loc, bits, half);
      Value odd = arith::AndIOp::create(rewriter, loc, upper, number(1));
      Value sum = arith::AddIOp::create(rewriter, loc, bits, odd);
      rounded = arith::AddIOp::create(rewriter, loc, sum, number(0x7fff));
      break;
    }
    case arith::RoundingMode::to_nearest_away:
      rounded = arith::AddIOp::create(rewriter, loc, bits, number(0x8000));
      break;
    default:
      rounded = bits;
      break;
    }
    arith::FastMathFlags flags =
        op.getFastmath().value_or(arith::FastMathFlags::none);
    if (!bitEnumContainsAll(flags, arith::FastMathFlags::nnan)) {
      Value isNaN = arith::CmpFOp::create(
          rewriter, loc, arith::CmpFPredicate::UNO, op.getIn(), op.getIn());
      rounded = arith::SelectOp::create(rewriter, loc, isNaN,
                                        number(0x7fc00000), rounded);
    }
    Value upper = arith::ShRUIOp::create(rewriter, loc, rounded, half);
    Value result = arith::TruncIOp::create(rewriter, loc, narrow, upper);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), result);
    return success();
  }

  bool nativeNearest;
};

} // namespace

void mlir::evoformer::populateIntegerTruncatePatterns(
    RewritePatternSet &patterns, bool nativeNearest) {
  patterns.add<IntegerTruncate>(patterns.getContext(), nativeNearest);
}
