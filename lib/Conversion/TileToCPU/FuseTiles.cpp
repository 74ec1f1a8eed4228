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

/// The producer's elements are computed once each: it has one user, which runs
/// over no loop that the producer lacks. One that computes nothing (a
/// broadcast) may be repeated.
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
  if (llvm::hasSingleElement(*producer.getBody()))
    return true;
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  return producer->hasOneUse() && map.getNumResults() == map.getNumDims();
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
    // An outer value may be needed by the next iteration.
    Operation *definition = input->get().getDefiningOp();
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
  auto addCopies = [&](scf::YieldOp yield, Block::BlockArgListType arguments) {
    OpBuilder b(yield);
    for (auto [operand, argument] :
         llvm::zip_equal(yield->getOpOperands(), arguments)) {
      Value value = operand.get();
      if (value == argument || !isa<RankedTensorType>(value.getType()))
        continue;
      auto copy = bufferization::MaterializeInDestinationOp::create(
          b, loop->getLoc(), value, argument);
      operand.set(copy.getResult());
    }
  };
  if (auto forOp = dyn_cast<scf::ForOp>(loop))
    addCopies(cast<scf::YieldOp>(forOp.getBody()->getTerminator()),
              forOp.getRegionIterArgs());
  else if (auto whileOp = dyn_cast<scf::WhileOp>(loop))
    addCopies(whileOp.getYieldOp(), whileOp.getBeforeArguments());
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
    reuse.add(reuseOperand);
    if (failed(applyPatternsGreedily(getOperation(), std::move(reuse))))
      return signalPassFailure();
    getOperation().walk(yieldInPlace);
  }
};
} // namespace
