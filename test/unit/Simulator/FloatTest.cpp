//===- FloatTest.cpp - Narrow formats against LLVM's APFloat --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Simulator/Float.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir::evoformer::sim;
using llvm::APFloat;
using llvm::APInt;

namespace {

const llvm::fltSemantics &half = APFloat::IEEEhalf();
const llvm::fltSemantics &brain = APFloat::BFloat();

uint16_t narrow(double v, const llvm::fltSemantics &semantics) {
  APFloat f(v);
  bool lost;
  f.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return uint16_t(f.bitcastToAPInt().getZExtValue());
}
bool isNaN(uint16_t bits, const llvm::fltSemantics &semantics) {
  return APFloat(semantics, APInt(16, bits)).isNaN();
}
void same(uint16_t actual, uint16_t expected,
          const llvm::fltSemantics &semantics, double from) {
  if (isNaN(expected, semantics))
    EXPECT_TRUE(isNaN(actual, semantics)) << from;
  else
    EXPECT_EQ(actual, expected) << from;
}

TEST(Float, WidensEveryValue) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    APFloat h(half, APInt(16, bits)), b(brain, APInt(16, bits));
    if (!h.isNaN())
      EXPECT_EQ(halfToFloat(uint16_t(bits)), h.convertToFloat());
    else
      EXPECT_TRUE(std::isnan(halfToFloat(uint16_t(bits))));
    if (!b.isNaN())
      EXPECT_EQ(bf16ToFloat(uint16_t(bits)), b.convertToFloat());
    else
      EXPECT_TRUE(std::isnan(bf16ToFloat(uint16_t(bits))));
  }
}

TEST(Float, NarrowsCorrectly) {
  std::mt19937_64 random(1);
  auto check = [](double v) {
    float f = float(v);
    same(floatToHalf(f), narrow(f, half), half, f);
    same(floatToBF16(f), narrow(f, brain), brain, f);
    same(doubleToHalf(v), narrow(v, half), half, v);
    same(doubleToBF16(v), narrow(v, brain), brain, v);
  };
  for (unsigned n = 0; n < 200000; ++n) {
    // Exponents around the range of f16, and arbitrary bit patterns.
    check(std::ldexp(1.0 + double(random() % (1u << 24)) / (1 << 24),
                     int(random() % 50) - 30) *
          (random() % 2 ? 1 : -1));
    check(bitsTo<float>(uint32_t(random())));
  }
  // Halfway between neighbours, and a trace above and below.
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    double low = halfToFloat(uint16_t(bits)),
           high = bits == 0x7bff ? 65536.0 : halfToFloat(uint16_t(bits + 1));
    double middle = (low + high) / 2;
    for (double v : {middle, middle * (1 + 0x1p-50), middle * (1 - 0x1p-50)})
      check(v);
  }
}

TEST(Float, FusedMultiplyAddRoundsOnce) {
  std::mt19937_64 random(2);
  for (unsigned n = 0; n < 300000; ++n) {
    uint16_t a = uint16_t(random()), b = uint16_t(random()),
             c = uint16_t(random());
    for (const llvm::fltSemantics *s : {&half, &brain}) {
      APFloat x(*s, APInt(16, a)), y(*s, APInt(16, b)), z(*s, APInt(16, c));
      x.fusedMultiplyAdd(y, z, APFloat::rmNearestTiesToEven);
      uint16_t expected = uint16_t(x.bitcastToAPInt().getZExtValue());
      same(s == &half ? F16::fma(a, b, c) : BF16::fma(a, b, c), expected, *s,
           n);
    }
  }
}

} // namespace
