//===- MoveBF16AsWords.cpp - bf16 is moved as integers --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing computes in bf16 here any more: values are loaded, chosen, put
// together and stored. Integers of the same bits take their place throughout a
// function. Casts at the loads and stores alone would not do, as LLVM folds
// them into the access.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/TileToCPU/TileToCPU.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_MOVEBF16ASWORDSPASS
#include "Evoformer/Conversion/TileToCPU/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;

/// The type of integers for bf16 and vectors of it, null for other types.
static Type getWords(Type type) {
  if (!getElementTypeOrSelf(type).isBF16())
    return {};
  Type word = IntegerType::get(type.getContext(), 16);
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(word);
  return type.isBF16() ? word : Type();
}

static void setWords(ValueRange values) {
  for (Value value : values)
    if (Type words = getWords(value.getType()))
      value.setType(words);
}

/// True for ops that take integers where they took bf16.
static bool onlyMoves(Operation *op) {
  return isa<LLVM::BrOp, LLVM::CondBrOp, LLVM::SwitchOp, LLVM::LoadOp,
             LLVM::StoreOp, LLVM::SelectOp, LLVM::InsertElementOp,
             LLVM::ExtractElementOp, LLVM::ShuffleVectorOp, LLVM::BitcastOp,
             LLVM::FreezeOp, LLVM::UndefOp, LLVM::PoisonOp, LLVM::ZeroOp>(op);
}

/// Writes a constant as integers; false for other ops.
static bool convertConstant(Operation *op) {
  auto constant = dyn_cast<LLVM::ConstantOp>(op);
  if (!constant || !getWords(constant.getType()))
    return false;
  Type word = IntegerType::get(op->getContext(), 16);
  Attribute value = constant.getValue();
  if (auto number = dyn_cast<FloatAttr>(value))
    value = IntegerAttr::get(word, number.getValue().bitcastToAPInt());
  else if (auto elements = dyn_cast<DenseElementsAttr>(value))
    value = elements.bitcast(word);
  else
    return false;
  constant.setValueAttr(value);
  setWords(op->getResults());
  return true;
}

/// Gives the uses of a value that stays bf16 its words.
static void castAfter(OpBuilder &b, Value value) {
  Type words = getWords(value.getType());
  if (!words || value.use_empty())
    return;
  auto cast = LLVM::BitcastOp::create(b, value.getLoc(), words, value);
  value.replaceAllUsesExcept(cast, cast);
}

namespace {
class MoveBF16AsWords
    : public evoformer::impl::MoveBF16AsWordsPassBase<MoveBF16AsWords> {
protected:
  void runOnOperation() override;
};
} // namespace

void MoveBF16AsWords::runOnOperation() {
  LLVM::LLVMFuncOp function = getOperation();
  if (function.isExternal())
    return;
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (op != function)
      ops.push_back(op);
  });
  // Other ops keep bf16 behind casts, as do the function's arguments. What is
  // cast here becomes words below.
  SmallVector<Operation *> kept;
  for (Operation *op : ops) {
    if (onlyMoves(op) || convertConstant(op))
      continue;
    kept.push_back(op);
    OpBuilder b(op);
    for (OpOperand &use : op->getOpOperands())
      if (Type type = use.get().getType(); getWords(type))
        use.set(LLVM::BitcastOp::create(b, op->getLoc(), type, use.get()));
  }
  for (Operation *op : ops)
    if (onlyMoves(op))
      setWords(op->getResults());
  Region &body = function.getBody();
  function.walk([&](Block *block) {
    if (block->getParent() == &body && !block->isEntryBlock())
      return setWords(block->getArguments());
    OpBuilder b = OpBuilder::atBlockBegin(block);
    for (Value argument : block->getArguments())
      castAfter(b, argument);
  });
  for (Operation *op : kept) {
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    for (Value result : op->getResults())
      castAfter(b, result);
  }
  function.walk([](LLVM::BitcastOp cast) {
    if (cast.getArg().getType() != cast.getType())
      return;
    cast.replaceAllUsesWith(cast.getArg());
    cast.erase();
  });
}
