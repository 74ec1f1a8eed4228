//===- ErrorBound.cpp - What roundings make of outputs --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/ErrorBound.h"
#include "WeightErrors.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::evoformer::reference;

namespace {
/// One head, query by query.
class HeadBound {
public:
  HeadBound(const AttentionProblem &problem, ElementType outputType,
            const Arithmetic &arithmetic, int64_t b, int64_t n, int64_t h,
            OutputBounds &bounds)
      : problem(problem), outputType(outputType), b(b), n(n), h(h),
        bounds(bounds), errors(problem, arithmetic, b, n, h), head(errors.head),
        type(errors.type) {}

  void run() {
    for (int64_t i = 0; i < problem.queries; ++i)
      if (errors.compute(i))
        boundRow(i);
  }

private:
  double valueAt(int64_t j, int64_t e) const {
    return head.inputs.value[j * problem.valueDepth + e];
  }
  /// With what dropout multiplies the key's weight by.
  double countedValueAt(int64_t j, int64_t e) const {
    return valueAt(j, e) * head.dropFactors[j];
  }

  /// Whether a weight is 1, which any type holds.
  bool isOne(int64_t j) const {
    return !head.areLogits() && head.exponents[j] == 0 && errors.growth == 0;
  }

  /// Whether dropout's factor makes the output of one key's value: all rows
  /// that see this key alone round the same.
  bool isFactorOfOneValue() const {
    return problem.dropout && llvm::any_of(head.weights, [&](double weight) {
             return weight / head.total >= 1 - type.unit;
           });
  }

  /// The errors of a weight that is small and of its narrowing, as a share of
  /// the sum of weights.
  ErrorSum boundNarrowing(int64_t j) const {
    ErrorSum error;
    double share = std::fabs(head.getWeight(j));
    bool isFew = problem.valueDepth <= kFewElements;
    if (isOne(j) && type.startsFromBiases && addsToScores(problem)) {
      // Rounded it is 1 again, and what that takes away is added of few
      // elements; cut off, what is just below 1 loses its digits.
      if (!isFew)
        error.add(kReference,
                  share * std::min(std::fabs(head.stats), kLargestStart));
      else if (problem.query.type == ElementType::BF16)
        error.add(kLostWeight, share, type.unit * type.unit);
    }
    if (isOne(j))
      return error;
    if (!head.areLogits())
      error.shared += kSmallestExponential / head.total;
    if (type.isSingle)
      return error;
    if (isFew)
      error.add(kLostWeight, share, type.unit * type.unit);
    else
      error.add(kWeight, share, type.unit);
    error.add(Rounding{1 / 3.0, 1, 0}, 1 / head.total, type.smallest);
    // Others are large enough for the type or are raised before.
    if (head.areLogits() && type.isFlushed(head.weights[j]))
      error.addFlushed(share);
    return error;
  }

  void boundRow(int64_t i) {
    int64_t depth = problem.valueDepth;
    int64_t at = ResultIndex{problem}.out(b, n, i, h), row = at / depth;
    bounds.hasDigits[row] = errors.hasDigits;
    // Its output and the gate's factors.
    std::vector<double> out(depth), factor(depth, 1);
    std::vector<ErrorSum> gates(depth);
    double norm = 0;
    for (int64_t e = 0; e < depth; ++e) {
      for (int64_t j = 0; j < problem.keys; ++j)
        if (head.kept[j])
          out[e] += head.getWeight(j) * countedValueAt(j, e);
      if (problem.gate) {
        double gate = problem.gate->at(b, n, i, h, e);
        factor[e] = sigmoid(gate);
        if (std::isfinite(gate))
          gates[e].add(kGateExponent, gate * sigmoid(-gate));
        gates[e].add(kGate, 1);
      }
      norm += out[e] * factor[e] * out[e] * factor[e];
    }
    ErrorSum sumError = boundSum();
    boundStatistics(i);
    std::vector<ErrorSum> elements(depth);
    ErrorSum along;
    double uncompensated = 0;
    std::vector<double> ofLost(depth), widest(depth);
    for (int64_t j = 0; j < problem.keys; ++j) {
      if (!head.kept[j])
        continue;
      double share = head.getWeight(j), ofRow = 0;
      double slope = head.slopeOf(j), pull = head.pullOf(j);
      ErrorSum narrowing = boundNarrowing(j);
      for (int64_t e = 0; e < depth; ++e) {
        double value = countedValueAt(j, e), difference = value - pull * out[e];
        elements[e].add(errors.logits[j], slope * difference);
        elements[e].add(narrowing, value);
        if (type.isFlushed(valueAt(j, e))) {
          double flushed = std::fabs(share * value);
          elements[e].addFlushed(flushed);
          along.shared += flushed * factor[e] * factor[e] * std::fabs(out[e]);
        }
        ofLost[e] += errors.lost[j] * std::fabs(difference);
        widest[e] = std::max(widest[e], std::fabs(difference));
        ofRow += value * factor[e] * factor[e] * out[e];
      }
      along.add(errors.logits[j], slope * (ofRow - pull * norm));
      along.add(narrowing, ofRow);
      if (!isOne(j) && !head.areLogits())
        uncompensated += share * ofRow;
    }
    along.add(sumError, norm);
    if (problem.query.type == ElementType::BF16 && depth > kFewElements)
      along.shared += kUncompensated * type.unit * std::fabs(uncompensated);
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
      if (isFactorOfOneValue())
        along.shared += rounding / 2 * std::fabs(result);
      else
        along.square += rounding * rounding / 12 * result * result;
    }
    bounds.alongVariance[row] = along.square;
    bounds.alongShared[row] = along.getShared();
  }

  /// Of lse and of what stats add up to.
  void boundStatistics(int64_t i) {
    int64_t row = ResultIndex{problem}.statistic(b, n, h, i);
    ErrorSum error = errors.ofMean();
    PartialSums sum(kWeightSum, kKeysOfPart);
    for (int64_t j = 0; j < problem.keys; ++j)
      if (head.kept[j])
        sum.add(std::fabs(head.getWeight(j)));
    error.add(sum.error, 1);
    if (head.areLogits()) {
      bounds.stats[row] = error.getBound() * head.stats;
      return;
    }
    error.add(kLogarithm, std::max(1.0, std::log(head.total)) + errors.growth);
    // No logit changes by more, nor does the logarithm of their sum.
    double lost = errors.hasDigits ? 0 : errors.mostOfLogits;
    bounds.stats[row] = error.getBound() + lost;
    error.add(kMaximum, head.stats);
    error.add(kMaximum, head.biases.m0());
    error.add(kStatistic, head.lse);
    bounds.lse[row] = error.getBound() + lost;
  }

  /// Of the sum of the weights and of what divides by it, relative.
  ErrorSum boundSum() const {
    PartialSums sums(kWeightSum, kKeysOfPart);
    for (int64_t j = 0; j < problem.keys; ++j)
      if (head.kept[j])
        sums.add(std::fabs(head.getWeight(j)));
    sums.error.add(kNormalization, 1);
    if (head.dividesLeast())
      sums.error.add(kLeast, 1);
    // The factor of dropout, which is rounded as well.
    if (problem.dropout)
      sums.error.add(kDropFactor, 1);
    return sums.error;
  }

  /// Of the weighted sum of values.
  ErrorSum boundOutputSum(int64_t e) const {
    PartialSums sums(type.usesFMA ? kSingleOutputSum : kOutputSum,
                     type.isSingle ? kKeysOfPart : 0, 0, type.ofProduct);
    for (int64_t j = 0; j < problem.keys; ++j)
      if (head.kept[j])
        sums.add(head.getWeight(j) * countedValueAt(j, e));
    return sums.error;
  }

  const AttentionProblem &problem;
  ElementType outputType;
  int64_t b, n, h;
  OutputBounds &bounds;
  WeightErrors errors;
  const HeadWeights &head;
  const OperandType &type;
};
} // namespace

OutputBounds mlir::evoformer::reference::boundOutput(
    const AttentionProblem &problem, ElementType outputType, unsigned threads,
    const Arithmetic &arithmetic) {
  int64_t rows = problem.batch * problem.rows * problem.queries * problem.heads;
  OutputBounds bounds;
  for (auto *ofElements : {&bounds.most, &bounds.deviation})
    ofElements->resize(rows * problem.valueDepth);
  for (auto *ofRows :
       {&bounds.alongVariance, &bounds.alongShared, &bounds.lse, &bounds.stats})
    ofRows->resize(rows);
  bounds.hasDigits.assign(rows, 1);
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    HeadBound(problem, outputType, arithmetic, b, n, h, bounds).run();
  });
  return bounds;
}
