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

/// The fewest of so many subgroups, a divisor, that fill `pieces` or else all.
static int64_t countFilled(int64_t pieces, int64_t subgroups) {
  for (int64_t count = 1; count < subgroups; ++count)
    if (subgroups % count == 0 && count >= pieces)
      return count;
  return subgroups;
}

Attribute mlir::evoformer::tile::getDefaultLayout(RankedTensorType type,
                                                  TargetAttr target,
                                                  ScheduleAttr schedule) {
  // The last dimension runs over the lanes in 16-byte pieces, as far as lanes
  // last; the remaining lanes, then the subgroups, take the dimension before.
  // Subgroups that find no row there take the next columns, if there are any.
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
  int64_t inRows = 1;
  if (rank == 1) {
    map.lanes.push_back(axis(lanesInRows, last, columnStep));
    columnStep *= lanesInRows;
    map.subgroups.push_back(axis(subgroups, last, columnStep));
    columnStep *= subgroups;
  } else {
    map.lanes.push_back(axis(lanesInRows, last - 1, 1));
    int64_t rows = type.getDimSize(last - 1);
    inRows = countFilled(llvm::divideCeil(rows, lanesInRows), subgroups);
    int64_t spare = subgroups / inRows;
    int64_t inColumns =
        countFilled(llvm::divideCeil(columns, columnStep), spare);
    map.subgroups.push_back(axis(inRows, last - 1, lanesInRows));
    map.subgroups.push_back(axis(inColumns, last, columnStep));
    map.subgroups.push_back(axis(spare / inColumns, last, 0));
    columnStep *= inColumns;
  }
  map.registers.push_back(
      axis(llvm::divideCeil(columns, columnStep), last, columnStep));
  if (rank > 1) {
    int64_t rowStep = lanesInRows * inRows;
    map.registers.push_back(
        axis(llvm::divideCeil(type.getDimSize(last - 1), rowStep), last - 1,
             rowStep));
  }
  for (int64_t d = rank - 3; d >= 0; --d)
    map.registers.push_back(axis(type.getDimSize(d), d, 1));
  return LaneMapAttr::get(type.getContext(), map);
}
