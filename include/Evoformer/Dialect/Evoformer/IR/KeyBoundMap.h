//===- KeyBoundMap.h - Bounds of keys as affine maps ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_KEYBOUNDMAP_H
#define EVOFORMER_DIALECT_EVOFORMER_IR_KEYBOUNDMAP_H

#include "Evoformer/Support/KeyRange.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::evoformer {

/// The bound that `map`, (i)[sq, sk] -> (..), stands for, with a further symbol
/// for each of so many operands; the diagnostic says what is accepted.
FailureOr<KeyBound> readKeyBound(AffineMap map, unsigned numOperands,
                                 function_ref<InFlightDiagnostic()> emitError);

/// The map of a bound.
AffineMap makeKeyBoundMap(const KeyBound &bound, MLIRContext *context);

} // namespace mlir::evoformer

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_KEYBOUNDMAP_H
