//===- PlaceSums.cpp - Sums of places in a score --------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlaceSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::evoformer;

std::optional<PlaceSum> PlaceSums::find(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<PlaceSum> sum = analyze(value);
  known.try_emplace(value, sum);
  return sum;
}

std::optional<PlaceSum> PlaceSums::analyze(Value value) {
  constexpr int64_t kMostFactors = 64, kLargestConstant = 1 << 20;
  PlaceSum sum;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    if (number == 0 || number >= kNumScoreArguments)
      return std::nullopt;
    sum.factors[number] = 1;
    return sum;
  }
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    sum.constant = constant.getSExtValue();
  } else {
    Operation *op = value.getDefiningOp();
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      return std::nullopt;
    std::optional<PlaceSum> a = find(op->getOperand(0));
    std::optional<PlaceSum> b = find(op->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    auto isConstant = [](const PlaceSum &some) {
      return llvm::all_of(some.factors,
                          [](int64_t factor) { return factor == 0; });
    };
    // a * ofA + b * ofB.
    int64_t ofA = 1, ofB = isa<arith::SubIOp>(op) ? -1 : 1;
    if (isa<arith::MulIOp>(op)) {
      if (isConstant(*a))
        std::swap(a, b);
      if (!isConstant(*b))
        return std::nullopt;
      ofA = b->constant;
      ofB = 0;
    }
    for (auto [factor, x, y] :
         llvm::zip_equal(sum.factors, a->factors, b->factors))
      factor = x * ofA + y * ofB;
    sum.constant = a->constant * ofA + b->constant * ofB;
  }
  int64_t factors = 0;
  for (int64_t factor : sum.factors)
    factors += std::abs(factor);
  if (factors > kMostFactors || std::abs(sum.constant) > kLargestConstant)
    return std::nullopt;
  return sum;
}
