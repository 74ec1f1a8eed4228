//===- AttentionSizes.h - Sizes and cost of an attention --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes of an attention and the work that they imply.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONSIZES_H
#define EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONSIZES_H

#include "Evoformer/Support/KeyRange.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/OpDefinition.h"
#include <array>
#include <cstdint>

namespace mlir::evoformer {

/// The operands of an attention and of its gradient.
enum class AttentionOperand {
  Query,
  Key,
  Value,
  Bias,
  Gate,
  Output,
  Lse,
  Stats,
  /// sum over the depth of output * its gradient.
  Delta,
  OutputGradient,
  /// Of the weighted sum of values, the output before the gate.
  WeightedGradient,
  QueryGradient,
  KeyGradient,
  ValueGradient,
  BiasGradient,
  GateGradient,
  /// How many keys, and queries, each row n of a batch has.
  KeyLengths,
  QueryLengths,
  /// Of sequences that lie one behind the other: where the queries, and keys,
  /// of each start, and the most that one has, which are of type index.
  QueryStarts,
  KeyStarts,
  MostQueries,
  MostKeys,
  /// What a score reads of each pair, as a bias.
  Capture,
  /// The weight of each pair.
  Weights,
  /// The seed and the offset of random numbers.
  Dropout,
  /// What the bounds of keys are of besides sizes, numbers of type index.
  KeysFrom,
  KeysTo
};

/// B, N, Sq, Sk, H, D and Dv; Hk, the heads of keys and values where several
/// heads of queries share one; of sequences that lie one behind the other Tq
/// and Tk, the queries and keys of all, B + 1 starts, and the 1 that stands for
/// B in memory; and what has two numbers a query.
enum class AttentionSize {
  B,
  N,
  Sq,
  Sk,
  H,
  Hk,
  D,
  Dv,
  Tq,
  Tk,
  Starts,
  One,
  Two
};

/// Those that an attention chooses.
inline constexpr std::array<AttentionSize, 11> kAllAttentionSizes = {
    AttentionSize::B,  AttentionSize::N,     AttentionSize::Sq,
    AttentionSize::Sk, AttentionSize::H,     AttentionSize::Hk,
    AttentionSize::D,  AttentionSize::Dv,    AttentionSize::Tq,
    AttentionSize::Tk, AttentionSize::Starts};

/// 'Sq', ...
StringRef stringifyAttentionSize(AttentionSize size);

/// The size of the dimension that an operand's order calls `letter`. Hk is a
/// size of its own only where `groupSize`, H / Hk, is not 1. `isRagged`: of
/// sequences that lie one behind the other.
AttentionSize getAttentionSize(AttentionOperand operand, char letter,
                               int64_t groupSize, bool isRagged = false);

/// The sizes of an attention.
template <typename SizeT> struct AttentionSizesOf {
  SizeT batch{};
  SizeT rows{};
  SizeT queries{};
  SizeT keys{};
  SizeT heads{};
  SizeT keyHeads{};
  SizeT depth{};
  SizeT valueDepth{};
  /// Of sequences that lie one behind the other, else 0.
  SizeT allQueries{};
  SizeT allKeys{};
  SizeT starts{};

  SizeT &operator[](AttentionSize size) {
    switch (size) {
    case AttentionSize::B:
      return batch;
    case AttentionSize::N:
      return rows;
    case AttentionSize::Sq:
      return queries;
    case AttentionSize::Sk:
      return keys;
    case AttentionSize::H:
      return heads;
    case AttentionSize::Hk:
      return keyHeads;
    case AttentionSize::D:
      return depth;
    case AttentionSize::Tq:
      return allQueries;
    case AttentionSize::Tk:
      return allKeys;
    case AttentionSize::Starts:
      return starts;
    case AttentionSize::Dv:
    case AttentionSize::One:
    case AttentionSize::Two:
      break;
    }
    return valueDepth;
  }
};

/// Static sizes, ShapedType::kDynamic where unknown.
struct AttentionSizes : AttentionSizesOf<int64_t> {
  bool isStatic() const;
};

/// Sizes as constants or SSA values of type index.
using AttentionMixedSizes = AttentionSizesOf<OpFoldResult>;

} // namespace mlir::evoformer

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_ATTENTIONSIZES_H
