//===- Compare.cpp - Errors against the reference -------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Compare.h"
#include "BoundJudge.h"
#include "Evoformer/Reference/Gradients.h"
#include "Head.h"
#include "Roundings.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>

using namespace mlir::evoformer::reference;

/// Relative accuracy asked of f32, beside twice eager's error.
static constexpr double kF32Accuracy = 1e-6;

/// What users are promised, in errors of eager mode.
static constexpr double kPromise = 2;

/// A usual error, in medians of them.
static constexpr double kUsual = 2;

/// Where both have lost the same rows, their medians are about the same.
static constexpr double kMedianRatio = 1.25;

/// Half an ulp of f32, relative: where eager mode is exact.
static constexpr double kRounding = 0x1p-24;

/// A median error of so many roundings is due to something else.
static constexpr double kLost = 4;

/// Rows that are usually off by this share of their norm have lost all digits.
static constexpr double kNoDigits = 0.5;

/// Medians and means of fewer rows say little.
static constexpr size_t kManyRows = 32;

/// So many standard errors from zero a mean is no draw: of kManyRows rows about
/// one tensor in 2e8 has one (Student's t with 31 degrees of freedom).
static constexpr double kSignificant = 8;

/// Whether two numbers agree that one of them is NaN or infinite; false if both
/// are finite.
static bool isSpecial(double reference, double given) {
  return !std::isfinite(reference) || !std::isfinite(given);
}
static bool agreeOnSpecial(double reference, double given) {
  return std::isnan(reference) ? std::isnan(given) : reference == given;
}

namespace {
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

/// Collects rows.
class Judge {
public:
  explicit Judge(Comparison &comparison) : comparison(comparison) {}

  /// Judges a row by its own error.
  void accept(double error, double eagerError, double allowed, double norm,
              const std::string &where) {
    accept(error, eagerError, norm, error, allowed, where);
  }

  /// Judges a row by what decides about it: `decisive` and what is allowed of
  /// that.
  void accept(double error, double eagerError, double norm, double decisive,
              double allowed, const std::string &where) {
    ++comparison.rows;
    if (norm > 0) {
      comparison.maxError = std::max(comparison.maxError, error / norm);
      comparison.maxEagerError =
          std::max(comparison.maxEagerError, eagerError / norm);
    }
    double ratio = decisive == 0 ? 0
                   : allowed > 0 ? decisive / allowed
                                 : std::numeric_limits<double>::infinity();
    comparison.worstRatio = std::max(comparison.worstRatio, ratio);
    if (ratio <= 1)
      return;
    char text[160];
    std::snprintf(text, sizeof(text),
                  ": error %.3g, allowed %.3g, norm of the row %.3g", decisive,
                  allowed, norm);
    reject(where + text);
  }

  void rejectSpecial(const std::string &where, double reference, double given) {
    ++comparison.rows;
    comparison.worstRatio = std::numeric_limits<double>::infinity();
    char text[96];
    std::snprintf(text, sizeof(text), ": got %g, reference %g", given,
                  reference);
    reject(where + text);
  }

  /// Errors of a row, given and eager mode's, as shares of its terms.
  void addShare(double share) { shares.push_back(share); }
  void addEagerShare(double share) { eagerShares.push_back(share); }
  double getEagerMedian() const { return findMedian(eagerShares); }

  /// Errors of a row along its reference, and that along itself, as shares of
  /// its terms: what is too small or too large throughout has a mean, which
  /// roundings have not.
  void addSigned(double error, double eagerError, double size) {
    given.add(error);
    eager.add(eagerError);
    sizes.add(size);
  }

  /// Asks that the errors of many rows average out, but for what large masks
  /// take from eager mode's as well; `rounding` is that of the weights.
  void judgeMean(double rounding) {
    if (given.count < kManyRows)
      return;
    double standardError = given.getStandardError();
    if (standardError > 0)
      comparison.meanInStandardErrors = std::fabs(given.mean) / standardError;
    double allowed = kPromise * std::fabs(eager.mean) +
                     kUncompensated * rounding * sizes.mean + kF32Accuracy +
                     kSignificant * standardError;
    if (std::fabs(given.mean) <= allowed)
      return;
    char text[160];
    std::snprintf(text, sizeof(text),
                  "the errors of all rows have a mean: %.3g of the terms, "
                  "allowed %.3g, eager mode's mean %.3g",
                  given.mean, allowed, eager.mean);
    rejectTensor(comparison.isMeanWrong, text);
  }

  /// Asks that the median of many rows be at most `ratio` times eager mode's,
  /// which is taken for `rounding` larger.
  void judgeMedians(double rounding, double ratio = kMedianRatio) {
    if (shares.size() < kManyRows)
      return;
    double error = findMedian(shares), eagerError = getEagerMedian() + rounding;
    comparison.medianRatio = error / eagerError;
    if (comparison.medianRatio <= ratio)
      return;
    char text[96];
    std::snprintf(text, sizeof(text),
                  "the median of all rows: error %.3g, eager mode's %.3g",
                  error, eagerError);
    rejectTensor(comparison.isMedianWrong, text);
  }

private:
  void rejectTensor(bool &flag, const char *text) {
    flag = true;
    if (comparison.firstWrong.empty())
      comparison.firstWrong = text;
  }
  void reject(const std::string &text) {
    if (comparison.wrongRows++ == 0)
      comparison.firstWrong = text;
  }

  Comparison &comparison;
  std::vector<double> shares, eagerShares;
  RunningMean given, eager, sizes;
};
} // namespace

static std::string nameRow(int64_t b, int64_t n, int64_t h, int64_t i) {
  char text[128];
  std::snprintf(text, sizeof(text), "b %lld, n %lld, h %lld, query %lld",
                static_cast<long long>(b), static_cast<long long>(n),
                static_cast<long long>(h), static_cast<long long>(i));
  return text;
}

namespace {
/// Norms of a row.
struct RowErrors {
  double error = 0, eager = 0, ulp = 0, norm = 0;
  /// The product of the error and the reference.
  double along = 0;
};
} // namespace

/// Compares a row of `size`, `given(e)` being its elements; nothing where
/// special values disagree.
template <typename Given>
static std::optional<RowErrors>
measureRow(int64_t size, ElementType type, Given given, const double *reference,
           const double *eager, int64_t stride, const std::string &where,
           Judge &judge) {
  RowErrors row;
  for (int64_t e = 0; e < size; ++e) {
    double value = given(e);
    double exact = reference[e * stride];
    double expected = roundTo(exact, type);
    if (isSpecial(expected, value)) {
      if (!agreeOnSpecial(expected, value)) {
        judge.rejectSpecial(where + ", element " + std::to_string(e), expected,
                            value);
        return std::nullopt;
      }
      continue;
    }
    auto square = [](double x) { return x * x; };
    row.error += square(value - exact);
    row.eager += square(eager[e * stride] - exact);
    row.norm += square(exact);
    row.along += (value - exact) * exact;
    if (exact != 0)
      row.ulp += square(ulpOf(exact, type));
  }
  row.error = std::sqrt(row.error);
  row.eager = std::isfinite(row.eager) ? std::sqrt(row.eager) : 0;
  row.norm = std::sqrt(row.norm);
  row.ulp =
      type == ElementType::F32 ? kF32Accuracy * row.norm : std::sqrt(row.ulp);
  return row;
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
  Judge judge(comparison);
  BoundJudge bound(comparison);
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
      judge.addShare(measured->error / magnitude);
      judge.addEagerShare(measured->eager / magnitude);
    }
    if (measured->error > kPromise * measured->eager + measured->ulp)
      ++comparison.luckyRows;
    judge.accept(measured->error, measured->eager, measured->norm, error, most,
                 name);
  });
  judge.judgeMedians(kRounding);
  bound.finish();
  return comparison;
}

/// What errors of a statistic refer to.
static double getScale(double expected) {
  return std::max(1.0, std::fabs(expected));
}

/// Eager mode's error where a row is neither lucky nor unlucky: the median.
static double findUsualError(const std::vector<double> &reference,
                             const std::vector<double> &eager) {
  std::vector<double> errors;
  for (auto [expected, given] : llvm::zip_equal(reference, eager))
    if (double error = std::fabs(given - expected); std::isfinite(error))
      errors.push_back(error / getScale(expected));
  return errors.empty() ? 0 : findMedian(std::move(errors));
}

/// Judges one number of a row; `type` is what the reference rounds to.
static void judgeStatistic(double given, double expected, double eager,
                           double usualError, ElementType type,
                           const std::string &name, Judge &judge) {
  // A finite number stays one: only a row without keys has -inf.
  if (type == ElementType::F32 && std::isfinite(expected))
    expected =
        std::clamp<double>(expected, std::numeric_limits<float>::lowest(),
                           std::numeric_limits<float>::max());
  if (double rounded = roundTo(expected, type); isSpecial(rounded, given)) {
    if (agreeOnSpecial(rounded, given))
      judge.accept(0, 0, 0, 0, "");
    else
      judge.rejectSpecial(name, rounded, given);
    return;
  }
  double eagerError = std::fabs(eager - expected);
  if (!std::isfinite(eagerError))
    eagerError = 0;
  double norm = getScale(expected);
  judge.accept(std::fabs(given - expected), eagerError,
               2 * std::max(eagerError, usualError * norm) +
                   kF32Accuracy * norm,
               norm, name);
}

Comparison mlir::evoformer::reference::compareStatistic(
    const AttentionProblem &problem, const View &statistic,
    const std::vector<double> &reference, const std::vector<double> &eager) {
  Comparison comparison;
  Judge judge(comparison);
  ResultIndex index{problem};
  double usual = findUsualError(reference, eager);
  forEachRow(problem, [&](int64_t b, int64_t n, int64_t h, int64_t i) {
    int64_t row = index.statistic(b, n, h, i);
    judgeStatistic(statistic.at(b, n, h, i), reference[row], eager[row], usual,
                   statistic.type, nameRow(b, n, h, i), judge);
  });
  return comparison;
}

Comparison mlir::evoformer::reference::compareStats(
    const AttentionProblem &problem, const View &stats,
    const std::vector<double> &reference, const std::vector<double> &eager) {
  constexpr double rounding = 1e-5;
  // As exponents of e.
  double unit =
      16 * (problem.query.type == ElementType::F32 ? 1 : std::log(2.0));
  Comparison comparison;
  Judge judge(comparison);
  ResultIndex index{problem};
  double usual = findUsualError(reference, eager);
  double mostKeys = std::log2(static_cast<double>(problem.keys)) + rounding;
  forEachRow(problem, [&](int64_t b, int64_t n, int64_t h, int64_t i) {
    int64_t row = index.statistic(b, n, h, i);
    std::string name = nameRow(b, n, h, i);
    double maximum = stats.at(0, b, n, h, i), logSum = stats.at(1, b, n, h, i);
    bool isEmpty = std::isinf(reference[row]) && reference[row] < 0;
    if (isEmpty ? maximum != 0 || logSum != 0
                : logSum < -rounding || logSum > mostKeys)
      judge.rejectSpecial(name + ", logarithm of the sum",
                          isEmpty ? 0 : mostKeys, logSum);
    else if (isEmpty)
      judge.accept(0, 0, 0, 0, "");
    else
      judgeStatistic(unit * maximum + std::log(2.0) * logSum, reference[row],
                     eager[row], usual, ElementType::F64, name, judge);
  });
  return comparison;
}

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
  /// The product of given - exact and the row.
  double getErrorAlong(const std::vector<double> &given,
                       const std::vector<double> &exact, int64_t at) const {
    double sum = 0;
    for (int64_t e = at; e < at + size * stride; e += stride)
      sum += (given[e] - exact[e]) * exact[e];
    return sum;
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
    const DenseArray &exact) {
  Comparison comparison;
  Judge judge(comparison);
  if (reference.elements.empty())
    return comparison;
  GradientRows rows(reference);
  auto isUsable = [](double number) {
    return std::isfinite(number) && number > 0;
  };

  // What is usual: a few rows in which eager mode loses everything, such as
  // those of large masks, do not count.
  std::vector<double> erring, ofNorms;
  rows.forEach([&](const std::array<int64_t, 5> &, int64_t at) {
    double magnitude = rows.norm(exact.magnitudes, at);
    double spread = rows.norm(exact.spreads, at);
    double error = rows.distance(eager.elements, exact.elements, at);
    if (!std::isfinite(error))
      return;
    if (isUsable(magnitude))
      judge.addEagerShare(error / magnitude);
    if (double norm = rows.norm(exact.elements, at); isUsable(norm))
      ofNorms.push_back(error / norm);
    // Nor do those that eager mode has exactly, such as rows with one key.
    if (isUsable(spread) && error > 0)
      erring.push_back(error / spread);
  });
  double usual = kUsual * findMedian(erring);

  rows.forEach([&](const std::array<int64_t, 5> &index, int64_t at) {
    std::string where = "row [";
    for (int dim = 0; dim < 5; ++dim)
      where += (dim ? ", " : "") + std::to_string(index[dim]);
    where += "]";
    auto given = [&](int64_t e) {
      std::array<int64_t, 5> i = index;
      i[rows.along] = e;
      return gradient.at(i[0], i[1], i[2], i[3], i[4]);
    };
    auto measured =
        measureRow(rows.size, gradient.type, given, &reference.elements[at],
                   &reference.elements[at], rows.stride, where, judge);
    if (!measured)
      return;
    double exactError = 0;
    for (int64_t e = 0; e < rows.size; ++e) {
      double difference = given(e) - exact.elements[at + e * rows.stride];
      exactError += difference * difference;
    }
    exactError = std::sqrt(exactError);
    if (exactError < measured->error)
      measured->error = exactError;
    double eagerError = rows.distance(eager.elements, exact.elements, at);
    if (!std::isfinite(eagerError))
      eagerError = 0;
    double magnitude = rows.norm(reference.magnitudes, at);
    if (!isUsable(magnitude))
      magnitude = 0;
    double own = 2 * eagerError + measured->ulp;
    double spread = rows.norm(exact.spreads, at);
    if (!isUsable(spread))
      spread = 0;
    double allowed = 2 * std::max(eagerError, usual * spread) + measured->ulp +
                     (kF32Accuracy + eager.twoRoundings) * magnitude;
    if (measured->error > own) {
      ++comparison.luckyRows;
      comparison.worstLucky =
          std::max(comparison.worstLucky, measured->error / own);
    }
    if (magnitude > 0) {
      judge.addShare(std::max(0.0, measured->error - measured->ulp) /
                     magnitude);
      double eagerAlong =
          rows.getErrorAlong(eager.elements, exact.elements, at);
      if (!std::isfinite(eagerAlong))
        eagerAlong = 0;
      double square = magnitude * magnitude, norm = measured->norm;
      judge.addSigned(measured->along / square, eagerAlong / square,
                      norm * norm / square);
    }
    judge.accept(measured->error, eagerError, allowed, measured->norm, where);
  });
  // More than roundings: large masks of queries have taken the digits of most
  // rows, here and there, and what is left is a draw.
  bool isLost = judge.getEagerMedian() >
                    kLost * std::sqrt(eager.twoRoundings) + kF32Accuracy ||
                findMedian(ofNorms) > kNoDigits;
  judge.judgeMedians(kF32Accuracy, isLost ? 2 : kMedianRatio);
  judge.judgeMean(std::sqrt(eager.twoRoundings));
  return comparison;
}
