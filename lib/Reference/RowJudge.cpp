//===- RowJudge.cpp - What comparisons collect of rows --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowJudge.h"
#include <algorithm>
#include <cstdio>
#include <limits>

using namespace mlir::evoformer::reference;

void RowJudge::accept(double error, double eagerError, double norm,
                      double decisive, double allowed,
                      const std::string &where) {
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

void RowJudge::rejectSpecial(const std::string &where, double reference,
                             double given) {
  ++comparison.rows;
  comparison.worstRatio = std::numeric_limits<double>::infinity();
  char text[96];
  std::snprintf(text, sizeof(text), ": got %g, reference %g", given, reference);
  reject(where + text);
}

void RowJudge::reject(const std::string &text) {
  if (comparison.wrongRows++ == 0)
    comparison.firstWrong = text;
}
