//===- LaneMap.cpp - Where a tile's elements live ---------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/LaneMap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir::evoformer::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

SmallVector<int64_t> LaneMap::offset(ArrayRef<LayoutAxis> axes,
                                     int64_t position) const {
  SmallVector<int64_t> index(rank, 0);
  for (const LayoutAxis &axis : axes) {
    int64_t digit = position % axis.size;
    position /= axis.size;
    for (int64_t d = 0; d < rank; ++d)
      index[d] += digit * axis.strides[d];
  }
  return index;
}

SmallVector<int64_t> LaneMap::at(int64_t subgroup, int64_t lane,
                                 int64_t reg) const {
  SmallVector<int64_t> index = registerOffset(reg);
  SmallVector<int64_t> l = laneOffset(lane), s = subgroupOffset(subgroup);
  for (int64_t d = 0; d < rank; ++d)
    index[d] += l[d] + s[d];
  return index;
}

SmallVector<int64_t> LaneMap::getBox() const {
  SmallVector<int64_t> box(rank, 1);
  for (const auto *axes : {&registers, &lanes, &subgroups})
    for (const LayoutAxis &axis : *axes)
      for (int64_t d = 0; d < rank; ++d)
        box[d] += (axis.size - 1) * axis.strides[d];
  return box;
}

int64_t LaneMap::contiguousRun(int64_t dim) const {
  int64_t run = 1;
  for (const LayoutAxis &axis : registers) {
    if (axis.size == 1)
      continue;
    for (int64_t d = 0; d < rank; ++d)
      if (axis.strides[d] != (d == dim ? run : 0))
        return run;
    run *= axis.size;
  }
  return run;
}

LaneMap LaneMap::dropDim(int64_t dim) const {
  LaneMap result(rank - 1);
  auto strip = [&](const LayoutAxis &axis) {
    LayoutAxis stripped = axis;
    stripped.strides.erase(stripped.strides.begin() + dim);
    return stripped;
  };
  for (auto [i, axis] : llvm::enumerate(registers)) {
    LayoutAxis stripped = strip(axis);
    // A register axis that moved along `dim` only would repeat the same value.
    if (axis.size == 1 || (stripped.isReplicated() && !axis.isReplicated()))
      continue;
    if (i < innerAxes)
      ++result.innerAxes;
    result.registers.push_back(stripped);
  }
  for (const LayoutAxis &axis : lanes)
    result.lanes.push_back(strip(axis));
  for (const LayoutAxis &axis : subgroups)
    result.subgroups.push_back(strip(axis));
  return result;
}

LaneMap LaneMap::permuteDims(ArrayRef<int64_t> permutation) const {
  LaneMap result = *this;
  for (auto *axes : {&result.registers, &result.lanes, &result.subgroups})
    for (LayoutAxis &axis : *axes) {
      SmallVector<int64_t, 4> strides;
      for (int64_t d : permutation)
        strides.push_back(axis.strides[d]);
      axis.strides = strides;
    }
  return result;
}

bool LaneMap::operator==(const LaneMap &other) const {
  if (rank != other.rank || getNumRegisters() != other.getNumRegisters() ||
      getNumLanes() != other.getNumLanes() ||
      getVectorSize() != other.getVectorSize())
    return false;
  // A workgroup-replicated map needs no subgroup axes at all.
  int64_t subgroupCount = std::max(getNumSubgroups(), other.getNumSubgroups());
  for (int64_t r = 0, e = getNumRegisters(); r < e; ++r)
    if (registerOffset(r) != other.registerOffset(r))
      return false;
  for (int64_t l = 0, e = getNumLanes(); l < e; ++l)
    if (laneOffset(l) != other.laneOffset(l))
      return false;
  for (int64_t s = 0; s < subgroupCount; ++s)
    if (subgroupOffset(s) != other.subgroupOffset(s))
      return false;
  return true;
}

std::optional<std::vector<std::pair<int, int>>>
LaneMap::findSources(const LaneMap &src, const LaneMap &dst,
                     ArrayRef<int64_t> shape) {
  int64_t lanes = src.getNumLanes();
  if (lanes != dst.getNumLanes())
    return std::nullopt;
  // Subgroups must split the tile alike; then one stands for all.
  int64_t subgroups = std::max(src.getNumSubgroups(), dst.getNumSubgroups());
  for (int64_t s = 0; s < subgroups; ++s)
    if (src.subgroupOffset(s) != dst.subgroupOffset(s))
      return std::nullopt;

  SmallVector<int64_t> box = src.getBox();
  for (auto [extent, other] : llvm::zip(box, dst.getBox()))
    extent = std::max(extent, other);
  auto flatten = [&](ArrayRef<int64_t> index) {
    int64_t flat = 0;
    for (auto [i, extent] : llvm::zip(index, box))
      flat = flat * extent + i;
    return flat;
  };
  auto positions = [&](const LaneMap &map) {
    SmallVector<SmallVector<int64_t>> registers, laneOffsets;
    for (int64_t r = 0, e = map.getNumRegisters(); r < e; ++r)
      registers.push_back(map.registerOffset(r));
    for (int64_t l = 0; l < lanes; ++l)
      laneOffsets.push_back(map.laneOffset(l));
    return std::pair(registers, laneOffsets);
  };
  auto sum = [](ArrayRef<int64_t> x, ArrayRef<int64_t> y) {
    SmallVector<int64_t> result(x);
    for (auto [a, b] : llvm::zip(result, y))
      a += b;
    return result;
  };

  int64_t total = 1;
  for (int64_t extent : box)
    total *= extent;
  std::vector<SmallVector<std::pair<int, int>, 2>> holders(total);
  auto [srcRegisters, srcLanes] = positions(src);
  for (auto [l, lane] : llvm::enumerate(srcLanes))
    for (auto [r, reg] : llvm::enumerate(srcRegisters))
      holders[flatten(sum(lane, reg))].emplace_back(l, r);

  std::vector<std::pair<int, int>> sources;
  auto [dstRegisters, dstLanes] = positions(dst);
  for (ArrayRef<int64_t> reg : dstRegisters)
    for (auto [l, lane] : llvm::enumerate(dstLanes)) {
      SmallVector<int64_t> index = sum(lane, reg);
      std::pair<int, int> best(-1, -1);
      int bestBits = 64;
      for (auto [heldLane, heldReg] : holders[flatten(index)]) {
        int bits = llvm::popcount(static_cast<unsigned>(heldLane ^ (int)l));
        if (bits < bestBits) {
          best = {heldLane, heldReg};
          bestBits = bits;
        }
      }
      bool inside = true;
      for (auto [i, size] : llvm::zip(index, shape))
        inside &= i < size;
      if (best.first < 0 && inside)
        return std::nullopt;
      sources.push_back(best);
    }
  return sources;
}

LayoutRelation LaneMap::relate(const LaneMap &src, const LaneMap &dst,
                               ArrayRef<int64_t> shape, int64_t *laneMask) {
  if (src == dst)
    return LayoutRelation::Same;
  auto sources = findSources(src, dst, shape);
  if (!sources)
    return LayoutRelation::Shared;
  int64_t mask = 0;
  bool rename = true;
  int64_t lanes = dst.getNumLanes();
  for (int64_t r = 0, e = dst.getNumRegisters(); r < e; ++r) {
    int common = -1;
    for (int64_t l = 0; l < lanes; ++l) {
      auto [lane, reg] = (*sources)[r * lanes + l];
      if (lane < 0)
        continue;
      mask |= lane ^ l;
      // A renaming takes the same register in every lane.
      rename &= common < 0 || common == reg;
      common = reg;
    }
  }
  if (laneMask)
    *laneMask = mask;
  return rename && mask == 0 ? LayoutRelation::RegisterRename
                             : LayoutRelation::LaneExchange;
}

void LaneMap::print(llvm::raw_ostream &os) const {
  auto printAxes = [&](llvm::StringRef name, ArrayRef<LayoutAxis> axes) {
    os << name << " = [";
    llvm::interleaveComma(axes, os, [&](const LayoutAxis &axis) {
      os << '[' << axis.size;
      for (int64_t stride : axis.strides)
        os << ", " << stride;
      os << ']';
    });
    os << ']';
  };
  printAxes("registers", registers);
  printAxes(", lanes", lanes);
  printAxes(", subgroups", subgroups);
  if (innerAxes != registers.size())
    os << ", inner = " << innerAxes;
}
