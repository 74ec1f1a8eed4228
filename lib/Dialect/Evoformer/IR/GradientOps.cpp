//===- GradientOps.cpp - The gradient of an attention ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/Score.h"

using namespace mlir;
using namespace mlir::evoformer;

using Role = AttentionOperand;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static constexpr AttentionGroup kValue = {Role::Value, "value", "value",
                                          GroupArity::One, ""};
static constexpr AttentionGroup kGate = {Role::Gate, "gate", "gate",
                                         GroupArity::Optional, ""};
static constexpr AttentionGroup kOutput = {Role::Output, "output", "output",
                                           GroupArity::One, ""};
static constexpr AttentionGroup kOutputGrad = {
    Role::OutputGradient, "output_grad", "output_grad", GroupArity::One, ""};

/// An optional destination.
static constexpr AttentionGroup
makeInit(Role role, StringLiteral name,
         GroupArity arity = GroupArity::Optional) {
  return {role, name, name, arity, name};
}
static constexpr AttentionGroup kQueryGrad =
    makeInit(Role::QueryGradient, "query_grad");
static constexpr AttentionGroup kKeyGrad =
    makeInit(Role::KeyGradient, "key_grad");
static constexpr AttentionGroup kValueGrad =
    makeInit(Role::ValueGradient, "value_grad");
static constexpr AttentionGroup kBiasGrad =
    makeInit(Role::BiasGradient, "bias_grad", GroupArity::Any);
static constexpr AttentionGroup kGateGrad =
    makeInit(Role::GateGradient, "gate_grad");

ArrayRef<AttentionGroup> AttentionBackwardOp::getGroups() {
  static constexpr AttentionGroup groups[] = {
      kQuery,       kKey,        kValue,        kBias,        kCaptures,
      kGate,        kKeyLengths, kQueryLengths, kQueryStarts, kKeyStarts,
      kMostQueries, kMostKeys,   kDropout,      kKeysFrom,    kKeysTo,
      kOutput,      kStats,      kOutputGrad,   kQueryGrad,   kKeyGrad,
      kValueGrad,   kBiasGrad,   kGateGrad};
  return groups;
}

ArrayRef<AttentionGroup> AttentionDeltaOp::getGroups() {
  static constexpr AttentionGroup groups[] = {
      kGate,
      kQueryLengths,
      kQueryStarts,
      kMostQueries,
      kOutput,
      kOutputGrad,
      makeInit(Role::Delta, "delta"),
      makeInit(Role::WeightedGradient, "weighted_grad"),
      kGateGrad};
  return groups;
}

ArrayRef<AttentionGroup> AttentionGradientOp::getGroups() {
  static constexpr AttentionGroup groups[] = {
      kQuery,
      kKey,
      kValue,
      kBias,
      kCaptures,
      kKeyLengths,
      kQueryLengths,
      kQueryStarts,
      kKeyStarts,
      kMostQueries,
      kMostKeys,
      kDropout,
      kKeysFrom,
      kKeysTo,
      {Role::WeightedGradient, "weighted_grad", "weighted_grad",
       GroupArity::One, ""},
      kStats,
      {Role::Delta, "delta", "delta", GroupArity::Optional, ""},
      kQueryGrad,
      kKeyGrad,
      kValueGrad,
      kBiasGrad};
  return groups;
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Every gradient of a bias belongs to a bias that has one and looks like it.
template <typename OpTy> static LogicalResult verifyBiasGradients(OpTy op) {
  ArrayRef<int64_t> indices = op.getBiasGradients();
  size_t numGradients = op.getBiasGrads().size();
  auto numBiases = static_cast<int64_t>(op.getBiases().size());
  auto numCaptures = static_cast<int64_t>(op.getCaptures().size());
  if (indices.size() != numGradients)
    return op.emitOpError() << "bias_gradients must name the bias of each of "
                               "the "
                            << numGradients << " gradients of biases, but has "
                            << indices.size() << " entries";
  for (auto [number, index] : llvm::enumerate(indices)) {
    if (index < 0 || index >= numBiases + numCaptures) {
      InFlightDiagnostic diagnostic =
          op.emitOpError() << "bias_grad #" << number << " belongs to bias #"
                           << index << ", but there are " << numBiases
                           << " biases";
      if (numCaptures)
        diagnostic << " and " << numCaptures << " captures behind them";
      return diagnostic;
    }
    if (number > 0 && index <= indices[number - 1])
      return op.emitOpError()
             << "gradients of biases must come in the order of the biases, "
                "once each, but bias #"
             << index << " follows bias #" << indices[number - 1];
    if (op.isMask(index))
      return op.emitOpError()
             << "bias #" << index << " has no gradient: it is a mask of i1";
    if (op.isCapture(index) &&
        getElementTypeOrSelf(op.getCaptures()[index - numBiases].getType())
            .isInteger(32))
      return op.emitOpError() << "capture #" << index - numBiases
                              << " has no gradient: it is of i32";
    auto getOperand = [&](Role role, size_t at) -> OpOperand & {
      return op.getRoleOperands(role)[at];
    };
    OpOperand &bias = index < numBiases
                          ? getOperand(Role::Bias, index)
                          : getOperand(Role::Capture, index - numBiases);
    OpOperand &gradient = getOperand(Role::BiasGradient, number);
    auto biasType = cast<ShapedType>(bias.get().getType());
    auto type = cast<ShapedType>(gradient.get().getType());
    if (type.getElementType() != biasType.getElementType() &&
        !type.getElementType().isF32())
      return op.emitOpError()
             << "element type of " << op.getOperandName(gradient) << " must be "
             << biasType.getElementType() << ", that of "
             << op.getOperandName(bias) << ", or f32, but is "
             << type.getElementType();
    DimOrderAttr order = op.getOperandOrder(gradient);
    DimOrderAttr biasOrder = op.getOperandOrder(bias);
    for (char letter : DimOrderAttr::kBias) {
      int64_t size = type.getDimSize(order.getPosition(letter));
      int64_t biasSize = biasType.getDimSize(biasOrder.getPosition(letter));
      if ((size == 1) != (biasSize == 1))
        return op.emitOpError()
               << op.getOperandName(gradient) << " must broadcast where "
               << op.getOperandName(bias)
               << " does, but only one of them has a static 1 in dimension "
               << letter;
    }
  }
  return success();
}

template <typename OpTy> static LogicalResult verifyGradientOp(OpTy op) {
  if (failed(family::verifySegments(op, OpTy::getGroups(),
                                    op.getProperties().operandSegmentSizes)) ||
      failed(family::verifyNumOrders(op, op.getOperandOrders())))
    return failure();
  return family::verifyFamily(op);
}

/// The gradient of the gate needs a gate.
template <typename OpTy> static LogicalResult verifyGate(OpTy op) {
  if (op.getGateGrad() && !op.getGate())
    return op.emitOpError() << "gate_grad needs a gate, but there is none";
  return success();
}

LogicalResult AttentionBackwardOp::verify() {
  if (failed(verifyGate(*this)) || failed(verifyGradientOp(*this)))
    return failure();
  return verifyBiasGradients(*this);
}

LogicalResult AttentionDeltaOp::verify() {
  if (failed(verifyGate(*this)))
    return failure();
  return verifyGradientOp(*this);
}

LogicalResult AttentionGradientOp::verify() {
  if (failed(verifyGradientOp(*this)))
    return failure();
  if (getDelta() && getWeightsAttr())
    return emitOpError("has delta, which softmax's gradient reads, but weights "
                       "are not softmax");
  for (OpOperand &init : getDpsInitsMutable())
    if (!getDelta() && !getWeightsAttr() &&
        getOperandRole(init).first != AttentionOperand::ValueGradient)
      return emitOpError() << getOperandName(init)
                           << " needs delta, but there is none";
  if (failed(verifyBiasGradients(*this)))
    return failure();
  for (int64_t index : getBiasGradients())
    if (isCapture(index) && getDpsInitsMutable().size() > 1)
      return emitOpError()
             << "gradient of capture #" << index - getBiases().size()
             << " must be the only one, since the score gives its derivative "
                "by that capture";
  return success();
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

namespace {
/// Gradients that nobody uses are not computed.
struct DropUnusedGradients : OpRewritePattern<AttentionBackwardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionBackwardOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::none_of(op->getResults(),
                      [](Value result) { return result.use_empty(); }))
      return rewriter.notifyMatchFailure(op, "every result is used");
    SmallVector<Value> operands;
    SmallVector<DimOrderAttr> orders;
    SmallVector<int64_t> biasGradients;
    SmallVector<int32_t> segments(op.getGroups().size(), 0);
    SmallVector<Type> types;
    for (unsigned group = 0; group < segments.size(); ++group) {
      auto [first, length] = op.getGroupRange(group);
      for (unsigned i = 0; i < length; ++i) {
        OpOperand &operand = op->getOpOperand(first + i);
        bool isInit = op.isDpsInit(&operand);
        if (isInit && op.getTiedOpResult(&operand).use_empty())
          continue;
        ++segments[group];
        operands.push_back(operand.get());
        orders.push_back(op.getOperandOrder(operand));
        if (isInit)
          types.push_back(operand.get().getType());
        if (op.getGroups()[group].role == Role::BiasGradient)
          biasGradients.push_back(op.getBiasGradients()[i]);
      }
    }
    OperationState state(op.getLoc(), op->getName(), operands, types, {});
    auto &properties = state.getOrAddProperties<Properties>();
    properties = op.getProperties();
    properties.bias_gradients = rewriter.getDenseI64ArrayAttr(biasGradients);
    properties.operand_orders =
        family::makeOrders(rewriter.getContext(), orders);
    llvm::copy(segments, properties.operandSegmentSizes.begin());
    state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
    for (Region &score : op.getScoreRegions())
      state.addRegion()->takeBody(score);
    Operation *smaller = rewriter.create(state);
    SmallVector<Value> results;
    unsigned next = 0;
    for (Value result : op->getResults())
      results.push_back(result.use_empty() ? Value()
                                           : smaller->getResult(next++));
    rewriter.replaceOp(op, results);
    return success();
  }

  using Properties = AttentionBackwardOp::Properties;
};
} // namespace

void AttentionBackwardOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedGradients>(context);
  addScoreGradientPatterns(patterns);
  family::addKeyRangePatterns(patterns, getOperationName());
  family::addLengthsPatterns(patterns, getOperationName());
  family::addDropoutPatterns(patterns, getOperationName());
}

void AttentionGradientOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext * /*context*/) {
  family::addKeyRangePatterns(patterns, getOperationName());
  family::addLengthsPatterns(patterns, getOperationName());
  family::addDropoutPatterns(patterns, getOperationName());
}
