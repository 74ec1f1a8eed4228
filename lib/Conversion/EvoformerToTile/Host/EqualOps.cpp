//===- EqualOps.cpp - Equal attentions are converted once -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EqualOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::evoformer;

/// Name, attributes, types, and which operands are the same value.
Attribute EqualOps::getKey(Operation *op) {
  Builder builder(op->getContext());
  SmallVector<int64_t> firstUses;
  for (Value operand : op->getOperands())
    firstUses.push_back(std::distance(op->operand_begin(),
                                      llvm::find(op->getOperands(), operand)));
  return builder.getArrayAttr(
      {builder.getStringAttr(op->getName().getStringRef()),
       op->getAttrDictionary(),
       builder.getTypeArrayAttr(SmallVector<Type>(op->getOperandTypes())),
       builder.getDenseI64ArrayAttr(firstUses)});
}

bool EqualOps::copyFor(Operation *op) const {
  auto known = programs.find(getKey(op));
  if (known == programs.end())
    return false;
  const Program &program = known->second;
  IRMapping mapping;
  mapping.map(ValueRange(program.operands), op->getOperands());
  OpBuilder builder(op);
  for (Operation *each : program.ops)
    builder.clone(*each, mapping);
  return true;
}

void EqualOps::remember(Operation *op, Operation *before) {
  Program program;
  program.operands.assign(op->operand_begin(), op->operand_end());
  Block::iterator begin =
      before ? std::next(before->getIterator()) : op->getBlock()->begin();
  llvm::SmallPtrSet<Operation *, 32> ours;
  for (Operation &each : llvm::make_range(begin, op->getIterator())) {
    program.ops.push_back(&each);
    ours.insert(&each);
  }
  // What looks behind an operand, at a size that it was allocated with, say, is
  // for this op alone.
  auto isOurs = [&](Value value) {
    Operation *owner = value.getDefiningOp();
    if (!owner)
      owner = value.getParentBlock()->getParentOp();
    Operation *top = op->getBlock()->findAncestorOpInBlock(*owner);
    return (top && ours.contains(top)) ||
           llvm::is_contained(program.operands, value);
  };
  for (Operation *each : program.ops) {
    WalkResult walk = each->walk([&](Operation *inner) {
      return llvm::all_of(inner->getOperands(), isOurs)
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return;
  }
  programs.try_emplace(getKey(op), std::move(program));
}
