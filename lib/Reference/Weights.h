//===- Weights.h - The softmax of one query in f64 --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the f64 attention and its gradients.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_REFERENCE_WEIGHTS_H
#define EVOFORMER_LIB_REFERENCE_WEIGHTS_H

#include "Head.h"

namespace mlir::evoformer::reference {

/// The weights of the keys for one query of a head after the other.
class HeadWeights {
public:
  HeadWeights(const AttentionProblem &problem, int64_t b, int64_t n, int64_t h)
      : problem(problem), inputs(readHead<double>(problem, b, n, h)),
        biases(problem, b, n, h), weights(problem.keys),
        exponents(problem.keys), products(problem.keys),
        dependent(problem.keys), b(b), n(n), h(h) {}

  /// Computes what is below for query i; false if it has no key left.
  bool compute(int64_t i);

  const AttentionProblem &problem;
  HeadInputs<double> inputs;
  HeadBiases biases;
  /// Of query i: which keys are left, exp of each logit relative to the largest
  /// (0 for a dropped key), their sum, the statistics.
  std::vector<uint8_t> kept;
  std::vector<double> weights;
  double total = 0, lse = 0, stats = 0;
  /// The logits relative to the largest, and the scaled scores that they are
  /// made of; where a score makes logits of these, what it gives.
  std::vector<double> exponents, products;
  /// Keys whose logit is -inf in a row that is NaN, both by infinite operands.
  /// They count as dropped; kernels may give them NaN as well.
  std::vector<uint8_t> sunk;
  /// What dropout multiplies each weight by, where values are summed.
  std::vector<double> dropFactors;
  /// There the scaled scores, and all that it says; else none.
  std::vector<double> scores;
  std::vector<ScoreResult> results;

  /// The weight of key j in the sum of values, without dropout.
  double getWeight(int64_t j) const { return weights[j] / total; }

  /// Where weights are logits `weights` are these and `total` is what divides
  /// them, infinite where that is 0; `stats` is the divisor.
  bool areLogits() const { return problem.weights.has_value(); }
  /// Whether 1 divides these.
  bool dividesOne() const { return areLogits() && !problem.weights->least; }
  /// Whether the gradient of key j's logit is NaN because the logit is. No
  /// number of it is made of the logit; where queries may drop keys, kernels
  /// take NaN from the operands of sums and say it with the gradient
  /// (docs/nan-and-inf.md).
  bool makesNaN(int64_t j) const;
  /// The derivative of a weight, as a share of what divides it, by its logit.
  double slopeOf(int64_t j) const {
    return (areLogits() ? 1 : weights[j]) / total;
  }
  /// How many times as much of the divisor changes with the logit.
  double pullOf(int64_t j) const;

  /// Whether they are divided by the least.
  bool dividesLeast() const {
    return areLogits() && problem.weights->least &&
           total <= *problem.weights->least;
  }

  /// The derivative of a logit by its scaled score.
  double getDerivative(int64_t j) const {
    return results.empty() ? 1 : results[j].derivative;
  }

private:
  void sinkKeys();
  void applyScore(int64_t i);
  void multiplyKeys(int64_t i);
  bool computeLogits(int64_t i);
  double difference(int64_t j, int64_t other) const;
  int64_t findLargest() const;

  std::vector<double> dependent;
  int64_t b, n, h;
};

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_LIB_REFERENCE_WEIGHTS_H
