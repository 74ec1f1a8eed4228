//===- CopiedWork.cpp - Elementwise work on the way to LDS ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopiedWork.h"

#include "../KernelMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// Whether `value` can be made again by the lanes that copy a tile: the ops in
/// between are few, so that these lanes need few registers.
static bool canRemake(Value value, Block *block, int64_t depth = 4) {
  Operation *op = value.getDefiningOp();
  // Scalars of the block may be computed after the copies are issued.
  if (!isa<RankedTensorType>(value.getType()))
    return value.getParentBlock() != block;
  if (!op)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return isa<arith::ConstantOp>(op) &&
           matchPattern(value, m_Constant<DenseElementsAttr>(nullptr));
  if (op->getBlock() != block || depth == 0)
    return false;
  if (auto load = dyn_cast<LoadOp>(op))
    return !isWorkgroupMemory(load.getSourceType());
  return (isElementwise(op) || isa<BroadcastOp>(op)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return canRemake(operand, block, depth - 1);
         });
}

/// What atoms that reach beyond the tile hold there.
static Attribute getPadding(LoadOp load) {
  if (TypedAttr padding = load.getPaddingAttr())
    return padding;
  return Builder(load.getContext())
      .getZeroAttr(load.getTileType().getElementType());
}

/// Whether `op` keeps the padding of the tile `from`: a choice between the tile
/// and that constant does.
static bool keepsPadding(Operation *op, Value from, Attribute padding) {
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select)
    return false;
  Value other = select.getTrueValue() == from ? select.getFalseValue()
                                              : select.getTrueValue();
  DenseElementsAttr constant;
  return matchPattern(other, m_Constant(&constant)) && constant.isSplat() &&
         constant.getSplatValue<Attribute>() == padding;
}

/// Whether atoms hold nothing but the tile.
static bool coversExactly(RankedTensorType type) {
  FailureOr<LaneMap> map = getLaneMap(type);
  return succeeded(map) && ArrayRef(map->getBox()) == type.getShape();
}

Value mlir::evoformer::tile::findCopiedWork(LoadOp load) {
  RankedTensorType type = load.getTileType();
  bool exact = coversExactly(type);
  Block *block = load->getBlock();
  Value best = load.getResult();
  // What is computed of the tile so far, and how many uses of that are left to
  // be met; a value whose uses are all that is left can stand for the tile.
  llvm::SmallDenseSet<Value, 8> known = {best};
  int64_t open = range_size(best.getUses());
  for (Operation *op = load->getNextNode(); op; op = op->getNextNode()) {
    int64_t met = llvm::count_if(op->getOperands(), [&](Value operand) {
      return known.contains(operand);
    });
    if (met == 0) {
      // A use in a region of such an op is never met.
      continue;
    }
    if (!isElementwise(op))
      break;
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!result || result.getShape() != type.getShape() ||
        result.getEncoding() != type.getEncoding())
      break;
    if (!llvm::all_of(op->getOperands(), [&](Value operand) {
          return known.contains(operand) || canRemake(operand, block);
        }))
      break;
    // Atoms that reach beyond the tile hold the padding of what is copied.
    if (!exact &&
        !(met == 1 && llvm::any_of(op->getOperands(), [&](Value from) {
            return known.contains(from) &&
                   keepsPadding(op, from, getPadding(load));
          })))
      break;
    Value value = op->getResult(0);
    known.insert(value);
    int64_t uses = range_size(value.getUses());
    open += uses - met;
    // Work between may be wider, what is copied may not.
    if (open == uses && result.getElementType().isIntOrFloat() &&
        result.getElementTypeBitWidth() % 8 == 0 &&
        result.getElementTypeBitWidth() <= type.getElementTypeBitWidth())
      best = value;
  }
  return best;
}

SmallVector<Operation *> mlir::evoformer::tile::getWorkOps(Value work,
                                                           LoadOp load) {
  SetVector<Operation *> ops;
  SmallVector<Value> worklist = {work};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || op == load || op->getBlock() != load->getBlock() ||
        !ops.insert(op))
      continue;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        worklist.push_back(operand);
  }
  return ops.takeVector();
}

static bool isSameType(Type a, Type b) {
  auto tileA = dyn_cast<RankedTensorType>(a);
  auto tileB = dyn_cast<RankedTensorType>(b);
  if (!tileA || !tileB)
    return a == b;
  return tileA.getShape() == tileB.getShape() &&
         tileA.getElementType() == tileB.getElementType();
}

bool mlir::evoformer::tile::isSameWork(Value a, Value b) {
  if (a == b)
    return true;
  Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
  if (!opA || !opB || !isa<RankedTensorType>(a.getType()) ||
      opA->getName() != opB->getName() ||
      !isSameType(a.getType(), b.getType()) ||
      opA->getNumOperands() != opB->getNumOperands())
    return false;
  DenseElementsAttr constantA, constantB;
  if (matchPattern(a, m_Constant(&constantA)) &&
      matchPattern(b, m_Constant(&constantB)))
    return constantA.isSplat() && constantB.isSplat() &&
           constantA.getSplatValue<Attribute>() ==
               constantB.getSplatValue<Attribute>();
  if (opA->getBlock() != opB->getBlock() ||
      !(isa<LoadOp>(opA) || isPure(opA)) ||
      opA->getAttrDictionary() != opB->getAttrDictionary())
    return false;
  return llvm::all_of(llvm::zip(opA->getOperands(), opB->getOperands()),
                      [](auto pair) {
                        return isSameWork(std::get<0>(pair), std::get<1>(pair));
                      });
}

/// The dimension of what `op` reads that becomes `dim` of its result; -1: none.
static int64_t getOperandDim(Operation *op, int64_t dim) {
  auto broadcast = dyn_cast<BroadcastOp>(op);
  int64_t added = broadcast ? broadcast.getDim() : dim + 1;
  return dim == added ? -1 : dim < added ? dim : dim - 1;
}

bool mlir::evoformer::tile::canWiden(Value work, const FewSteps &steps,
                                     int64_t dim) {
  if (!isa<RankedTensorType>(work.getType()))
    return steps.isBefore(work);
  Operation *op = work.getDefiningOp();
  if (!op)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return matchPattern(work, m_Constant<SplatElementsAttr>(nullptr));
  if (auto load = dyn_cast<LoadOp>(op))
    return steps.findDim(load) == dim;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return canWiden(operand, steps, getOperandDim(op, dim));
  });
}

namespace {
class WorkMaker {
public:
  WorkMaker(OpBuilder &builder, const FewSteps &steps)
      : builder(builder), steps(steps) {}

  Value make(Value value, Attribute layout, int64_t dim) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return value;
    if (Value known = made.lookup({value, layout}))
      return known;
    Operation *op = value.getDefiningOp();
    type = steps.widen(type, dim);
    Attribute inner = layout;
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      inner = SliceAttr::get(op->getContext(), broadcast.getDim(),
                             type.getDimSize(broadcast.getDim()), layout);
    IRMapping operands;
    auto load = dyn_cast<LoadOp>(op);
    if (load)
      operands.map(load.getIndices(), steps.getFirstIndices(builder, load));
    else
      for (Value operand : op->getOperands())
        operands.map(operand, make(operand, inner, getOperandDim(op, dim)));
    Operation *clone = builder.clone(*op, operands);
    type = withLayout(type, layout);
    clone->getResult(0).setType(type);
    if (load)
      cast<LoadOp>(clone).setInBoundsAttr(steps.getInBounds(load, dim));
    if (auto constant = dyn_cast<arith::ConstantOp>(clone)) {
      auto elements = cast<DenseElementsAttr>(constant.getValue());
      constant.setValueAttr(elements.isSplat() ? elements.resizeSplat(type)
                                               : elements.reshape(type));
    }
    return made[{value, layout}] = clone->getResult(0);
  }

private:
  OpBuilder &builder;
  const FewSteps &steps;
  DenseMap<std::pair<Value, Attribute>, Value> made;
};
} // namespace

Value mlir::evoformer::tile::remakeWork(OpBuilder &builder, Value work,
                                        Attribute layout, const FewSteps &steps,
                                        int64_t dim) {
  return WorkMaker(builder, steps).make(work, layout, dim);
}
