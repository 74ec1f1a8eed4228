//===- AttentionDifferentiation.cpp - Gradients of an attention -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::evoformer;

using Role = AttentionOperand;

FailureOr<Operation *> AttentionOp::ensureStatistics(RewriterBase &rewriter) {
  if (getStats())
    return getOperation();
  if (!hasPureTensorSemantics())
    return emitOpError("is on memrefs and has no stats: its gradient needs "
                       "them, and only on tensors can they be added");
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(*this);
  SmallVector<OpFoldResult> sizes = getStatisticSizes(rewriter, getLoc());
  sizes.insert(sizes.begin(), rewriter.getIndexAttr(2));
  Value stats =
      tensor::EmptyOp::create(rewriter, getLoc(), sizes, rewriter.getF32Type());
  auto larger = AttentionOp::create(
      rewriter, getLoc(), getQuery(), getKey(), getValue(), getBiases(),
      getGate(), getOutput(), getLse(), stats, getScaleAttr(), getKeyLengths(),
      getQueryLengths(), getRagged(), getScoreBody() != nullptr, getCaptures(),
      getDropout(), getKeysFromOperands(), getKeysToOperands());
  larger.copyFacts(*this);
  larger->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  rewriter.replaceOp(*this, larger->getResults().drop_back());
  return larger.getOperation();
}

/// The role of an operand's gradient; none for destinations.
static std::optional<Role> getGradientRole(Role role) {
  switch (role) {
  case Role::Query:
    return Role::QueryGradient;
  case Role::Key:
    return Role::KeyGradient;
  case Role::Value:
    return Role::ValueGradient;
  case Role::Bias:
  case Role::Capture:
    return Role::BiasGradient;
  case Role::Gate:
    return Role::GateGradient;
  default:
    return std::nullopt;
  }
}

FailureOr<SmallVector<Value>>
AttentionOp::buildGradients(OpBuilder &builder, Value outputGradient,
                            ArrayRef<unsigned> operands) {
  if (!hasPureTensorSemantics() || !getStats())
    return emitOpError("must be on tensors and have stats to be "
                       "differentiated");
  auto findOperand = [&](Role role, unsigned index) -> OpOperand * {
    for (unsigned number : operands) {
      OpOperand &operand = getOperation()->getOpOperand(number);
      if (getOperandRole(operand) == std::pair(role, index))
        return &operand;
    }
    return nullptr;
  };
  for (unsigned number : operands) {
    if (number >= getOperation()->getNumOperands())
      return emitOpError("has no operand #") << number;
    OpOperand &operand = getOperation()->getOpOperand(number);
    auto [role, index] = getOperandRole(operand);
    if (!getGradientRole(role) || (role == Role::Bias && isMask(index)) ||
        getElementTypeOrSelf(operand.get().getType()).isInteger(32))
      return emitOpError("has no gradient with respect to ")
             << getOperandName(operand);
  }

  // Inputs in the order of the backward op's groups, then destinations.
  Location loc = getLoc();
  ArrayRef<AttentionGroup> groups = AttentionBackwardOp::getGroups();
  SmallVector<Value> values;
  SmallVector<DimOrderAttr> orders;
  SmallVector<Type> types;
  SmallVector<int64_t> biasGradients;
  SmallVector<int32_t> segments(groups.size(), 0);
  DenseMap<unsigned, unsigned> resultOf;
  auto add = [&](unsigned group, Value value, DimOrderAttr order) {
    ++segments[group];
    values.push_back(value);
    orders.push_back(order);
  };
  for (auto [group, entry] : llvm::enumerate(groups)) {
    if (entry.role == Role::Output) {
      add(group, getOutputResult(), getOutputOrder());
    } else if (entry.role == Role::Stats) {
      add(group, getStatsResult(), {});
    } else if (entry.role == Role::OutputGradient) {
      add(group, outputGradient, getOutputOrder());
    } else if (!entry.isInit()) {
      for (OpOperand &operand : getRoleOperands(entry.role))
        add(group, operand.get(), getOperandOrder(operand));
    } else {
      for (Role role : {Role::Query, Role::Key, Role::Value, Role::Bias,
                        Role::Capture, Role::Gate}) {
        if (getGradientRole(role) != entry.role)
          continue;
        for (auto [index, source] : llvm::enumerate(getRoleOperands(role))) {
          OpOperand *operand = findOperand(role, index);
          if (!operand)
            continue;
          Value init = tensor::EmptyOp::create(
              builder, loc, tensor::getMixedSizes(builder, loc, operand->get()),
              getElementTypeOrSelf(operand->get().getType()));
          if (init.getType() != operand->get().getType())
            init = tensor::CastOp::create(builder, loc,
                                          operand->get().getType(), init);
          // Rows of no sequence stay as they are.
          if (isRagged() && entry.role != Role::BiasGradient) {
            Value zero = arith::ConstantOp::create(
                builder, loc,
                builder.getZeroAttr(getElementTypeOrSelf(init.getType())));
            init =
                linalg::FillOp::create(builder, loc, zero, init).getResult(0);
          }
          resultOf[operand->getOperandNumber()] = types.size();
          types.push_back(init.getType());
          if (entry.role == Role::BiasGradient)
            biasGradients.push_back(
                index + (role == Role::Capture ? getBiases().size() : 0));
          add(group, init, getOperandOrder(*operand));
        }
      }
    }
  }
  OperationState state(loc, AttentionBackwardOp::getOperationName(), values,
                       types, {});
  auto &properties =
      state.getOrAddProperties<AttentionBackwardOp::Properties>();
  properties.bias_gradients = builder.getDenseI64ArrayAttr(biasGradients);
  properties.operand_orders = family::makeOrders(getContext(), orders);
  properties.scale = getScaleAttr();
  properties.group_size = getGroupSizeAttr();
  properties.keys_from = getKeysFromAttr();
  properties.keys_to = getKeysToAttr();
  properties.dropout_p = getDropoutPAttr();
  properties.weights = getWeightsAttr();
  llvm::copy(segments, properties.operandSegmentSizes.begin());
  for (Region &score : getScoreRegions()) {
    IRMapping mapping;
    score.cloneInto(state.addRegion(), mapping);
  }
  Operation *backward = builder.create(state);
  return llvm::map_to_vector(operands, [&](unsigned number) -> Value {
    return backward->getResult(resultOf.lookup(number));
  });
}
