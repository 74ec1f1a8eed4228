//===- ErrorBound.cpp - What roundings make of outputs --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/ErrorBound.h"
#include "Roundings.h"
#include "Weights.h"
#include <algorithm>
#include <cmath>

using namespace mlir::evoformer::reference;

/// Errors of a logit that first order does not describe.
static constexpr double kLargeError = 0.25;

/// The unit roundoff of f32.
static constexpr double kSingle = 0x1p-24;

namespace {
/// A sum of independent errors, in units of the quantity that they change.
struct ErrorSum {
  double square = 0, most = 0, shared = 0;

  void add(const Rounding &rounding, double quantity, double unit = kSingle) {
    double size = std::fabs(quantity) * unit;
    square += rounding.meanSquare * size * size;
    most += rounding.most * size;
    shared += rounding.shared * size;
  }
  /// Of another quantity that changes by `factor` of this.
  void add(const ErrorSum &other, double factor) {
    square += other.square * factor * factor;
    most += other.most * std::fabs(factor);
    shared += other.shared * std::fabs(factor);
  }
  double getBound() const {
    return std::min(most, kDeviations * std::sqrt(square)) + shared;
  }
};

/// Terms that are added one after the other, or parts of `length` terms.
class PartialSums {
public:
  explicit PartialSums(const Rounding &rounding, int64_t length = 0)
      : rounding(&rounding), length(length) {}

  void add(double term) {
    part += term;
    error.add(*rounding, part);
    if (length == 0 || ++count % length)
      return;
    sum += part;
    part = 0;
    error.add(*rounding, sum);
  }

  ErrorSum error;

private:
  const Rounding *rounding;
  int64_t length, count = 0;
  double part = 0, sum = 0;
};

/// One head, query by query.
class HeadBound {
public:
  HeadBound(const AttentionProblem &problem, ElementType outputType, int64_t b,
            int64_t n, int64_t h, OutputBounds &bounds)
      : problem(problem), outputType(outputType), b(b), n(n), h(h),
        bounds(bounds), head(problem, b, n, h),
        isSingle(problem.query.type == ElementType::F32 ||
                 problem.query.type == ElementType::F64),
        unit(isSingle ? 0 : ulpOf(1, problem.query.type) / 2),
        smallest(isSingle ? 0 : ulpOf(0, problem.query.type) / 2) {}

  void run() {
    for (int64_t i = 0; i < problem.queries; ++i)
      if (head.compute(i))
        boundRow(i);
  }

private:
  double valueAt(int64_t j, int64_t e) const {
    return head.inputs.value[j * problem.valueDepth + e];
  }

  /// The errors of the scores of query i.
  void boundScores(int64_t i) {
    bool inParts = isSingle && problem.depth > kLongDepth;
    PartialSums start(isSingle ? kSingleScoreSum : kScoreSum,
                      inParts ? kDepthOfPart : 0);
    std::vector<PartialSums> sums(problem.keys, start);
    for (int64_t d = 0; d < problem.depth; ++d) {
      double q = head.inputs.query[i * problem.depth + d] * problem.scale;
      const double *keys = &head.inputs.keyTransposed[d * problem.keys];
      for (int64_t j = 0; j < problem.keys; ++j)
        sums[j].add(q * keys[j]);
    }
    for (int64_t j = 0; j < problem.keys; ++j)
      logits[j] = sums[j].error;
  }

  /// The errors of the logits relative to the largest, and of the weights.
  void boundLogits(int64_t i) {
    logits.resize(problem.keys);
    boundScores(i);
    std::vector<double> sums(problem.keys);
    for (int64_t j = 0; j < problem.keys; ++j) {
      double relative = head.biases.independent()[j] - head.biases.m0();
      logits[j].add(kScale, head.products[j]);
      logits[j].add(kKeySum, relative);
      sums[j] = head.products[j] + relative;
      logits[j].add(kLogit, sums[j]);
    }
    std::vector<uint8_t> kept;
    head.biases.readQuery(i, kept, [&](int64_t j, double term) {
      sums[j] += term;
      logits[j].add(kLogit, sums[j]);
      if (!isSingle)
        logits[j].add(kBiasUnit, term);
    });
    for (int64_t j = 0; j < problem.keys; ++j) {
      logits[j].add(isSingle ? kSingleExponent : kExponent, head.exponents[j]);
      logits[j].add(kExponential, 1);
    }
  }

  /// Splits the keys in those whose weights change by a first-order error and
  /// those that may gain or lose all of theirs; whether there are none of
  /// these.
  bool findLost() {
    lost.assign(problem.keys, 0);
    double largest = 0, sum = 0;
    for (int64_t j = 0; j < problem.keys; ++j)
      if (head.kept[j] && head.exponents[j] == 0)
        largest = std::max(largest, logits[j].most + logits[j].shared);
    for (int64_t j = 0; j < problem.keys; ++j) {
      double most = logits[j].most + logits[j].shared;
      if (!head.kept[j] || most + largest <= kLargeError)
        continue;
      lost[j] = std::exp(std::min(0.0, head.exponents[j] + most + largest));
      sum += lost[j];
      logits[j] = {};
    }
    return sum <= kSingle;
  }

  /// The error of a weight's narrowing, as a share of the sum of weights.
  ErrorSum boundNarrowing(int64_t j) const {
    ErrorSum error;
    // 1 is exact.
    if (isSingle || head.exponents[j] == 0)
      return error;
    double share = head.weights[j] / head.total;
    if (problem.valueDepth <= kFewElements)
      error.add(kLostWeight, share, unit * unit);
    else
      error.add(kWeight, share, unit);
    error.add(Rounding{1 / 3.0, 1, 0}, 1 / head.total, smallest);
    return error;
  }

  void boundRow(int64_t i) {
    boundLogits(i);
    int64_t depth = problem.valueDepth;
    int64_t at = ResultIndex{problem}.out(b, n, i, h), row = at / depth;
    bounds.hasDigits[row] = findLost();
    // Its output and the gate's factors.
    std::vector<double> out(depth), factor(depth, 1);
    std::vector<ErrorSum> gates(depth);
    double norm = 0;
    for (int64_t e = 0; e < depth; ++e) {
      for (int64_t j = 0; j < problem.keys; ++j)
        if (head.kept[j])
          out[e] += head.weights[j] / head.total * valueAt(j, e);
      if (problem.gate) {
        double gate = problem.gate->at(b, n, i, h, e);
        factor[e] = sigmoid(gate);
        gates[e].add(kGateExponent, gate * sigmoid(-gate));
        gates[e].add(kGate, 1);
      }
      norm += out[e] * factor[e] * out[e] * factor[e];
    }
    ErrorSum sumError = boundSum();
    std::vector<ErrorSum> elements(depth);
    ErrorSum along;
    double uncompensated = 0;
    std::vector<double> ofLost(depth), widest(depth);
    for (int64_t j = 0; j < problem.keys; ++j) {
      if (!head.kept[j])
        continue;
      double share = head.weights[j] / head.total, ofRow = 0;
      ErrorSum narrowing = boundNarrowing(j);
      for (int64_t e = 0; e < depth; ++e) {
        double value = valueAt(j, e), difference = value - out[e];
        elements[e].add(logits[j], share * difference);
        elements[e].add(narrowing, value);
        ofLost[e] += lost[j] * std::fabs(difference);
        widest[e] = std::max(widest[e], std::fabs(difference));
        ofRow += value * factor[e] * factor[e] * out[e];
      }
      along.add(logits[j], share * (ofRow - norm));
      along.add(narrowing, ofRow);
      if (head.exponents[j] != 0)
        uncompensated += share * ofRow;
    }
    along.add(sumError, norm);
    if (problem.query.type == ElementType::BF16 && depth > kFewElements)
      along.shared += kUncompensated * unit * std::fabs(uncompensated);
    for (int64_t e = 0; e < depth; ++e) {
      double result = out[e] * factor[e];
      ErrorSum own = boundOutputSum(e);
      own.add(gates[e], out[e]);
      elements[e].add(own, 1);
      elements[e].add(sumError, out[e]);
      // To the output's type, at the magnitude that it may have.
      double inner =
          factor[e] * (elements[e].getBound() + std::min(ofLost[e], widest[e]));
      double ulp = ulpOf(std::fabs(result) + inner, outputType);
      double rounding = ulpOf(result, outputType);
      bounds.most[at + e] = inner + ulp / 2;
      bounds.deviation[at + e] =
          std::sqrt(elements[e].square * factor[e] * factor[e] +
                    rounding * rounding / 12);
      along.add(own, factor[e] * result);
      along.square += rounding * rounding / 12 * result * result;
    }
    bounds.alongVariance[row] = along.square;
    bounds.alongShared[row] = along.shared;
  }

  /// Of the sum of the weights and of what divides by it, relative.
  ErrorSum boundSum() const {
    PartialSums sums(kWeightSum, kKeysOfPart);
    for (int64_t j = 0; j < problem.keys; ++j)
      if (head.kept[j])
        sums.add(head.weights[j] / head.total);
    sums.error.add(kNormalization, 1);
    return sums.error;
  }

  /// Of the weighted sum of values.
  ErrorSum boundOutputSum(int64_t e) const {
    PartialSums sums(isSingle ? kSingleOutputSum : kOutputSum,
                     isSingle ? kKeysOfPart : 0);
    for (int64_t j = 0; j < problem.keys; ++j)
      if (head.kept[j])
        sums.add(head.weights[j] / head.total * valueAt(j, e));
    return sums.error;
  }

  const AttentionProblem &problem;
  ElementType outputType;
  int64_t b, n, h;
  OutputBounds &bounds;
  HeadWeights head;
  bool isSingle;
  double unit, smallest;
  std::vector<ErrorSum> logits;
  /// What weights may become that have no digits left, else 0.
  std::vector<double> lost;
};
} // namespace

OutputBounds mlir::evoformer::reference::boundOutput(
    const AttentionProblem &problem, ElementType outputType, unsigned threads) {
  int64_t rows = problem.batch * problem.rows * problem.queries * problem.heads;
  OutputBounds bounds;
  for (auto *ofElements : {&bounds.most, &bounds.deviation})
    ofElements->resize(rows * problem.valueDepth);
  for (auto *ofRows : {&bounds.alongVariance, &bounds.alongShared})
    ofRows->resize(rows);
  bounds.hasDigits.assign(rows, 1);
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    HeadBound(problem, outputType, b, n, h, bounds).run();
  });
  return bounds;
}
