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
//   | to_nearest_even (or none given) | 5         | 11       |
//   | to_nearest_away                 | 3         | 9        |
//   | toward_zero                     | 1         | 7        |
//
// Without care a NaN whose payload is all ones overflows into a zero and one
// whose payload is in the lower half becomes an infinity; so unless `nnan`
// says that there is none, a NaN is made quiet and keeps its upper half.
//
//===----------------------------------------------------------------------===//

#include "LoweringFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer;

static Value constant(OpBuilder &builder, Location loc, uint32_t value) {
  return arith::ConstantIntOp::create(builder, loc, int64_t(int32_t(value)),
                                      32);
}

/// The bits of one f32, rounded so that their upper half is the result.
static Value roundBits(OpBuilder &builder, Location loc, Value value,
                       arith::RoundingMode mode, bool hasNaN) {
  Type i32 = builder.getI32Type();
  auto number = [&](uint32_t n) { return constant(builder, loc, n); };
  Value bits = arith::BitcastOp::create(builder, loc, i32, value);
  Value rounded = bits;
  if (mode == arith::RoundingMode::to_nearest_even) {
    Value upper = arith::ShRUIOp::create(builder, loc, bits, number(16));
    Value odd = arith::AndIOp::create(builder, loc, upper, number(1));
    Value sum = arith::AddIOp::create(builder, loc, bits, odd);
    rounded = arith::AddIOp::create(builder, loc, sum, number(0x7fff));
  } else if (mode == arith::RoundingMode::to_nearest_away) {
    rounded = arith::AddIOp::create(builder, loc, bits, number(0x8000));
  }
  if (!hasNaN)
    return rounded;
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      value, value);
  Value quiet = arith::OrIOp::create(builder, loc, bits, number(0x400000));
  return arith::SelectOp::create(builder, loc, isNaN, quiet, rounded);
}

namespace {
/// Works on elements: on vectors the code generator finds no bit field
/// extracts. It packs two upper halves by one byte permutation.
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
    auto vector = dyn_cast<VectorType>(type);
    if (vector && (vector.getRank() != 1 || vector.isScalable()))
      return failure();
    auto mode =
        op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
    if (mode == arith::RoundingMode::upward ||
        mode == arith::RoundingMode::downward ||
        (mode == arith::RoundingMode::to_nearest_even && nativeNearest))
      return failure();
    arith::FastMathFlags flags =
        op.getFastmath().value_or(arith::FastMathFlags::none);
    bool hasNaN = !bitEnumContainsAll(flags, arith::FastMathFlags::nnan);

    Location loc = op.getLoc();
    Type i16 = rewriter.getI16Type();
    Value half = constant(rewriter, loc, 16);
    auto getUpper = [&](Value value) -> Value {
      Value bits = roundBits(rewriter, loc, value, mode, hasNaN);
      bits = arith::ShRUIOp::create(rewriter, loc, bits, half);
      return arith::TruncIOp::create(rewriter, loc, i16, bits);
    };
    Value result;
    if (vector) {
      SmallVector<Value> elements;
      auto split = vector::ToElementsOp::create(rewriter, loc, op.getIn());
      for (Value element : split.getResults())
        elements.push_back(getUpper(element));
      result = vector::FromElementsOp::create(rewriter, loc, vector.clone(i16),
                                              elements);
    } else {
      result = getUpper(op.getIn());
    }
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
