//===- MemoryAccess.h - A lane's part of memory -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOGPU_MEMORYACCESS_H
#define EVOFORMER_LIB_CONVERSION_TILETOGPU_MEMORYACCESS_H

#include "Evoformer/Dialect/Tile/IR/SharedLayout.h"
#include "LaneBuilder.h"

namespace mlir::evoformer::tile {

/// A memref as a lane addresses it.
struct Memory {
  bool isLDS = false;
  /// Pointer to element 0 (global) or to the kernel's LDS block.
  Value base;
  /// Of global memory on targets that have such: the buffer from the base on;
  /// see BufferAccess.cpp.
  Value buffer;
  int64_t constantBytes = 0;
  /// Dynamic byte offset inside LDS; may be null.
  Value dynamicBytes;
  /// Of addresses inside LDS, beside those two, which are multiples of its
  /// period.
  Swizzle swizzle;
  Type elementType;
  int64_t elementBytes = 0;
  /// What the base and all strides are multiples of, in bytes.
  int64_t alignment = 1;
  SmallVector<int64_t> staticStrides, staticSizes;
  /// i32, null where static.
  SmallVector<Value> strides, sizes;
  /// The dimension of stride 1, or -1.
  int64_t contiguous = -1;
};

/// The address arithmetic of a memref; fails where LDS memory does not come
/// from `evo_tile.alloc_lds` through subviews.
FailureOr<Memory> resolveMemory(LaneBuilder &lane, Value memref);

/// Lets `memory` in LDS start at those of a tile's `indices` that keep its
/// swizzle and ask for no bounds: what is left of them.
SmallVector<Value> startAt(LaneBuilder &lane, Memory &memory,
                           ValueRange indices, ArrayRef<int64_t> shape,
                           ArrayRef<bool> inBounds);

/// A buffer from `base` on, as a pointer to it; null where the target has none.
Value makeBuffer(LaneBuilder &lane, Value base, unsigned addressSpace);

/// Bytes that lanes add to an address, and the bits that these may have; null:
/// none.
struct LaneOffset {
  Value bytes;
  int64_t bits = 0;

  /// What lane and subgroup contribute to dimension 0 of `map`.
  static LaneOffset get(LaneBuilder &lane, const LaneMap &map);
};

/// Where the swizzle moves the sum of `offset` and the `known` bytes: what
/// lanes add, and what stays known.
std::pair<Value, int64_t> applySwizzle(LaneBuilder &lane, Swizzle swizzle,
                                       LaneOffset offset, int64_t known);

/// The map of the bytes that `map`'s positions move by, of rank 1.
LaneMap getByteMap(const LaneMap &map, const Memory &memory);

/// How one lane's part of a tile lies in memory: pieces of consecutive
/// elements, their addresses and the conditions under which they are valid.
class MemoryAccess {
public:
  /// What an address outside becomes: the nearest valid one, any valid one with
  /// a condition, or as it is with a condition that the user must ask first.
  enum class Outside { Clamp, Check, Guard };

  MemoryAccess(LaneBuilder &lane, const Memory &memory, const LaneMap &map,
               ArrayRef<int64_t> shape, ValueRange indices,
               ArrayRef<bool> inBounds, Outside outside,
               std::optional<int64_t> alignment);

  /// Registers holding consecutive elements, first to last.
  using Piece = SmallVector<int64_t>;
  ArrayRef<Piece> getPieces() const { return pieces; }

  struct Address {
    Value pointer;
    /// Null: always valid.
    Value valid;
    /// The piece lies in the layout's padding for every lane.
    bool never = false;
    /// i32: bytes from where a buffer starts, of the lane and of the subgroup.
    /// What is not valid lies behind the buffer.
    Value laneBytes, subgroupBytes;
    /// Bytes of the lane that are yet to be added, and at most how many.
    SmallVector<std::pair<Value, Value>, 1> clamps = {};

    bool isInBuffer() const { return static_cast<bool>(laneBytes); }
  };
  Address getAddress(const Piece &piece);
  int64_t getAlignment(const Piece &piece) const;

private:
  int64_t getMaxWidth(std::optional<int64_t> alignment) const;
  void makePieces(int64_t maxWidth);
  Value getStrideBytes(int64_t dim);
  Value scale(Value index, int64_t dim);
  Value advance(Value pointer, Value bytes);
  Value lessThan(Value x, Value y);
  Value getSize(int64_t dim);
  bool fitsBuffer() const;
  Address getInBuffer(const Piece &piece);
  void addClamps(Address &address, int64_t bytes);
  /// What one dimension adds to an address in a buffer, of a piece's register.
  void addToBuffer(int64_t dim, int64_t reg, int64_t width, Address &address,
                   int64_t &known);

  LaneBuilder &lane;
  const Memory &memory;
  const LaneMap &map;
  SmallVector<int64_t> shape, box, maxPosition;
  SmallVector<Value> indices, positions;
  int64_t laneBits = 0; ///< that the positions' bytes may have; of LDS
  SmallVector<bool> inBounds;
  Outside outside;
  int64_t knownAlignment;
  SmallVector<Piece> pieces;
  bool inBuffer = false;
};

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_TILETOGPU_MEMORYACCESS_H
