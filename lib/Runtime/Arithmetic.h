//===- Arithmetic.h - Scalar arithmetic of host programs --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers are held sign-extended to 64 bits, floats as their bits.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_RUNTIME_ARITHMETIC_H
#define EVOFORMER_LIB_RUNTIME_ARITHMETIC_H

#include "Evoformer/Runtime/Plan.h"

namespace mlir::evoformer::runtime {

/// Sign-extends the low `width` bits.
int64_t normalizeInteger(int64_t value, unsigned width);

/// The value of an arith op other than constant and select. Where MLIR calls
/// the result undefined (division by zero, shifts by the width or more) this is
/// an error.
llvm::Expected<int64_t> evaluateArith(const PlanOp &op,
                                      llvm::ArrayRef<int64_t> operands);

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_LIB_RUNTIME_ARITHMETIC_H
