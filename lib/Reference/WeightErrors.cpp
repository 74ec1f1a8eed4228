//===- WeightErrors.cpp - What roundings make of weights ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WeightErrors.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::evoformer::reference;

ErrorSum mlir::evoformer::reference::boundAnyOrder(const Rounding &rounding,
                                                   double start, double total,
                                                   double squares,
                                                   int64_t count) {
  double n = static_cast<double>(count), mean = total / n;
  double sum = n * start * start + start * mean * n * (n + 1) +
               mean * mean * n * (n + 1) * (2 * n + 1) / 6 +
               (squares / n - mean * mean) * n * (n + 1) / 6;
  ErrorSum error;
  error.add(rounding, std::sqrt(sum));
  error.most *= std::sqrt(n);
  return error;
}

/// What sums of products of query i start from, if they may. Beside a bias that
/// drops its key nothing counts.
bool WeightErrors::findStarts(int64_t i) {
  bool mayStart = type.startsFromBiases && addsToScores(problem) &&
                  !problem.weights && problem.scale >= 0x1p-20 &&
                  problem.scale <= 0x1p20;
  // The largest logit may exceed the one that weights are relative to.
  if (!mayStart || std::fabs(head.stats) > kLargestStart + kGrowth)
    return false;
  for (int64_t j = 0; j < problem.keys; ++j)
    starts[j] = head.biases.independent()[j] - head.biases.m0() +
                (problem.score ? head.results[j].value - head.scores[j] : 0);
  std::vector<uint8_t> kept;
  head.biases.readQuery(i, kept,
                        [&](int64_t j, double term) { starts[j] += term; });
  for (int64_t j = 0; j < problem.keys; ++j)
    if (!head.kept[j] || !std::isfinite(starts[j]))
      starts[j] = 0;
  return true;
}

/// The errors of the scores of query i.
void WeightErrors::boundScores(int64_t i) {
  bool inParts = type.isSingle && problem.depth > kLongDepth;
  PartialSums start(type.usesFMA ? kSingleScoreSum : kScoreSum,
                    inParts ? kDepthOfPart : 0, 0, type.ofProduct);
  std::vector<PartialSums> sums(problem.keys, start);
  for (int64_t j = 0; j < problem.keys; ++j)
    sums[j] = PartialSums(start, starts[j]);
  for (int64_t d = 0; d < problem.depth; ++d) {
    double query = head.inputs.query[i * problem.depth + d];
    double q = query * problem.scale;
    const double *keys = &head.inputs.keyTransposed[d * problem.keys];
    for (int64_t j = 0; j < problem.keys; ++j) {
      sums[j].add(q * keys[j]);
      if (type.isFlushed(query) || type.isFlushed(keys[j]))
        sums[j].error.addFlushed(q * keys[j]);
    }
  }
  for (int64_t j = 0; j < problem.keys; ++j)
    logits[j] = sums[j].error;
  // A weight that is a logit shows in which order its products were added.
  if (!problem.weights || !type.usesFMA || inParts)
    return;
  for (int64_t j = 0; j < problem.keys; ++j) {
    double total = 0, squares = 0;
    for (int64_t d = 0; d < problem.depth; ++d) {
      double product = head.inputs.query[i * problem.depth + d] *
                       problem.scale *
                       head.inputs.keyTransposed[d * problem.keys + j];
      total += product;
      squares += product * product;
    }
    ErrorSum any = boundAnyOrder(kSingleScoreSum, starts[j], total, squares,
                                 problem.depth);
    logits[j].square = std::max(logits[j].square, any.square);
    logits[j].most = std::max(logits[j].most, any.most);
  }
}

/// What becomes of the errors of scores, and what the score's own operations
/// add.
void WeightErrors::applyScore() {
  if (!problem.score)
    return;
  derivatives.assign(problem.keys, {});
  captureDerivatives.assign(problem.keys, {});
  for (int64_t j = 0; j < problem.keys; ++j) {
    const ScoreResult &result = head.results[j];
    ErrorSum ofScore = logits[j];
    ofScore.add(kLogit, head.scores[j]);
    logits[j] = {};
    logits[j].add(ofScore, result.derivative);
    // What the derivative changes by on the way.
    double bound = ofScore.most + ofScore.getShared();
    logits[j].shared += std::fabs(result.second) * bound * bound / 2;
    logits[j].add(kScoreOps, result.error);
    derivatives[j].add(ofScore, result.second);
    derivatives[j].add(kScoreOps, result.derivativeError);
    captureDerivatives[j].add(ofScore, result.byBoth);
    captureDerivatives[j].add(kScoreOps, result.byCaptureError);
  }
}

/// The errors of the logits relative to the largest, and of the weights: where
/// sums may start from the biases or not, the larger ones.
void WeightErrors::boundLogits(int64_t i) {
  starts.assign(problem.keys, 0);
  ways.clear();
  boundLogitsOf(i, /*starting=*/false);
  if (!findStarts(i))
    return;
  std::vector<ErrorSum> usual = logits;
  boundLogitsOf(i, /*starting=*/true);
  for (auto [mine, other] : llvm::zip_equal(logits, usual))
    if (mine.getBound() < other.getBound())
      mine = other;
}

/// The same of one way to add the biases.
void WeightErrors::boundLogitsOf(int64_t i, bool starting) {
  logits.resize(problem.keys);
  boundScores(i);
  applyScore();
  std::vector<double> sums(problem.keys);
  for (int64_t j = 0; j < problem.keys; ++j) {
    double relative = head.biases.independent()[j] - head.biases.m0();
    if (!type.isSingle)
      logits[j].add(kScale, head.products[j] + starts[j]);
    logits[j].add(kKeySum, relative);
    sums[j] = relative;
    if (starting)
      continue;
    sums[j] += head.products[j];
    logits[j].add(kLogit, sums[j]);
  }
  Way &way = ways.emplace_back();
  way.others = logits;
  std::vector<uint8_t> kept;
  int64_t before = problem.keys;
  head.biases.readQuery(i, kept, [&](int64_t j, double term) {
    sums[j] += term;
    if (j <= before)
      way.additions.emplace_back();
    before = j;
    way.additions.back().push_back({j, term, sums[j]});
    logits[j].add(kLogit, sums[j]);
    for (std::vector<ErrorSum> *errors : {&logits, &way.others})
      if (!type.isSingle)
        (*errors)[j].add(kBiasUnit, term);
  });
  for (int64_t j = 0; j < problem.keys && !problem.weights; ++j)
    for (std::vector<ErrorSum> *errors : {&logits, &way.others}) {
      ErrorSum &error = (*errors)[j];
      if (type.isSingle)
        error.add(kSingleExponent, head.exponents[j]);
      else
        error.add(kExponent, std::max(-head.exponents[j], growth));
      error.add(kExponential, 1);
    }
}

ErrorSum WeightErrors::ofMean(const Way &way) const {
  ErrorSum error;
  auto counts = [&](int64_t j) { return head.kept[j] && lost[j] == 0; };
  auto factorOf = [&](int64_t j) { return head.pullOf(j) * head.slopeOf(j); };
  for (int64_t j = 0; j < problem.keys; ++j)
    if (counts(j))
      error.add(way.others[j], factorOf(j));
  for (const std::vector<Addition> &additions : way.additions) {
    // One draw for all keys with the same term.
    std::vector<std::pair<double, double>> terms;
    for (const Addition &addition : additions)
      if (counts(addition.key))
        terms.push_back({addition.term, factorOf(addition.key) * addition.sum});
    llvm::sort(terms, llvm::less_first());
    for (size_t k = 0; k < terms.size();) {
      double size = 0, term = terms[k].first;
      do
        size += std::fabs(terms[k].second);
      while (++k < terms.size() && terms[k].first == term);
      error.add(kLogit, size);
    }
  }
  return error;
}

ErrorSum WeightErrors::ofMean() const {
  ErrorSum largest;
  for (const Way &way : ways) {
    ErrorSum error = ofMean(way);
    if (largest.getBound() <= error.getBound())
      largest = error;
  }
  return largest;
}

ErrorSum WeightErrors::ofStatistics() const {
  ErrorSum error;
  PartialSums sum(kWeightSum, kKeysOfPart);
  // 1 is no sum, whatever the weights are.
  for (int64_t j = 0; j < problem.keys && !head.dividesOne(); ++j) {
    if (!head.kept[j])
      continue;
    sum.add(std::fabs(head.getWeight(j)));
    error.add(logits[j], head.pullOf(j) * head.slopeOf(j));
  }
  error = error.ofEarlier();
  error.add(sum.error, 1);
  if (head.areLogits()) {
    error.add(kNormalization, 1);
    if (head.dividesLeast())
      error.add(kLeast, 1);
    return error;
  }
  error.add(kLogarithm, std::max(1.0, std::log(head.total)) + growth, kSingle,
            growth == 0);
  if (!type.isSingle)
    error.add(kOneStatistic,
              std::min(std::fabs(head.stats), kLargestStatistic));
  return error;
}

ErrorSum WeightErrors::ofWeightAgain(int64_t j) const {
  ErrorSum error;
  double weight = head.getWeight(j);
  error.add(logits[j], head.slopeOf(j));
  if (head.areLogits())
    error.add(kProduct, weight);
  // 0 times infinity where the logit is -inf.
  else if (weight > 0)
    error.add(type.isSingle ? kSingleAgainExponent : kAgainExponent,
              weight * (std::log(head.total) - head.exponents[j] + growth),
              kSingle, growth == 0);
  error.shared += kSmallestExponential;
  return error;
}

/// Splits the keys in those whose weights change by a first-order error and
/// those that may gain or lose all of theirs.
void WeightErrors::findLost() {
  lost.assign(problem.keys, 0);
  mostOfLogits = 0;
  hasDigits = true;
  if (problem.weights)
    return;
  double largest = 0, sum = 0;
  for (int64_t j = 0; j < problem.keys; ++j)
    if (head.kept[j] && head.exponents[j] == 0)
      largest = std::max(largest, logits[j].most + logits[j].getShared());
  for (int64_t j = 0; j < problem.keys; ++j) {
    double most = logits[j].most + logits[j].getShared();
    if (!head.kept[j])
      continue;
    double exponent = std::min(0.0, head.exponents[j] + most + largest);
    if (std::exp(exponent) > kSingle)
      mostOfLogits = std::max(mostOfLogits, most);
    if (most + largest <= kLargeError)
      continue;
    lost[j] = std::exp(exponent);
    sum += lost[j];
    logits[j] = {};
  }
  hasDigits = sum <= kSingle;
}

double WeightErrors::boundGrowth() const {
  // Of the first keys and of all keys, the largest and the smallest exponent.
  double first = -kGrowth, smallest = 0;
  // Where queries see a range of keys, or rows have lengths, blocks on its
  // edges come first, and how large these are is the kernel's affair.
  bool isRanged =
      problem.keysFrom || problem.keysTo || !problem.keyLengths.empty();
  bool hasFirst = false;
  for (int64_t j = 0; j < problem.keys; ++j) {
    if (!head.kept[j])
      continue;
    smallest = std::min(smallest, head.exponents[j]);
    if (j >= kFirstKeys || isRanged)
      continue;
    first = std::max(first, head.exponents[j]);
    hasFirst = true;
  }
  return std::min(-(hasFirst ? first : smallest), kGrowth);
}

bool WeightErrors::compute(int64_t i) {
  if (!head.compute(i))
    return false;
  growth = type.isSingle || problem.weights ? 0 : boundGrowth();
  boundLogits(i);
  findLost();
  return true;
}
