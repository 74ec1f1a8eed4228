//===- EqualOps.cpp - Equal attentions are converted once -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EqualOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// Ops that give the same values.
struct SameValues : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b)
      return true;
    if (a == getTombstoneKey() || a == getEmptyKey() ||
        b == getTombstoneKey() || b == getEmptyKey())
      return false;
    return OperationEquivalence::isEquivalentTo(
        const_cast<Operation *>(a), const_cast<Operation *>(b),
        OperationEquivalence::IgnoreLocations);
  }
};
using KnownValues = llvm::DenseSet<Operation *, SameValues>;
} // namespace

/// Leaves out what types and constants tell, as strides of static memrefs do.
static void foldValues(llvm::iterator_range<Block::iterator> ops) {
  for (Operation &op : llvm::make_early_inc_range(ops)) {
    for (Region &region : op.getRegions())
      for (Block &block : region)
        foldValues(block);
    OpBuilder builder(&op);
    SmallVector<Value> values;
    if (op.getNumRegions() == 0 && succeeded(builder.tryFold(&op, values)) &&
        !values.empty())
      op.replaceAllUsesWith(values);
  }
}

static void eraseUnused(llvm::iterator_range<Block::iterator> ops) {
  SmallVector<Operation *> all = llvm::map_to_vector(
      ops, [](Operation &op) -> Operation * { return &op; });
  for (Operation *op : llvm::reverse(all))
    if (isOpTriviallyDead(op))
      op->erase();
}

/// Computes once what ops compute several times.
static void shareValues(llvm::iterator_range<Block::iterator> ops,
                        KnownValues known) {
  for (Operation &op : llvm::make_early_inc_range(ops)) {
    for (Region &region : op.getRegions())
      for (Block &block : region)
        shareValues(block, known);
    if (op.getNumRegions() != 0 || op.getNumResults() == 0 ||
        !isMemoryEffectFree(&op))
      continue;
    auto [same, isNew] = known.insert(&op);
    if (isNew)
      continue;
    op.replaceAllUsesWith((*same)->getResults());
    op.erase();
  }
}

/// What an op's regions say, whatever values are called.
static Attribute getRegionsKey(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      inner.print(os, OpPrintingFlags().useLocalScope());
      os << '\n';
    }
  return StringAttr::get(op->getContext(), text);
}

static SmallVector<Value> getOperands(ArrayRef<Operation *> ops) {
  SmallVector<Value> operands;
  for (Operation *op : ops)
    llvm::append_range(operands, op->getOperands());
  return operands;
}

/// Name, attributes, regions, types, which operands are the same value, and
/// which are numbers that are known.
Attribute EqualOps::getKey(ArrayRef<Operation *> ops) {
  Builder builder(ops.front()->getContext());
  SmallVector<Attribute> key;
  for (Operation *op : ops)
    key.append(
        {builder.getStringAttr(op->getName().getStringRef()),
         op->getAttrDictionary(), getRegionsKey(op),
         builder.getTypeArrayAttr(SmallVector<Type>(op->getOperandTypes()))});
  SmallVector<Value> operands = getOperands(ops);
  SmallVector<int64_t> firstUses, numbers;
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (std::optional<int64_t> number = getConstantIntValue(operand))
      numbers.append({static_cast<int64_t>(index), *number});
    firstUses.push_back(
        std::distance(operands.begin(), llvm::find(operands, operand)));
  }
  key.append({builder.getDenseI64ArrayAttr(firstUses),
              builder.getDenseI64ArrayAttr(numbers)});
  return builder.getArrayAttr(key);
}

bool EqualOps::copyFor(ArrayRef<Operation *> ops, Attribute key) const {
  auto known = programs.find(key);
  if (known == programs.end())
    return false;
  const Program &program = known->second;
  IRMapping mapping;
  mapping.map(ValueRange(program.operands), getOperands(ops));
  OpBuilder builder(ops.back());
  for (Operation *each : program.ops)
    builder.clone(*each, mapping);
  return true;
}

void EqualOps::remember(ArrayRef<Operation *> ops, Attribute key,
                        Operation *before) {
  Operation *op = ops.back();
  Program program;
  program.operands = getOperands(ops);
  // The first op is no other's equal: it stays.
  auto getBegin = [&] {
    return before ? std::next(before->getIterator()) : op->getBlock()->begin();
  };
  // All copies are shorter.
  foldValues(llvm::make_range(getBegin(), op->getIterator()));
  eraseUnused(llvm::make_range(getBegin(), op->getIterator()));
  Block::iterator begin = getBegin();
  shareValues(llvm::make_range(begin, op->getIterator()), {});
  llvm::SmallPtrSet<Operation *, 32> ours;
  for (Operation &each : llvm::make_range(begin, op->getIterator())) {
    program.ops.push_back(&each);
    ours.insert(&each);
  }
  // What looks behind an operand, at a size that it was allocated with, say, is
  // for this op alone.
  auto isOurs = [&](Value value) {
    Operation *owner = value.getDefiningOp();
    if (!owner)
      owner = value.getParentBlock()->getParentOp();
    Operation *top = op->getBlock()->findAncestorOpInBlock(*owner);
    return (top && ours.contains(top)) ||
           llvm::is_contained(program.operands, value);
  };
  for (Operation *each : program.ops) {
    WalkResult walk = each->walk([&](Operation *inner) {
      return llvm::all_of(inner->getOperands(), isOurs)
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return;
  }
  programs.try_emplace(key, std::move(program));
}
