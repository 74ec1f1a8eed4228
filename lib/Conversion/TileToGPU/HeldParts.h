//===- HeldParts.h - What lanes hold each for themselves --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOGPU_HELDPARTS_H
#define EVOFORMER_LIB_CONVERSION_TILETOGPU_HELDPARTS_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// Where what is made of an `evo_tile.reduce ... held` changes its layout, or
/// is stored, it would be that of some lane: there all lanes get the whole. It
/// stays held where lanes compute with it, ask it, and combine it.
void makeWholeWhereRead(KernelOp kernel);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_TILETOGPU_HELDPARTS_H
