//===- ThreadNumbers.cpp - What is made of a thread's number --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

static bool isThreadNumber(Operation *op) {
  return isa<ROCDL::ThreadIdXOp, NVVM::ThreadIdXOp>(op);
}

/// Counts the bits of a mask below the lane: with all bits, its number.
static bool countsLanes(Operation *op) {
  return isa<ROCDL::MbcntLoOp, ROCDL::MbcntHiOp>(op);
}

static bool isArithmetic(Operation *op) {
  return isa<LLVM::AddOp, LLVM::SubOp, LLVM::MulOp, LLVM::UDivOp, LLVM::URemOp,
             LLVM::SDivOp, LLVM::SRemOp, LLVM::AndOp, LLVM::OrOp, LLVM::XOrOp,
             LLVM::ShlOp, LLVM::LShrOp, LLVM::AShrOp, LLVM::ICmpOp,
             LLVM::SelectOp, LLVM::TruncOp, LLVM::ZExtOp, LLVM::SExtOp>(op);
}

/// The number of threads, if workgroups have one dimension of a known size.
static unsigned getThreads(LLVM::LLVMFuncOp function) {
  for (StringRef name :
       {"gpu.known_block_size", "rocdl.reqd_work_group_size", "nvvm.reqntid"})
    if (auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(name))
      if (!sizes.empty() &&
          llvm::all_of(sizes.asArrayRef().drop_front(),
                       [](int32_t size) { return size == 1; }))
        return sizes[0];
  return 0;
}

ThreadNumbers::ThreadNumbers(LLVM::LLVMFuncOp function)
    : threads(getThreads(function)) {
  if (!threads)
    return;
  // Only subgroups of 64 lanes count those from 32 on.
  lanes = 32;
  function.walk([&](ROCDL::MbcntHiOp) { lanes = 64; });
  for (Block &block : function.getBody())
    for (Operation &op : block) {
      if (op.getNumResults() != 1 ||
          !isa<IntegerType>(op.getResult(0).getType()))
        continue;
      auto constant = dyn_cast<LLVM::ConstantOp>(op);
      bool isLeaf = isThreadNumber(&op) ||
                    (constant && isa<IntegerAttr>(constant.getValue()));
      if (isLeaf || ((isArithmetic(&op) || countsLanes(&op)) &&
                     llvm::all_of(op.getOperands(), [&](Value operand) {
                       return isMade(operand);
                     }))) {
        made.push_back(&op);
        isMadeHere.insert(&op);
      }
    }
}

bool ThreadNumbers::isMade(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && has(op);
}

std::optional<APInt>
ThreadNumbers::evaluate(Operation *op, unsigned thread,
                        ArrayRef<std::optional<APInt>> operands) const {
  unsigned width = op->getResult(0).getType().getIntOrFloatBitWidth();
  if (isThreadNumber(op))
    return APInt(width, thread);
  if (auto constant = dyn_cast<LLVM::ConstantOp>(op))
    return cast<IntegerAttr>(constant.getValue()).getValue().sextOrTrunc(width);
  if (!llvm::all_of(operands,
                    [](auto &operand) { return operand.has_value(); }))
    return std::nullopt;
  const APInt &a = *operands[0];
  if (countsLanes(op)) {
    unsigned lane = thread % lanes, first = isa<ROCDL::MbcntHiOp>(op) ? 32 : 0;
    unsigned below = lane < first ? 0 : std::min(lane - first, 32u);
    return *operands[1] +
           APInt(width, (a & APInt::getLowBitsSet(width, below)).popcount());
  }
  if (isa<LLVM::TruncOp>(op))
    return a.trunc(width);
  if (isa<LLVM::ZExtOp>(op))
    return a.zext(width);
  if (isa<LLVM::SExtOp>(op))
    return a.sext(width);
  if (isa<LLVM::SelectOp>(op))
    return a.isZero() ? operands[2] : operands[1];
  const APInt &b = *operands[1];
  if (auto icmp = dyn_cast<LLVM::ICmpOp>(op))
    // The same predicates, with the same numbers.
    return APInt(
        1, arith::applyCmpPredicate(
               static_cast<arith::CmpIPredicate>(icmp.getPredicate()), a, b));
  // What may wrap is not asked whether it may: it is undefined.
  if (auto flags = dyn_cast<LLVM::IntegerOverflowFlagsInterface>(op))
    if (flags.getOverflowFlags() != LLVM::IntegerOverflowFlags::none)
      return std::nullopt;
  if (isa<LLVM::AddOp>(op))
    return a + b;
  if (isa<LLVM::SubOp>(op))
    return a - b;
  if (isa<LLVM::MulOp>(op))
    return a * b;
  if (isa<LLVM::AndOp>(op))
    return a & b;
  if (isa<LLVM::OrOp>(op))
    return a | b;
  if (isa<LLVM::XOrOp>(op))
    return a ^ b;
  if (isa<LLVM::ShlOp, LLVM::LShrOp, LLVM::AShrOp>(op)) {
    if (b.uge(width))
      return std::nullopt;
    return isa<LLVM::ShlOp>(op)    ? a.shl(b)
           : isa<LLVM::LShrOp>(op) ? a.lshr(b)
                                   : a.ashr(b);
  }
  if (b.isZero() || (a.isMinSignedValue() && b.isAllOnes()))
    return std::nullopt;
  return isa<LLVM::UDivOp>(op)   ? a.udiv(b)
         : isa<LLVM::URemOp>(op) ? a.urem(b)
         : isa<LLVM::SDivOp>(op) ? a.sdiv(b)
                                 : a.srem(b);
}

ThreadNumbers::Numbers ThreadNumbers::evaluate(Operation *op,
                                               const Changes &changed) {
  // Making one may move the others in the map.
  for (Value operand : op->getOperands())
    get(operand);
  SmallVector<const Numbers *> operands;
  for (Value operand : op->getOperands()) {
    auto it = changed.find(operand);
    operands.push_back(it == changed.end() ? &get(operand) : &it->second);
  }
  Numbers numbers;
  for (unsigned thread = 0; thread < threads; ++thread) {
    SmallVector<std::optional<APInt>> values;
    for (const Numbers *operand : operands)
      values.push_back((*operand)[thread]);
    numbers.push_back(evaluate(op, thread, values));
  }
  return numbers;
}

const ThreadNumbers::Numbers &ThreadNumbers::get(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  return known[value] = evaluate(value.getDefiningOp(), Changes());
}

/// Whether each is defined and the same.
template <typename Numbers>
static bool areSame(const Numbers &a, const Numbers &b) {
  return llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
    auto &[x, y] = pair;
    return x && y && *x == *y;
  });
}

bool ThreadNumbers::isEqual(Operation *op, Value broken) {
  if (!has(op) || broken.getType() != op->getResult(0).getType())
    return false;
  llvm::SetVector<Operation *> shuffles;
  auto isRead = [&](Operation *maker) {
    return llvm::any_of(maker->getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isMadeHere.contains(user))
        return false;
      bool tellsWhichLane =
          isa<NVVM::ShflOp>(user) && use.getOperandNumber() >= 2;
      if (tellsWhichLane)
        shuffles.insert(user);
      return !tellsWhichLane;
    });
  };
  Changes changed;
  Operation *definition = broken.getDefiningOp();
  if (isMade(broken))
    changed[op->getResult(0)] = get(broken);
  else if (definition &&
           llvm::all_of(definition->getOperands(),
                        [&](Value v) { return isMade(v); }) &&
           (isArithmetic(definition) || isa<LLVM::ConstantOp>(definition)))
    changed[op->getResult(0)] = evaluate(definition, Changes());
  else
    return false;
  for (Operation *maker : made) {
    Value result = maker->getResult(0);
    if (maker != op) {
      if (llvm::none_of(maker->getOperands(), [&](Value operand) {
            return changed.contains(operand);
          }))
        continue;
      Numbers numbers = evaluate(maker, changed);
      if (areSame(numbers, get(result)))
        continue;
      changed[result] = std::move(numbers);
    } else if (areSame(changed[result], get(result))) {
      return true;
    }
    if (isRead(maker))
      return false;
  }
  return llvm::all_of(shuffles, [&](Operation *shuffle) {
    auto exchange = cast<NVVM::ShflOp>(shuffle);
    return givesTheSame(exchange, getSources(exchange, changed));
  });
}
