//===- AttentionCost.cpp - Work and traffic of an attention ---------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"

using namespace mlir;
using namespace mlir::evoformer;

static double bytesOf(AttentionOp op, OpOperand &operand,
                      AttentionSizes &sizes) {
  auto type = cast<ShapedType>(operand.get().getType());
  AttentionOperand role = op.getOperandRole(operand).first;
  double bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (auto [dim, letter] : llvm::enumerate(op.getOperandLetters(operand)))
    if (!op.isBroadcast(operand, dim))
      bytes *= static_cast<double>(sizes[getAttentionSize(role, letter)]);
  return bytes;
}

AttentionCost AttentionOp::getCost(AttentionSizes sizes) {
  AttentionCost cost;
  auto queries =
      static_cast<double>(sizes.batch) * static_cast<double>(sizes.rows) *
      static_cast<double>(sizes.heads) * static_cast<double>(sizes.queries);
  cost.logits = queries * static_cast<double>(sizes.keys);
  cost.matrixFlops =
      2 * cost.logits * static_cast<double>(sizes.depth + sizes.valueDepth);

  auto outputs = queries * static_cast<double>(sizes.valueDepth);
  double floatBiases = 0;
  for (unsigned index = 0; index < getBiases().size(); ++index)
    floatBiases += isMask(index) ? 0 : 1;
  double gates = getGate() ? 1 : 0;
  cost.vectorFlops = cost.logits * (4 + floatBiases) + outputs * (1 + gates);
  cost.exponentials = cost.logits + outputs * gates;

  for (OpOperand &operand : getOperation()->getOpOperands())
    (isDpsInit(&operand) ? cost.bytesWritten : cost.bytesRead) +=
        bytesOf(*this, operand, sizes);
  return cost;
}

std::optional<AttentionCost> AttentionOp::getCost() {
  AttentionSizes sizes = getSizes();
  if (!sizes.isStatic())
    return std::nullopt;
  return getCost(sizes);
}
