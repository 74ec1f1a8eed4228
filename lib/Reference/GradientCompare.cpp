//===- GradientCompare.cpp - Errors of gradients --------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BoundJudge.h"
#include "Evoformer/Reference/Gradients.h"
#include "Roundings.h"
#include "RowJudge.h"
#include <algorithm>

using namespace mlir::evoformer::reference;

namespace {
/// The rows of a gradient, along its last dimension whose size is not 1.
class GradientRows {
public:
  explicit GradientRows(const DenseArray &reference) : sizes(reference.sizes) {
    while (along > 0 && sizes[along] == 1)
      --along;
    for (int dim = along + 1; dim < 5; ++dim)
      stride *= sizes[dim];
    size = sizes[along];
  }

  /// Calls `body(index, at)` with the first element of each row.
  template <typename Body> void forEach(Body body) const {
    std::array<int64_t, 5> index = {};
    std::array<int64_t, 5> bounds = sizes;
    bounds[along] = 1;
    int64_t count = 1;
    for (int64_t bound : bounds)
      count *= bound;
    for (int64_t row = 0; row < count; ++row) {
      int64_t at = 0;
      for (int dim = 0; dim < 5; ++dim)
        at = at * sizes[dim] + index[dim];
      body(index, at);
      for (int dim = 4; dim >= 0 && ++index[dim] == bounds[dim]; --dim)
        index[dim] = 0;
    }
  }

  double norm(const std::vector<double> &values, int64_t at) const {
    double sum = 0;
    for (int64_t e = 0; e < size; ++e)
      sum += values[at + e * stride] * values[at + e * stride];
    return std::sqrt(sum);
  }
  double distance(const std::vector<double> &a, const std::vector<double> &b,
                  int64_t at) const {
    double sum = 0;
    for (int64_t e = at; e < at + size * stride; e += stride)
      sum += (a[e] - b[e]) * (a[e] - b[e]);
    return std::sqrt(sum);
  }

  std::array<int64_t, 5> sizes;
  int along = 4;
  int64_t size = 0, stride = 1;
};
} // namespace

Comparison mlir::evoformer::reference::compareGradient(
    const View &gradient, const DenseArray &reference, const DenseArray &eager,
    const DenseArray &exact, const GradientErrors &errors) {
  Comparison comparison;
  RowJudge judge(comparison);
  BoundJudge bound(comparison);
  if (reference.elements.empty())
    return comparison;
  GradientRows rows(reference);
  std::vector<double> given(rows.size);
  rows.forEach([&](const std::array<int64_t, 5> &index, int64_t first) {
    std::string where = "row [";
    for (int dim = 0; dim < 5; ++dim)
      where += (dim ? ", " : "") + std::to_string(index[dim]);
    where += "]";
    for (int64_t e = 0; e < rows.size; ++e) {
      std::array<int64_t, 5> i = index;
      i[rows.along] = e;
      given[e] = gradient.at(i[0], i[1], i[2], i[3], i[4]);
      int64_t at = first + e * rows.stride;
      if (errors[at].mayBeInfinite && !std::isfinite(given[e]))
        given[e] = reference.elements[at];
    }
    auto measured = measureRow(
        rows.size, gradient.type, [&](int64_t e) { return given[e]; },
        &reference.elements[first], &reference.elements[first], rows.stride,
        where, judge);
    if (!measured)
      return;
    double error = 0, most = 0, worst = -1, shared = 0;
    bool hasDigits = true;
    for (int64_t e = 0; e < rows.size; ++e) {
      int64_t at = first + e * rows.stride;
      double expected = reference.elements[at];
      if (isSpecial(roundTo(expected, gradient.type), given[e]))
        continue;
      const ElementErrors &of = errors[at];
      if (of.mayBeInfinite)
        continue;
      double deviation = std::sqrt(of.square);
      double inner =
          std::min(of.most, kDeviations * deviation) + of.shared + of.lost;
      double allowed =
          inner + ulpOf(std::fabs(expected) + inner, gradient.type) / 2;
      double ulp = ulpOf(expected, gradient.type);
      deviation = std::sqrt(of.square + ulp * ulp / 12);
      // Beside errors of the usual size what is lost tells nothing.
      bool isUsual = of.lost <= deviation;
      // Nor is what products leave symmetric, as the median's errors are.
      bool isSymmetric = isUsual && of.flushed <= deviation;
      hasDigits &= isUsual;
      double own = std::fabs(given[e] - expected);
      double share = bound.addElement(own, allowed, deviation, isSymmetric);
      // What is stored as 0 lacks all of itself.
      double vanished =
          std::fabs(expected) + inner < ulpOf(0, gradient.type) / 2
              ? std::fabs(expected)
              : 0;
      shared += (of.shared + vanished + kDeviations * std::sqrt(of.common)) *
                std::fabs(expected);
      if (share <= worst)
        continue;
      worst = share;
      error = own;
      most = allowed;
    }
    double magnitude = rows.norm(reference.magnitudes, first);
    if (hasDigits)
      bound.addDraw(measured->along, shared, 1 / (magnitude * magnitude));
    double eagerError = rows.distance(eager.elements, exact.elements, first);
    if (!std::isfinite(eagerError))
      eagerError = 0;
    double promised = kPromise * eagerError + measured->ulp;
    if (measured->error > promised) {
      ++comparison.luckyRows;
      comparison.worstLucky =
          std::max(comparison.worstLucky, measured->error / promised);
    }
    judge.accept(measured->error, eagerError, measured->norm, error, most,
                 where);
  });
  bound.finish();
  return comparison;
}
