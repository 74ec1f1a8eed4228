//===- LDSPlacement.h - Where buffers of workgroup memory lie ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_LDSPLACEMENT_H
#define EVOFORMER_DIALECT_TILE_IR_LDSPLACEMENT_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::evoformer::tile {

/// A buffer of workgroup memory, and the ops that read or write it.
struct LDSBuffer {
  int64_t bytes;
  /// Of its swizzle: a multiple of which its address is.
  int64_t period;
  SmallVector<Operation *> users;
  /// Null where it is planned.
  AllocLDSOp alloc = {};
};

/// The kernel's buffers, in the order of its evo_tile.alloc_lds.
SmallVector<LDSBuffer> getLDSBuffers(KernelOp kernel);

/// Buffers, by number: `next` lies where `old` lay.
struct Takeover {
  size_t old, next;
  bool operator==(const Takeover &other) const {
    return old == other.old && next == other.next;
  }
};

/// Addresses of buffers. Buffers of loops that follow each other lie in the
/// same memory.
struct LDSPlacement {
  /// By buffer.
  SmallVector<int64_t> offsets;
  int64_t bytes = 0;
  /// What first uses memory of an earlier loop again, and whose it was: before
  /// that every subgroup must be done with the old buffers.
  llvm::MapVector<Operation *, SmallVector<Takeover>> takeovers;
};
LDSPlacement placeLDS(ArrayRef<LDSBuffer> buffers);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_LDSPLACEMENT_H
