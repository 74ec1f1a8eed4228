//===- AttentionWeightsTest.cpp - Weights in f64 --------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/AttentionWeights.h"
#include "Problems.h"

#include "gtest/gtest.h"
#include <cmath>

using namespace mlir::evoformer::reference;

/// Dense weights in f32.
static View makeView(OwnedProblem &problem, const DenseArray &weights) {
  std::vector<float> values(weights.elements.begin(), weights.elements.end());
  return problem.dense(values, {weights.sizes.begin(), weights.sizes.end()});
}

TEST(AttentionWeights, AreThoseOfTheSoftmax) {
  OwnedProblem problem;
  setSingleQuery(problem, {0, std::log(2.0f), 5, std::log(5.0f)}, {0, 0, 0, 0});
  problem.addMask({1, 1, 0, 1}, {1, 1, 1, 1, 4});
  DenseArray weights = computeWeights(problem, 1);
  ASSERT_EQ(weights.elements.size(), 4u);
  EXPECT_NEAR(weights.elements[0], 1 / 8.0, 1e-7);
  EXPECT_NEAR(weights.elements[1], 2 / 8.0, 1e-7);
  EXPECT_EQ(weights.elements[2], 0);
  EXPECT_NEAR(weights.elements[3], 5 / 8.0, 1e-7);
}

TEST(AttentionWeights, OfNoKeyAreZeros) {
  OwnedProblem problem;
  setSingleQuery(problem, {1, 2}, {0, 0});
  problem.addMask({0, 0}, {1, 1, 1, 1, 2});
  for (double weight : computeWeights(problem, 1).elements)
    EXPECT_EQ(weight, 0);
}

TEST(AttentionWeights, SayWhatIsDropped) {
  OwnedProblem problem;
  std::vector<float> keys(64, 0);
  setSingleQuery(problem, keys, keys);
  problem.dropout.emplace();
  problem.dropout->probability = 0.5;
  DenseArray weights = computeWeights(problem, 1);
  int64_t dropped = 0;
  for (int64_t j = 0; j < 64; ++j) {
    bool isDropped = problem.getDropFactor(0, 0, 0, 0, j) == 0;
    dropped += isDropped;
    EXPECT_EQ(weights.elements[j], (isDropped ? -1 : 1) / 64.0);
  }
  EXPECT_GT(dropped, 10);
  EXPECT_LT(dropped, 54);
  GradientErrors errors = boundWeights(problem, 1);
  EXPECT_TRUE(
      compareWeights(makeView(problem, weights), weights, errors).passed());
  // One sign, and one weight that is off by a thousandth.
  DenseArray wrong = weights;
  wrong.elements[7] = -wrong.elements[7];
  EXPECT_FALSE(
      compareWeights(makeView(problem, wrong), weights, errors).passed());
  wrong = weights;
  wrong.elements[9] *= 1.001;
  EXPECT_FALSE(
      compareWeights(makeView(problem, wrong), weights, errors).passed());
}

TEST(AttentionWeights, OfLogitsAreDivided) {
  OwnedProblem problem;
  setSingleQuery(problem, {3, -1, 4}, {0, 0, 0});
  problem.weights.emplace();
  problem.weights->least = 1;
  DenseArray weights = computeWeights(problem, 1);
  EXPECT_EQ(weights.elements[0], 3 / 8.0);
  EXPECT_EQ(weights.elements[1], -1 / 8.0);
  EXPECT_EQ(weights.elements[2], 4 / 8.0);
}
