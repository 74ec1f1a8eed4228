//===- Passes.h - Linalg to tiles -------------------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_LINALGTOTILE_PASSES_H
#define EVOFORMER_CONVERSION_LINALGTOTILE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::evoformer::tile {

#define GEN_PASS_DECL
#include "Evoformer/Conversion/LinalgToTile/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Evoformer/Conversion/LinalgToTile/Passes.h.inc"

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_CONVERSION_LINALGTOTILE_PASSES_H
