//===- Algebra.cpp - Products and sums ------------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Algebra.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::raising;

static constexpr unsigned kMaxDepth = 64;
/// How many parts of a product or a sum are looked at.
static constexpr unsigned kMaxParts = 1024;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static bool isZero(ExpressionReader &reader, Expr *expr) {
  std::optional<double> number = reader.getConstant(expr);
  return number && *number == 0;
}

static LogicalResult multiply(double &coefficient, double factor,
                              bool inverse) {
  coefficient = inverse ? coefficient / factor : coefficient * factor;
  return success(std::isfinite(coefficient) && coefficient != 0);
}

static LogicalResult collectProduct(ExpressionReader &reader, Expr *expr,
                                    bool inverse, unsigned depth,
                                    unsigned &budget, Product &product) {
  if (std::optional<double> number = reader.getConstant(expr))
    return multiply(product.coefficient, *number, inverse);
  Expr *seen = reader.look(expr);
  auto collect = [&](unsigned operand, bool isInverse) {
    return collectProduct(reader, seen->operands[operand], isInverse, depth - 1,
                          budget, product);
  };
  if (seen->kind == ExprKind::Apply && depth != 0 && budget != 0) {
    --budget;
    switch (seen->symbol) {
    case Symbol::FloatCast:
      product.roundings.insert(seen->type);
      return collect(0, inverse);
    case Symbol::Mul:
    case Symbol::Div:
      product.roundings.insert(seen->type);
      if (failed(collect(0, inverse)))
        return failure();
      return collect(1, seen->symbol == Symbol::Div ? !inverse : inverse);
    case Symbol::Neg:
      product.coefficient = -product.coefficient;
      return collect(0, inverse);
    case Symbol::Select:
      if (inverse)
        break;
      for (unsigned branch : {0, 1})
        if (isZero(reader, seen->operands[1 + branch])) {
          product.zeroWhere.push_back({seen->operands[0], branch == 0});
          return collect(2 - branch, inverse);
        }
      break;
    default:
      break;
    }
  }
  (inverse ? product.divisors : product.factors).push_back(expr);
  return success();
}

FailureOr<Product> raising::getProduct(ExpressionReader &reader, Expr *expr) {
  Product product;
  unsigned budget = kMaxParts;
  if (failed(collectProduct(reader, expr, /*inverse=*/false, kMaxDepth, budget,
                            product)))
    return failure();
  return product;
}

Expr *raising::takeExtensions(ExpressionReader &reader, Expr *expr) {
  for (unsigned step = 0; step < kMaxDepth; ++step) {
    Expr *seen = reader.look(expr);
    if (!seen->is(Symbol::FloatCast) ||
        !isExact(seen->operands[0]->type, seen->type))
      break;
    expr = seen->operands[0];
  }
  return expr;
}

Expr *raising::takeConstants(ExpressionReader &reader, Expr *expr,
                             double &coefficient, Roundings &roundings) {
  double factor = 1;
  Roundings passed;
  Expr *rest = expr;
  for (unsigned step = 0; step < kMaxDepth; ++step) {
    Expr *seen = reader.look(rest);
    Expr *next = nullptr;
    if (seen->is(Symbol::FloatCast) || seen->is(Symbol::Neg)) {
      next = seen->operands[0];
      if (seen->is(Symbol::Neg))
        factor = -factor;
    } else if (seen->is(Symbol::Mul) || seen->is(Symbol::Div)) {
      for (unsigned side : {0, 1}) {
        std::optional<double> number =
            reader.getConstant(seen->operands[1 - side]);
        if (!number || (seen->is(Symbol::Div) && side == 1))
          continue;
        if (failed(multiply(factor, *number, seen->is(Symbol::Div))))
          return expr;
        next = seen->operands[side];
        break;
      }
    }
    if (!next)
      break;
    passed.insert(seen->type);
    rest = next;
    // What lies between is dropped only if it rounds to no narrower type.
    if (llvm::all_of(passed,
                     [&](Type type) { return isExact(rest->type, type); })) {
      coefficient *= factor;
      factor = 1;
      for (Type type : passed)
        roundings.insert(type);
      passed.clear();
      expr = rest;
    }
  }
  return expr;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {
class SumCollector {
public:
  SumCollector(ExpressionReader &reader, const SumOptions &options)
      : reader(reader), options(options) {}

  Sum collect(Expr *expr, double coefficient, unsigned depth);

private:
  void collectInner(Expr *seen, double coefficient, unsigned depth, Sum &sum);
  void collectSelect(Expr *select, double coefficient, unsigned depth,
                     Sum &sum);
  bool isWorthSplitting(Expr *whole, const Sum &parts);

  ExpressionReader &reader;
  const SumOptions &options;
  unsigned budget = kMaxParts;
};
} // namespace

static void append(Sum &sum, const Sum &other) {
  llvm::append_range(sum.terms, other.terms);
  llvm::append_range(sum.scores, other.scores);
  llvm::append_range(sum.dropWhere, other.dropWhere);
  llvm::append_range(sum.finiteMasks, other.finiteMasks);
  for (Type type : other.roundings)
    sum.roundings.insert(type);
}

/// Whether each part depends on less than the whole tensor.
bool SumCollector::isWorthSplitting(Expr *whole, const Sum &parts) {
  if (!parts.scores.empty() || !parts.dropWhere.empty() ||
      !parts.finiteMasks.empty())
    return true;
  AxisSet all;
  reader.getAxes().insertAll(whole->coordinates, all);
  return llvm::all_of(parts.terms, [&](const Term &term) {
    return term.expr->kind != ExprKind::Reduce &&
           reader.getAxes(term.expr).size() < all.size();
  });
}

Sum SumCollector::collect(Expr *expr, double coefficient, unsigned depth) {
  Sum sum;
  Expr *seen = reader.look(expr);
  if (budget == 0)
    depth = 0;
  else
    --budget;
  if (depth != 0)
    collectInner(seen, coefficient, depth - 1, sum);
  bool isPart =
      depth != 0 && (seen->kind == ExprKind::Apply ||
                     (seen->kind == ExprKind::Reduce && !sum.scores.empty()));
  if (!isPart || (expr->kind == ExprKind::Read && seen != expr &&
                  !isWorthSplitting(expr, sum))) {
    sum = Sum();
    sum.terms.push_back({coefficient, expr});
  }
  return sum;
}

void SumCollector::collectInner(Expr *seen, double coefficient, unsigned depth,
                                Sum &sum) {
  auto add = [&](unsigned operand, double factor) {
    append(sum, collect(seen->operands[operand], factor, depth));
  };
  if (seen->kind == ExprKind::Reduce && options.isScore(seen)) {
    sum.scores.push_back({coefficient, seen});
    return;
  }
  if (seen->kind != ExprKind::Apply) {
    sum.terms.push_back({coefficient, seen});
    return;
  }
  switch (seen->symbol) {
  case Symbol::FloatCast:
    sum.roundings.insert(seen->type);
    return add(0, coefficient);
  case Symbol::Add:
  case Symbol::Sub:
    sum.roundings.insert(seen->type);
    add(0, coefficient);
    return add(1, seen->symbol == Symbol::Sub ? -coefficient : coefficient);
  case Symbol::Neg:
    return add(0, -coefficient);
  case Symbol::Mul:
  case Symbol::Div:
    for (unsigned side : {0, 1}) {
      std::optional<double> number =
          reader.getConstant(seen->operands[1 - side]);
      if (!number || (seen->is(Symbol::Div) && side == 1))
        continue;
      double factor =
          seen->is(Symbol::Div) ? coefficient / *number : coefficient * *number;
      if (!std::isfinite(factor) || factor == 0)
        break;
      sum.roundings.insert(seen->type);
      return add(side, factor);
    }
    break;
  case Symbol::Select:
    return collectSelect(seen, coefficient, depth, sum);
  default:
    break;
  }
  sum.terms.push_back({coefficient, seen});
}

void SumCollector::collectSelect(Expr *select, double coefficient,
                                 unsigned depth, Sum &sum) {
  for (unsigned branch : {0, 1}) {
    std::optional<double> number =
        reader.getConstant(select->operands[1 + branch]);
    if (!number)
      continue;
    Sum other = collect(select->operands[2 - branch], coefficient, depth);
    bool isInfinite = std::isinf(*number) && *number * coefficient < 0;
    bool standsForInfinity = !other.scores.empty() &&
                             *number <= options.dropBelow && coefficient > 0;
    if (isInfinite || standsForInfinity) {
      append(sum, other);
      sum.dropWhere.push_back({select->operands[0], branch == 0});
      return;
    }
    if (!other.scores.empty()) {
      append(sum, other);
      sum.finiteMasks.push_back(*number);
      return;
    }
  }
  sum.terms.push_back({coefficient, select});
}

Sum raising::getSum(ExpressionReader &reader, Expr *expr,
                    const SumOptions &options) {
  return SumCollector(reader, options).collect(expr, 1, kMaxDepth);
}
