//===- SharedDraws.h - Calls that lanes divide between them -----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes that hold different columns of the same calls of the generator, as of a
// tile's rows where a lane holds rows of one column, need not make all of these
// each. Every one makes its part of them, and what a call says of its eight
// columns is eight bits. An exchange hands each lane those of its own columns.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOGPU_SHAREDDRAWS_H
#define EVOFORMER_LIB_CONVERSION_TILETOGPU_SHAREDDRAWS_H

#include "LaneBuilder.h"

#include "Evoformer/Dialect/Tile/IR/RandomDraws.h"

namespace mlir::evoformer::tile {

/// How the lanes of a subgroup share the calls of a tile.
class SharedDraws {
public:
  /// Nothing where lanes would make no fewer calls each, or where it is not
  /// known whose column a bit of a call is.
  static std::optional<SharedDraws> find(const LaneMap &map, RandomOp op);

  /// Whether each register's element is kept. `row` is the tile's first, `call`
  /// that of the lane's columns.
  SmallVector<Value> build(LaneBuilder &lane, RandomBuilder &random, Value row,
                           Value call) const;

private:
  /// The row and the call's number, beside the tile's and the lane's first.
  using Call = std::pair<int64_t, int64_t>;
  /// Two lanes whose numbers differ in this bit hold columns that do in that.
  struct Sharer {
    int64_t laneBit, columnBit;
    /// From the call that the lane with a 0 makes to that of the other.
    Call step;
  };

  SharedDraws(const LaneMap &map, RandomOp op);
  bool findSharers(RandomOp op);
  void findCalls();
  bool findSteps();
  int64_t getCallsOfLane() const;
  SmallVector<int64_t> findBits() const;
  Value isSet(LaneBuilder &lane, const Sharer &sharer) const;
  Value exchange(LaneBuilder &lane, const Sharer &sharer, Value word) const;

  LaneMap map;
  int64_t rowDim, columnDim, threshold;
  SmallVector<Sharer, 3> sharers;
  /// Those of a lane's registers, in order.
  SmallVector<Call> calls;
};

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_TILETOGPU_SHAREDDRAWS_H
