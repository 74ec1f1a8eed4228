//===- Compare.h - Errors against the reference -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The acceptance rule of every numeric test.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_REFERENCE_COMPARE_H
#define EVOFORMER_REFERENCE_COMPARE_H

#include "Evoformer/Reference/ErrorBound.h"
#include <string>

namespace mlir::evoformer::reference {

/// What a comparison found. A row is one query of one head.
struct Comparison {
  int64_t rows = 0;
  int64_t wrongRows = 0;
  /// The medians of all rows are too far apart.
  bool isMedianWrong = false;
  /// Errors do not average out over the rows.
  bool isMeanWrong = false;
  /// Rows beyond what users are promised, an error of 2 |g| + |u| (see
  /// compareOutput), that are accepted nevertheless; of gradients the largest
  /// quotient of these, and that of the medians.
  int64_t luckyRows = 0;
  double worstLucky = 0, medianRatio = 0;
  /// Of many rows, the median share that an element's error takes of
  /// its bound.
  double medianShare = 0;
  /// Of many rows: the mean of signed errors, those along the rows, in its
  /// standard errors (of outputs: beyond what all rows may have in common).
  double meanInStandardErrors = 0;
  /// The largest relative error of a row (euclidean norms).
  double maxError = 0;
  /// The largest relative error of a row of eager mode.
  double maxEagerError = 0;
  /// The largest quotient of a row's error and what is allowed for it.
  double worstRatio = 0;
  /// The first wrong row, or the medians, in words; else empty.
  std::string firstWrong;

  bool passed() const {
    return wrongRows == 0 && !isMedianWrong && !isMeanWrong;
  }
};

/// Compares an output of the problem's sizes. An element is right within what
/// the algorithm's roundings explain, `bounds` (docs/rationale/error-bound.md).
/// Of 32 rows or more the median error must have the size that they explain,
/// and errors average out.
///
/// Users are promised eager mode's errors. Let e and g be the differences to
/// the reference r of a row of the output and of eager mode; promised is
///
///     |e| <= 2 |g| + |u|
///
/// with the elements of u one ulp of the output type at those of r; for an f32
/// output |u| is 1e-6 |r|. Rows beyond that are counted. Of 32 rows or more
/// whose weights have no digits left the median of |e| over the norm of the
/// magnitudes must be about eager mode's (docs/rationale/accepted-outputs.md).
///
/// Elements whose reference is NaN must be NaN, infinite ones (after rounding
/// to the output type) equal; all others must be finite. A row of eager mode
/// that is not finite allows nothing for g.
Comparison compareOutput(const AttentionProblem &problem, const View &output,
                         const AttentionResult &reference,
                         const AttentionResult &eager,
                         const OutputBounds &bounds);

/// Compares lse: a number is right within what roundings explain, and NaN and
/// infinities agree.
Comparison compareLogSumExp(const AttentionProblem &problem, const View &lse,
                            const AttentionResult &reference,
                            const OutputBounds &bounds);

/// Compares stats [2, B, N, H, Sq], a maximum M in units of 16 (queries of f32)
/// or 16 ln 2 (other types) and a binary logarithm L of a sum: the sum of both,
/// as exponents of e, with `reference` as above, and L with what a sum of 1 and
/// as many numbers up to 1 as there are further keys allows. Both are 0 where
/// no key is left.
Comparison compareStats(const AttentionProblem &problem, const View &stats,
                        const std::vector<double> &reference,
                        const OutputBounds &bounds);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_REFERENCE_COMPARE_H
