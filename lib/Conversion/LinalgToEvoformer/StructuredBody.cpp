//===- StructuredBody.cpp - The body of a structured op -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructuredBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::raising;

/// A body of more ops is not looked into.
static constexpr size_t kMaxBodyOps = 256;

Symbol raising::getSymbol(Operation *op) {
  return TypeSwitch<Operation *, Symbol>(op)
      .Case([](arith::AddFOp) { return Symbol::Add; })
      .Case([](arith::SubFOp) { return Symbol::Sub; })
      .Case([](arith::MulFOp) { return Symbol::Mul; })
      .Case([](arith::DivFOp) { return Symbol::Div; })
      .Case([](arith::NegFOp) { return Symbol::Neg; })
      .Case([](math::ExpOp) { return Symbol::Exp; })
      .Case([](math::Exp2Op) { return Symbol::Exp2; })
      .Case([](math::PowFOp) { return Symbol::Pow; })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [](auto) { return Symbol::FloatCast; })
      .Case([](arith::SelectOp) { return Symbol::Select; })
      .Case([](arith::CmpFOp) { return Symbol::CompareFloat; })
      .Case([](arith::AndIOp) { return Symbol::And; })
      .Case([](arith::OrIOp) { return Symbol::Or; })
      .Case([](arith::XOrIOp) { return Symbol::Xor; })
      .Default(Symbol::Other);
}

StructuredBody::StructuredBody(ExpressionReader &reader, linalg::LinalgOp op,
                               unsigned result)
    : reader(reader), op(op), result(result), loops(op.getNumLoops()),
      sizes(op.getStaticLoopRanges()) {}

Value StructuredBody::getYielded() {
  return op.getBlock()->getTerminator()->getOperand(result);
}

BlockArgument StructuredBody::getAccumulator() {
  return op.getMatchingBlockArgument(op.getDpsInitOperand(result));
}

LogicalResult
StructuredBody::setResultCoordinates(ArrayRef<Coordinate> coordinates) {
  OpOperand *init = op.getDpsInitOperand(result);
  auto type = dyn_cast<RankedTensorType>(init->get().getType());
  if (!type)
    return failure();
  AffineMap map = op.getMatchingIndexingMap(init);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      if (loops[loop.getPosition()])
        return failure();
      loops[loop.getPosition()] = coordinates[dim];
      continue;
    }
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!constant || constant.getValue() != 0 || type.getDimSize(dim) != 1)
      return failure();
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < loops.size(); ++loop) {
    bool isReduction = iterators[loop] == utils::IteratorType::reduction;
    // A reduction that its result still has is none.
    if (isReduction && loops[loop])
      return failure();
    if (loops[loop])
      continue;
    if (sizes[loop] == 1)
      loops[loop] = Coordinate{};
    else if (isReduction)
      reductionLoops.push_back(loop);
    else
      return failure();
  }
  // A sum over loops of one iteration each still adds to what it starts from.
  if (reductionLoops.empty())
    for (unsigned loop = 0; loop < loops.size(); ++loop)
      if (iterators[loop] == utils::IteratorType::reduction)
        reductionLoops.push_back(loop);
  return success();
}

SmallVector<int64_t, 2> StructuredBody::getReductionSizes() const {
  return llvm::map_to_vector<2>(reductionLoops,
                                [&](unsigned loop) { return sizes[loop]; });
}

OpOperand *StructuredBody::getCopiedOperand() {
  auto argument = dyn_cast<BlockArgument>(getYielded());
  if (!argument || argument.getOwner() != op.getBlock())
    return nullptr;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  return operand && op.isDpsInput(operand) ? operand : nullptr;
}

std::optional<Coordinates>
StructuredBody::getOperandCoordinates(OpOperand &operand) const {
  linalg::LinalgOp structured = op;
  auto type = cast<RankedTensorType>(operand.get().getType());
  AffineMap map = structured.getMatchingIndexingMap(&operand);
  Coordinates coordinates;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      if (!loops[loop.getPosition()])
        return std::nullopt;
      coordinates.push_back(*loops[loop.getPosition()]);
      continue;
    }
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!constant || constant.getValue() != 0 || type.getDimSize(dim) != 1)
      return std::nullopt;
    coordinates.emplace_back();
  }
  return coordinates;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

Expr *StructuredBody::evaluate(Value value) {
  auto [known, isNew] = evaluated.try_emplace(value, nullptr);
  if (!isNew)
    return known->second;
  Expr *expr = nullptr;
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBlock()) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    if (!isa<RankedTensorType>(operand->get().getType()))
      expr = reader.evaluateOutside(operand->get());
    else if (std::optional<Coordinates> where = getOperandCoordinates(*operand))
      expr = reader.read(operand->get(), *where, op.getLoc());
  } else if (value.getParentBlock() != op.getBlock()) {
    expr = reader.evaluateOutside(value);
  } else {
    expr = evaluateOp(value.getDefiningOp(), cast<OpResult>(value));
  }
  evaluated[value] = expr;
  return expr;
}

Expr *StructuredBody::evaluateOp(Operation *inner, OpResult value) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    if (!loops[index.getDim()])
      return nullptr;
    Expr *expr =
        reader.create(ExprKind::Index, value.getType(), inner->getLoc());
    expr->coordinates.push_back(*loops[index.getDim()]);
    return expr;
  }
  if (inner->hasTrait<OpTrait::ConstantLike>())
    return reader.evaluateOutside(value);
  if (inner->getNumRegions() != 0 || inner->getNumResults() != 1 ||
      !isPure(inner))
    return nullptr;
  SmallVector<Expr *, 3> operands;
  for (Value operand : inner->getOperands()) {
    Expr *expr = evaluate(operand);
    if (!expr)
      return nullptr;
    operands.push_back(expr);
  }
  Expr *expr = reader.create(ExprKind::Apply, value.getType(), inner->getLoc());
  expr->operation = inner;
  expr->symbol = getSymbol(inner);
  expr->operands = operands;
  return expr;
}

static bool isTooLong(linalg::LinalgOp op) {
  return op.getBlock()->getOperations().size() > kMaxBodyOps;
}

Expr *StructuredBody::evaluateResult() {
  return isTooLong(op) ? nullptr : evaluate(getYielded());
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static std::optional<Reduction> getReductionOf(Operation *op) {
  return TypeSwitch<Operation *, std::optional<Reduction>>(op)
      .Case([](arith::AddFOp) { return Reduction::Sum; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [](auto) { return Reduction::Max; })
      .Case<arith::AndIOp>([](auto op) {
        return op.getType().isInteger(1) ? std::optional(Reduction::And)
                                         : std::nullopt;
      })
      .Case<arith::OrIOp>([](auto op) {
        return op.getType().isInteger(1) ? std::optional(Reduction::Or)
                                         : std::nullopt;
      })
      .Default(std::nullopt);
}

/// Whether a value of a body needs what an earlier iteration left.
static bool usesAccumulators(Value value, linalg::LinalgOp op,
                             llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == op.getBlock() &&
           op.isInitTensor(op.getMatchingOpOperand(argument));
  Operation *inner = value.getDefiningOp();
  if (inner->getBlock() != op.getBlock() || !seen.insert(inner).second)
    return false;
  return llvm::any_of(inner->getOperands(), [&](Value operand) {
    return usesAccumulators(operand, op, seen);
  });
}

/// What a combining op adds to the accumulator; null if it does something else.
static Value getAdded(Operation *combiner, BlockArgument accumulator,
                      linalg::LinalgOp op) {
  for (unsigned side : {0, 1}) {
    if (combiner->getOperand(side) != accumulator)
      continue;
    Value added = combiner->getOperand(1 - side);
    llvm::SmallPtrSet<Operation *, 8> seen;
    if (!usesAccumulators(added, op, seen))
      return added;
  }
  return {};
}

std::optional<Reduction> StructuredBody::getReduction() {
  if (isTooLong(op))
    return std::nullopt;
  Operation *combiner = getYielded().getDefiningOp();
  if (!combiner || combiner->getBlock() != op.getBlock())
    return std::nullopt;
  std::optional<Reduction> reduction = getReductionOf(combiner);
  if (!reduction || !getAdded(combiner, getAccumulator(), op))
    return std::nullopt;
  return reduction;
}

Expr *StructuredBody::readInitial() {
  OpOperand *init = op.getDpsInitOperand(result);
  std::optional<Coordinates> where = getOperandCoordinates(*init);
  return where ? reader.read(init->get(), *where, op.getLoc()) : nullptr;
}

bool StructuredBody::canEvaluateReduced() {
  SmallVector<Coordinate, 2> fresh;
  for (int64_t size : getReductionSizes())
    fresh.push_back(reader.getAxes().createLoop(size));
  return evaluateReduced(fresh) != nullptr;
}

Expr *StructuredBody::evaluateReduced(ArrayRef<Coordinate> reduced) {
  StructuredBody instance(*this);
  instance.evaluated.clear();
  for (auto [loop, coordinate] : llvm::zip_equal(reductionLoops, reduced))
    instance.loops[loop] = coordinate;
  Operation *combiner = getYielded().getDefiningOp();
  return instance.evaluate(getAdded(combiner, getAccumulator(), op));
}
