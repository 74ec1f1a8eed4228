//===- Bufferization.cpp - From tensors to memrefs ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/Transforms/Interfaces.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::evoformer;

/// Whether `buffer` comes from outside the function, so that whoever passes it
/// promises what a memref operand must keep.
static bool isFromCaller(Value buffer) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  // Arguments are bufferized after the body.
  if (auto toBuffer = buffer.getDefiningOp<ToBufferOp>())
    buffer = toBuffer.getTensor();
  auto argument = dyn_cast<BlockArgument>(buffer);
  return argument &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

/// Whether `buffer` can be an operand on memrefs as it is: the depth of query,
/// key, value and gate has stride 1. A stride that is unknown because the
/// function's signature says nothing is 1 if the depth is innermost.
static bool hasUsableDepth(AttentionFamilyOpInterface op, OpOperand &operand,
                           Value buffer) {
  DimOrderAttr order = op.getOperandOrder(operand);
  if (op.isDpsInit(&operand) || !order || !order.isSequenceOrder())
    return true;
  auto type = cast<MemRefType>(buffer.getType());
  int64_t dim = order.getPosition('d');
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type.getDimSize(dim) == 1 ||
      failed(type.getStridesAndOffset(strides, offset)))
    return true;
  if (ShapedType::isDynamic(strides[dim]))
    return dim == type.getRank() - 1 && isFromCaller(buffer);
  return strides[dim] == 1;
}

/// Copies `buffer`, whose dimensions have the given order, to a new one in the
/// default order.
static FailureOr<Value>
copyToDefaultOrder(RewriterBase &rewriter, Location loc, Value buffer,
                   DimOrderAttr order, const BufferizationOptions &options) {
  SmallVector<AffineExpr> results;
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamicSizes;
  auto type = cast<MemRefType>(buffer.getType());
  for (int64_t position : order.getPositions()) {
    results.push_back(rewriter.getAffineDimExpr(position));
    shape.push_back(type.getDimSize(position));
    if (type.isDynamicDim(position))
      dynamicSizes.push_back(
          memref::DimOp::create(rewriter, loc, buffer, position));
  }
  auto permutation =
      AffineMap::get(results.size(), 0, results, rewriter.getContext());
  Value view = memref::TransposeOp::create(rewriter, loc, buffer,
                                           AffineMapAttr::get(permutation));
  auto copyType =
      MemRefType::get(shape, type.getElementType(), MemRefLayoutAttrInterface(),
                      type.getMemorySpace());
  FailureOr<Value> copy =
      options.createAlloc(rewriter, loc, copyType, dynamicSizes);
  if (failed(copy) || failed(options.createMemCpy(rewriter, loc, view, *copy)))
    return failure();
  return copy;
}

namespace {
template <typename OpTy>
struct AttentionBufferization
    : DstBufferizableOpInterfaceExternalModel<AttentionBufferization<OpTy>,
                                              OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    // What a destination held before is overwritten, but between sequences.
    auto attention = cast<OpTy>(op);
    return attention.isRagged() || !attention.isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *operation, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto op = cast<AttentionFamilyOpInterface>(operation);
    if (op.hasPureBufferSemantics())
      return success();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);

    SmallVector<Value> buffers;
    SmallVector<unsigned> copied;
    // One copy serves all operands that read a tensor in one order.
    DenseMap<std::pair<Value, Attribute>, Value> copies;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType())) {
        buffers.push_back(operand.get());
        continue;
      }
      FailureOr<Value> buffer =
          getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      if (!hasUsableDepth(op, operand, *buffer)) {
        DimOrderAttr order = op.getOperandOrder(operand);
        Value &copy = copies[{operand.get(), order}];
        if (!copy) {
          FailureOr<Value> created = copyToDefaultOrder(
              rewriter, op.getLoc(), *buffer, order, options);
          if (failed(created))
            return failure();
          copy = *created;
        }
        buffer = copy;
        copied.push_back(operand.getOperandNumber());
      }
      buffers.push_back(*buffer);
    }

    auto onBuffers = cast<AttentionFamilyOpInterface>(
        clone(rewriter, op, /*newResultTypes=*/TypeRange(), buffers));
    for (unsigned number : copied)
      onBuffers.setOperandOrder(onBuffers->getOpOperand(number),
                                DimOrderAttr::getSequence(op->getContext()));
    replaceOpWithBufferizedValues(
        rewriter, op,
        ArrayRef(buffers).take_back(op.getDpsInitsMutable().size()));
    return success();
  }
};
} // namespace

void evoformer::registerEvoformerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, EvoformerDialect *) {
    AttentionOp::attachInterface<AttentionBufferization<AttentionOp>>(*context);
    AttentionBackwardOp::attachInterface<
        AttentionBufferization<AttentionBackwardOp>>(*context);
    AttentionDeltaOp::attachInterface<AttentionBufferization<AttentionDeltaOp>>(
        *context);
    AttentionGradientOp::attachInterface<
        AttentionBufferization<AttentionGradientOp>>(*context);
    AttentionWeightsOp::attachInterface<
        AttentionBufferization<AttentionWeightsOp>>(*context);
    context->loadDialect<memref::MemRefDialect>();
  });
}
