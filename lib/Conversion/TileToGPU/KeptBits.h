//===- KeptBits.h - Which draws are kept, as bits ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A word says of the draws of four calls whether they reach a threshold. Both
// draws of a word that the generator makes are compared at once, and stay 16
// bits apart.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOGPU_KEPTBITS_H
#define EVOFORMER_LIB_CONVERSION_TILETOGPU_KEPTBITS_H

#include "LaneBuilder.h"

#include "Evoformer/Dialect/Tile/IR/RandomDraws.h"

namespace mlir::evoformer::tile {

/// Calls whose bits a word has.
inline constexpr int64_t kCallsOfWord = 4;

/// The bit of a word that is of one of its calls and of a column of that. The
/// bits of the numbers of both are bits of this one's.
inline int64_t getKeptBit(int64_t call, int64_t column) {
  return 16 * (column & 1) + 4 * call + column / 2;
}

/// The word of at most kCallsOfWord calls.
Value packKept(LaneBuilder &lane, ArrayRef<RandomWords> calls,
               int64_t threshold);
/// For each bit, from the lowest, whether a word has it; null for those that
/// `wanted` does not have.
SmallVector<Value> unpackKept(LaneBuilder &lane, Value word, uint32_t wanted);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_TILETOGPU_KEPTBITS_H
