//===- FuseTiles.cpp - Merge elementwise loops over tiles -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/TileToCPU/TileToCPU.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_FUSETILESPASS
#include "Evoformer/Conversion/TileToCPU/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;

/// True where computing again costs no more than a load: a few additions,
/// comparisons and the like.
static bool isCheap(linalg::GenericOp op) {
  int64_t count = 0;
  return llvm::all_of(op.getBody()->without_terminator(), [&](Operation &o) {
    return ++count <= 3 && isa<arith::ArithDialect>(o.getDialect()) &&
           !isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
                arith::RemSIOp, arith::RemUIOp, arith::TruncFOp>(o);
  });
}

/// The producer's elements are computed once each: it has one user, which runs
/// over no loop that the producer lacks. What is cheap may be computed again.
static bool isWorthFusing(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || producer->getNumResults() != 1)
    return false;
  // Moving a value into a loop further in would compute it there each time.
  if (producer->getBlock() != consumer->getBlock())
    return false;
  // Transposed reads are slow: they stay apart from computation.
  for (OpOperand *input : producer.getDpsInputOperands()) {
    AffineMap map = producer.getMatchingIndexingMap(input);
    if (!map.isProjectedPermutation() ||
        !llvm::is_sorted(map.getResults(), [](AffineExpr a, AffineExpr b) {
          return cast<AffineDimExpr>(a).getPosition() <
                 cast<AffineDimExpr>(b).getPosition();
        }))
      return false;
  }
  // A broadcast is no work at all.
  if (llvm::hasSingleElement(*producer.getBody()))
    return true;
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  return producer->hasOneUse() &&
         (map.getNumResults() == map.getNumDims() || isCheap(producer));
}

/// Tiles of i1 between loops become i8: vectors of i1 are bits in memory, which
/// buffers are not.
static LogicalResult widenMask(linalg::GenericOp op,
                               PatternRewriter &rewriter) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return failure();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.getElementType().isInteger(1) ||
      !op.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>() ||
      !llvm::all_of(op->getUses(), [&](OpOperand &use) {
        auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
        return user && user.isDpsInput(&use);
      }))
    return failure();
  Type byte = rewriter.getI8Type();
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  op.getDpsInitsMutable()[0].set(
      tensor::EmptyOp::create(rewriter, loc, type.getShape(), byte));
  op.getBody()->getArguments().back().setType(byte);
  Operation *yield = op.getBody()->getTerminator();
  rewriter.setInsertionPoint(yield);
  yield->setOperand(
      0, arith::ExtUIOp::create(rewriter, loc, byte, yield->getOperand(0)));
  rewriter.modifyOpInPlace(op,
                           [&] { op->getResult(0).setType(type.clone(byte)); });
  for (OpOperand &use : op->getUses()) {
    auto user = cast<linalg::GenericOp>(use.getOwner());
    BlockArgument argument = user.getMatchingBlockArgument(&use);
    argument.setType(byte);
    rewriter.setInsertionPointToStart(user.getBody());
    Value zero =
        arith::ConstantOp::create(rewriter, loc, rewriter.getI8IntegerAttr(0));
    Value mask = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                       argument, zero);
    argument.replaceAllUsesExcept(mask, mask.getDefiningOp());
    rewriter.modifyOpInPlace(user, [] {});
  }
  return success();
}

/// Computes into an operand that nothing else uses instead of a new tile.
static LogicalResult reuseOperand(linalg::GenericOp op,
                                  PatternRewriter &rewriter) {
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops())
    return failure();
  OpOperand *init = op.getDpsInitOperand(0);
  BlockArgument initArg = op.getMatchingBlockArgument(init);
  if (!init->get().getDefiningOp<tensor::EmptyOp>() || !initArg.use_empty())
    return failure();
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input->get().getType() != init->get().getType() ||
        !input->get().hasOneUse() ||
        op.getMatchingIndexingMap(input) != op.getMatchingIndexingMap(init))
      continue;
    // Memory of the kernel's arguments is not to be written.
    Operation *definition = input->get().getDefiningOp();
    if (auto memory =
            dyn_cast_if_present<bufferization::ToTensorOp>(definition);
        memory && !memory.getWritable())
      continue;
    // An outer value may be needed by the next iteration.
    Block *block = definition ? definition->getBlock()
                              : cast<BlockArgument>(input->get()).getOwner();
    if (block != op->getBlock())
      continue;
    rewriter.modifyOpInPlace(op, [&] {
      BlockArgument inputArg = op.getMatchingBlockArgument(input);
      inputArg.replaceAllUsesWith(initArg);
      init->set(input->get());
      unsigned number = input->getOperandNumber();
      SmallVector<Attribute> maps(op.getIndexingMaps().getValue());
      maps.erase(maps.begin() + number);
      op.setIndexingMapsAttr(rewriter.getArrayAttr(maps));
      op.getInputsMutable().erase(number);
      op.getBody()->eraseArgument(number);
    });
    return success();
  }
  return failure();
}

/// What a loop carries to its next iteration goes into the buffer that it came
/// in: bufferisation asks for that, and drops the copy where the value is
/// there already.
static void yieldInPlace(Operation *loop) {
  Operation *firstCopy = nullptr;
  auto yieldInto = [&](OpOperand &yielded, Value carried) {
    Value value = yielded.get();
    if (value == carried || !isa<RankedTensorType>(value.getType()))
      return;
    // A value that lies in another carried buffer (an exchange, say) is taken
    // out before any of these is written.
    if (!isa_and_nonnull<linalg::LinalgOp>(value.getDefiningOp())) {
      OpBuilder b(yielded.getOwner());
      if (firstCopy)
        b.setInsertionPoint(firstCopy);
      value = bufferization::AllocTensorOp::create(
          b, loop->getLoc(), cast<RankedTensorType>(value.getType()),
          ValueRange(), value);
    }
    OpBuilder b(yielded.getOwner());
    auto copy = bufferization::MaterializeInDestinationOp::create(
        b, loop->getLoc(), value, carried);
    yielded.set(copy.getResult());
    if (!firstCopy)
      firstCopy = copy;
  };
  if (auto forOp = dyn_cast<scf::ForOp>(loop)) {
    for (auto [yielded, argument] :
         llvm::zip_equal(forOp.getBody()->getTerminator()->getOpOperands(),
                         forOp.getRegionIterArgs()))
      yieldInto(yielded, argument);
  } else if (auto whileOp = dyn_cast<scf::WhileOp>(loop)) {
    // The second region sees what the condition passes on.
    for (OpOperand &yielded : whileOp.getYieldOp()->getOpOperands())
      for (auto [passed, argument] : llvm::zip_equal(
               whileOp.getConditionOp().getArgs(), whileOp.getAfterArguments()))
        if (passed ==
            whileOp.getBeforeArguments()[yielded.getOperandNumber()]) {
          yieldInto(yielded, argument);
          break;
        }
  }
}

namespace {
class FuseTiles : public evoformer::impl::FuseTilesPassBase<FuseTiles> {
protected:
  void runOnOperation() override {
    RewritePatternSet fusion(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(fusion, isWorthFusing);
    if (failed(applyPatternsGreedily(getOperation(), std::move(fusion))))
      return signalPassFailure();
    RewritePatternSet reuse(&getContext());
    reuse.add(widenMask);
    reuse.add(reuseOperand);
    if (failed(applyPatternsGreedily(getOperation(), std::move(reuse))))
      return signalPassFailure();
    getOperation().walk(yieldInPlace);
  }
};
} // namespace
