//===- BankConflicts.h - What LDS accesses cost -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_BANKCONFLICTS_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_BANKCONFLICTS_H

#include "Evoformer/Dialect/Tile/IR/LaneMap.h"

namespace mlir::evoformer::tile {

/// Where workgroup memory keeps a tile: element strides per dimension.
struct LDSPlacement {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> strides;
  /// The dimension of stride 1.
  int64_t contiguousDim = 0;
  int64_t elementBytes = 1;

  int64_t getAddress(llvm::ArrayRef<int64_t> index) const {
    int64_t address = 0;
    for (auto [i, stride] : llvm::zip(index, strides))
      address += i * stride;
    return address * elementBytes;
  }
};

/// Cycles of a subgroup's accesses, and what they would be without conflicts.
struct LDSCycles {
  int64_t actual = 0;
  int64_t ideal = 0;

  double getFactor() const { return ideal ? double(actual) / ideal : 1.0; }
};

/// How many consecutive elements along `dim` one access of a lane can move, at
/// most `maxElements`: registers of any order hold them in every lane, and they
/// start at a multiple of their number. A power of two.
int64_t getAccessWidth(const LaneMap &map, llvm::ArrayRef<int64_t> shape,
                       int64_t dim, int64_t maxElements);

/// The same in bytes, along the contiguous dimension, at most 16.
int64_t getAccessBytes(const LaneMap &map, const LDSPlacement &placement);

/// Plain vector reads or writes of a tile by the first subgroup. Banks are four
/// bytes wide; as many neighbouring lanes as fill all banks go in one cycle,
/// unless two of them want different words of one bank.
LDSCycles countVectorAccess(const LaneMap &map, const LDSPlacement &placement,
                            int64_t banks);

/// 8x8 reads of 16-bit matrices (ldmatrix): eight rows of 16 bytes go in one
/// cycle. Empty where lanes and registers do not form such matrices, as stored
/// or transposed.
std::optional<LDSCycles> countMatrixReads(const LaneMap &map,
                                          const LDSPlacement &placement,
                                          int64_t banks);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_BANKCONFLICTS_H
