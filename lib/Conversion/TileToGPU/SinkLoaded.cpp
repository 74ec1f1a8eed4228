//===- SinkLoaded.cpp - Work on loads that run ahead ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// The first op of the block that uses what `op` gives, in a region maybe; null
/// if none does or a use is in another block.
static Operation *getFirstUse(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *inBlock = op->getBlock()->findAncestorOpInBlock(*user);
    if (!inBlock)
      return nullptr;
    if (!first || inBlock->isBeforeInBlock(first))
      first = inBlock;
  }
  return first;
}

void mlir::evoformer::tile::sinkLoaded(Operation *fence) {
  DenseSet<Operation *> loaded;
  SmallVector<Operation *> work;
  for (Operation &op : *fence->getBlock()) {
    if (&op == fence)
      break;
    if (isa<LLVM::LoadOp, ROCDL::RawPtrBufferLoadOp>(op)) {
      loaded.insert(&op);
      continue;
    }
    bool usesLoaded = llvm::any_of(op.getOperands(), [&](Value operand) {
      return loaded.contains(operand.getDefiningOp());
    });
    if (!usesLoaded || !isPure(&op) || op.getNumRegions() != 0)
      continue;
    loaded.insert(&op);
    work.push_back(&op);
  }
  for (Operation *op : llvm::reverse(work))
    if (Operation *use = getFirstUse(op); use && fence->isBeforeInBlock(use))
      op->moveBefore(use);
}
