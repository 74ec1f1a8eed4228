//===- LaneBuilder.h - What one lane does -----------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOGPU_LANEBUILDER_H
#define EVOFORMER_LIB_CONVERSION_TILETOGPU_LANEBUILDER_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

namespace mlir::evoformer::tile {

class CopyEngine;

/// What the patterns of one kernel share.
struct KernelContext {
  TargetAttr target;
  /// Within the subgroup, and the subgroup within the workgroup; i32.
  Value lane, subgroup;
  /// Of the workgroup.
  int64_t numSubgroups = 1;
  /// Whether this is lane 0 of subgroup 0; null where nobody asks.
  Value isFirstLane;
  /// Byte offsets of the kernel's LDS buffers, and the global they lie in.
  DenseMap<Operation *, int64_t> ldsOffsets;
  StringAttr ldsName;
  int64_t ldsBytes = 0, ldsAlignment = 16;
  /// Where in it lanes write what nobody reads, kSpareBytes a subgroup.
  std::optional<int64_t> spareLDS;
  /// What lowers asynchronous copies; never null where there are any.
  std::shared_ptr<const CopyEngine> copyEngine;
  /// What waits may leave under way, as that engine counts.
  DenseMap<Operation *, int64_t> underWayAtWaits;
};

/// The widest access of a lane.
constexpr int64_t kSpareBytes = 16;

/// One element of a lane's registers: a vector value and a position in it.
using LaneElement = std::pair<Value, int64_t>;

/// Builds what one lane does.
class LaneBuilder {
public:
  LaneBuilder(OpBuilder &builder, Location loc, const KernelContext &context)
      : builder(builder), loc(loc), context(context) {}

  Value constant(int64_t value);
  Value add(Value x, Value y);
  Value mul(Value x, Value y);
  Value minUnsigned(Value x, Value y);
  /// Truncates an index to i32.
  Value toI32(Value index);
  Value andI(Value x, Value y);

  /// The part of the index along `dim` that lane and subgroup contribute.
  Value getPosition(const LaneMap &map, int64_t dim);
  /// The part of it that the subgroup contributes.
  Value getSubgroupPosition(const LaneMap &map, int64_t dim);
  /// True on one holder of each element; null where nothing is replicated.
  Value isFirstHolder(const LaneMap &map);

  /// A vector of the given elements.
  Value assemble(ArrayRef<LaneElement> elements);
  /// The elements of register vectors, in order.
  SmallVector<LaneElement> elementsOf(ValueRange vectors);
  /// Vectors of `size` elements each.
  SmallVector<Value> pack(ArrayRef<LaneElement> elements, int64_t size);

  /// The value (scalar or vector of 16, 32 or 64 bits) that lane xor `mask`
  /// holds.
  Value exchange(Value value, int64_t mask);
  /// What NVIDIA's lanes of the subgroup have done in memory comes before what
  /// any of them does from here on. AMD's go on together, in the order of the
  /// program.
  void meetLanes();
  /// The word of 32 bits of the lane whose number has the `ownBits` of this
  /// lane's, and the `fixedBits`.
  Value readLane(Value word, int64_t ownBits, int64_t fixedBits);

  OpBuilder &builder;
  Location loc;
  const KernelContext &context;

private:
  Value getDigit(Value number, int64_t base, int64_t size);
  /// `sum` and what the digits of a number contribute to the index along `dim`;
  /// `total`: how many numbers there are, -1 if that is not known.
  Value addDigits(Value sum, ArrayRef<LayoutAxis> axes, Value number,
                  int64_t total, int64_t dim);
  Value exchangeWord(Value word, int64_t mask);
};

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_TILETOGPU_LANEBUILDER_H
