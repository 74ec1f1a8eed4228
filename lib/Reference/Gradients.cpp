//===- Gradients.cpp - Gradients in double precision ----------------------===//

#include "GradientSums.h"
#include "Weights.h"

using namespace mlir::evoformer::reference;

namespace {
/// The gradients of one head, query by query.
class GradientHead {
public:
  GradientHead(const AttentionProblem &problem, const View &outputGradient,
               int64_t b, int64_t n, int64_t h)
      : problem(problem), outputGradient(outputGradient), b(b), n(n), h(h),
        head(problem, b, n, h), sums(problem), weighted(problem.valueDepth),
        products(problem.keys) {}

  void run(GradientResult &result) {
    for (int64_t i = 0; i < problem.queries; ++i)
      if (head.compute(i))
        runQuery(i);
    result.add(sums, b, n, h);
  }

private:
  double valueAt(int64_t j, int64_t e) const {
    return head.inputs.value[j * problem.valueDepth + e];
  }

  /// The gradient of the output before the gate, and that of the gate.
  void ungate(int64_t i) {
    for (int64_t e = 0; e < problem.valueDepth; ++e) {
      weighted[e] = outputGradient.at(b, n, i, h, e);
      if (!problem.gate)
        continue;
      double ungated = 0;
      for (int64_t j = 0; j < problem.keys; ++j)
        ungated += head.weights[j] / head.total * valueAt(j, e);
      double gate = problem.gate->at(b, n, i, h, e);
      double factor = sigmoid(gate);
      // 1 - sigmoid(x) = sigmoid(-x), without cancellation.
      sums.gate[i * problem.valueDepth + e] =
          weighted[e] * ungated * factor * sigmoid(-gate);
      weighted[e] *= factor;
    }
  }

  void runQuery(int64_t i) {
    ungate(i);
    double delta = 0;
    for (int64_t j = 0; j < problem.keys; ++j) {
      products[j] = 0;
      double weight = head.weights[j] / head.total;
      for (int64_t e = 0; e < problem.valueDepth; ++e) {
        products[j] += weighted[e] * valueAt(j, e);
        if (head.kept[j])
          sums.value[j * problem.valueDepth + e] += weight * weighted[e];
      }
      delta += weight * products[j];
    }
    for (int64_t j = 0; j < problem.keys; ++j) {
      if (!head.kept[j])
        continue;
      double logit = head.weights[j] / head.total * (products[j] - delta);
      sums.logits[i * problem.keys + j] = logit;
      for (int64_t d = 0; d < problem.depth; ++d) {
        sums.query[i * problem.depth + d] +=
            problem.scale * logit *
            head.inputs.keyTransposed[d * problem.keys + j];
        sums.key[j * problem.depth + d] +=
            problem.scale * logit * head.inputs.query[i * problem.depth + d];
      }
    }
  }

  const AttentionProblem &problem;
  const View &outputGradient;
  int64_t b, n, h;
  HeadWeights head;
  GradientSums sums;
  std::vector<double> weighted, products;
};
} // namespace

AttentionGradients
mlir::evoformer::reference::computeGradients(const AttentionProblem &problem,
                                             const View &outputGradient,
                                             unsigned threads) {
  GradientResult result(problem);
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    GradientHead(problem, outputGradient, b, n, h).run(result);
  });
  return std::move(result.gradients);
}
