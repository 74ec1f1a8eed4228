//===- Attention.cpp - Attention in double precision ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Attention.h"
#include "Weights.h"
#include <algorithm>
#include <cmath>

using namespace mlir::evoformer::reference;

/// The attention of one head, query by query.
static void runHead(const AttentionProblem &problem, int64_t b, int64_t n,
                    int64_t h, AttentionResult &result) {
  HeadWeights head(problem, b, n, h);
  ResultIndex index{problem};
  result.m0[index.head(b, n, h)] = head.biases.m0();
  const std::vector<double> &value = head.inputs.value;
  for (int64_t i = 0; i < problem.queries; ++i) {
    double *out = &result.out[index.out(b, n, i, h)];
    double *magnitudes = &result.magnitudes[index.out(b, n, i, h)];
    std::fill(out, out + problem.valueDepth, 0.0);
    bool any = head.compute(i);
    int64_t row = index.statistic(b, n, h, i);
    result.lse[row] = head.lse;
    result.stats[row] = head.stats;
    for (int64_t j = 0; any && j < problem.keys; ++j)
      for (int64_t e = 0; e < problem.valueDepth; ++e) {
        double term = head.weights[j] * head.dropFactors[j] *
                      value[j * problem.valueDepth + e];
        out[e] += term;
        magnitudes[e] += std::fabs(term);
      }
    for (int64_t e = 0; e < problem.valueDepth; ++e) {
      double factor = any ? 1 / head.total : 1;
      if (any)
        out[e] /= head.total;
      if (problem.gate && problem.hasQuery(b, n, i)) {
        double gate = sigmoid(problem.gate->at(b, n, i, h, e));
        out[e] *= gate;
        factor *= gate;
      }
      magnitudes[e] *= factor;
      if (!std::isfinite(magnitudes[e]))
        magnitudes[e] = 0;
    }
  }
}

AttentionResult
mlir::evoformer::reference::computeAttention(const AttentionProblem &problem,
                                             unsigned threads) {
  AttentionResult result = makeResult(problem);
  result.magnitudes.resize(result.out.size());
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    runHead(problem, b, n, h, result);
  });
  return result;
}
