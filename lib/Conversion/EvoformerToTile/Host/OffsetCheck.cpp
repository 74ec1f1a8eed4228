//===- OffsetCheck.cpp - What kernels of GPUs can address -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OffsetCheck.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer;

/// Dimensions that one work item runs along.
static bool isWithinItem(char letter) {
  return StringRef("sdqk").contains(letter);
}

static std::string describe(AttentionFamilyOpInterface op, OpOperand &operand) {
  return op.getOperandName(operand) +
         ": elements of one batch, row and head must lie within 4 GiB, in the "
         "order of their indices";
}

/// The most elements that an item of ragged sequences may have along a
/// dimension, of those that there are; none: all of them.
static OpFoldResult findMost(AttentionFamilyOpInterface op, OpOperand &operand,
                             char letter) {
  AttentionSize size = op.getOperandSize(operand, letter);
  if (size != AttentionSize::Tq && size != AttentionSize::Tk)
    return {};
  return getAsOpFoldResult(
      op.getRoleOperands(size == AttentionSize::Tq
                             ? AttentionOperand::MostQueries
                             : AttentionOperand::MostKeys)
          .front()
          .get());
}

namespace {
/// A dimension that an item runs along, and the most elements that it takes of
/// it; null: all.
struct Along {
  int64_t dim;
  OpFoldResult most;
};
} // namespace

/// Asserts that what `dims` add to `known` elements is within `most`.
static void assertOffsets(TileBuilder &builder, Value memory,
                          ArrayRef<Along> dims, int64_t known, int64_t most,
                          const std::string &message) {
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, memory);
  Value one = builder.index(1), span = builder.index(known);
  for (const Along &along : dims) {
    Value size = builder.index(builder.dim(memory, along.dim));
    if (along.most)
      size = arith::MinUIOp::create(builder, size, builder.index(along.most));
    Value last = builder.sub(arith::MaxUIOp::create(builder, size, one), one);
    span =
        builder.add(span, builder.mul(last, metadata.getStrides()[along.dim]));
  }
  // A negative stride is a large one.
  Value isWithin = arith::CmpIOp::create(builder, arith::CmpIPredicate::ule,
                                         span, builder.index(most));
  cf::AssertOp::create(builder, isWithin, message);
}

LogicalResult evoformer::checkOffsets(TileBuilder &builder,
                                      AttentionFamilyOpInterface op,
                                      int64_t mostBytes,
                                      CheckedOperands &checked) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value memory = operand.get();
    if (!isa<MemRefType>(memory.getType()))
      continue;
    // What ragged sequences are asked for is less.
    if (!op.isRagged() &&
        !checked.insert({op->getBlock(), memory, op.getOperandOrder(operand)})
             .second)
      continue;
    auto type = cast<MemRefType>(memory.getType());
    auto [strides, offset] = type.getStridesAndOffset();
    int64_t most = mostBytes / getElementBytes(type.getElementType());
    int64_t known = 1;
    bool isTooFar = false;
    SmallVector<Along> dynamic;
    for (auto [dim, letter] : llvm::enumerate(op.getOperandLetters(operand))) {
      int64_t size = type.getDimSize(dim), stride = strides[dim];
      if (!isWithinItem(letter) || size == 0 || size == 1)
        continue;
      OpFoldResult mostOfItem = findMost(op, operand, letter);
      std::optional<int64_t> knownMost =
          mostOfItem ? getConstantIntValue(mostOfItem) : std::nullopt;
      if (knownMost && ShapedType::isStatic(size))
        size = std::min(size, *knownMost);
      else if (mostOfItem)
        size = ShapedType::kDynamic;
      if (ShapedType::isDynamic(size) || ShapedType::isDynamic(stride)) {
        dynamic.push_back({static_cast<int64_t>(dim), mostOfItem});
        continue;
      }
      int64_t span = 0;
      isTooFar |= stride < 0 || llvm::MulOverflow(size - 1, stride, span) ||
                  llvm::AddOverflow(known, span, known) || known > most;
    }
    if (isTooFar)
      return op->emitOpError()
             << describe(op, operand) << ", but it is " << type;
    if (!dynamic.empty())
      assertOffsets(builder, memory, dynamic, known, most,
                    describe(op, operand));
  }
  return success();
}
