//===- Attention.h - Reference attention in double precision ----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle of every test: attention as the documentation of
// `evoformer.attention` defines it, in f64, and the same as a framework's eager
// mode computes it, which sets the scale of acceptable errors.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_REFERENCE_ATTENTION_H
#define EVOFORMER_REFERENCE_ATTENTION_H

#include "Evoformer/Reference/Dropout.h"
#include "Evoformer/Reference/Numbers.h"
#include "Evoformer/Reference/Score.h"
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace mlir::evoformer::reference {

/// A strided array of up to 5 dimensions in somebody else's memory. `data`
/// points at the element of index 0; strides count elements and may be 0 or
/// negative. The dimensions come in the default order, whatever the order in
/// memory: (b, n, s, h, d) for sequences, (b, n, h, q, k) for biases,
/// (b, n, h, q) for statistics.
struct View {
  const void *data = nullptr;
  ElementType type = ElementType::F32;
  std::array<int64_t, 5> strides = {};

  double at(int64_t i0, int64_t i1, int64_t i2, int64_t i3,
            int64_t i4 = 0) const {
    return readElement(data, type,
                       i0 * strides[0] + i1 * strides[1] + i2 * strides[2] +
                           i3 * strides[3] + i4 * strides[4]);
  }
};

/// A view of dense memory whose dimensions have the given sizes in the default
/// order; `order` lists them outermost first ({0, 1, 3, 2, 4} is head-major for
/// a sequence). Empty: the default order.
View makeDenseView(const void *data, ElementType type,
                   const std::vector<int64_t> &sizes,
                   const std::vector<int> &order = {});

/// A bias with its dimensions (b, n, h, q, k) that broadcast: those are read at
/// index 0.
struct Bias {
  View view;
  std::array<bool, 5> broadcast = {};
  /// Of a table: how many it has in the place of keys; 0: it is none.
  int64_t entries = 0;
};

/// A bound of the keys that query i sees: i, rounded down to a multiple of
/// `granule`, times 0 or 1, and multiples of the sizes.
struct KeyBound {
  int64_t coefficient = 0, granule = 1, ofQueries = 0, ofKeys = 0, constant = 0;
};

/// How long each row is: [b][n]; empty: as long as the tensor.
using Lengths = std::vector<std::vector<int64_t>>;

/// Weights that are logits, divided by the sum of their absolute values or by
/// `least` where that is more; without `least` by nothing.
struct LogitWeights {
  std::optional<double> least;
};

/// An attention: sizes, inputs, scale.
struct AttentionProblem {
  int64_t batch = 0;
  int64_t rows = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t heads = 0;
  /// How many heads of queries share one of keys and values.
  int64_t groupSize = 1;
  /// Whether all b, and all n, share the only one of keys and values: their
  /// views have stride 0 there, and gradients are sums.
  bool sharesBatch = false, sharesRows = false;
  int64_t depth = 0;
  int64_t valueDepth = 0;
  View query;
  View key;
  View value;
  std::vector<Bias> biases;
  std::optional<View> gate;
  double scale = 1;
  /// None: logits are the scaled scores and biases.
  std::optional<Score> score;
  /// What it captures.
  std::vector<Bias> captures;
  /// How weights are made of logits; none: by softmax.
  std::optional<LogitWeights> weights;
  /// Which weights are dropped; none: all count.
  std::optional<Dropout> dropout;
  /// The first key that a query sees, and the one behind the last.
  std::optional<KeyBound> keysFrom, keysTo;
  /// From 0 to the numbers of keys and queries. What lies behind counts
  /// nowhere, and bounds are of these numbers.
  Lengths keyLengths, queryLengths;
  /// Of a part of the queries: its first, and how many the whole has; 0: all.
  int64_t firstQuery = 0, allQueries = 0;

  /// How many keys and, of the whole, queries a row has.
  int64_t countKeys(int64_t b, int64_t n) const {
    return keyLengths.empty() ? keys : keyLengths[b][n];
  }
  int64_t countQueries(int64_t b, int64_t n) const {
    if (!queryLengths.empty())
      return queryLengths[b][n];
    return allQueries ? allQueries : queries;
  }
  /// The biases, and behind them what the score captures: gradients are in this
  /// order.
  std::vector<Bias> getAllBiases() const {
    std::vector<Bias> all = biases;
    all.insert(all.end(), captures.begin(), captures.end());
    return all;
  }
  /// Where a pair of this part is along the keys of a bias or capture.
  int64_t findKey(const Bias &bias, int64_t i, int64_t j) const {
    return bias.entries ? findTableEntry(firstQuery + i, j) : j;
  }
  /// What the score, which there is, makes of x for a pair of this part.
  ScoreResult applyScore(int64_t b, int64_t n, int64_t h, int64_t i, int64_t j,
                         double x) const;
  /// What a weight of this part is multiplied by where values are summed: the
  /// sum of weights that it is divided by has all of them.
  double getDropFactor(int64_t b, int64_t n, int64_t h, int64_t i,
                       int64_t j) const {
    return dropout ? dropout->getFactor(b, n, h, firstQuery + i, j) : 1;
  }
  /// Whether the row has query i of this part.
  bool hasQuery(int64_t b, int64_t n, int64_t i) const {
    return firstQuery + i < countQueries(b, n);
  }
};

/// Results, dense, in the default order: out [B,N,Sq,H,Dv], lse and stats
/// [B,N,H,Sq], m0 [B,N,H]. Of the exact result, like out: the sum of the
/// magnitudes of the terms that make up an element, 0 where that is not finite.
struct AttentionResult {
  std::vector<double> out, magnitudes;
  std::vector<double> lse;
  std::vector<double> stats;
  std::vector<double> m0;
};

/// A part of a problem: the indices [begin, begin + size) of one of the
/// dimensions b, n, h or q; of heads, whole groups. Large problems are checked
/// by parts.
enum class Dimension { Batch, Row, Head, Query };
AttentionProblem slice(const AttentionProblem &problem, Dimension dimension,
                       int64_t begin, int64_t size);

/// The f64 result. Differences of logits are taken before they are rounded to
/// the size of their biases, so that masks of -1e9 cost no accuracy. Works with
/// `threads` threads, 0: one for each core.
AttentionResult computeAttention(const AttentionProblem &problem,
                                 unsigned threads = 0);

/// The result of a framework's eager mode that computes in `type`: products
/// accumulate in f32 and are rounded to `type`; then scale, biases and softmax,
/// which works in f32 and is rounded to `type`; then the second product and the
/// gate, each rounded to `type`. `out` is rounded to `outputType`. Biases are
/// taken relative to m0, which makes this no worse than a framework's order of
/// operations and the bound on others no looser. A row with no key left is NaN,
/// as in frameworks. `stats` is relative to m0 as well.
AttentionResult computeEagerAttention(const AttentionProblem &problem,
                                      ElementType type, ElementType outputType,
                                      unsigned threads = 0);

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_REFERENCE_ATTENTION_H
