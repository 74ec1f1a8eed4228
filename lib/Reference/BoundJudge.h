//===- BoundJudge.h - Errors against their bounds ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_REFERENCE_BOUNDJUDGE_H
#define EVOFORMER_LIB_REFERENCE_BOUNDJUDGE_H

#include "RowJudge.h"

namespace mlir::evoformer::reference {

/// The mean of draws (Welford 1962).
struct RunningMean {
  void add(double value) {
    double difference = value - mean;
    mean += difference / ++count;
    squares += difference * (value - mean);
  }
  double getStandardError() const {
    return std::sqrt(squares / (count - 1) / count);
  }

  double count = 0, mean = 0, squares = 0;
};

/// Collects the errors of an output or a gradient that roundings should
/// explain.
class BoundJudge {
public:
  explicit BoundJudge(Comparison &comparison) : comparison(comparison) {}

  /// An element's error as a share of its bound. `isUsual`: whether it is a
  /// draw of roundings, which it is not without digits, nor beside what
  /// products leave away.
  double addElement(double error, double most, double deviation, bool isUsual);
  /// A row's error along itself, which counts `weight` times.
  void addRow(double along, double variance, double shared, double weight);
  /// The same where rows share draws, so that variances do not add up: the
  /// rows themselves tell the error of their mean.
  void addDraw(double along, double ofAll, double weight);
  /// Asks that the errors of many rows be of the size that roundings explain,
  /// and average out.
  void finish();

private:
  void judgeMean();
  void judgeDraws();
  void reject(bool &flag, const char *text);

  Comparison &comparison;
  std::vector<double> shares, deviations;
  double rows = 0, sum = 0, variance = 0, shared = 0;
  RunningMean draws;
};

/// 0 of none.
double findMedian(std::vector<double> values);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_LIB_REFERENCE_BOUNDJUDGE_H
