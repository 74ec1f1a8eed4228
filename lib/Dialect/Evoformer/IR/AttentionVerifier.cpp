//===- AttentionVerifier.cpp - Rules of an attention ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every rule has its own message, which says what was given and what is
// accepted.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/IR/KeyBoundMap.h"

using namespace mlir;
using namespace mlir::evoformer;

/// Largest D and Dv.
static constexpr int64_t kMaxDepth = 256;

/// Most heads of queries that share one of keys and values.
static constexpr int64_t kMaxGroupSize = 1 << 16;

static ShapedType getShapedType(OpOperand &operand) {
  return cast<ShapedType>(operand.get().getType());
}

using Family = AttentionFamilyOpInterface;

//===----------------------------------------------------------------------===//
// Operand groups
//===----------------------------------------------------------------------===//

// The generated code trusts the sizes of groups of exactly one operand.
LogicalResult family::verifySegments(Operation *op,
                                     ArrayRef<AttentionGroup> groups,
                                     ArrayRef<int32_t> segments) {
  for (auto [number, group] : llvm::enumerate(groups)) {
    if (group.arity != GroupArity::One || segments[number] == 1)
      continue;
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "operand group #" << number << " (";
    llvm::interleaveComma(groups, diagnostic, [&](const AttentionGroup &entry) {
      diagnostic << entry.name;
    });
    return diagnostic << ") must have 1 operand, but has " << segments[number];
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tensors or memrefs
//===----------------------------------------------------------------------===//

static LogicalResult verifySemantics(Family op) {
  OpOperand &first = op->getOpOperand(0);
  bool onTensors = isa<RankedTensorType>(first.get().getType());
  for (OpOperand &operand : op->getOpOperands()) {
    if (isNumber(op.getOperandRole(operand).first))
      continue;
    if (isa<RankedTensorType>(operand.get().getType()) != onTensors)
      return op->emitOpError()
             << "operands must be all tensors or all memrefs, but "
             << op.getOperandName(first) << " is " << first.get().getType()
             << " and " << op.getOperandName(operand) << " is "
             << operand.get().getType();
    if (auto tensor = dyn_cast<RankedTensorType>(operand.get().getType()))
      if (tensor.getEncoding())
        return op->emitOpError()
               << op.getOperandName(operand)
               << " must be a tensor without encoding, but is " << tensor;
    if (auto memref = dyn_cast<MemRefType>(operand.get().getType()))
      if (memref.getMemorySpace())
        return op->emitOpError()
               << op.getOperandName(operand)
               << " must be in the default memory space, "
                  "that of the device's global memory, but is "
               << memref;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

static LogicalResult verifyOrders(Family op) {
  for (OpOperand &operand : op->getOpOperands()) {
    DimOrderAttr order = op.getOperandOrder(operand);
    bool wantsSequence = isSequence(op.getOperandRole(operand).first);
    if (order && order.isSequenceOrder() != wantsSequence)
      return op->emitOpError()
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

/// The operand whose type a gradient has, unless it is f32.
static Type getDifferentiatedType(Family op, AttentionOperand role,
                                  unsigned index) {
  if (role != AttentionOperand::GateGradient)
    return op.getInputElementType();
  return getElementTypeOrSelf(
      op.getRoleOperands(AttentionOperand::Gate).front().get().getType());
}

static LogicalResult verifyElementType(Family op, OpOperand &operand) {
  auto [role, index] = op.getOperandRole(operand);
  if (isNumber(role))
    return success();
  Type input = op.getInputElementType();
  Type given = getShapedType(operand).getElementType();
  auto emit = [&] {
    return op->emitOpError()
           << "element type of " << op.getOperandName(operand) << " must be ";
  };
  auto isFloat = [](Type type) {
    return type.isF16() || type.isBF16() || type.isF32();
  };
  if (isLengths(role) || isStarts(role))
    return given.isSignlessInteger(32)
               ? success()
               : LogicalResult(emit() << "i32, but is " << given);
  if (isRandomState(role))
    return given.isSignlessInteger(64)
               ? success()
               : LogicalResult(emit() << "i64, a seed and an offset, but is "
                                      << given);
  if (isStatistic(role))
    return given.isF32() ? success()
                         : LogicalResult(emit() << "f32, but is " << given);
  // Without a query there is no input type.
  if (!input || role == AttentionOperand::Query)
    return isFloat(given)
               ? success()
               : LogicalResult(emit() << "f16, bf16 or f32, but is " << given);
  switch (role) {
  case AttentionOperand::Key:
  case AttentionOperand::Value:
  case AttentionOperand::WeightedGradient:
    if (given == input)
      return success();
    return emit() << "that of query, " << input << ", but is " << given;
  case AttentionOperand::Bias:
    if (given == input || given.isF32() || given.isInteger(1))
      return success();
    return (input.isF32() ? emit() << "f32 or i1"
                          : emit() << input << ", f32 or i1")
           << ", but is " << given;
  case AttentionOperand::Capture: {
    bool isTable = family::isTable(op, operand);
    if (given == input || given.isF32() || (given.isInteger(32) && !isTable))
      return success();
    return (input.isF32() ? emit() << "f32"
                          : emit() << input << (isTable ? " or f32" : ", f32"))
           << (isTable ? "" : " or i32") << ", but is " << given;
  }
  case AttentionOperand::BiasGradient:
    // With its bias, see verifyBiasGradients.
    return success();
  default:
    break;
  }
  Type wanted = getDifferentiatedType(op, role, index);
  if (given == wanted || given.isF32())
    return success();
  return (wanted.isF32() ? emit() << "f32" : emit() << wanted << " or f32")
         << ", but is " << given;
}

//===----------------------------------------------------------------------===//
// Ranks and sizes
//===----------------------------------------------------------------------===//

static LogicalResult verifyRank(Family op, OpOperand &operand) {
  AttentionOperand role = op.getOperandRole(operand).first;
  if (isNumber(role))
    return success();
  StringRef letters = op.getOperandLetters(operand);
  int64_t rank = getShapedType(operand).getRank();
  if (isStarts(role) && rank != 1)
    return op->emitOpError()
           << op.getOperandName(operand)
           << " must have rank 1 (B + 1 cumulative lengths), but has rank "
           << rank;
  if (rank == static_cast<int64_t>(letters.size()))
    return success();
  return op->emitOpError() << op.getOperandName(operand) << " must have rank "
                           << letters.size() << " (dimensions " << letters
                           << "), but has rank " << rank;
}

static LogicalResult verifyPair(Family op, OpOperand &operand) {
  AttentionOperand role = op.getOperandRole(operand).first;
  if (role != AttentionOperand::Stats && !isRandomState(role))
    return success();
  int64_t size = getShapedType(operand).getDimSize(0);
  if (size == 2)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "dimension 0 of " << op.getOperandName(operand)
                        << " must be a static 2, "
                        << (isRandomState(role) ? "a seed and an offset"
                                                : "a maximum and a sum")
                        << ", but is ";
  if (ShapedType::isDynamic(size))
    return diagnostic << "dynamic";
  return diagnostic << size;
}

static LogicalResult verifyDepth(Family op, OpOperand &operand) {
  AttentionOperand role = op.getOperandRole(operand).first;
  if (!isSequence(role))
    return success();
  int64_t dim = op.getOperandOrder(operand).getPosition('d');
  int64_t size = getShapedType(operand).getDimSize(dim);
  if (size >= 1 && size <= kMaxDepth)
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError()
                                  << stringifyAttentionSize(
                                         op.getOperandSize(operand, 'd'))
                                  << " (dimension " << dim << " of "
                                  << op.getOperandName(operand)
                                  << ") must be static and from 1 to "
                                  << kMaxDepth << ", but is ";
  if (ShapedType::isDynamic(size))
    return diagnostic << "dynamic";
  return diagnostic << size;
}

/// The rules of sequences that lie one behind the other.
static LogicalResult verifyRagged(Family op) {
  using Role = AttentionOperand;
  SmallVector<StringRef> given, missing;
  for (const AttentionGroup &group : op.getGroups())
    if (isStarts(group.role) || isMost(group.role))
      (op.getRoleOperands(group.role).empty() ? missing : given)
          .push_back(group.name);
  if (given.empty())
    return success();
  if (!missing.empty())
    return op->emitOpError()
           << "ragged has " << given.front() << ", but no " << missing.front();
  for (Role role : {Role::KeyLengths, Role::QueryLengths})
    for (OpOperand &operand : op.getRoleOperands(role))
      return op->emitOpError()
             << "ragged sequences are as long as their cumulative lengths say; "
                "there must not be "
             << op.getOperandName(operand);
  for (Role role : {Role::MostQueries, Role::MostKeys})
    for (OpOperand &operand : op.getRoleOperands(role))
      if (std::optional<int64_t> most = getConstantIntValue(operand.get());
          most && *most < 0)
        return op->emitOpError() << op.getOperandName(operand)
                                 << " must be at least 0, but is " << *most;
  for (Role role : {Role::QueryStarts, Role::KeyStarts})
    for (OpOperand &operand : op.getRoleOperands(role))
      if (getShapedType(operand).getDimSize(0) == 0)
        return op->emitOpError()
               << op.getOperandName(operand)
               << " must have B + 1 numbers, at least 1, but has none";
  for (OpOperand &operand : op->getOpOperands()) {
    for (auto [dim, letter] : llvm::enumerate(op.getOperandLetters(operand))) {
      if (op.getOperandSize(operand, letter) != AttentionSize::One)
        continue;
      int64_t size = getShapedType(operand).getDimSize(dim);
      if (size == 1)
        continue;
      InFlightDiagnostic diagnostic =
          op->emitOpError()
          << "ragged sequences lie one behind the other in one b: dimension "
          << dim << " of " << op.getOperandName(operand)
          << " must be a static 1, but is ";
      if (ShapedType::isDynamic(size))
        return diagnostic << "dynamic";
      return diagnostic << size;
    }
  }
  return success();
}

/// What else two operands that differ in a size may have.
static StringRef getAccepted(Family op, OpOperand &first, OpOperand &second,
                             char letter) {
  AttentionOperand role = op.getOperandRole(second).first;
  if (isBias(role))
    return "; a bias must match or have a static 1";
  if (isLengths(role))
    return "; lengths must match or have a static 1";
  auto isOfKeys = [&](OpOperand &operand) {
    return llvm::is_contained({AttentionOperand::Key, AttentionOperand::Value,
                               AttentionOperand::KeyGradient,
                               AttentionOperand::ValueGradient},
                              op.getOperandRole(operand).first);
  };
  if ((letter == 'b' || letter == 'n') && (isOfKeys(first) || isOfKeys(second)))
    return "; key and value must match or have a static 1 alike, and so must "
           "their gradients";
  if (letter == 'h' && isOfKeys(first) != isOfKeys(second))
    return "; heads that share keys need group_size(...)";
  return "";
}

static LogicalResult verifySizes(Family op) {
  // The operand that told a size first, null if none did.
  std::array<OpOperand *, kAllAttentionSizes.size()> source = {};
  std::array<int64_t, kAllAttentionSizes.size()> known = {};
  if (op.isRagged()) {
    // Before biases, which are of these sizes.
    auto tell = [&](AttentionSize size, AttentionOperand role, int64_t value) {
      MutableArrayRef<OpOperand> operands = op.getRoleOperands(role);
      if (operands.empty() || ShapedType::isDynamic(value))
        return;
      source[static_cast<unsigned>(size)] = &operands.front();
      known[static_cast<unsigned>(size)] = value;
    };
    AttentionSizes sizes = op.getSizes();
    for (auto [size, role] :
         {std::pair(AttentionSize::Sq, AttentionOperand::MostQueries),
          std::pair(AttentionSize::Sk, AttentionOperand::MostKeys)})
      for (OpOperand &most : op.getRoleOperands(role))
        tell(size, role,
             getConstantIntValue(most.get()).value_or(ShapedType::kDynamic));
    if (ShapedType::isStatic(sizes.starts))
      tell(AttentionSize::B, AttentionOperand::QueryStarts, sizes.starts - 1);
  }
  for (OpOperand &operand : op->getOpOperands()) {
    for (auto [dim, letter] : llvm::enumerate(op.getOperandLetters(operand))) {
      int64_t size = getShapedType(operand).getDimSize(dim);
      if (ShapedType::isDynamic(size) || op.isBroadcast(operand, dim))
        continue;
      AttentionSize name = op.getOperandSize(operand, letter);
      if (name == AttentionSize::One || name == AttentionSize::Two)
        continue;
      auto index = static_cast<unsigned>(name);
      if (!source[index]) {
        source[index] = &operand;
        known[index] = size;
        continue;
      }
      if (known[index] != size)
        return op->emitOpError()
               << stringifyAttentionSize(name) << " is " << known[index]
               << " in " << op.getOperandName(*source[index]) << ", but "
               << size << " in " << op.getOperandName(operand) << " (dimension "
               << dim << ")"
               << getAccepted(op, *source[index], operand, letter);
    }
  }
  auto heads = static_cast<unsigned>(AttentionSize::H);
  auto keyHeads = static_cast<unsigned>(AttentionSize::Hk);
  int64_t groupSize = op.getGroupSizeOrOne();
  if (!source[heads] || !source[keyHeads] ||
      known[heads] == known[keyHeads] * groupSize)
    return success();
  return op->emitOpError() << "H must be Hk times group_size, but H is "
                           << known[heads] << " in "
                           << op.getOperandName(*source[heads]) << ", Hk is "
                           << known[keyHeads] << " in "
                           << op.getOperandName(*source[keyHeads])
                           << " and group_size is " << groupSize;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static LogicalResult verifyStrides(Family op, OpOperand &operand) {
  auto memref = dyn_cast<MemRefType>(operand.get().getType());
  if (!memref)
    return success();
  SmallVector<int64_t> strides;
  int64_t offset;
  // The operands' constraint admits strided memrefs only.
  (void)memref.getStridesAndOffset(strides, offset);
  if (!op.isDpsInit(&operand)) {
    if (!isSequence(op.getOperandRole(operand).first))
      return success();
    int64_t dim = op.getOperandOrder(operand).getPosition('d');
    int64_t stride = strides[dim];
    if (ShapedType::isStatic(stride) && stride != 1 &&
        memref.getDimSize(dim) != 1)
      return op->emitOpError()
             << "stride of dimension d of " << op.getOperandName(operand)
             << " must be 1, but is " << stride << " (dimension " << dim
             << " of " << memref << ")";
    return success();
  }
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    int64_t size = memref.getDimSize(dim);
    if (stride == 0 && size != 0 && size != 1)
      return op->emitOpError()
             << op.getOperandName(operand)
             << " is written, so that its strides must not be 0 (dimension "
             << dim << " of " << memref << ")";
  }
  return success();
}

static LogicalResult verifyAliasing(Family op) {
  if (op.hasPureTensorSemantics())
    return success();
  for (OpOperand &init : op.getDpsInitsMutable())
    for (OpOperand &other : op->getOpOperands())
      if (&init != &other && init.get() == other.get())
        return op->emitOpError()
               << op.getOperandName(init) << " must not alias "
               << op.getOperandName(other) << ", but both are the same memref";
  return success();
}

/// `role`: of the operands of a bound of keys, `clause` how the textual form
/// calls it.
static LogicalResult verifyKeyBound(Family op, AttentionOperand role,
                                    StringRef clause) {
  auto map = op->getAttrOfType<AffineMapAttr>(family::getBoundName(role));
  size_t numOperands = op.getRoleOperands(role).size();
  auto emit = [&] { return op->emitOpError() << "keys(" << clause << ") "; };
  if (!map && numOperands != 0)
    return emit() << "has operands, but no map";
  if (!map)
    return success();
  return failure(failed(readKeyBound(map.getValue(), numOperands, emit)));
}

/// The probability is one that leaves some weight, and stands beside its state.
static LogicalResult verifyDropout(Family op) {
  auto p = op->getAttrOfType<FloatAttr>(family::kDropoutName);
  bool hasState = !op.getRoleOperands(AttentionOperand::Dropout).empty();
  if (hasState != (p != nullptr))
    return op->emitOpError()
           << "dropout has both a probability and a state of random numbers, "
              "but there is no "
           << (hasState ? "probability" : "state");
  if (!p)
    return success();
  double value = p.getValueAsDouble();
  if (value >= 0 && value < 1)
    return success();
  return op->emitOpError() << "the probability of dropout must be from 0 to "
                              "before 1, but is "
                           << p;
}

/// What makes weights of logits in another way than softmax knows no sum of
/// exponentials, and numbers that are added to a score stand in its region.
static LogicalResult verifyWeights(Family op) {
  if (!family::getWeights(op))
    return success();
  if (!op.getRoleOperands(AttentionOperand::Lse).empty())
    return op->emitOpError()
           << "lse is the logarithm of a sum of exponentials, "
              "but weights are not softmax: stats has what "
              "rows are divided by";
  for (auto [index, bias] :
       llvm::enumerate(op.getRoleOperands(AttentionOperand::Bias)))
    if (!op.isMask(index))
      return op->emitOpError()
             << op.getOperandName(bias)
             << " must be a mask of i1 where weights "
             << "are not softmax, but has elements of type "
             << getElementTypeOrSelf(bias.get().getType())
             << ": what is added to a score stands in its region";
  return success();
}

/// Tables have entries in the place of keys, for heads and batches.
static LogicalResult verifyTables(Family op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!family::isTable(op, operand))
      continue;
    auto [role, index] = op.getOperandRole(operand);
    unsigned capture =
        role == AttentionOperand::Capture
            ? index
            : op->getAttrOfType<DenseI64ArrayAttr>("bias_gradients")[index] -
                  op.getRoleOperands(AttentionOperand::Bias).size();
    int64_t entries = family::getTableEntries(op, capture);
    DimOrderAttr order = op.getOperandOrder(operand);
    ShapedType type = getShapedType(operand);
    auto sizeOf = [&](char letter) {
      return type.getDimSize(order.getPosition(letter));
    };
    if (sizeOf('n') != 1 || sizeOf('q') != 1 || sizeOf('k') != entries)
      return op->emitOpError()
             << op.getOperandName(operand) << " is a table of " << entries
             << " entries, as the score has it, and must have static sizes of "
                "1 "
                "of n and q and "
             << entries << " of k, but is " << type;
  }
  return success();
}

LogicalResult family::verifyFamily(Operation *operation) {
  auto op = cast<Family>(operation);
  int64_t groupSize = op.getGroupSizeOrOne();
  if (groupSize < 1 || groupSize > kMaxGroupSize)
    return op->emitOpError() << "group_size must be from 1 to " << kMaxGroupSize
                             << ", but is " << groupSize;
  if (failed(verifySemantics(op)) || failed(verifyOrders(op)))
    return failure();
  for (OpOperand &operand : op->getOpOperands())
    if (failed(verifyElementType(op, operand)) ||
        failed(verifyRank(op, operand)))
      return failure();
  for (OpOperand &operand : op->getOpOperands())
    if (failed(verifyPair(op, operand)) || failed(verifyDepth(op, operand)))
      return failure();
  if (failed(verifyTables(op)) || failed(verifyRagged(op)) ||
      failed(verifySizes(op)))
    return failure();
  for (OpOperand &operand : op->getOpOperands())
    if (failed(verifyStrides(op, operand)))
      return failure();
  if (failed(verifyAliasing(op)))
    return failure();
  if (failed(verifyKeyBound(op, AttentionOperand::KeysFrom, "from")) ||
      failed(verifyKeyBound(op, AttentionOperand::KeysTo, "to")))
    return failure();
  if (failed(verifyDropout(op)) || failed(verifyWeights(op)))
    return failure();
  auto scale = op->getAttrOfType<FloatAttr>("scale");
  if (scale && !scale.getValue().isFinite())
    return op->emitOpError() << "scale must be finite, but is " << scale;
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(family::verifySegments(*this, getGroups(),
                                    getProperties().operandSegmentSizes)))
    return failure();
  size_t numOrders = getBiasOrders().size();
  size_t numBiases = getBiases().size();
  if (numOrders != 0 && numOrders != numBiases)
    return emitOpError() << "bias_orders must be empty or have one order "
                            "for each of the "
                         << numBiases << " biases, but has " << numOrders;
  numOrders = getCaptureOrders().size();
  if (numOrders != 0 && numOrders != getCaptures().size())
    return emitOpError() << "capture_orders must be empty or have one order "
                            "for each of the "
                         << getCaptures().size() << " captures, but has "
                         << numOrders;
  if (!getGate() && !getGateOrder().isIdentity())
    return emitOpError() << "gate_order is '" << getGateOrder().getLetters()
                         << "', but there is no gate";
  return family::verifyFamily(*this);
}
