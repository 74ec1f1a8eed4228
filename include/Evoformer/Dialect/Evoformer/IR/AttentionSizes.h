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
  QueryLengths
};

/// B, N, Sq, Sk, H, D and Dv; Hk, the heads of keys and values where several
/// heads of queries share one; and what has two numbers a query.
enum class AttentionSize { B, N, Sq, Sk, H, Hk, D, Dv, Two };

/// Those that an attention chooses.
inline constexpr std::array<AttentionSize, 8> kAllAttentionSizes = {
    AttentionSize::B, AttentionSize::N,  AttentionSize::Sq, AttentionSize::Sk,
    AttentionSize::H, AttentionSize::Hk, AttentionSize::D,  AttentionSize::Dv};

/// 'Sq', ...
StringRef stringifyAttentionSize(AttentionSize size);

/// The size of the dimension that an operand's order calls `letter`. Hk is a
/// size of its own only where `groupSize`, H / Hk, is not 1.
AttentionSize getAttentionSize(AttentionOperand operand, char letter,
                               int64_t groupSize);

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
    case AttentionSize::Dv:
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
