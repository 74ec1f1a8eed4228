//===- CarryDivisions.cpp - Quotients from one iteration to the next ------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_CARRYDIVISIONS
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-carry-divisions";

namespace {
/// A number that grows by `step`, and by one more where `carry`, from each
/// iteration to the next. All are known before the loop but `carry`, which is
/// known at the end of an iteration, null where it is never set.
struct Progress {
  Value start, step, carry;
};

/// A number that grows as `growing` does: that and what the loop does not
/// change, a value or null, and a constant.
struct Dividend {
  Value growing, fixed;
  int64_t constant = 0;
};

/// What is carried of a division.
struct Carried {
  Value quotient, remainder;

  Value of(Operation *division) const {
    return isa<arith::DivUIOp>(division) ? quotient : remainder;
  }
};

/// Divisions in the body of one loop.
class DivisionCarrier {
public:
  explicit DivisionCarrier(scf::ForOp loop)
      : loop(loop), outside(loop.getLoc(), loop),
        end(loop.getLoc(), loop.getBody()->getTerminator()) {
    known[loop.getInductionVar()] = {loop.getLowerBound(), loop.getStep(), {}};
  }

  /// The loop with carried quotients and remainders in the place of divisions,
  /// and how many different divisions these are.
  std::pair<scf::ForOp, int64_t> run();

private:
  std::optional<Dividend> parse(Value value);
  const Carried &carry(const Dividend &dividend, Value divisor);
  /// The result of a division from what is carried; null where its dividend
  /// does not grow as the loop goes on.
  Value replace(Operation *division);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(outside, value);
  }

  scf::ForOp loop;
  ImplicitLocOpBuilder outside, end;
  /// How the loop's variable and quotients that are carried grow.
  DenseMap<Value, Progress> known;
  /// By dividend, taken apart, and divisor.
  llvm::MapVector<std::tuple<Value, Value, int64_t, Value>, Carried> carried;
  /// The values that are carried first, and next.
  SmallVector<Value> starts, next;
};
} // namespace

std::optional<Dividend> DivisionCarrier::parse(Value value) {
  if (known.contains(value))
    return Dividend{value, {}};
  auto add = value.getDefiningOp<arith::AddIOp>();
  if (!add)
    return std::nullopt;
  for (auto [growing, fixed] : {std::pair(add.getLhs(), add.getRhs()),
                                std::pair(add.getRhs(), add.getLhs())}) {
    std::optional<int64_t> number = getConstantIntValue(fixed);
    if (!number && !loop.isDefinedOutsideOfLoop(fixed))
      continue;
    std::optional<Dividend> dividend = parse(growing);
    if (!dividend || (!number && dividend->fixed))
      continue;
    if (number)
      dividend->constant += *number;
    else
      dividend->fixed = fixed;
    return dividend;
  }
  return std::nullopt;
}

const Carried &DivisionCarrier::carry(const Dividend &dividend, Value divisor) {
  auto [it, isNew] = carried.insert(
      {{dividend.growing, dividend.fixed, dividend.constant, divisor}, {}});
  if (!isNew)
    return it->second;
  Progress progress = known.lookup(dividend.growing);
  for (Value more : {dividend.fixed, constant(dividend.constant)})
    if (more)
      progress.start = arith::AddIOp::create(outside, progress.start, more);
  // A loop that does nothing may divide by zero, what precedes it may not.
  Value safe = arith::MaxUIOp::create(outside, divisor, constant(1));
  auto divide = [&](Value value) {
    return Carried{arith::DivUIOp::create(outside, value, safe),
                   arith::RemUIOp::create(outside, value, safe)};
  };
  Carried first = divide(progress.start), ofStep = divide(progress.step);
  auto addArgument = [&](Value start) -> Value {
    starts.push_back(start);
    return loop.getBody()->addArgument(start.getType(), start.getLoc());
  };
  Carried now{addArgument(first.quotient), addArgument(first.remainder)};

  // Either remainder is below the divisor, so that their sum, and one more, is
  // at most once too large.
  auto addBit = [&](Value to, Value bit) -> Value {
    Value number = arith::IndexCastUIOp::create(end, end.getIndexType(), bit);
    return arith::AddIOp::create(end, to, number);
  };
  Value sum = arith::AddIOp::create(end, now.remainder, ofStep.remainder);
  if (progress.carry)
    sum = addBit(sum, progress.carry);
  Value isOver =
      arith::CmpIOp::create(end, arith::CmpIPredicate::uge, sum, divisor);
  Value less = arith::SubIOp::create(end, sum, divisor);
  next.push_back(addBit(
      arith::AddIOp::create(end, now.quotient, ofStep.quotient), isOver));
  next.push_back(arith::SelectOp::create(end, isOver, less, sum));
  known[now.quotient] = {first.quotient, ofStep.quotient, isOver};
  return it->second = now;
}

Value DivisionCarrier::replace(Operation *division) {
  Value dividend = division->getOperand(0), divisor = division->getOperand(1);
  if (std::optional<Dividend> parsed = parse(dividend))
    return carry(*parsed, divisor).of(division);
  // The last iteration reads ahead what it has: it adds a step or nothing.
  auto add = dividend.getDefiningOp<arith::AddIOp>();
  auto choice =
      add ? add.getRhs().getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  if (!choice)
    return {};
  SmallVector<Value> results;
  for (Value added : {choice.getTrueValue(), choice.getFalseValue()}) {
    std::optional<Dividend> parsed = parse(add.getLhs());
    std::optional<int64_t> number = getConstantIntValue(added);
    bool isFixed = number || loop.isDefinedOutsideOfLoop(added);
    if (!parsed || !isFixed || (!number && parsed->fixed))
      return {};
    if (number)
      parsed->constant += *number;
    else
      parsed->fixed = added;
    results.push_back(carry(*parsed, divisor).of(division));
  }
  ImplicitLocOpBuilder builder(division->getLoc(), division);
  return arith::SelectOp::create(builder, choice.getCondition(), results[0],
                                 results[1]);
}

std::pair<scf::ForOp, int64_t> DivisionCarrier::run() {
  SmallVector<Operation *> divisions;
  for (Operation &op : loop.getBody()->without_terminator())
    if (isa<arith::DivUIOp, arith::RemUIOp>(op) &&
        op.getResult(0).getType().isIndex() &&
        loop.isDefinedOutsideOfLoop(op.getOperand(1)))
      divisions.push_back(&op);
  for (Operation *division : divisions)
    if (Value result = replace(division)) {
      division->replaceAllUsesWith(ValueRange{result});
      division->erase();
    }
  if (starts.empty())
    return {loop, 0};

  // The body has its new arguments already: a new loop takes it as it is.
  SmallVector<Value> inits(loop.getInitArgs());
  llvm::append_range(inits, starts);
  auto whole = scf::ForOp::create(
      outside, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
      inits, /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  whole->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  whole.getRegion().takeBody(loop.getRegion());
  Operation *yield = whole.getBody()->getTerminator();
  yield->insertOperands(yield->getNumOperands(), next);
  loop->replaceAllUsesWith(whole.getResults().take_front(loop.getNumResults()));
  loop.erase();
  return {whole, carried.size()};
}

namespace {
struct CarryDivisionsPass
    : mlir::evoformer::tile::impl::CarryDivisionsBase<CarryDivisionsPass> {
protected:
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](KernelOp kernel) {
      if (kernel.getTarget() && !kernel.getTarget()->isCPU())
        kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
      return WalkResult::skip();
    });
    for (scf::ForOp loop : loops) {
      auto [whole, count] = DivisionCarrier(loop).run();
      if (count > 0)
        remark::passed(whole.getLoc(),
                       remark::RemarkOpts::name("carried").category(kPass))
            << remark::metric("divisions", count);
    }
  }
};
} // namespace
