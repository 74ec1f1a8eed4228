//===- KernelMemory.cpp - What a kernel's ops touch -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelMemory.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

Value mlir::evoformer::tile::getMemoryRoot(Value memref) {
  while (true) {
    if (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
      memref = view.getViewSource();
    else if (auto transpose = memref.getDefiningOp<memref::TransposeOp>())
      memref = transpose.getIn();
    else
      return memref;
  }
}

bool mlir::evoformer::tile::mayWriteGlobal(Operation *op, Value memref) {
  // Synchronisation orders workgroup memory, a fence the compiler.
  if (isa<BarrierOp, AsyncGroupOp, WaitOp, CopySlotsOp, CloseSlotOp, WaitSlotOp,
          ReleaseSlotOp, ClaimSlotOp, IssueFenceOp, ProxyFenceOp, GroupFenceOp,
          GroupWaitOp>(op))
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

bool mlir::evoformer::tile::isWrittenByKernel(LoadOp load) {
  auto kernel = load->getParentOfType<KernelOp>();
  return !kernel || mayWriteGlobal(kernel, load.getSource());
}

bool mlir::evoformer::tile::isControlFlow(Operation *op) {
  return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
         !isa<MemoryEffectOpInterface>(op);
}

bool mlir::evoformer::tile::mapsElements(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) || isa<SkipIdleOp>(op);
}

bool mlir::evoformer::tile::isElementwise(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 && isPure(op) &&
         mapsElements(op);
}

bool mlir::evoformer::tile::isRowVector(RankedTensorType tile) {
  return llvm::count_if(tile.getShape(), [](int64_t s) { return s > 1; }) <= 1;
}
