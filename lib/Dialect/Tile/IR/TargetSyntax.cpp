//===- TargetSyntax.cpp - How a chip is written ---------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `<` key `=` value, ... `>` as `struct(params)` would have it, but for
// messages that name the keys: chips are files that people write.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {
struct Parameter {
  StringRef key;
  /// As messages write it.
  StringRef type;
  bool (*isValid)(Attribute value);
  bool isOptional = false;
};
} // namespace

static bool isString(Attribute value) { return isa<StringAttr>(value); }
static bool isNumber(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64);
}
static bool isArray(Attribute value) { return isa<ArrayAttr>(value); }
static bool isDictionary(Attribute value) { return isa<DictionaryAttr>(value); }

/// In the order in which they are written.
static const Parameter kParameters[] = {
    {"chip", "string", isString},
    {"triple", "string", isString},
    {"features", "string", isString},
    {"subgroup_size", "i64", isNumber},
    {"max_workgroup", "i64", isNumber},
    {"registers", "i64", isNumber},
    {"lds_bytes", "i64", isNumber},
    {"lds_banks", "i64", isNumber},
    {"matrix", "array", isArray},
    {"properties", "dictionary", isDictionary, /*isOptional=*/true},
    {"tuning", "dictionary", isDictionary, /*isOptional=*/true}};
static constexpr size_t kNumParameters = std::size(kParameters);

static ParseResult parseParameter(AsmParser &parser,
                                  MutableArrayRef<Attribute> values) {
  StringRef key;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&key))
    return failure();
  const auto *found = llvm::find_if(
      kParameters, [&](const Parameter &other) { return other.key == key; });
  if (found == std::end(kParameters)) {
    InFlightDiagnostic diag = parser.emitError(loc)
                              << "unknown key '" << key
                              << "' of a target; known are ";
    llvm::interleaveComma(kParameters, diag, [&](const Parameter &other) {
      diag << "'" << other.key << "' (" << other.type << ")";
    });
    return diag;
  }
  Attribute &value = values[found - kParameters];
  if (value)
    return parser.emitError(loc) << "key '" << key << "' of a target twice";
  if (parser.parseEqual())
    return failure();
  loc = parser.getCurrentLocation();
  if (parser.parseAttribute(value))
    return failure();
  if (!found->isValid(value))
    return parser.emitError(loc) << "key '" << key << "' of a target must be "
                                 << found->type << ", got " << value;
  return success();
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  std::array<Attribute, kNumParameters> values;
  auto parseOne = [&] { return parseParameter(parser, values); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseOne))
    return {};
  for (auto [parameter, value] : llvm::zip_equal(kParameters, values)) {
    if (value)
      continue;
    if (!parameter.isOptional) {
      parser.emitError(loc) << "a target without '" << parameter.key << "' ("
                            << parameter.type << ")";
      return {};
    }
    value = DictionaryAttr::get(parser.getContext());
  }
  auto text = [&](size_t at) {
    return cast<StringAttr>(values[at]).getValue();
  };
  auto number = [&](size_t at) {
    return cast<IntegerAttr>(values[at]).getInt();
  };
  return parser.getChecked<TargetAttr>(
      loc, parser.getContext(), text(0), text(1), text(2), number(3), number(4),
      number(5), number(6), number(7), cast<ArrayAttr>(values[8]),
      cast<DictionaryAttr>(values[9]), cast<DictionaryAttr>(values[10]));
}

void TargetAttr::print(AsmPrinter &printer) const {
  Builder builder(getContext());
  const Attribute values[] = {builder.getStringAttr(getChip()),
                              builder.getStringAttr(getTriple()),
                              builder.getStringAttr(getFeatures()),
                              builder.getI64IntegerAttr(getSubgroupSize()),
                              builder.getI64IntegerAttr(getMaxWorkgroup()),
                              builder.getI64IntegerAttr(getRegisters()),
                              builder.getI64IntegerAttr(getLdsBytes()),
                              builder.getI64IntegerAttr(getLdsBanks()),
                              getMatrix(),
                              getProperties(),
                              getTuning()};
  printer << "<";
  bool isFirst = true;
  for (auto [parameter, value] : llvm::zip_equal(kParameters, values)) {
    if (parameter.isOptional && cast<DictionaryAttr>(value).empty())
      continue;
    printer << (isFirst ? "" : ", ") << parameter.key << " = ";
    printer.printAttributeWithoutType(value);
    isFirst = false;
  }
  printer << ">";
}
