//===- HostTensors.cpp - Which memory tensors of the host take ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTensors.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

/// The values that are the operand seen from elsewhere: a view, what a loop
/// starts with, an argument of the function that is called.
static void appendAliases(OpOperand &use, SmallVectorImpl<Value> &aliases) {
  Operation *user = use.getOwner();
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ExtractSliceOp>(user)) {
    aliases.push_back(user->getResult(0));
    return;
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(user)) {
    if (BlockArgument argument = loop.getTiedLoopRegionIterArg(&use))
      aliases.push_back(argument);
    return;
  }
  if (auto call = dyn_cast<CallOpInterface>(user)) {
    auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
    unsigned number =
        use.getOperandNumber() - call.getArgOperands().getBeginOperandIndex();
    if (callee && !callee.isExternal() && number < callee.getNumArguments())
      aliases.push_back(callee.getArgument(number));
  }
}

/// Whether an op has the tensor as its destination. Where it reads the tensor,
/// too, as elementwise ops do that have to name some destination, it is none.
static bool isDestination(Value tensor) {
  SmallVector<Value> aliases = {tensor};
  llvm::SmallDenseSet<Value> seen;
  for (size_t next = 0; next < aliases.size(); ++next) {
    Value alias = aliases[next];
    if (!seen.insert(alias).second)
      continue;
    for (OpOperand &use : alias.getUses()) {
      auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
      if (op && op.isDpsInit(&use) &&
          llvm::none_of(op.getDpsInputs(),
                        [&](Value input) { return input == alias; }))
        return true;
      if (isa<bufferization::MaterializeInDestinationOp>(use.getOwner()) &&
          use.getOperandNumber() == 1)
        return true;
      appendAliases(use, aliases);
    }
  }
  return false;
}

void mlir::evoformer::leaveOperands(FunctionOpInterface function) {
  function.walk([](linalg::LinalgOp op) {
    for (OpOperand &init : op.getDpsInitsMutable()) {
      // What a loop carries is written where it is.
      auto argument = dyn_cast<BlockArgument>(init.get());
      bool isCarried = argument && !isa<FunctionOpInterface>(
                                       argument.getOwner()->getParentOp());
      auto type = dyn_cast<RankedTensorType>(init.get().getType());
      if (!type || isCarried || op.payloadUsesValueFromOperand(&init) ||
          !llvm::is_contained(op.getDpsInputs(), init.get()))
        continue;
      OpBuilder builder(op);
      init.set(tensor::EmptyOp::create(
          builder, op.getLoc(),
          tensor::getMixedSizes(builder, op.getLoc(), init.get()),
          type.getElementType(), type.getEncoding()));
    }
  });
}

void mlir::evoformer::keepInputs(FunctionOpInterface function) {
  StringRef writable = bufferization::BufferizationDialect::kWritableAttrName;
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (isa<TensorType>(argument.getType()) &&
        !function.getArgAttr(number, writable) && !isDestination(argument))
      function.setArgAttr(number, writable,
                          BoolAttr::get(function.getContext(), false));
  }
}

/// Writes each of the terminator's operands to the argument that it becomes.
static void writeTo(ValueRange arguments, MutableArrayRef<OpOperand> carried) {
  for (auto [argument, operand] : llvm::zip(arguments, carried)) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || operand.get() == argument || operand.get().getType() != type)
      continue;
    Operation *end = operand.getOwner();
    OpBuilder builder(end);
    operand.set(bufferization::MaterializeInDestinationOp::create(
                    builder, end->getLoc(), operand.get(), argument)
                    ->getResult(0));
  }
}

void mlir::evoformer::writeCarriedInPlace(FunctionOpInterface function) {
  function.walk([](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      writeTo(loop.getRegionIterArgs(), loop.getYieldedValuesMutable().value());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      writeTo(loop.getBeforeArguments(),
              loop.getConditionOp().getArgsMutable());
      writeTo(loop.getAfterArguments(), loop.getYieldOp().getResultsMutable());
    }
  });
}

void mlir::evoformer::uncarryMemory(FunctionOpInterface function) {
  SmallVector<Operation *> loops;
  function.walk([&](LoopLikeOpInterface loop) {
    if (llvm::any_of(loop->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
      loops.push_back(loop);
  });
  RewritePatternSet patterns(function.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, function.getContext());
  scf::WhileOp::getCanonicalizationPatterns(patterns, function.getContext());
  (void)applyOpPatternsGreedily(loops, std::move(patterns));
  // What was written in place already.
  function.walk([](memref::CopyOp copy) {
    if (copy.getSource() == copy.getTarget())
      copy.erase();
  });
}
