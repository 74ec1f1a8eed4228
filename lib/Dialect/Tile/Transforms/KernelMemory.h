//===- KernelMemory.h - What a kernel's ops touch ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_KERNELMEMORY_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_KERNELMEMORY_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// The value that a memref views: casts, subviews and transposes are
/// looked through.
Value getMemoryRoot(Value memref);

/// True if executing `op` may write the global memory that `memref` views.
/// Different kernel arguments are different memory, workgroup memory is not
/// global memory.
bool mayWriteGlobal(Operation *op, Value memref);

/// True if an op has no effects but those of the ops inside it.
bool isControlFlow(Operation *op);

/// True if each element of results is made of those at its own place.
bool mapsElements(Operation *op);

/// True for work without effects of which each element needs those at its own
/// place only.
bool isElementwise(Operation *op);

/// True if a tile is long in one dimension at most.
bool isRowVector(RankedTensorType tile);

/// True if the kernel around `load` may write the memory that it reads. Its
/// lanes then read what they wrote themselves, in the order of the program, and
/// nothing orders one lane after another: such a load keeps its layout.
bool isWrittenByKernel(LoadOp load);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_KERNELMEMORY_H
