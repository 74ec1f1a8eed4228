//===- Attention.cpp - Attention in double precision ----------------------===//

#include "Evoformer/Reference/Attention.h"
#include "Head.h"
#include <cmath>
#include <limits>

using namespace mlir::evoformer::reference;

namespace {
/// The attention of one head, query by query.
class Head {
public:
  Head(const AttentionProblem &problem, int64_t b, int64_t n, int64_t h)
      : problem(problem), b(b), n(n), h(h),
        inputs(readHead<double>(problem, b, n, h)), biases(problem, b, n, h),
        products(problem.keys), dependent(problem.keys), weights(problem.keys) {
  }

  void run(AttentionResult &result) {
    ResultIndex index{problem};
    result.m0[index.head(b, n, h)] = biases.m0();
    for (int64_t i = 0; i < problem.queries; ++i) {
      int64_t row = index.statistic(b, n, h, i);
      runQuery(i, &result.out[index.out(b, n, i, h)], result.lse[row],
               result.stats[row]);
    }
  }

private:
  void multiplyKeys(int64_t i) {
    products.assign(problem.keys, 0.0);
    for (int64_t d = 0; d < problem.depth; ++d) {
      double q = inputs.query[i * problem.depth + d] * problem.scale;
      const double *keys = inputs.keyTransposed.data() + d * problem.keys;
      for (int64_t j = 0; j < problem.keys; ++j)
        products[j] += q * keys[j];
    }
  }

  /// The logit of key j relative to that of another key: each summand is
  /// compared with its like, so that large masks cancel before anything is
  /// rounded to their size.
  double difference(int64_t j, int64_t other) const {
    const std::vector<double> &independent = biases.independent();
    return (independent[j] - independent[other]) +
           (dependent[j] - dependent[other]) + (products[j] - products[other]);
  }

  /// The kept key with the largest logit (any key whose logit is NaN), -1 if no
  /// key is left.
  int64_t findLargest() const {
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
    return largest;
  }

  void runQuery(int64_t i, double *out, double &lse, double &stats) {
    multiplyKeys(i);
    dependent.assign(problem.keys, 0.0);
    biases.readQuery(i, kept,
                     [&](int64_t j, double term) { dependent[j] += term; });
    std::fill(out, out + problem.valueDepth, 0.0);
    int64_t largest = findLargest();
    if (largest < 0) {
      lse = stats = -std::numeric_limits<double>::infinity();
    } else {
      const std::vector<double> &independent = biases.independent();
      double total = 0;
      for (int64_t j = 0; j < problem.keys; ++j) {
        weights[j] = kept[j] ? std::exp(difference(j, largest)) : 0;
        total += weights[j];
      }
      double relative =
          dependent[largest] + products[largest] + std::log(total);
      lse = independent[largest] + relative;
      stats = (independent[largest] - biases.m0()) + relative;
      for (int64_t j = 0; j < problem.keys; ++j)
        for (int64_t e = 0; e < problem.valueDepth; ++e)
          out[e] += weights[j] * inputs.value[j * problem.valueDepth + e];
      for (int64_t e = 0; e < problem.valueDepth; ++e)
        out[e] /= total;
    }
    if (problem.gate)
      for (int64_t e = 0; e < problem.valueDepth; ++e)
        out[e] *= sigmoid(problem.gate->at(b, n, i, h, e));
  }

  const AttentionProblem &problem;
  int64_t b, n, h;
  HeadInputs<double> inputs;
  HeadBiases biases;
  std::vector<uint8_t> kept;
  std::vector<double> products;
  std::vector<double> dependent;
  std::vector<double> weights;
};
} // namespace

AttentionResult
mlir::evoformer::reference::computeAttention(const AttentionProblem &problem,
                                             unsigned threads) {
  AttentionResult result = makeResult(problem);
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    Head(problem, b, n, h).run(result);
  });
  return result;
}
