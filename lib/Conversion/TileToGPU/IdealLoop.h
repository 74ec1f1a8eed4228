//===- IdealLoop.h - What a kernel's main loop must execute -----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOGPU_IDEALLOOP_H
#define EVOFORMER_LIB_CONVERSION_TILETOGPU_IDEALLOOP_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// For one pass of the loop with the most matrix products: the matrix
/// instructions and transcendentals that a subgroup's fragments ask for, which
/// the report compares with those of the final code. Null without such a loop.
DictionaryAttr getIdealLoop(KernelOp kernel);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_TILETOGPU_IDEALLOOP_H
