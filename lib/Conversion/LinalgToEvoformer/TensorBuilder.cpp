//===- TensorBuilder.cpp - Tensors of axes --------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::raising;

/// How deep an expression is computed anew.
static constexpr unsigned kMaxDepth = 16;

TensorBuilder::TensorBuilder(ExpressionReader &reader, OpBuilder &builder,
                             Location loc, ArrayRef<Expr *> known)
    : reader(reader), builder(builder), loc(loc) {
  for (Expr *expr : known)
    noteSizes(expr, kMaxDepth);
}

void TensorBuilder::noteSizes(Expr *expr, unsigned depth) {
  if (expr->kind == ExprKind::Apply && depth != 0)
    for (Expr *operand : expr->operands)
      noteSizes(operand, depth - 1);
  if (expr->kind != ExprKind::Read)
    return;
  for (auto [dim, coordinate] :
       llvm::enumerate(reader.getAxes().resolveAll(expr->coordinates))) {
    std::optional<AxisId> unknown;
    int64_t divisor = 1;
    bool isAlone = true;
    for (AxisId axis : coordinate) {
      int64_t size = reader.getAxes().getSize(axis);
      if (ShapedType::isStatic(size))
        divisor *= size;
      else if (unknown)
        isAlone = false;
      else
        unknown = axis;
    }
    if (unknown && isAlone && divisor != 0)
      sources.try_emplace(
          *unknown, Source{expr->value, static_cast<int64_t>(dim), divisor});
  }
}

OpFoldResult TensorBuilder::getSize(ArrayRef<AxisId> axes) {
  int64_t known = 1;
  Value unknown;
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  for (AxisId axis : axes) {
    int64_t size = reader.getAxes().getSize(axis);
    if (ShapedType::isStatic(size)) {
      known *= size;
      continue;
    }
    const Source &source = sources.find(axis)->second;
    Value read = tensor::DimOp::create(builder, loc, source.tensor, source.dim);
    if (source.divisor != 1)
      read =
          arith::DivUIOp::create(builder, loc, read, constant(source.divisor));
    unknown = unknown
                  ? Value(arith::MulIOp::create(builder, loc, unknown, read))
                  : read;
  }
  if (!unknown)
    return builder.getIndexAttr(known);
  if (known != 1)
    unknown = arith::MulIOp::create(builder, loc, unknown, constant(known));
  return unknown;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Value TensorBuilder::expandTo(Value tensor,
                              ArrayRef<ReassociationIndices> groups,
                              ArrayRef<Coordinate> dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes;
  for (const Coordinate &axes : dims)
    sizes.push_back(getSize(axes));
  SmallVector<int64_t> shape = decomposeMixedValues(sizes).first;
  // A dimension is static where all its parts are.
  SmallVector<int64_t> whole;
  for (const ReassociationIndices &group : groups) {
    int64_t size = 1;
    for (int64_t part : group)
      size = ShapedType::isDynamic(size) || ShapedType::isDynamic(shape[part])
                 ? ShapedType::kDynamic
                 : size * shape[part];
    whole.push_back(size);
  }
  RankedTensorType wholeType = type.clone(whole);
  if (wholeType != type)
    tensor = tensor::CastOp::create(builder, loc, wholeType, tensor);
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), tensor,
                                       groups, sizes);
}

Value TensorBuilder::regroup(Value tensor, Coordinates from,
                             const Coordinates &to) {
  from = reader.getAxes().resolveAll(from);
  if (from == to)
    return tensor;
  llvm::DenseMap<AxisId, size_t> place;
  Coordinates used;
  for (const Coordinate &axes : to)
    if (!axes.empty()) {
      for (AxisId axis : axes)
        place[axis] = used.size();
      used.push_back(axes);
    }

  // Cut what belongs to several dimensions.
  Coordinates pieces;
  SmallVector<ReassociationIndices> groups;
  for (const Coordinate &axes : from) {
    groups.emplace_back();
    for (auto [index, axis] : llvm::enumerate(axes)) {
      if (index == 0 || place[axes[index - 1]] != place[axis]) {
        groups.back().push_back(pieces.size());
        pieces.emplace_back();
      }
      pieces.back().push_back(axis);
    }
    if (axes.empty()) {
      groups.back().push_back(pieces.size());
      pieces.emplace_back();
    }
  }
  if (pieces.size() != from.size())
    tensor = expandTo(tensor, groups, pieces);
  if (pieces == to)
    return tensor;

  // Join what belongs to one, and drop dimensions of size 1.
  if (pieces != used) {
    SmallVector<ReassociationIndices> joined(used.size());
    size_t target = 0;
    for (auto [index, axes] : llvm::enumerate(pieces)) {
      if (!axes.empty())
        target = place[axes.front()];
      if (!joined.empty())
        joined[target].push_back(index);
    }
    // Those of size 1 may stand before all others.
    tensor = tensor::CollapseShapeOp::create(builder, loc, tensor, joined);
  }
  if (used == to)
    return tensor;

  // Add dimensions of size 1.
  SmallVector<ReassociationIndices> added(used.size());
  size_t source = 0;
  for (auto [index, axes] : llvm::enumerate(to)) {
    if (!axes.empty())
      source = place[axes.front()];
    if (!added.empty())
      added[source].push_back(index);
  }
  return expandTo(tensor, added, to);
}

Value TensorBuilder::convert(Value tensor, Type type) {
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from.getElementType() == type)
    return tensor;
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, tensor), type);
  AffineMap map = builder.getMultiDimIdentityMap(from.getRank());
  bool isWider = from.getElementTypeBitWidth() < type.getIntOrFloatBitWidth();
  auto op = linalg::GenericOp::create(
      builder, loc, init.getType(), tensor, init, {map, map},
      SmallVector<utils::IteratorType>(from.getRank(),
                                       utils::IteratorType::parallel),
      [&](OpBuilder &body, Location, ValueRange arguments) {
        Value number = arguments.front();
        number = isWider
                     ? Value(arith::ExtFOp::create(body, loc, type, number))
                     : Value(arith::TruncFOp::create(body, loc, type, number));
        linalg::YieldOp::create(body, loc, number);
      });
  return op.getResult(0);
}

bool TensorBuilder::knowsSizes(ArrayRef<AxisId> axes) {
  return llvm::all_of(axes, [&](AxisId axis) {
    return ShapedType::isStatic(reader.getAxes().getSize(axis)) ||
           sources.contains(axis);
  });
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

bool raising::hasUnitsOnly(Expr *read) {
  auto type = cast<RankedTensorType>(read->value.getType());
  return llvm::all_of(
      llvm::zip_equal(read->coordinates, type.getShape()), [](auto pair) {
        return !std::get<0>(pair).empty() || std::get<1>(pair) == 1;
      });
}

/// Whether a tensor is read as it is: what it has more than the axes is the
/// same for all of them.
bool TensorBuilder::isLeaf(Expr *read, const AxisSet &axes) {
  if (read->kind != ExprKind::Read)
    return false;
  AxisSet used;
  reader.getAxes().insertAll(read->coordinates, used);
  size_t digits = 0;
  for (const Coordinate &coordinate :
       reader.getAxes().resolveAll(read->coordinates))
    digits += coordinate.size();
  // An axis that occurs twice has no view.
  return digits == used.size() && hasUnitsOnly(read) &&
         llvm::all_of(used, [&](AxisId axis) { return axes.contains(axis); });
}

static bool canComputeImpl(ExpressionReader &reader, Expr *expr,
                           llvm::function_ref<bool(Expr *)> isLeaf,
                           unsigned depth) {
  if (isLeaf(expr))
    return true;
  Expr *seen = reader.look(expr);
  switch (seen->kind) {
  case ExprKind::Constant:
  case ExprKind::Scalar:
  case ExprKind::Index:
    return true;
  case ExprKind::Apply:
    return depth != 0 && seen->operation &&
           llvm::all_of(seen->operands, [&](Expr *operand) {
             return canComputeImpl(reader, operand, isLeaf, depth - 1);
           });
  case ExprKind::Read:
  case ExprKind::Reduce:
    return false;
  }
  llvm_unreachable("every kind is handled");
}

bool TensorBuilder::canCompute(Expr *expr, const AxisSet &axes) {
  return canComputeImpl(
      reader, expr, [&](Expr *leaf) { return isLeaf(leaf, axes); }, kMaxDepth);
}

void TensorBuilder::collectLeaves(Expr *expr, const AxisSet &axes,
                                  llvm::SmallSetVector<Expr *, 4> &leaves) {
  if (isLeaf(expr, axes)) {
    leaves.insert(expr);
    return;
  }
  Expr *seen = reader.look(expr);
  if (seen->kind == ExprKind::Apply)
    for (Expr *operand : seen->operands)
      collectLeaves(operand, axes, leaves);
}

Value TensorBuilder::createIndex(OpBuilder &body, const Coordinate &digits,
                                 ArrayRef<AxisId> order) {
  Value index;
  for (AxisId axis : reader.getAxes().resolve(digits)) {
    Value digit = linalg::IndexOp::create(
        body, loc, llvm::find(order, axis) - order.begin());
    if (!index) {
      index = digit;
      continue;
    }
    Value size = getValueOrCreateConstantIndexOp(builder, loc, getSize(axis));
    index = arith::AddIOp::create(
        body, loc, arith::MulIOp::create(body, loc, index, size), digit);
  }
  return index ? index : Value(arith::ConstantIndexOp::create(body, loc, 0));
}

Value TensorBuilder::cloneInto(OpBuilder &body, Expr *expr,
                               ArrayRef<AxisId> order,
                               llvm::DenseMap<Expr *, Value> &cloned) {
  if (auto known = cloned.find(expr); known != cloned.end())
    return known->second;
  Expr *seen = reader.look(expr);
  Value value;
  switch (seen->kind) {
  case ExprKind::Constant:
    value = arith::ConstantOp::create(body, loc, seen->constant);
    break;
  case ExprKind::Scalar:
    value = seen->value;
    break;
  case ExprKind::Index:
    value = createIndex(body, seen->coordinates.front(), order);
    break;
  case ExprKind::Apply: {
    SmallVector<Value> operands;
    for (Expr *operand : seen->operands)
      operands.push_back(cloneInto(body, operand, order, cloned));
    OperationState state(
        loc, seen->operation->getName(), operands,
        {getElementTypeOrSelf(seen->operation->getResult(0).getType())},
        seen->operation->getAttrs());
    value = body.create(state)->getResult(0);
    break;
  }
  case ExprKind::Read:
  case ExprKind::Reduce:
    llvm_unreachable("checked by canCompute");
  }
  cloned[expr] = value;
  return value;
}

Value TensorBuilder::compute(Expr *expr, double coefficient,
                             ArrayRef<AxisId> order, Type type) {
  AxisSet axes;
  for (AxisId axis : order)
    axes.insert(axis);
  llvm::SmallSetVector<Expr *, 4> leaves;
  collectLeaves(expr, axes, leaves);

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  MLIRContext *context = builder.getContext();
  for (Expr *leaf : leaves) {
    Coordinates dims;
    SmallVector<AffineExpr> loops;
    for (const Coordinate &coordinate :
         reader.getAxes().resolveAll(leaf->coordinates))
      for (AxisId axis : coordinate) {
        dims.push_back({axis});
        loops.push_back(
            builder.getAffineDimExpr(llvm::find(order, axis) - order.begin()));
      }
    inputs.push_back(regroup(leaf->value, leaf->coordinates, dims));
    maps.push_back(AffineMap::get(order.size(), 0, loops, context));
  }
  maps.push_back(builder.getMultiDimIdentityMap(order.size()));
  SmallVector<OpFoldResult> sizes;
  for (AxisId axis : order)
    sizes.push_back(getSize(axis));
  Value init = tensor::EmptyOp::create(builder, loc, sizes, type);
  auto op = linalg::GenericOp::create(
      builder, loc, init.getType(), inputs, init, maps,
      SmallVector<utils::IteratorType>(order.size(),
                                       utils::IteratorType::parallel),
      [&](OpBuilder &body, Location, ValueRange arguments) {
        llvm::DenseMap<Expr *, Value> cloned;
        for (auto [leaf, argument] :
             llvm::zip_equal(leaves, arguments.drop_back()))
          cloned[leaf] = argument;
        Value value = cloneInto(body, expr, order, cloned);
        if (type.isInteger(1)) {
          if (coefficient < 0) {
            Value one =
                arith::ConstantOp::create(body, loc, body.getBoolAttr(true));
            value = arith::XOrIOp::create(body, loc, value, one);
          }
        } else {
          if (value.getType() != type)
            value = arith::ExtFOp::create(body, loc, type, value);
          if (coefficient != 1) {
            Value factor = arith::ConstantOp::create(
                body, loc, body.getFloatAttr(type, coefficient));
            value = arith::MulFOp::create(body, loc, value, factor);
          }
        }
        linalg::YieldOp::create(body, loc, value);
      });
  return op.getResult(0);
}
