//===- Limits.h - How large tiles, layouts and chips may be -----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Far above what any chip can hold, and low enough that products of a few of
// these numbers do not overflow and enumerating a layout ends. The verifiers
// refuse what is beyond, so that passes need not think of it.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_LIMITS_H
#define EVOFORMER_DIALECT_TILE_IR_LIMITS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mlir::evoformer::tile {

/// Elements of a tile. The registers of a whole workgroup hold 2^18 numbers.
inline constexpr int64_t kMaxTileElements = int64_t(1) << 20;
/// (subgroup, lane, register) positions of a layout, and what its padded box
/// may span.
inline constexpr int64_t kMaxLayoutPositions = int64_t(1) << 24;
/// Lanes of a subgroup (sets of them are 64-bit masks), subgroups of a
/// workgroup, extents of a matrix instruction, dimensions of a space or a tile.
inline constexpr int64_t kMaxLanes = 64;
inline constexpr int64_t kMaxSubgroups = 1024;
inline constexpr int64_t kMaxInstructionExtent = 1024;
inline constexpr int64_t kMaxRank = 16;
/// Static sizes and strides of memory that a kernel sees, in elements: offsets
/// within it fit 64 bits.
inline constexpr int64_t kMaxMemoryExtent = int64_t(1) << 36;
/// Workgroups on a processor.
inline constexpr int64_t kMaxResident = 64;
/// Copies in flight.
inline constexpr int64_t kMaxStages = 64;
/// Bytes of workgroup memory.
inline constexpr int64_t kMaxLDSBytes = int64_t(1) << 30;

/// Dimensions of memory that boxes are copied from, elements of a box along one
/// of them, what addresses and strides are multiples of, and of what a box in
/// workgroup memory starts at a multiple; bytes ("CUDA Driver API",
/// cuTensorMapEncodeTiled).
inline constexpr int64_t kMaxMapRank = 5;
inline constexpr int64_t kMaxBoxSize = 256;
inline constexpr int64_t kMapAlignment = 16;
inline constexpr int64_t kBoxAlignment = 128;

/// The product of numbers that are not negative; above `limit`, some number
/// above `limit`.
inline int64_t boundedProduct(llvm::ArrayRef<int64_t> numbers, int64_t limit) {
  int64_t product = 1;
  bool isLarge = false;
  for (int64_t number : numbers) {
    if (number == 0)
      return 0;
    isLarge |= number > limit || product > limit / number;
    if (!isLarge)
      product *= number;
  }
  return isLarge ? limit + 1 : product;
}

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_LIMITS_H
