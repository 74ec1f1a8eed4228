//===- AttentionWeights.cpp - The weights of an attention in f64 ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/AttentionWeights.h"
#include "WeightErrors.h"
#include "Weights.h"

using namespace mlir::evoformer::reference;

/// The place of a query's first weight.
static int64_t findRow(const AttentionProblem &problem, int64_t b, int64_t n,
                       int64_t h, int64_t i) {
  return ResultIndex{problem}.statistic(b, n, h, i) * problem.keys;
}

static int64_t countPairs(const AttentionProblem &problem) {
  return problem.batch * problem.rows * problem.heads * problem.queries *
         problem.keys;
}

DenseArray
mlir::evoformer::reference::computeWeights(const AttentionProblem &problem,
                                           unsigned threads) {
  DenseArray result;
  result.sizes = {problem.batch, problem.rows, problem.heads, problem.queries,
                  problem.keys};
  result.elements.resize(countPairs(problem));
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    HeadWeights head(problem, b, n, h);
    for (int64_t i = 0; i < problem.queries; ++i) {
      if (!head.compute(i))
        continue;
      double *row = &result.elements[findRow(problem, b, n, h, i)];
      for (int64_t j = 0; j < problem.keys; ++j)
        if (head.kept[j])
          row[j] =
              head.dropFactors[j] == 0 ? -head.getWeight(j) : head.getWeight(j);
    }
  });
  for (double weight : result.elements)
    result.magnitudes.push_back(std::fabs(weight));
  return result;
}

GradientErrors
mlir::evoformer::reference::boundWeights(const AttentionProblem &problem,
                                         unsigned threads,
                                         const Arithmetic &arithmetic) {
  GradientErrors result(countPairs(problem));
  forEachHead(problem, threads, [&](int64_t b, int64_t n, int64_t h) {
    WeightErrors errors(problem, arithmetic, b, n, h);
    const HeadWeights &head = errors.head;
    for (int64_t i = 0; i < problem.queries; ++i) {
      if (!errors.compute(i))
        continue;
      ErrorSum ofStatistics = errors.ofStatistics();
      ElementErrors *row = &result[findRow(problem, b, n, h, i)];
      for (int64_t j = 0; j < problem.keys; ++j) {
        row[j].mayBeInfinite = head.sunk[j] != 0;
        if (!head.kept[j])
          continue;
        ErrorSum error = errors.ofWeightAgain(j), common;
        common.add(ofStatistics, head.getWeight(j));
        error.add(common, 1);
        row[j].square = error.square;
        row[j].most = error.most;
        row[j].shared = error.getShared();
        row[j].flushed = error.flushed;
        row[j].common = common.square;
        row[j].lost = errors.hasDigits ? 0 : errors.getLargestWeight(j);
      }
    }
  });
  return result;
}

Comparison
mlir::evoformer::reference::compareWeights(const View &weights,
                                           const DenseArray &reference,
                                           const GradientErrors &errors) {
  return compareGradient(weights, reference, /*eager=*/reference,
                         /*exact=*/reference, errors);
}
