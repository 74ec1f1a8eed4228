//===- GradientsTest.cpp - Gradients against finite differences -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Gradients.h"
#include "Problems.h"

#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir::evoformer::reference;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

namespace {
/// A problem in f64, so that finite differences see small steps.
struct ExactProblem : AttentionProblem {
  double *own(std::vector<double> values) {
    arrays.push_back(std::move(values));
    return arrays.back().data();
  }
  double *random(std::vector<int64_t> sizes, View &view) {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    std::normal_distribution<double> normal;
    std::vector<double> values(count);
    for (double &value : values)
      value = normal(generator);
    double *data = own(std::move(values));
    view = makeDenseView(data, ElementType::F64, sizes);
    return data;
  }
  double *addRandomBias(std::vector<int64_t> sizes) {
    Bias bias;
    double *data = random(sizes, bias.view);
    for (int dim = 0; dim < 5; ++dim)
      bias.broadcast[dim] = sizes[dim] == 1;
    biases.push_back(bias);
    return data;
  }

  std::mt19937 generator{3};
  std::deque<std::vector<double>> arrays;
  View outputGradient;
  double *queryData, *keyData, *valueData, *gateData = nullptr;

  explicit ExactProblem(bool hasGate) {
    batch = 2, rows = 3, queries = 4, keys = 5, heads = 2;
    depth = 3, valueDepth = 2;
    scale = 0.7;
    queryData = random({2, 3, 4, 2, 3}, query);
    keyData = random({2, 3, 5, 2, 3}, key);
    valueData = random({2, 3, 5, 2, 2}, value);
    random({2, 3, 4, 2, 2}, outputGradient);
    if (hasGate) {
      gate.emplace();
      gateData = random({2, 3, 4, 2, 2}, *gate);
    }
  }
  ExactProblem(const ExactProblem &) = delete;

  double loss() const {
    AttentionResult result = computeAttention(*this, 1);
    double sum = 0;
    size_t at = 0;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t n = 0; n < rows; ++n)
        for (int64_t i = 0; i < queries; ++i)
          for (int64_t h = 0; h < heads; ++h)
            for (int64_t e = 0; e < valueDepth; ++e)
              sum += result.out[at++] * outputGradient.at(b, n, i, h, e);
    return sum;
  }

  /// Central differences of every element of `data`.
  void expectGradient(double *data, const DenseArray &gradient) const {
    constexpr double step = 1e-5;
    ASSERT_FALSE(gradient.elements.empty());
    for (size_t at = 0; at < gradient.elements.size(); ++at) {
      double before = data[at];
      data[at] = before + step;
      double above = loss();
      data[at] = before - step;
      double below = loss();
      data[at] = before;
      EXPECT_NEAR(gradient.elements[at], (above - below) / (2 * step), 1e-8);
    }
  }
};
} // namespace

TEST(Gradients, FiniteDifferencesOfInputs) {
  for (bool hasGate : {false, true}) {
    ExactProblem problem(hasGate);
    problem.addRandomBias({2, 3, 1, 1, 5});
    AttentionGradients gradients =
        computeGradients(problem, problem.outputGradient);
    problem.expectGradient(problem.queryData, gradients.query);
    problem.expectGradient(problem.keyData, gradients.key);
    problem.expectGradient(problem.valueData, gradients.value);
    if (hasGate)
      problem.expectGradient(problem.gateData, gradients.gate);
    else
      EXPECT_TRUE(gradients.gate.elements.empty());
  }
}

// Every subset of the dimensions broadcasts.
TEST(Gradients, FiniteDifferencesOfBiases) {
  const int64_t full[] = {2, 3, 2, 4, 5};
  for (unsigned mask = 0; mask < 32; ++mask) {
    ExactProblem problem(/*hasGate=*/true);
    std::vector<int64_t> sizes;
    for (int dim = 0; dim < 5; ++dim)
      sizes.push_back((mask >> dim) & 1 ? 1 : full[dim]);
    double *data = problem.addRandomBias(sizes);
    AttentionGradients gradients =
        computeGradients(problem, problem.outputGradient, 2);
    problem.expectGradient(data, gradients.biases[0]);
  }
}

static AttentionGradients getGradients(const AttentionProblem &problem,
                                       View outputGradient, bool eager = false,
                                       ElementType type = ElementType::BF16) {
  return eager ? computeEagerGradients(problem, outputGradient, type)
               : computeGradients(problem, outputGradient);
}

// Weights 1/2 and 1/2, gradient 1: dV = 1/2, dS = 1/2 (v - 3/2).
TEST(Gradients, ByHand) {
  for (bool eager : {false, true}) {
    OwnedProblem problem;
    setSingleQuery(problem, {2, 2}, {1, 2});
    problem.addBias({0, 0}, {1, 1, 1, 1, 2});
    AttentionGradients gradients =
        getGradients(problem, problem.dense({1}, {1, 1, 1, 1, 1}), eager);
    EXPECT_EQ(gradients.value.elements, (std::vector<double>{0.5, 0.5}));
    EXPECT_EQ(gradients.biases[0].elements, (std::vector<double>{-0.25, 0.25}));
    EXPECT_EQ(gradients.key.elements, (std::vector<double>{-0.25, 0.25}));
    EXPECT_EQ(gradients.query.elements, (std::vector<double>{0}));
  }
}

TEST(Gradients, NoKeyLeft) {
  OwnedProblem problem;
  setSingleQuery(problem, {1, kNaN}, {kNaN, kInfinity});
  problem.addMask({0, 1}, {1, 1, 1, 1, 2});
  problem.addBias({0, -kInfinity}, {1, 1, 1, 1, 2});
  problem.gate = problem.dense({1}, {1, 1, 1, 1, 1});
  AttentionGradients gradients =
      getGradients(problem, problem.dense({1}, {1, 1, 1, 1, 1}));
  EXPECT_TRUE(gradients.biases[0].elements.empty());
  for (const DenseArray *array :
       {&gradients.query, &gradients.key, &gradients.value, &gradients.gate,
        &gradients.biases[1]})
    for (double element : array->elements)
      EXPECT_EQ(element, 0);
}

// A key that is dropped gets no gradient, whatever it holds.
TEST(Gradients, DroppedKeys) {
  OwnedProblem problem;
  setSingleQuery(problem, {2, kNaN, 2}, {1, 7, 2});
  problem.addMask({1, 0, 1}, {1, 1, 1, 1, 3});
  for (bool eager : {false, true}) {
    AttentionGradients gradients =
        getGradients(problem, problem.dense({1}, {1, 1, 1, 1, 1}), eager);
    EXPECT_EQ(gradients.value.elements, (std::vector<double>{0.5, 0, 0.5}));
    EXPECT_EQ(gradients.key.elements, (std::vector<double>{-0.25, 0, 0.25}));
  }
}

// Where the gate is closed or open in f32 its gradient is small, not NaN.
TEST(Gradients, SaturatedGate) {
  OwnedProblem problem;
  setSingleQuery(problem, {0}, {3, 3}, 2);
  problem.gate = problem.dense({-200, 40}, {1, 1, 1, 1, 2});
  AttentionGradients gradients =
      getGradients(problem, problem.dense({1, 1}, {1, 1, 1, 1, 2}));
  EXPECT_NEAR(gradients.gate.elements[0], 3 * std::exp(-200.0), 1e-95);
  EXPECT_NEAR(gradients.gate.elements[1], 3 * std::exp(-40.0), 1e-25);
}

// The errors of eager mode are those of its type, and the comparison reports
// them.
TEST(Gradients, EagerErrorsHaveTheSizeOfTheType) {
  std::mt19937 generator(5);
  OwnedProblem problem;
  problem.batch = 1, problem.rows = 3, problem.queries = 20;
  problem.keys = 50, problem.heads = 2, problem.depth = 16;
  problem.valueDepth = 8;
  problem.scale = 0.25;
  auto random = [&](std::vector<int64_t> sizes) {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    return problem.dense(randomFloats(generator, count), sizes);
  };
  problem.query = random({1, 3, 20, 2, 16});
  problem.key = random({1, 3, 50, 2, 16});
  problem.value = random({1, 3, 50, 2, 8});
  problem.gate = random({1, 3, 20, 2, 8});
  View outputGradient = random({1, 3, 20, 2, 8});
  problem.addBias(random({1, 1, 2, 20, 50}), {1, 1, 2, 20, 50});
  AttentionGradients exact = getGradients(problem, outputGradient);
  std::vector<double> out = computeAttention(problem).out;
  View output = problem.dense({out.begin(), out.end()}, {1, 3, 20, 2, 8});
  GradientBounds bounds = boundGradients(problem, outputGradient, output);
  struct {
    ElementType type;
    double ulp;
  } cases[] = {{ElementType::F16, 1.0 / 1024},
               {ElementType::F32, std::ldexp(1.0, -23)}};
  for (const auto &entry : cases) {
    ElementType type = entry.type;
    double ulp = entry.ulp;
    AttentionGradients eager =
        computeEagerGradients(problem, outputGradient, type);
    auto check = [&](const DenseArray &reference, const DenseArray &emulated,
                     const GradientErrors &errors) {
      std::vector<float> given(reference.elements.begin(),
                               reference.elements.end());
      View view = makeDenseView(
          given.data(), ElementType::F32,
          std::vector<int64_t>(reference.sizes.begin(), reference.sizes.end()));
      Comparison comparison =
          compareGradient(view, reference, emulated, reference, errors);
      EXPECT_TRUE(comparison.passed()) << comparison.firstWrong;
      EXPECT_GT(comparison.maxEagerError, ulp / 8);
      EXPECT_LT(comparison.maxEagerError, ulp * 64);
      EXPECT_EQ(comparison.luckyRows, 0);
      // A wrong element is found.
      given[given.size() / 2] += 0.5f;
      Comparison wrong =
          compareGradient(view, reference, emulated, reference, errors);
      EXPECT_EQ(wrong.wrongRows, 1);
      EXPECT_EQ(wrong.luckyRows, 1);
    };
    check(exact.query, eager.query, bounds.query);
    check(exact.key, eager.key, bounds.key);
    check(exact.value, eager.value, bounds.value);
    check(exact.gate, eager.gate, bounds.gate);
    check(exact.biases[0], eager.biases[0], bounds.biases[0]);
  }
}

// The op's definition takes the output as it was rounded: 1/3 in bf16 shifts
// delta, and with it every gradient of a logit.
TEST(Gradients, RoundedOutput) {
  OwnedProblem problem;
  setSingleQuery(problem, {0, 0, 0}, {1, 0, 0});
  problem.addBias({0, 0, 0}, {1, 1, 1, 1, 3});
  View one = problem.dense({1}, {1, 1, 1, 1, 1});
  double third = roundTo(1 / 3.0, ElementType::BF16);
  View output = problem.dense({static_cast<float>(third)}, {1, 1, 1, 1, 1});
  AttentionGradients gradients = computeGradients(problem, one, 1, &output);
  EXPECT_DOUBLE_EQ(gradients.biases[0].elements[0], (1 - third) / 3);
  EXPECT_DOUBLE_EQ(gradients.biases[0].elements[1], -third / 3);
  EXPECT_DOUBLE_EQ(gradients.biases[0].magnitudes[0], (1 + third) / 3);
  EXPECT_DOUBLE_EQ(gradients.query.elements[0], 0);
}
