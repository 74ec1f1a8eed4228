//===- EagerTest.cpp - The emulation of eager mode ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Compare.h"
#include "Problems.h"

#include "gtest/gtest.h"
#include <cmath>

using namespace mlir::evoformer::reference;

// bf16 has 8 significant bits: the logits 1 + 2^-8 and 1 are the same, so that
// the weights are; in f32 they are not.
TEST(Eager, RoundsLogits) {
  OwnedProblem problem;
  setSingleQuery(problem, {1 + 1.0f / 256, 1}, {0, 1});
  auto compute = [&](ElementType type) {
    return computeEagerAttention(problem, type, ElementType::F32).out[0];
  };
  EXPECT_EQ(compute(ElementType::BF16), 0.5);
  EXPECT_NEAR(compute(ElementType::F32), 1 / (1 + std::exp(1 / 256.0)), 1e-7);
}

// Weights 1/3 are rounded to bf16 (0x3eab), then multiplied by 3.
TEST(Eager, RoundsWeights) {
  OwnedProblem problem;
  setSingleQuery(problem, {0, 0, 0}, {3, 0, 0});
  double third = 171.0 / 512;
  EXPECT_EQ(roundTo(1 / 3.0, ElementType::BF16), third);
  AttentionResult eager =
      computeEagerAttention(problem, ElementType::BF16, ElementType::F32);
  EXPECT_EQ(eager.out[0], roundTo(3 * third, ElementType::BF16));
  EXPECT_NEAR(eager.lse[0], std::log(3.0), 1e-6);
}

// An f32 bias promotes the logits, an f32 gate the output.
TEST(Eager, Promotes) {
  OwnedProblem problem;
  setSingleQuery(problem, {1, 1}, {0, 1});
  problem.addBias({1.0f / 256, 0}, {1, 1, 1, 1, 2});
  AttentionResult eager =
      computeEagerAttention(problem, ElementType::BF16, ElementType::F32);
  EXPECT_EQ(eager.out[0],
            roundTo(1 / (1 + std::exp(1 / 256.0)), ElementType::BF16));
  problem.gate = problem.dense({1}, {1, 1, 1, 1, 1});
  double gated =
      computeEagerAttention(problem, ElementType::BF16, ElementType::F32)
          .out[0];
  EXPECT_NEAR(gated, eager.out[0] / (1 + std::exp(-1.0)), 1e-7);
}

// Its errors are those of its type: small, and never none.
TEST(Eager, ErrorsHaveTheSizeOfTheType) {
  std::mt19937 generator(2);
  OwnedProblem problem;
  problem.batch = 1;
  problem.rows = 2;
  problem.queries = 20;
  problem.keys = 150;
  problem.heads = 2;
  problem.depth = 16;
  problem.valueDepth = 8;
  problem.scale = 0.25;
  problem.query = problem.dense(randomFloats(generator, 2 * 20 * 2 * 16),
                                {1, 2, 20, 2, 16});
  problem.key = problem.dense(randomFloats(generator, 2 * 150 * 2 * 16),
                              {1, 2, 150, 2, 16});
  problem.value = problem.dense(randomFloats(generator, 2 * 150 * 2 * 8),
                                {1, 2, 150, 2, 8});
  problem.addBias(randomFloats(generator, 2 * 20 * 150), {1, 1, 2, 20, 150});
  AttentionResult reference = computeAttention(problem);
  struct {
    ElementType type;
    double ulp;
  } cases[] = {{ElementType::BF16, 1.0 / 128},
               {ElementType::F16, 1.0 / 1024},
               {ElementType::F32, std::ldexp(1.0, -23)}};
  for (auto [type, ulp] : cases) {
    AttentionResult eager =
        computeEagerAttention(problem, type, ElementType::F32);
    std::vector<float> output(eager.out.begin(), eager.out.end());
    Comparison comparison = compareOutput(
        problem,
        makeDenseView(output.data(), ElementType::F32, {1, 2, 20, 2, 8}),
        reference, eager, boundOutput(problem, ElementType::F32));
    EXPECT_EQ(comparison.luckyRows, 0);
    // In 16 bits it rounds more than the roundings of f32 explain.
    EXPECT_EQ(comparison.passed(), type == ElementType::F32);
    EXPECT_EQ(comparison.rows, 80);
    EXPECT_GT(comparison.maxError, ulp / 8);
    EXPECT_LT(comparison.maxError, ulp * 8);
  }
}
