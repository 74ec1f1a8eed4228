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
                                              const SharedLayout &layout) {
  return getAccessWidth(map, layout.shape, layout.contiguousDim,
                        std::max<int64_t>(1, 16 / layout.elementBytes)) *
         layout.elementBytes;
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

/// See LDSCycles::addressing; the accesses begin at the registers `starts`.
static int64_t countAddressing(const LaneMap &map, const SharedLayout &layout,
                               ArrayRef<int64_t> starts) {
  constexpr int64_t kSwizzle = 3;
  const Swizzle &swizzle = layout.swizzle;
  if (!swizzle)
    return 0;
  int64_t laneBits = 0, count = 0;
  for (int64_t l = 0, e = map.getNumLanes(); l < e; ++l)
    laneBits |= layout.linearOf(map.laneOffset(l));
  for (int64_t s = 0, e = map.getNumSubgroups(); s < e; ++s)
    laneBits |= layout.linearOf(map.subgroupOffset(s));
  llvm::DenseSet<int64_t> exchanged;
  for (int64_t start : starts) {
    int64_t known = layout.linearOf(map.registerOffset(start));
    if (known & laneBits)
      count += kSwizzle;
    else if (exchanged.insert(swizzle.apply(known) & swizzle.getMask()).second)
      ++count;
  }
  return count;
}

LDSCycles mlir::evoformer::tile::countVectorAccess(const LaneMap &map,
                                                   const SharedLayout &layout,
                                                   int64_t banks) {
  LDSCycles cycles;
  int64_t bytes = getAccessBytes(map, layout);
  int64_t width = bytes / layout.elementBytes;
  int64_t lanes = map.getNumLanes();
  int64_t phase =
      std::clamp<int64_t>(banks * kBankBytes / std::max(bytes, kBankBytes), 1,
                          std::max<int64_t>(lanes, 1));
  SmallVector<int64_t> starts =
      getAccessStarts(map, layout.contiguousDim, width);
  cycles.addressing = countAddressing(map, layout, starts);
  int64_t all = starts.size();
  starts.resize(std::min(all, kSampledVectors));
  for (int64_t start : starts)
    for (int64_t first = 0; first < lanes; first += phase) {
      SmallVector<int64_t> addresses;
      for (int64_t l = first; l < std::min(first + phase, lanes); ++l) {
        SmallVector<int64_t> index = map.at(0, l, start);
        if (isInside(index, layout.shape))
          addresses.push_back(layout.addressOf(index));
      }
      if (addresses.empty())
        continue;
      cycles.actual += countPhase(addresses, bytes, banks);
      ++cycles.ideal;
    }
  cycles.extend(starts.size(), all);
  return cycles;
}

std::optional<LDSCycles> mlir::evoformer::tile::countMatrixReads(
    const LaneMap &map, const SharedLayout &layout, int64_t banks) {
  constexpr int64_t kRowBytes = 16, kMatricesARead = 4;
  std::optional<MatrixRead> read = matchMatrixRead(
      map, layout.shape, layout.contiguousDim, layout.elementBytes);
  if (!read)
    return std::nullopt;
  LDSCycles cycles;
  int64_t all = map.getNumRegisters() / 2;
  SmallVector<int64_t> starts;
  for (int64_t m = 0; m < all; m += kMatricesARead)
    starts.push_back(2 * m);
  cycles.addressing = countAddressing(map, layout, starts);
  int64_t matrices = std::min(all, kSampledVectors);
  for (int64_t m = 0; m < matrices; ++m) {
    SmallVector<int64_t> addresses;
    for (int64_t row = 0; row < 1 << read->rowBits.size(); ++row) {
      SmallVector<int64_t> index = map.registerOffset(2 * m);
      for (auto [bit, offset] : llvm::enumerate(read->rowBits))
        for (auto [i, move] : llvm::zip(index, offset))
          i += (row >> bit & 1) * move;
      addresses.push_back(layout.addressOf(index));
    }
    cycles.actual += countPhase(addresses, kRowBytes, banks);
    ++cycles.ideal;
  }
  cycles.extend(matrices, all);
  return cycles;
}

std::optional<LDSCycles> mlir::evoformer::tile::countTransposedReads(
    const LaneMap &map, const SharedLayout &layout, int64_t banks) {
  constexpr int64_t kPieceBytes = 8, kRows = 4;
  std::optional<LaneMap> read = matchTransposedRead(
      map, layout.shape, layout.contiguousDim, layout.elementBytes);
  if (!read)
    return std::nullopt;
  LDSCycles cycles;
  SmallVector<int64_t> starts;
  for (int64_t r = 0; r < map.getNumRegisters(); r += kRows)
    starts.push_back(r);
  cycles.addressing = countAddressing(*read, layout, starts);
  int64_t all = starts.size(), lanes = read->getNumLanes();
  int64_t phase =
      std::clamp<int64_t>(banks * kBankBytes / kPieceBytes, 1, lanes);
  starts.resize(std::min(all, kSampledVectors));
  for (int64_t start : starts)
    for (int64_t first = 0; first < lanes; first += phase) {
      SmallVector<int64_t> addresses;
      for (int64_t l = first; l < std::min(first + phase, lanes); ++l)
        addresses.push_back(layout.addressOf(read->at(0, l, start)));
      cycles.actual += countPhase(addresses, kPieceBytes, banks);
      ++cycles.ideal;
    }
  cycles.extend(starts.size(), all);
  return cycles;
}
