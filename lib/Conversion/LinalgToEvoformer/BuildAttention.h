//===- BuildAttention.h - Writes a form as the op ------------- -*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_BUILDATTENTION_H
#define EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_BUILDATTENTION_H

#include "Letters.h"

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"

namespace mlir::evoformer::raising {

struct BuiltAttention {
  AttentionOp op;
  /// What takes the place of the form's tensor.
  Value result;
};

/// Writes the op where `builder` stands. Fails with a refusal, and without
/// having written anything, where an operand cannot be made.
FailureOr<BuiltAttention> buildAttention(ExpressionReader &reader,
                                         OpBuilder &builder,
                                         const AttentionForm &form,
                                         const Letters &letters,
                                         std::optional<Refused> &refused);

} // namespace mlir::evoformer::raising

#endif // EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_BUILDATTENTION_H
