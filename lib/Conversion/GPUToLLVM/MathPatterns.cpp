//===- MathPatterns.cpp - Math ops as single instructions -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream lowers these ops to calls into vendors' math libraries, which are
// not at hand, or to LLVM intrinsics that treat denormals at the cost of four
// instructions. The kernels only need what the special function unit gives.
//
//===----------------------------------------------------------------------===//

#include "LoweringFacts.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::evoformer;

/// Calls an f32 intrinsic on a scalar of f32 or a narrower float type.
static Value callScalar(OpBuilder &builder, Location loc, StringRef intrinsic,
                        Value operand) {
  Type type = operand.getType(), f32 = builder.getF32Type();
  bool narrow = type != f32;
  if (narrow)
    operand = LLVM::FPExtOp::create(builder, loc, f32, operand);
  Value result =
      LLVM::CallIntrinsicOp::create(builder, loc, f32,
                                    builder.getStringAttr(intrinsic), operand)
          .getResult(0);
  if (narrow)
    result = LLVM::FPTruncOp::create(builder, loc, type, result);
  return result;
}

/// The same, element by element, for a 1-D vector.
static Value callElements(OpBuilder &builder, Location loc, StringRef intrinsic,
                          Value operand) {
  auto type = dyn_cast<VectorType>(operand.getType());
  if (!type)
    return callScalar(builder, loc, intrinsic, operand);
  Value result = LLVM::PoisonOp::create(builder, loc, type);
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                           builder.getI32IntegerAttr(i));
    Value element =
        LLVM::ExtractElementOp::create(builder, loc, operand, index);
    result = LLVM::InsertElementOp::create(
        builder, loc, result, callScalar(builder, loc, intrinsic, element),
        index);
  }
  return result;
}

/// Whether the special function unit serves a type: a float no wider than
/// f32, or a vector of one that is already flat.
static bool isServed(Type type) {
  if (auto vector = dyn_cast_or_null<VectorType>(type))
    if (vector.getRank() != 1 || vector.isScalable())
      return false;
  auto element = dyn_cast_or_null<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() <= 32;
}

namespace {
template <typename OpTy> struct UnaryLowering : ConvertOpToLLVMPattern<OpTy> {
  UnaryLowering(const LLVMTypeConverter &converter, StringRef intrinsic)
      : ConvertOpToLLVMPattern<OpTy>(converter, /*benefit=*/10),
        intrinsic(intrinsic) {}

  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isServed(adaptor.getOperand().getType()))
      return rewriter.notifyMatchFailure(op, "no such instruction");
    rewriter.replaceOp(op, callElements(rewriter, op.getLoc(), intrinsic,
                                        adaptor.getOperand()));
    return success();
  }

  StringRef intrinsic;
};

/// x / y as x * (1/y) where the flags allow it.
struct DivideLowering : ConvertOpToLLVMPattern<arith::DivFOp> {
  DivideLowering(const LLVMTypeConverter &converter, StringRef intrinsic)
      : ConvertOpToLLVMPattern(converter, /*benefit=*/10),
        intrinsic(intrinsic) {}

  LogicalResult
  matchAndRewrite(arith::DivFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto flags = op.getFastmath();
    if (!bitEnumContainsAny(flags, arith::FastMathFlags::arcp |
                                       arith::FastMathFlags::afn))
      return rewriter.notifyMatchFailure(op, "an exact quotient is asked for");
    if (!isServed(adaptor.getLhs().getType()))
      return rewriter.notifyMatchFailure(op, "no such instruction");
    Value reciprocal =
        callElements(rewriter, op.getLoc(), intrinsic, adaptor.getRhs());
    rewriter.replaceOpWithNewOp<LLVM::FMulOp>(op, adaptor.getLhs(), reciprocal);
    return success();
  }

  StringRef intrinsic;
};

} // namespace

void mlir::evoformer::populateMathPatterns(const LLVMTypeConverter &converter,
                                           RewritePatternSet &patterns,
                                           const LoweringFacts &facts) {
  patterns.add<UnaryLowering<math::Exp2Op>>(converter, facts.exp2);
  patterns.add<UnaryLowering<math::Log2Op>>(converter, facts.log2);
  patterns.add<UnaryLowering<math::RsqrtOp>>(converter, facts.reciprocalSqrt);
  patterns.add<DivideLowering>(converter, facts.reciprocal);
}
