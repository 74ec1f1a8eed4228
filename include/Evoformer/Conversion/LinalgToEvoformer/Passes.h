//===- Passes.h - From linalg to attention ---------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_LINALGTOEVOFORMER_PASSES_H
#define EVOFORMER_CONVERSION_LINALGTOEVOFORMER_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::evoformer {

#define GEN_PASS_DECL
#include "Evoformer/Conversion/LinalgToEvoformer/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Evoformer/Conversion/LinalgToEvoformer/Passes.h.inc"

} // namespace mlir::evoformer

#endif // EVOFORMER_CONVERSION_LINALGTOEVOFORMER_PASSES_H
