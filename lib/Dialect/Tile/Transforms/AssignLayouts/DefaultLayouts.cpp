//===- DefaultLayouts.cpp - Layouts without products ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutPropagation.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

Attribute mlir::evoformer::tile::getDefaultLayout(RankedTensorType type,
                                                  TargetAttr target,
                                                  ScheduleAttr schedule) {
  // The last dimension runs over the lanes in 16-byte pieces, as far as lanes
  // last; the remaining lanes, then the subgroups, take the dimension before.
  constexpr int64_t bytes = 16;
  int64_t rank = type.getRank();
  int64_t width = type.getElementTypeBitWidth();
  LaneMap map(rank);
  auto axis = [&](int64_t size, int64_t dim, int64_t stride) {
    LayoutAxis result{size, SmallVector<int64_t, 4>(rank, 0)};
    result.strides[dim] = stride;
    return result;
  };
  int64_t lanes = target.getSubgroupSize();
  int64_t subgroups = schedule.getNumSubgroups();
  int64_t last = rank - 1, columns = type.getDimSize(last);
  int64_t vector = 1;
  while (vector * 2 * std::max<int64_t>(width, 8) <= bytes * 8 &&
         columns % (vector * 2) == 0)
    vector *= 2;
  int64_t lanesInColumns = std::min<int64_t>(
      lanes, llvm::PowerOf2Ceil(llvm::divideCeil(columns, vector)));
  int64_t lanesInRows = lanes / lanesInColumns;
  map.registers.push_back(axis(vector, last, 1));
  map.innerAxes = 1;
  map.lanes.push_back(axis(lanesInColumns, last, vector));
  int64_t columnStep = vector * lanesInColumns;
  if (rank == 1) {
    map.lanes.push_back(axis(lanesInRows, last, columnStep));
    columnStep *= lanesInRows;
    map.subgroups.push_back(axis(subgroups, last, columnStep));
    columnStep *= subgroups;
  } else {
    map.lanes.push_back(axis(lanesInRows, last - 1, 1));
    map.subgroups.push_back(axis(subgroups, last - 1, lanesInRows));
  }
  map.registers.push_back(
      axis(llvm::divideCeil(columns, columnStep), last, columnStep));
  if (rank > 1) {
    int64_t rowStep = lanesInRows * subgroups;
    map.registers.push_back(
        axis(llvm::divideCeil(type.getDimSize(last - 1), rowStep), last - 1,
             rowStep));
  }
  for (int64_t d = rank - 3; d >= 0; --d)
    map.registers.push_back(axis(type.getDimSize(d), d, 1));
  return LaneMapAttr::get(type.getContext(), map);
}
