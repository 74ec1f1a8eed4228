//===- ExpandExp2.cpp - 2^x in f32 without a call -------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 2^x = 2^n * 2^f with n the integer nearest to x. 2^f on [-1/2, 1/2] is the
// polynomial of degree 6 through the Chebyshev nodes with constant term 1; its
// error, evaluated in f32, is below 1.2 units in the last place. The scale 2^n
// is applied by one instruction where there is one (AVX-512's VSCALEFPS,
// Intel's Software Developer's Manual, volume 2C), else in two halves, so that
// results below the normal numbers are rounded once and those beyond the
// largest are infinite.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/TileToCPU/TileToCPU.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_EXPANDEXP2PASS
#include "Evoformer/Conversion/TileToCPU/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;

/// Coefficients of x, x^2, ...
static constexpr float kPolynomial[] = {
    0.6931471824645996f,   0.24022650718688965f,   0.055503569543361664f,
    0.009618083015084267f, 0.0013390863314270973f, 0.00015453163359779865f};

static LogicalResult expandExp2(math::Exp2Op op, int64_t scaleBits,
                                PatternRewriter &rewriter) {
  Type type = op.getType();
  if (!getElementTypeOrSelf(type).isF32())
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto shaped = dyn_cast<VectorType>(type);
  Type intType = b.getI32Type();
  if (shaped)
    intType = shaped.clone(intType);
  auto splat = [&](Type type, TypedAttr value) -> Value {
    if (auto vector = dyn_cast<VectorType>(type))
      value = SplatElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(b, value);
  };
  auto real = [&](float value) {
    return splat(type, b.getF32FloatAttr(value));
  };
  auto integer = [&](int32_t value) {
    return splat(intType, b.getI32IntegerAttr(value));
  };
  auto multiplyAdd = [&](Value x, Value y, Value z) -> Value {
    auto contract = arith::FastMathFlags::contract;
    Value product = arith::MulFOp::create(b, x, y, contract);
    return arith::AddFOp::create(b, product, z, contract);
  };

  // Beyond these bounds the result is 0 or infinite; NaN passes both tests.
  Value x = op.getOperand();
  auto bound = [&](arith::CmpFPredicate predicate, float value) {
    Value limit = real(value);
    Value beyond = arith::CmpFOp::create(b, predicate, x, limit);
    x = arith::SelectOp::create(b, beyond, limit, x);
  };
  bound(arith::CmpFPredicate::OLT, -160.0f);
  bound(arith::CmpFPredicate::OGT, 129.0f);

  // Adding 3 * 2^22 leaves the nearest integer in the low bits.
  constexpr float kRounder = 12582912.0f;
  constexpr int32_t kRounderBits = 0x4b400000;
  Value rounded = arith::AddFOp::create(b, x, real(kRounder));
  Value whole = arith::SubFOp::create(b, rounded, real(kRounder));
  Value fraction = arith::SubFOp::create(b, x, whole);
  Value n = arith::BitcastOp::create(b, intType, rounded);
  n = arith::SubIOp::create(b, n, integer(kRounderBits));

  Value result = real(kPolynomial[std::size(kPolynomial) - 1]);
  for (int i = std::size(kPolynomial) - 2; i >= 0; --i)
    result = multiplyAdd(result, fraction, real(kPolynomial[i]));
  result = multiplyAdd(result, fraction, real(1.0f));

  if (shaped && shaped.getRank() == 1 && !shaped.isScalable() &&
      32 * shaped.getNumElements() == scaleBits) {
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, type, b.getStringAttr("llvm.ldexp"), ValueRange{result, n});
    return success();
  }
  auto power = [&](Value exponent) -> Value {
    Value biased = arith::AddIOp::create(b, exponent, integer(127));
    biased = arith::ShLIOp::create(b, biased, integer(23));
    return arith::BitcastOp::create(b, type, biased);
  };
  Value half = arith::ShRSIOp::create(b, n, integer(1));
  Value rest = arith::SubIOp::create(b, n, half);
  result = arith::MulFOp::create(b, result, power(half));
  result = arith::MulFOp::create(b, result, power(rest));
  rewriter.replaceOp(op, result);
  return success();
}

namespace {
struct ExpandExp2Pattern : OpRewritePattern<math::Exp2Op> {
  ExpandExp2Pattern(MLIRContext *context, int64_t scaleBits)
      : OpRewritePattern(context), scaleBits(scaleBits) {}

  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    return expandExp2(op, scaleBits, rewriter);
  }

  int64_t scaleBits;
};

class ExpandExp2 : public evoformer::impl::ExpandExp2PassBase<ExpandExp2> {
public:
  using ExpandExp2PassBase::ExpandExp2PassBase;

protected:
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp2Pattern>(&getContext(), scaleBits);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
