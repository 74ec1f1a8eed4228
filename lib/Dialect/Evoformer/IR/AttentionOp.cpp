//===- AttentionOp.cpp - Building and interfaces of an attention ----------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::evoformer;

#define GET_OP_CLASSES
#include "Evoformer/Dialect/Evoformer/IR/EvoformerOps.cpp.inc"

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value query,
                        Value key, Value value, ValueRange biases, Value gate,
                        Value output, Value lse, Value stats, FloatAttr scale) {
  SmallVector<Type, 3> resultTypes;
  for (Value init : {output, lse, stats})
    if (init && isa<RankedTensorType>(init.getType()))
      resultTypes.push_back(init.getType());
  auto sequence = DimOrderAttr::getSequence(builder.getContext());
  build(builder, state, resultTypes, query, key, value, biases, gate, output,
        lse, stats, sequence, sequence, sequence, builder.getArrayAttr({}),
        sequence, sequence, scale);
}

MutableOperandRange AttentionOp::getDpsInitsMutable() {
  unsigned first = getOutputMutable().getOperandNumber();
  return MutableOperandRange(getOperation(), first,
                             getOperation()->getNumOperands() - first);
}

Speculation::Speculatability AttentionOp::getSpeculatability() {
  // Dynamic sizes that disagree are undefined behaviour.
  bool isStatic = llvm::all_of(getOperandTypes(), [](Type type) {
    return cast<ShapedType>(type).hasStaticShape();
  });
  return isStatic && hasPureTensorSemantics() ? Speculation::Speculatable
                                              : Speculation::NotSpeculatable;
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, /*stage=*/1,
                           /*effectOnFullRegion=*/true,
                           SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand, /*stage=*/0,
                           /*effectOnFullRegion=*/true,
                           SideEffects::DefaultResource::get());
  }
}

LogicalResult AttentionOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  for (Value result : getResults()) {
    Value init = getTiedOpOperand(cast<OpResult>(result))->get();
    reifiedReturnShapes.push_back(
        tensor::getMixedSizes(builder, getLoc(), init));
  }
  return success();
}

void AttentionOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  // By segment sizes alone: also ops that did not verify have names.
  static constexpr std::pair<AttentionOperand, StringLiteral> names[] = {
      {AttentionOperand::Output, "out"},
      {AttentionOperand::Lse, "lse"},
      {AttentionOperand::Stats, "stats"}};
  ArrayRef<int32_t> segments = getProperties().operandSegmentSizes;
  unsigned index = 0;
  for (auto [operand, name] : names)
    if (segments[static_cast<unsigned>(operand)] != 0 &&
        index < getOperation()->getNumResults())
      setNameFn(getOperation()->getResult(index++), name);
}
