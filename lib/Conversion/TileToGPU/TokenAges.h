//===- TokenAges.h - What a wait may leave under way ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOGPU_TOKENAGES_H
#define EVOFORMER_LIB_CONVERSION_TILETOGPU_TOKENAGES_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// For each `evo_tile.wait` of a kernel of level `staged` or `pipelined`, what
/// has been issued at least since the group that it waits for was made,
/// whichever way control took: engines complete in order, so a wait may leave
/// this much under way. `getWeight` is what an op issues.
DenseMap<Operation *, int64_t>
getAgesAtWaits(KernelOp kernel, function_ref<int64_t(Operation *)> getWeight);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_TILETOGPU_TOKENAGES_H
