//===- Weights.cpp - The softmax of one query in f64 ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir::evoformer::reference;

void HeadWeights::multiplyKeys(int64_t i) {
  products.assign(problem.keys, 0.0);
  for (int64_t d = 0; d < problem.depth; ++d) {
    double q = inputs.query[i * problem.depth + d] * problem.scale;
    const double *keys = inputs.keyTransposed.data() + d * problem.keys;
    for (int64_t j = 0; j < problem.keys; ++j)
      products[j] += q * keys[j];
  }
}

void HeadWeights::applyScore(int64_t i) {
  if (!problem.score)
    return;
  scores = products;
  results.resize(problem.keys);
  for (int64_t j = 0; j < problem.keys; ++j) {
    results[j] = problem.applyScore(b, n, h, i, j, scores[j]);
    products[j] = results[j].value;
  }
}

/// The logit of key j relative to that of another key: each summand is
/// compared with its like, so that large masks cancel before anything is
/// rounded to their size.
double HeadWeights::difference(int64_t j, int64_t other) const {
  const std::vector<double> &independent = biases.independent();
  return (independent[j] - independent[other]) +
         (dependent[j] - dependent[other]) + (products[j] - products[other]);
}

/// The kept key with the largest logit (any key whose logit is NaN), -1 if no
/// key is left whose logit is more than -inf.
int64_t HeadWeights::findLargest() const {
  int64_t largest = -1;
  double maximum = 0;
  for (int64_t j = 0; j < problem.keys; ++j) {
    if (!kept[j])
      continue;
    double logit = biases.independent()[j] + dependent[j] + products[j];
    if (std::isnan(logit))
      return j;
    bool isLarger = std::isinf(maximum) || std::isinf(logit)
                        ? logit > maximum
                        : largest >= 0 && difference(j, largest) > 0;
    if (largest < 0 || isLarger) {
      largest = j;
      maximum = logit;
    }
  }
  // A row whose logits are all -inf counts as one without keys.
  return maximum == -std::numeric_limits<double>::infinity() ? -1 : largest;
}

double HeadWeights::pullOf(int64_t j) const {
  if (!areLogits())
    return 1;
  bool dividesSum = problem.weights->least && !dividesLeast();
  return dividesSum ? std::copysign(1, weights[j]) : 0;
}

bool HeadWeights::makesNaN(int64_t j) const {
  if (!areLogits() || !std::isnan(weights[j]))
    return false;
  return problem.keysFrom || problem.keysTo ||
         llvm::any_of(problem.biases,
                      [](const Bias &bias) { return !bias.broadcast[3]; });
}

void HeadWeights::sinkKeys() {
  if (!std::isnan(total))
    return;
  for (int64_t j = 0; j < problem.keys; ++j)
    if (kept[j] && products[j] == -std::numeric_limits<double>::infinity()) {
      sunk[j] = 1;
      kept[j] = 0;
      weights[j] = 0;
    }
}

/// Weights that are what `products` hold; false if no key is left.
bool HeadWeights::computeLogits(int64_t i) {
  bool any = false;
  double size = 0;
  for (int64_t j = 0; j < problem.keys; ++j) {
    kept[j] &= products[j] != -std::numeric_limits<double>::infinity();
    exponents[j] = 0;
    weights[j] = kept[j] ? products[j] : 0;
    size += std::fabs(weights[j]);
    any |= kept[j] != 0;
  }
  std::optional<double> least = problem.weights->least;
  stats = !problem.hasQuery(b, n, i) ? 0 : least ? std::max(size, *least) : 1;
  // Less divides nothing, as in the kernels.
  constexpr double kLeastDivisor = 0x1p-126;
  total =
      stats < kLeastDivisor ? std::numeric_limits<double>::infinity() : stats;
  lse = 0;
  return any;
}

bool HeadWeights::compute(int64_t i) {
  multiplyKeys(i);
  applyScore(i);
  dropFactors.resize(problem.keys);
  for (int64_t j = 0; j < problem.keys; ++j)
    dropFactors[j] = problem.getDropFactor(b, n, h, i, j);
  dependent.assign(problem.keys, 0.0);
  sunk.assign(problem.keys, 0);
  biases.readQuery(i, kept,
                   [&](int64_t j, double term) { dependent[j] += term; });
  if (areLogits())
    return computeLogits(i);
  int64_t largest = findLargest();
  if (largest < 0) {
    // Those whose logit is -inf count as dropped.
    kept.assign(problem.keys, 0);
    weights.assign(problem.keys, 0.0);
    total = 0;
    lse = stats = -std::numeric_limits<double>::infinity();
    return false;
  }
  total = 0;
  for (int64_t j = 0; j < problem.keys; ++j) {
    exponents[j] = kept[j] ? difference(j, largest)
                           : -std::numeric_limits<double>::infinity();
    weights[j] = std::exp(exponents[j]);
    total += weights[j];
  }
  sinkKeys();
  const std::vector<double> &independent = biases.independent();
  double relative = dependent[largest] + products[largest] + std::log(total);
  lse = independent[largest] + relative;
  stats = (independent[largest] - biases.m0()) + relative;
  return true;
}
