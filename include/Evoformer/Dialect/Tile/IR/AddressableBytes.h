//===- AddressableBytes.h - How far an item's offsets reach -----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_ADDRESSABLEBYTES_H
#define EVOFORMER_DIALECT_TILE_IR_ADDRESSABLEBYTES_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// Bytes of a buffer, as many as offsets of 32 bits tell from what lies outside
/// of it, to which instructions and wide accesses still add.
constexpr int64_t kBufferBytes = (int64_t(1) << 32) - (int64_t(1) << 13);

/// Bytes of a memref that a work item of a GPU reaches.
inline int64_t getAddressableBytes(TargetAttr target) {
  return target.getBufferResources() ? kBufferBytes : int64_t(1) << 32;
}

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_ADDRESSABLEBYTES_H
