//===- TileDepths.cpp - How deep tiles are --------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileDepths.h"

#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// Whole steps that hold a row. Pairs of them, where that is at most an eighth
/// more than needed: workgroup memory holds rows in panels as wide as divides
/// them, and panels of a single step are copied in pieces of 32 bytes. Rows of
/// whole steps stay as they are: their copies need no zeros, and are none of
/// boxes.
static int64_t getTileDepth(int64_t depth, int64_t step) {
  int64_t whole = llvm::alignTo(depth, step);
  int64_t pairs = llvm::alignTo(depth, 2 * step);
  return depth != whole && 8 * (pairs - whole) <= whole ? pairs : whole;
}

TileDepths evoformer::chooseTileDepths(TargetAttr target, Type elementType,
                                       TileDepths rows) {
  GroupMatrixInstrAttr instr = findGroupInstr(target, elementType);
  if (!instr)
    return rows;
  int64_t step = instr.getEach().getK();
  // Rows that are no whole words are copied an element at a time.
  int64_t wordElements = 32 / elementType.getIntOrFloatBitWidth();
  if (rows.depth % wordElements != 0 || rows.valueDepth % wordElements != 0)
    return rows;
  TileDepths whole = {getTileDepth(rows.depth, step),
                      getTileDepth(rows.valueDepth, step)};
  return std::min(whole.depth, whole.valueDepth) >= target.getGroupDepth()
             ? whole
             : rows;
}
