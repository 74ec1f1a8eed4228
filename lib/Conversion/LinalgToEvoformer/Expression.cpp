//===- Expression.cpp - What an element of a tensor is --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expression.h"

#include "StructuredBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::raising;

/// What a program may ask of one attempt: beyond it tensors are not looked
/// into.
static constexpr size_t kMaxExpressions = 1 << 16;
/// How many views, copies and conversions are looked through at a time.
static constexpr unsigned kMaxSteps = 256;
/// How deep constants and equal computations are followed.
static constexpr unsigned kMaxDepth = 64;

bool raising::isExact(Type narrow, Type wide) {
  auto isWide = [](Type type) { return type.isF32() || type.isF64(); };
  return narrow == wide ||
         ((narrow.isF16() || narrow.isBF16()) && isWide(wide)) ||
         (narrow.isF32() && wide.isF64());
}

Expr *ExpressionReader::create(ExprKind kind, Type type, Location loc) {
  expressions.push_back(std::make_unique<Expr>(Expr{kind, type, loc}));
  return expressions.back().get();
}

Expr *ExpressionReader::apply(Symbol symbol, ArrayRef<Expr *> operands) {
  Expr *first = operands.front();
  Expr *expr = create(ExprKind::Apply, first->type, first->loc);
  expr->symbol = symbol;
  expr->operands.assign(operands.begin(), operands.end());
  return expr;
}

SmallVector<Coordinate, 2> ExpressionReader::createLoops(Expr *reduce) {
  return llvm::map_to_vector<2>(
      reduce->sizes, [&](int64_t size) { return axes.createLoop(size); });
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Views: the same elements under other indices.
bool ExpressionReader::stepThroughView(Value &tensor,
                                       Coordinates &coordinates) {
  if (auto cast = tensor.getDefiningOp<tensor::CastOp>()) {
    if (!isa<RankedTensorType>(cast.getSource().getType()))
      return false;
    tensor = cast.getSource();
    return true;
  }
  if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>()) {
    Coordinates source;
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      Coordinate joined;
      for (int64_t dim : group)
        llvm::append_range(joined, coordinates[dim]);
      source.push_back(joined);
    }
    tensor = expand.getSrc();
    coordinates = source;
    return true;
  }
  if (auto collapse = tensor.getDefiningOp<tensor::CollapseShapeOp>()) {
    RankedTensorType type = collapse.getSrcType();
    Coordinates source(type.getRank());
    for (auto [dim, group] :
         llvm::enumerate(collapse.getReassociationIndices())) {
      auto sizes = llvm::map_to_vector(
          group, [&](int64_t from) { return type.getDimSize(from); });
      FailureOr<Coordinates> parts = axes.partition(coordinates[dim], sizes);
      if (failed(parts))
        return false;
      for (auto [from, part] : llvm::zip_equal(group, *parts))
        source[from] = part;
    }
    tensor = collapse.getSrc();
    coordinates = source;
    return true;
  }
  return false;
}

/// Structured ops that move elements and compute nothing: transposes,
/// broadcasts, copies.
bool ExpressionReader::stepThroughCopy(Value &tensor,
                                       Coordinates &coordinates) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.hasPureTensorSemantics())
    return false;
  StructuredBody body(*this, op, cast<OpResult>(tensor).getResultNumber());
  OpOperand *copied = body.getCopiedOperand();
  if (!copied || !isa<RankedTensorType>(copied->get().getType()) ||
      failed(body.setResultCoordinates(coordinates)) ||
      body.hasReductionLoops())
    return false;
  std::optional<Coordinates> source = body.getOperandCoordinates(*copied);
  if (!source)
    return false;
  tensor = copied->get();
  coordinates = *source;
  return true;
}

Expr *ExpressionReader::read(Value tensor, Coordinates coordinates,
                             Location loc) {
  auto type = cast<RankedTensorType>(tensor.getType());
  // The only index of a dimension of size 1 depends on nothing.
  auto normalise = [&] {
    for (auto [coordinate, size] : llvm::zip_equal(
             coordinates, cast<RankedTensorType>(tensor.getType()).getShape()))
      if (size == 1)
        coordinate.clear();
      else
        axes.learnSize(coordinate, size);
  };
  normalise();
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    if (!stepThroughView(tensor, coordinates) &&
        !stepThroughCopy(tensor, coordinates))
      break;
    normalise();
  }
  Expr *expr = create(ExprKind::Read, type.getElementType(), loc);
  expr->value = tensor;
  expr->coordinates = coordinates;
  return expr;
}

Expr *ExpressionReader::look(Expr *expr) {
  if (expr->kind != ExprKind::Read)
    return expr;
  if (!expr->expansion)
    expr->expansion =
        expressions.size() < kMaxExpressions ? expand(expr) : nullptr;
  return *expr->expansion ? *expr->expansion : expr;
}

Expr *ExpressionReader::lookThroughCasts(Expr *expr) {
  for (unsigned step = 0; step < kMaxSteps; ++step) {
    Expr *seen = look(expr);
    if (!seen->is(Symbol::FloatCast))
      return seen;
    if (!isExact(seen->operands.front()->type, seen->type))
      roundings.insert(seen->type);
    expr = seen->operands.front();
  }
  return expr;
}

Expr *ExpressionReader::evaluateOutside(Value scalar) {
  Expr *expr;
  TypedAttr attribute;
  if (matchPattern(scalar, m_Constant(&attribute))) {
    expr = create(ExprKind::Constant, scalar.getType(), scalar.getLoc());
    expr->constant = attribute;
    return expr;
  }
  expr = create(ExprKind::Scalar, scalar.getType(), scalar.getLoc());
  expr->value = scalar;
  return expr;
}

/// Null where the tensor's elements are not known to be computed from others.
Expr *ExpressionReader::expand(Expr *read) {
  Operation *op = read->value.getDefiningOp();
  if (!op)
    return nullptr;
  DenseElementsAttr elements;
  if (matchPattern(read->value, m_Constant(&elements))) {
    if (!elements.isSplat())
      return nullptr;
    Expr *expr = create(ExprKind::Constant, read->type, read->loc);
    expr->constant = elements.getSplatValue<TypedAttr>();
    return expr;
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return evaluateOutside(splat.getInput());
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op)) {
    if (elements.getElements().size() != 1)
      return nullptr;
    return evaluateOutside(elements.getElements().front());
  }
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return expandSoftmax(softmax, read);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (!structured.hasPureTensorSemantics())
      return nullptr;
    return expandStructured(
        structured, cast<OpResult>(read->value).getResultNumber(), read);
  }
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
    return nullptr;
  Expr *expr = create(ExprKind::Apply, read->type, op->getLoc());
  expr->operation = op;
  expr->symbol = getSymbol(op);
  for (Value operand : op->getOperands())
    expr->operands.push_back(
        isa<RankedTensorType>(operand.getType())
            ? this->read(operand, read->coordinates, op->getLoc())
            : evaluateOutside(operand));
  return expr;
}

/// exp(x) / sum exp(x): the maximum that the op subtracts from both changes
/// nothing.
Expr *ExpressionReader::expandSoftmax(linalg::SoftmaxOp op, Expr *read) {
  uint64_t dim = op.getDimension();
  Value input = op.getInput();
  Expr *weight =
      apply(Symbol::Exp, this->read(input, read->coordinates, op.getLoc()));
  Expr *sum = create(ExprKind::Reduce, read->type, op.getLoc());
  sum->sizes.push_back(cast<ShapedType>(input.getType()).getDimSize(dim));
  sum->body = [this, op, input, dim, coordinates = read->coordinates](
                  ArrayRef<Coordinate> loops) mutable {
    Coordinates inner = coordinates;
    inner[dim] = loops.front();
    return apply(Symbol::Exp, this->read(input, inner, op.getLoc()));
  };
  return apply(Symbol::Div, {weight, sum});
}

Expr *ExpressionReader::expandStructured(linalg::LinalgOp op, unsigned result,
                                         Expr *read) {
  auto body = std::make_shared<StructuredBody>(*this, op, result);
  if (failed(body->setResultCoordinates(read->coordinates)))
    return nullptr;
  if (!body->hasReductionLoops())
    return body->evaluateResult();

  std::optional<Reduction> reduction = body->getReduction();
  // Whatever the loops' indices: what cannot be evaluated never can.
  if (!reduction || !body->canEvaluateReduced())
    return nullptr;
  Expr *reduce = create(ExprKind::Reduce, read->type, op.getLoc());
  reduce->operation = op;
  reduce->reduction = *reduction;
  reduce->sizes = body->getReductionSizes();
  reduce->body = [body](ArrayRef<Coordinate> loops) {
    return body->evaluateReduced(loops);
  };

  Expr *initial = body->readInitial();
  if (!initial)
    return nullptr;
  std::optional<double> number = getConstant(initial);
  switch (*reduction) {
  case Reduction::Sum:
    if (number && *number == 0)
      return reduce;
    return apply(Symbol::Add, {initial, reduce});
  case Reduction::Max:
    // A finite one is lower than what it is meant for, or cancels.
    return number ? reduce : nullptr;
  case Reduction::And:
    return number && *number != 0 ? reduce : nullptr;
  case Reduction::Or:
    return number && *number == 0 ? reduce : nullptr;
  }
  llvm_unreachable("every reduction is handled");
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

AxisSet ExpressionReader::getAxes(Expr *expr, unsigned depth) {
  // Looking into tensors may split axes that are in the set already.
  return axes.resolveSet(collectAxes(expr, depth));
}

AxisSet ExpressionReader::collectAxes(Expr *expr, unsigned depth) {
  AxisSet result;
  if (expr->kind == ExprKind::Read || expr->kind == ExprKind::Index)
    axes.insertAll(expr->coordinates, result);
  if (expr->kind == ExprKind::Read && (depth == 0 || result.empty()))
    return result;
  Expr *seen = look(expr);
  switch (seen->kind) {
  case ExprKind::Read:
  case ExprKind::Index:
    return result;
  case ExprKind::Constant:
  case ExprKind::Scalar:
    return {};
  case ExprKind::Reduce: {
    // The tensor that holds the sums has the axes of the sums.
    if (expr->kind == ExprKind::Read)
      return result;
    SmallVector<Coordinate, 2> loops = createLoops(seen);
    AxisSet summed;
    axes.insertAll(loops, summed);
    for (AxisId axis : getAxes(seen->body(loops), depth ? depth - 1 : 0))
      if (!axes.resolveSet(summed).contains(axis))
        result.insert(axis);
    return result;
  }
  case ExprKind::Apply: {
    AxisSet used;
    for (Expr *operand : seen->operands)
      for (AxisId axis : collectAxes(operand, depth ? depth - 1 : 0))
        used.insert(axis);
    return used;
  }
  }
  llvm_unreachable("every kind is handled");
}

TypedAttr ExpressionReader::getConstantAttr(Expr *expr, unsigned depth) {
  Expr *seen = look(expr);
  if (seen->kind == ExprKind::Constant)
    return seen->constant;
  if (seen->kind != ExprKind::Apply || !seen->operation || depth == 0)
    return {};
  if (seen->is(Symbol::FloatCast)) {
    // Upstream folds only what loses nothing.
    auto number = dyn_cast_if_present<FloatAttr>(
        getConstantAttr(seen->operands.front(), depth - 1));
    if (!number)
      return {};
    APFloat value = number.getValue();
    bool losesInfo;
    value.convert(cast<FloatType>(seen->type).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &losesInfo);
    return FloatAttr::get(seen->type, value);
  }
  SmallVector<Attribute, 3> operands;
  for (Expr *operand : seen->operands) {
    TypedAttr constant = getConstantAttr(operand, depth - 1);
    if (!constant)
      return {};
    operands.push_back(constant);
  }
  // An op on whole tensors folds tensors.
  if (isa<ShapedType>(seen->operation->getResult(0).getType()))
    return {};
  SmallVector<OpFoldResult> folded;
  if (failed(seen->operation->fold(operands, folded)) || folded.size() != 1)
    return {};
  return dyn_cast_if_present<TypedAttr>(dyn_cast<Attribute>(folded.front()));
}

std::optional<double> ExpressionReader::getConstant(Expr *expr) {
  TypedAttr constant = getConstantAttr(expr, 8);
  if (auto number = dyn_cast_if_present<FloatAttr>(constant))
    return number.getValueAsDouble();
  if (auto number = dyn_cast_if_present<IntegerAttr>(constant))
    return number.getType().isInteger(1) ? number.getValue().getZExtValue()
           : number.getValue().isSignedIntN(64)
               ? std::optional<double>(number.getValue().getSExtValue())
               : std::nullopt;
  return std::nullopt;
}

std::optional<ExpressionReader::Power> ExpressionReader::getPower(Expr *expr) {
  if (expr->is(Symbol::Exp))
    return Power{expr->operands[0], 1};
  if (expr->is(Symbol::Exp2))
    return Power{expr->operands[0], std::log(2.0)};
  if (!expr->is(Symbol::Pow))
    return std::nullopt;
  std::optional<double> base = getConstant(expr->operands[0]);
  if (!base || !(*base > 0) || !std::isfinite(*base) || *base == 1)
    return std::nullopt;
  return Power{expr->operands[1], std::log(*base)};
}

static bool isCommutative(Symbol symbol) {
  return symbol == Symbol::Add || symbol == Symbol::Mul ||
         symbol == Symbol::And || symbol == Symbol::Or || symbol == Symbol::Xor;
}

/// Attributes that say what is computed, not how precisely.
static DictionaryAttr getMeaning(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase("fastmath");
  attributes.erase("overflowFlags");
  return attributes.getDictionary(op->getContext());
}

bool ExpressionReader::areSame(Expr *a, Expr *b) {
  unsigned budget = 4096;
  return areSame(a, b, kMaxDepth, budget);
}

bool ExpressionReader::areSame(Expr *a, Expr *b, unsigned depth,
                               unsigned &budget) {
  if (depth == 0 || budget == 0)
    return false;
  --budget;
  if (a == b)
    return true;
  auto areSameReads = [&](Expr *x, Expr *y) {
    return x->kind == ExprKind::Read && y->kind == ExprKind::Read &&
           x->value == y->value &&
           axes.resolveAll(x->coordinates) == axes.resolveAll(y->coordinates);
  };
  if (areSameReads(a, b))
    return true;
  a = lookThroughCasts(a);
  b = lookThroughCasts(b);
  if (a == b)
    return true;
  if (a->kind != b->kind)
    return false;
  switch (a->kind) {
  case ExprKind::Read:
    return areSameReads(a, b);
  case ExprKind::Constant: {
    if (a->constant == b->constant)
      return true;
    std::optional<double> x = getConstant(a), y = getConstant(b);
    return x && y && *x == *y;
  }
  case ExprKind::Scalar:
    return a->value == b->value;
  case ExprKind::Index:
    return axes.resolveAll(a->coordinates) == axes.resolveAll(b->coordinates);
  case ExprKind::Apply: {
    if (a->symbol != b->symbol || a->operands.size() != b->operands.size() ||
        a->type != b->type)
      return false;
    if (a->operation && b->operation) {
      if (a->operation->getName() != b->operation->getName() ||
          getMeaning(a->operation) != getMeaning(b->operation))
        return false;
    } else if (a->symbol == Symbol::Other ||
               a->symbol == Symbol::CompareFloat) {
      return false;
    }
    auto areAllSame = [&](ArrayRef<Expr *> x, ArrayRef<Expr *> y) {
      return llvm::all_of(llvm::zip_equal(x, y), [&](auto pair) {
        return areSame(std::get<0>(pair), std::get<1>(pair), depth - 1, budget);
      });
    };
    if (areAllSame(a->operands, b->operands))
      return true;
    return isCommutative(a->symbol) && a->operands.size() == 2 &&
           areAllSame({a->operands[1], a->operands[0]}, b->operands);
  }
  case ExprKind::Reduce: {
    if (a->reduction != b->reduction || a->sizes != b->sizes)
      return false;
    SmallVector<Coordinate, 2> loops = createLoops(a);
    return areSame(a->body(loops), b->body(loops), depth - 1, budget);
  }
  }
  llvm_unreachable("every kind is handled");
}
