//===- Head.h - One head of one row -----------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What both references share: the inputs of one (b, n, h), the biases split
// into those that depend on the query and those that do not, and threads.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_REFERENCE_HEAD_H
#define EVOFORMER_LIB_REFERENCE_HEAD_H

#include "Evoformer/Reference/Attention.h"
#include <functional>

namespace mlir::evoformer::reference {

/// The inputs of one (b, n, h), read once. `Number` is the type to compute in.
template <typename Number> struct HeadInputs {
  std::vector<Number> query;         // [Sq][D]
  std::vector<Number> keyTransposed; // [D][Sk]
  std::vector<Number> value;         // [Sk][Dv]
};

/// The biases of one (b, n, h).
class HeadBiases {
public:
  HeadBiases(const AttentionProblem &problem, int64_t b, int64_t n, int64_t h);

  /// The sum c_j of the biases that do not depend on the query.
  const std::vector<double> &independent() const { return sum; }
  /// The maximum of c_j over the keys that those keep, 0 if there is none.
  double m0() const { return maximum; }

  /// Whether those and the row's length keep key j.
  bool keepsForAll(int64_t j) const { return independentlyKept[j]; }

  /// Reads what depends on query i: kept[j] and the terms of key j, which
  /// `add(j, term)` receives one by one, in the order of the biases.
  void readQuery(int64_t i, std::vector<uint8_t> &kept,
                 const std::function<void(int64_t, double)> &add) const;

private:
  const AttentionProblem &problem;
  int64_t b, n, h;
  std::vector<double> sum;
  std::vector<uint8_t> independentlyKept;
  double maximum = 0;
};

template <typename Number>
HeadInputs<Number> readHead(const AttentionProblem &problem, int64_t b,
                            int64_t n, int64_t h);

/// The places of results in their dense arrays.
struct ResultIndex {
  const AttentionProblem &problem;
  int64_t out(int64_t b, int64_t n, int64_t i, int64_t h) const;
  int64_t statistic(int64_t b, int64_t n, int64_t h, int64_t i) const;
  int64_t head(int64_t b, int64_t n, int64_t h) const;
};

/// Arrays of the right sizes.
AttentionResult makeResult(const AttentionProblem &problem);

/// 1 / (1 + exp(-x)).
double sigmoid(double x);

/// Calls `body(b, n, h)` for every head, on several threads.
void forEachHead(const AttentionProblem &problem, unsigned threads,
                 const std::function<void(int64_t, int64_t, int64_t)> &body);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_LIB_REFERENCE_HEAD_H
