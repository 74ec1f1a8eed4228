//===- Algebra.h - Products and sums -------------------------- -*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expressions as products of factors and sums of terms, in the arithmetic of
// real numbers: which conversions, orders and groupings a program wrote down
// makes no difference.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_ALGEBRA_H
#define EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_ALGEBRA_H

#include "Expression.h"

namespace mlir::evoformer::raising {

/// The types that intermediates of a computation were rounded to.
using Roundings = llvm::SmallSetVector<Type, 4>;

/// An i1 expression and the value of it that counts.
struct Condition {
  Expr *expr;
  bool when;
};

/// coefficient * product of factors / product of divisors, or 0 where any of
/// `zeroWhere` holds.
struct Product {
  double coefficient = 1;
  SmallVector<Expr *, 4> factors;
  SmallVector<Expr *, 4> divisors;
  SmallVector<Condition, 2> zeroWhere;
  Roundings roundings;
};

/// Fails where a coefficient is not finite.
FailureOr<Product> getProduct(ExpressionReader &reader, Expr *expr);

/// Takes multiplications by constants and exact conversions off a factor, as
/// far as the rest is still a tensor of the program; returns the rest.
Expr *takeConstants(ExpressionReader &reader, Expr *expr, double &coefficient,
                    Roundings &roundings);

/// Takes exact conversions off an expression.
Expr *takeExtensions(ExpressionReader &reader, Expr *expr);

struct Term {
  double coefficient;
  Expr *expr;
};

/// Sum of terms, or minus infinity where any of `dropWhere` holds.
struct Sum {
  SmallVector<Term, 4> terms;
  /// Those that the caller looks for.
  SmallVector<Term, 2> scores;
  SmallVector<Condition, 2> dropWhere;
  /// Places where a select puts a finite constant instead of a score.
  SmallVector<double, 1> finiteMasks;
  Roundings roundings;
};

struct SumOptions {
  /// Constants up to this that a select puts in place of a score stand for
  /// minus infinity.
  double dropBelow;
  /// Whether a reduction is a score.
  std::function<bool(Expr *)> isScore;
};

/// Terms without scores are kept whole where the program has a tensor of them,
/// unless their parts have fewer axes.
Sum getSum(ExpressionReader &reader, Expr *expr, const SumOptions &options);

} // namespace mlir::evoformer::raising

#endif // EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_ALGEBRA_H
