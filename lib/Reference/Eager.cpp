//===- Eager.cpp - Attention as an eager framework computes it ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EagerHead.h"

using namespace mlir::evoformer::reference;

static void runHead(const AttentionProblem &problem, ElementType type,
                    ElementType outputType, int64_t b, int64_t n, int64_t h,
                    AttentionResult &result) {
  EagerHead head(problem, type, b, n, h);
  ResultIndex index{problem};
  double m0 = head.biases.m0();
  result.m0[index.head(b, n, h)] = m0;
  for (int64_t i = 0; i < problem.queries; ++i) {
    int64_t row = index.statistic(b, n, h, i);
    result.stats[row] = head.computeWeights(i);
    result.lse[row] = result.stats[row] + m0;
    head.weighValues();
    double *out = &result.out[index.out(b, n, i, h)];
    for (int64_t e = 0; e < problem.valueDepth; ++e) {
      float element = head.ungated[e];
      if (problem.gate)
        element =
            roundToFloat(element * head.gateFactor(i, e), head.gatedType());
      out[e] = roundTo(element, outputType);
    }
  }
}

AttentionResult mlir::evoformer::reference::computeEagerAttention(
    const AttentionProblem &problem, ElementType type, ElementType outputType,
    unsigned threads) {
  AttentionResult result = makeResult(problem);
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    runHead(problem, type, outputType, b, n, h, result);
  });
  return result;
}
