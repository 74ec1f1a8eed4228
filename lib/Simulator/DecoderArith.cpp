//===- DecoderArith.cpp - Elementwise arithmetic of the LLVM dialect ------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

static std::optional<IntOp> intOp(StringRef name) {
  return llvm::StringSwitch<std::optional<IntOp>>(name)
      .Case("add", IntOp::Add)
      .Case("sub", IntOp::Sub)
      .Case("mul", IntOp::Mul)
      .Case("and", IntOp::And)
      .Case("or", IntOp::Or)
      .Case("xor", IntOp::Xor)
      .Case("shl", IntOp::Shl)
      .Case("lshr", IntOp::LShr)
      .Case("ashr", IntOp::AShr)
      .Case("sdiv", IntOp::SDiv)
      .Case("udiv", IntOp::UDiv)
      .Case("srem", IntOp::SRem)
      .Case("urem", IntOp::URem)
      .Case("intr.smin", IntOp::SMin)
      .Case("intr.smax", IntOp::SMax)
      .Case("intr.umin", IntOp::UMin)
      .Case("intr.umax", IntOp::UMax)
      .Case("intr.ctpop", IntOp::Ctpop)
      .Case("intr.ctlz", IntOp::Ctlz)
      .Case("intr.cttz", IntOp::Cttz)
      .Case("intr.abs", IntOp::Abs)
      .Case("intr.bitreverse", IntOp::Bitreverse)
      .Case("intr.bswap", IntOp::Bswap)
      .Case("intr.fshl", IntOp::Fshl)
      .Case("intr.fshr", IntOp::Fshr)
      .Case("intr.uadd.sat", IntOp::UAddSat)
      .Case("intr.usub.sat", IntOp::USubSat)
      .Case("intr.sadd.sat", IntOp::SAddSat)
      .Case("intr.ssub.sat", IntOp::SSubSat)
      .Default(std::nullopt);
}

static std::optional<FloatOp> floatOp(StringRef name) {
  return llvm::StringSwitch<std::optional<FloatOp>>(name)
      .Case("fadd", FloatOp::Add)
      .Case("fsub", FloatOp::Sub)
      .Case("fmul", FloatOp::Mul)
      .Case("fdiv", FloatOp::Div)
      .Case("frem", FloatOp::Rem)
      .Case("fneg", FloatOp::Neg)
      .Case("intr.fabs", FloatOp::Abs)
      .Cases({"intr.fma", "intr.fmuladd"}, FloatOp::FMA)
      .Case("intr.minnum", FloatOp::MinNum)
      .Case("intr.maxnum", FloatOp::MaxNum)
      .Case("intr.minimum", FloatOp::Minimum)
      .Case("intr.maximum", FloatOp::Maximum)
      .Case("intr.copysign", FloatOp::Copysign)
      .Case("intr.sqrt", FloatOp::Sqrt)
      .Case("intr.exp", FloatOp::Exp)
      .Case("intr.exp2", FloatOp::Exp2)
      .Case("intr.log", FloatOp::Log)
      .Case("intr.log2", FloatOp::Log2)
      .Case("intr.log10", FloatOp::Log10)
      .Case("intr.pow", FloatOp::Pow)
      .Case("intr.sin", FloatOp::Sin)
      .Case("intr.cos", FloatOp::Cos)
      .Case("intr.tanh", FloatOp::Tanh)
      .Case("intr.floor", FloatOp::Floor)
      .Case("intr.ceil", FloatOp::Ceil)
      .Cases({"intr.rint", "intr.nearbyint"}, FloatOp::Rint)
      .Case("intr.roundeven", FloatOp::Roundeven)
      .Case("intr.round", FloatOp::Round)
      .Case("intr.trunc", FloatOp::Trunc)
      .Case("intr.ldexp", FloatOp::Ldexp)
      .Default(std::nullopt);
}

static std::optional<Cast> castOp(StringRef name) {
  return llvm::StringSwitch<std::optional<Cast>>(name)
      .Case("trunc", Cast::Trunc)
      .Case("zext", Cast::ZExt)
      .Case("sext", Cast::SExt)
      .Case("fptrunc", Cast::FPTrunc)
      .Case("fpext", Cast::FPExt)
      .Case("fptosi", Cast::FPToSI)
      .Case("fptoui", Cast::FPToUI)
      .Case("intr.fptosi.sat", Cast::FPToSISat)
      .Case("intr.fptoui.sat", Cast::FPToUISat)
      .Case("sitofp", Cast::SIToFP)
      .Case("uitofp", Cast::UIToFP)
      .Default(std::nullopt);
}

static bool isTranscendental(FloatOp op) {
  switch (op) {
  case FloatOp::Sqrt:
  case FloatOp::Exp:
  case FloatOp::Exp2:
  case FloatOp::Log:
  case FloatOp::Log2:
  case FloatOp::Log10:
  case FloatOp::Sin:
  case FloatOp::Cos:
  case FloatOp::Tanh:
  case FloatOp::Pow:
  case FloatOp::Div:
    return true;
  default:
    return false;
  }
}

/// The relations for which a comparison holds: 1 equal, 2 greater, 4 less,
/// 8 unordered.
static unsigned bitsOf(LLVM::FCmpPredicate predicate) {
  using P = LLVM::FCmpPredicate;
  switch (predicate) {
  case P::_false:
    return 0;
  case P::oeq:
    return 1;
  case P::ogt:
    return 2;
  case P::oge:
    return 3;
  case P::olt:
    return 4;
  case P::ole:
    return 5;
  case P::one:
    return 6;
  case P::ord:
    return 7;
  case P::uno:
    return 8;
  case P::ueq:
    return 9;
  case P::ugt:
    return 10;
  case P::uge:
    return 11;
  case P::ult:
    return 12;
  case P::ule:
    return 13;
  case P::une:
    return 14;
  case P::_true:
    return 15;
  }
  return 16;
}

/// Reductions of a vector: the operation and whether the first operand is a
/// start value.
static std::optional<IntOp> intReduction(StringRef name) {
  return llvm::StringSwitch<std::optional<IntOp>>(name)
      .Case("add", IntOp::Add)
      .Case("mul", IntOp::Mul)
      .Case("and", IntOp::And)
      .Case("or", IntOp::Or)
      .Case("xor", IntOp::Xor)
      .Case("smin", IntOp::SMin)
      .Case("smax", IntOp::SMax)
      .Case("umin", IntOp::UMin)
      .Case("umax", IntOp::UMax)
      .Default(std::nullopt);
}
static std::optional<FloatOp> floatReduction(StringRef name) {
  return llvm::StringSwitch<std::optional<FloatOp>>(name)
      .Case("fadd", FloatOp::Add)
      .Case("fmul", FloatOp::Mul)
      .Case("fmin", FloatOp::MinNum)
      .Case("fmax", FloatOp::MaxNum)
      .Case("fminimum", FloatOp::Minimum)
      .Case("fmaximum", FloatOp::Maximum)
      .Default(std::nullopt);
}

std::optional<LogicalResult> Decoder::decodeArith(Operation *op,
                                                  StringRef name) {
  if (!name.consume_front("llvm."))
    return std::nullopt;

  auto elementwise = [&](Handler handler, Part a,
                         std::optional<Part> result = {}) -> LogicalResult {
    FailureOr<Part> to =
        result ? FailureOr<Part>(*result) : defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    Inst inst;
    inst.dst = to->offset;
    inst.a = a.offset;
    if (op->getNumOperands() > 1)
      inst.b = single(op->getOperand(1)).offset;
    if (op->getNumOperands() > 2)
      inst.c = single(op->getOperand(2)).offset;
    inst.n = elements(a);
    return emitChecked(op, handler, inst);
  };

  // A sum of numbers without sign wraps where it is less than one of them.
  if (auto add = dyn_cast<LLVM::UAddWithOverflowOp>(op)) {
    FailureOr<Parts> to = allocate(op, add.getType());
    if (failed(to))
      return failure();
    values[add.getResult()] = *to;
    Part a = single(op->getOperand(0));
    countArithmetic(a);
    if (failed(elementwise(intHandler(IntOp::Add, a.kind), a, (*to)[0])))
      return failure();
    return elementwise(icmpHandler(unsigned(LLVM::ICmpPredicate::ult), a.kind),
                       (*to)[0], (*to)[1]);
  }
  if (std::optional<IntOp> which = intOp(name)) {
    Part a = single(op->getOperand(0));
    countArithmetic(a);
    return elementwise(intHandler(*which, a.kind), a);
  }
  if (std::optional<FloatOp> which = floatOp(name)) {
    Part a = single(op->getOperand(0));
    if (*which == FloatOp::Ldexp) {
      Part exponent = single(op->getOperand(1));
      if (exponent.kind != Kind::I32 || exponent.count != a.count)
        return unsupported(op, "an i32 for each element is expected");
    }
    if (isTranscendental(*which))
      counts->transcendental += a.count;
    else
      countArithmetic(a);
    return elementwise(floatHandler(*which, a.kind), a);
  }
  if (std::optional<Cast> which = castOp(name)) {
    Part a = single(op->getOperand(0));
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    countArithmetic(a);
    Handler handler = a.kind == to->kind
                          ? moveHandler(sizeOf(a.kind))
                          : castHandler(*which, a.kind, to->kind);
    return elementwise(handler, a, *to);
  }
  if (auto compare = dyn_cast<LLVM::ICmpOp>(op)) {
    if (get(compare.getLhs()).size() != 1)
      return unsupported(op, "comparison of buffer resources");
    Part a = single(compare.getLhs());
    countArithmetic(a);
    return elementwise(icmpHandler(unsigned(compare.getPredicate()), a.kind),
                       a);
  }
  if (auto compare = dyn_cast<LLVM::FCmpOp>(op)) {
    Part a = single(compare.getLhs());
    countArithmetic(a);
    return elementwise(fcmpHandler(bitsOf(compare.getPredicate()), a.kind), a);
  }
  if (auto select = dyn_cast<LLVM::SelectOp>(op)) {
    FailureOr<Parts> to = allocate(op, select.getType());
    if (failed(to))
      return failure();
    values[select.getResult()] = *to;
    Part condition = single(select.getCondition());
    const Parts &yes = get(select.getTrueValue());
    const Parts &no = get(select.getFalseValue());
    for (auto [k, part] : llvm::enumerate(*to)) {
      Inst inst;
      inst.dst = part.offset;
      inst.a = yes[k].offset;
      inst.b = no[k].offset;
      inst.c = condition.offset;
      inst.n = elements(part);
      countArithmetic(part);
      if (failed(emitChecked(
              op,
              selectHandler(sizeOf(part.kind), condition.count != part.count),
              inst)))
        return failure();
    }
    return success();
  }
  if (name.consume_front("intr.vector.reduce.")) {
    Value vector = op->getOperand(op->getNumOperands() - 1);
    Part a = single(vector);
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    bool hasStart = op->getNumOperands() == 2;
    Inst inst;
    inst.dst = to->offset;
    inst.a = a.offset;
    inst.n = a.count;
    if (hasStart)
      inst.b = single(op->getOperand(0)).offset;
    countArithmetic(a);
    if (auto which = intReduction(name))
      return emitChecked(op, reduceIntHandler(*which, a.kind, hasStart), inst);
    if (auto which = floatReduction(name))
      return emitChecked(op, reduceFloatHandler(*which, a.kind, hasStart),
                         inst);
    return unsupported(op);
  }
  return std::nullopt;
}
