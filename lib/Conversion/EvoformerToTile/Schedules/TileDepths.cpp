//===- TileDepths.cpp - How deep tiles are --------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDepths.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// The elements of the depth that a target's product of several subgroups takes
/// at once; 0 where it has none of these operands.
static int64_t getGroupStep(TargetAttr target, Type elementType) {
  if (ArrayAttr known = target.getGroupMatrix())
    for (auto instr : known.getAsRange<GroupMatrixInstrAttr>())
      if (instr.getEach().multiplies(elementType))
        return instr.getEach().getK();
  return 0;
}

TileDepths evoformer::chooseTileDepths(TargetAttr target, Type elementType,
                                       TileDepths rows) {
  int64_t step = getGroupStep(target, elementType);
  // Rows that are no whole words are copied an element at a time.
  int64_t wordElements = 32 / elementType.getIntOrFloatBitWidth();
  if (step == 0 || rows.depth % wordElements != 0 ||
      rows.valueDepth % wordElements != 0)
    return rows;
  TileDepths whole = {
      static_cast<int64_t>(llvm::alignTo(rows.depth, step)),
      static_cast<int64_t>(llvm::alignTo(rows.valueDepth, step))};
  return std::min(whole.depth, whole.valueDepth) >= target.getGroupDepth()
             ? whole
             : rows;
}
