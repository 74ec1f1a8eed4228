//===- LoopCounts.h - How often loops run -----------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_LOOPCOUNTS_H
#define EVOFORMER_DIALECT_TILE_IR_LOOPCOUNTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::evoformer::tile {

/// True if a loop is known to have one iteration or none, whatever its
/// condition: its bounds are constants, or the last is a choice of two.
bool hasOneIterationAtMost(scf::ForOp loop);

/// True if a loop around `op` may run it more than once.
bool mayRunAgain(Operation *op);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_LOOPCOUNTS_H
