//===- Dropout.h - Which weights a reference drops --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws as the documentation of `evo_tile.random` defines them, one at a time,
// by code that shares nothing with that of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_REFERENCE_DROPOUT_H
#define EVOFORMER_REFERENCE_DROPOUT_H

#include <array>
#include <cstdint>

namespace mlir::evoformer::reference {

/// Philox-4x32 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// 2011, with so many rounds.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key, int rounds);

struct Dropout {
  /// The probability, and what the device reads.
  double probability = 0;
  uint64_t seed = 0, offset = 0;
  /// Of parts of a problem: the first b, n and h, and how many rows and heads
  /// the whole has.
  int64_t firstBatch = 0, firstRow = 0, firstHead = 0;
  int64_t allRows = 1, allHeads = 1;

  /// Of 2^16 draws those whose weight is dropped.
  int64_t getThreshold() const;
  /// The 16 bits of a weight.
  uint32_t draw(uint32_t stream, uint32_t row, uint32_t column) const;
  /// What a weight is multiplied by: 0 or 1 / (1 - p), p being the share of
  /// draws that are dropped.
  double getFactor(int64_t b, int64_t n, int64_t h, int64_t i, int64_t j) const;
};

} // namespace mlir::evoformer::reference

#endif // EVOFORMER_REFERENCE_DROPOUT_H
