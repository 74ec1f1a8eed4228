//===- Compare.cpp - Errors against the reference -------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Compare.h"
#include "BoundJudge.h"
#include "Head.h"
#include "RowJudge.h"
#include "WeightErrors.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>

using namespace mlir::evoformer::reference;

/// Half an ulp of f32, relative: where eager mode is exact.
static constexpr double kRounding = 0x1p-24;

namespace {
/// The errors of rows, here and in eager mode, in shares of their terms.
struct ManyErrors {
  void add(double own, double ofEager) {
    errors.push_back(own);
    eagerErrors.push_back(ofEager);
  }
  /// Of the medians, eager mode's a rounding larger; 0 of few rows.
  double getRatio() const {
    if (static_cast<double>(errors.size()) < kManyRows)
      return 0;
    return findMedian(errors) / (findMedian(eagerErrors) + kRounding);
  }

  std::vector<double> errors, eagerErrors;
};
} // namespace

/// Rows without digits have bounds that say nothing about usual errors. There
/// eager mode loses what is lost here, or more: medians of draws from one
/// distribution. That of n draws has the standard error 1 / (2 f sqrt(n)), f
/// being the density there, which is 1.17 / sqrt(n) of the median of a normal
/// error's size; the quotient of two has sqrt(2) times that.
static void judgeLostRows(const ManyErrors &rows, Comparison &comparison) {
  double count = static_cast<double>(rows.errors.size());
  double most = 1 + kDeviations * 1.17 * std::sqrt(2 / count);
  if (rows.getRatio() <= most)
    return;
  char text[128];
  std::snprintf(text, sizeof(text),
                "the median of %zu rows without digits: error %.3g, eager "
                "mode's %.3g",
                rows.errors.size(), findMedian(rows.errors),
                findMedian(rows.eagerErrors));
  comparison.isMedianWrong = true;
  if (comparison.firstWrong.empty())
    comparison.firstWrong = text;
}

static std::string nameRow(int64_t b, int64_t n, int64_t h, int64_t i) {
  char text[128];
  std::snprintf(text, sizeof(text), "b %lld, n %lld, h %lld, query %lld",
                static_cast<long long>(b), static_cast<long long>(n),
                static_cast<long long>(h), static_cast<long long>(i));
  return text;
}

template <typename Body>
static void forEachRow(const AttentionProblem &problem, Body body) {
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t n = 0; n < problem.rows; ++n)
      for (int64_t h = 0; h < problem.heads; ++h)
        for (int64_t i = 0; i < problem.queries; ++i)
          body(b, n, h, i);
}

Comparison mlir::evoformer::reference::compareOutput(
    const AttentionProblem &problem, const View &output,
    const AttentionResult &reference, const AttentionResult &eager,
    const OutputBounds &bounds) {
  Comparison comparison;
  RowJudge judge(comparison);
  BoundJudge bound(comparison);
  ManyErrors all, withoutDigits;
  ResultIndex index{problem};
  int64_t depth = problem.valueDepth;
  forEachRow(problem, [&](int64_t b, int64_t n, int64_t h, int64_t i) {
    int64_t first = index.out(b, n, i, h), row = first / depth;
    std::string name = nameRow(b, n, h, i);
    auto given = [&](int64_t e) { return output.at(b, n, i, h, e); };
    auto measured = measureRow(depth, output.type, given, &reference.out[first],
                               &eager.out[first], 1, name, judge);
    if (!measured)
      return;
    double magnitude = 0, error = 0, most = 0, worst = -1;
    for (int64_t e = 0; e < depth; ++e) {
      int64_t at = first + e;
      magnitude = std::hypot(magnitude, reference.magnitudes[at]);
      if (isSpecial(roundTo(reference.out[at], output.type), given(e)))
        continue;
      double own = std::fabs(given(e) - reference.out[at]);
      double share = bound.addElement(
          own, bounds.most[at], bounds.deviation[at], bounds.hasDigits[row]);
      if (share <= worst)
        continue;
      worst = share;
      error = own;
      most = bounds.most[at];
    }
    double square = magnitude * magnitude;
    if (bounds.hasDigits[row])
      bound.addRow(measured->along, bounds.alongVariance[row],
                   bounds.alongShared[row], 1 / square);
    if (magnitude > 0) {
      all.add(measured->error / magnitude, measured->eager / magnitude);
      if (!bounds.hasDigits[row])
        withoutDigits.add(measured->error / magnitude,
                          measured->eager / magnitude);
    }
    if (measured->error > kPromise * measured->eager + measured->ulp)
      ++comparison.luckyRows;
    judge.accept(measured->error, measured->eager, measured->norm, error, most,
                 name);
  });
  comparison.medianRatio = all.getRatio();
  judgeLostRows(withoutDigits, comparison);
  bound.finish();
  return comparison;
}

/// What errors of a statistic refer to.
static double getScale(double expected) {
  return std::max(1.0, std::fabs(expected));
}

/// Judges one number of a row; `type` is what the reference rounds to.
static void judgeStatistic(double given, double expected, double allowed,
                           ElementType type, const std::string &name,
                           RowJudge &judge) {
  // A finite number stays one: only a row without keys has -inf.
  if (type == ElementType::F32 && std::isfinite(expected))
    expected =
        std::clamp<double>(expected, std::numeric_limits<float>::lowest(),
                           std::numeric_limits<float>::max());
  if (double rounded = roundTo(expected, type); isSpecial(rounded, given)) {
    if (agreeOnSpecial(rounded, given))
      judge.accept(0, 0, 0, 0, 0, "");
    else
      judge.rejectSpecial(name, rounded, given);
    return;
  }
  double error = std::fabs(given - expected);
  judge.accept(error, 0, getScale(expected), error, allowed, name);
}

Comparison mlir::evoformer::reference::compareLogSumExp(
    const AttentionProblem &problem, const View &lse,
    const AttentionResult &reference, const OutputBounds &bounds) {
  Comparison comparison;
  RowJudge judge(comparison);
  ResultIndex index{problem};
  forEachRow(problem, [&](int64_t b, int64_t n, int64_t h, int64_t i) {
    int64_t row = index.statistic(b, n, h, i);
    judgeStatistic(lse.at(b, n, h, i), reference.lse[row], bounds.lse[row],
                   lse.type, nameRow(b, n, h, i), judge);
  });
  return comparison;
}

/// Where weights are logits: 0, and what these are divided by.
static Comparison compareDivisors(const AttentionProblem &problem,
                                  const View &stats,
                                  const std::vector<double> &reference,
                                  const OutputBounds &bounds) {
  Comparison comparison;
  RowJudge judge(comparison);
  ResultIndex index{problem};
  forEachRow(problem, [&](int64_t b, int64_t n, int64_t h, int64_t i) {
    int64_t row = index.statistic(b, n, h, i);
    std::string name = nameRow(b, n, h, i);
    if (double first = stats.at(0, b, n, h, i); first != 0)
      judge.rejectSpecial(name + ", the first number", 0, first);
    else
      judgeStatistic(stats.at(1, b, n, h, i), reference[row], bounds.stats[row],
                     ElementType::F32, name, judge);
  });
  return comparison;
}

Comparison mlir::evoformer::reference::compareStats(
    const AttentionProblem &problem, const View &stats,
    const std::vector<double> &reference, const OutputBounds &bounds) {
  if (problem.weights)
    return compareDivisors(problem, stats, reference, bounds);
  constexpr double rounding = 1e-5;
  // As exponents of e.
  double unit =
      16 * (problem.query.type == ElementType::F32 ? 1 : std::log(2.0));
  Comparison comparison;
  RowJudge judge(comparison);
  ResultIndex index{problem};
  double mostKeys = std::log2(static_cast<double>(problem.keys)) + rounding;
  // A reference that is not the maximum leaves sums that the type holds.
  double mostSum = problem.query.type == ElementType::F32    ? mostKeys
                   : problem.query.type == ElementType::BF16 ? 64
                                                             : 16;
  mostSum = std::max(mostKeys, mostSum);
  forEachRow(problem, [&](int64_t b, int64_t n, int64_t h, int64_t i) {
    int64_t row = index.statistic(b, n, h, i);
    std::string name = nameRow(b, n, h, i);
    double maximum = stats.at(0, b, n, h, i), logSum = stats.at(1, b, n, h, i);
    // The weight of the reference itself is 1 but for the rounding of its
    // exponent.
    double least = -rounding - kSingle * 16 * std::fabs(maximum);
    bool isEmpty = std::isinf(reference[row]) && reference[row] < 0;
    if (isEmpty ? maximum != 0 || logSum != 0
                : logSum < least || logSum > mostSum)
      judge.rejectSpecial(name + ", logarithm of the sum",
                          isEmpty ? 0 : mostSum, logSum);
    else if (isEmpty)
      judge.accept(0, 0, 0, 0, 0, "");
    else
      judgeStatistic(unit * maximum + std::log(2.0) * logSum, reference[row],
                     bounds.stats[row], ElementType::F64, name, judge);
  });
  return comparison;
}
