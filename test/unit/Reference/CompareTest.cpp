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

/// Compares one row of two elements.
static Comparison compare(std::vector<double> given,
                          std::vector<double> reference,
                          std::vector<double> eager,
                          ElementType type = ElementType::F32) {
  AttentionProblem problem;
  problem.batch = problem.rows = problem.queries = problem.heads = 1;
  problem.valueDepth = 2;
  std::vector<uint8_t> memory(2 * sizeOf(type));
  for (int i = 0; i < 2; ++i)
    writeElement(memory.data(), type, i, given[i]);
  AttentionResult referenceResult, eagerResult;
  referenceResult.out = std::move(reference);
  eagerResult.out = std::move(eager);
  return compareOutput(problem,
                       makeDenseView(memory.data(), type, {1, 1, 1, 1, 2}),
                       referenceResult, eagerResult);
}

// Reference (3, 4), so that the norm is 5; eager is off by 1e-3.
TEST(Compare, TwiceEagerPlusF32Accuracy) {
  EXPECT_TRUE(compare({3, 4.0020}, {3, 4}, {3, 4.001}).passed());
  Comparison wrong = compare({3, 4.0021}, {3, 4}, {3, 4.001});
  EXPECT_EQ(wrong.wrongRows, 1);
  EXPECT_NEAR(wrong.maxError, 0.0021 / 5, 1e-6);
  EXPECT_NEAR(wrong.maxEagerError, 0.001 / 5, 1e-9);
  EXPECT_NE(wrong.firstWrong.find("b 0, n 0, h 0, query 0"), std::string::npos);
  EXPECT_TRUE(compare({3, 4.000004}, {3, 4}, {3, 4}).passed());
  EXPECT_FALSE(compare({3, 4.000006}, {3, 4}, {3, 4}).passed());
}

// One ulp of each element: 2^-6 at 3, 2^-5 at 4.
TEST(Compare, OneUlpOfTheOutput) {
  auto bf16 = ElementType::BF16;
  EXPECT_TRUE(
      compare({3 + 1 / 64.0, 4 - 1 / 32.0}, {3, 4}, {3, 4}, bf16).passed());
  EXPECT_FALSE(compare({3, 4 + 3 / 32.0}, {3, 4}, {3, 4}, bf16).passed());
}

// 32 rows of one element that is 0.01 and made of terms of magnitude 1; eager
// mode is off by 1e-7 except in the first row.
TEST(Compare, ShortRowsAgainstTheirTerms) {
  constexpr int rows = 32;
  AttentionProblem problem;
  problem.batch = problem.rows = problem.heads = problem.valueDepth = 1;
  problem.queries = rows;
  auto check = [&](double firstError, double usualError, double magnitude) {
    AttentionResult reference, eager;
    reference.out.assign(rows, 0.01);
    reference.magnitudes.assign(rows, magnitude);
    eager.out.assign(rows, 0.01 + 1e-7);
    eager.out[0] = 0.01;
    std::vector<float> given(rows, 0.01 + usualError);
    given[0] = 0.01 + firstError;
    View view =
        makeDenseView(given.data(), ElementType::F32, {1, 1, rows, 1, 1});
    return compareOutput(problem, view, reference, eager);
  };
  EXPECT_TRUE(check(0.9e-6, 1e-7, 1).passed());
  EXPECT_EQ(check(0.9e-6, 1e-7, 1).luckyRows, 1);
  EXPECT_EQ(check(1.1e-6, 1e-7, 1).wrongRows, 1);
  EXPECT_EQ(check(0.9e-6, 1e-7, 0).wrongRows, 1);
  EXPECT_EQ(check(0, 3e-7, 1).wrongRows, 0);
  EXPECT_FALSE(check(0, 3e-7, 1).passed());
}

namespace {
/// Rows of random elements with random errors, and eager mode's of twice the
/// size.
struct ManyRows {
  explicit ManyRows(int64_t depth) {
    problem.batch = problem.rows = problem.heads = 1;
    problem.queries = 200;
    problem.valueDepth = depth;
    problem.query.type = ElementType::BF16;
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < problem.queries * depth; ++i) {
      reference.out.push_back(normal(generator));
      reference.magnitudes.push_back(2 + std::fabs(reference.out.back()));
      errors.push_back(0x1p-9 * normal(generator));
      eager.out.push_back(reference.out.back() + 0x1p-8 * normal(generator));
    }
  }

  /// The kernel's errors times `factor`, its output times `scale`.
  Comparison compare(double factor, double scale) const {
    std::vector<double> given;
    for (size_t i = 0; i < errors.size(); ++i)
      given.push_back((reference.out[i] + factor * errors[i]) * scale);
    return compareOutput(
        problem,
        makeDenseView(given.data(), ElementType::F64,
                      {1, 1, problem.queries, 1, problem.valueDepth}),
        reference, eager);
  }

  AttentionProblem problem;
  AttentionResult reference, eager;
  std::vector<double> errors;
};
} // namespace

// At any depth: rows that are all within what each is allowed may be too far
// off together, in their size or in one direction.
TEST(Compare, ManyRowsTogether) {
  for (int64_t depth : {1, 8, 32, 128}) {
    ManyRows rows(depth);
    Comparison right = rows.compare(1, 1);
    EXPECT_FALSE(right.isMedianWrong) << depth;
    EXPECT_FALSE(right.isMeanWrong) << depth;
    EXPECT_NEAR(right.medianRatio, 0.5, 0.1);
    // 1.9 times as far off as eager mode.
    Comparison worse = rows.compare(2 * 1.9, 1);
    EXPECT_TRUE(worse.isMedianWrong) << depth;
    EXPECT_FALSE(worse.isMeanWrong) << depth;
    EXPECT_FALSE(worse.passed());
    EXPECT_NE(worse.firstWrong, "");
    // As where weights are cut off and nothing makes up for it. Few elements
    // say too little.
    for (double scale : {1 - 0x1p-9, 1 + 0x1p-9}) {
      Comparison biased = rows.compare(0.5, scale);
      EXPECT_TRUE(biased.isMeanWrong) << depth;
      EXPECT_FALSE(biased.isMedianWrong) << depth;
    }
  }
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

TEST(Compare, Statistics) {
  AttentionProblem problem;
  problem.batch = problem.rows = problem.heads = 1;
  problem.queries = 2;
  auto check = [&](std::vector<float> given, std::vector<double> reference,
                   std::vector<double> eager) {
    return compareStatistic(
               problem,
               makeDenseView(given.data(), ElementType::F32, {1, 1, 1, 2}),
               reference, eager)
        .passed();
  };
  float none = -std::numeric_limits<float>::infinity();
  float lowest = std::numeric_limits<float>::lowest();
  EXPECT_TRUE(check({none, 2}, {-kInfinity, 2}, {kNaN, 2}));
  EXPECT_FALSE(check({-3e38f, 2}, {-kInfinity, 2}, {kNaN, 2}));
  EXPECT_TRUE(check({lowest, 2}, {-6.8e38, 2}, {-6.8e38, 2}));
  EXPECT_FALSE(check({none, 2}, {-6.8e38, 2}, {-6.8e38, 2}));
  EXPECT_TRUE(check({0.9e-6f, 2}, {0, 2}, {0, 2}));
  EXPECT_FALSE(check({1.1e-6f, 2}, {0, 2}, {0, 2}));
  EXPECT_TRUE(check({1, 2.002f}, {1, 2}, {1, 2.001}));
  EXPECT_FALSE(check({1, 2.003f}, {1, 2}, {1, 2.001}));
}

/// Where eager mode happens to be right its usual error counts.
TEST(Compare, UsualErrorOfStatistics) {
  AttentionProblem problem;
  problem.batch = problem.rows = problem.heads = 1;
  problem.queries = 3;
  auto check = [&](float first) {
    float given[] = {first, 1, 1};
    return compareStatistic(
               problem, makeDenseView(given, ElementType::F32, {1, 1, 1, 3}),
               {1, 1, 1}, {1, 1.001, 1.001})
        .passed();
  };
  EXPECT_TRUE(check(1.0019f));
  EXPECT_FALSE(check(1.0021f));
}
