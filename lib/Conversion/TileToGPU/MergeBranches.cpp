//===- MergeBranches.cpp - Branches on one condition ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyEngine.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

void mlir::evoformer::tile::mergeBranches(Block &block, Value condition) {
  scf::IfOp open;
  SmallVector<Operation *> between;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto branch = dyn_cast<scf::IfOp>(op);
    bool isCopy = branch && branch.getNumResults() == 0 &&
                  branch.getElseRegion().empty() &&
                  (!condition || branch.getCondition() == condition);
    if (isCopy && open && branch.getCondition() == open.getCondition()) {
      for (Operation *pure : between)
        pure->moveBefore(open);
      Block *into = open.thenBlock();
      into->getTerminator()->erase();
      into->getOperations().splice(into->end(),
                                   branch.thenBlock()->getOperations());
      branch.erase();
      between.clear();
    } else if (isCopy) {
      open = branch;
      between.clear();
    } else if (isPure(&op) && op.getNumRegions() == 0) {
      between.push_back(&op);
    } else {
      open = nullptr;
    }
  }
}
