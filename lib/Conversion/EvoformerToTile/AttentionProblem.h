//===- AttentionProblem.h - Attention without its op ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_ATTENTIONPROBLEM_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_ATTENTIONPROBLEM_H

#include "Evoformer/Support/KeyRange.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include <array>

namespace mlir::evoformer {

/// The dimensions of a bias in its canonical order.
enum BiasDim { kBiasB, kBiasN, kBiasH, kBiasQ, kBiasK };

/// A bias as a view [b, n, h, q, k].
struct Bias {
  Value memory;
  /// Where it has a static size 1 and counts for every index.
  std::array<bool, 5> broadcast;
  /// Means 'keep where set'.
  bool isMask;
  /// A copy whose queries are contiguous, padded to whole blocks.
  bool isTransposed = false;
  /// A prepared sum of nothing: it drops only what lies beyond the last key.
  bool isTail = false;
  /// A table that a score looks up, or its gradient, has so many in the place
  /// of keys; 0: it is none.
  int64_t entries = 0;
};

/// A number of type index, which kernels are passed unless it is known.
struct Most {
  Value value;
  std::optional<int64_t> known;

  OpFoldResult get(OpBuilder &builder) const {
    return known ? OpFoldResult(builder.getIndexAttr(*known)) : value;
  }
};

/// How many queries and keys rows have; null: all there are.
struct RowLengths {
  /// Each row n of a batch, [b, n] of i32, a static 1 for all.
  Value queries, keys;
  /// Of ragged sequences, which lie one behind the other: where each starts in
  /// memory, and where the last one ends, [b + 1] of i32; and how many one has
  /// at most.
  Value queryStarts, keyStarts;
  Most mostQueries, mostKeys;

  bool isRagged() const { return queryStarts != nullptr; }
  bool ofQueries() const { return queries || queryStarts; }
  bool ofKeys() const { return keys || keyStarts; }
  bool any() const { return ofQueries() || ofKeys(); }
  std::array<Value *, 6> all() {
    return {&queries,           &keys,          &queryStarts, &keyStarts,
            &mostQueries.value, &mostKeys.value};
  }
};

/// What the bounds of keys have of operands: the sums of these, numbers of type
/// index; null: a bound has none. Kernels are passed them from 0 on, since
/// there are signatures that hold sizes alone.
struct KeyOffsets {
  Value from, to;

  std::array<Value *, 2> all() { return {&from, &to}; }
  /// What such a number is, for a sum of 0.
  static constexpr int64_t kZero = KeyBound::kMaxOperand;
};

struct LogitShape;

/// What the main kernel works on: every operand a memref with its dimensions in
/// canonical order; null where there is none. On the host these are the
/// launch's arguments, inside a kernel its block arguments.
struct AttentionOperands {
  /// [b, n, h, s, d].
  Value query, key, value, gate, output;
  /// Biases that depend on the query.
  SmallVector<Bias> biases;
  /// What the score reads.
  SmallVector<Bias> captures;
  /// The prepared sum [units, b, n, h, keys] of the other biases, of f32: in
  /// the logits' units, and, where it differs and is read, in those of
  /// products. Its `broadcast` has true for k and q never read. Null memory:
  /// none.
  Bias keySum;
  /// The maximum [b, n, h] that the sum is relative to; null: 0.
  Value keyMax;
  /// [b, n, h, s] of f32; [2, b, n, h, s].
  Value lse, stats;
  RowLengths lengths;
  KeyOffsets keyOffsets;
  /// [2] of i64: the seed and the offset of random numbers.
  Value dropout;

  /// All that are there, in the kernel's argument order.
  SmallVector<Value *> present();
  LogitShape getShape() const;
};

/// How many heads of queries share one of keys and values, and whether all b,
/// and all n, share them.
struct SharedKeys {
  int64_t groupSize = 1;
  bool batch = false, rows = false;

  /// Through what shares keys.
  int64_t countLoops() const { return (groupSize != 1) + batch + rows; }
  bool any() const { return countLoops() != 0; }
};

/// What makes logits of scores, see Score.h; null: they are these. For
/// gradients it gives the derivative as well.
struct ScoreFacts {
  Block *body = nullptr;
  /// Whether it is finite for finite numbers, see isScoreTotal.
  bool isTotal = true;
  /// Whether it adds to the product what does not depend on it, see isScoreSum,
  /// and that is finite.
  bool isSum = false;
  /// Whether it knows where keys are, so that logits may grow along a row.
  bool mayGrow = false;
  /// Arguments of the body: captures that have a number for each pair.
  SmallVector<Value> pairCaptures = {};

  explicit operator bool() const { return body; }
};

/// How weights are made of logits: by softmax, or they are these, maybe divided
/// by the sum of their absolute values or by `least` where that is more.
struct WeightFacts {
  bool areLogits = false;
  std::optional<float> least = {};
};

/// The static facts of an attention.
struct AttentionFacts {
  /// Of query, key and value.
  Type elementType;
  /// Of tiles; rows may have fewer elements.
  int64_t depth, valueDepth;
  float scale;
  /// If they are known.
  int64_t queries = ShapedType::kDynamic;
  SharedKeys shared = {};
  /// Which keys a query sees.
  KeyRange keys = {};
  /// Rows end where lengths or starts say.
  bool hasLengths = false;
  /// Bytes that the biases of the query have for each logit.
  int64_t biasBytes = 0;
  ScoreFacts score = {};
  /// Of 2^16 draws those whose weight is dropped.
  int64_t dropThreshold = 0;
  WeightFacts weights = {};
  /// Prepared sums over keys have multiples of so many, those of the largest
  /// block among kernels that may share them.
  int64_t keySumBlock = 1;
  /// Rows of tiles are whole lines of 128 bytes, those of memory are shorter:
  /// they begin where no line does and touch one more.
  bool straddlesLines = false;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_ATTENTIONPROBLEM_H
