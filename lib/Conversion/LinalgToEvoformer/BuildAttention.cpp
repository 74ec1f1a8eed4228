//===- BuildAttention.cpp - Writes a form as the op -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildAttention.h"

#include "TensorBuilder.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::raising;

namespace {
/// A dimension of an operand: its letter in orders and its axes.
struct Dimension {
  char letter;
  Coordinate axes;
};
using Dimensions = SmallVector<Dimension, 5>;

/// An operand of rank 5 and the order of its dimensions.
struct Operand {
  Value tensor;
  DimOrderAttr order;
};

class AttentionBuilder {
public:
  AttentionBuilder(ExpressionReader &reader, OpBuilder &builder,
                   const AttentionForm &form, const Letters &letters)
      : reader(reader), builder(builder), form(form), letters(letters),
        tensors(reader, builder, form.root.getLoc(), getExpressions(form)) {}

  FailureOr<BuiltAttention> run(std::optional<Refused> &refused);

private:
  static SmallVector<Expr *> getExpressions(const AttentionForm &form);
  LogicalResult check(std::optional<Refused> &refused);
  Type chooseType(Type type);
  Operand createOperand(Expr *expr, double coefficient, Type type,
                        ArrayRef<Dimension> dims);
  Dimensions orderDims(ArrayRef<Coordinate> from, ArrayRef<Dimension> dims);
  DimOrderAttr getOrder(ArrayRef<Dimension> dims);

  ExpressionReader &reader;
  OpBuilder &builder;
  const AttentionForm &form;
  const Letters &letters;
  TensorBuilder tensors;
};
} // namespace

SmallVector<Expr *>
AttentionBuilder::getExpressions(const AttentionForm &form) {
  SmallVector<Expr *> expressions = {form.query, form.key, form.value};
  if (form.gate)
    expressions.push_back(form.gate);
  for (const BiasForm &bias : form.biases)
    expressions.push_back(bias.expr);
  return expressions;
}

LogicalResult AttentionBuilder::check(std::optional<Refused> &refused) {
  auto refuse = [&](Refusal refusal, Location loc) {
    refused = Refused{refusal, loc};
    return failure();
  };
  for (Expr *expr : getExpressions(form)) {
    if (expr->kind == ExprKind::Read && !hasUnitsOnly(expr))
      return refuse(Refusal::Dimensions, expr->loc);
    AxisSet axes = reader.getAxes(expr);
    if (expr->kind == ExprKind::Read)
      reader.getAxes().insertAll(expr->coordinates, axes);
    if (!tensors.canCompute(expr, axes))
      return refuse(Refusal::Inexpressible, expr->loc);
  }
  for (const Coordinate *axes :
       {&letters.b, &letters.n, &letters.h, &letters.q, &letters.k})
    if (!tensors.knowsSizes(*axes))
      return refuse(Refusal::Dimensions, form.root.getLoc());
  return success();
}

/// What the op takes instead of a float type.
Type AttentionBuilder::chooseType(Type type) {
  if (type.isInteger(1) || type == form.inputType)
    return type;
  return builder.getF32Type();
}

DimOrderAttr AttentionBuilder::getOrder(ArrayRef<Dimension> dims) {
  std::string order;
  for (const Dimension &dim : dims)
    order.push_back(dim.letter);
  return DimOrderAttr::get(builder.getContext(), order);
}

/// The dimensions as they lie in a tensor. Those that it does not have take the
/// place of its dimensions of size 1, or come first, a depth last.
Dimensions AttentionBuilder::orderDims(ArrayRef<Coordinate> from,
                                       ArrayRef<Dimension> dims) {
  Dimensions result, missing;
  for (const Dimension &dim : dims)
    if (dim.axes.empty())
      missing.push_back(dim);
  size_t next = 0;
  for (auto [index, coordinate] : llvm::enumerate(from)) {
    // One between the axes of a dimension has no place.
    bool isInside = false;
    for (const Coordinate &later : from.drop_front(index + 1))
      if (!later.empty()) {
        isInside = !result.empty() &&
                   llvm::is_contained(result.back().axes, later.front());
        break;
      }
    if (coordinate.empty() && next < missing.size() && !isInside)
      result.push_back(missing[next++]);
    for (AxisId axis : coordinate) {
      const auto *dim = llvm::find_if(dims, [&](const Dimension &candidate) {
        return llvm::is_contained(candidate.axes, axis);
      });
      if (result.empty() || result.back().letter != dim->letter)
        result.push_back(*dim);
    }
  }
  Dimensions first;
  for (const Dimension &dim : ArrayRef(missing).drop_front(next))
    (dim.letter == 'd' ? result : first).push_back(dim);
  llvm::append_range(first, result);
  return first;
}

static Coordinates getAxes(ArrayRef<Dimension> dims) {
  return llvm::map_to_vector<5>(dims,
                                [](const Dimension &dim) { return dim.axes; });
}

/// A tensor of the program where it serves as it is, else a new one.
Operand AttentionBuilder::createOperand(Expr *expr, double coefficient,
                                        Type type, ArrayRef<Dimension> dims) {
  Value tensor;
  Coordinates from;
  if (expr->kind == ExprKind::Read && coefficient == 1 && expr->type == type) {
    tensor = expr->value;
    from = reader.getAxes().resolveAll(expr->coordinates);
  } else {
    Coordinate order;
    if (expr->kind == ExprKind::Read) {
      for (const Coordinate &coordinate :
           reader.getAxes().resolveAll(expr->coordinates))
        llvm::append_range(order, coordinate);
    } else {
      AxisSet axes = reader.getAxes(expr);
      for (const Dimension &dim : dims)
        for (AxisId axis : dim.axes)
          if (axes.contains(axis))
            order.push_back(axis);
    }
    tensor = tensors.compute(expr, coefficient, order, type);
    for (AxisId axis : order)
      from.push_back({axis});
  }
  // A bias broadcasts where it has none of a dimension's axes.
  Dimensions present(dims);
  for (Dimension &dim : present)
    if (!dim.axes.empty() && llvm::none_of(from, [&](const Coordinate &axes) {
          return llvm::is_contained(axes, dim.axes.front());
        }))
      dim.axes.clear();
  Dimensions ordered = orderDims(from, present);
  return {tensors.regroup(tensor, from, getAxes(ordered)), getOrder(ordered)};
}

FailureOr<BuiltAttention>
AttentionBuilder::run(std::optional<Refused> &refused) {
  if (failed(check(refused)))
    return failure();
  Location loc = form.root.getLoc();
  const Letters &l = letters;
  Coordinate keyHeads = l.getKeyHeads();
  Dimensions ofQuery = {
      {'b', l.b}, {'n', l.n}, {'s', l.q}, {'h', l.h}, {'d', l.d}};
  Dimensions ofKey = {
      {'b', l.b}, {'n', l.n}, {'s', l.k}, {'h', keyHeads}, {'d', l.d}};
  Dimensions ofValue = {
      {'b', l.b}, {'n', l.n}, {'s', l.k}, {'h', keyHeads}, {'d', l.e}};
  Dimensions ofBias = {
      {'b', l.b}, {'n', l.n}, {'h', l.h}, {'q', l.q}, {'k', l.k}};
  Dimensions ofOutput = {
      {'b', l.b}, {'n', l.n}, {'s', l.q}, {'h', l.h}, {'d', l.e}};

  Operand query = createOperand(form.query, 1, form.inputType, ofQuery);
  Operand key = createOperand(form.key, 1, form.inputType, ofKey);
  Operand value = createOperand(form.value, 1, form.inputType, ofValue);
  SmallVector<Value> biases;
  SmallVector<Attribute> biasOrders;
  for (const BiasForm &bias : form.biases) {
    double coefficient = bias.isMask && !bias.keepWhen ? -1 : bias.coefficient;
    Type type = chooseType(bias.expr->type);
    if (!bias.isMask && coefficient != 1)
      type = builder.getF32Type();
    Operand operand = createOperand(bias.expr, coefficient, type, ofBias);
    biases.push_back(operand.tensor);
    biasOrders.push_back(operand.order);
  }
  Operand gate;
  if (form.gate)
    gate = createOperand(form.gate, form.gateCoefficient,
                         chooseType(form.gate->type), ofOutput);

  // The output as it lies in the program's tensor.
  Coordinates to = reader.getAxes().resolveAll(form.rootCoordinates);
  Dimensions outputDims = orderDims(to, ofOutput);
  SmallVector<OpFoldResult> sizes;
  for (const Dimension &dim : outputDims)
    sizes.push_back(tensors.getSize(dim.axes));
  auto rootType = cast<RankedTensorType>(form.root.getType());
  Value init = tensor::EmptyOp::create(builder, loc, sizes,
                                       chooseType(rootType.getElementType()));
  auto op = AttentionOp::create(
      builder, loc, query.tensor, key.tensor, value.tensor, biases, gate.tensor,
      init, /*lse=*/Value(), /*stats=*/Value(),
      builder.getF32FloatAttr(static_cast<float>(form.scale)));
  op.setQueryOrderAttr(query.order);
  op.setKeyOrderAttr(key.order);
  op.setValueOrderAttr(value.order);
  op.setBiasOrdersAttr(builder.getArrayAttr(biasOrders));
  if (gate.order)
    op.setGateOrderAttr(gate.order);
  op.setOutputOrderAttr(getOrder(outputDims));
  int64_t groupSize = 1;
  for (AxisId axis : l.group)
    groupSize *= reader.getAxes().getSize(axis);
  op.setGroupSize(groupSize);

  Value result = tensors.regroup(op.getOutputResult(), getAxes(outputDims), to);
  result = tensors.convert(result, rootType.getElementType());
  if (result.getType() != rootType)
    result = tensor::CastOp::create(builder, loc, rootType, result);
  return BuiltAttention{op, result};
}

FailureOr<BuiltAttention>
raising::buildAttention(ExpressionReader &reader, OpBuilder &builder,
                        const AttentionForm &form, const Letters &letters,
                        std::optional<Refused> &refused) {
  return AttentionBuilder(reader, builder, form, letters).run(refused);
}
