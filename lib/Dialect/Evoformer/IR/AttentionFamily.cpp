//===- AttentionFamily.cpp - What attention ops share ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accessors and interfaces that follow from the table of operand groups.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/KeyBoundMap.h"
#include "Evoformer/Dialect/Evoformer/IR/Score.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::evoformer;

#include "Evoformer/Dialect/Evoformer/IR/AttentionInterfaces.cpp.inc"

using Family = AttentionFamilyOpInterface;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

bool evoformer::isBias(AttentionOperand role) {
  return role == AttentionOperand::Bias ||
         role == AttentionOperand::BiasGradient ||
         role == AttentionOperand::Capture;
}

bool evoformer::isOfPairs(AttentionOperand role) {
  return isBias(role) || role == AttentionOperand::Weights;
}

bool evoformer::isStatistic(AttentionOperand role) {
  return role == AttentionOperand::Lse || role == AttentionOperand::Stats ||
         role == AttentionOperand::Delta;
}

bool evoformer::isLengths(AttentionOperand role) {
  return role == AttentionOperand::KeyLengths ||
         role == AttentionOperand::QueryLengths;
}

bool evoformer::isStarts(AttentionOperand role) {
  return role == AttentionOperand::KeyStarts ||
         role == AttentionOperand::QueryStarts;
}

bool evoformer::isMost(AttentionOperand role) {
  return role == AttentionOperand::MostKeys ||
         role == AttentionOperand::MostQueries;
}

bool evoformer::isOfBound(AttentionOperand role) {
  return role == AttentionOperand::KeysFrom || role == AttentionOperand::KeysTo;
}

bool evoformer::isNumber(AttentionOperand role) {
  return isMost(role) || isOfBound(role);
}

bool evoformer::isSequence(AttentionOperand role) {
  return !isOfPairs(role) && !isStatistic(role) && !isLengths(role) &&
         !isStarts(role) && !isNumber(role) && !isRandomState(role);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

bool AttentionSizes::isStatic() const {
  return llvm::none_of(ArrayRef<int64_t>{batch, rows, queries, keys, heads,
                                         keyHeads, depth, valueDepth,
                                         allQueries, allKeys, starts},
                       ShapedType::isDynamic);
}

StringRef evoformer::stringifyAttentionSize(AttentionSize size) {
  static constexpr StringLiteral names[] = {"B",     "N", "Sq", "Sk", "H",
                                            "Hk",    "D", "Dv", "Tq", "Tk",
                                            "B + 1", "1", "2"};
  return names[static_cast<unsigned>(size)];
}

/// Whether operands with the role have the positions of keys.
static bool isOfKeys(AttentionOperand role) {
  return llvm::is_contained({AttentionOperand::Key, AttentionOperand::Value,
                             AttentionOperand::KeyGradient,
                             AttentionOperand::ValueGradient},
                            role);
}

AttentionSize evoformer::getAttentionSize(AttentionOperand operand, char letter,
                                          int64_t groupSize, bool isRagged) {
  bool ofKeys = isOfKeys(operand);
  bool ofLogits = operand == AttentionOperand::Query ||
                  operand == AttentionOperand::Key ||
                  operand == AttentionOperand::QueryGradient ||
                  operand == AttentionOperand::KeyGradient;
  bool isPacked = isRagged && (isSequence(operand) || isStatistic(operand));
  switch (letter) {
  case 'b':
    return isPacked ? AttentionSize::One : AttentionSize::B;
  case 'e':
    return AttentionSize::Starts;
  case 'n':
    return AttentionSize::N;
  case 'h':
    return ofKeys && groupSize != 1 ? AttentionSize::Hk : AttentionSize::H;
  case 'q':
    return isPacked ? AttentionSize::Tq : AttentionSize::Sq;
  case 'k':
    return AttentionSize::Sk;
  case '2':
    return AttentionSize::Two;
  case 's':
    if (isPacked)
      return ofKeys ? AttentionSize::Tk : AttentionSize::Tq;
    return ofKeys ? AttentionSize::Sk : AttentionSize::Sq;
  default:
    return ofLogits ? AttentionSize::D : AttentionSize::Dv;
  }
}

AttentionSizes family::getSizes(Operation *operation) {
  auto op = cast<Family>(operation);
  AttentionSizes sizes;
  for (AttentionSize size : kAllAttentionSizes)
    sizes[size] = ShapedType::kDynamic;
  bool hasValueDepth = false;
  for (OpOperand &operand : operation->getOpOperands()) {
    auto type = dyn_cast<ShapedType>(operand.get().getType());
    for (auto [dim, letter] : llvm::enumerate(op.getOperandLetters(operand))) {
      AttentionSize size = op.getOperandSize(operand, letter);
      hasValueDepth |= size == AttentionSize::Dv;
      if (size == AttentionSize::One || size == AttentionSize::Two ||
          type.isDynamicDim(dim) || op.isBroadcast(operand, dim))
        continue;
      sizes[size] = type.getDimSize(dim);
    }
    AttentionOperand role = op.getOperandRole(operand).first;
    if (!isMost(role))
      continue;
    if (std::optional<int64_t> most = getConstantIntValue(operand.get()))
      (role == AttentionOperand::MostKeys ? sizes.keys : sizes.queries) = *most;
  }
  // Weights alone have no values.
  if (!hasValueDepth)
    sizes.valueDepth = 0;
  if (!op.isRagged())
    sizes.allQueries = sizes.allKeys = sizes.starts = 0;
  else if (ShapedType::isStatic(sizes.starts))
    sizes.batch = sizes.starts - 1;
  if (ShapedType::isStatic(sizes.heads))
    sizes.keyHeads = sizes.heads / op.getGroupSizeOrOne();
  else if (ShapedType::isStatic(sizes.keyHeads))
    sizes.heads = sizes.keyHeads * op.getGroupSizeOrOne();
  return sizes;
}

/// A dimension of an operand that has a size; inputs first.
static std::optional<std::pair<Value, int64_t>> findSize(Family op,
                                                         AttentionSize size) {
  for (OpOperand &operand : op->getOpOperands()) {
    for (auto [dim, letter] : llvm::enumerate(op.getOperandLetters(operand)))
      if (op.getOperandSize(operand, letter) == size &&
          !op.isBroadcast(operand, dim))
        return std::make_pair(operand.get(), static_cast<int64_t>(dim));
  }
  return std::nullopt;
}

AttentionMixedSizes family::getMixedSizes(Operation *operation,
                                          OpBuilder &builder, Location loc) {
  auto op = cast<Family>(operation);
  AttentionSizes known = op.getSizes();
  AttentionMixedSizes sizes;
  for (AttentionSize size : kAllAttentionSizes) {
    if (ShapedType::isStatic(known[size])) {
      sizes[size] = builder.getIndexAttr(known[size]);
      continue;
    }
    auto source = findSize(op, size);
    if (!source)
      continue;
    auto [value, dim] = *source;
    sizes[size] = isa<RankedTensorType>(value.getType())
                      ? tensor::getMixedSize(builder, loc, value, dim)
                      : memref::getMixedSize(builder, loc, value, dim);
  }
  return sizes;
}

SmallVector<OpFoldResult>
family::getStatisticSizes(Operation *op, OpBuilder &builder, Location loc) {
  AttentionMixedSizes sizes = getMixedSizes(op, builder, loc);
  if (isRagged(op))
    return {builder.getIndexAttr(1), sizes.rows, sizes.heads, sizes.allQueries};
  return {sizes.batch, sizes.rows, sizes.heads, sizes.queries};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static std::pair<unsigned, unsigned> findGroup(Family op, OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  for (unsigned group = 0, e = op.getGroups().size(); group < e; ++group) {
    auto [first, length] = op.getGroupRange(group);
    if (number >= first && number < first + length)
      return {group, number - first};
  }
  llvm_unreachable("an operand of another op");
}

std::pair<AttentionOperand, unsigned>
family::getOperandRole(Operation *operation, OpOperand &operand) {
  auto op = cast<Family>(operation);
  auto [group, index] = findGroup(op, operand);
  return {op.getGroups()[group].role, index};
}

MutableArrayRef<OpOperand> family::getRoleOperands(Operation *operation,
                                                   AttentionOperand role) {
  auto op = cast<Family>(operation);
  for (auto [group, entry] : llvm::enumerate(op.getGroups())) {
    if (entry.role != role)
      continue;
    auto [first, length] = op.getGroupRange(group);
    return operation->getOpOperands().slice(first, length);
  }
  return {};
}

AttentionSize family::getOperandSize(Operation *operation, OpOperand &operand,
                                     char letter) {
  auto op = cast<Family>(operation);
  // Of no size of the attention.
  if (letter == 'k' && isTable(operation, operand))
    return AttentionSize::Two;
  return getAttentionSize(op.getOperandRole(operand).first, letter,
                          op.getGroupSizeOrOne(), op.isRagged());
}

StringRef family::getOperandLetters(Operation *operation, OpOperand &operand) {
  auto op = cast<Family>(operation);
  AttentionOperand role = op.getOperandRole(operand).first;
  if (role == AttentionOperand::Stats)
    return "2bnhq";
  if (isLengths(role))
    return "bn";
  if (isStarts(role))
    return "e";
  if (isNumber(role))
    return "";
  if (isRandomState(role))
    return "2";
  DimOrderAttr order = op.getOperandOrder(operand);
  return order ? order.getLetters() : StringRef("bnhq");
}

std::string family::getOperandName(Operation *operation, OpOperand &operand) {
  auto op = cast<Family>(operation);
  auto [group, index] = findGroup(op, operand);
  const AttentionGroup &entry = op.getGroups()[group];
  if (entry.arity == GroupArity::Any)
    return (entry.name + " #" + Twine(index)).str();
  return entry.name.str();
}

/// Whether all keys, values and gradients of these have a static 1 of a
/// dimension.
static bool haveOneOfKeys(Family op, char letter) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    if (!isOfKeys(op.getOperandRole(operand).first))
      return true;
    int64_t dim = op.getOperandOrder(operand).getPosition(letter);
    return cast<ShapedType>(operand.get().getType()).getDimSize(dim) == 1;
  });
}

bool family::isBroadcast(Operation *operation, OpOperand &operand,
                         int64_t dim) {
  auto op = cast<Family>(operation);
  AttentionOperand role = op.getOperandRole(operand).first;
  if (isOfKeys(role)) {
    char letter = op.getOperandLetters(operand)[dim];
    return (letter == 'b' || letter == 'n') && haveOneOfKeys(op, letter);
  }
  return (isBias(role) || isLengths(role)) &&
         cast<ShapedType>(operand.get().getType()).getDimSize(dim) == 1;
}

std::array<bool, 2> family::getSharedKeyDims(Operation *operation) {
  auto op = cast<Family>(operation);
  if (op.getRoleOperands(AttentionOperand::Key).empty())
    return {};
  AttentionSizes sizes = getSizes(operation);
  return {!op.isRagged() && sizes.batch != 1 && haveOneOfKeys(op, 'b'),
          sizes.rows != 1 && haveOneOfKeys(op, 'n')};
}

/// A bias, or behind all of them a capture.
static OpOperand &getBias(Operation *op, unsigned index) {
  auto biases = family::getRoleOperands(op, AttentionOperand::Bias);
  return index < biases.size()
             ? biases[index]
             : family::getRoleOperands(
                   op, AttentionOperand::Capture)[index - biases.size()];
}

bool family::isCapture(Operation *op, unsigned index) {
  return index >= family::getRoleOperands(op, AttentionOperand::Bias).size();
}

std::array<bool, 5> family::getBiasBroadcast(Operation *operation,
                                             unsigned index) {
  OpOperand &bias = getBias(operation, index);
  auto type = cast<ShapedType>(bias.get().getType());
  DimOrderAttr order = cast<Family>(operation).getOperandOrder(bias);
  std::array<bool, 5> broadcast;
  for (auto [dim, position] : llvm::enumerate(order.getPositions()))
    broadcast[dim] = type.getDimSize(position) == 1;
  return broadcast;
}

std::array<bool, 5> family::getSummedDims(Operation *op, unsigned index) {
  AttentionSizes sizes = getSizes(op);
  int64_t counts[] = {sizes.batch, sizes.rows, sizes.heads, sizes.queries,
                      sizes.keys};
  std::array<bool, 5> summed = getBiasBroadcast(op, index);
  for (auto [isSummed, count] : llvm::zip_equal(summed, counts))
    isSummed = isSummed && count != 1;
  // Of a table pairs of any query and key are added up.
  if (isCapture(op, index) &&
      getTableEntries(
          op, index - getRoleOperands(op, AttentionOperand::Bias).size()))
    summed[3] = summed[4] = true;
  return summed;
}

bool family::isLogitGradient(Operation *op, unsigned index) {
  return llvm::none_of(getSummedDims(op, index), [](bool is) { return is; });
}

bool family::isMask(Operation *op, unsigned index) {
  return getElementTypeOrSelf(getBias(op, index).get().getType()).isInteger(1);
}

Type family::getInputElementType(Operation *op) {
  auto query = getRoleOperands(op, AttentionOperand::Query);
  return query.empty() ? Type()
                       : getElementTypeOrSelf(query.front().get().getType());
}

int64_t family::getGroupSize(Operation *op) {
  auto groupSize = op->getAttrOfType<IntegerAttr>("group_size");
  return groupSize ? groupSize.getInt() : 1;
}

bool family::isRagged(Operation *op) {
  return !getRoleOperands(op, AttentionOperand::QueryStarts).empty();
}

/// The op has been verified.
static std::optional<KeyBound> getKeyBound(Operation *op,
                                           AttentionOperand role) {
  auto map = op->getAttrOfType<AffineMapAttr>(family::getBoundName(role));
  if (!map)
    return std::nullopt;
  auto emit = [&] { return op->emitOpError(); };
  FailureOr<KeyBound> bound = readKeyBound(
      map.getValue(), family::getRoleOperands(op, role).size(), emit);
  return succeeded(bound) ? std::optional(*bound) : std::nullopt;
}

KeyRange family::getKeyRange(Operation *op) {
  return {getKeyBound(op, AttentionOperand::KeysFrom),
          getKeyBound(op, AttentionOperand::KeysTo)};
}

KeyRange family::getNarrowKeyRange(Operation *op) {
  AttentionSizes sizes = getSizes(op);
  auto known = [&](int64_t size, AttentionOperand lengths) {
    bool isKnown = ShapedType::isStatic(size) && !isRagged(op) &&
                   getRoleOperands(op, lengths).empty();
    return isKnown ? std::optional(size) : std::nullopt;
  };
  return getKeyRange(op).simplified(
      known(sizes.queries, AttentionOperand::QueryLengths),
      known(sizes.keys, AttentionOperand::KeyLengths));
}

WeightsAttr family::getWeights(Operation *op) {
  return op->getAttrOfType<WeightsAttr>(kWeightsName);
}

int64_t family::getDropoutThreshold(Operation *op) {
  auto p = op->getAttrOfType<FloatAttr>(kDropoutName);
  if (!p)
    return 0;
  constexpr double kDraws = 0x1p16;
  return std::min<int64_t>(std::llround(p.getValueAsDouble() * kDraws),
                           static_cast<int64_t>(kDraws) - 1);
}

Block *family::getScoreBody(Operation *op) {
  if (op->getNumRegions() == 0 || op->getRegion(0).empty())
    return nullptr;
  return &op->getRegion(0).front();
}

int64_t family::getTableEntries(Operation *op, unsigned capture) {
  Block *body = getScoreBody(op);
  unsigned argument = kNumScoreArguments + capture;
  if (!body || argument >= body->getNumArguments())
    return 0;
  auto table = dyn_cast<VectorType>(body->getArgument(argument).getType());
  return table && table.getRank() == 1 ? table.getDimSize(0) : 0;
}

bool family::isTable(Operation *operation, OpOperand &operand) {
  auto op = cast<Family>(operation);
  auto [role, index] = op.getOperandRole(operand);
  if (role == AttentionOperand::Capture)
    return getTableEntries(op, index) != 0;
  auto biases = op->getAttrOfType<DenseI64ArrayAttr>("bias_gradients");
  if (role != AttentionOperand::BiasGradient || !biases ||
      index >= biases.size())
    return false;
  auto capture =
      biases.asArrayRef()[index] -
      static_cast<int64_t>(op.getRoleOperands(AttentionOperand::Bias).size());
  return capture >= 0 && getTableEntries(op, capture) != 0;
}

float family::getScaleValue(Operation *op) {
  if (auto scale = op->getAttrOfType<FloatAttr>("scale"))
    return scale.getValue().convertToFloat();
  return static_cast<float>(1.0 /
                            std::sqrt(static_cast<double>(getSizes(op).depth)));
}

//===----------------------------------------------------------------------===//
// Orders in one attribute
//===----------------------------------------------------------------------===//

/// How many operands before this one have an order, and the default order of
/// this one.
static std::pair<unsigned, DimOrderAttr> findOrder(Family op,
                                                   OpOperand &operand) {
  unsigned position = 0;
  for (OpOperand &other : op->getOpOperands()) {
    AttentionOperand role = op.getOperandRole(other).first;
    if (&other == &operand)
      return {position, !hasOrder(role) ? DimOrderAttr()
                        : isOfPairs(role)
                            ? DimOrderAttr::getBias(op->getContext())
                            : DimOrderAttr::getSequence(op->getContext())};
    position += hasOrder(role);
  }
  llvm_unreachable("an operand of another op");
}

DimOrderAttr family::getOrder(Operation *op, ArrayAttr orders,
                              OpOperand &operand) {
  auto [position, order] = findOrder(cast<Family>(op), operand);
  if (!order || orders.empty())
    return order;
  return cast<DimOrderAttr>(orders[position]);
}

ArrayAttr family::makeOrders(MLIRContext *context,
                             ArrayRef<DimOrderAttr> orders) {
  SmallVector<Attribute> kept;
  bool isDefault = true;
  for (DimOrderAttr order : orders) {
    if (!order)
      continue;
    kept.push_back(order);
    isDefault &= order.isIdentity();
  }
  return ArrayAttr::get(context, isDefault ? ArrayRef<Attribute>() : kept);
}

ArrayAttr family::withOrder(Operation *op, ArrayAttr orders, OpOperand &operand,
                            DimOrderAttr order) {
  SmallVector<DimOrderAttr> all;
  for (OpOperand &other : op->getOpOperands())
    all.push_back(&other == &operand ? order : getOrder(op, orders, other));
  return makeOrders(op->getContext(), all);
}

LogicalResult family::verifyNumOrders(Operation *operation, ArrayAttr orders) {
  auto op = cast<Family>(operation);
  auto expected =
      llvm::count_if(operation->getOpOperands(), [&](OpOperand &operand) {
        return hasOrder(op.getOperandRole(operand).first);
      });
  if (orders.empty() || static_cast<int64_t>(orders.size()) == expected)
    return success();
  return operation->emitOpError()
         << "operand_orders must be empty or have one order for each of the "
         << expected << " operands of rank 5, but has " << orders.size();
}

//===----------------------------------------------------------------------===//
// Other interfaces
//===----------------------------------------------------------------------===//

MutableOperandRange family::getInits(Operation *operation) {
  auto op = cast<Family>(operation);
  unsigned first = 0, end = operation->getNumOperands();
  for (auto [group, entry] : llvm::enumerate(op.getGroups())) {
    if (entry.isInit()) {
      first = op.getGroupRange(group).first;
      break;
    }
  }
  return MutableOperandRange(operation, first, end - first);
}

Speculation::Speculatability family::getSpeculatability(Operation *op) {
  // Dynamic sizes that disagree are undefined behaviour.
  bool isStatic = llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  });
  return isStatic &&
                 cast<DestinationStyleOpInterface>(op).hasPureTensorSemantics()
             ? Speculation::Speculatable
             : Speculation::NotSpeculatable;
}

void family::getEffects(
    Operation *operation,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  auto op = cast<Family>(operation);
  for (OpOperand &operand : operation->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    // What lies between sequences stays.
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, /*stage=*/1,
                           /*effectOnFullRegion=*/!op.isRagged(),
                           SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand, /*stage=*/0,
                           /*effectOnFullRegion=*/true,
                           SideEffects::DefaultResource::get());
  }
}

LogicalResult
family::reifyResultShapes(Operation *operation, OpBuilder &builder,
                          ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  auto op = cast<Family>(operation);
  for (OpResult result : operation->getResults()) {
    Value init = op.getTiedOpOperand(result)->get();
    reifiedReturnShapes.push_back(
        tensor::getMixedSizes(builder, op.getLoc(), init));
  }
  return success();
}

void family::setResultNames(Operation *op, ArrayRef<AttentionGroup> groups,
                            ArrayRef<int32_t> segments,
                            OpAsmSetValueNameFn setNameFn) {
  unsigned index = 0;
  for (auto [group, count] : llvm::zip(groups, segments))
    for (int32_t i = 0; group.isInit() && i < count; ++i)
      if (index < op->getNumResults())
        setNameFn(op->getResult(index++), group.result);
}
