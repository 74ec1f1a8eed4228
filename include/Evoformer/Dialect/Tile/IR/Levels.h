//===- Levels.h - What a kernel must be before a pass -----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_LEVELS_H
#define EVOFORMER_DIALECT_TILE_IR_LEVELS_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::evoformer::tile {

/// Level `tiles`, ready for a GPU: the kernel has a target and a schedule, and
/// no tile has a layout. Fails with an error at the culprit that names `pass`.
LogicalResult requireTiles(KernelOp kernel, StringRef pass);

/// Level `fragments` or one below: the kernel has a target and a schedule, and
/// every tile a layout that fits it, the target's lanes and the schedule's
/// subgroups. Fails with an error at the culprit that names `pass`.
LogicalResult requireFragments(KernelOp kernel, StringRef pass);

/// Level `staged` or `pipelined`: level `fragments`; what subgroups exchange
/// passes through workgroup memory; and every asynchronous copy is in the next
/// group of its block, in no other, so that whoever waits for that group waits
/// for the copy. Fails with an error at the culprit that names `pass`.
LogicalResult requireStaged(KernelOp kernel, StringRef pass);

/// On kernels of level `pipelined`: loops copy ahead of compute as far as they
/// can, and their iterations carry the tokens. Such a kernel is not pipelined
/// again.
inline constexpr char kPipelinedAttr[] = "evo_tile.pipelined";

/// Fails with an error at `op` if targets have no such rounding.
LogicalResult checkRounding(arith::TruncFOp op);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_LEVELS_H
