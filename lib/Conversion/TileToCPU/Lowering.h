//===- Lowering.h - Shared by the steps to the CPU --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOCPU_LOWERING_H
#define EVOFORMER_LIB_CONVERSION_TILETOCPU_LOWERING_H

#include "Evoformer/Conversion/TileToCPU/TileToCPU.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::evoformer::tile_to_cpu {

/// Marks the functions that were kernels until their buffers are placed.
inline constexpr llvm::StringLiteral kKernelAttr = "evo_tile.cpu_kernel";

/// Marks products whose sums start from zero, whatever their output holds.
inline constexpr llvm::StringLiteral kFromZeroAttr = "evo_tile.from_zero";

/// Takes layouts off all tensor types below `root` and the workgroup address
/// space off all memrefs.
LogicalResult dropLayouts(Operation *root);

/// Replaces an op that moves tiles (load, store, async_copy, alloc_lds) by
/// loops over memrefs. Nothing is done for another op.
LogicalResult lowerMemoryOp(RewriterBase &rewriter, Operation *op);

/// Replaces an op that computes on tiles, elementwise ones included, by linalg
/// on tensors. Nothing is done for another op.
LogicalResult lowerComputeOp(RewriterBase &rewriter, Operation *op);

} // namespace mlir::evoformer::tile_to_cpu

#endif // EVOFORMER_LIB_CONVERSION_TILETOCPU_LOWERING_H
