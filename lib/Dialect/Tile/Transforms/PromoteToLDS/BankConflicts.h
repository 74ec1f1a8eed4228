//===- BankConflicts.h - What LDS accesses cost -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_BANKCONFLICTS_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_BANKCONFLICTS_H

#include "Evoformer/Dialect/Tile/IR/SharedLayout.h"

namespace mlir::evoformer::tile {

/// Cycles of a subgroup's accesses, and what they would be without conflicts.
struct LDSCycles {
  int64_t actual = 0;
  int64_t ideal = 0;
  /// Instructions beside the accesses, for addresses that a swizzle sets apart
  /// so that constants in the accesses do not tell them.
  int64_t addressing = 0;

  int64_t getCost() const { return actual + addressing; }
  /// From a part of all accesses to all of them.
  void extend(int64_t part, int64_t all) {
    if (part > 0) {
      actual = actual * all / part;
      ideal = ideal * all / part;
    }
  }
  double getFactor() const { return ideal ? double(actual) / ideal : 1.0; }
};

/// How many consecutive elements along `dim` one access of a lane can move, at
/// most `maxElements`: registers of any order hold them in every lane, and they
/// start at a multiple of their number. A power of two.
int64_t getAccessWidth(const LaneMap &map, llvm::ArrayRef<int64_t> shape,
                       int64_t dim, int64_t maxElements);

/// The same in bytes, along the contiguous dimension, at most 16.
int64_t getAccessBytes(const LaneMap &map, const SharedLayout &layout);

/// Plain vector reads or writes of a tile by the first subgroup. Banks are four
/// bytes wide; as many neighbouring lanes as fill all banks go in one cycle,
/// unless two of them want different words of one bank.
LDSCycles countVectorAccess(const LaneMap &map, const SharedLayout &layout,
                            int64_t banks);

/// 8x8 reads of 16-bit matrices (ldmatrix): eight rows of 16 bytes go in one
/// cycle. Empty where lanes and registers do not form such matrices, as stored
/// or transposed.
std::optional<LDSCycles>
countMatrixReads(const LaneMap &map, const SharedLayout &layout, int64_t banks);

/// The same of reads across rows (matchTransposedRead), of 8 bytes each.
std::optional<LDSCycles> countTransposedReads(const LaneMap &map,
                                              const SharedLayout &layout,
                                              int64_t banks);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_BANKCONFLICTS_H
