//===- PairwisePatterns.cpp - Long vectors as pairs -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some operations exist in hardware on pairs, yet LLVM's legalization of longer
// vectors takes them apart to single elements: the conversion of f32 to bf16,
// and AMD's packed subtraction (an addition with a negated operand; longer
// additions, products and FMAs are split to pairs as they should).
//
//===----------------------------------------------------------------------===//

#include "LoweringFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// Rewrites an elementwise op on a long vector of even length as ops on pairs.
struct Pairwise : RewritePattern {
  Pairwise(MLIRContext *context, StringRef name, Type element)
      : RewritePattern(name, /*benefit=*/1, context), element(element) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type || type.getRank() != 1 || type.isScalable() ||
        type.getElementType() != element || type.getNumElements() <= 2 ||
        type.getNumElements() % 2 != 0)
      return failure();
    Location loc = op->getLoc();
    Type pairType = VectorType::get(2, element);
    SmallVector<Value> elements;
    for (int64_t i = 0, e = type.getNumElements(); i < e; i += 2) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(vector::ShuffleOp::create(rewriter, loc, operand,
                                                     operand, {i, i + 1}));
      Operation *piece = rewriter.create(loc, op->getName().getIdentifier(),
                                         operands, pairType, op->getAttrs());
      auto split =
          vector::ToElementsOp::create(rewriter, loc, piece->getResult(0));
      llvm::append_range(elements, split.getResults());
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, elements);
    return success();
  }

  Type element;
};
} // namespace

void mlir::evoformer::populatePairwisePatterns(RewritePatternSet &patterns,
                                               tile::TargetAttr target) {
  MLIRContext *context = patterns.getContext();
  if (target.hasNativeBF16Convert())
    patterns.add<Pairwise>(context, arith::TruncFOp::getOperationName(),
                           BFloat16Type::get(context));
  if (target.hasPackedF32())
    patterns.add<Pairwise>(context, arith::SubFOp::getOperationName(),
                           Float32Type::get(context));
}
