//===- AttentionTest.cpp - The f64 reference, by hand ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problems.h"

#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir::evoformer::reference;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
static constexpr float kLowest = std::numeric_limits<float>::lowest();
static constexpr double kTiny = 1e-14;

// Equal logits, then a bias of log 3: weights 1/4 and 3/4.
TEST(Attention, WeightsByHand) {
  OwnedProblem problem;
  setSingleQuery(problem, {2, 2}, {10, 20});
  AttentionResult result = computeAttention(problem);
  EXPECT_NEAR(result.out[0], 15, kTiny);
  EXPECT_NEAR(result.lse[0], 2 + std::log(2.0), kTiny);
  EXPECT_EQ(result.m0[0], 0);
  EXPECT_EQ(result.stats[0], result.lse[0]);

  double log3 = std::log(3.0);
  std::vector<double> bias = {0, log3};
  problem.addBias(makeDenseView(bias.data(), ElementType::F64, {1, 1, 1, 1, 2}),
                  {1, 1, 1, 1, 2});
  result = computeAttention(problem);
  EXPECT_NEAR(result.out[0], 17.5, kTiny);
  EXPECT_NEAR(result.lse[0], 2 + std::log(4.0), kTiny);
  EXPECT_EQ(result.m0[0], log3);
  EXPECT_NEAR(result.stats[0], 2 + std::log(4.0 / 3.0), kTiny);
}

TEST(Attention, ScaleAndGate) {
  OwnedProblem problem;
  setSingleQuery(problem, {1, -1}, {4, 8});
  problem.scale = std::log(3.0) / 2; // weights 3/4 and 1/4
  problem.gate = problem.dense({static_cast<float>(std::log(4.0))},
                               {1, 1, 1, 1, 1}); // sigmoid 4/5
  AttentionResult result = computeAttention(problem);
  EXPECT_NEAR(result.out[0], 0.8 * 5, 1e-7); // log 4 is rounded to f32
  problem.scale = 0;
  problem.gate.reset();
  EXPECT_NEAR(computeAttention(problem).out[0], 6, kTiny);
}

// A dropped key: its K is not read, its V is multiplied by 0.
TEST(Attention, DroppedKeys) {
  for (bool byMask : {true, false}) {
    OwnedProblem problem;
    setSingleQuery(problem, {5, kNaN, 5}, {1, 2, 3, kNaN, 5, 6}, 2);
    if (byMask)
      problem.addMask({1, 0, 1}, {1, 1, 1, 1, 3});
    else
      problem.addBias({0, -kInfinity, 0}, {1, 1, 1, 1, 3});
    AttentionResult result = computeAttention(problem);
    EXPECT_NEAR(result.out[0], 3, kTiny);
    EXPECT_TRUE(std::isnan(result.out[1]));
    EXPECT_NEAR(result.lse[0], 5 + std::log(2.0), kTiny);
  }
}

// Dropping wins over whatever the other biases hold there, and m0 ignores it.
TEST(Attention, DroppedKeyWithOtherBiases) {
  OwnedProblem problem;
  setSingleQuery(problem, {0, 0}, {7, 9});
  problem.addMask({1, 0}, {1, 1, 1, 1, 2});
  problem.addBias({-3, kInfinity}, {1, 1, 1, 1, 2});
  AttentionResult result = computeAttention(problem);
  EXPECT_NEAR(result.out[0], 7, kTiny);
  EXPECT_EQ(result.m0[0], -3);
  EXPECT_NEAR(result.lse[0], -3, kTiny);
  EXPECT_NEAR(result.stats[0], 0, kTiny);
}

TEST(Attention, NaNOfKeptKeysPropagates) {
  OwnedProblem problem;
  setSingleQuery(problem, {0, kNaN}, {7, 9});
  AttentionResult result = computeAttention(problem);
  EXPECT_TRUE(std::isnan(result.out[0]));
  EXPECT_TRUE(std::isnan(result.lse[0]));
}

TEST(Attention, NoKeyLeft) {
  OwnedProblem masked;
  setSingleQuery(masked, {1, 2}, {kNaN, 4});
  masked.addMask({0, 1}, {1, 1, 1, 1, 2});
  masked.addBias({0, -kInfinity}, {1, 1, 1, 1, 2});
  OwnedProblem empty;
  setSingleQuery(empty, {}, {});
  for (const AttentionProblem *problem :
       {static_cast<AttentionProblem *>(&masked),
        static_cast<AttentionProblem *>(&empty)}) {
    AttentionResult result = computeAttention(*problem);
    EXPECT_EQ(result.out[0], 0);
    EXPECT_EQ(result.lse[0], -kInfinity);
    EXPECT_EQ(result.stats[0], -kInfinity);
    EXPECT_EQ(result.m0[0], 0);
  }
}

// Large masks on all keys cancel without loss, alone and added to each other.
TEST(Attention, LargeMasksCancel) {
  OwnedProblem plain;
  setSingleQuery(plain, {0.125, 0.5, -1}, {1, 2, 4});
  AttentionResult expected = computeAttention(plain);
  for (float mask : {-1e4f, -1e9f, -65504.0f, -3.3895314e38f, kLowest}) {
    for (int times : {1, 2}) {
      OwnedProblem problem;
      setSingleQuery(problem, {0.125, 0.5, -1}, {1, 2, 4});
      for (int i = 0; i < times; ++i)
        problem.addBias({mask, mask, mask}, {1, 1, 1, 1, 3});
      AttentionResult result = computeAttention(problem);
      EXPECT_EQ(result.out[0], expected.out[0]);
      EXPECT_EQ(result.stats[0], expected.stats[0]);
      EXPECT_EQ(result.m0[0], static_cast<double>(mask) * times);
      EXPECT_EQ(result.lse[0], result.m0[0] + expected.lse[0]);
    }
  }
}

// A mask of -1e9 on some keys makes their weights 0.
TEST(Attention, LargeMaskOnSomeKeys) {
  OwnedProblem problem;
  setSingleQuery(problem, {0, 0, 0}, {1, 3, 100});
  problem.addBias({0, 0, -1e9f}, {1, 1, 1, 1, 3});
  AttentionResult result = computeAttention(problem);
  EXPECT_NEAR(result.out[0], 2, kTiny);
  EXPECT_EQ(result.m0[0], 0);
}

// Differences of logits beyond what f64 tells apart at the size of the mask.
TEST(Attention, LargeMaskAndLargeLogits) {
  OwnedProblem problem;
  setSingleQuery(problem, {-2000, 2000}, {1, 3});
  problem.addBias({kLowest, kLowest}, {1, 1, 1, 1, 2});
  AttentionResult result = computeAttention(problem);
  EXPECT_EQ(result.out[0], 3);
  EXPECT_EQ(result.stats[0], 2000);
}

// A logit of -inf that no bias caused is a weight of 0 as well.
TEST(Attention, InfiniteKeys) {
  OwnedProblem problem;
  setSingleQuery(problem, {-kInfinity, -kInfinity, 1}, {1, 2, 3});
  EXPECT_EQ(computeAttention(problem).out[0], 3);
}

/// The definition, element by element, without any rearrangement.
static double evaluate(const AttentionProblem &problem, int64_t b, int64_t n,
                       int64_t i, int64_t h, int64_t e) {
  long double numerator = 0, denominator = 0;
  for (int64_t j = 0; j < problem.keys; ++j) {
    long double logit = 0;
    for (int64_t d = 0; d < problem.depth; ++d)
      logit += static_cast<long double>(problem.query.at(b, n, i, h, d)) *
               problem.key.at(b, n, j, h, d);
    logit *= problem.scale;
    bool kept = true;
    for (const Bias &bias : problem.biases) {
      int64_t index[5] = {b, n, h, i, j};
      for (int dim = 0; dim < 5; ++dim)
        if (bias.broadcast[dim])
          index[dim] = 0;
      double element =
          bias.view.at(index[0], index[1], index[2], index[3], index[4]);
      if (bias.view.type == ElementType::I1)
        kept &= element != 0;
      else
        logit += element;
    }
    if (!kept)
      continue;
    long double weight = std::exp(logit);
    numerator += weight * problem.value.at(b, n, j, h, e);
    denominator += weight;
  }
  return static_cast<double>(numerator / denominator /
                             (1 + std::exp(-static_cast<long double>(
                                      problem.gate->at(b, n, i, h, e)))));
}

static void setRandom(OwnedProblem &problem) {
  std::mt19937 generator(1);
  problem.batch = 2;
  problem.rows = 3;
  problem.queries = 4;
  problem.keys = 7;
  problem.heads = 5;
  problem.depth = 6;
  problem.valueDepth = 2;
  problem.scale = 0.3;
  auto random = [&](std::vector<int64_t> sizes, std::vector<int> order) {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    return makeDenseView(problem.own(randomFloats(generator, count)),
                         ElementType::F32, sizes, order);
  };
  problem.query = random({2, 3, 4, 5, 6}, {0, 1, 3, 2, 4});
  problem.key = random({2, 3, 7, 5, 6}, {4, 2, 3, 1, 0});
  problem.value = random({2, 3, 7, 5, 2}, {});
  problem.gate = random({2, 3, 4, 5, 2}, {1, 0, 2, 3, 4});
  for (const std::vector<int64_t> &sizes :
       {std::vector<int64_t>{2, 3, 1, 1, 7}, {2, 1, 5, 4, 7}, {1, 1, 5, 1, 1}})
    problem.addBias(random(sizes, {4, 3, 2, 1, 0}), sizes);
  std::vector<uint8_t> mask(3 * 7);
  for (size_t i = 0; i < mask.size(); ++i)
    mask[i] = i % 5 != 2;
  problem.addMask(std::move(mask), {1, 3, 1, 1, 7});
}

// Every size differs, every operand has its own order and broadcasts.
TEST(Attention, AgreesWithTheDefinition) {
  OwnedProblem problem;
  setRandom(problem);
  AttentionResult result = computeAttention(problem, /*threads=*/3);
  size_t index = 0;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t n = 0; n < 3; ++n)
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t h = 0; h < 5; ++h)
          for (int64_t e = 0; e < 2; ++e)
            EXPECT_NEAR(result.out[index++], evaluate(problem, b, n, i, h, e),
                        1e-13);
  EXPECT_EQ(index, result.out.size());
}

// A part of a problem gives that part of the result.
TEST(Attention, Slices) {
  OwnedProblem problem;
  setRandom(problem);
  AttentionResult whole = computeAttention(problem);
  AttentionProblem part = slice(problem, Dimension::Batch, 1, 1);
  part = slice(part, Dimension::Row, 1, 2);
  part = slice(part, Dimension::Head, 2, 3);
  part = slice(part, Dimension::Query, 1, 2);
  AttentionResult result = computeAttention(part);
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t h = 0; h < 3; ++h)
      for (int64_t i = 0; i < 2; ++i) {
        EXPECT_EQ(result.lse[(n * 3 + h) * 2 + i],
                  whole.lse[((3 + n + 1) * 5 + h + 2) * 4 + i + 1]);
        EXPECT_EQ(result.out[((n * 2 + i) * 3 + h) * 2 + 1],
                  whole.out[(((3 + n + 1) * 4 + i + 1) * 5 + h + 2) * 2 + 1]);
      }
}

// Nothing to do is no error.
TEST(Attention, EmptySizes) {
  OwnedProblem problem;
  setSingleQuery(problem, {1}, {1});
  problem.heads = 0;
  EXPECT_TRUE(computeAttention(problem).out.empty());
  EXPECT_TRUE(
      computeEagerAttention(problem, ElementType::BF16, ElementType::BF16)
          .lse.empty());
}
