//===- CooperativeCopy.cpp - All lanes copy a tile --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CooperativeCopy.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::evoformer::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Widest access of a lane, and the narrowest that still runs at full rate.
static constexpr int64_t kVectorBytes = 16, kHalfVectorBytes = 8;
/// The narrowest access that is still worth its instruction.
static constexpr int64_t kNarrowBytes = 4;
/// What memory delivers at once: neighbouring lanes read at least this much.
static constexpr int64_t kSectorBytes = 32;
/// What a cache holds of memory at once.
static constexpr int64_t kLineBytes = 128;

/// The largest power of two that divides `size`, at most `limit`.
static int64_t powerOfTwoIn(int64_t size, int64_t limit) {
  int64_t result = 1;
  while (result * 2 <= limit && size % (result * 2) == 0)
    result *= 2;
  return result;
}

/// The smallest divisor of `count` that is at least `wanted`, else `count`.
static int64_t divisorFrom(int64_t count, int64_t wanted) {
  for (int64_t divisor = 1; divisor < count; ++divisor)
    if (count % divisor == 0 && divisor >= wanted)
      return divisor;
  return count;
}

namespace {
/// Hands out the parts of a tile to registers, lanes and subgroups.
class TileCutter {
public:
  explicit TileCutter(ArrayRef<int64_t> shape)
      : left(shape), step(shape.size(), 1), map(shape.size()) {}

  /// `count` consecutive parts of `dim` to the next axis of `axes`.
  void cut(llvm::SmallVectorImpl<LayoutAxis> &axes, int64_t dim,
           int64_t count) {
    LayoutAxis axis{count, SmallVector<int64_t, 4>(left.size(), 0)};
    axis.strides[dim] = step[dim];
    axes.push_back(axis);
    step[dim] *= count;
    left[dim] = llvm::divideCeil(left[dim], count);
  }

  /// `count` lanes or subgroups over the dimensions in `order`. What no
  /// dimension can use holds the same again: unlike padding of the layout, that
  /// need not be told from the rest where it is loaded.
  void spread(llvm::SmallVectorImpl<LayoutAxis> &axes, ArrayRef<int64_t> order,
              int64_t count) {
    for (int64_t dim : order)
      if (left[dim] > 1 && count > 1) {
        int64_t taken = divisorFrom(count, left[dim]);
        cut(axes, dim, taken);
        count /= taken;
      }
    if (count > 1)
      axes.push_back({count, SmallVector<int64_t, 4>(left.size(), 0)});
  }

  SmallVector<int64_t> left; ///< parts of each dimension not handed out
  SmallVector<int64_t> step; ///< elements that one such part has
  LaneMap map;
};
} // namespace

/// How many lanes go along the source's contiguous dimension of `parts` parts.
static int64_t lanesAlong(int64_t parts, int64_t partBytes, int64_t lanes,
                          bool pastRegisters) {
  // Idle lanes of copies past registers take no branch, and so little that two
  // sectors of a row are worth it.
  int64_t wantedBytes = pastRegisters ? 2 * kSectorBytes : kSectorBytes;
  int64_t exact = powerOfTwoIn(parts, lanes);
  if (exact * partBytes >= wantedBytes || exact == parts)
    return exact;
  // Idle lanes are better than many small pieces, but as few of them as can be
  // where a whole line is read at once, or registers are filled anyway.
  int64_t leastBytes = pastRegisters ? kLineBytes : kSectorBytes;
  int64_t best =
      std::min<int64_t>(llvm::PowerOf2Ceil(parts), powerOfTwoIn(lanes, lanes));
  for (int64_t along = best / 2; along * partBytes >= leastBytes; along /= 2)
    if (llvm::alignTo(parts, along) < llvm::alignTo(parts, best))
      best = along;
  return best;
}

std::vector<CooperativeCopy> mlir::evoformer::tile::getCooperativeCopies(
    ArrayRef<int64_t> shape, int64_t elementBytes, int64_t sourceDim,
    int64_t destDim, int64_t maxBytes, int64_t lanes, int64_t subgroups,
    bool pastRegisters) {
  bool transposed = sourceDim != destDim;
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  auto vectorAlong = [&](int64_t dim, int64_t bytes) {
    return powerOfTwoIn(shape[dim], std::max<int64_t>(bytes / elementBytes, 1));
  };
  // A transposing lane holds a block, as large as leaves no lane idle: idle
  // lanes cost branches.
  int64_t sourceVector =
      vectorAlong(sourceDim, std::min(kVectorBytes, maxBytes));
  int64_t destVector = 1;
  if (transposed) {
    auto leavesIdle = [&]() {
      return sourceVector * destVector * lanes * subgroups > elements;
    };
    destVector = vectorAlong(destDim, kHalfVectorBytes);
    while (leavesIdle() && sourceVector * elementBytes > kNarrowBytes)
      sourceVector /= 2;
    int64_t wider = vectorAlong(destDim, kVectorBytes);
    if (sourceVector * wider * lanes * subgroups <= elements)
      destVector = wider;
  }

  SmallVector<int64_t> order;
  if (transposed)
    order.push_back(destDim);
  for (int64_t d = shape.size() - 1; d >= 0; --d)
    if (d != sourceDim && d != destDim)
      order.push_back(d);
  order.push_back(sourceDim);

  std::vector<CooperativeCopy> copies;
  int64_t partBytes = sourceVector * elementBytes;
  int64_t along = lanesAlong(shape[sourceDim] / sourceVector, partBytes, lanes,
                             pastRegisters);
  for (;; along /= 2) {
    TileCutter cutter(shape);
    LaneMap &map = cutter.map;
    cutter.cut(map.registers, sourceDim, sourceVector);
    if (transposed)
      cutter.cut(map.registers, destDim, destVector);
    map.innerAxes = map.registers.size();
    if (along > 1)
      cutter.cut(map.lanes, sourceDim, along);
    cutter.spread(map.lanes, order, lanes / along);
    cutter.spread(map.subgroups, order, subgroups);
    for (int64_t dim : order)
      if (cutter.left[dim] > 1)
        cutter.cut(map.registers, dim, cutter.left[dim]);
    copies.push_back({map, partBytes});
    // Fewer lanes per row may suit the banks of a transposed write.
    if (!transposed || along % 2 != 0 || along / 2 * partBytes < kSectorBytes)
      return copies;
  }
}
