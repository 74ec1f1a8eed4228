//===- BoundJudge.cpp - Errors against their bounds -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BoundJudge.h"
#include "Roundings.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace mlir::evoformer::reference;

/// So many standard errors from zero a mean is no draw: of kManyRows rows about
/// one tensor in 2e8 has one (Student's t with 31 degrees of freedom).
static constexpr double kSignificant = 8;

double mlir::evoformer::reference::findMedian(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double BoundJudge::addElement(double error, double most, double deviation,
                              bool isUsual) {
  double share = error == 0 ? 0
                 : most > 0 ? error / most
                            : std::numeric_limits<double>::infinity();
  comparison.worstRatio = std::max(comparison.worstRatio, share);
  if (isUsual && deviation > 0) {
    shares.push_back(share);
    deviations.push_back(error / deviation);
  }
  return share;
}

void BoundJudge::addRow(double along, double ofAlong, double ofAll,
                        double weight) {
  if (!std::isfinite(weight * along))
    return;
  ++rows;
  sum += weight * along;
  variance += weight * weight * ofAlong;
  shared += weight * ofAll;
}

void BoundJudge::addDraw(double along, double ofAll, double weight) {
  if (!std::isfinite(weight * along))
    return;
  ++rows;
  draws.add(weight * along);
  shared += weight * ofAll;
}

void BoundJudge::finish() {
  if (rows < kManyRows)
    return;
  comparison.medianShare = findMedian(shares);
  // The median of a symmetric unimodal error is at most that of a uniform one
  // (Gauss 1823); that of many is a draw with a standard error of 1 / sqrt(n).
  double median = findMedian(deviations);
  double most = std::sqrt(0.75) * (1 + kDeviations / std::sqrt(rows));
  if (median > most) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "the median error is %.3g of the root mean square that "
                  "roundings explain, at most %.3g",
                  median, most);
    reject(comparison.isMedianWrong, text);
  }
  if (draws.count > 0)
    judgeDraws();
  else
    judgeMean();
}

void BoundJudge::judgeMean() {
  double standardError = std::sqrt(variance);
  double beyond = std::max(0.0, std::fabs(sum) - shared);
  if (beyond > 0)
    comparison.meanInStandardErrors =
        standardError > 0 ? beyond / standardError
                          : std::numeric_limits<double>::infinity();
  if (comparison.meanInStandardErrors <= kDeviations)
    return;
  char text[160];
  std::snprintf(text, sizeof(text),
                "errors do not average out: mean %.3g of the terms, standard "
                "error %.3g, %.3g in common",
                sum / rows, standardError / rows, shared / rows);
  reject(comparison.isMeanWrong, text);
}

void BoundJudge::judgeDraws() {
  double standardError = draws.getStandardError(), common = shared / rows;
  double beyond = std::max(0.0, std::fabs(draws.mean) - common);
  if (beyond == 0)
    return;
  comparison.meanInStandardErrors =
      standardError > 0 ? beyond / standardError
                        : std::numeric_limits<double>::infinity();
  if (comparison.meanInStandardErrors <= kSignificant)
    return;
  char text[160];
  std::snprintf(text, sizeof(text),
                "the errors of all rows have a mean: %.3g of the terms, "
                "standard error %.3g, %.3g in common",
                draws.mean, standardError, common);
  reject(comparison.isMeanWrong, text);
}

void BoundJudge::reject(bool &flag, const char *text) {
  flag = true;
  if (comparison.firstWrong.empty())
    comparison.firstWrong = text;
}
