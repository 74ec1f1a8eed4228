//===- Pressure.cpp - Registers that tiles need -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Pressure.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

int64_t mlir::evoformer::tile::getRegisterCount(RankedTensorType tile) {
  FailureOr<LaneMap> map = getLaneMap(tile);
  if (failed(map) || !tile.getElementType().isIntOrFloat())
    return 0;
  return llvm::divideCeil(
      map->getNumRegisters() * tile.getElementTypeBitWidth(), 32);
}

int64_t mlir::evoformer::tile::getPrefetchShare(TargetAttr target) {
  constexpr int64_t kShare = 16;
  return target.getRegisters() / kShare;
}

int64_t mlir::evoformer::tile::getLDSShare(TargetAttr target,
                                           ScheduleAttr schedule) {
  int64_t reserved = target.getLDSReserved();
  return (target.getLdsBytes() + reserved) /
             std::max<int64_t>(schedule.getResident(), 1) -
         reserved;
}

int64_t mlir::evoformer::tile::estimatePressure(scf::ForOp loop) {
  DenseSet<Value> live;
  int64_t now = 0, peak = 0;
  auto count = [](Value value) -> int64_t {
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    // Constants and repeated tiles take no registers of their own.
    if (!tile || matchPattern(value, m_Constant()) ||
        value.getDefiningOp<BroadcastOp>())
      return 0;
    return getRegisterCount(tile);
  };
  auto use = [&](Value value) {
    if (live.insert(value).second)
      now += count(value);
  };
  // What comes from outside lives throughout.
  loop.getBody()->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!loop->isAncestor(operand.getParentBlock()->getParentOp()))
        use(operand);
  });
  for (Operation &op : llvm::reverse(*loop.getBody())) {
    for (Value operand : op.getOperands())
      use(operand);
    peak = std::max(peak, now);
    for (Value result : op.getResults())
      if (live.erase(result))
        now -= count(result);
  }
  return peak;
}
