//===- AttentionForm.h - A program as an attention ------------ -*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the recogniser finds: the operands of an attention as expressions, and
// which axes are its dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_ATTENTIONFORM_H
#define EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_ATTENTIONFORM_H

#include "Algebra.h"

namespace mlir::evoformer::raising {

enum class Refusal {
#define REFUSAL(name, text, message) name,
#include "Refusals.def"
};

StringRef getName(Refusal refusal);
StringRef getMessage(Refusal refusal);

/// Where an attempt ended.
struct Refused {
  Refusal refusal;
  Location loc;
};

struct RaiseSettings {
  /// A row without keys may become 0 where the program makes it NaN.
  bool zeroRowsWithoutKeys;
  /// See SumOptions.
  double dropBelow;
  /// Weights may be rounded to the type of the operands where the program
  /// keeps them in f32.
  bool roundWeights;
};

struct BiasForm {
  Expr *expr;
  double coefficient;
  /// A mask: keeps where `expr` is `keepWhen`.
  bool isMask = false;
  bool keepWhen = true;
};

struct AttentionForm {
  Value root;
  Coordinates rootCoordinates;
  Expr *query, *key, *value;
  /// Null without one.
  Expr *gate = nullptr;
  double gateCoefficient = 1;
  SmallVector<BiasForm> biases;
  double scale;
  /// Of query, key and value as the op gets them.
  Type inputType;
  /// The tensor that holds the scores alone.
  Operation *scoreOp;
  SmallVector<AxisId, 2> keys, depth;
};

/// Recognises the attention that a tensor holds. A program that does not look
/// like one fails without `refused`.
FailureOr<AttentionForm> recognise(ExpressionReader &reader, Value root,
                                   const RaiseSettings &settings,
                                   std::optional<Refused> &refused);

} // namespace mlir::evoformer::raising

#endif // EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_ATTENTIONFORM_H
