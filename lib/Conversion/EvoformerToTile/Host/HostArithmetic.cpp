//===- HostArithmetic.cpp - Sizes and counts of host programs -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostArithmetic.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::evoformer;

Value evoformer::getProduct(TileBuilder &builder, ArrayRef<Value> values) {
  Value result = builder.index(1);
  for (Value value : values)
    if (value)
      result = builder.mul(result, value);
  return result;
}

Value evoformer::countElements(TileBuilder &builder, Value memory) {
  SmallVector<Value> sizes;
  int64_t rank = cast<MemRefType>(memory.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    sizes.push_back(builder.index(builder.dim(memory, dim)));
  return getProduct(builder, sizes);
}

/// A value of constants; null: others have a part in it.
static Attribute fold(Value value) {
  Attribute known;
  if (matchPattern(value, m_Constant(&known)))
    return known;
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions() != 0 || !isPure(def))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : def->getOperands())
    if (!operands.emplace_back(fold(operand)))
      return {};
  SmallVector<OpFoldResult> results;
  if (failed(def->fold(operands, results)) || results.size() != 1)
    return {};
  auto same = dyn_cast<Value>(results.front());
  return same ? fold(same) : cast<Attribute>(results.front());
}

std::optional<bool> evoformer::evaluate(Value condition) {
  auto known = dyn_cast_if_present<IntegerAttr>(fold(condition));
  return known ? std::optional(!known.getValue().isZero()) : std::nullopt;
}

Value evoformer::atLeastOne(TileBuilder &builder, Value value) {
  return arith::MaxUIOp::create(builder, value, builder.index(1));
}

Value evoformer::atMost(TileBuilder &builder, Value value, Value limit) {
  return arith::MinUIOp::create(builder, value, limit);
}

Value evoformer::ceilDiv(TileBuilder &builder, Value value, Value divisor) {
  return arith::DivUIOp::create(
      builder, builder.add(value, builder.sub(divisor, builder.index(1))),
      divisor);
}

int64_t evoformer::getWantedItems(tile::TargetAttr target) {
  return target.getWorkItems();
}

Value evoformer::fillTurns(TileBuilder &builder, Value items, int64_t atOnce,
                           int64_t mostTurns, Turns preferred, Value most) {
  constexpr int64_t kAlmost = 19, kFull = 20;
  Value almost = builder.index(llvm::divideCeil(atOnce * kAlmost, kFull));
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(builder, predicate, x, y).getResult();
  };
  Value times, filled;
  for (int64_t turns = 1; turns <= mostTurns; ++turns) {
    Value mine =
        arith::DivUIOp::create(builder, builder.index(turns * atOnce), items);
    Value ofTurn = arith::DivUIOp::create(builder, builder.mul(mine, items),
                                          builder.index(turns));
    ofTurn = builder.select(compare(arith::CmpIPredicate::ule, mine, most),
                            ofTurn, builder.index(0));
    if (!times) {
      times = mine;
      filled = ofTurn;
      continue;
    }
    Value isBetter = compare(arith::CmpIPredicate::uge, ofTurn,
                             atMost(builder, filled, almost));
    if (preferred == Turns::Few)
      isBetter = arith::AndIOp::create(
          builder, isBetter,
          compare(arith::CmpIPredicate::ult, filled, almost));
    times = builder.select(isBetter, mine, times);
    filled = builder.select(isBetter, ofTurn, filled);
  }
  return times;
}

Value evoformer::getPartBudget(TileBuilder &builder,
                               const GradientOperands &operands,
                               int64_t partialSumBytes) {
  if (partialSumBytes >= 0)
    return builder.index(partialSumBytes);
  int64_t bytes = getElementBytes(
      cast<MemRefType>(operands.query.getType()).getElementType());
  return builder.mul(
      builder.add(countElements(builder, operands.query),
                  builder.add(countElements(builder, operands.key),
                              countElements(builder, operands.value))),
      builder.index(bytes));
}
