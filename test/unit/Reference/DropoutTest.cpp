//===- DropoutTest.cpp - Which weights the reference drops ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Dropout.h"

#include "gtest/gtest.h"
#include <cmath>
#include <functional>
#include <vector>

using namespace mlir::evoformer::reference;

using Words = std::array<uint32_t, 4>;

// The known answers of Random123 1.14 (tests/kat_vectors, 'philox4x32').
TEST(Dropout, KnownAnswers) {
  constexpr uint32_t ones = 0xffffffff;
  const Words pi = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}, 7),
            (Words{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}, 7),
            (Words{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}));
  EXPECT_EQ(philox(pi, {0xa4093822, 0x299f31d0}, 7),
            (Words{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}));
  EXPECT_EQ(philox(pi, {0xa4093822, 0x299f31d0}, 10),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Eight columns take the words of one call, lower halves first; both halves of
// seed and offset count.
TEST(Dropout, DrawsOfACall) {
  Dropout dropout;
  dropout.seed = 0x299f31d0a4093822;
  dropout.offset = 0x03707344;
  uint32_t row = 0x85a308d3, stream = 0x13198a2e;
  uint32_t column = 0x443f6a88u << 3;
  Words words = philox({column >> 3, row, stream, 0x03707344},
                       {0xa4093822, 0x299f31d0}, 7);
  for (uint32_t i = 0; i < 8; ++i) {
    uint32_t half = words[i / 2] >> (i % 2 * 16) & 0xffff;
    EXPECT_EQ(dropout.draw(stream, row, column + i), half);
  }
  uint32_t before = dropout.draw(1, 2, 3);
  for (int bit : {0, 31, 32, 63}) {
    Dropout other = dropout;
    other.seed ^= uint64_t(1) << bit;
    EXPECT_NE(other.draw(1, 2, 3), before) << "seed, bit " << bit;
    other = dropout;
    other.offset ^= uint64_t(1) << bit;
    EXPECT_NE(other.draw(1, 2, 3), before) << "offset, bit " << bit;
  }
}

TEST(Dropout, Thresholds) {
  auto thresholdOf = [](double probability) {
    Dropout dropout;
    dropout.probability = probability;
    return dropout.getThreshold();
  };
  EXPECT_EQ(thresholdOf(0), 0);
  EXPECT_EQ(thresholdOf(0x1p-18), 0);
  EXPECT_EQ(thresholdOf(0x1p-16), 1);
  EXPECT_EQ(thresholdOf(0.5), 32768);
  EXPECT_EQ(thresholdOf(0.1), 6554);
  EXPECT_EQ(thresholdOf(0.999999), 65535);
}

/// How far counts are from being equally likely, in standard deviations of a
/// chi-square sum (Wilson and Hilferty's approximation of it).
static double deviation(const std::vector<int64_t> &counts) {
  double total = 0, sum = 0, freedom = static_cast<double>(counts.size()) - 1;
  for (int64_t count : counts)
    total += static_cast<double>(count);
  double expected = total / static_cast<double>(counts.size());
  for (int64_t count : counts) {
    double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  double mean = 1 - 2 / (9 * freedom);
  return (std::cbrt(sum / freedom) - mean) / std::sqrt(2 / (9 * freedom));
}

/// Of pairs of draws, by the upper four bits of both.
static double
deviationOfPairs(const std::function<uint32_t(uint32_t, uint32_t)> &first,
                 const std::function<uint32_t(uint32_t, uint32_t)> &second) {
  std::vector<int64_t> counts(256, 0);
  constexpr uint32_t kSize = 1024;
  for (uint32_t i = 0; i < kSize; ++i)
    for (uint32_t j = 0; j < kSize; ++j)
      ++counts[first(i, j) >> 12 << 4 | second(i, j) >> 12];
  return deviation(counts);
}

// 2^24 draws of one state are equally likely, and those of other columns, rows,
// streams, offsets and seeds independent of them.
TEST(Dropout, EquallyLikelyAndIndependent) {
  Dropout dropout;
  dropout.seed = 20;
  dropout.offset = 26;
  std::vector<int64_t> counts(4096, 0);
  for (uint32_t stream = 0; stream < 16; ++stream)
    for (uint32_t i = 0; i < 1024; ++i)
      for (uint32_t j = 0; j < 1024; ++j)
        ++counts[dropout.draw(stream, i, j) >> 4];
  EXPECT_LT(std::fabs(deviation(counts)), 4);

  auto draw = [&](uint32_t i, uint32_t j) { return dropout.draw(3, i, j); };
  auto at = [&](uint32_t stream, uint32_t rows, uint32_t columns) {
    return [=](uint32_t i, uint32_t j) {
      return dropout.draw(stream, i + rows, j + columns);
    };
  };
  for (uint32_t columns : {1, 2, 7, 8, 64})
    EXPECT_LT(std::fabs(deviationOfPairs(draw, at(3, 0, columns))), 4)
        << columns << " columns on";
  for (uint32_t rows : {1, 16})
    EXPECT_LT(std::fabs(deviationOfPairs(draw, at(3, rows, 0))), 4)
        << rows << " rows on";
  for (uint32_t stream : {2, 4, 11})
    EXPECT_LT(std::fabs(deviationOfPairs(draw, at(stream, 0, 0))), 4)
        << "stream " << stream;
  for (uint64_t step : {uint64_t(1), uint64_t(4), uint64_t(1) << 32}) {
    Dropout later = dropout, seeded = dropout;
    later.offset += step;
    seeded.seed += step;
    for (const Dropout &other : {later, seeded})
      EXPECT_LT(std::fabs(deviationOfPairs(draw,
                                           [&](uint32_t i, uint32_t j) {
                                             return other.draw(3, i, j);
                                           })),
                4)
          << "step " << step;
  }
}

// The share that is kept is what the factor makes up for.
TEST(Dropout, FactorsOfParts) {
  Dropout whole;
  whole.probability = 0.3;
  whole.seed = 5;
  whole.allRows = 3;
  whole.allHeads = 4;
  Dropout part = whole;
  part.firstBatch = 1;
  part.firstRow = 2;
  part.firstHead = 3;
  double sum = 0;
  for (int64_t i = 0; i < 256; ++i)
    for (int64_t j = 0; j < 256; ++j) {
      double factor = part.getFactor(0, 0, 0, i, j);
      EXPECT_EQ(factor, whole.getFactor(1, 2, 3, i, j));
      sum += factor;
    }
  EXPECT_NEAR(sum / 65536, 1, 0.01);
}
