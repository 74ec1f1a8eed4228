//===- TokenAges.cpp - What a wait may leave under way ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenAges.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {
/// What is known of the tokens at one point of the program: the least that has
/// been issued since, on any way there. A token that is not in the map may be
/// the latest.
using Ages = llvm::MapVector<Value, int64_t>;

class AgeAnalysis {
public:
  explicit AgeAnalysis(function_ref<int64_t(Operation *)> getWeight)
      : getWeight(getWeight) {}

  void visit(Block &block, Ages &ages);

  DenseMap<Operation *, int64_t> atWaits;

private:
  void visitWait(WaitOp op, const Ages &ages);
  void visitLoop(scf::ForOp loop, Ages &ages);
  void visitRegions(Operation *op, Ages &ages);

  function_ref<int64_t(Operation *)> getWeight;
};
} // namespace

static int64_t lookUp(const Ages &ages, Value token) {
  const auto *found = ages.find(token);
  return found == ages.end() ? 0 : found->second;
}

/// Lowers the ages of `values` in `ages` to what `from` have in `other`; true
/// if any was higher.
static bool meet(Ages &ages, ValueRange values, const Ages &other,
                 ValueRange from) {
  bool changed = false;
  for (auto [value, source] : llvm::zip(values, from)) {
    if (!isa<TokenType>(value.getType()))
      continue;
    int64_t age = lookUp(other, source);
    auto [entry, isNew] = ages.try_emplace(value, age);
    changed |= !isNew && age < entry->second;
    entry->second = std::min(entry->second, age);
  }
  return changed;
}

void AgeAnalysis::visitWait(WaitOp op, const Ages &ages) {
  int64_t age = lookUp(ages, op.getToken());
  auto [entry, isNew] = atWaits.try_emplace(op, age);
  entry->second = std::min(entry->second, age);
}

/// Again as long as a further iteration finds younger tokens than those before.
void AgeAnalysis::visitLoop(scf::ForOp loop, Ages &ages) {
  Ages first = ages;
  meet(first, loop.getRegionIterArgs(), ages, loop.getInitArgs());
  for (;;) {
    Ages last = first;
    visit(*loop.getBody(), last);
    ValueRange yielded = loop.getBody()->getTerminator()->getOperands();
    bool changed = meet(first, loop.getRegionIterArgs(), last, yielded);
    if (changed)
      continue;
    // After no iteration, or the last.
    meet(ages, loop.getResults(), ages, loop.getInitArgs());
    meet(ages, loop.getResults(), last, yielded);
    return;
  }
}

/// Regions of which one runs, or none. Of a token that comes from elsewhere
/// nothing is known.
void AgeAnalysis::visitRegions(Operation *op, Ages &ages) {
  Ages before = ages;
  bool isBranch = isa<scf::IfOp, scf::IndexSwitchOp>(op);
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      Ages last = before;
      visit(block, last);
      if (isBranch)
        meet(ages, op->getResults(), last,
             block.getTerminator()->getOperands());
    }
}

void AgeAnalysis::visit(Block &block, Ages &ages) {
  for (Operation &op : block) {
    if (auto wait = dyn_cast<WaitOp>(op))
      visitWait(wait, ages);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      visitLoop(loop, ages);
    else
      visitRegions(&op, ages);
    if (int64_t weight = getWeight(&op))
      for (auto &entry : ages)
        entry.second += weight;
    if (auto group = dyn_cast<AsyncGroupOp>(op))
      ages[group.getToken()] = 0;
  }
}

DenseMap<Operation *, int64_t> mlir::evoformer::tile::getAgesAtWaits(
    KernelOp kernel, function_ref<int64_t(Operation *)> getWeight) {
  AgeAnalysis analysis(getWeight);
  Ages ages;
  analysis.visit(kernel.getBody().front(), ages);
  return analysis.atWaits;
}
