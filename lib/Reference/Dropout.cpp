//===- Dropout.cpp - Which weights a reference drops ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Dropout.h"
#include <algorithm>
#include <cmath>

using namespace mlir::evoformer::reference;

std::array<uint32_t, 4>
mlir::evoformer::reference::philox(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key, int rounds) {
  // Two 2x32 networks whose right halves are exchanged in every round.
  for (uint32_t round = 0; round < static_cast<uint32_t>(rounds); ++round) {
    const uint64_t left = uint64_t(0xD2511F53) * counter[0];
    const uint64_t right = uint64_t(0xCD9E8D57) * counter[2];
    const uint32_t first = key[0] + round * 0x9E3779B9u;
    const uint32_t second = key[1] + round * 0xBB67AE85u;
    counter = {static_cast<uint32_t>(right >> 32) ^ counter[1] ^ first,
               static_cast<uint32_t>(right),
               static_cast<uint32_t>(left >> 32) ^ counter[3] ^ second,
               static_cast<uint32_t>(left)};
  }
  return counter;
}

int64_t Dropout::getThreshold() const {
  return std::min<int64_t>(
      std::llround(static_cast<float>(probability) * 65536.0), 65535);
}

uint32_t Dropout::draw(uint32_t stream, uint32_t row, uint32_t column) const {
  constexpr int kRounds = 7;
  const std::array<uint32_t, 4> words =
      philox({column / 8, row, stream, static_cast<uint32_t>(offset)},
             {static_cast<uint32_t>(seed),
              static_cast<uint32_t>((seed ^ offset) >> 32)},
             kRounds);
  const uint32_t word = words[column % 8 / 2];
  return column % 2 ? word >> 16 : word & 0xFFFF;
}

double Dropout::getFactor(int64_t b, int64_t n, int64_t h, int64_t i,
                          int64_t j) const {
  const int64_t threshold = getThreshold();
  const int64_t row = (b + firstBatch) * allRows + n + firstRow;
  const int64_t stream = row * allHeads + h + firstHead;
  const bool isKept =
      draw(static_cast<uint32_t>(stream), static_cast<uint32_t>(i),
           static_cast<uint32_t>(j)) >= threshold;
  return isKept ? 65536.0 / static_cast<double>(65536 - threshold) : 0;
}
