//===- Expression.h - What an element of a tensor is ---------- -*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scalar expression that a program on tensors computes for one element, as
// far as someone asks: an expression that reads a tensor is looked into only
// then. Whether a program is one linalg.generic or ten, of named ops or not,
// what remains is the same expression.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_EXPRESSION_H
#define EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_EXPRESSION_H

#include "Axes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <functional>
#include <memory>

namespace mlir::evoformer::raising {

enum class ExprKind {
  /// An element of the tensor `value` at `coordinates`.
  Read,
  Constant,
  /// The scalar `value`.
  Scalar,
  /// The index in `coordinates[0]`, of type index.
  Index,
  /// `operation`, or what `symbol` says, applied to `operands`.
  Apply,
  /// `reduction` of `body` over loops of `sizes`.
  Reduce,
};

/// What the recogniser computes with; everything else is Other.
enum class Symbol {
  Add,
  Sub,
  Mul,
  Div,
  Neg,
  Exp,
  Exp2,
  Pow,
  FloatCast,
  Select,
  CompareFloat,
  And,
  Or,
  Xor,
  Other
};

/// Whether every number of a float type is one of another.
bool isExact(Type narrow, Type wide);

enum class Reduction { Sum, Max, And, Or };

struct Expr {
  ExprKind kind;
  /// Of the scalar.
  Type type;
  Location loc;
  Value value = {};
  Coordinates coordinates = {};
  TypedAttr constant = {};
  /// Null in expressions that no op of the program spells out.
  Operation *operation = nullptr;
  Symbol symbol = Symbol::Other;
  SmallVector<Expr *, 3> operands = {};
  Reduction reduction = Reduction::Sum;
  SmallVector<int64_t, 2> sizes = {};
  /// The body where the loops' indices are these.
  std::function<Expr *(ArrayRef<Coordinate>)> body = {};
  /// Of a Read: what it has been found to be.
  std::optional<Expr *> expansion = std::nullopt;

  bool is(Symbol wanted) const {
    return kind == ExprKind::Apply && symbol == wanted;
  }
};

/// Makes expressions and owns them.
class ExpressionReader {
public:
  AxisSpace &getAxes() { return axes; }

  /// An element of a tensor, or of what it is a view or a copy of.
  Expr *read(Value tensor, Coordinates coordinates, Location loc);

  /// What a Read reads, if this computes it from other elements; any other
  /// expression itself. Never a Read but the given one.
  Expr *look(Expr *expr);

  /// `look` without conversions between float types.
  Expr *lookThroughCasts(Expr *expr);

  /// The types that these conversions round to.
  const llvm::SmallSetVector<Type, 4> &getRoundings() const {
    return roundings;
  }

  /// Applies `symbol` where no op of the program does.
  Expr *apply(Symbol symbol, ArrayRef<Expr *> operands);

  /// The axes that an expression may depend on; exact up to `depth` levels of
  /// elementwise computation.
  AxisSet getAxes(Expr *expr, unsigned depth = 8);

  /// The number that an expression always is.
  std::optional<double> getConstant(Expr *expr);

  /// Whether two expressions are the same computation up to conversions between
  /// float types. What is not seen to be the same is not.
  bool areSame(Expr *a, Expr *b);

  /// The exponent of a power of a constant and the base's logarithm.
  struct Power {
    Expr *exponent;
    double logarithm;
  };
  std::optional<Power> getPower(Expr *expr);

  /// Fresh loops for a reduction.
  SmallVector<Coordinate, 2> createLoops(Expr *reduce);

private:
  Expr *create(ExprKind kind, Type type, Location loc);
  Expr *expand(Expr *read);
  Expr *expandStructured(linalg::LinalgOp op, unsigned result, Expr *read);
  Expr *expandSoftmax(linalg::SoftmaxOp op, Expr *read);
  Expr *evaluateOutside(Value scalar);
  AxisSet collectAxes(Expr *expr, unsigned depth);
  TypedAttr getConstantAttr(Expr *expr, unsigned depth);
  bool areSame(Expr *a, Expr *b, unsigned depth, unsigned &budget);

  /// Names the sources that a Read of a view or copy goes through to.
  bool stepThroughView(Value &tensor, Coordinates &coordinates);
  bool stepThroughCopy(Value &tensor, Coordinates &coordinates);

  friend class StructuredBody;

  AxisSpace axes;
  llvm::SmallSetVector<Type, 4> roundings;
  std::vector<std::unique_ptr<Expr>> expressions;
};

} // namespace mlir::evoformer::raising

#endif // EVOFORMER_LIB_CONVERSION_LINALGTOEVOFORMER_EXPRESSION_H
