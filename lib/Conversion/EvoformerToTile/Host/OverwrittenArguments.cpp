//===- OverwrittenArguments.cpp - Arguments that results go to ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OverwrittenArguments.h"

#include "JointGradients.h"

#include "Evoformer/Conversion/HostToPlan/OverwrittenAttr.h"
#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::evoformer;

using Role = AttentionOperand;

/// Whether two steps may be of one gradient: what both read is the same.
static bool mayBeOfOne(AttentionGradientOp a, AttentionGradientOp b) {
  return llvm::all_of(ArrayRef{Role::Query, Role::Key, Role::Value, Role::Stats,
                               Role::WeightedGradient},
                      [&](Role role) { return readSame(a, b, role); });
}

/// Whether a function launches one attention, or the steps of one gradient and
/// attentions that read nothing else than these. What a gradient reads its
/// results may not overlap; what else there is might be dead by the time that a
/// result is written, and overlap it.
static bool hasOneProblem(FunctionOpInterface function) {
  SmallVector<AttentionFamilyOpInterface> others;
  llvm::SmallDenseSet<Value> read;
  AttentionGradientOp first;
  unsigned numDeltas = 0;
  WalkResult walked = function.walk([&](Operation *op) {
    auto family = dyn_cast<AttentionFamilyOpInterface>(op);
    if (!family) {
      bool mayLaunch =
          op != function.getOperation() && op->getNumRegions() == 0 &&
          !op->getParentOfType<AttentionFamilyOpInterface>() &&
          !isa<memref::AllocOp, memref::DeallocOp, cf::AssertOp>(op) &&
          !op->hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(op);
      return mayLaunch ? WalkResult::interrupt() : WalkResult::advance();
    }
    auto gradient = dyn_cast<AttentionGradientOp>(op);
    if (!gradient && !isa<AttentionDeltaOp>(op)) {
      others.push_back(family);
      return WalkResult::advance();
    }
    numDeltas += !gradient;
    if (first && gradient && !mayBeOfOne(first, gradient))
      return WalkResult::interrupt();
    if (gradient)
      first = gradient;
    for (OpOperand &operand : op->getOpOperands())
      if (!family.isDpsInit(&operand))
        read.insert(operand.get());
    return WalkResult::advance();
  });
  if (walked.wasInterrupted() || numDeltas > 1)
    return false;
  if (!first && numDeltas == 0)
    return others.size() == 1;
  return llvm::all_of(others, [&](AttentionFamilyOpInterface op) {
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      return op.isDpsInit(&operand) ||
             !isa<MemRefType>(operand.get().getType()) ||
             read.contains(operand.get());
    });
  });
}

/// Whether all that an op takes of a memory is where to put a result, each
/// element of it.
static bool overwrites(OpOperand &use) {
  auto op = dyn_cast<AttentionFamilyOpInterface>(use.getOwner());
  return op && op.isDpsInit(&use) && !op.isRagged();
}

void evoformer::markOverwrittenArguments(FunctionOpInterface function) {
  bool isOne = hasOneProblem(function);
  for (BlockArgument argument : function.getArguments()) {
    bool isWritten = false, isOther = !isOne;
    for (OpOperand &use : argument.getUses()) {
      bool isResult = overwrites(use);
      isWritten |= isResult;
      isOther |= !isResult && !isa<memref::DimOp>(use.getOwner());
    }
    if (isa<MemRefType>(argument.getType()) && isWritten && !isOther)
      function.setArgAttr(argument.getArgNumber(), kOverwrittenAttrName,
                          UnitAttr::get(function.getContext()));
    else
      function.removeArgAttr(argument.getArgNumber(), kOverwrittenAttrName);
  }
}
