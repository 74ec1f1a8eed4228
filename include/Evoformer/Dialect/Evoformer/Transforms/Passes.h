//===- Passes.h - Passes on attention ---------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_TRANSFORMS_PASSES_H
#define EVOFORMER_DIALECT_EVOFORMER_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::evoformer {

#define GEN_PASS_DECL
#include "Evoformer/Dialect/Evoformer/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Evoformer/Dialect/Evoformer/Transforms/Passes.h.inc"

} // namespace mlir::evoformer

#endif // EVOFORMER_DIALECT_EVOFORMER_TRANSFORMS_PASSES_H
