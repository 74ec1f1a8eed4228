//===- WhereOp.cpp - Work that few elements need ----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

YieldOp WhereOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// Whether the elements of a tile belong to those of the condition.
static bool beginsWith(Type tile, Type condition) {
  ArrayRef<int64_t> shape = cast<ShapedType>(tile).getShape();
  ArrayRef<int64_t> first = cast<ShapedType>(condition).getShape();
  return shape.size() >= first.size() &&
         shape.take_front(first.size()) == first;
}

LogicalResult WhereOp::verify() {
  for (Type type : getResultTypes()) {
    if (!beginsWith(type, getCondition().getType()))
      return emitOpError("result ")
             << type << " does not begin with the dimensions of the condition "
             << getCondition().getType();
  }
  return success();
}

LogicalResult WhereOp::verifyRegions() {
  YieldOp yield = getYield();
  if (yield.getOperandTypes() != getResultTypes())
    return emitOpError("yields types ")
           << yield.getOperandTypes() << ", its results are "
           << getResultTypes();
  // Others may be elsewhere: nothing here may concern them.
  WalkResult walk = getBody().walk([&](Operation *op) -> WalkResult {
    // What a division by zero does is no matter: nothing runs it ahead.
    if (isa<LoadOp, memref::LoadOp>(op) || isMemoryEffectFree(op) ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    auto store = dyn_cast<StoreOp>(op);
    if (store && !isWorkgroupMemory(store.getDestType()) &&
        beginsWith(store.getValue().getType(), getCondition().getType()))
      return WalkResult::advance();
    return op->emitOpError("inside evo_tile.where, where only loads, stores to "
                           "global memory of tiles that begin with the "
                           "dimensions of the condition, and operations "
                           "without effects are possible");
  });
  return failure(walk.wasInterrupted());
}
