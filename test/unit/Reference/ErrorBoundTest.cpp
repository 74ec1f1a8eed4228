//===- ErrorBoundTest.cpp - What roundings make of outputs ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm step by step, with its roundings and with defects, within what
// its declared roundings explain.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Compare.h"
#include "Problems.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::evoformer::reference;

/// The upper 19 bits, what a matrix unit reads of tf32.
static float cutToTF32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits &= 0xffffe000;
  std::memcpy(&x, &bits, sizeof(bits));
  return x;
}

static float roundToTF32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits += 0x1000;
  std::memcpy(&x, &bits, sizeof(bits));
  return cutToTF32(x);
}

/// Of tf32, `step` products at once, the sum cut off to f32.
static float addCutOff(float sum, const std::vector<float> &a,
                       const std::vector<float> &b) {
  constexpr size_t step = 8;
  for (size_t first = 0; first < a.size(); first += step) {
    double exact = sum;
    for (size_t i = first; i < std::min(a.size(), first + step); ++i)
      exact += static_cast<double>(cutToTF32(a[i])) * cutToTF32(b[i]);
    sum = static_cast<float>(exact);
    if (std::fabs(sum) > std::fabs(exact))
      sum = std::nextafter(sum, 0.0f);
  }
  return sum;
}

namespace {
/// How products are summed: by multiply-adds, by three products of tf32, or by
/// those of the first terms alone.
enum class Products { MultiplyAdd, Split, FirstTerms };

/// How weights become the values' type.
enum class Narrowing { Nearest, CutOff, Uncompensated };

struct RoundedProblem : OwnedProblem {
  /// Numbers of `type`, in memory as f32 of that precision.
  RoundedProblem(ElementType type, int64_t depth, int64_t keyCount = 100,
                 double scores = 1, int64_t queryCount = 60)
      : type(type) {
    batch = 1, rows = 2, queries = queryCount, keys = keyCount, heads = 2;
    this->depth = 16, valueDepth = depth;
    scale = static_cast<float>(scores / 4);
    query = random({1, 2, queries, 2, 16});
    key = random({1, 2, keys, 2, 16});
    value = random({1, 2, keys, 2, depth});
    View bias = random({1, 1, 2, queries, keys});
    addBias(bias, {1, 1, 2, queries, keys});
    reference = computeAttention(*this);
    eager = computeEagerAttention(*this, type, ElementType::F32);
  }

  View random(std::vector<int64_t> sizes) {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    std::vector<float> values = randomFloats(generator, count);
    storage.emplace_back(count * sizeOf(type));
    for (int64_t i = 0; i < count; ++i)
      writeElement(storage.back().data(), type, i, values[i]);
    return makeDenseView(storage.back().data(), type, sizes);
  }

  float narrow(float weight, Narrowing mode) const {
    if (type == ElementType::F32)
      return weight;
    if (mode == Narrowing::Nearest)
      return static_cast<float>(roundTo(weight, type));
    uint32_t bits;
    std::memcpy(&bits, &weight, sizeof(bits));
    bits &= 0xffff0000;
    std::memcpy(&weight, &bits, sizeof(bits));
    return weight;
  }

  float multiply(const std::vector<float> &a,
                 const std::vector<float> &b) const {
    float sum = 0;
    if (products == Products::MultiplyAdd) {
      for (size_t i = 0; i < a.size(); ++i)
        sum = std::fma(a[i], b[i], sum);
      return sum;
    }
    std::vector<float> a0, a1, b0, b1;
    for (size_t i = 0; i < a.size(); ++i) {
      a0.push_back(roundToTF32(a[i]));
      b0.push_back(roundToTF32(b[i]));
      a1.push_back(a[i] - a0.back());
      b1.push_back(b[i] - b0.back());
    }
    if (products == Products::Split)
      sum = addCutOff(0, a0, b1) + addCutOff(0, a1, b0);
    return addCutOff(sum, a0, b0);
  }

  /// The kernel's steps; `lostBias`: without the bias.
  std::vector<float> run(Narrowing mode, bool lostBias = false) const {
    std::vector<float> out;
    for (int64_t n = 0; n < rows; ++n)
      for (int64_t i = 0; i < queries; ++i)
        for (int64_t h = 0; h < heads; ++h)
          runRow(n, h, i, mode, lostBias, out);
    return out;
  }

  void runRow(int64_t n, int64_t h, int64_t i, Narrowing mode, bool lostBias,
              std::vector<float> &out) const {
    constexpr float log2e = 1.44269504f;
    std::vector<float> logits(keys), weights;
    float maximum = -std::numeric_limits<float>::infinity(), total = 0;
    float largest = maximum, ofPart = 0;
    // Sums of f32 are of parts, one key block.
    int64_t part = type == ElementType::F32 ? 32 : keys;
    for (int64_t j = 0; j < keys; ++j) {
      std::vector<float> ofQuery, ofKey;
      for (int64_t d = 0; d < depth; ++d) {
        ofQuery.push_back(static_cast<float>(query.at(0, n, i, h, d)));
        ofKey.push_back(static_cast<float>(key.at(0, n, j, h, d)));
      }
      logits[j] = multiply(ofQuery, ofKey) * static_cast<float>(scale);
      if (!lostBias)
        logits[j] += static_cast<float>(biases[0].view.at(0, 0, h, i, j));
      // 16-bit types: of the first keys.
      if (j < 16 || type == ElementType::F32)
        maximum = std::max(maximum, logits[j]);
      largest = std::max(largest, logits[j]);
    }
    // What outgrows f16 is done again, relative to the largest.
    if (largest - maximum > 6)
      maximum = largest;
    float raised = mode == Narrowing::CutOff
                       ? static_cast<float>(1 + 0x1p-9 * 1.4426950408889634)
                       : 1;
    for (int64_t j = 0; j < keys; ++j) {
      float weight = std::exp2((logits[j] - maximum) * log2e) * raised;
      weights.push_back(narrow(weight, mode));
      ofPart += weight;
      if ((j + 1) % part != 0 && j + 1 < keys)
        continue;
      total += ofPart;
      ofPart = 0;
    }
    for (int64_t e = 0; e < valueDepth; ++e) {
      float sum = 0;
      for (int64_t first = 0; first < keys; first += part) {
        std::vector<float> column, some;
        for (int64_t j = first; j < std::min(keys, first + part); ++j) {
          column.push_back(static_cast<float>(value.at(0, n, j, h, e)));
          some.push_back(weights[j]);
        }
        sum += multiply(some, column);
      }
      out.push_back(sum / total * raised);
    }
  }

  Comparison compare(const std::vector<float> &out) const {
    return compareOutput(*this,
                         makeDenseView(out.data(), ElementType::F32,
                                       {1, rows, queries, heads, valueDepth}),
                         reference, eager,
                         boundOutput(*this, ElementType::F32, 0, arithmetic));
  }

  ElementType type;
  Products products = Products::MultiplyAdd;
  Arithmetic arithmetic;
  std::mt19937 generator{11};
  std::deque<std::vector<uint8_t>> storage;
  AttentionResult reference, eager;
};
} // namespace

// The algorithm's own roundings are explained, and the bounds are not so wide
// that they explain anything.
TEST(ErrorBound, ExplainsTheAlgorithm) {
  for (ElementType type :
       {ElementType::BF16, ElementType::F16, ElementType::F32})
    for (int64_t keys : {2, 17, 100})
      for (double scores : {1.0, 4.0}) {
        RoundedProblem problem(type, 24, keys, scores);
        Comparison comparison = problem.compare(
            problem.run(type == ElementType::BF16 ? Narrowing::CutOff
                                                  : Narrowing::Nearest));
        EXPECT_TRUE(comparison.passed()) << comparison.firstWrong;
        EXPECT_GE(comparison.medianShare, 0.05);
        // The largest weight is rounded as well where it is not among the first
        // keys.
        EXPECT_LE(comparison.luckyRows * 100, comparison.rows);
      }
}

// So are those of f32 made of three products of tf32, where sums are cut off;
// that first terms alone have fewer digits is found.
TEST(ErrorBound, ExplainsSplitProducts) {
  for (int64_t keys : {2, 17, 100}) {
    RoundedProblem problem(ElementType::F32, 24, keys);
    problem.arithmetic.splitsProducts = true;
    problem.products = Products::Split;
    Comparison split = problem.compare(problem.run(Narrowing::Nearest));
    EXPECT_TRUE(split.passed()) << split.firstWrong;
    EXPECT_GE(split.medianShare, 0.05);
    problem.products = Products::FirstTerms;
    EXPECT_FALSE(problem.compare(problem.run(Narrowing::Nearest)).passed());
  }
}

TEST(ErrorBound, FindsCutOffWeights) {
  for (int64_t depth : {24, 64}) {
    RoundedProblem problem(ElementType::BF16, depth);
    EXPECT_TRUE(problem.compare(problem.run(Narrowing::Nearest)).passed());
    EXPECT_TRUE(
        problem.compare(problem.run(Narrowing::Uncompensated)).isMeanWrong);
  }
}

TEST(ErrorBound, FindsScaledOutputs) {
  for (ElementType type :
       {ElementType::BF16, ElementType::F16, ElementType::F32}) {
    RoundedProblem problem(type, 32);
    std::vector<float> out = problem.run(Narrowing::Nearest);
    for (float &element : out)
      element *= 1 + 0x1p-9f;
    EXPECT_TRUE(problem.compare(out).isMeanWrong);
  }
}

TEST(ErrorBound, FindsALostBias) {
  RoundedProblem problem(ElementType::BF16, 32);
  Comparison comparison =
      problem.compare(problem.run(Narrowing::Nearest, /*lostBias=*/true));
  EXPECT_EQ(comparison.wrongRows, comparison.rows);
}

// All errors 1.9 times as large, which the promise made to users hides.
TEST(ErrorBound, FindsLargeErrors) {
  RoundedProblem problem(ElementType::BF16, 32, 100, 1, 150);
  std::vector<float> out = problem.run(Narrowing::Nearest);
  for (size_t at = 0; at < out.size(); ++at) {
    auto exact = static_cast<float>(problem.reference.out[at]);
    out[at] = exact + 1.9f * (out[at] - exact);
  }
  Comparison comparison = problem.compare(out);
  EXPECT_TRUE(comparison.isMedianWrong);
  EXPECT_LE(comparison.luckyRows * 100, comparison.rows);
}

TEST(ErrorBound, FindsOneElement) {
  RoundedProblem problem(ElementType::F16, 32);
  std::vector<float> out = problem.run(Narrowing::Nearest);
  out[77] *= 1.01f;
  EXPECT_EQ(problem.compare(out).wrongRows, 1);
}

// A mask of -1e9 on all keys of a query takes the digits of their differences:
// any mean of the values is right, but nothing beyond them.
TEST(ErrorBound, LostDigits) {
  OwnedProblem problem;
  setSingleQuery(problem, {1, 2, 3}, {0, 1, 2});
  problem.addBias({-1e9f, -1e9f, -1e9f}, {1, 1, 1, 1, 3});
  // Only a bias of the query is not relative to its maximum.
  problem.biases[0].broadcast[3] = false;
  OutputBounds bounds = boundOutput(problem, ElementType::F32);
  EXPECT_FALSE(bounds.hasDigits[0]);
  double exact = computeAttention(problem).out[0];
  EXPECT_NEAR(bounds.most[0], exact, 1e-5);
}

// A subnormal value may count as 0 where the machine flushes them, and no
// other.
TEST(ErrorBound, FlushedOperands) {
  Arithmetic flushes;
  flushes.flushesSubnormals = true;
  for (auto [value, isFlushed] :
       {std::pair(0x1.8p-15f, true), std::pair(0x1p-14f, false)}) {
    OwnedProblem problem;
    setSingleQuery(problem, {0}, {value});
    problem.query.type = ElementType::F16;
    OutputBounds bounds = boundOutput(problem, ElementType::F32);
    EXPECT_LT(bounds.most[0], value / 1024);
    double more = boundOutput(problem, ElementType::F32, 0, flushes).most[0] -
                  bounds.most[0];
    EXPECT_NEAR(more, isFlushed ? value : 0, value / 1024);
  }
}

// Sums of f32 near 1e4 are multiples of 2^-10: what they lose of a bias that
// all keys have is the same for each. Weights do not see it, but the logarithm
// of their sum does.
TEST(ErrorBound, StatisticsOfEqualTerms) {
  constexpr int64_t queries = 200, keys = 90;
  std::mt19937 generator(5);
  std::vector<float> query(queries, 1), first, second, value(keys, 1);
  std::vector<float> key = randomFloats(generator, keys);
  for (float x : randomFloats(generator, queries * keys))
    first.push_back(1e4F + x);
  second = randomFloats(generator, queries);
  OwnedProblem problem;
  problem.batch = problem.rows = problem.heads = 1;
  problem.queries = queries, problem.keys = keys;
  problem.depth = problem.valueDepth = 1;
  problem.query = problem.dense(query, {1, 1, queries, 1, 1});
  problem.key = problem.dense(key, {1, 1, keys, 1, 1});
  problem.value = problem.dense(value, {1, 1, keys, 1, 1});
  problem.addBias(first, {1, 1, 1, queries, keys});
  problem.addBias(second, {1, 1, 1, queries, 1});
  AttentionResult reference = computeAttention(problem);
  OutputBounds bounds = boundOutput(problem, ElementType::F32, 0, Arithmetic());
  double largest = 0;
  for (int64_t i = 0; i < queries; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < keys; ++j) {
      float logit = (key[j] + first[i * keys + j]) + second[i];
      sum += std::exp(static_cast<double>(logit) - 1e4);
    }
    double error = std::fabs(1e4 + std::log(sum) - reference.stats[i]);
    EXPECT_LE(error, bounds.stats[i]) << "query " << i;
    // No more than the sums of two biases are rounded by.
    EXPECT_LE(bounds.stats[i], 2.5 * 0x1p-11);
    largest = std::max(largest, error);
  }
  EXPECT_GE(largest, 0x1p-12);
}

TEST(ErrorBound, NoKeyLeft) {
  OwnedProblem problem;
  setSingleQuery(problem, {1, 2}, {3, 4});
  problem.addMask({0, 0}, {1, 1, 1, 1, 2});
  EXPECT_EQ(boundOutput(problem, ElementType::F32).most[0], 0);
}
