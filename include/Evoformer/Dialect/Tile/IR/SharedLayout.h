//===- SharedLayout.h - How workgroup memory holds a tile -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_SHAREDLAYOUT_H
#define EVOFORMER_DIALECT_TILE_IR_SHAREDLAYOUT_H

#include "Evoformer/Dialect/Tile/IR/LaneMap.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::evoformer::tile {

/// Pieces of rows that lie one behind the other for all rows of a tile, as if
/// each were a tile of its own: of an address, the 2^`pieces` pieces of a row
/// are told by the bits from `low` on, the 2^`rows` rows by those above them,
/// and the two change places.
struct Panels {
  int64_t low = 0, pieces = 0, rows = 0;

  explicit operator bool() const { return pieces != 0; }
  bool operator==(const Panels &other) const {
    return low == other.low && pieces == other.pieces && rows == other.rows;
  }
  bool operator!=(const Panels &other) const { return !(*this == other); }
  int64_t getMask() const {
    return ((int64_t(1) << (pieces + rows)) - 1) << low;
  }
  int64_t apply(int64_t address) const {
    int64_t piece = address >> low & ((int64_t(1) << pieces) - 1);
    int64_t row = address >> (low + pieces) & ((int64_t(1) << rows) - 1);
    return (address & ~getMask()) | row << low | piece << (low + rows);
  }
  int64_t getPeriod() const {
    return pieces == 0 ? 1 : int64_t(1) << (low + pieces + rows);
  }
};

/// Which place of a buffer a byte goes to: its panels are set apart, then bit
/// `base` + i of its address is XORed with bit `from`[i]. Addresses that differ
/// by a multiple of the period are moved alike.
struct Swizzle {
  int64_t base = 0;
  llvm::SmallVector<int64_t, 3> from;
  Panels panels;

  explicit operator bool() const { return !from.empty(); }
  /// The bits that are XORed.
  int64_t getMask() const { return ((int64_t(1) << from.size()) - 1) << base; }
  int64_t apply(int64_t address) const {
    if (panels)
      address = panels.apply(address);
    for (auto [i, bit] : llvm::enumerate(from))
      address ^= (address >> bit & 1) << (base + i);
    return address;
  }
  int64_t getPeriod() const {
    return std::max(getXORPeriod(), panels.getPeriod());
  }
  /// The same of what XORs alone move.
  int64_t getXORPeriod() const {
    return from.empty() ? 1 : int64_t(2) << *llvm::max_element(from);
  }
};

/// Where workgroup memory keeps a tile: element strides per dimension, and what
/// moves the bytes that these give. Planner, bank counter and lowering ask it.
struct SharedLayout {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides;
  /// The dimension of stride 1.
  int64_t contiguousDim = 0;
  int64_t elementBytes = 1;
  Swizzle swizzle;

  /// Bytes from the buffer's start, before and after the swizzle.
  int64_t linearOf(llvm::ArrayRef<int64_t> index) const {
    int64_t address = 0;
    for (auto [i, stride] : llvm::zip(index, strides))
      address += i * stride;
    return address * elementBytes;
  }
  int64_t addressOf(llvm::ArrayRef<int64_t> index) const {
    return swizzle.apply(linearOf(index));
  }
};

/// The memref type of such a buffer of `element`s.
MemRefType getSharedType(const SharedLayout &layout, Type element);

/// The swizzle of workgroup memory; none for other memory.
Swizzle getSwizzle(MemRefType type);

/// Bytes that a static strided memref spans, rounded up to its period and 16.
int64_t getLDSBytes(MemRefType type);

/// Reads of 8x8 matrices of 16-bit elements, each row 16 bytes of memory. Lane
/// l gets the elements 2 * (l % 4) and the next of row l / 4; of row 2 * (l %
/// 4) and the next the element l / 4 where it is `transposed`.
struct MatrixRead {
  bool transposed;
  /// The tile index that each bit of a row's number moves by.
  llvm::SmallVector<llvm::SmallVector<int64_t>> rowBits;
};

/// The matrices as which lanes can read `map`'s registers, two each, from
/// memory that is contiguous along `contiguousDim`; nothing where they form
/// none.
std::optional<MatrixRead> matchMatrixRead(const LaneMap &map,
                                          llvm::ArrayRef<int64_t> shape,
                                          int64_t contiguousDim,
                                          int64_t elementBytes);

/// The lanes' addresses of reads of 4x16 matrices of 16-bit elements across
/// their rows, each row four pieces of 8 bytes. Of 16 lanes, lane l gives the
/// address of piece l % 4 of row l / 4, and gets element l of the four rows:
/// four of `map`'s registers, from a multiple of four on. Nothing where lanes
/// and registers of a tile in memory that is contiguous along `contiguousDim`
/// form no such matrices.
std::optional<LaneMap> matchTransposedRead(const LaneMap &map,
                                           llvm::ArrayRef<int64_t> shape,
                                           int64_t contiguousDim,
                                           int64_t elementBytes);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_SHAREDLAYOUT_H
