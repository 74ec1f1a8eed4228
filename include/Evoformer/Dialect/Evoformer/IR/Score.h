//===- Score.h - What makes logits of scores --------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The region `score` of an attention: a straight line of pure ops on numbers,
// which says what the logit of a query and a key is, before biases.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_SCORE_H
#define EVOFORMER_DIALECT_EVOFORMER_IR_SCORE_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::evoformer {

/// The arguments of the region, in their order: the score, scale times the
/// product of query and key, of f32; and of i32 where the pair is and how many
/// queries and keys its row has. Captures follow, of f32.
enum class ScoreArgument {
  Score,
  Batch,
  Row,
  Head,
  Query,
  Key,
  NumQueries,
  NumKeys
};
inline constexpr unsigned kNumScoreArguments = 8;

/// How many entries a table may have that a score captures.
inline constexpr int64_t kMaxTableEntries = 64;

/// How many ops a score may have.
inline constexpr int64_t kMaxScoreOps = 64;

/// The rules of an op's region; it yields `numValues` numbers.
LogicalResult verifyScore(Operation *op, unsigned numValues);

/// Makes a region that yields the score of `body` and its derivative by an
/// argument of f32, by reverse mode. Of an argument that is a table, which the
/// score looks up once: the derivative by that entry, and its number.
void writeScoreGradient(Block &body, Region &gradient, unsigned argument = 0);

/// Whether what the op's region yields is finite for all finite scores and all
/// indices, as far as numbers do not overflow.
bool isScoreTotal(Operation *op);

/// Patterns that fold scores of attentions, of their gradients and of their
/// weights.
void addScorePatterns(RewritePatternSet &patterns);
void addScoreGradientPatterns(RewritePatternSet &patterns);
void addScoreWeightsPatterns(RewritePatternSet &patterns);

} // namespace mlir::evoformer

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_SCORE_H
