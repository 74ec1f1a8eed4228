//===- CompareTest.cpp - The acceptance rule ------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Compare.h"
#include "Problems.h"

#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mlir::evoformer::reference;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The same bound for all elements of rows along which errors have the variance
/// `ofRow`.
static OutputBounds makeBounds(int64_t rows, int64_t depth, double most,
                               double deviation, double ofRow) {
  OutputBounds bounds;
  bounds.most.assign(rows * depth, most);
  bounds.deviation.assign(rows * depth, deviation);
  bounds.alongVariance.assign(rows, ofRow);
  bounds.alongShared.assign(rows, 0);
  bounds.hasDigits.assign(rows, 1);
  return bounds;
}

/// Compares one row of two elements that may be off by `most`.
static Comparison compare(std::vector<double> given,
                          std::vector<double> reference,
                          std::vector<double> eager,
                          ElementType type = ElementType::F32,
                          double most = 0) {
  AttentionProblem problem;
  problem.batch = problem.rows = problem.queries = problem.heads = 1;
  problem.valueDepth = 2;
  std::vector<uint8_t> memory(2 * sizeOf(type));
  for (int i = 0; i < 2; ++i)
    writeElement(memory.data(), type, i, given[i]);
  AttentionResult referenceResult, eagerResult;
  referenceResult.out = std::move(reference);
  referenceResult.magnitudes = referenceResult.out;
  eagerResult.out = std::move(eager);
  return compareOutput(
      problem, makeDenseView(memory.data(), type, {1, 1, 1, 1, 2}),
      referenceResult, eagerResult, makeBounds(1, 2, most, most, 1));
}

// Each element has its bound; the error of a row is relative to its norm.
TEST(Compare, ElementsWithinTheirBounds) {
  auto check = [](double second) {
    return compare({3, second}, {3, 4}, {3, 4.001}, ElementType::F32, 0.002);
  };
  EXPECT_TRUE(check(4.0019).passed());
  EXPECT_NEAR(check(4.0010).worstRatio, 0.5, 1e-3);
  Comparison wrong = check(4.0021);
  EXPECT_EQ(wrong.wrongRows, 1);
  EXPECT_NEAR(wrong.maxError, 0.0021 / 5, 1e-6);
  EXPECT_NEAR(wrong.maxEagerError, 0.001 / 5, 1e-9);
  EXPECT_NE(wrong.firstWrong.find("b 0, n 0, h 0, query 0"), std::string::npos);
}

// Twice eager mode's error plus 1e-6 of an f32 row, or one ulp of each element:
// 2^-6 at 3, 2^-5 at 4. Rows beyond that are counted.
TEST(Compare, RowsBeyondThePromise) {
  auto count = [](double second, double eager) {
    return compare({3, second}, {3, 4}, {3, eager}, ElementType::F32, 1)
        .luckyRows;
  };
  EXPECT_EQ(count(4.0020, 4.001), 0);
  EXPECT_EQ(count(4.0021, 4.001), 1);
  EXPECT_EQ(count(4.000004, 4), 0);
  EXPECT_EQ(count(4.000006, 4), 1);
  auto countNarrow = [](std::vector<double> given) {
    return compare(std::move(given), {3, 4}, {3, 4}, ElementType::BF16, 1)
        .luckyRows;
  };
  EXPECT_EQ(countNarrow({3 + 1 / 64.0, 4 - 1 / 32.0}), 0);
  EXPECT_EQ(countNarrow({3, 4 + 3 / 32.0}), 1);
}

namespace {
/// Rows of random elements with random errors, and eager mode's of twice the
/// size.
struct ManyRows {
  explicit ManyRows(int64_t depth) {
    problem.batch = problem.rows = problem.heads = 1;
    problem.queries = 200;
    problem.valueDepth = depth;
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < problem.queries * depth; ++i) {
      reference.out.push_back(normal(generator));
      reference.magnitudes.push_back(2 + std::fabs(reference.out.back()));
      errors.push_back(kError * normal(generator));
      eager.out.push_back(reference.out.back() +
                          2 * kError * normal(generator));
    }
    bounds = makeBounds(problem.queries, depth, 100 * kError, kError, 0);
    for (int64_t i = 0; i < problem.queries; ++i)
      for (int64_t e = 0; e < depth; ++e)
        bounds.alongVariance[i] +=
            std::pow(kError * reference.out[i * depth + e], 2);
  }

  /// With the kernel's errors times `factor`, its output times `scale`.
  Comparison compare(double factor, double scale) const {
    std::vector<double> given;
    for (size_t i = 0; i < errors.size(); ++i)
      given.push_back((reference.out[i] + factor * errors[i]) * scale);
    return compareOutput(
        problem,
        makeDenseView(given.data(), ElementType::F64,
                      {1, 1, problem.queries, 1, problem.valueDepth}),
        reference, eager, bounds);
  }

  static constexpr double kError = 0x1p-11;
  AttentionProblem problem;
  AttentionResult reference, eager;
  OutputBounds bounds;
  std::vector<double> errors;
};
} // namespace

// At any depth: rows that are all within what each is allowed may be too far
// off together, in their size or in one direction.
TEST(Compare, ManyRowsTogether) {
  for (int64_t depth : {1, 8, 32, 128}) {
    ManyRows rows(depth);
    Comparison right = rows.compare(1, 1);
    EXPECT_TRUE(right.passed()) << right.firstWrong;
    EXPECT_NEAR(right.medianRatio, 0.5, 0.1);
    EXPECT_NEAR(right.medianShare, 0.0067, 0.001);
    // Worse than roundings explain, if not than eager mode.
    for (double factor : {1.9, 2 * 1.9}) {
      Comparison worse = rows.compare(factor, 1);
      EXPECT_TRUE(worse.isMedianWrong) << depth;
      EXPECT_EQ(worse.medianRatio > 1, factor > 2) << depth;
      EXPECT_FALSE(worse.passed());
      EXPECT_EQ(worse.wrongRows, 0);
      EXPECT_NE(worse.firstWrong, "");
    }
    // As where weights are cut off and nothing makes up for it.
    for (double scale : {1 - 0x1p-9, 1 + 0x1p-9}) {
      Comparison biased = rows.compare(0.1, scale);
      EXPECT_TRUE(biased.isMeanWrong) << depth;
      EXPECT_EQ(biased.wrongRows, 0);
    }
    // What all rows have in common excuses it, and where no digits are left.
    rows.bounds.alongShared.assign(200, depth * 0x1p-8);
    EXPECT_FALSE(rows.compare(0.1, 1 + 0x1p-9).isMeanWrong) << depth;
    rows.bounds.alongShared.assign(200, 0);
    rows.bounds.hasDigits.assign(200, 0);
    EXPECT_FALSE(rows.compare(0.1, 1 + 0x1p-9).isMeanWrong) << depth;
    // There eager mode's errors are what there is to compare with.
    EXPECT_TRUE(rows.compare(1.9, 1).passed()) << depth;
    EXPECT_TRUE(rows.compare(6, 1).isMedianWrong) << depth;
  }
}

// As large as roundings explain is right where eager mode happens to be exact.
TEST(Compare, EagerModeIsExact) {
  ManyRows rows(32);
  rows.eager = rows.reference;
  Comparison comparison = rows.compare(1, 1);
  EXPECT_TRUE(comparison.passed()) << comparison.firstWrong;
  EXPECT_GT(comparison.medianRatio, 1000);
}

// A row of zeros must be exactly that, whatever eager mode does.
TEST(Compare, ZeroRows) {
  EXPECT_TRUE(compare({0, -0.0}, {0, 0}, {kNaN, kNaN}).passed());
  EXPECT_FALSE(compare({0, 1e-30}, {0, 0}, {kNaN, kNaN}).passed());
  EXPECT_FALSE(
      compare({0, 1e-7}, {0, 0}, {kNaN, kNaN}, ElementType::F16).passed());
}

TEST(Compare, SpecialValues) {
  EXPECT_TRUE(compare({kNaN, 1}, {kNaN, 1}, {kNaN, 1}).passed());
  EXPECT_FALSE(compare({kNaN, 1}, {1, 1}, {1, 1}).passed());
  EXPECT_FALSE(compare({1, 1}, {kNaN, 1}, {kNaN, 1}).passed());
  EXPECT_FALSE(compare({kNaN, 2}, {kNaN, 1}, {kNaN, 1}).passed());
  EXPECT_TRUE(compare({kInfinity, 1}, {kInfinity, 1}, {1, 1}).passed());
  EXPECT_FALSE(compare({-kInfinity, 1}, {kInfinity, 1}, {1, 1}).passed());
  // 1e5 is no f16.
  auto f16 = ElementType::F16;
  EXPECT_TRUE(compare({kInfinity, 1}, {1e5, 1}, {1e5, 1}, f16).passed());
  EXPECT_FALSE(compare({65504, 1}, {1e5, 1}, {1e5, 1}, f16).passed());
}

TEST(Compare, LogSumExp) {
  AttentionProblem problem;
  problem.batch = problem.rows = problem.heads = 1;
  problem.queries = 2;
  OutputBounds bounds;
  bounds.lse = {1e-6, 2e-3};
  auto check = [&](std::vector<float> given, std::vector<double> lse) {
    AttentionResult reference;
    reference.lse = std::move(lse);
    return compareLogSumExp(
               problem,
               makeDenseView(given.data(), ElementType::F32, {1, 1, 1, 2}),
               reference, bounds)
        .passed();
  };
  float none = -std::numeric_limits<float>::infinity();
  float lowest = std::numeric_limits<float>::lowest();
  EXPECT_TRUE(check({none, 2}, {-kInfinity, 2}));
  EXPECT_FALSE(check({-3e38f, 2}, {-kInfinity, 2}));
  EXPECT_TRUE(check({lowest, 2}, {-6.8e38, 2}));
  EXPECT_FALSE(check({none, 2}, {-6.8e38, 2}));
  EXPECT_TRUE(check({0.9e-6f, 2}, {0, 2}));
  EXPECT_FALSE(check({1.1e-6f, 2}, {0, 2}));
  EXPECT_TRUE(check({0, 2.0019f}, {0, 2}));
  EXPECT_FALSE(check({0, 2.0021f}, {0, 2}));
}
