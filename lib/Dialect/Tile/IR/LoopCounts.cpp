//===- LoopCounts.cpp - How often loops run -------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/LoopCounts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

bool mlir::evoformer::tile::hasOneIterationAtMost(scf::ForOp loop) {
  APInt begin, step;
  if (loop.getUnsignedCmp() ||
      !matchPattern(loop.getLowerBound(), m_ConstantInt(&begin)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return false;
  auto select = loop.getUpperBound().getDefiningOp<arith::SelectOp>();
  Value ends[] = {select ? select.getTrueValue() : loop.getUpperBound(),
                  select ? select.getFalseValue() : loop.getUpperBound()};
  return llvm::all_of(ends, [&](Value value) {
    APInt end;
    return matchPattern(value, m_ConstantInt(&end)) && end.sle(begin + step);
  });
}

bool mlir::evoformer::tile::mayRunAgain(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (loop ? !hasOneIterationAtMost(loop) : isa<LoopLikeOpInterface>(parent))
      return true;
  }
  return false;
}
