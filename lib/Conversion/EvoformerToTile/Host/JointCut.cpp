//===- JointCut.cpp - Items of one kernel for all gradients ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointCut.h"

#include "HostArithmetic.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
class JointCutter {
public:
  JointCutter(TileBuilder &builder, const GradientOperands &operands,
              tile::TargetAttr target, int64_t partialSumBytes)
      : b(builder), operands(operands),
        budget(getPartBudget(builder, operands, partialSumBytes)),
        wanted(b.index(getWantedItems(target))), one(b.index(1)) {
    for (int64_t dim : {0, 1, 2})
      sizes[dim] = b.index(b.dim(operands.query, dim));
    heads = b.mul(sizes[kBiasB], sizes[kBiasH]);
    if (const Bias &bias = operands.biasGrad; bias.memory) {
      for (int64_t dim : {kBiasB, kBiasH})
        if (bias.broadcast[dim])
          biasSets = getProduct(b, {biasSets, sizes[dim]});
      biasBytes = b.mul(countElements(b, bias.memory), b.index(4));
    }
    if (operands.queryGrad)
      queryBytes = b.mul(countElements(b, operands.queryGrad), b.index(4));
  }

  JointCut choose() {
    if (!sumsRows())
      return cut(sizes[kBiasN]);
    // Many parts of rows, or one, which leaves all memory to ranges of keys.
    Value set = getProduct(b, {biasBytes, biasSets});
    Value most = arith::DivUIOp::create(b, budget, atLeastOne(b, set));
    Value parts = atMost(b, ceilDiv(b, wanted, atLeastOne(b, heads)), most);
    JointCut many = cut(atMost(b, parts, sizes[kBiasN])), single = cut(one);
    Value better = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                                         many.items, single.items);
    auto pick = [&](Value x, Value y) {
      return x ? b.select(better, x, y) : Value();
    };
    return {pick(many.rowParts, single.rowParts),
            pick(many.rowsOfPart, single.rowsOfPart),
            pick(many.keyRanges, single.keyRanges),
            pick(many.keysOfRange, single.keysOfRange),
            pick(many.queryCopies, single.queryCopies),
            pick(many.biasCopies, single.biasCopies),
            pick(many.items, single.items),
            pick(many.fits, single.fits)};
  }

private:
  bool sumsRows() const {
    return operands.biasGrad.memory && operands.biasGrad.broadcast[kBiasN];
  }
  static bool isF32(Value memory) {
    return cast<MemRefType>(memory.getType()).getElementType().isF32();
  }
  /// `copies`, or none where one of f32 is the gradient itself.
  Value withoutFirst(Value memory, Value copies) {
    if (!isF32(memory))
      return copies;
    Value isOne =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ule, copies, one);
    return b.select(isOne, b.index(0), copies);
  }

  JointCut cut(Value parts) {
    JointCut result;
    Value rows = atLeastOne(b, sizes[kBiasN]);
    result.rowsOfPart = ceilDiv(b, rows, atLeastOne(b, parts));
    result.rowParts = ceilDiv(b, rows, result.rowsOfPart);
    Value left = budget;
    auto take = [&](Value bytes) {
      left = b.sub(left, atMost(b, bytes, left));
    };
    Value taken;
    if (operands.biasGrad.memory) {
      Value sets =
          getProduct(b, {biasSets, sumsRows() ? result.rowParts : Value()});
      result.biasCopies = withoutFirst(operands.biasGrad.memory, sets);
      taken = b.mul(result.biasCopies, biasBytes);
      take(taken);
    }
    // Whole blocks of keys.
    Value blocks =
        atLeastOne(b, b.ceilDiv(b.dim(operands.key, 3), kJointBlocks.keys));
    Value ranges =
        ceilDiv(b, wanted, atLeastOne(b, b.mul(heads, result.rowParts)));
    if (operands.queryGrad)
      ranges =
          atMost(b, ranges,
                 arith::DivUIOp::create(b, left, atLeastOne(b, queryBytes)));
    ranges = atMost(b, atLeastOne(b, ranges), blocks);
    Value ofRange = ceilDiv(b, blocks, ranges);
    result.keyRanges = ceilDiv(b, blocks, ofRange);
    result.keysOfRange = b.mul(ofRange, b.index(kJointBlocks.keys));
    if (operands.queryGrad) {
      result.queryCopies = withoutFirst(operands.queryGrad, result.keyRanges);
      Value bytes = b.mul(result.queryCopies, queryBytes);
      taken = taken ? b.add(taken, bytes) : bytes;
    }
    result.items = b.mul(heads, b.mul(result.rowParts, result.keyRanges));
    result.fits =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ule, taken, budget);
    return result;
  }

  TileBuilder &b;
  const GradientOperands &operands;
  Value budget, wanted, one, heads, biasSets, biasBytes, queryBytes;
  std::array<Value, 3> sizes;
};
} // namespace

JointCut evoformer::chooseJointCut(TileBuilder &builder,
                                   const GradientOperands &operands,
                                   tile::TargetAttr target,
                                   int64_t partialSumBytes) {
  return JointCutter(builder, operands, target, partialSumBytes).choose();
}
