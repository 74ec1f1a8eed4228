//===- GradientSums.h - Gradients of one head and of all --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the f64 gradients and those of eager mode share.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_REFERENCE_GRADIENTSUMS_H
#define EVOFORMER_LIB_REFERENCE_GRADIENTSUMS_H

#include "Evoformer/Reference/Gradients.h"
#include <mutex>

namespace mlir::evoformer::reference {

/// The gradients of one (b, n, h), starting from zero.
struct GradientSums {
  explicit GradientSums(const AttentionProblem &problem)
      : query(problem.queries * problem.depth),
        key(problem.keys * problem.depth),
        value(problem.keys * problem.valueDepth),
        gate(problem.queries * problem.valueDepth),
        logits(problem.queries * problem.keys),
        captures(problem.captures.empty() ? 0 : logits.size()) {}

  /// What pairs add to the gradient of a bias, or behind them of a capture.
  const std::vector<double> &ofPairs(size_t bias,
                                     const AttentionProblem &problem) const {
    return bias < problem.biases.size() ? logits : captures;
  }

  std::vector<double> query, key; // [Sq][D], [Sk][D]
  std::vector<double> value;      // [Sk][Dv]
  std::vector<double> gate;       // [Sq][Dv]
  std::vector<double> logits;     // [Sq][Sk]
  std::vector<double> captures;   // [Sq][Sk], of the only one
};

/// The gradients of all heads. Heads may be added from several threads.
class GradientResult {
public:
  explicit GradientResult(const AttentionProblem &problem);

  /// Adds the gradients of a head to those at their places, which heads of a
  /// group share, and those of its logits to every bias. With `magnitudes`
  /// those as well.
  void add(const GradientSums &sums, int64_t b, int64_t n, int64_t h,
           const GradientSums *magnitudes = nullptr);

  AttentionGradients gradients;

private:
  void add(const GradientSums &sums, int64_t b, int64_t n, int64_t h,
           std::vector<double> DenseArray::*part);

  const AttentionProblem &problem;
  std::mutex mutex;
};

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_LIB_REFERENCE_GRADIENTSUMS_H
