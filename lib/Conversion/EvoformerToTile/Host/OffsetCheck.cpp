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

static constexpr int64_t kMostBytes = int64_t(1) << 32;

/// Dimensions that one work item runs along.
static bool isWithinItem(char letter) {
  return StringRef("sdqk").contains(letter);
}

static std::string describe(AttentionFamilyOpInterface op, OpOperand &operand) {
  return op.getOperandName(operand) +
         ": elements of one batch, row and head must lie within 4 GiB, in the "
         "order of their indices";
}

/// Asserts that what `dims` add to `known` elements is within `most`.
static void assertOffsets(TileBuilder &builder, Value memory,
                          ArrayRef<int64_t> dims, int64_t known, int64_t most,
                          const std::string &message) {
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, memory);
  Value one = builder.index(1), span = builder.index(known);
  for (int64_t dim : dims) {
    Value size = builder.index(builder.dim(memory, dim));
    Value last = builder.sub(arith::MaxUIOp::create(builder, size, one), one);
    span = builder.add(span, builder.mul(last, metadata.getStrides()[dim]));
  }
  // A negative stride is a large one.
  Value isWithin = arith::CmpIOp::create(builder, arith::CmpIPredicate::ule,
                                         span, builder.index(most));
  cf::AssertOp::create(builder, isWithin, message);
}

LogicalResult evoformer::checkOffsets(TileBuilder &builder,
                                      AttentionFamilyOpInterface op,
                                      CheckedOperands &checked) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value memory = operand.get();
    if (!checked.insert({op->getBlock(), memory, op.getOperandOrder(operand)})
             .second)
      continue;
    auto type = cast<MemRefType>(memory.getType());
    auto [strides, offset] = type.getStridesAndOffset();
    int64_t most = kMostBytes / getElementBytes(type.getElementType());
    int64_t known = 1;
    bool isTooFar = false;
    SmallVector<int64_t> dynamic;
    for (auto [dim, letter] : llvm::enumerate(op.getOperandLetters(operand))) {
      int64_t size = type.getDimSize(dim), stride = strides[dim];
      if (!isWithinItem(letter) || size == 0 || size == 1)
        continue;
      if (ShapedType::isDynamic(size) || ShapedType::isDynamic(stride)) {
        dynamic.push_back(dim);
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
