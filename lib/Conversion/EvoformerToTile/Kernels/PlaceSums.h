//===- PlaceSums.h - Sums of places in a score ------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_PLACESUMS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_PLACESUMS_H

#include "Evoformer/Dialect/Evoformer/IR/Score.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <optional>

namespace mlir::evoformer {

/// An integer of a score that is a sum of its arguments of i32 times constants,
/// and a constant, all of which are so small that nothing leaves i32 for rows
/// of less than 2^25 queries and keys.
struct PlaceSum {
  /// By ScoreArgument.
  std::array<int64_t, kNumScoreArguments> factors = {};
  int64_t constant = 0;

  int64_t factorOf(ScoreArgument argument) const {
    return factors[static_cast<unsigned>(argument)];
  }
};

/// Finds such sums in a region; each value is looked at once.
class PlaceSums {
public:
  std::optional<PlaceSum> find(Value value);

private:
  std::optional<PlaceSum> analyze(Value value);

  llvm::DenseMap<Value, std::optional<PlaceSum>> known;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_KERNELS_PLACESUMS_H
