//===- Compare.cpp - Errors against the reference -------------------------===//

#include "Evoformer/Reference/Compare.h"
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

static void compareRow(const AttentionProblem &problem, const View &output,
                       const double *reference, const double *eager, int64_t b,
                       int64_t n, int64_t h, int64_t i, Judge &judge) {
  double error = 0, eagerError = 0, ulps = 0, norm = 0;
  for (int64_t e = 0; e < problem.valueDepth; ++e) {
    double given = output.at(b, n, i, h, e);
    double expected = roundTo(reference[e], output.type);
    if (isSpecial(expected, given)) {
      if (!agreeOnSpecial(expected, given)) {
        judge.rejectSpecial(nameRow(b, n, h, i) + ", depth " +
                                std::to_string(e),
                            expected, given);
        return;
      }
      continue;
    }
    auto square = [](double x) { return x * x; };
    error += square(given - reference[e]);
    eagerError += square(eager[e] - reference[e]);
    norm += square(reference[e]);
    if (reference[e] != 0)
      ulps += square(ulpOf(reference[e], output.type));
  }
  norm = std::sqrt(norm);
  eagerError = std::isfinite(eagerError) ? std::sqrt(eagerError) : 0;
  double ulp =
      output.type == ElementType::F32 ? kF32Accuracy * norm : std::sqrt(ulps);
  judge.accept(std::sqrt(error), eagerError, 2 * eagerError + ulp, norm,
               nameRow(b, n, h, i));
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
    compareRow(problem, output, &reference.out[row], &eager.out[row], b, n, h,
               i, judge);
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
