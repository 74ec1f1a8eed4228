//===- TilesOfSteps.cpp - Tiles of all iterations of a loop -----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TilesOfSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

FewSteps FewSteps::around(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop || !loop->getParentOfType<scf::ForOp>() ||
      getConstantIntValue(loop.getLowerBound()) != 0 ||
      getConstantIntValue(loop.getStep()) != 1)
    return {};
  // What is copied before the loop some iteration must read: where there is
  // none, there may be no memory.
  Value end = loop.getUpperBound();
  auto most = end.getDefiningOp<arith::MaxUIOp>();
  if (most && getConstantIntValue(most.getRhs()) == 1)
    if (auto fewest = most.getLhs().getDefiningOp<arith::MinUIOp>())
      end = fewest.getRhs();
  constexpr int64_t kFew = 8;
  int64_t count = getConstantIntValue(end).value_or(0);
  return {loop, count <= kFew ? count : 0};
}

bool FewSteps::hasAll() const {
  scf::ForOp steps = loop;
  return getConstantIntValue(steps.getUpperBound()).has_value();
}

bool FewSteps::isBefore(Value value) const {
  scf::ForOp steps = loop;
  return steps.isDefinedOutsideOfLoop(value);
}

/// How many ops an index is looked through.
static constexpr int64_t kDepth = 6;

/// By how much `value` grows from each iteration of `loop` to the next; nothing
/// where that is not known.
static std::optional<int64_t> getGrowth(Value value, scf::ForOp loop,
                                        int64_t depth = kDepth) {
  if (value == loop.getInductionVar())
    return 1;
  if (loop.isDefinedOutsideOfLoop(value))
    return 0;
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op) || depth == 0)
    return std::nullopt;
  std::optional<int64_t> a = getGrowth(op->getOperand(0), loop, depth - 1);
  std::optional<int64_t> b = getGrowth(op->getOperand(1), loop, depth - 1);
  if (!a || !b)
    return std::nullopt;
  int64_t growth = 0;
  if (isa<arith::AddIOp>(op))
    return llvm::AddOverflow(*a, *b, growth) ? std::nullopt
                                             : std::optional(growth);
  if (*a == 0 && *b == 0)
    return 0;
  unsigned fixed = *a == 0 ? 0 : 1;
  std::optional<int64_t> factor = getConstantIntValue(op->getOperand(fixed));
  if (!factor || llvm::MulOverflow(fixed == 0 ? *b : *a, *factor, growth))
    return std::nullopt;
  return growth;
}

/// `value`, whose growth is known, in the first iteration of `loop`.
static Value getFirst(OpBuilder &before, Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar())
    return loop.getLowerBound();
  if (loop.isDefinedOutsideOfLoop(value))
    return value;
  Operation *op = value.getDefiningOp();
  Value a = getFirst(before, op->getOperand(0), loop);
  Value b = getFirst(before, op->getOperand(1), loop);
  return isa<arith::AddIOp>(op)
             ? before.createOrFold<arith::AddIOp>(op->getLoc(), a, b)
             : before.createOrFold<arith::MulIOp>(op->getLoc(), a, b);
}

std::optional<int64_t> FewSteps::findDim(LoadOp load) const {
  int64_t found = -1;
  if (!isBefore(load.getSource()))
    return std::nullopt;
  for (auto [dim, index] : llvm::enumerate(load.getIndices())) {
    std::optional<int64_t> growth = getGrowth(index, loop);
    if (!growth)
      return std::nullopt;
    if (*growth == 0)
      continue;
    if (found >= 0 || *growth != load.getTileType().getDimSize(dim))
      return std::nullopt;
    found = dim;
  }
  return found;
}

RankedTensorType FewSteps::widen(RankedTensorType type, int64_t dim) const {
  if (dim < 0)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] *= most;
  return RankedTensorType::get(shape, type.getElementType());
}

SmallVector<Value> FewSteps::getFirstIndices(OpBuilder &before,
                                             LoadOp load) const {
  if (!*this)
    return SmallVector<Value>(load.getIndices());
  return llvm::map_to_vector(load.getIndices(), [&](Value index) {
    return getFirst(before, index, loop);
  });
}

DenseBoolArrayAttr FewSteps::getInBounds(LoadOp load, int64_t dim) const {
  SmallVector<bool> inBounds(load.getInBounds());
  if (dim >= 0 && dim < int64_t(inBounds.size()) && !hasAll())
    inBounds[dim] = false;
  return DenseBoolArrayAttr::get(load.getContext(), inBounds);
}

Value FewSteps::getOffset(OpBuilder &inside, Location loc, LoadOp load,
                          int64_t dim) const {
  scf::ForOp steps = loop;
  return arith::MulIOp::create(
      inside, loc, steps.getInductionVar(),
      arith::ConstantIndexOp::create(inside, loc,
                                     load.getTileType().getDimSize(dim)));
}
