//===- ThreadExchanges.cpp - Which lanes shuffles read, and for whom ------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shuffle makes no difference to a thread that drops what it gets. Which one
// does is known where a choice is made of the thread's number: that of lanes
// whose number is odd, say.
//
//===----------------------------------------------------------------------===//

#include "Handlers.h"
#include "ThreadNumbers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

static CrossLane getMode(NVVM::ShflOp shuffle) {
  switch (shuffle.getKind()) {
  case NVVM::ShflKind::bfly:
    return CrossLane::ShflXor;
  case NVVM::ShflKind::up:
    return CrossLane::ShflUp;
  case NVVM::ShflKind::down:
    return CrossLane::ShflDown;
  case NVVM::ShflKind::idx:
    return CrossLane::ShflIdx;
  }
  llvm_unreachable("no such shuffle");
}

/// Whether a lane makes one value, of what it has itself and of that only.
static bool worksAlone(Operation *op) {
  return isa<LLVM::LLVMDialect>(op->getDialect()) && isMemoryEffectFree(op) &&
         op->getNumResults() == 1 &&
         !isa<LLVM::FreezeOp, LLVM::CallIntrinsicOp, LLVM::InlineAsmOp>(op);
}

std::vector<std::optional<unsigned>>
ThreadNumbers::getSources(NVVM::ShflOp shuffle, const Changes &changed) {
  std::vector<std::optional<unsigned>> sources(threads);
  if (!isMade(shuffle.getOffset()) || !isMade(shuffle.getMaskAndClamp()))
    return sources;
  auto find = [&](Value value) -> const Numbers & {
    auto it = changed.find(value);
    return it == changed.end() ? get(value) : it->second;
  };
  // Making one may move the others in the map.
  get(shuffle.getMaskAndClamp());
  const Numbers &by = find(shuffle.getOffset()),
                &clamp = find(shuffle.getMaskAndClamp());
  for (unsigned thread = 0; thread < threads; ++thread) {
    if (!by[thread] || !clamp[thread])
      continue;
    unsigned lane = thread % lanes;
    std::optional<unsigned> from =
        getShuffleSource(getMode(shuffle), lane, by[thread]->getZExtValue(),
                         clamp[thread]->getZExtValue());
    sources[thread] = thread - lane + from.value_or(lane);
  }
  return sources;
}

bool ThreadNumbers::givesTheSame(NVVM::ShflOp shuffle,
                                 ArrayRef<std::optional<unsigned>> sources) {
  // A predicate would tell whether the lane is there.
  if (shuffle.getType() != shuffle.getVal().getType())
    return false;
  if (isUniform(shuffle.getVal()))
    return true;
  auto before = getSources(shuffle, Changes());
  return llvm::all_of(
      findReaders(shuffle.getResult()).set_bits(), [&](unsigned thread) {
        return before[thread] && before[thread] == sources[thread];
      });
}

bool ThreadNumbers::isNeedless(NVVM::ShflOp shuffle) {
  std::vector<std::optional<unsigned>> own(threads);
  llvm::copy(llvm::seq(threads), own.begin());
  return threads && givesTheSame(shuffle, own);
}

llvm::BitVector ThreadNumbers::findReadersThrough(OpOperand &use) {
  Operation *user = use.getOwner();
  auto shuffle = dyn_cast<NVVM::ShflOp>(user);
  if (shuffle && use.getOperandNumber() == 1 &&
      shuffle.getType() == shuffle.getVal().getType()) {
    auto sources = getSources(shuffle, Changes());
    llvm::BitVector read(threads);
    for (unsigned thread : findReaders(shuffle.getResult()).set_bits()) {
      if (!sources[thread])
        return findVisitors(user->getBlock());
      read.set(*sources[thread]);
    }
    return read;
  }
  auto select = dyn_cast<LLVM::SelectOp>(user);
  if (select && use.getOperandNumber() != 0) {
    llvm::BitVector read = findReaders(select.getResult());
    dropThreads(select.getCondition(), use.getOperandNumber() == 1, read);
    return read;
  }
  // Nobody may divide by zero.
  bool mayFail =
      isa<LLVM::UDivOp, LLVM::URemOp, LLVM::SDivOp, LLVM::SRemOp>(user);
  return worksAlone(user) && !mayFail ? findReaders(user->getResult(0))
                                      : findVisitors(user->getBlock());
}

const llvm::BitVector &ThreadNumbers::findReaders(Value value) {
  auto it = readers.find(value);
  if (it != readers.end())
    return it->second;
  llvm::BitVector read(threads);
  for (OpOperand &use : value.getUses())
    read |= findReadersThrough(use);
  return readers[value] = std::move(read);
}

void ThreadNumbers::dropThreads(Value condition, bool holds,
                                llvm::BitVector &of) {
  auto both = condition.getDefiningOp<LLVM::AndOp>();
  if (isMade(condition)) {
    const Numbers &isTrue = get(condition);
    for (unsigned thread = 0; thread < threads; ++thread)
      if (isTrue[thread] && isTrue[thread]->isZero() == holds)
        of.reset(thread);
  } else if (both && holds) {
    dropThreads(both.getLhs(), holds, of);
    dropThreads(both.getRhs(), holds, of);
  }
}

llvm::BitVector ThreadNumbers::findVisitors(Block *block) {
  auto it = visitors.find(block);
  if (it != visitors.end())
    return it->second;
  // Whoever comes round a loop may have come in.
  visitors[block] = llvm::BitVector(threads, true);
  if (block->isEntryBlock())
    return visitors[block];
  llvm::BitVector here(threads);
  for (Block *before : block->getPredecessors()) {
    llvm::BitVector from = findVisitors(before);
    auto branch = dyn_cast<LLVM::CondBrOp>(before->getTerminator());
    if (branch && branch.getTrueDest() != branch.getFalseDest())
      dropThreads(branch.getCondition(), branch.getTrueDest() == block, from);
    here |= from;
  }
  return visitors[block] = here;
}

bool ThreadNumbers::isUniform(Value value) {
  auto it = uniform.find(value);
  if (it != uniform.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  bool isSame = false;
  if (!op) {
    // A loop's end may be another one for each lane.
    isSame = value.getParentBlock()->isEntryBlock();
  } else if (isMade(value)) {
    const Numbers &numbers = get(value);
    isSame = true;
    for (unsigned thread = 0; thread < threads; ++thread)
      isSame &= numbers[thread] &&
                numbers[thread] == numbers[thread - thread % lanes];
  } else if (isa<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp,
                 NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp,
                 NVVM::BlockDimXOp>(op)) {
    isSame = true;
  } else if (worksAlone(op)) {
    isSame = llvm::all_of(op->getOperands(),
                          [&](Value operand) { return isUniform(operand); });
  }
  return uniform[value] = isSame;
}
