//===- LaneMap.h - Where a tile's elements live -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_LANEMAP_H
#define EVOFORMER_DIALECT_TILE_IR_LANEMAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace mlir::evoformer::tile {

/// One digit of a mixed-radix position: `size` values, each step of which moves
/// by `strides` in the tile. All-zero strides replicate.
struct LayoutAxis {
  int64_t size = 1;
  llvm::SmallVector<int64_t, 4> strides;

  bool isReplicated() const {
    return llvm::all_of(strides, [](int64_t s) { return s == 0; });
  }
  bool operator==(const LayoutAxis &other) const {
    return size == other.size && strides == other.strides;
  }
};

/// What it takes to bring a tile from one layout to another, cheapest first.
enum class LayoutRelation {
  Same,           ///< every register already holds what is wanted
  RegisterRename, ///< the lane has all it needs, in other registers
  LaneExchange,   ///< within the subgroup, from other lanes
  Shared          ///< through LDS
};

/// Where a tile's elements live: axes over registers, lanes and subgroups
/// (fastest first). The element at (subgroup, lane, register) has the index
/// sum of digit * stride over all axes. The first `innerAxes` register axes are
/// the elements of one register vector, the others count such vectors.
class LaneMap {
public:
  LaneMap() = default;
  explicit LaneMap(int64_t rank) : rank(rank) {}

  int64_t rank = 0;
  llvm::SmallVector<LayoutAxis, 4> registers, lanes, subgroups;
  unsigned innerAxes = 0;

  int64_t getNumRegisters() const { return product(registers); }
  int64_t getNumLanes() const { return product(lanes); }
  int64_t getNumSubgroups() const { return product(subgroups); }
  /// Elements of one register vector, and how many vectors there are.
  int64_t getVectorSize() const {
    return product(llvm::ArrayRef(registers).take_front(innerAxes));
  }
  int64_t getNumVectors() const { return getNumRegisters() / getVectorSize(); }

  /// The index held at a position, or the part of it that the register, lane
  /// or subgroup number contributes.
  llvm::SmallVector<int64_t> at(int64_t subgroup, int64_t lane,
                                int64_t reg) const;
  llvm::SmallVector<int64_t> registerOffset(int64_t reg) const {
    return offset(registers, reg);
  }
  llvm::SmallVector<int64_t> laneOffset(int64_t lane) const {
    return offset(lanes, lane);
  }
  llvm::SmallVector<int64_t> subgroupOffset(int64_t subgroup) const {
    return offset(subgroups, subgroup);
  }

  /// The extents that all positions together cover; at least the tile's shape,
  /// more where atoms are padded.
  llvm::SmallVector<int64_t> getBox() const;

  /// How many registers, from register 0 on, hold consecutive elements along
  /// `dim` (and nothing else changes).
  int64_t contiguousRun(int64_t dim) const;

  /// The map without dimension `dim`: register axes that moved only along it
  /// go, lanes and subgroups replicate.
  LaneMap dropDim(int64_t dim) const;
  /// The map whose dimension i is this map's dimension permutation[i].
  LaneMap permuteDims(llvm::ArrayRef<int64_t> permutation) const;

  /// How `dst` relates to `src` for a tile of this shape. For an exchange,
  /// `laneMask` (if given) is set to the union of (source lane xor lane).
  static LayoutRelation relate(const LaneMap &src, const LaneMap &dst,
                               llvm::ArrayRef<int64_t> shape,
                               int64_t *laneMask = nullptr);

  /// For every register and lane of `dst` ([register * lanes + lane]) where
  /// `src` holds that element, as (lane, register), preferring the lane itself
  /// and then few differing lane bits; (-1, -1) for padding that nobody holds.
  /// Nothing if an element of the tile is not held within the subgroup.
  static std::optional<std::vector<std::pair<int, int>>>
  findSources(const LaneMap &src, const LaneMap &dst,
              llvm::ArrayRef<int64_t> shape);

  /// Equal placement of every register (however the axes are cut).
  bool operator==(const LaneMap &other) const;
  bool operator!=(const LaneMap &other) const { return !(*this == other); }

  void print(llvm::raw_ostream &os) const;

private:
  static int64_t product(llvm::ArrayRef<LayoutAxis> axes) {
    int64_t result = 1;
    for (const LayoutAxis &axis : axes)
      result *= axis.size;
    return result;
  }
  llvm::SmallVector<int64_t> offset(llvm::ArrayRef<LayoutAxis> axes,
                                    int64_t position) const;
};

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_LANEMAP_H
