//===- VotePatterns.cpp - Whether any lane says yes -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoweringFacts.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// An `or` of bits over a subgroup is one vote, whose result scalar registers
/// hold: a branch on it is no divergent one.
struct Vote : OpRewritePattern<gpu::SubgroupReduceOp> {
  Vote(MLIRContext *context, const LoweringFacts &facts, int64_t lanes)
      : OpRewritePattern(context, /*benefit=*/10), facts(facts), lanes(lanes) {}

  LogicalResult matchAndRewrite(gpu::SubgroupReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getOp() != gpu::AllReduceOperation::OR || op.getClusterSize() ||
        !op.getType().isInteger(1))
      return failure();
    rewriter.replaceOp(
        op, facts.buildVote(rewriter, op.getLoc(), op.getValue(), lanes));
    return success();
  }

  const LoweringFacts &facts;
  int64_t lanes;
};
} // namespace

void mlir::evoformer::populateVotePatterns(RewritePatternSet &patterns,
                                           const LoweringFacts &facts,
                                           int64_t lanes) {
  patterns.add<Vote>(patterns.getContext(), facts, lanes);
}
