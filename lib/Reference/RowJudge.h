//===- RowJudge.h - What comparisons collect of rows ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_REFERENCE_ROWJUDGE_H
#define EVOFORMER_LIB_REFERENCE_ROWJUDGE_H

#include "Evoformer/Reference/Compare.h"
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace mlir::evoformer::reference {

/// Relative accuracy promised of f32, beside twice eager's error.
inline constexpr double kF32Accuracy = 1e-6;

/// What users are promised, in errors of eager mode.
inline constexpr double kPromise = 2;

/// Medians and means of fewer rows say little.
inline constexpr double kManyRows = 32;

/// Whether two numbers agree that one of them is NaN or infinite; false if both
/// are finite.
inline bool isSpecial(double reference, double given) {
  return !std::isfinite(reference) || !std::isfinite(given);
}
inline bool agreeOnSpecial(double reference, double given) {
  return std::isnan(reference) ? std::isnan(given) : reference == given;
}

/// Collects rows.
class RowJudge {
public:
  explicit RowJudge(Comparison &comparison) : comparison(comparison) {}

  /// Judges a row by what decides about it: `decisive` and what is allowed of
  /// that. `error`, `eagerError` and `norm` are the row's.
  void accept(double error, double eagerError, double norm, double decisive,
              double allowed, const std::string &where);
  void rejectSpecial(const std::string &where, double reference, double given);

private:
  void reject(const std::string &text);

  Comparison &comparison;
};

/// Norms of a row.
struct RowErrors {
  double error = 0, eager = 0, ulp = 0, norm = 0;
  /// The product of the error and the reference.
  double along = 0;
};

/// Compares a row of `size`, `given(e)` being its elements; nothing where
/// special values disagree.
template <typename Given>
std::optional<RowErrors> measureRow(int64_t size, ElementType type, Given given,
                                    const double *reference,
                                    const double *eager, int64_t stride,
                                    const std::string &where, RowJudge &judge) {
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

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_LIB_REFERENCE_ROWJUDGE_H
