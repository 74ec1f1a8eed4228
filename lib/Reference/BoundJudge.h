//===- BoundJudge.h - Errors against their bounds ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_REFERENCE_BOUNDJUDGE_H
#define EVOFORMER_LIB_REFERENCE_BOUNDJUDGE_H

#include "Evoformer/Reference/Compare.h"

namespace mlir::evoformer::reference {

/// Collects the errors of an output that roundings should explain.
class BoundJudge {
public:
  explicit BoundJudge(Comparison &comparison) : comparison(comparison) {}

  /// An element's error as a share of its bound. Where a row has no digits it
  /// says nothing about usual errors.
  double addElement(double error, double most, double deviation,
                    bool hasDigits);
  /// A row's error along itself, which counts `weight` times.
  void addRow(double along, double variance, double shared, double weight);
  /// Asks that the errors of many rows be of the size that roundings explain,
  /// and average out.
  void finish();

private:
  void reject(bool &flag, const char *text);

  Comparison &comparison;
  std::vector<double> shares, deviations;
  double rows = 0, sum = 0, variance = 0, shared = 0;
};

/// 0 of none.
double findMedian(std::vector<double> values);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_LIB_REFERENCE_BOUNDJUDGE_H
