//===- NumbersTest.cpp - Element types of the reference -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Numbers.h"

#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir::evoformer::reference;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Numbers, KnownBitPatterns) {
  uint16_t half[] = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x0400,
                     0x7c00, 0xfc00, 0x7e00, 0x8000};
  double halfValues[] = {
      1,         -2,        65504, std::ldexp(1.0, -24), std::ldexp(1.0, -14),
      kInfinity, -kInfinity};
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(readElement(half, ElementType::F16, i), halfValues[i]);
  EXPECT_TRUE(std::isnan(readElement(half, ElementType::F16, 7)));
  EXPECT_TRUE(std::signbit(readElement(half, ElementType::F16, 8)));

  uint16_t brain[] = {0x3f80, 0xc040, 0x7f80, 0x7fc0, 0x0001, 0x7f7f};
  double brainValues[] = {
      1, -3, kInfinity, 0, std::ldexp(1.0, -133), std::ldexp(255.0, 120)};
  for (int i : {0, 1, 2, 4, 5})
    EXPECT_EQ(readElement(brain, ElementType::BF16, i), brainValues[i]);
  EXPECT_TRUE(std::isnan(readElement(brain, ElementType::BF16, 3)));

  uint8_t mask[] = {0, 1, 255};
  EXPECT_EQ(readElement(mask, ElementType::I1, 0), 0);
  EXPECT_EQ(readElement(mask, ElementType::I1, 1), 1);
  EXPECT_EQ(readElement(mask, ElementType::I1, 2), 1);
}

// Every number of the 16-bit types is read, rounded to itself and written back.
TEST(Numbers, SixteenBitsRoundTrip) {
  for (ElementType type : {ElementType::F16, ElementType::BF16}) {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      auto stored = static_cast<uint16_t>(bits);
      double value = readElement(&stored, type, 0);
      uint16_t written = 0;
      writeElement(&written, type, 0, value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(readElement(&written, type, 0)));
        continue;
      }
      EXPECT_EQ(written, stored);
      EXPECT_EQ(roundTo(value, type), value);
    }
  }
}

TEST(Numbers, RoundsToNearestEven) {
  double ulp = std::ldexp(1.0, -10);
  EXPECT_EQ(roundTo(1 + ulp / 2, ElementType::F16), 1);
  EXPECT_EQ(roundTo(1 + ulp * 3 / 2, ElementType::F16), 1 + 2 * ulp);
  EXPECT_EQ(roundTo(1 + ulp * 0.51, ElementType::F16), 1 + ulp);
  EXPECT_EQ(roundTo(-65519.9, ElementType::F16), -65504);
  EXPECT_EQ(roundTo(-65520, ElementType::F16), -kInfinity);
  EXPECT_EQ(roundTo(std::ldexp(1.0, -25), ElementType::F16), 0);
  EXPECT_EQ(roundTo(std::ldexp(1.5, -25), ElementType::F16),
            std::ldexp(1.0, -24));
  EXPECT_EQ(roundTo(257, ElementType::BF16), 256);
  EXPECT_EQ(roundTo(259, ElementType::BF16), 260);
  EXPECT_EQ(roundTo(3.4e38, ElementType::BF16), kInfinity);
  EXPECT_EQ(roundTo(16777217, ElementType::F32), 16777216);
}

// Between all neighbours: the midpoint goes to the even one, anything else to
// the nearer one.
TEST(Numbers, MidpointsOfAllNeighbours) {
  struct {
    ElementType type;
    uint16_t infinity;
  } cases[] = {{ElementType::F16, 0x7c00}, {ElementType::BF16, 0x7f80}};
  for (auto [type, infinity] : cases) {
    for (uint16_t bits = 0; bits + 1 < infinity; ++bits) {
      uint16_t pair[] = {bits, static_cast<uint16_t>(bits + 1)};
      double below = readElement(pair, type, 0);
      double above = readElement(pair, type, 1);
      double middle = (below + above) / 2;
      EXPECT_EQ(roundTo(middle, type), bits % 2 ? above : below);
      EXPECT_EQ(roundTo(std::nextafter(middle, 0), type), below);
      EXPECT_EQ(roundTo(std::nextafter(-middle, -kInfinity), type), -above);
    }
  }
}

TEST(Numbers, UnitInTheLastPlace) {
  EXPECT_EQ(ulpOf(1, ElementType::BF16), std::ldexp(1.0, -7));
  EXPECT_EQ(ulpOf(-1.99, ElementType::F16), std::ldexp(1.0, -10));
  EXPECT_EQ(ulpOf(2, ElementType::F32), std::ldexp(1.0, -22));
  EXPECT_EQ(ulpOf(1e-9, ElementType::F16), std::ldexp(1.0, -24));
  EXPECT_EQ(ulpOf(0, ElementType::F16), std::ldexp(1.0, -24));
}
