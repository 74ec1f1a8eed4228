//===- KeyBoundMap.cpp - Bounds of keys as affine maps -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/KeyBoundMap.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer;

/// The symbols sq and sk, which come before those of operands.
static constexpr unsigned kNumSizes = 2;

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
  explicit TermCollector(unsigned numOperands) {
    bound.ofOperands.assign(numOperands, 0);
  }

  /// False where a term is none of a bound's.
  bool add(AffineExpr expr, int64_t factor) {
    if (std::optional<int64_t> constant = getConstant(expr))
      return addTo(bound.constant, *constant, factor);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return addTo(getFactor(symbol.getPosition()), 1, factor);
    if (isa<AffineDimExpr>(expr))
      return bound.addQuery(1, factor);
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
             factor % *right == 0 && bound.addQuery(*right, factor / *right);
    default:
      return false;
    }
  }

  KeyBound bound;

private:
  int64_t &getFactor(unsigned symbol) {
    if (symbol < kNumSizes)
      return symbol == 0 ? bound.ofQueries : bound.ofKeys;
    return bound.ofOperands[symbol - kNumSizes];
  }

  static bool addTo(int64_t &sum, int64_t value, int64_t factor) {
    int64_t product;
    return !llvm::MulOverflow(value, factor, product) &&
           !llvm::AddOverflow(sum, product, sum);
  }
};
} // namespace

FailureOr<KeyBound>
evoformer::readKeyBound(AffineMap map, unsigned numOperands,
                        function_ref<InFlightDiagnostic()> emitError) {
  if (map.getNumDims() != 1 || map.getNumSymbols() < kNumSizes ||
      map.getNumResults() != 1)
    return emitError() << "must be a map (i)[sq, sk] -> (..) of the query's "
                          "index and the numbers of queries and keys, but is "
                       << AffineMapAttr::get(map);
  if (map.getNumSymbols() != kNumSizes + numOperands)
    return emitError() << "must have as many operands as its map has symbols "
                          "behind sq and sk, "
                       << map.getNumSymbols() - kNumSizes << ", but has "
                       << numOperands << "; the map is "
                       << AffineMapAttr::get(map);
  TermCollector terms(numOperands);
  const char *fault = terms.add(map.getResult(0), 1)
                          ? terms.bound.findFault()
                          : "accepted are sums of i or (i floordiv c) * c, sq, "
                            "sk, operands and constants";
  if (fault)
    return emitError()
           << "must be a bound that does not fall with the query's index; "
           << fault << ", but the map is " << AffineMapAttr::get(map);
  return terms.bound;
}

AffineMap evoformer::makeKeyBoundMap(const KeyBound &bound,
                                     MLIRContext *context) {
  AffineExpr query = getAffineDimExpr(0, context);
  if (bound.granule != 1)
    query = query.floorDiv(bound.granule) * bound.granule;
  AffineExpr sum = query * bound.coefficient +
                   getAffineSymbolExpr(0, context) * bound.ofQueries +
                   getAffineSymbolExpr(1, context) * bound.ofKeys +
                   bound.constant;
  for (auto [number, factor] : llvm::enumerate(bound.ofOperands))
    sum = sum + getAffineSymbolExpr(kNumSizes + number, context) * factor;
  return AffineMap::get(1, kNumSizes + bound.ofOperands.size(), sum);
}
