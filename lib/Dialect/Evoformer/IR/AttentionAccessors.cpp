//===- AttentionAccessors.cpp - Named parts of an attention ---------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::evoformer;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

bool AttentionSizes::isStatic() const {
  return llvm::none_of(
      ArrayRef<int64_t>{batch, rows, queries, keys, heads, depth, valueDepth},
      ShapedType::isDynamic);
}

StringRef evoformer::stringifyAttentionSize(AttentionSize size) {
  static constexpr StringLiteral names[] = {"B", "N", "Sq", "Sk",
                                            "H", "D", "Dv"};
  return names[static_cast<unsigned>(size)];
}

AttentionSize evoformer::getAttentionSize(AttentionOperand operand,
                                          char letter) {
  bool ofKeys =
      operand == AttentionOperand::Key || operand == AttentionOperand::Value;
  bool ofLogits =
      operand == AttentionOperand::Query || operand == AttentionOperand::Key;
  switch (letter) {
  case 'b':
    return AttentionSize::B;
  case 'n':
    return AttentionSize::N;
  case 'h':
    return AttentionSize::H;
  case 'q':
    return AttentionSize::Sq;
  case 'k':
    return AttentionSize::Sk;
  case 's':
    return ofKeys ? AttentionSize::Sk : AttentionSize::Sq;
  default:
    return ofLogits ? AttentionSize::D : AttentionSize::Dv;
  }
}

AttentionSizes AttentionOp::getSizes() {
  AttentionSizes sizes;
  for (AttentionSize size : kAllAttentionSizes)
    sizes[size] = ShapedType::kDynamic;
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    auto type = cast<ShapedType>(operand.get().getType());
    AttentionOperand role = getOperandRole(operand).first;
    for (auto [dim, letter] : llvm::enumerate(getOperandLetters(operand))) {
      if (type.isDynamicDim(dim) || isBroadcast(operand, dim))
        continue;
      sizes[getAttentionSize(role, letter)] = type.getDimSize(dim);
    }
  }
  return sizes;
}

AttentionMixedSizes AttentionOp::getMixedSizes(OpBuilder &builder,
                                               Location loc) {
  AttentionSizes known = getSizes();
  AttentionMixedSizes sizes;
  OpOperand &query = getQueryMutable();
  OpOperand &key = getKeyMutable();
  for (AttentionSize size : kAllAttentionSizes) {
    if (ShapedType::isStatic(known[size])) {
      sizes[size] = builder.getIndexAttr(known[size]);
      continue;
    }
    OpOperand &source = size == AttentionSize::Sk ? key : query;
    AttentionOperand role = getOperandRole(source).first;
    for (auto [dim, letter] : llvm::enumerate(getOperandLetters(source)))
      if (getAttentionSize(role, letter) == size)
        sizes[size] =
            isa<RankedTensorType>(source.get().getType())
                ? tensor::getMixedSize(builder, loc, source.get(), dim)
                : memref::getMixedSize(builder, loc, source.get(), dim);
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::pair<AttentionOperand, unsigned>
AttentionOp::getOperandRole(OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  for (unsigned group = 0; group < 8; ++group) {
    auto [first, length] = getODSOperandIndexAndLength(group);
    if (number >= first && number < first + length)
      return {static_cast<AttentionOperand>(group), number - first};
  }
  llvm_unreachable("an operand of another op");
}

SmallVector<DimOrderAttr> AttentionOp::getAllBiasOrders() {
  if (getBiasOrders().empty())
    return SmallVector<DimOrderAttr>(getBiases().size(),
                                     DimOrderAttr::getBias(getContext()));
  return llvm::to_vector(getBiasOrders().getAsRange<DimOrderAttr>());
}

DimOrderAttr AttentionOp::getBiasOrder(unsigned index) {
  if (getBiasOrders().empty())
    return DimOrderAttr::getBias(getContext());
  return cast<DimOrderAttr>(getBiasOrders()[index]);
}

DimOrderAttr AttentionOp::getOperandOrder(OpOperand &operand) {
  auto [role, index] = getOperandRole(operand);
  switch (role) {
  case AttentionOperand::Query:
    return getQueryOrder();
  case AttentionOperand::Key:
    return getKeyOrder();
  case AttentionOperand::Value:
    return getValueOrder();
  case AttentionOperand::Bias:
    return getBiasOrder(index);
  case AttentionOperand::Gate:
    return getGateOrder();
  case AttentionOperand::Output:
    return getOutputOrder();
  case AttentionOperand::Lse:
  case AttentionOperand::Stats:
    break;
  }
  return {};
}

void AttentionOp::setOperandOrder(OpOperand &operand, DimOrderAttr order) {
  auto [role, index] = getOperandRole(operand);
  switch (role) {
  case AttentionOperand::Query:
    return setQueryOrderAttr(order);
  case AttentionOperand::Key:
    return setKeyOrderAttr(order);
  case AttentionOperand::Value:
    return setValueOrderAttr(order);
  case AttentionOperand::Bias: {
    auto orders = llvm::to_vector_of<Attribute>(getAllBiasOrders());
    orders[index] = order;
    return setBiasOrdersAttr(ArrayAttr::get(getContext(), orders));
  }
  case AttentionOperand::Gate:
    return setGateOrderAttr(order);
  case AttentionOperand::Output:
    return setOutputOrderAttr(order);
  case AttentionOperand::Lse:
  case AttentionOperand::Stats:
    break;
  }
}

void AttentionOp::copyOrders(AttentionOp other) {
  setQueryOrderAttr(other.getQueryOrder());
  setKeyOrderAttr(other.getKeyOrder());
  setValueOrderAttr(other.getValueOrder());
  setBiasOrdersAttr(other.getBiasOrders());
  setGateOrderAttr(other.getGateOrder());
  setOutputOrderAttr(other.getOutputOrder());
}

StringRef AttentionOp::getOperandLetters(OpOperand &operand) {
  DimOrderAttr order = getOperandOrder(operand);
  return order ? order.getLetters() : StringRef("bnhq");
}

std::string AttentionOp::getOperandName(OpOperand &operand) {
  static constexpr StringLiteral names[] = {
      "query", "key", "value", "bias", "gate", "output", "lse", "stats"};
  auto [role, index] = getOperandRole(operand);
  StringRef name = names[static_cast<unsigned>(role)];
  if (role == AttentionOperand::Bias)
    return (name + " #" + Twine(index)).str();
  return name.str();
}

bool AttentionOp::isBroadcast(OpOperand &operand, int64_t dim) {
  return getOperandRole(operand).first == AttentionOperand::Bias &&
         cast<ShapedType>(operand.get().getType()).getDimSize(dim) == 1;
}

std::array<bool, 5> AttentionOp::getBiasBroadcast(unsigned index) {
  auto type = cast<ShapedType>(getBiases()[index].getType());
  std::array<bool, 5> broadcast;
  for (auto [dim, position] :
       llvm::enumerate(getBiasOrder(index).getPositions()))
    broadcast[dim] = type.getDimSize(position) == 1;
  return broadcast;
}

bool AttentionOp::isMask(unsigned index) {
  return cast<ShapedType>(getBiases()[index].getType())
      .getElementType()
      .isInteger(1);
}

Type AttentionOp::getInputElementType() {
  return cast<ShapedType>(getQuery().getType()).getElementType();
}

float AttentionOp::getScaleValue() {
  if (FloatAttr scale = getScaleAttr())
    return scale.getValue().convertToFloat();
  return static_cast<float>(1.0 /
                            std::sqrt(static_cast<double>(getSizes().depth)));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static Value getResultOf(AttentionOp op, MutableOperandRange destination) {
  if (op->getNumResults() == 0 || destination.empty())
    return {};
  return op.getTiedOpResult(&destination[0]);
}

Value AttentionOp::getOutputResult() {
  return getResultOf(*this, getOutputMutable());
}
Value AttentionOp::getLseResult() {
  return getResultOf(*this, getLseMutable());
}
Value AttentionOp::getStatsResult() {
  return getResultOf(*this, getStatsMutable());
}
