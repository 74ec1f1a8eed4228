//===- Gradients.cpp - Gradients in double precision ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientSums.h"
#include "Weights.h"
#include <cmath>

using namespace mlir::evoformer::reference;

namespace {
/// The gradients of one head, query by query.
class GradientHead {
public:
  GradientHead(const AttentionProblem &problem, const View &outputGradient,
               const View *output, int64_t b, int64_t n, int64_t h)
      : problem(problem), outputGradient(outputGradient), output(output), b(b),
        n(n), h(h), head(problem, b, n, h), sums(problem), magnitudes(problem),
        weighted(problem.valueDepth) {}

  void run(GradientResult &result) {
    for (int64_t i = 0; i < problem.queries; ++i)
      if (head.compute(i))
        runQuery(i);
      else if (problem.hasQuery(b, n, i))
        ungate(i);
    result.add(sums, b, n, h, &magnitudes);
  }

private:
  double valueAt(int64_t j, int64_t e) const {
    return head.inputs.value[j * problem.valueDepth + e];
  }

  /// With what dropout makes of it: what is dropped is 0, NaN as well.
  double countedWeightOf(int64_t j) const {
    double factor = head.dropFactors[j];
    return factor == 0 ? 0 : head.getWeight(j) * factor;
  }

  /// The output before the gate: 0 in a row without keys, whatever the values.
  double sumValues(int64_t e) const {
    double sum = 0;
    for (int64_t j = 0; head.total != 0 && j < problem.keys; ++j)
      sum += countedWeightOf(j) * valueAt(j, e);
    return sum;
  }

  /// A sum and that of its terms' absolute values.
  struct Sum {
    double value = 0, magnitude = 0;
    void add(double term) {
      value += term;
      magnitude += std::fabs(term);
    }
  };

  /// The gradient of the output before the gate, and that of the gate; returns
  /// delta.
  Sum ungate(int64_t i) {
    Sum delta;
    for (int64_t e = 0; e < problem.valueDepth; ++e) {
      double gradient = outputGradient.at(b, n, i, h, e);
      double gate = problem.gate ? problem.gate->at(b, n, i, h, e) : 0;
      double factor = problem.gate ? sigmoid(gate) : 1;
      double result =
          output ? output->at(b, n, i, h, e) : sumValues(e) * factor;
      delta.add(gradient * result);
      weighted[e] = gradient * factor;
      if (!problem.gate)
        continue;
      // 1 - sigmoid(x) = sigmoid(-x), without cancellation.
      double ofGate = gradient * result * sigmoid(-gate);
      sums.gate[i * problem.valueDepth + e] = ofGate;
      magnitudes.gate[i * problem.valueDepth + e] = std::fabs(ofGate);
    }
    return delta;
  }

  void runQuery(int64_t i) {
    Sum delta = ungate(i);
    // What divides weights that are logits has no gradient.
    if (head.areLogits())
      delta = {};
    for (int64_t j = 0; j < problem.keys; ++j) {
      if (!head.kept[j])
        continue;
      Sum product;
      for (int64_t e = 0; e < problem.valueDepth; ++e) {
        if (head.dropFactors[j] != 0)
          product.add(weighted[e] * valueAt(j, e) * head.dropFactors[j]);
        double ofValue = countedWeightOf(j) * weighted[e];
        add(&GradientSums::value, j * problem.valueDepth + e, ofValue,
            std::fabs(ofValue));
      }
      double share = head.slopeOf(j);
      double logit = head.makesNaN(j) ? head.weights[j]
                                      : share * (product.value - delta.value);
      double magnitude = share * (product.magnitude + delta.magnitude);
      add(&GradientSums::logits, i * problem.keys + j, logit, magnitude);
      if (!problem.captures.empty()) {
        double factor = head.results[j].byCapture;
        add(&GradientSums::captures, i * problem.keys + j, logit * factor,
            magnitude * std::fabs(factor));
      }
      double scale = problem.scale * head.getDerivative(j);
      for (int64_t d = 0; d < problem.depth; ++d) {
        double key = scale * head.inputs.keyTransposed[d * problem.keys + j];
        double query = scale * head.inputs.query[i * problem.depth + d];
        add(&GradientSums::query, i * problem.depth + d, logit * key,
            magnitude * std::fabs(key));
        add(&GradientSums::key, j * problem.depth + d, logit * query,
            magnitude * std::fabs(query));
      }
    }
  }

  void add(std::vector<double> GradientSums::*part, int64_t at, double term,
           double magnitude) {
    (sums.*part)[at] += term;
    (magnitudes.*part)[at] += magnitude;
  }

  const AttentionProblem &problem;
  const View &outputGradient;
  const View *output;
  int64_t b, n, h;
  HeadWeights head;
  GradientSums sums, magnitudes;
  std::vector<double> weighted;
};
} // namespace

AttentionGradients mlir::evoformer::reference::computeGradients(
    const AttentionProblem &problem, const View &outputGradient,
    unsigned threads, const View *output) {
  GradientResult result(problem);
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    GradientHead(problem, outputGradient, output, b, n, h).run(result);
  });
  return std::move(result.gradients);
}
