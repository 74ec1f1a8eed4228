//===- Vectorize.cpp - linalg on buffers as loops over vectors ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/TileToCPU/TileToCPU.h"
#include "Lowering.h"
#include "VectorLoops.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_VECTORIZETILESPASS
#include "Evoformer/Conversion/TileToCPU/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile_to_cpu;

static LogicalResult lower(IRRewriter &rewriter, linalg::LinalgOp op,
                           VectorTarget target) {
  rewriter.setInsertionPoint(op);
  if (auto contract = dyn_cast<linalg::ContractOp>(op.getOperation())) {
    if (succeeded(vectorizeContract(rewriter, contract, target)))
      return success();
    if (op->removeAttr(kFromZeroAttr)) {
      Value sum = op.getDpsInits()[0];
      Value zero = arith::ConstantOp::create(
          rewriter, op.getLoc(),
          rewriter.getZeroAttr(getElementTypeOrSelf(sum.getType())));
      linalg::FillOp::create(rewriter, op.getLoc(), zero, sum);
    }
  } else {
    FailureOr<linalg::GenericOp> generic =
        dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!*generic)
      generic = linalg::generalizeNamedOp(rewriter, op);
    if (succeeded(generic)) {
      if (succeeded(vectorizeTranspose(rewriter, *generic, target)) ||
          succeeded(vectorizeGeneric(rewriter, *generic, target)))
        return success();
      op = cast<linalg::LinalgOp>(generic->getOperation());
    }
  }
  rewriter.setInsertionPoint(op);
  if (!op.hasPureBufferSemantics() ||
      failed(linalg::linalgOpToLoops(rewriter, op)))
    return op.emitOpError("cannot become loops; it must work on buffers");
  rewriter.eraseOp(op);
  return success();
}

namespace {
class VectorizeTiles
    : public evoformer::impl::VectorizeTilesPassBase<VectorizeTiles> {
public:
  using VectorizeTilesPassBase::VectorizeTilesPassBase;

protected:
  void runOnOperation() override {
    if (vectorBits < 128 || vectorBits > 2048 ||
        !llvm::isPowerOf2_64(vectorBits)) {
      getOperation().emitError("vector-bits must be a power of two from 128 to "
                               "2048, got ")
          << vectorBits.getValue();
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](memref::CopyOp copy) {
      rewriter.setInsertionPoint(copy);
      if (copy.getSource() != copy.getTarget())
        linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                                 copy.getTarget());
      rewriter.eraseOp(copy);
    });
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops)
      if (failed(lower(rewriter, op, VectorTarget{vectorBits})))
        return signalPassFailure();
  }
};
} // namespace
