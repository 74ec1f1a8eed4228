//===- ReachedMemory.cpp - Memory behind a product ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReachedMemory.h"

#include "../KernelMemory.h"
#include "../PromoteToLDS/BankConflicts.h"
#include "../PromoteToLDS/LDSPlan.h"
#include "LayoutPropagation.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {
/// Walks from a product's result over the ops that tie layouts together.
class MemorySearch {
public:
  SmallVector<ReachedMemory> run(MmaOp mma) {
    reach(mma.getResult(),
          llvm::to_vector(llvm::seq<int64_t>(0, mma.getType().getRank())));
    while (!worklist.empty()) {
      auto [value, dims] = worklist.pop_back_val();
      Operation *def = value.getDefiningOp();
      // One use of a constant says nothing of others.
      if (def && def->hasTrait<OpTrait::ConstantLike>())
        continue;
      if (def)
        visit(def, value, dims);
      else if (auto loop =
                   dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp()))
        reachCarried(loop, value, dims);
      for (Operation *user : value.getUsers())
        visit(isa<scf::YieldOp>(user) ? user->getParentOp() : user, value,
              dims);
    }
    return found;
  }

private:
  void reach(Value value, ArrayRef<int64_t> dims) {
    if (isa<RankedTensorType>(value.getType()) && seen.insert(value).second)
      worklist.push_back({value, SmallVector<int64_t>(dims)});
  }

  void reachCarried(Operation *op, Value value, ArrayRef<int64_t> dims) {
    for (Value other : getCarriedGroup(op, value))
      reach(other, dims);
  }

  void visit(Operation *op, Value value, ArrayRef<int64_t> dims) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      found.push_back({op, load.getTileType(), load.getSourceType(),
                       SmallVector<int64_t>(dims)});
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      found.push_back({op, store.getTileType(), store.getDestType(),
                       SmallVector<int64_t>(dims)});
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<int64_t> other(dims.size());
      bool forward = value == transpose.getSource();
      for (auto [i, d] : llvm::enumerate(transpose.getPermutation()))
        (forward ? other[i] : other[d]) = forward ? dims[d] : dims[i];
      reach(forward ? transpose.getResult() : transpose.getSource(), other);
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      // Who uses a row vector knows its layout, not the other way round.
      if (value != broadcast.getResult())
        return;
      SmallVector<int64_t> source(dims);
      source.erase(source.begin() + broadcast.getDim());
      reach(broadcast.getSource(), source);
    } else if (isa<scf::ForOp, scf::IfOp>(op)) {
      reachCarried(op, value, dims);
    } else if (isElementwise(op)) {
      reach(op->getResult(0), dims);
      for (Value operand : op->getOperands())
        reach(operand, dims);
    }
  }

  SmallVector<std::pair<Value, SmallVector<int64_t>>> worklist;
  DenseSet<Value> seen;
  SmallVector<ReachedMemory> found;
};
} // namespace

SmallVector<ReachedMemory> mlir::evoformer::tile::findReachedMemory(MmaOp mma) {
  return MemorySearch().run(mma);
}

SmallVector<LoadedOperand>
mlir::evoformer::tile::findLoadedOperands(Value operand) {
  SmallVector<LoadedOperand> found;
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  SmallVector<std::pair<Value, SmallVector<int64_t>>> worklist = {
      {operand, llvm::to_vector(llvm::seq<int64_t>(0, rank))}};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    auto [value, dims] = worklist.pop_back_val();
    Operation *def = value.getDefiningOp();
    if (!def || !seen.insert(def).second)
      continue;
    if (auto load = dyn_cast<LoadOp>(def)) {
      found.push_back({load, dims});
    } else if (auto transpose = dyn_cast<TransposeOp>(def)) {
      SmallVector<int64_t> inner;
      for (int64_t d : dims)
        inner.push_back(transpose.getPermutation()[d]);
      worklist.push_back({transpose.getSource(), inner});
    } else if (isElementwise(def)) {
      for (Value input : def->getOperands())
        if (isa<RankedTensorType>(input.getType()))
          worklist.push_back({input, dims});
    }
  }
  return found;
}

int64_t mlir::evoformer::tile::countAccesses(const ReachedMemory &reached,
                                             const LaneMap &result) {
  LaneMap map = result;
  SmallVector<int64_t> dims = reached.dims;
  for (int64_t d = result.rank - 1; d >= 0; --d) {
    if (llvm::is_contained(dims, d))
      continue;
    map = map.dropDim(d);
    for (int64_t &dim : dims)
      dim -= dim > d;
  }
  map = map.permuteDims(dims);
  ArrayRef<int64_t> shape = reached.tile.getShape();
  int64_t contiguous = getContiguousDim(reached.memory, shape), run = 1;
  int64_t bytes = reached.tile.getElementTypeBitWidth() / 8;
  if (contiguous >= 0 && bytes > 0)
    run = getAccessWidth(map, shape, contiguous,
                         std::max<int64_t>(16 / bytes, 1));
  return map.getNumRegisters() / std::max<int64_t>(run, 1);
}
