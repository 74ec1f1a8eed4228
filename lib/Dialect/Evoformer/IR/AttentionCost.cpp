//===- AttentionCost.cpp - Work and traffic of an attention ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::evoformer;

static double bytesOf(AttentionFamilyOpInterface op, OpOperand &operand,
                      AttentionSizes &sizes) {
  auto type = dyn_cast<ShapedType>(operand.get().getType());
  if (!type)
    return 0;
  double bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (auto [dim, letter] : llvm::enumerate(op.getOperandLetters(operand))) {
    AttentionSize size = op.getOperandSize(operand, letter);
    // Those that no attention chooses are static.
    bool isChosen = size != AttentionSize::One && size != AttentionSize::Two;
    if (!op.isBroadcast(operand, dim))
      bytes *=
          static_cast<double>(isChosen ? sizes[size] : type.getDimSize(dim));
  }
  return bytes;
}

static void addTraffic(AttentionFamilyOpInterface op, AttentionSizes &sizes,
                       AttentionCost &cost) {
  for (OpOperand &operand : op->getOpOperands())
    (op.isDpsInit(&operand) ? cost.bytesWritten : cost.bytesRead) +=
        bytesOf(op, operand, sizes);
}

static double countQueries(AttentionFamilyOpInterface op,
                           const AttentionSizes &sizes) {
  double queries = op.isRagged() ? static_cast<double>(sizes.allQueries)
                                 : static_cast<double>(sizes.batch) *
                                       static_cast<double>(sizes.queries);
  return static_cast<double>(sizes.rows) * static_cast<double>(sizes.heads) *
         queries;
}

/// Those that queries see; of sequences whose lengths only the device knows, at
/// most.
static double countLogits(AttentionFamilyOpInterface op, AttentionSizes sizes) {
  // None has more than all of them.
  if (op.isRagged()) {
    sizes.queries = std::min(sizes.queries, sizes.allQueries);
    sizes.keys = std::min(sizes.keys, sizes.allKeys);
  }
  KeyRange range = op.getKeyRange();
  double pairs = range.isWhole() ? static_cast<double>(sizes.queries) *
                                       static_cast<double>(sizes.keys)
                                 : countPairs(range, sizes.queries, sizes.keys);
  pairs *= static_cast<double>(sizes.batch);
  if (op.isRagged())
    pairs = std::min({pairs,
                      static_cast<double>(sizes.allQueries) *
                          static_cast<double>(sizes.keys),
                      static_cast<double>(sizes.allKeys) *
                          static_cast<double>(sizes.queries)});
  return static_cast<double>(sizes.rows) * static_cast<double>(sizes.heads) *
         pairs;
}

static double countFloatBiases(AttentionFamilyOpInterface op) {
  double count = 0;
  auto biases = op.getRoleOperands(AttentionOperand::Bias);
  for (unsigned index = 0; index < biases.size(); ++index)
    count += op.isMask(index) ? 0 : 1;
  return count;
}

static double countOutputs(AttentionFamilyOpInterface op,
                           const AttentionSizes &sizes) {
  return countQueries(op, sizes) * static_cast<double>(sizes.valueDepth);
}

AttentionCost AttentionOp::getCost(AttentionSizes sizes) {
  AttentionCost cost;
  cost.logits = countLogits(*this, sizes);
  cost.matrixFlops =
      2 * cost.logits * static_cast<double>(sizes.depth + sizes.valueDepth);

  double outputs = countOutputs(*this, sizes);
  double gates = getGate() ? 1 : 0;
  cost.vectorFlops =
      cost.logits * (4 + countFloatBiases(*this)) + outputs * (1 + gates);
  cost.exponentials = cost.logits + outputs * gates;
  addTraffic(*this, sizes, cost);
  return cost;
}

/// The products and the work on logits of one recomputation that yields the
/// gradients which the op has.
template <typename OpTy>
static AttentionCost getRecomputationCost(OpTy op, AttentionSizes &sizes) {
  AttentionCost cost;
  cost.logits = countLogits(op, sizes);
  auto depth = static_cast<double>(sizes.depth);
  auto valueDepth = static_cast<double>(sizes.valueDepth);
  auto numBiases = static_cast<double>(op.getBiasGrads().size());
  bool needsLogits = op.getQueryGrad() || op.getKeyGrad() || numBiases > 0;
  double columns = 0;
  if (needsLogits || op.getValueGrad())
    columns += depth;
  if (needsLogits)
    columns += valueDepth;
  columns += (op.getQueryGrad() ? depth : 0) + (op.getKeyGrad() ? depth : 0) +
             (op.getValueGrad() ? valueDepth : 0);
  cost.matrixFlops = 2 * cost.logits * columns;
  if (columns == 0)
    return cost;
  // The scale, the biases and the statistic; then a difference and a product.
  cost.vectorFlops = cost.logits * (2 + countFloatBiases(op) +
                                    (needsLogits ? 2 : 0) + numBiases);
  cost.exponentials = cost.logits;
  return cost;
}

AttentionCost AttentionGradientOp::getCost(AttentionSizes sizes) {
  AttentionCost cost = getRecomputationCost(*this, sizes);
  addTraffic(*this, sizes, cost);
  return cost;
}

AttentionCost AttentionBackwardOp::getCost(AttentionSizes sizes) {
  AttentionCost cost = getRecomputationCost(*this, sizes);
  double outputs = countOutputs(*this, sizes);
  cost.vectorFlops +=
      outputs * (2 + (getGate() ? 1 : 0) + (getGateGrad() ? 3 : 0));
  cost.exponentials += getGate() ? outputs : 0;
  addTraffic(*this, sizes, cost);
  return cost;
}

AttentionCost AttentionWeightsOp::getCost(AttentionSizes sizes) {
  AttentionCost cost;
  cost.logits = countLogits(*this, sizes);
  cost.matrixFlops = 2 * cost.logits * static_cast<double>(sizes.depth);
  // The scale, the biases and the statistic.
  cost.vectorFlops = cost.logits * (2 + countFloatBiases(*this));
  cost.exponentials = cost.logits;
  addTraffic(*this, sizes, cost);
  return cost;
}

AttentionCost AttentionDeltaOp::getCost(AttentionSizes sizes) {
  AttentionCost cost;
  double outputs = countOutputs(*this, sizes);
  cost.vectorFlops = outputs * ((getDelta() ? 2 : 0) + (getGate() ? 1 : 0) +
                                (getGateGrad() ? 3 : 0));
  cost.exponentials = getGate() ? outputs : 0;
  addTraffic(*this, sizes, cost);
  return cost;
}
