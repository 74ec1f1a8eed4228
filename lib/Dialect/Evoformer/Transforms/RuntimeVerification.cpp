//===- RuntimeVerification.cpp - Checks of dynamic sizes ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asserts that are emitted next to an op for what its types do not tell.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/Transforms/Interfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
using MessageFn = function_ref<std::string(Operation *, StringRef)>;

/// A dimension of an operand.
struct OperandDim {
  OpOperand *operand;
  int64_t dim;

  bool isStatic() const {
    return !cast<ShapedType>(operand->get().getType()).isDynamicDim(dim);
  }
  Value createSize(OpBuilder &builder, Location loc) const {
    Value value = operand->get();
    OpFoldResult size = isa<RankedTensorType>(value.getType())
                            ? tensor::getMixedSize(builder, loc, value, dim)
                            : memref::getMixedSize(builder, loc, value, dim);
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  }
  std::string describe(AttentionFamilyOpInterface op) const {
    return (Twine("dimension ") + Twine(dim) + " of " +
            op.getOperandName(*operand))
        .str();
  }
};
} // namespace

static void assertEqual(OpBuilder &builder, Location loc, Value lhs, Value rhs,
                        const std::string &message) {
  Value equal =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lhs, rhs);
  cf::AssertOp::create(builder, loc, equal, message);
}

static void assertAtLeast(OpBuilder &builder, Location loc, Value value,
                          int64_t least, const std::string &message) {
  Value bound = arith::ConstantIndexOp::create(builder, loc, least);
  Value isEnough = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sge, value, bound);
  cf::AssertOp::create(builder, loc, isEnough, message);
}

/// The operands' dimensions of a size.
static SmallVector<OperandDim> findDims(AttentionFamilyOpInterface op,
                                        AttentionSize size) {
  SmallVector<OperandDim> dims;
  for (OpOperand &operand : op->getOpOperands()) {
    for (auto [dim, letter] : llvm::enumerate(op.getOperandLetters(operand)))
      if (op.getOperandSize(operand, letter) == size &&
          !op.isBroadcast(operand, dim))
        dims.push_back({&operand, static_cast<int64_t>(dim)});
  }
  return dims;
}

static void assertEqualSizes(AttentionFamilyOpInterface op, AttentionSize size,
                             OpBuilder &builder, Location loc,
                             MessageFn message) {
  SmallVector<OperandDim> dims = findDims(op, size);
  // Compare with a static size if there is one.
  const OperandDim *reference =
      llvm::find_if(dims, [](const OperandDim &dim) { return dim.isStatic(); });
  if (reference == dims.end())
    reference = dims.begin();
  Value expected;
  for (const OperandDim &dim : dims) {
    if (&dim == reference || dim.isStatic())
      continue;
    if (!expected)
      expected = reference->createSize(builder, loc);
    std::string text = (stringifyAttentionSize(size) + ": " + dim.describe(op) +
                        " must equal " + reference->describe(op))
                           .str();
    assertEqual(builder, loc, dim.createSize(builder, loc), expected,
                message(op, text));
  }
}

/// H = Hk * group_size.
static void assertGroups(AttentionFamilyOpInterface op, OpBuilder &builder,
                         Location loc, MessageFn message) {
  SmallVector<OperandDim> heads = findDims(op, AttentionSize::H);
  SmallVector<OperandDim> keyHeads = findDims(op, AttentionSize::Hk);
  if (heads.empty() || keyHeads.empty() ||
      (heads.front().isStatic() && keyHeads.front().isStatic()))
    return;
  Value groupSize =
      arith::ConstantIndexOp::create(builder, loc, op.getGroupSizeOrOne());
  Value product = arith::MulIOp::create(
      builder, loc, keyHeads.front().createSize(builder, loc), groupSize);
  std::string text = (Twine("H: ") + heads.front().describe(op) +
                      " must equal " + Twine(op.getGroupSizeOrOne()) +
                      " (group_size) times " + keyHeads.front().describe(op))
                         .str();
  assertEqual(builder, loc, heads.front().createSize(builder, loc), product,
              message(op, text));
}

/// Biases have the most queries and keys that a sequence has, and B sequences.
static void assertRagged(AttentionFamilyOpInterface op, OpBuilder &builder,
                         Location loc, MessageFn message) {
  auto expect = [&](AttentionSize size, Value expected, const Twine &of) {
    for (const OperandDim &dim : findDims(op, size))
      assertEqual(builder, loc, dim.createSize(builder, loc), expected,
                  message(op, (stringifyAttentionSize(size) + ": " +
                               dim.describe(op) + " must equal " + of)
                                  .str()));
  };
  auto expectMost = [&](AttentionSize size, AttentionOperand role) {
    for (OpOperand &most : op.getRoleOperands(role)) {
      std::string name = op.getOperandName(most);
      if (!getConstantIntValue(most.get()))
        assertAtLeast(builder, loc, most.get(), 0,
                      message(op, name + " must be at least 0"));
      expect(size, most.get(), name);
    }
  };
  expectMost(AttentionSize::Sq, AttentionOperand::MostQueries);
  expectMost(AttentionSize::Sk, AttentionOperand::MostKeys);
  SmallVector<OperandDim> starts = findDims(op, AttentionSize::Starts);
  for (const OperandDim &dim : starts)
    if (!dim.isStatic())
      assertAtLeast(
          builder, loc, dim.createSize(builder, loc), 1,
          message(op, dim.describe(op) + " must be B + 1, at least 1"));
  if (starts.empty() || findDims(op, AttentionSize::B).empty())
    return;
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = arith::SubIOp::create(
      builder, loc, starts.front().createSize(builder, loc), one);
  expect(AttentionSize::B, count, "the number of ragged sequences");
}

/// The depth of query, key, value and gate has stride 1 in memory.
static void assertUnitDepth(AttentionFamilyOpInterface op, OpOperand &operand,
                            OpBuilder &builder, Location loc,
                            MessageFn message) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  DimOrderAttr order = op.getOperandOrder(operand);
  if (!type || op.isDpsInit(&operand) || !order || !order.isSequenceOrder())
    return;
  SmallVector<int64_t> strides;
  int64_t offset;
  int64_t dim = order.getPosition('d');
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isStatic(strides[dim]) || type.getDimSize(dim) == 1)
    return;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, operand.get());
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  assertEqual(builder, loc, metadata.getStrides()[dim], one,
              message(op, "stride of dimension d of " +
                              op.getOperandName(operand) + " must be 1"));
}

namespace {
template <typename OpTy>
struct AttentionRuntimeVerification
    : RuntimeVerifiableOpInterface::ExternalModel<
          AttentionRuntimeVerification<OpTy>, OpTy> {
  void generateRuntimeVerification(Operation *operation, OpBuilder &builder,
                                   Location loc, MessageFn message) const {
    auto op = cast<AttentionFamilyOpInterface>(operation);
    for (AttentionSize size : kAllAttentionSizes)
      assertEqualSizes(op, size, builder, loc, message);
    assertGroups(op, builder, loc, message);
    assertRagged(op, builder, loc, message);
    for (OpOperand &operand : op->getOpOperands())
      assertUnitDepth(op, operand, builder, loc, message);
  }
};
} // namespace

void evoformer::registerEvoformerRuntimeVerification(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, EvoformerDialect *) {
    AttentionOp::attachInterface<AttentionRuntimeVerification<AttentionOp>>(
        *context);
    AttentionBackwardOp::attachInterface<
        AttentionRuntimeVerification<AttentionBackwardOp>>(*context);
    AttentionDeltaOp::attachInterface<
        AttentionRuntimeVerification<AttentionDeltaOp>>(*context);
    AttentionGradientOp::attachInterface<
        AttentionRuntimeVerification<AttentionGradientOp>>(*context);
    AttentionWeightsOp::attachInterface<
        AttentionRuntimeVerification<AttentionWeightsOp>>(*context);
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                         memref::MemRefDialect, tensor::TensorDialect>();
  });
}
