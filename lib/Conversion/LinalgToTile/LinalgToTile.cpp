//===- LinalgToTile.cpp - Linalg to tiles ---------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/LinalgToTile/Passes.h"

#include "KernelWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_CONVERTLINALGTOTILE
#include "Evoformer/Conversion/LinalgToTile/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Reshapes whose result is a known view are what a launch plan holds, too.
static void convertReshape(Operation *op) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  int64_t offset;
  SmallVector<int64_t> strides;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || ShapedType::isDynamicShape(strides))
    return;
  OpBuilder builder(op);
  Value view = memref::ReinterpretCastOp::create(builder, op->getLoc(), type,
                                                 op->getOperand(0), offset,
                                                 type.getShape(), strides);
  op->getResult(0).replaceAllUsesWith(view);
  op->erase();
}

/// Writes the body's functions that no chip has with those that chips have, in
/// f32: what upstream's approximations are for.
static void expandFunctions(linalg::LinalgOp op,
                            const FrozenRewritePatternSet &patterns) {
  SmallVector<Operation *> functions;
  op->walk([&](Operation *inner) {
    if (isa<math::TanhOp, math::ErfOp>(inner))
      functions.push_back(inner);
  });
  for (Operation *&function : functions) {
    Value argument = function->getOperand(0), result = function->getResult(0);
    if (!isa<BFloat16Type, Float16Type>(argument.getType()))
      continue;
    OpBuilder builder(function);
    Location loc = function->getLoc();
    Value wide =
        arith::ExtFOp::create(builder, loc, builder.getF32Type(), argument);
    Operation *computed = builder.clone(*function);
    computed->setOperand(0, wide);
    computed->getResult(0).setType(wide.getType());
    result.replaceAllUsesWith(arith::TruncFOp::create(
        builder, loc, result.getType(), computed->getResult(0)));
    function->erase();
    function = computed;
  }
  (void)applyOpPatternsGreedily(functions, patterns);
}

/// The extents of the op's space.
static SmallVector<Value> getSpace(OpBuilder &builder, StructuredOp &op) {
  Location loc = op.op.getLoc();
  SmallVector<Value> space;
  SmallVector<Range> ranges = op.op.createLoopRanges(builder, loc);
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    if (op.isReduction(loop))
      continue;
    Value size = getValueOrCreateConstantIndexOp(builder, loc, range.size);
    if (op.tile[loop] > 1) {
      Value block = arith::ConstantIndexOp::create(builder, loc, op.tile[loop]);
      Value most =
          arith::ConstantIndexOp::create(builder, loc, op.tile[loop] - 1);
      size = builder.createOrFold<arith::DivUIOp>(
          loc, builder.createOrFold<arith::AddIOp>(loc, size, most), block);
    }
    space.push_back(size);
  }
  return space;
}

/// A work item's offsets have 32 bits on GPUs (docs/rationale,
/// offsets-within-an-item): what it reads of an operand lies within 4 GiB.
/// Known sizes are checked here, others by the host program.
static LogicalResult checkOffsets(OpBuilder &builder, StructuredOp &op) {
  constexpr int64_t mostBytes = int64_t(1) << 32;
  Location loc = op.op.getLoc();
  for (OpOperand &operand : op.op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    std::string message =
        "operand " + std::to_string(operand.getOperandNumber()) +
        ": elements of one block must lie within 4 GiB, in the order of their "
        "indices";
    int64_t most =
        mostBytes / std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
    auto [strides, offset] = type.getStridesAndOffset();
    int64_t known = 1;
    bool isTooFar = false;
    /// Dimensions with how many elements beyond the first one; 0: all.
    SmallVector<std::pair<int64_t, int64_t>> dynamic;
    for (auto [position, expr] :
         llvm::enumerate(op.getMap(operand).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      bool isReduced = op.isReduction(dim.getPosition());
      int64_t size = type.getDimSize(position), stride = strides[position];
      int64_t block = op.tile[dim.getPosition()];
      int64_t last = ShapedType::isDynamic(size) ? 0 : size - 1;
      if (!isReduced)
        last = ShapedType::isDynamic(size) ? std::max<int64_t>(block - 1, 0)
                                           : std::min(last, block - 1);
      if (last <= 0 && !(isReduced && ShapedType::isDynamic(size)))
        continue;
      if (ShapedType::isDynamic(stride) || last == 0) {
        dynamic.push_back({position, last});
        continue;
      }
      int64_t span = 0;
      isTooFar |= stride < 0 || llvm::MulOverflow(last, stride, span) ||
                  llvm::AddOverflow(known, span, known) || known > most;
    }
    if (isTooFar)
      return op.op->emitOpError() << message << ", but it is " << type;
    if (dynamic.empty())
      continue;
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, operand.get());
    Value span = number(known), one = number(1);
    for (auto [position, last] : dynamic) {
      Value count =
          last != 0 ? number(last)
                    : arith::SubIOp::create(
                          builder, loc,
                          arith::MaxUIOp::create(
                              builder, loc, metadata.getSizes()[position], one),
                          one)
                          .getResult();
      span = arith::AddIOp::create(
          builder, loc, span,
          arith::MulIOp::create(builder, loc, count,
                                metadata.getStrides()[position]));
    }
    // A negative stride is a large one.
    Value isWithin = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ule, span, number(most));
    cf::AssertOp::create(builder, loc, isWithin, message);
  }
  return success();
}

static bool areEqual(KernelOp a, KernelOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a.getSchedule() == b.getSchedule() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

namespace {
class ConvertLinalgToTile
    : public mlir::evoformer::tile::impl::ConvertLinalgToTileBase<
          ConvertLinalgToTile> {
protected:
  void runOnOperation() override {
    kernels.clear();
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (failed(convert(function, symbols)))
        return signalPassFailure();
  }

private:
  LogicalResult convert(func::FuncOp function, SymbolTable &symbols) {
    SmallVector<memref::CopyOp> copies;
    function.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      auto type = dyn_cast<MemRefType>(copy.getSource().getType());
      if (!type || type.getRank() == 0)
        continue;
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      copy.erase();
    }
    SmallVector<Operation *> reshapes;
    function.walk([&](Operation *op) {
      if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
        reshapes.push_back(op);
    });
    llvm::for_each(reshapes, convertReshape);
    SmallVector<linalg::LinalgOp> ops;
    WalkResult walk = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
        ops.push_back(structured);
        return WalkResult::skip();
      }
      if (isa<linalg::LinalgDialect>(op->getDialect()))
        return WalkResult(op->emitOpError("is no loop nest with a body, which "
                                          "is what kernels are made of"));
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
    if (ops.empty())
      return success();
    RewritePatternSet patterns(&getContext());
    populatePolynomialApproximateTanhPattern(patterns);
    populatePolynomialApproximateErfPattern(patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (linalg::LinalgOp op : ops) {
      // Where a loop does not run nothing is written.
      if (llvm::is_contained(op.getStaticLoopRanges(), 0)) {
        op->erase();
        continue;
      }
      expandFunctions(op, frozen);
      if (failed(convert(op, function, symbols)))
        return failure();
    }
    return success();
  }

  LogicalResult convert(linalg::LinalgOp op, func::FuncOp function,
                        SymbolTable &symbols) {
    FailureOr<StructuredOp> structured = StructuredOp::analyze(op);
    if (failed(structured))
      return failure();
    OpBuilder builder(function);
    std::string name =
        (function.getName() + "_" + op->getName().stripDialect()).str();
    KernelOp kernel = writeKernel(builder, name, *structured);
    // Equal ops share a kernel.
    auto *known = llvm::find_if(
        kernels, [&](KernelOp other) { return areEqual(kernel, other); });
    if (known != kernels.end()) {
      kernel.erase();
      kernel = *known;
    } else {
      symbols.insert(kernel);
      kernels.push_back(kernel);
    }
    builder.setInsertionPoint(op);
    if (failed(checkOffsets(builder, *structured)))
      return failure();
    SmallVector<Value> arguments(op->getOperands());
    llvm::append_range(arguments, structured->captured);
    LaunchOp::create(builder, op.getLoc(), kernel.getSymName(),
                     getSpace(builder, *structured), arguments);
    op->erase();
    return success();
  }

  SmallVector<KernelOp> kernels;
};
} // namespace
