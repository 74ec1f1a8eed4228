//===- EvoformerDialect.cpp - The graph-level dialect ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Support/BytecodeVersion.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::evoformer;

#include "Evoformer/Dialect/Evoformer/IR/EvoformerDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Evoformer/Dialect/Evoformer/IR/EvoformerAttrs.cpp.inc"

void EvoformerDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Evoformer/Dialect/Evoformer/IR/EvoformerOps.cpp.inc"
      >();
  registerAttributes();
  addInterfaces<BytecodeVersionInterface>();
}

void EvoformerDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Evoformer/Dialect/Evoformer/IR/EvoformerAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// DimOrderAttr
//===----------------------------------------------------------------------===//

bool DimOrderAttr::isPermutationOf(StringRef letters, StringRef canonical) {
  return letters.size() == canonical.size() &&
         llvm::all_of(canonical,
                      [&](char letter) { return letters.contains(letter); });
}

LogicalResult DimOrderAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef letters) {
  if (isPermutationOf(letters, kSequence) || isPermutationOf(letters, kBias))
    return success();
  return emitError() << "'" << letters
                     << "' is no dimension order: expected a permutation of '"
                     << kSequence << "' (query, key, value, gate, output) or '"
                     << kBias << "' (bias)";
}

Attribute DimOrderAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  std::string letters;
  if (parser.parseLess() || parser.parseKeywordOrString(&letters) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    letters);
}

void DimOrderAttr::print(AsmPrinter &printer) const {
  printer << "<" << getLetters() << ">";
}

bool DimOrderAttr::isSequenceOrder() { return getLetters().contains('s'); }

SmallVector<int64_t, 5> DimOrderAttr::getPositions() {
  SmallVector<int64_t, 5> positions;
  for (char letter : getCanonicalLetters())
    positions.push_back(getPosition(letter));
  return positions;
}

SmallVector<int64_t, 5> DimOrderAttr::getPermutation() {
  SmallVector<int64_t, 5> permutation;
  StringRef canonical = getCanonicalLetters();
  for (char letter : getLetters())
    permutation.push_back(static_cast<int64_t>(canonical.find(letter)));
  return permutation;
}

DimOrderAttr DimOrderAttr::foldTranspose(ArrayRef<int64_t> permutation) {
  std::string letters(getLetters().size(), ' ');
  for (auto [dim, sourceDim] : llvm::enumerate(permutation))
    letters[sourceDim] = getLetters()[dim];
  return get(getContext(), letters);
}

//===----------------------------------------------------------------------===//
// WeightsAttr
//===----------------------------------------------------------------------===//

LogicalResult WeightsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  FloatAttr least) {
  if (!least || (least.getType().isF32() && least.getValue().isFinite() &&
                 least.getValueAsDouble() >= 0))
    return success();
  return emitError() << "retention divides by a finite f32 from 0 on at least, "
                        "not by "
                     << least;
}

ParseResult WeightsAttr::parseKind(AsmParser &parser, WeightsAttr &weights) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef kind;
  if (parser.parseKeyword(&kind))
    return failure();
  weights = {};
  if (kind == "softmax")
    return success();
  FloatAttr least;
  if (kind == "retention") {
    if (parser.parseLess() || parser.parseKeyword("min") ||
        parser.parseEqual() ||
        parser.parseAttribute(least, parser.getBuilder().getF32Type()) ||
        parser.parseGreater())
      return failure();
  } else if (kind != "linear") {
    return parser.emitError(loc)
           << "weights are 'softmax', 'linear' or 'retention<min = 1.0>', not '"
           << kind << "'";
  }
  weights = getChecked([&] { return parser.emitError(loc); },
                       parser.getContext(), least);
  return success(weights != nullptr);
}

void WeightsAttr::printKind(AsmPrinter &printer) {
  if (!getLeast()) {
    printer << "linear";
    return;
  }
  printer << "retention<min = ";
  printer.printAttributeWithoutType(getLeast());
  printer << ">";
}

Attribute WeightsAttr::parse(AsmParser &parser, Type) {
  WeightsAttr weights;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseKind(parser, weights) || parser.parseGreater())
    return {};
  if (!weights)
    parser.emitError(loc)
        << "softmax is what weights are without the attribute";
  return weights;
}

void WeightsAttr::print(AsmPrinter &printer) const {
  printer << "<";
  WeightsAttr(*this).printKind(printer);
  printer << ">";
}
