//===- Score.h - Named scores in double precision ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What makes logits of scaled scores, by name, each with the derivatives that
// somebody wrote down for it: what a compiler makes of a score's region is
// compared with these.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_REFERENCE_SCORE_H
#define EVOFORMER_REFERENCE_SCORE_H

#include <algorithm>
#include <cstdint>

namespace mlir::evoformer::reference {

enum class ScoreKind {
  Softcap,     // c tanh(x / c)
  Fastcap,     // the same by the approximation that fastmath<afn> allows
  ALiBi,       // x - 2^(-8 (h + 1) / c) |i + sk - sq - j|, c heads
  Temperature, // x / (1 + c h)
  Swish,       // x / (1 + exp(-c x))
  Distance,    // x - c log(1 + |i - j|)
  Buckets,     // x + c floor(|i - j| / 4)
  Leaky,       // the larger of x and c x
  // With m, which is captured:
  Slopes,    // x - m |i + sk - sq - j|, of each h
  Matrix,    // x m, of each h, i and j
  Keywise,   // x + c m, of each b, n and j
  Querywise, // c x 2^m, of each b, h and i
  Table      // x + c m, of each h the entry i - j + 8 of kTableEntries
};

/// Whether such a score adds to the product what does not depend on it.
inline bool isSum(ScoreKind kind) {
  switch (kind) {
  case ScoreKind::ALiBi:
  case ScoreKind::Distance:
  case ScoreKind::Buckets:
  case ScoreKind::Slopes:
  case ScoreKind::Table:
    return true;
  default:
    return false;
  }
}

struct Score {
  ScoreKind kind;
  /// c above.
  double parameter;
  /// Of parts of a problem: the first b, n and h.
  int64_t firstBatch = 0, firstRow = 0, firstHead = 0;
};

/// Where a pair is, and how many queries and keys its row has.
struct ScorePlace {
  int64_t batch, row, head, query, key, queries, keys;
};

/// A logit and its first two derivatives; and by how much f32 may be off, of
/// the logit and of the first derivative, in unit roundoffs.
struct ScoreResult {
  double value, derivative = 1, second = 0;
  double error = 0, derivativeError = 0;
  /// The logit's derivative by what is captured; that's by the score; and by
  /// how much f32 may be off of the former.
  double byCapture = 0, byBoth = 0, byCaptureError = 0;
};

/// How many entries the table of a score has, and which one a pair has.
inline constexpr int64_t kTableEntries = 19;
inline int64_t findTableEntry(int64_t query, int64_t key) {
  return std::clamp<int64_t>(query - key + 8, 0, kTableEntries - 1);
}

ScoreResult evaluateScore(const Score &score, const ScorePlace &place, double x,
                          double captured = 0);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_REFERENCE_SCORE_H
