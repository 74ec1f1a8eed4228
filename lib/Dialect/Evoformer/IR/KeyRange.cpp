//===- KeyRange.cpp - The keys that a query sees --------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/KeyRange.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::evoformer;

//===----------------------------------------------------------------------===//
// Affine maps
//===----------------------------------------------------------------------===//

/// The constant of an expression, if it is one.
static std::optional<int64_t> getConstant(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

namespace {
/// Adds the terms of an expression up.
class TermCollector {
public:
  /// False where a term is none of a bound's.
  bool add(AffineExpr expr, int64_t factor) {
    if (std::optional<int64_t> constant = getConstant(expr))
      return addTo(bound.constant, *constant, factor);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return addTo(symbol.getPosition() == 0 ? bound.ofQueries : bound.ofKeys,
                   1, factor);
    if (isa<AffineDimExpr>(expr))
      return addQuery(1, factor);
    auto binary = cast<AffineBinaryOpExpr>(expr);
    AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
    std::optional<int64_t> right = getConstant(rhs);
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return add(lhs, factor) && add(rhs, factor);
    case AffineExprKind::Mul: {
      int64_t product;
      return right && !llvm::MulOverflow(factor, *right, product) &&
             add(lhs, product);
    }
    case AffineExprKind::FloorDiv:
      // (i floordiv c) * c: the factor is the divisor.
      return right && *right > 0 && isa<AffineDimExpr>(lhs) &&
             factor % *right == 0 && addQuery(*right, factor / *right);
    default:
      return false;
    }
  }

  KeyBound bound;

private:
  static bool addTo(int64_t &sum, int64_t value, int64_t factor) {
    int64_t product;
    return !llvm::MulOverflow(value, factor, product) &&
           !llvm::AddOverflow(sum, product, sum);
  }
  bool addQuery(int64_t granule, int64_t factor) {
    if (bound.coefficient != 0 && bound.granule != granule)
      return false;
    bound.granule = granule;
    return addTo(bound.coefficient, 1, factor);
  }
};
} // namespace

/// What a bound must keep to, or null.
static const char *findFault(const KeyBound &bound) {
  if (bound.coefficient < 0 || bound.coefficient > 1)
    return "the query's index must have the coefficient 0 or 1";
  if (bound.granule < 1 || bound.granule > KeyBound::kMaxConstant)
    return "the query's index must be divided by 1 to 2^30";
  if (std::abs(bound.ofQueries) > 1 || std::abs(bound.ofKeys) > 1)
    return "sq and sk must have the coefficient -1, 0 or 1";
  if (bound.constant > KeyBound::kMaxConstant ||
      bound.constant < -KeyBound::kMaxConstant)
    return "the constant must be from -2^30 to 2^30";
  return nullptr;
}

FailureOr<KeyBound>
KeyBound::get(AffineMap map, function_ref<InFlightDiagnostic()> emitError) {
  if (map.getNumDims() != 1 || map.getNumSymbols() != 2 ||
      map.getNumResults() != 1)
    return emitError() << "must be a map (i)[sq, sk] -> (..) of the query's "
                          "index and the numbers of queries and keys, but is "
                       << AffineMapAttr::get(map);
  TermCollector terms;
  const char *fault =
      terms.add(map.getResult(0), 1)
          ? findFault(terms.bound)
          : "must be a sum of i or (i floordiv c) * c, sq, sk and constants";
  if (fault)
    return emitError() << "must not fall with the query's index: " << fault
                       << ", but the map is " << AffineMapAttr::get(map);
  if (terms.bound.coefficient == 0)
    terms.bound.granule = 1;
  return terms.bound;
}

AffineMap KeyBound::getMap(MLIRContext *context) const {
  AffineExpr query = getAffineDimExpr(0, context);
  if (granule != 1)
    query = query.floorDiv(granule) * granule;
  AffineExpr sum = query * coefficient +
                   getAffineSymbolExpr(0, context) * ofQueries +
                   getAffineSymbolExpr(1, context) * ofKeys + constant;
  return AffineMap::get(1, 2, sum);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

llvm::Expected<KeyBound> KeyBound::parse(StringRef text) {
  KeyBound bound;
  auto fail = [&](const Twine &why) {
    return llvm::createStringError(
        "'" + text + "': " + why +
        "; accepted are sums of i or i/c*c, sq, sk and numbers, like "
        "i/32*32+sk-sq-48");
  };
  StringRef rest = text;
  if (rest.empty())
    return fail("a bound is empty");
  bool isFirst = true;
  while (!rest.empty()) {
    int64_t sign = 1;
    if (rest.consume_front("-"))
      sign = -1;
    else if (!rest.consume_front("+") && !isFirst)
      return fail("expected + or - before '" + rest + "'");
    isFirst = false;
    if (rest.consume_front("sq")) {
      bound.ofQueries += sign;
    } else if (rest.consume_front("sk")) {
      bound.ofKeys += sign;
    } else if (rest.consume_front("i")) {
      bound.coefficient += sign;
      int64_t again;
      if (rest.consume_front("/") &&
          (rest.consumeInteger(10, bound.granule) ||
           !rest.consume_front("*") || rest.consumeInteger(10, again) ||
           again != bound.granule))
        return fail("expected i/c*c with one number c");
    } else {
      int64_t number;
      if (rest.consumeInteger(10, number) || number < 0 ||
          number > kMaxConstant)
        return fail("expected a term at '" + rest + "'");
      bound.constant += sign * number;
    }
  }
  if (const char *fault = findFault(bound))
    return fail(fault);
  return bound;
}

std::string KeyBound::str() const {
  std::string text = "affine_map<(i)[sq, sk] -> (";
  llvm::raw_string_ostream os(text);
  if (coefficient && granule != 1)
    os << "(i floordiv " << granule << ") * " << granule << " + ";
  else if (coefficient)
    os << "i + ";
  os << "sq * " << ofQueries << " + sk * " << ofKeys << " + " << constant
     << ")>";
  return text;
}

std::string KeyRange::str() const {
  if (isWhole())
    return "";
  std::string text = "keys(";
  if (from)
    text += "from " + from->str();
  if (from && to)
    text += ", ";
  if (to)
    text += "to " + to->str();
  return text + ")";
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

int64_t KeyBound::at(int64_t query, int64_t numQueries, int64_t numKeys) const {
  return coefficient * (query / granule) * granule + ofQueries * numQueries +
         ofKeys * numKeys + constant;
}

KeyRange KeyRange::simplified(int64_t numQueries, int64_t numKeys) const {
  KeyRange result = *this;
  bool knowsQueries = ShapedType::isStatic(numQueries);
  bool knowsKeys = ShapedType::isStatic(numKeys);
  // Whether a bound's value for the last (or first) query follows from what is
  // known; `ofKeys` is what of sk is taken away first.
  auto isKnown = [&](const KeyBound &bound, int64_t ofKeys, bool ofLast) {
    return (knowsKeys || bound.ofKeys == ofKeys) &&
           (knowsQueries ||
            (bound.ofQueries == 0 && !(ofLast && bound.coefficient)));
  };
  if (from && isKnown(*from, 0, /*ofLast=*/true)) {
    int64_t last = knowsQueries ? std::max<int64_t>(numQueries - 1, 0) : 0;
    if (from->at(last, knowsQueries ? numQueries : 0,
                 knowsKeys ? numKeys : 0) <= 0)
      result.from = std::nullopt;
  }
  if (to && isKnown(*to, 1, /*ofLast=*/false)) {
    int64_t keys = knowsKeys ? numKeys : 0;
    if (to->at(0, knowsQueries ? numQueries : 0, keys) >= keys)
      result.to = std::nullopt;
  }
  return result;
}

double evoformer::countPairs(const KeyRange &range, int64_t numQueries,
                             int64_t numKeys) {
  double count = 0;
  for (int64_t query : llvm::seq<int64_t>(0, numQueries)) {
    int64_t from = 0, to = numKeys;
    if (range.from)
      from = std::max(from, range.from->at(query, numQueries, numKeys));
    if (range.to)
      to = std::min(to, range.to->at(query, numQueries, numKeys));
    count += static_cast<double>(std::max<int64_t>(to - from, 0));
  }
  return count;
}
