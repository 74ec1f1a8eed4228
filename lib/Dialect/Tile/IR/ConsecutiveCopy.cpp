//===- ConsecutiveCopy.cpp - Lanes that follow each other -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/ConsecutiveCopy.h"

using namespace mlir::evoformer::tile;

/// How far a step of the axis is in memory, in elements.
static int64_t getDistance(const LayoutAxis &axis,
                           llvm::ArrayRef<int64_t> strides) {
  int64_t distance = 0;
  for (auto [step, stride] : llvm::zip(axis.strides, strides))
    distance += step * stride;
  return distance;
}

int64_t mlir::evoformer::tile::getConsecutiveBytes(
    const LaneMap &map, llvm::ArrayRef<int64_t> shape,
    llvm::ArrayRef<int64_t> strides, int64_t elementBytes) {
  // A lane that holds nothing of the tile, or what another one holds, would
  // still write.
  llvm::SmallVector<int64_t> box = map.getBox();
  if (llvm::ArrayRef(box) != shape)
    return 0;
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  if (map.getNumRegisters() * map.getNumLanes() * map.getNumSubgroups() !=
      elements)
    return 0;
  int64_t piece = 0, expected = 0;
  for (const LayoutAxis &axis : map.lanes) {
    if (axis.size == 1)
      continue;
    int64_t distance = getDistance(axis, strides);
    if (piece == 0)
      piece = expected = distance;
    if (distance != expected)
      return 0;
    expected *= axis.size;
  }
  // The registers of a piece come first.
  int64_t held = 1;
  for (const LayoutAxis &axis : map.registers) {
    if (axis.size == 1)
      continue;
    if (held >= piece || getDistance(axis, strides) != held)
      break;
    held *= axis.size;
  }
  return piece > 0 && held == piece ? piece * elementBytes : 0;
}
