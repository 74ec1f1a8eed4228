//===- HeldParts.cpp - What lanes hold each for themselves ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeldParts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Whether a use, or one of what is made there, reads another lane's as well as
/// its own.
static bool leavesLanes(OpOperand &use, DenseSet<Value> &seen) {
  Operation *user = use.getOwner();
  unsigned number = use.getOperandNumber();
  auto isRead = [&](Value value) {
    return seen.insert(value).second &&
           llvm::any_of(value.getUses(), [&](OpOperand &next) {
             return leavesLanes(next, seen);
           });
  };
  if (isa<CombineOp>(user))
    return false;
  // A subgroup asks all that its lanes have.
  if (auto where = dyn_cast<WhereOp>(user))
    return number > 0 && isRead(where.getResult(number - 1));
  if (auto loop = dyn_cast<scf::ForOp>(user))
    return isRead(loop.getTiedLoopRegionIterArg(&use)) ||
           isRead(loop.getTiedLoopResult(&use));
  if (isa<scf::YieldOp, YieldOp>(user)) {
    Operation *parent = user->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    return isRead(parent->getResult(number)) ||
           (loop && isRead(loop.getRegionIterArg(number)));
  }
  bool isOfLanes =
      OpTrait::hasElementwiseMappableTraits(user) || isa<BroadcastOp>(user);
  return !isOfLanes || llvm::any_of(user->getResults(), isRead);
}

void mlir::evoformer::tile::makeWholeWhereRead(KernelOp kernel) {
  SmallVector<ReduceOp> held;
  kernel.walk([&](ReduceOp reduce) {
    if (reduce.getHeld())
      held.push_back(reduce);
  });
  for (ReduceOp reduce : held) {
    ReduceOp whole;
    for (OpOperand &use : llvm::make_early_inc_range(reduce->getUses())) {
      DenseSet<Value> seen = {reduce.getResult()};
      if (!leavesLanes(use, seen))
        continue;
      if (!whole) {
        OpBuilder builder(reduce);
        whole = cast<ReduceOp>(builder.clone(*reduce));
        whole.setHeld(false);
      }
      use.set(whole);
    }
  }
}
