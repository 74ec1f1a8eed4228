//===- Letters.h - Which axes are which dimension ------------- -*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The op's dimensions b, n, h, q, k, d and e (the depth of values), each of
// which may be several axes that lie beside each other in every operand, or
// none.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_LETTERS_H
#define EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_LETTERS_H

#include "AttentionForm.h"

namespace mlir::evoformer::raising {

struct Letters {
  Coordinate b, n, h, q, k, d, e;
  /// The last axes of h, which keys and values do not have.
  Coordinate group;

  /// The heads of keys and values.
  Coordinate getKeyHeads() const;
};

/// Fails with a refusal where the form's axes are not those of an attention.
FailureOr<Letters> assignLetters(ExpressionReader &reader,
                                 const AttentionForm &form,
                                 std::optional<Refused> &refused);

} // namespace mlir::evoformer::raising

#endif // EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_LETTERS_H
