//===- Compare.cpp - Errors against the reference -------------------------===//

#include "Evoformer/Reference/Compare.h"
#include "Evoformer/Reference/Gradients.h"
#include "Head.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace mlir::evoformer::reference;

/// Relative accuracy asked of f32, beside twice eager's error.
static constexpr double kF32Accuracy = 1e-6;

/// Whether two numbers agree that one of them is NaN or infinite; false if both
/// are finite.
static bool isSpecial(double reference, double given) {
  return !std::isfinite(reference) || !std::isfinite(given);
}
static bool agreeOnSpecial(double reference, double given) {
  return std::isnan(reference) ? std::isnan(given) : reference == given;
}

namespace {
/// Collects rows.
class Judge {
public:
  explicit Judge(Comparison &comparison) : comparison(comparison) {}

  void accept(double error, double eagerError, double allowed, double norm,
              const std::string &where) {
    ++comparison.rows;
    if (norm > 0) {
      comparison.maxError = std::max(comparison.maxError, error / norm);
      comparison.maxEagerError =
          std::max(comparison.maxEagerError, eagerError / norm);
    }
    double ratio = error == 0    ? 0
                   : allowed > 0 ? error / allowed
                                 : std::numeric_limits<double>::infinity();
    comparison.worstRatio = std::max(comparison.worstRatio, ratio);
    if (ratio <= 1)
      return;
    char text[160];
    std::snprintf(text, sizeof(text),
                  ": error %.3g, allowed %.3g, norm of the row %.3g", error,
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

private:
  void reject(const std::string &text) {
    if (comparison.wrongRows++ == 0)
      comparison.firstWrong = text;
  }

  Comparison &comparison;
};
} // namespace

static std::string nameRow(int64_t b, int64_t n, int64_t h, int64_t i) {
  char text[128];
  std::snprintf(text, sizeof(text), "b %lld, n %lld, h %lld, query %lld",
                static_cast<long long>(b), static_cast<long long>(n),
                static_cast<long long>(h), static_cast<long long>(i));
  return text;
}

/// `given(e)` gives the elements of a row of `size`.
template <typename Given>
static void compareRow(int64_t size, ElementType type, Given given,
                       const double *reference, const double *eager,
                       int64_t stride, const std::string &where, Judge &judge) {
  double error = 0, eagerError = 0, ulps = 0, norm = 0;
  for (int64_t e = 0; e < size; ++e) {
    double value = given(e);
    double exact = reference[e * stride];
    double expected = roundTo(exact, type);
    if (isSpecial(expected, value)) {
      if (!agreeOnSpecial(expected, value)) {
        judge.rejectSpecial(where + ", element " + std::to_string(e), expected,
                            value);
        return;
      }
      continue;
    }
    auto square = [](double x) { return x * x; };
    error += square(value - exact);
    eagerError += square(eager[e * stride] - exact);
    norm += square(exact);
    if (exact != 0)
      ulps += square(ulpOf(exact, type));
  }
  norm = std::sqrt(norm);
  eagerError = std::isfinite(eagerError) ? std::sqrt(eagerError) : 0;
  double ulp = type == ElementType::F32 ? kF32Accuracy * norm : std::sqrt(ulps);
  judge.accept(std::sqrt(error), eagerError, 2 * eagerError + ulp, norm, where);
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
    const AttentionResult &reference, const AttentionResult &eager) {
  Comparison comparison;
  Judge judge(comparison);
  ResultIndex index{problem};
  forEachRow(problem, [&](int64_t b, int64_t n, int64_t h, int64_t i) {
    int64_t row = index.out(b, n, i, h);
    compareRow(
        problem.valueDepth, output.type,
        [&](int64_t e) { return output.at(b, n, i, h, e); },
        &reference.out[row], &eager.out[row], 1, nameRow(b, n, h, i), judge);
  });
  return comparison;
}

Comparison mlir::evoformer::reference::compareStatistic(
    const AttentionProblem &problem, const View &statistic,
    const std::vector<double> &reference, const std::vector<double> &eager) {
  Comparison comparison;
  Judge judge(comparison);
  ResultIndex index{problem};
  forEachRow(problem, [&](int64_t b, int64_t n, int64_t h, int64_t i) {
    int64_t row = index.statistic(b, n, h, i);
    double given = statistic.at(b, n, h, i);
    double expected = reference[row];
    if (double rounded = roundTo(expected, statistic.type);
        isSpecial(rounded, given)) {
      if (agreeOnSpecial(rounded, given))
        judge.accept(0, 0, 0, 0, "");
      else
        judge.rejectSpecial(nameRow(b, n, h, i), rounded, given);
      return;
    }
    double eagerError = std::fabs(eager[row] - expected);
    if (!std::isfinite(eagerError))
      eagerError = 0;
    double norm = std::max(1.0, std::fabs(expected));
    judge.accept(std::fabs(given - expected), eagerError,
                 2 * eagerError + kF32Accuracy * norm, norm,
                 nameRow(b, n, h, i));
  });
  return comparison;
}

Comparison
mlir::evoformer::reference::compareGradient(const View &gradient,
                                            const DenseArray &reference,
                                            const DenseArray &eager) {
  Comparison comparison;
  Judge judge(comparison);
  if (reference.elements.empty())
    return comparison;
  int along = 4;
  while (along > 0 && reference.sizes[along] == 1)
    --along;
  std::array<int64_t, 5> rows = reference.sizes;
  int64_t size = rows[along], stride = 1;
  for (int dim = along + 1; dim < 5; ++dim)
    stride *= rows[dim];
  rows[along] = 1;
  int64_t count = static_cast<int64_t>(reference.elements.size()) / size;
  for (int64_t row = 0; row < count; ++row) {
    std::array<int64_t, 5> index = {};
    int64_t rest = row, at = 0;
    for (int dim = 4; dim >= 0; --dim) {
      index[dim] = rest % rows[dim];
      rest /= rows[dim];
    }
    for (int dim = 0; dim < 5; ++dim)
      at = at * reference.sizes[dim] + index[dim];
    char where[96];
    std::snprintf(
        where, sizeof(where), "row [%lld, %lld, %lld, %lld, %lld]",
        static_cast<long long>(index[0]), static_cast<long long>(index[1]),
        static_cast<long long>(index[2]), static_cast<long long>(index[3]),
        static_cast<long long>(index[4]));
    auto given = [&](int64_t e) {
      std::array<int64_t, 5> i = index;
      i[along] = e;
      return gradient.at(i[0], i[1], i[2], i[3], i[4]);
    };
    compareRow(size, gradient.type, given, &reference.elements[at],
               &eager.elements[at], stride, where, judge);
  }
  return comparison;
}
