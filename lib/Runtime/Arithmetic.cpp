//===- Arithmetic.cpp - Scalar arithmetic of host programs ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;

namespace mlir::evoformer::runtime {

int64_t normalizeInteger(int64_t value, unsigned width) {
  return width >= 64 ? value : SignExtend64(value, width);
}

static uint64_t asUnsigned(int64_t value, unsigned width) {
  return static_cast<uint64_t>(value) & maskTrailingOnes<uint64_t>(width);
}

static double asFloat(int64_t bits, unsigned width) {
  if (width == 64)
    return bit_cast<double>(bits);
  return bit_cast<float>(static_cast<uint32_t>(bits));
}

/// Rounds to the width: computing f32 sums, products and quotients in f64 and
/// rounding once more gives the f32 result (Figueroa 1995, "When is double
/// rounding innocuous?": 53 >= 2 * 24 + 2).
static int64_t fromFloat(double value, unsigned width) {
  if (width == 64)
    return bit_cast<int64_t>(value);
  return bit_cast<uint32_t>(static_cast<float>(value));
}

static Expected<int64_t> evaluateDivision(PlanOpcode code, unsigned width,
                                          int64_t a, int64_t b) {
  if (b == 0)
    return createStringError(getName(code) + Twine(": division by zero"));
  uint64_t ua = asUnsigned(a, width), ub = asUnsigned(b, width);
  switch (code) {
  case PlanOpcode::DivUI:
    return ua / ub;
  case PlanOpcode::CeilDivUI:
    return ua / ub + (ua % ub != 0);
  case PlanOpcode::RemUI:
    return ua % ub;
  default:
    break;
  }
  if (b == -1 && a == minIntN(width)) {
    if (code == PlanOpcode::RemSI)
      return 0;
    return createStringError(getName(code) + Twine(": overflow"));
  }
  int64_t quotient = a / b, remainder = a % b;
  bool opposite = (a < 0) != (b < 0);
  switch (code) {
  case PlanOpcode::CeilDivSI:
    return quotient + (remainder != 0 && !opposite);
  case PlanOpcode::FloorDivSI:
    return quotient - (remainder != 0 && opposite);
  case PlanOpcode::RemSI:
    return remainder;
  default:
    return quotient;
  }
}

static Expected<int64_t> evaluateIntegers(PlanOpcode code, unsigned width,
                                          int64_t a, int64_t b) {
  uint64_t ua = asUnsigned(a, width), ub = asUnsigned(b, width);
  switch (code) {
  case PlanOpcode::AddI:
    return static_cast<uint64_t>(a) + static_cast<uint64_t>(b);
  case PlanOpcode::SubI:
    return static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
  case PlanOpcode::MulI:
    return static_cast<uint64_t>(a) * static_cast<uint64_t>(b);
  case PlanOpcode::MinSI:
    return std::min(a, b);
  case PlanOpcode::MaxSI:
    return std::max(a, b);
  case PlanOpcode::MinUI:
    return std::min(ua, ub);
  case PlanOpcode::MaxUI:
    return std::max(ua, ub);
  case PlanOpcode::AndI:
    return a & b;
  case PlanOpcode::OrI:
    return a | b;
  case PlanOpcode::XOrI:
    return a ^ b;
  case PlanOpcode::ShLI:
  case PlanOpcode::ShRSI:
  case PlanOpcode::ShRUI:
    if (ub >= width)
      return createStringError(getName(code) +
                               Twine(": shift by the width or more"));
    if (code == PlanOpcode::ShLI)
      return ua << ub;
    return code == PlanOpcode::ShRSI ? a >> ub : static_cast<int64_t>(ua >> ub);
  default:
    return evaluateDivision(code, width, a, b);
  }
}

static double evaluateFloats(PlanOpcode code, double a, double b) {
  switch (code) {
  case PlanOpcode::AddF:
    return a + b;
  case PlanOpcode::SubF:
    return a - b;
  case PlanOpcode::MulF:
    return a * b;
  case PlanOpcode::DivF:
    return a / b;
  default:
    break;
  }
  // minimumf and maximumf: NaN if either is, -0 < +0.
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  bool aIsLess = a < b || (a == b && std::signbit(a));
  return aIsLess == (code == PlanOpcode::MinimumF) ? a : b;
}

/// `predicate` as arith::CmpIPredicate numbers them.
static bool compareIntegers(int64_t predicate, unsigned width, int64_t a,
                            int64_t b) {
  uint64_t ua = asUnsigned(a, width), ub = asUnsigned(b, width);
  switch (predicate) {
  case 0:
    return a == b;
  case 1:
    return a != b;
  case 2:
    return a < b;
  case 3:
    return a <= b;
  case 4:
    return a > b;
  case 5:
    return a >= b;
  case 6:
    return ua < ub;
  case 7:
    return ua <= ub;
  case 8:
    return ua > ub;
  default:
    return ua >= ub;
  }
}

/// `predicate` as arith::CmpFPredicate numbers them: 1 to 6 ordered (oeq, ogt,
/// oge, olt, ole, one), 7 ord, 8 to 13 the same unordered, 14 uno, 15 true.
static bool compareFloats(int64_t predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  if (predicate == 0 || predicate == 15)
    return predicate == 15;
  if (predicate == 7 || predicate == 14)
    return unordered == (predicate == 14);
  if (unordered)
    return predicate >= 8;
  switch (predicate >= 8 ? predicate - 7 : predicate) {
  case 1:
    return a == b;
  case 2:
    return a > b;
  case 3:
    return a >= b;
  case 4:
    return a < b;
  case 5:
    return a <= b;
  default:
    return a != b;
  }
}

static Expected<int64_t> evaluateCast(const PlanOp &op, int64_t value) {
  unsigned from = op.type.width, to = op.resultType.width;
  switch (op.code) {
  case PlanOpcode::IndexCastUI:
  case PlanOpcode::ExtUI:
    return asUnsigned(value, from);
  case PlanOpcode::SIToFP:
    // One rounding: 64-bit integers do not fit f64.
    if (to == 32)
      return fromFloat(static_cast<float>(value), 32);
    return fromFloat(static_cast<double>(value), to);
  case PlanOpcode::UIToFP: {
    uint64_t bits = asUnsigned(value, from);
    if (to == 32)
      return fromFloat(static_cast<float>(bits), 32);
    return fromFloat(static_cast<double>(bits), to);
  }
  case PlanOpcode::FPToSI: {
    double number = std::trunc(asFloat(value, from));
    double limit = std::ldexp(1.0, to - 1);
    if (!(number >= -limit && number < limit))
      return createStringError("arith.fptosi: the value does not fit");
    return static_cast<int64_t>(number);
  }
  case PlanOpcode::ExtF:
  case PlanOpcode::TruncF:
    return fromFloat(asFloat(value, from), to);
  default: // index_cast, extsi, trunci, bitcast
    return value;
  }
}

Expected<int64_t> evaluateArith(const PlanOp &op, ArrayRef<int64_t> operands) {
  unsigned width = op.type.width;
  auto asFloatOperand = [&](unsigned i) { return asFloat(operands[i], width); };
  Expected<int64_t> result = 0;
  switch (op.code) {
  case PlanOpcode::CmpI:
    return -compareIntegers(op.integer, width, operands[0], operands[1]);
  case PlanOpcode::CmpF:
    return -compareFloats(op.integer, asFloatOperand(0), asFloatOperand(1));
  case PlanOpcode::NegF:
    return fromFloat(-asFloatOperand(0), width);
#define EVOFORMER_PLAN_FLOAT_BINARY(ENUM, NAME) case PlanOpcode::ENUM:
#include "Evoformer/Runtime/PlanOps.def"
    return fromFloat(
        evaluateFloats(op.code, asFloatOperand(0), asFloatOperand(1)), width);
#define EVOFORMER_PLAN_CAST(ENUM, NAME) case PlanOpcode::ENUM:
#include "Evoformer/Runtime/PlanOps.def"
    width = op.resultType.width;
    result = evaluateCast(op, operands[0]);
    if (op.resultType.kind == PlanType::Kind::Float)
      return result;
    break;
  default:
    result = evaluateIntegers(op.code, width, operands[0], operands[1]);
  }
  if (!result)
    return result;
  return normalizeInteger(*result, width);
}

} // namespace mlir::evoformer::runtime
