//===- BankConflicts.cpp - What LDS accesses cost ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources: "AMD Instinct MI300 Instruction Set Architecture", chapter "Local
// Data Share" (32 banks of 4 bytes, 128 bytes a cycle); "CUDA C++ Programming
// Guide", "Shared Memory" (32 banks, a half or quarter warp per cycle for 8-
// and 16-byte accesses); "Parallel Thread Execution ISA", "ldmatrix".
//
//===----------------------------------------------------------------------===//

#include "BankConflicts.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir::evoformer::tile;
using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::FailureOr;

static constexpr int64_t kBankBytes = 4;
/// Register vectors beyond these repeat the pattern of the first ones.
static constexpr int64_t kSampledVectors = 8;

/// The registers that start accesses of `width` elements along `dim`; empty if
/// some registers are in none.
static SmallVector<int64_t> getAccessStarts(const LaneMap &map, int64_t dim,
                                            int64_t width) {
  // Registers by the rest of their index and the block along `dim`.
  std::map<std::pair<SmallVector<int64_t>, int64_t>, SmallVector<int64_t>>
      blocks;
  for (int64_t r = 0, e = map.getNumRegisters(); r < e; ++r) {
    SmallVector<int64_t> offset = map.registerOffset(r);
    int64_t along = std::exchange(offset[dim], 0);
    SmallVector<int64_t> &block =
        blocks.try_emplace({offset, along / width}, width, -1).first->second;
    block[along % width] = r;
  }
  SmallVector<int64_t> starts;
  for (auto &[position, block] : blocks) {
    if (llvm::is_contained(block, -1))
      return {};
    starts.push_back(block.front());
  }
  return starts;
}

int64_t mlir::evoformer::tile::getAccessWidth(const LaneMap &map,
                                              ArrayRef<int64_t> shape,
                                              int64_t dim,
                                              int64_t maxElements) {
  bool padded = map.getBox()[dim] > shape[dim];
  int64_t width = 1;
  auto fits = [&](int64_t w) {
    for (const auto *axes : {&map.lanes, &map.subgroups})
      for (const LayoutAxis &axis : *axes)
        if (axis.size > 1 && axis.strides[dim] % w != 0)
          return false;
    return !(padded && shape[dim] % w != 0) &&
           !getAccessStarts(map, dim, w).empty();
  };
  while (width * 2 <= maxElements && fits(width * 2))
    width *= 2;
  return width;
}

int64_t mlir::evoformer::tile::getAccessBytes(const LaneMap &map,
                                              const LDSPlacement &placement) {
  return getAccessWidth(map, placement.shape, placement.contiguousDim,
                        std::max<int64_t>(1, 16 / placement.elementBytes)) *
         placement.elementBytes;
}

/// Cycles that the accesses of one phase take: the most different words that
/// any bank must deliver. Equal words are delivered to all lanes at once.
static int64_t countPhase(ArrayRef<int64_t> addresses, int64_t bytes,
                          int64_t banks) {
  llvm::DenseSet<int64_t> words;
  llvm::DenseMap<int64_t, int64_t> perBank;
  int64_t worst = 0;
  for (int64_t address : addresses)
    for (int64_t at = address; at < address + bytes; at += kBankBytes)
      if (int64_t word = at / kBankBytes; words.insert(word).second)
        worst = std::max(worst, ++perBank[word % banks]);
  return worst;
}

static bool isInside(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  for (auto [i, size] : llvm::zip(index, shape))
    if (i >= size)
      return false;
  return true;
}

LDSCycles mlir::evoformer::tile::countVectorAccess(
    const LaneMap &map, const LDSPlacement &placement, int64_t banks) {
  LDSCycles cycles;
  int64_t bytes = getAccessBytes(map, placement);
  int64_t width = bytes / placement.elementBytes;
  int64_t lanes = map.getNumLanes();
  int64_t phase =
      std::clamp<int64_t>(banks * kBankBytes / std::max(bytes, kBankBytes), 1,
                          std::max<int64_t>(lanes, 1));
  SmallVector<int64_t> starts =
      getAccessStarts(map, placement.contiguousDim, width);
  if ((int64_t)starts.size() > kSampledVectors)
    starts.resize(kSampledVectors);
  for (int64_t start : starts)
    for (int64_t first = 0; first < lanes; first += phase) {
      SmallVector<int64_t> addresses;
      for (int64_t l = first; l < std::min(first + phase, lanes); ++l) {
        SmallVector<int64_t> index = map.at(0, l, start);
        if (isInside(index, placement.shape))
          addresses.push_back(placement.getAddress(index));
      }
      if (addresses.empty())
        continue;
      cycles.actual += countPhase(addresses, bytes, banks);
      ++cycles.ideal;
    }
  return cycles;
}

/// The rows of 8x8 matrix number `m` of the first subgroup, each with its first
/// column; fails where lanes and registers do not form one.
static FailureOr<std::map<SmallVector<int64_t>, int64_t>>
getMatrixRows(const LaneMap &map, const LDSPlacement &placement, int64_t m) {
  constexpr int64_t kSize = 8, kLanesPerRow = 4, kPerLane = 2;
  std::map<SmallVector<int64_t>, int64_t> rows;
  if (map.getNumLanes() != kSize * kLanesPerRow ||
      map.getNumRegisters() < (m + 1) * kPerLane)
    return mlir::failure();
  int64_t contiguous = placement.contiguousDim;
  auto split = [&](int64_t lane, int64_t reg) {
    SmallVector<int64_t> row = map.at(0, lane, m * kPerLane + reg);
    int64_t column = std::exchange(row[contiguous], 0);
    return std::make_pair(row, column);
  };
  // As stored: lane / 4 is the row, two neighbouring columns a lane; or
  // transposed: lane / 4 is the column, the registers are two rows.
  bool transposed = split(0, 0).first != split(0, 1).first;
  for (int64_t l = 0; l < kSize * kLanesPerRow; ++l)
    for (int64_t r = 0; r < kPerLane; ++r) {
      auto [row, column] = split(l, r);
      int64_t across = l / kLanesPerRow,
              along = l % kLanesPerRow * kPerLane + r;
      int64_t first = column - (transposed ? across : along);
      // All of a row agree on its first column, a multiple of the width.
      auto it = rows.try_emplace(row, first).first;
      if (it->second != first || first < 0 || first % kSize != 0)
        return mlir::failure();
      if (row != split(transposed ? l % kLanesPerRow : across * kLanesPerRow,
                       transposed ? r : 0)
                     .first)
        return mlir::failure();
    }
  if ((int64_t)rows.size() != kSize)
    return mlir::failure();
  return rows;
}

std::optional<LDSCycles> mlir::evoformer::tile::countMatrixReads(
    const LaneMap &map, const LDSPlacement &placement, int64_t banks) {
  constexpr int64_t kRowBytes = 16;
  if (placement.elementBytes != 2 || map.getNumRegisters() % 2 != 0)
    return std::nullopt;
  LDSCycles cycles;
  int64_t matrices = std::min(map.getNumRegisters() / 2, kSampledVectors);
  for (int64_t m = 0; m < matrices; ++m) {
    auto rows = getMatrixRows(map, placement, m);
    if (failed(rows))
      return std::nullopt;
    SmallVector<int64_t> addresses;
    for (auto &[row, column] : *rows)
      addresses.push_back(placement.getAddress(row) +
                          column * placement.elementBytes);
    cycles.actual += countPhase(addresses, kRowBytes, banks);
    ++cycles.ideal;
  }
  return cycles;
}
