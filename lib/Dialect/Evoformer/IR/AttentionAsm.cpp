//===- AttentionAsm.cpp - Textual form of attentions ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   evoformer.attention
//       query(%q as bnhsd : type) key(%k : type) value(%v : type)
//       bias(%m : type) bias(%p as bnhkq : type) capture(%c : type)
//       gate(%g : type)
//       lengths(keys %j : type, queries %i : type)
//       ragged(queries %i : type, keys %j : type, most %p, %r)
//       dropout(0.1, %state : type)
//       outs(%out : type) lse(%lse : type) stats(%stats : type)
//       scale(0.25) group_size(4) keys(from #map[%a, %b], to #map)
//       weights(linear) score(%x: f32, %b: i32, ...) {...} {attributes}
//
// One clause an operand, in the order of the op's groups. A missing order is
// the default one. The results have the destinations' types, so that these are
// not repeated.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"

using namespace mlir;
using namespace mlir::evoformer;

static ParseResult parseOrder(OpAsmParser &parser, StringRef canonical,
                              DimOrderAttr &order) {
  order = DimOrderAttr::get(parser.getContext(), canonical);
  if (failed(parser.parseOptionalKeyword("as")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  StringRef letters;
  if (parser.parseKeyword(&letters))
    return failure();
  if (!DimOrderAttr::isPermutationOf(letters, canonical))
    return parser.emitError(loc) << "expected a permutation of '" << canonical
                                 << "', got '" << letters << "'";
  order = DimOrderAttr::get(parser.getContext(), letters);
  return success();
}

/// Parses `(%operand as order : type)`, without an order where there is none.
static ParseResult parseClause(OpAsmParser &parser, OperationState &state,
                               const AttentionGroup &group,
                               family::ParsedClauses &clauses) {
  OpAsmParser::UnresolvedOperand operand;
  DimOrderAttr order;
  Type type;
  if (group.role == AttentionOperand::BiasGradient) {
    if (parser.parseLSquare() ||
        parser.parseInteger(clauses.biasGradients.emplace_back()) ||
        parser.parseRSquare())
      return failure();
  }
  if (parser.parseLParen())
    return failure();
  if (group.role == AttentionOperand::Dropout &&
      (parser.parseAttribute(clauses.dropout,
                             parser.getBuilder().getF32Type()) ||
       parser.parseComma()))
    return failure();
  if (parser.parseOperand(operand))
    return failure();
  if (hasOrder(group.role) &&
      parseOrder(parser,
                 isOfPairs(group.role) ? DimOrderAttr::kBias
                                       : DimOrderAttr::kSequence,
                 order))
    return failure();
  if (parser.parseColonType(type) || parser.parseRParen() ||
      parser.resolveOperand(operand, type, state.operands))
    return failure();
  clauses.orders.push_back(order);
  if (group.isInit() && isa<TensorType>(type))
    state.addTypes(type);
  return success();
}

/// The clause that a group's operand is a part of, if it has none of its own.
static StringRef getSharedClause(const AttentionGroup &group) {
  if (isStarts(group.role) || isMost(group.role))
    return "ragged";
  return isLengths(group.role) ? "lengths" : "";
}

/// Parses `ragged(queries %i : type, keys %j : type, most %p, %r)`, all parts
/// that `groups` have, or `lengths(keys %j : type, queries %i : type)`, of
/// which one is enough; or nothing.
static ParseResult parseSharedClause(OpAsmParser &parser, OperationState &state,
                                     ArrayRef<AttentionGroup> groups,
                                     family::ParsedClauses &clauses) {
  StringRef clause = getSharedClause(groups.front());
  bool hasClause = succeeded(parser.parseOptionalKeyword(clause));
  if (hasClause && parser.parseLParen())
    return failure();
  bool isFirst = true;
  for (const AttentionGroup &group : groups) {
    int32_t &count = clauses.segments.emplace_back(0);
    if (!hasClause)
      continue;
    bool mayMiss =
        isLengths(group.role) && !(isFirst && &group == &groups.back());
    if (!isFirst && mayMiss && failed(parser.parseOptionalComma()))
      continue;
    if (!isFirst && !mayMiss && parser.parseComma())
      return failure();
    if (isFirst && mayMiss) {
      if (failed(parser.parseOptionalKeyword(group.clause)))
        continue;
    } else if (!group.clause.empty() && parser.parseKeyword(group.clause)) {
      return failure();
    }
    OpAsmParser::UnresolvedOperand operand;
    Type type = parser.getBuilder().getIndexType();
    if (parser.parseOperand(operand) ||
        (!isNumber(group.role) && parser.parseColonType(type)) ||
        parser.resolveOperand(operand, type, state.operands))
      return failure();
    count = 1;
    isFirst = false;
    clauses.orders.push_back({});
  }
  return hasClause ? parser.parseRParen() : success();
}

/// Behind the clauses of operands.
static constexpr StringLiteral kOtherClauses[] = {"scale", "group_size", "keys",
                                                  "weights", "score"};

/// The names of clauses in their order; a delta, which has no bounds of keys,
/// has those of operands only.
static SmallVector<StringRef> getClauses(ArrayRef<AttentionGroup> groups) {
  llvm::SmallSetVector<StringRef, 16> clauses;
  for (const AttentionGroup &group : groups)
    if (!isOfBound(group.role)) {
      StringRef shared = getSharedClause(group);
      clauses.insert(shared.empty() ? StringRef(group.clause) : shared);
    }
  if (llvm::any_of(groups, [](const AttentionGroup &group) {
        return isOfBound(group.role);
      }))
    clauses.insert_range(kOtherClauses);
  return clauses.takeVector();
}

static ParseResult failOrder(OpAsmParser &parser, SMLoc loc, const Twine &what,
                             ArrayRef<AttentionGroup> groups) {
  return parser.emitError(loc) << what << "; clauses come in the order "
                               << llvm::join(getClauses(groups), ", ");
}

/// Parses the attributes, behind which no clause comes.
static ParseResult parseEnd(OpAsmParser &parser, OperationState &state,
                            ArrayRef<AttentionGroup> groups) {
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  StringRef clause;
  if (succeeded(parser.parseOptionalKeyword(&clause, getClauses(groups))))
    return failOrder(parser, loc, "unexpected '" + clause + "'", groups);
  return success();
}

ParseResult family::parseClauses(OpAsmParser &parser, OperationState &state,
                                 ArrayRef<AttentionGroup> groups,
                                 ParsedClauses &clauses) {
  for (const auto *next = groups.begin(); next != groups.end(); ++next) {
    const AttentionGroup &group = *next;
    if (StringRef clause = getSharedClause(group); !clause.empty()) {
      const auto *end =
          std::find_if(next, groups.end(), [&](const auto &other) {
            return getSharedClause(other) != clause;
          });
      if (parseSharedClause(parser, state, {next, end}, clauses))
        return failure();
      next = end - 1;
      continue;
    }
    int32_t &count = clauses.segments.emplace_back(0);
    // Behind all clauses of operands, see parseKeyRange.
    if (isOfBound(group.role))
      continue;
    if (group.arity == GroupArity::One) {
      count = 1;
      SMLoc loc = parser.getCurrentLocation();
      if (failed(parser.parseOptionalKeyword(group.clause)))
        return failOrder(parser, loc,
                         "expected '" + StringRef(group.clause) + "'", groups);
      if (parseClause(parser, state, group, clauses))
        return failure();
      continue;
    }
    while ((group.arity == GroupArity::Any || count == 0) &&
           succeeded(parser.parseOptionalKeyword(group.clause))) {
      ++count;
      if (parseClause(parser, state, group, clauses))
        return failure();
    }
  }
  return success();
}

ParseResult family::parseScale(OpAsmParser &parser, FloatAttr &scale) {
  if (failed(parser.parseOptionalKeyword("scale")))
    return success();
  return failure(
      parser.parseLParen() ||
      parser.parseAttribute(scale, parser.getBuilder().getF32Type()) ||
      parser.parseRParen());
}

ParseResult family::parseGroupSize(OpAsmParser &parser,
                                   IntegerAttr &groupSize) {
  if (failed(parser.parseOptionalKeyword("group_size")))
    return success();
  return failure(
      parser.parseLParen() ||
      parser.parseAttribute(groupSize, parser.getBuilder().getI64Type()) ||
      parser.parseRParen());
}

/// Parses `#map[%a, %b]`; the operands become those of the group with `role`.
static ParseResult parseKeyBound(OpAsmParser &parser, OperationState &state,
                                 ArrayRef<AttentionGroup> groups,
                                 AttentionOperand role,
                                 family::ParsedClauses &clauses,
                                 AffineMapAttr &map) {
  SmallVector<OpAsmParser::UnresolvedOperand> names;
  SmallVector<Value> operands;
  if (parser.parseAttribute(map) ||
      parser.parseOperandList(names, OpAsmParser::Delimiter::OptionalSquare) ||
      parser.resolveOperands(names, parser.getBuilder().getIndexType(),
                             operands))
    return failure();
  int64_t first = 0;
  for (auto [group, count] : llvm::zip_equal(groups, clauses.segments)) {
    if (group.role == role) {
      count = static_cast<int32_t>(operands.size());
      state.operands.insert(state.operands.begin() + first, operands.begin(),
                            operands.end());
      break;
    }
    first += count;
  }
  return success();
}

ParseResult family::parseKeyRange(OpAsmParser &parser, OperationState &state,
                                  ArrayRef<AttentionGroup> groups,
                                  ParsedClauses &clauses, AffineMapAttr &from,
                                  AffineMapAttr &to) {
  if (failed(parser.parseOptionalKeyword("keys")))
    return success();
  if (parser.parseLParen())
    return failure();
  auto parseBound = [&](AttentionOperand role, AffineMapAttr &map) {
    return parseKeyBound(parser, state, groups, role, clauses, map);
  };
  if (succeeded(parser.parseOptionalKeyword("from"))) {
    if (parseBound(AttentionOperand::KeysFrom, from))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return parser.parseRParen();
  }
  return failure(parser.parseKeyword("to") ||
                 parseBound(AttentionOperand::KeysTo, to) ||
                 parser.parseRParen());
}

ParseResult family::parseWeights(OpAsmParser &parser, WeightsAttr &weights) {
  if (failed(parser.parseOptionalKeyword("weights")))
    return success();
  return failure(parser.parseLParen() ||
                 WeightsAttr::parseKind(parser, weights) ||
                 parser.parseRParen());
}

ParseResult family::parseScore(OpAsmParser &parser, OperationState &state) {
  if (failed(parser.parseOptionalKeyword("score")))
    return success();
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parser.parseArgumentList(arguments,
                                          OpAsmParser::Delimiter::Paren,
                                          /*allowType=*/true) ||
                 parser.parseRegion(*state.addRegion(), arguments,
                                    /*enableNameShadowing=*/true));
}

void family::printClauses(OpAsmPrinter &printer, Operation *operation,
                          ArrayRef<int64_t> biasGradients) {
  auto op = cast<AttentionFamilyOpInterface>(operation);
  StringRef open;
  auto close = [&] {
    if (!open.empty())
      printer << ")";
    open = "";
  };
  for (auto [number, group] : llvm::enumerate(op.getGroups())) {
    if (isOfBound(group.role))
      continue;
    auto [first, length] = op.getGroupRange(number);
    StringRef shared = getSharedClause(group);
    for (unsigned i = 0; i < length; ++i) {
      OpOperand &operand = operation->getOpOperand(first + i);
      if (!shared.empty() && shared == open) {
        printer << ", ";
      } else {
        close();
        printer.printNewline();
        printer << "    "
                << (shared.empty() ? StringRef(group.clause) : shared);
        if (group.role == AttentionOperand::BiasGradient)
          printer << "[" << biasGradients[i] << "]";
        printer << "(";
        open = shared;
      }
      if (!shared.empty() && !group.clause.empty())
        printer << group.clause << " ";
      if (auto p = operation->getAttrOfType<FloatAttr>(kDropoutName);
          p && group.role == AttentionOperand::Dropout) {
        printer.printAttributeWithoutType(p);
        printer << ", ";
      }
      printer << operand.get();
      DimOrderAttr order = op.getOperandOrder(operand);
      if (order && !order.isIdentity())
        printer << " as " << order.getLetters();
      if (!isNumber(group.role))
        printer << " : " << operand.get().getType();
      if (shared.empty())
        printer << ")";
    }
  }
  close();
}

void family::printScale(OpAsmPrinter &printer, FloatAttr scale) {
  if (!scale)
    return;
  printer.printNewline();
  printer << "    scale(";
  printer.printAttributeWithoutType(scale);
  printer << ")";
}

void family::printGroupSize(OpAsmPrinter &printer, uint64_t groupSize) {
  if (groupSize == 1)
    return;
  printer.printNewline();
  printer << "    group_size(" << groupSize << ")";
}

void family::printKeyRange(OpAsmPrinter &printer, Operation *op) {
  bool isFirst = true;
  for (auto [role, name] : {std::pair(AttentionOperand::KeysFrom, "from"),
                            std::pair(AttentionOperand::KeysTo, "to")}) {
    auto map = op->getAttrOfType<AffineMapAttr>(getBoundName(role));
    if (!map)
      continue;
    if (isFirst) {
      printer.printNewline();
      printer << "    keys(";
    } else {
      printer << ", ";
    }
    isFirst = false;
    printer << name << " " << map;
    MutableArrayRef<OpOperand> operands = getRoleOperands(op, role);
    if (operands.empty())
      continue;
    printer << "[";
    llvm::interleaveComma(operands, printer, [&](OpOperand &operand) {
      printer << operand.get();
    });
    printer << "]";
  }
  if (!isFirst)
    printer << ")";
}

void family::printWeights(OpAsmPrinter &printer, WeightsAttr weights) {
  if (!weights)
    return;
  printer.printNewline();
  printer << "    weights(";
  weights.printKind(printer);
  printer << ")";
}

void family::printScore(OpAsmPrinter &printer, Operation *op) {
  if (op->getNumRegions() == 0)
    return;
  Region &region = op->getRegion(0);
  printer.printNewline();
  printer << "    score(";
  llvm::interleaveComma(
      region.getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

ParseResult AttentionOp::parse(OpAsmParser &parser, OperationState &state) {
  Properties &properties = state.getOrAddProperties<Properties>();
  family::ParsedClauses clauses;
  if (family::parseClauses(parser, state, getGroups(), clauses) ||
      family::parseScale(parser, properties.scale) ||
      family::parseGroupSize(parser, properties.group_size) ||
      family::parseKeyRange(parser, state, getGroups(), clauses,
                            properties.keys_from, properties.keys_to) ||
      family::parseWeights(parser, properties.weights) ||
      family::parseScore(parser, state) || parseEnd(parser, state, getGroups()))
    return failure();
  llvm::copy(clauses.segments, properties.operandSegmentSizes.begin());
  properties.dropout_p = clauses.dropout;

  auto *next = clauses.orders.begin();
  auto count = [&](AttentionOperand role) {
    int32_t operands = 0;
    for (auto [group, segment] : llvm::zip(getGroups(), clauses.segments))
      operands += group.role == role ? segment : 0;
    return operands;
  };
  properties.query_order = *next++;
  properties.key_order = *next++;
  properties.value_order = *next++;
  ArrayRef<DimOrderAttr> biasOrders(next, count(AttentionOperand::Bias));
  next += biasOrders.size();
  properties.bias_orders = family::makeOrders(parser.getContext(), biasOrders);
  ArrayRef<DimOrderAttr> captureOrders(next, count(AttentionOperand::Capture));
  next += captureOrders.size();
  properties.capture_orders =
      family::makeOrders(parser.getContext(), captureOrders);
  properties.gate_order = count(AttentionOperand::Gate)
                              ? *next++
                              : DimOrderAttr::getSequence(parser.getContext());
  for (AttentionOperand role :
       {AttentionOperand::KeyLengths, AttentionOperand::QueryLengths,
        AttentionOperand::QueryStarts, AttentionOperand::KeyStarts,
        AttentionOperand::MostQueries, AttentionOperand::MostKeys,
        AttentionOperand::Dropout})
    next += count(role);
  properties.output_order = *next++;
  return success();
}

void AttentionOp::print(OpAsmPrinter &printer) {
  family::printClauses(printer, getOperation());
  family::printScale(printer, getScaleAttr());
  family::printGroupSize(printer, getGroupSize());
  family::printKeyRange(printer, getOperation());
  family::printWeights(printer, getWeightsAttr());
  family::printScore(printer, getOperation());
  printer.printOptionalAttrDict(
      llvm::to_vector((*this)->getDiscardableAttrs()));
}

//===----------------------------------------------------------------------===//
// Weights and gradients
//===----------------------------------------------------------------------===//

template <typename OpTy>
static constexpr bool hasBiasGradients =
    llvm::is_one_of<OpTy, AttentionBackwardOp, AttentionGradientOp>::value;

/// Those ops of the family with one attribute for all orders.
template <typename OpTy>
static ParseResult parseOrdersOp(OpAsmParser &parser, OperationState &state) {
  auto &properties = state.getOrAddProperties<typename OpTy::Properties>();
  family::ParsedClauses clauses;
  if (family::parseClauses(parser, state, OpTy::getGroups(), clauses))
    return failure();
  if constexpr (hasBiasGradients<OpTy>)
    properties.bias_gradients =
        parser.getBuilder().getDenseI64ArrayAttr(clauses.biasGradients);
  if constexpr (!std::is_same_v<OpTy, AttentionDeltaOp>) {
    properties.dropout_p = clauses.dropout;
    if (family::parseScale(parser, properties.scale) ||
        family::parseGroupSize(parser, properties.group_size) ||
        family::parseKeyRange(parser, state, OpTy::getGroups(), clauses,
                              properties.keys_from, properties.keys_to) ||
        family::parseWeights(parser, properties.weights) ||
        family::parseScore(parser, state))
      return failure();
  }
  properties.operand_orders =
      family::makeOrders(parser.getContext(), clauses.orders);
  llvm::copy(clauses.segments, properties.operandSegmentSizes.begin());
  return parseEnd(parser, state, OpTy::getGroups());
}

template <typename OpTy>
static void printOrdersOp(OpAsmPrinter &printer, OpTy op) {
  if constexpr (hasBiasGradients<OpTy>)
    family::printClauses(printer, op, op.getBiasGradients());
  else
    family::printClauses(printer, op);
  if constexpr (!std::is_same_v<OpTy, AttentionDeltaOp>) {
    family::printScale(printer, op.getScaleAttr());
    family::printGroupSize(printer, op.getGroupSize());
    family::printKeyRange(printer, op);
    family::printWeights(printer, op.getWeightsAttr());
    family::printScore(printer, op);
  }
  printer.printOptionalAttrDict(llvm::to_vector(op->getDiscardableAttrs()));
}

ParseResult AttentionBackwardOp::parse(OpAsmParser &parser,
                                       OperationState &state) {
  return parseOrdersOp<AttentionBackwardOp>(parser, state);
}
void AttentionBackwardOp::print(OpAsmPrinter &printer) {
  printOrdersOp(printer, *this);
}

ParseResult AttentionDeltaOp::parse(OpAsmParser &parser,
                                    OperationState &state) {
  return parseOrdersOp<AttentionDeltaOp>(parser, state);
}
void AttentionDeltaOp::print(OpAsmPrinter &printer) {
  printOrdersOp(printer, *this);
}

ParseResult AttentionGradientOp::parse(OpAsmParser &parser,
                                       OperationState &state) {
  return parseOrdersOp<AttentionGradientOp>(parser, state);
}
void AttentionGradientOp::print(OpAsmPrinter &printer) {
  printOrdersOp(printer, *this);
}

ParseResult AttentionWeightsOp::parse(OpAsmParser &parser,
                                      OperationState &state) {
  return parseOrdersOp<AttentionWeightsOp>(parser, state);
}
void AttentionWeightsOp::print(OpAsmPrinter &printer) {
  printOrdersOp(printer, *this);
}
