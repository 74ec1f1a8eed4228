//===- ScoreAdjoints.cpp - Derivatives of arithmetic ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a choice between operands the chosen one has the gradient; of operands
// that are equal the first. |x| has none at 0, and neither has an exponential
// that is beyond f32: it is infinite, whatever its operand is close to it.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/Transforms/Interfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// Writes gradients of f32; what folds is not written.
struct AdjointBuilder {
  OpBuilder &builder;
  Location loc;

  Value number(double value) const {
    return arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
  }
  Value add(Value a, Value b) const {
    return builder.createOrFold<arith::AddFOp>(loc, a, b);
  }
  Value sub(Value a, Value b) const {
    return builder.createOrFold<arith::SubFOp>(loc, a, b);
  }
  Value mul(Value a, Value b) const {
    return builder.createOrFold<arith::MulFOp>(loc, a, b);
  }
  Value mul(Value a, double b) const { return mul(a, number(b)); }
  Value div(Value a, Value b) const {
    return builder.createOrFold<arith::DivFOp>(loc, a, b);
  }
  Value negate(Value a) const {
    return builder.createOrFold<arith::NegFOp>(loc, a);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) const {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) const {
    return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
  }
  /// `gradient` times a multiple of the exponential `power`. 1 / (1 + power)
  /// has the gradient 0 where `power` is infinite, and 0 times it is NaN.
  Value mulByPower(Value gradient, Value multiple, Value power) const {
    Value infinity = number(std::numeric_limits<double>::infinity());
    return select(compare(arith::CmpFPredicate::OEQ, power, infinity),
                  number(0), mul(gradient, multiple));
  }
  /// The gradients of the operands of a choice by `isFirst`.
  SmallVector<Value> choose(Value isFirst, Value gradient) const {
    Value none = number(0);
    return {select(isFirst, gradient, none), select(isFirst, none, gradient)};
  }
};

using Gradients = SmallVector<Value>;

Gradients differentiate(arith::AddFOp, const AdjointBuilder &, Value g) {
  return {g, g};
}
Gradients differentiate(arith::SubFOp, const AdjointBuilder &b, Value g) {
  return {g, b.negate(g)};
}
Gradients differentiate(arith::MulFOp op, const AdjointBuilder &b, Value g) {
  return {b.mul(g, op.getRhs()), b.mul(g, op.getLhs())};
}
Gradients differentiate(arith::DivFOp op, const AdjointBuilder &b, Value g) {
  Value quotient = b.div(g, op.getRhs());
  return {quotient, b.negate(b.mul(quotient, op.getResult()))};
}
Gradients differentiate(arith::NegFOp, const AdjointBuilder &b, Value g) {
  return {b.negate(g)};
}
Gradients differentiate(math::FmaOp op, const AdjointBuilder &b, Value g) {
  return {b.mul(g, op.getB()), b.mul(g, op.getA()), g};
}
Gradients differentiate(math::AbsFOp op, const AdjointBuilder &b, Value g) {
  Value x = op.getOperand(), none = b.number(0);
  Value isPositive = b.compare(arith::CmpFPredicate::OGT, x, none);
  Value isNegative = b.compare(arith::CmpFPredicate::OLT, x, none);
  return {b.select(isPositive, g, b.select(isNegative, b.negate(g), none))};
}
Gradients differentiate(math::ExpOp op, const AdjointBuilder &b, Value g) {
  return {b.mulByPower(g, op.getResult(), op.getResult())};
}
Gradients differentiate(math::Exp2Op op, const AdjointBuilder &b, Value g) {
  Value y = op.getResult();
  return {b.mulByPower(g, b.mul(y, llvm::numbers::ln2), y)};
}
Gradients differentiate(math::LogOp op, const AdjointBuilder &b, Value g) {
  return {b.div(g, op.getOperand())};
}
Gradients differentiate(math::Log2Op op, const AdjointBuilder &b, Value g) {
  return {b.div(b.mul(g, llvm::numbers::log2e), op.getOperand())};
}
Gradients differentiate(math::SqrtOp op, const AdjointBuilder &b, Value g) {
  return {b.div(b.mul(g, 0.5), op.getResult())};
}
Gradients differentiate(math::RsqrtOp op, const AdjointBuilder &b, Value g) {
  return {b.div(b.mul(g, b.mul(op.getResult(), -0.5)), op.getOperand())};
}
Gradients differentiate(math::TanhOp op, const AdjointBuilder &b, Value g) {
  Value y = op.getResult();
  return {b.mul(g, b.sub(b.number(1), b.mul(y, y)))};
}
Gradients differentiate(arith::SelectOp op, const AdjointBuilder &b, Value g) {
  Gradients gradients = b.choose(op.getCondition(), g);
  gradients.insert(gradients.begin(), Value());
  return gradients;
}
template <typename OpTy>
Gradients chooseLarger(OpTy op, const AdjointBuilder &b, Value g) {
  return b.choose(
      b.compare(arith::CmpFPredicate::OGE, op.getLhs(), op.getRhs()), g);
}
template <typename OpTy>
Gradients chooseSmaller(OpTy op, const AdjointBuilder &b, Value g) {
  return b.choose(
      b.compare(arith::CmpFPredicate::OLE, op.getLhs(), op.getRhs()), g);
}
Gradients differentiate(arith::MaximumFOp op, const AdjointBuilder &b,
                        Value g) {
  return chooseLarger(op, b, g);
}
Gradients differentiate(arith::MaxNumFOp op, const AdjointBuilder &b, Value g) {
  return chooseLarger(op, b, g);
}
Gradients differentiate(arith::MinimumFOp op, const AdjointBuilder &b,
                        Value g) {
  return chooseSmaller(op, b, g);
}
Gradients differentiate(arith::MinNumFOp op, const AdjointBuilder &b, Value g) {
  return chooseSmaller(op, b, g);
}

template <typename OpTy>
struct Adjoint
    : DifferentiableScalarOpInterface::ExternalModel<Adjoint<OpTy>, OpTy> {
  SmallVector<Value> buildAdjoint(Operation *op, OpBuilder &builder,
                                  Value gradient) const {
    return differentiate(cast<OpTy>(op), AdjointBuilder{builder, op->getLoc()},
                         gradient);
  }
};

template <typename... OpTys> void attach(MLIRContext *context) {
  (OpTys::template attachInterface<Adjoint<OpTys>>(*context), ...);
}
} // namespace

void evoformer::registerScoreAdjoints(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attach<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
           arith::NegFOp, arith::SelectOp, arith::MaximumFOp, arith::MaxNumFOp,
           arith::MinimumFOp, arith::MinNumFOp>(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attach<math::FmaOp, math::AbsFOp, math::ExpOp, math::Exp2Op, math::LogOp,
           math::Log2Op, math::SqrtOp, math::RsqrtOp, math::TanhOp>(context);
  });
}
