//===- AttentionAccessors.cpp - Named parts of an attention ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::evoformer;

ArrayRef<AttentionGroup> AttentionOp::getGroups() {
  using Role = AttentionOperand;
  static constexpr AttentionGroup groups[] = {
      kQuery,
      kKey,
      {Role::Value, "value", "value", GroupArity::One, ""},
      kBias,
      kCaptures,
      {Role::Gate, "gate", "gate", GroupArity::Optional, ""},
      kKeyLengths,
      kQueryLengths,
      kQueryStarts,
      kKeyStarts,
      kMostQueries,
      kMostKeys,
      kDropout,
      kKeysFrom,
      kKeysTo,
      {Role::Output, "output", "outs", GroupArity::One, "out"},
      {Role::Lse, "lse", "lse", GroupArity::Optional, "lse"},
      {Role::Stats, "stats", "stats", GroupArity::Optional, "stats"},
  };
  return groups;
}

/// One for each of so many operands.
static SmallVector<DimOrderAttr> getAllOrders(AttentionOp op, ArrayAttr orders,
                                              size_t count) {
  if (orders.empty())
    return SmallVector<DimOrderAttr>(count,
                                     DimOrderAttr::getBias(op.getContext()));
  return llvm::to_vector(orders.getAsRange<DimOrderAttr>());
}

SmallVector<DimOrderAttr> AttentionOp::getAllBiasOrders() {
  return getAllOrders(*this, getBiasOrders(), getBiases().size());
}

SmallVector<DimOrderAttr> AttentionOp::getAllCaptureOrders() {
  return getAllOrders(*this, getCaptureOrders(), getCaptures().size());
}

DimOrderAttr AttentionOp::getBiasOrder(unsigned index) {
  if (getBiasOrders().empty())
    return DimOrderAttr::getBias(getContext());
  return cast<DimOrderAttr>(getBiasOrders()[index]);
}

DimOrderAttr AttentionOp::getOperandOrder(OpOperand &operand) {
  auto [role, index] = getOperandRole(operand);
  switch (role) {
  case AttentionOperand::Query:
    return getQueryOrder();
  case AttentionOperand::Key:
    return getKeyOrder();
  case AttentionOperand::Value:
    return getValueOrder();
  case AttentionOperand::Bias:
    return getBiasOrder(index);
  case AttentionOperand::Capture:
    return getAllCaptureOrders()[index];
  case AttentionOperand::Gate:
    return getGateOrder();
  case AttentionOperand::Output:
    return getOutputOrder();
  default:
    return {};
  }
}

void AttentionOp::setOperandOrder(OpOperand &operand, DimOrderAttr order) {
  auto [role, index] = getOperandRole(operand);
  switch (role) {
  case AttentionOperand::Query:
    return setQueryOrderAttr(order);
  case AttentionOperand::Key:
    return setKeyOrderAttr(order);
  case AttentionOperand::Value:
    return setValueOrderAttr(order);
  case AttentionOperand::Bias: {
    auto orders = llvm::to_vector_of<Attribute>(getAllBiasOrders());
    orders[index] = order;
    return setBiasOrdersAttr(ArrayAttr::get(getContext(), orders));
  }
  case AttentionOperand::Capture: {
    auto orders = llvm::to_vector_of<Attribute>(getAllCaptureOrders());
    orders[index] = order;
    return setCaptureOrdersAttr(ArrayAttr::get(getContext(), orders));
  }
  case AttentionOperand::Gate:
    return setGateOrderAttr(order);
  case AttentionOperand::Output:
    return setOutputOrderAttr(order);
  default:
    return;
  }
}

void AttentionOp::copyFacts(AttentionOp other) {
  setQueryOrderAttr(other.getQueryOrder());
  setKeyOrderAttr(other.getKeyOrder());
  setValueOrderAttr(other.getValueOrder());
  setBiasOrdersAttr(other.getBiasOrders());
  if (!getCaptures().empty())
    setCaptureOrdersAttr(other.getCaptureOrders());
  setGateOrderAttr(other.getGateOrder());
  setOutputOrderAttr(other.getOutputOrder());
  setGroupSize(other.getGroupSize());
  setKeysFromAttr(other.getKeysFromAttr());
  setKeysToAttr(other.getKeysToAttr());
  setDropoutPAttr(other.getDropoutPAttr());
  setWeightsAttr(other.getWeightsAttr());
  for (auto [mine, its] :
       llvm::zip(getScoreRegions(), other.getScoreRegions())) {
    IRMapping mapping;
    its.cloneInto(&mine, mapping);
  }
}

SmallVector<Value> AttentionOp::getRagged() {
  if (!isRagged())
    return {};
  return {getQueryStarts(), getKeyStarts(), getMostQueries(), getMostKeys()};
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static Value getResultOf(AttentionOp op, MutableOperandRange destination) {
  if (op->getNumResults() == 0 || destination.empty())
    return {};
  return op.getTiedOpResult(&destination[0]);
}

Value AttentionOp::getOutputResult() {
  return getResultOf(*this, getOutputMutable());
}
Value AttentionOp::getLseResult() {
  return getResultOf(*this, getLseMutable());
}
Value AttentionOp::getStatsResult() {
  return getResultOf(*this, getStatsMutable());
}
