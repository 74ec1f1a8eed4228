//===- KernelMemory.cpp - What a kernel's ops touch -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelMemory.h"

#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

Value mlir::evoformer::tile::getMemoryRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

bool mlir::evoformer::tile::mayWriteGlobal(Operation *op, Value memref) {
  // Synchronisation orders workgroup memory only.
  if (isa<BarrierOp, AsyncCommitOp, AsyncWaitOp>(op))
    return false;
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects;
  if (op->getNumRegions() == 0) {
    effects = getEffectsRecursively(op);
  } else {
    return op
        ->walk([&](Operation *inner) {
          return inner != op && inner->getNumRegions() == 0 &&
                         mayWriteGlobal(inner, memref)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }
  if (!effects)
    return true;
  Value root = getMemoryRoot(memref);
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    if (isa<MemoryEffects::Read, MemoryEffects::Allocate>(effect.getEffect()))
      continue;
    Value written = effect.getValue();
    if (!written)
      return true;
    auto type = dyn_cast<MemRefType>(written.getType());
    if (type && isWorkgroupMemory(type))
      continue;
    Value other = getMemoryRoot(written);
    if (other == root || !isa<BlockArgument>(other) ||
        !isa<BlockArgument>(root))
      return true;
  }
  return false;
}

LogicalResult mlir::evoformer::tile::requireFragments(KernelOp kernel,
                                                      StringRef pass) {
  if (!kernel.getTarget() || !kernel.getSchedule())
    return kernel.emitError()
           << pass << " needs kernels with a 'target' and a 'schedule'; '"
           << kernel.getSymName() << "' has no "
           << (kernel.getTarget() ? "schedule" : "target");
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (auto tile = dyn_cast<RankedTensorType>(value.getType());
          tile && !isa_and_present<LayoutAttrInterface>(tile.getEncoding())) {
        op->emitError() << pass << " needs tiles with layouts, got " << tile
                        << "; run evo-tile-assign-layouts first";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
