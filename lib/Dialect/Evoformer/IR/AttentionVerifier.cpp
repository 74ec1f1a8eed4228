//===- AttentionVerifier.cpp - Rules of an attention ----------------------===//
//
// Every rule has its own message, which says what was given and what is
// accepted.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"

using namespace mlir;
using namespace mlir::evoformer;

/// Largest D and Dv.
static constexpr int64_t kMaxDepth = 256;

static ShapedType getShapedType(OpOperand &operand) {
  return cast<ShapedType>(operand.get().getType());
}

static bool isSequence(AttentionOperand role) {
  return role != AttentionOperand::Bias && role != AttentionOperand::Lse &&
         role != AttentionOperand::Stats;
}

//===----------------------------------------------------------------------===//
// Operand groups
//===----------------------------------------------------------------------===//

// The generated code trusts the sizes of groups of exactly one operand.
static LogicalResult verifySegments(AttentionOp op) {
  ArrayRef<int32_t> segments = op.getProperties().operandSegmentSizes;
  for (AttentionOperand operand :
       {AttentionOperand::Query, AttentionOperand::Key, AttentionOperand::Value,
        AttentionOperand::Output}) {
    auto group = static_cast<unsigned>(operand);
    if (segments[group] != 1)
      return op.emitOpError() << "operand group #" << group
                              << " (query, key, value, biases, gate, output, "
                                 "lse, stats) must have 1 operand, but has "
                              << segments[group];
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tensors or memrefs
//===----------------------------------------------------------------------===//

static LogicalResult verifySemantics(AttentionOp op) {
  bool onTensors = isa<RankedTensorType>(op.getQuery().getType());
  for (OpOperand &operand : op->getOpOperands()) {
    if (isa<RankedTensorType>(operand.get().getType()) != onTensors)
      return op.emitOpError()
             << "operands must be all tensors or all memrefs, but query is "
             << op.getQuery().getType() << " and " << op.getOperandName(operand)
             << " is " << operand.get().getType();
    if (auto tensor = dyn_cast<RankedTensorType>(operand.get().getType()))
      if (tensor.getEncoding())
        return op.emitOpError()
               << op.getOperandName(operand)
               << " must be a tensor without encoding, but is " << tensor;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

static LogicalResult verifyOrders(AttentionOp op) {
  size_t numOrders = op.getBiasOrders().size();
  size_t numBiases = op.getBiases().size();
  if (numOrders != 0 && numOrders != numBiases)
    return op.emitOpError() << "bias_orders must be empty or have one order "
                               "for each of the "
                            << numBiases << " biases, but has " << numOrders;
  if (!op.getGate() && !op.getGateOrder().isIdentity())
    return op.emitOpError()
           << "gate_order is '" << op.getGateOrder().getLetters()
           << "', but there is no gate";
  for (OpOperand &operand : op->getOpOperands()) {
    DimOrderAttr order = op.getOperandOrder(operand);
    bool wantsSequence = isSequence(op.getOperandRole(operand).first);
    if (order && order.isSequenceOrder() != wantsSequence)
      return op.emitOpError()
             << "the order of " << op.getOperandName(operand)
             << " must be a permutation of '"
             << (wantsSequence ? DimOrderAttr::kSequence : DimOrderAttr::kBias)
             << "', but is '" << order.getLetters() << "'";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static LogicalResult verifyElementType(AttentionOp op, OpOperand &operand) {
  Type input = op.getInputElementType();
  Type given = getShapedType(operand).getElementType();
  AttentionOperand role = op.getOperandRole(operand).first;
  auto emit = [&] {
    return op.emitOpError()
           << "element type of " << op.getOperandName(operand) << " must be ";
  };
  switch (role) {
  case AttentionOperand::Query:
    if (given.isF16() || given.isBF16() || given.isF32())
      return success();
    return emit() << "f16, bf16 or f32, but is " << given;
  case AttentionOperand::Key:
  case AttentionOperand::Value:
    if (given == input)
      return success();
    return emit() << "that of query, " << input << ", but is " << given;
  case AttentionOperand::Lse:
  case AttentionOperand::Stats:
    if (given.isF32())
      return success();
    return emit() << "f32, but is " << given;
  case AttentionOperand::Bias:
    if (given == input || given.isF32() || given.isInteger(1))
      return success();
    return (input.isF32() ? emit() << "f32 or i1"
                          : emit() << input << ", f32 or i1")
           << ", but is " << given;
  case AttentionOperand::Gate:
  case AttentionOperand::Output:
    break;
  }
  if (given == input || given.isF32())
    return success();
  return (input.isF32() ? emit() << "f32" : emit() << input << " or f32")
         << ", but is " << given;
}

//===----------------------------------------------------------------------===//
// Ranks and sizes
//===----------------------------------------------------------------------===//

static LogicalResult verifyRank(AttentionOp op, OpOperand &operand) {
  StringRef letters = op.getOperandLetters(operand);
  int64_t rank = getShapedType(operand).getRank();
  if (rank == static_cast<int64_t>(letters.size()))
    return success();
  return op.emitOpError() << op.getOperandName(operand) << " must have rank "
                          << letters.size() << " (dimensions " << letters
                          << "), but has rank " << rank;
}

static LogicalResult verifyDepth(AttentionOp op, OpOperand &operand) {
  AttentionOperand role = op.getOperandRole(operand).first;
  if (!isSequence(role))
    return success();
  int64_t dim = op.getOperandOrder(operand).getPosition('d');
  int64_t size = getShapedType(operand).getDimSize(dim);
  if (size >= 1 && size <= kMaxDepth)
    return success();
  InFlightDiagnostic diagnostic =
      op.emitOpError() << stringifyAttentionSize(getAttentionSize(role, 'd'))
                       << " (dimension " << dim << " of "
                       << op.getOperandName(operand)
                       << ") must be static and from 1 to " << kMaxDepth
                       << ", but is ";
  if (ShapedType::isDynamic(size))
    return diagnostic << "dynamic";
  return diagnostic << size;
}

static LogicalResult verifySizes(AttentionOp op) {
  // The operand that told a size first, null if none did.
  std::array<OpOperand *, kAllAttentionSizes.size()> source = {};
  std::array<int64_t, kAllAttentionSizes.size()> known = {};
  for (OpOperand &operand : op->getOpOperands()) {
    AttentionOperand role = op.getOperandRole(operand).first;
    for (auto [dim, letter] : llvm::enumerate(op.getOperandLetters(operand))) {
      int64_t size = getShapedType(operand).getDimSize(dim);
      if (ShapedType::isDynamic(size) || op.isBroadcast(operand, dim))
        continue;
      AttentionSize name = getAttentionSize(role, letter);
      auto index = static_cast<unsigned>(name);
      if (!source[index]) {
        source[index] = &operand;
        known[index] = size;
        continue;
      }
      if (known[index] != size)
        return op.emitOpError()
               << stringifyAttentionSize(name) << " is " << known[index]
               << " in " << op.getOperandName(*source[index]) << ", but "
               << size << " in " << op.getOperandName(operand) << " (dimension "
               << dim << ")"
               << (role == AttentionOperand::Bias
                       ? "; a bias must match or have a static 1"
                       : "");
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static LogicalResult verifyStrides(AttentionOp op, OpOperand &operand) {
  auto memref = dyn_cast<MemRefType>(operand.get().getType());
  if (!memref)
    return success();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return op.emitOpError() << op.getOperandName(operand)
                            << " must have a strided layout, but is " << memref;
  if (!op.isDpsInit(&operand)) {
    if (op.getOperandRole(operand).first == AttentionOperand::Bias)
      return success();
    int64_t dim = op.getOperandOrder(operand).getPosition('d');
    int64_t stride = strides[dim];
    if (ShapedType::isStatic(stride) && stride != 1 &&
        memref.getDimSize(dim) != 1)
      return op.emitOpError()
             << "stride of dimension d of " << op.getOperandName(operand)
             << " must be 1, but is " << stride << " (dimension " << dim
             << " of " << memref << ")";
    return success();
  }
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    int64_t size = memref.getDimSize(dim);
    if (stride == 0 && size != 0 && size != 1)
      return op.emitOpError()
             << op.getOperandName(operand)
             << " is written, so that its strides must not be 0 (dimension "
             << dim << " of " << memref << ")";
  }
  return success();
}

static LogicalResult verifyAliasing(AttentionOp op) {
  if (isa<RankedTensorType>(op.getQuery().getType()))
    return success();
  for (OpOperand &init : op.getDpsInitsMutable())
    for (OpOperand &other : op->getOpOperands())
      if (&init != &other && init.get() == other.get())
        return op.emitOpError()
               << op.getOperandName(init) << " must not alias "
               << op.getOperandName(other) << ", but both are the same memref";
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifySegments(*this)) || failed(verifySemantics(*this)) ||
      failed(verifyOrders(*this)))
    return failure();
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (failed(verifyElementType(*this, operand)) ||
        failed(verifyRank(*this, operand)))
      return failure();
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (failed(verifyDepth(*this, operand)))
      return failure();
  if (failed(verifySizes(*this)))
    return failure();
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (failed(verifyStrides(*this, operand)))
      return failure();
  if (failed(verifyAliasing(*this)))
    return failure();
  if (FloatAttr scale = getScaleAttr(); scale && !scale.getValue().isFinite())
    return emitOpError() << "scale must be finite, but is " << scale;
  return success();
}
