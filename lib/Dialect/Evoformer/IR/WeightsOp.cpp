//===- WeightsOp.cpp - The weights of an attention ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/Score.h"

using namespace mlir;
using namespace mlir::evoformer;

ArrayRef<AttentionGroup> AttentionWeightsOp::getGroups() {
  static constexpr AttentionGroup groups[] = {
      kQuery,
      kKey,
      kBias,
      kCaptures,
      kKeyLengths,
      kQueryLengths,
      kQueryStarts,
      kKeyStarts,
      kMostQueries,
      kMostKeys,
      kDropout,
      kKeysFrom,
      kKeysTo,
      kStats,
      {AttentionOperand::Weights, "output", "outs", GroupArity::One, "weights"},
  };
  return groups;
}

LogicalResult AttentionWeightsOp::verify() {
  if (failed(family::verifySegments(*this, getGroups(),
                                    getProperties().operandSegmentSizes)) ||
      failed(family::verifyNumOrders(*this, getOperandOrders())) ||
      failed(family::verifyFamily(*this)))
    return failure();
  if (getDropout() && getWeightsAttr())
    return emitOpError("has dropout, which the sign of a weight shows, but "
                       "weights that are not softmax have signs of their own");
  return success();
}

void AttentionWeightsOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext * /*context*/) {
  addScoreWeightsPatterns(patterns);
  family::addKeyRangePatterns(patterns, getOperationName());
  family::addLengthsPatterns(patterns, getOperationName());
  family::addDropoutPatterns(patterns, getOperationName());
}
