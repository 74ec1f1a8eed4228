//===- AttentionAsm.cpp - Textual form of an attention --------------------===//
//
//   evoformer.attention
//       query(%q as bnhsd : type) key(%k : type) value(%v : type)
//       bias(%m : type) bias(%p as bnhkq : type) gate(%g : type)
//       outs(%out : type) lse(%lse : type) stats(%stats : type)
//       scale(0.25) {attributes}
//
// A missing order is the default one. The results have the destinations'
// types, so that these are not repeated.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// One clause `name(%operand as order : type)`.
struct Clause {
  OpAsmParser::UnresolvedOperand operand;
  DimOrderAttr order;
  Type type;
};
} // namespace

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

/// Parses what follows a clause's name. A clause without an order of its own
/// (lse, stats) has no `canonical`.
static ParseResult parseClause(OpAsmParser &parser, StringRef canonical,
                               Clause &clause) {
  if (parser.parseLParen() || parser.parseOperand(clause.operand))
    return failure();
  if (!canonical.empty() && parseOrder(parser, canonical, clause.order))
    return failure();
  return failure(parser.parseColonType(clause.type) || parser.parseRParen());
}

ParseResult AttentionOp::parse(OpAsmParser &parser, OperationState &state) {
  Properties &properties = state.getOrAddProperties<Properties>();
  constexpr StringRef sequence = DimOrderAttr::kSequence;

  SmallVector<Clause> clauses;
  SmallVector<Type, 3> initTypes;
  // The segment sizes, in the order of the operands.
  std::array<int32_t, 8> segments = {};
  auto resolve = [&](AttentionOperand role, const Clause &clause) {
    ++segments[static_cast<unsigned>(role)];
    return parser.resolveOperand(clause.operand, clause.type, state.operands);
  };
  auto parseRequired = [&](StringRef name, AttentionOperand role,
                           DimOrderAttr &order) -> ParseResult {
    Clause clause;
    if (parser.parseKeyword(name) || parseClause(parser, sequence, clause) ||
        resolve(role, clause))
      return failure();
    order = clause.order;
    if (role == AttentionOperand::Output)
      initTypes.push_back(clause.type);
    return success();
  };
  auto parseOptionalInit = [&](StringRef name,
                               AttentionOperand role) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(name)))
      return success();
    Clause clause;
    if (parseClause(parser, "", clause) || resolve(role, clause))
      return failure();
    initTypes.push_back(clause.type);
    return success();
  };

  if (parseRequired("query", AttentionOperand::Query, properties.query_order) ||
      parseRequired("key", AttentionOperand::Key, properties.key_order) ||
      parseRequired("value", AttentionOperand::Value, properties.value_order))
    return failure();

  SmallVector<Attribute> biasOrders;
  while (succeeded(parser.parseOptionalKeyword("bias"))) {
    Clause clause;
    if (parseClause(parser, DimOrderAttr::kBias, clause) ||
        resolve(AttentionOperand::Bias, clause))
      return failure();
    biasOrders.push_back(clause.order);
  }
  bool defaultBiasOrders = llvm::all_of(biasOrders, [](Attribute order) {
    return cast<DimOrderAttr>(order).isIdentity();
  });
  properties.bias_orders = parser.getBuilder().getArrayAttr(
      defaultBiasOrders ? ArrayRef<Attribute>() : biasOrders);

  properties.gate_order = DimOrderAttr::getSequence(parser.getContext());
  if (succeeded(parser.parseOptionalKeyword("gate"))) {
    Clause clause;
    if (parseClause(parser, sequence, clause) ||
        resolve(AttentionOperand::Gate, clause))
      return failure();
    properties.gate_order = clause.order;
  }

  if (parseRequired("outs", AttentionOperand::Output,
                    properties.output_order) ||
      parseOptionalInit("lse", AttentionOperand::Lse) ||
      parseOptionalInit("stats", AttentionOperand::Stats))
    return failure();

  if (succeeded(parser.parseOptionalKeyword("scale"))) {
    if (parser.parseLParen() ||
        parser.parseAttribute(properties.scale,
                              parser.getBuilder().getF32Type()) ||
        parser.parseRParen())
      return failure();
  }
  if (parser.parseOptionalAttrDict(state.attributes))
    return failure();

  llvm::copy(segments, properties.operandSegmentSizes.begin());
  for (Type type : initTypes)
    if (isa<TensorType>(type))
      state.addTypes(type);
  return success();
}

static void printClause(OpAsmPrinter &printer, StringRef name, Value operand,
                        DimOrderAttr order = {}) {
  printer.printNewline();
  printer << "    " << name << "(" << operand;
  if (order && !order.isIdentity())
    printer << " as " << order.getLetters();
  printer << " : " << operand.getType() << ")";
}

void AttentionOp::print(OpAsmPrinter &printer) {
  printClause(printer, "query", getQuery(), getQueryOrder());
  printClause(printer, "key", getKey(), getKeyOrder());
  printClause(printer, "value", getValue(), getValueOrder());
  for (auto [bias, order] : llvm::zip_equal(getBiases(), getAllBiasOrders()))
    printClause(printer, "bias", bias, order);
  if (getGate())
    printClause(printer, "gate", getGate(), getGateOrder());
  printClause(printer, "outs", getOutput(), getOutputOrder());
  if (getLse())
    printClause(printer, "lse", getLse());
  if (getStats())
    printClause(printer, "stats", getStats());
  if (FloatAttr scale = getScaleAttr()) {
    printer.printNewline();
    printer << "    scale(";
    printer.printAttributeWithoutType(scale);
    printer << ")";
  }
  printer.printOptionalAttrDict(
      llvm::to_vector((*this)->getDiscardableAttrs()));
}
