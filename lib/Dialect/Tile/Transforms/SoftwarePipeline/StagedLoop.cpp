//===- StagedLoop.cpp - What of a loop can run ahead ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagedLoop.h"

#include "../KernelMemory.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

bool mlir::evoformer::tile::hasRoom(scf::ForOp loop, TargetAttr target) {
  return estimatePressure(loop) <= target.getRegisters() * 3 / 4;
}

static bool isGlobalLoad(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && !isWorkgroupMemory(load.getSourceType());
}

bool mlir::evoformer::tile::handsTilesOver(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(), [](Operation &op) {
    auto barrier = dyn_cast<BarrierOp>(op);
    return barrier && barrier.getHandover();
  });
}

bool mlir::evoformer::tile::isFixedDivision(Operation *op, scf::ForOp loop) {
  return isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op) &&
         loop.isDefinedOutsideOfLoop(op->getOperand(1));
}

/// What orders copies; where the program itself hands something over stays.
static bool isSynchronisation(Operation *op) {
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return !barrier.getHandover();
  return isa<AsyncGroupOp, WaitOp>(op);
}

/// Subgroups wait for each other amid it.
static bool isWorkgroupExchange(Operation *op) {
  auto exchange = dyn_cast<ExchangeOp>(op);
  return exchange && exchange.crossesSubgroups();
}

/// A number that all lanes read: an entry of a table of places, for one.
static bool isScalarLoad(Operation *op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  return load && !isWorkgroupMemory(load.getMemRefType());
}

/// Global memory, or null, that `op` reads.
static Value getReadMemory(Operation *op) {
  if (auto copy = dyn_cast<AsyncCopyOp>(op))
    return copy.getSource();
  if (isScalarLoad(op))
    return cast<memref::LoadOp>(op).getMemRef();
  return isGlobalLoad(op) ? cast<LoadOp>(op).getSource() : Value();
}

namespace {
class LoopAnalysis {
public:
  LoopAnalysis(scf::ForOp loop, std::string &reason)
      : body(loop.getBody()), reason(reason) {
    staged.loop = loop;
  }

  FailureOr<StagedLoop> run(const PrefetchBudget &budget);

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }
  LogicalResult collectWrites();
  LogicalResult checkTokens();
  LogicalResult checkBuffer(AllocLDSOp alloc, bool async);
  LogicalResult addSlice(ValueRange values, SetVector<Operation *> &slice);
  LogicalResult checkUnwritten(Operation *op);
  SmallVector<Operation *> inOrder(const SetVector<Operation *> &slice);
  LogicalResult splitStores();
  void collectPrefetches(const PrefetchBudget &budget);

  StagedLoop staged;
  Block *body;
  std::string &reason;
};
} // namespace

LogicalResult LoopAnalysis::collectWrites() {
  SetVector<Value> async, registers;
  bool handsOver = handsTilesOver(staged.loop);
  for (Operation &op : *body) {
    if (isSynchronisation(&op))
      staged.synchronisation.push_back(&op);
    if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
      staged.copies.push_back(copy);
      async.insert(copy.getDest());
    } else if (auto store = dyn_cast<StoreOp>(op);
               store && isWorkgroupMemory(store.getDestType())) {
      staged.stores.push_back(store);
      registers.insert(store.getDest());
    }
    if (op.getNumRegions() == 0)
      continue;
    // Nested loops and branches may read buffers, and write those that nothing
    // is copied to, not more.
    WalkResult nested = op.walk([&](Operation *inner) {
      auto store = dyn_cast<StoreOp>(inner);
      bool writes =
          store && isWorkgroupMemory(store.getDestType()) &&
          (!handsOver ||
           llvm::any_of(store.getDest().getUsers(), [&](Operation *user) {
             return user->getBlock() == body && isa<StoreOp, AsyncCopyOp>(user);
           }));
      return isSynchronisation(inner) || isa<AsyncCopyOp>(inner) || writes ||
                     isWorkgroupExchange(inner)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (nested.wasInterrupted())
      return fail("a nested region copies or synchronises itself");
  }
  for (Value buffer : async) {
    auto alloc = buffer.getDefiningOp<AllocLDSOp>();
    if (registers.contains(buffer) || failed(checkBuffer(alloc, true)))
      return fail("a buffer has other uses than copies and later reads");
    staged.asyncBuffers.push_back(alloc);
  }
  for (Value buffer : registers) {
    auto alloc = buffer.getDefiningOp<AllocLDSOp>();
    if (failed(checkBuffer(alloc, false)))
      return fail("a buffer has other uses than copies and later reads");
    staged.registerBuffers.push_back(alloc);
  }
  return success();
}

/// What an iteration copies it must await itself.
LogicalResult LoopAnalysis::checkTokens() {
  auto isHere = [&](Operation *op) { return op && op->getBlock() == body; };
  for (Operation &op : *body) {
    bool good = true;
    if (auto wait = dyn_cast<WaitOp>(op)) {
      auto group = wait.getToken().getDefiningOp<AsyncGroupOp>();
      good = isHere(group);
    } else if (auto group = dyn_cast<AsyncGroupOp>(op)) {
      good = llvm::all_of(group.getCopies(), [&](Value token) {
        return isHere(token.getDefiningOp<AsyncCopyOp>());
      });
      for (Operation *user : group->getUsers())
        good &= isa<WaitOp>(user) && isHere(user);
    } else if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
      good = llvm::hasSingleElement(copy->getUsers()) &&
             isa<AsyncGroupOp>(*copy->getUsers().begin());
    }
    if (!good)
      return fail("an iteration does not await what it copies itself, and "
                  "nothing else");
  }
  return success();
}

LogicalResult LoopAnalysis::checkBuffer(AllocLDSOp alloc, bool async) {
  if (!alloc)
    return failure();
  Operation *lastWrite = nullptr;
  auto isWrite = [&](Operation *user) {
    return user->getBlock() == body && isa<AsyncCopyOp, StoreOp>(user);
  };
  for (Operation *user : alloc->getUsers())
    if (isWrite(user) && (!lastWrite || lastWrite->isBeforeInBlock(user)))
      lastWrite = user;
  for (Operation *user : alloc->getUsers()) {
    if (isWrite(user))
      continue;
    Operation *inBody = body->findAncestorOpInBlock(*user);
    if (!isa<LoadOp>(user) || !inBody || !lastWrite->isBeforeInBlock(inBody))
      return failure();
  }
  return success();
}

/// Fails if the loop may write what `op` reads from global memory.
LogicalResult LoopAnalysis::checkUnwritten(Operation *op) {
  Value memory = getReadMemory(op);
  for (Operation &other : *body)
    if (memory && mayWriteGlobal(&other, memory))
      return fail("the loop may write the memory that is read ahead");
  return success();
}

/// Adds the ops of the body that compute `values` to the slice. They must be
/// the same for any iteration: the induction variable is all that varies.
LogicalResult LoopAnalysis::addSlice(ValueRange values,
                                     SetVector<Operation *> &slice) {
  SmallVector<Value> worklist(values);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (auto arg = dyn_cast<BlockArgument>(value);
        arg && arg.getOwner() == body && arg != staged.loop.getInductionVar())
      return fail("copies depend on values that the loop carries");
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != body || slice.contains(op))
      continue;
    if (op->getNumRegions() != 0 ||
        !(isPure(op) || isGlobalLoad(op) || isScalarLoad(op) ||
          isFixedDivision(op, staged.loop)))
      return fail("copies depend on an op that cannot run ahead: " +
                  op->getName().getStringRef());
    if (failed(checkUnwritten(op)))
      return failure();
    slice.insert(op);
    llvm::append_range(worklist, op->getOperands());
  }
  return success();
}

SmallVector<Operation *>
LoopAnalysis::inOrder(const SetVector<Operation *> &slice) {
  SmallVector<Operation *> ops(slice.begin(), slice.end());
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

LogicalResult LoopAnalysis::splitStores() {
  SetVector<Operation *> slice;
  for (StoreOp store : staged.stores)
    if (failed(addSlice(store->getOperands(), slice)))
      return failure();
  DenseSet<Operation *> late;
  for (Operation *op : inOrder(slice)) {
    bool usesLoaded = llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return def &&
             (late.contains(def) || (slice.contains(def) && isGlobalLoad(def)));
    });
    if (!usesLoaded) {
      staged.loadSlice.push_back(op);
      continue;
    }
    if (isGlobalLoad(op))
      return fail("a load depends on another load");
    late.insert(op);
    staged.storeSlice.push_back(op);
  }
  return success();
}

/// Calls `visit` with the ops of the body that need what was loaded as it was
/// loaded: casts, broadcasts and the like of it are followed up to where they
/// meet other tiles.
static void visitUses(LoadOp load, Block *body,
                      llvm::function_ref<void(Operation *)> visit) {
  SmallVector<Operation *> worklist = {load};
  DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (Operation *user : op->getUsers()) {
      Operation *inBody = body->findAncestorOpInBlock(*user);
      if (!inBody || !seen.insert(user).second)
        continue;
      visit(inBody);
      int64_t tiles = llvm::count_if(user->getOperands(), [](Value operand) {
        return isa<RankedTensorType>(operand.getType()) &&
               !matchPattern(operand, m_Constant());
      });
      if (user == inBody && tiles == 1 && isPure(user) &&
          user->getNumRegions() == 0 && !isa<ReduceOp>(user))
        worklist.push_back(user);
    }
  }
}

static Operation *getLastUse(LoadOp load, Block *body) {
  Operation *last = load;
  visitUses(load, body, [&](Operation *user) {
    if (last->isBeforeInBlock(user))
      last = user;
  });
  return last;
}

/// Whether a product starts from what was loaded or multiplies it.
static bool feedsProduct(LoadOp load, Block *body) {
  bool feeds = false;
  visitUses(load, body, [&](Operation *user) { feeds |= isa<MmaOp>(user); });
  return feeds;
}

void LoopAnalysis::collectPrefetches(const PrefetchBudget &budget) {
  // A row vector of which a lane has this little takes no share of the budget.
  constexpr int64_t kFewRegisters = 2;
  int64_t taken = 0;
  SetVector<Operation *> direct;
  SmallVector<LoadOp> loads;
  for (Operation &op : *body)
    if (isGlobalLoad(&op) && !llvm::is_contained(staged.loadSlice, &op))
      loads.push_back(cast<LoadOp>(op));
  for (LoadOp load : loads) {
    SetVector<Operation *> slice;
    if (failed(addSlice(load->getResults(), slice)))
      continue;
    Operation *lastUse = getLastUse(load, body);
    // What the loop carries to its next iteration runs ahead already.
    if (lastUse == body->getTerminator())
      continue;
    bool varies = llvm::any_of(slice, [&](Operation *op) {
      return llvm::is_contained(op->getOperands(),
                                staged.loop.getInductionVar());
    });
    int64_t registers = getRegisterCount(load.getTileType());
    bool isRow = isRowVector(load.getTileType());
    // What is added to a product arrives during it if it is issued first; what
    // a product needs does not.
    bool feeds = feedsProduct(load, body);
    bool isDirect = isRow && (registers > kFewRegisters || !feeds);
    if (!varies || isDirect) {
      if (registers <= budget.registers)
        direct.insert(slice.begin(), slice.end());
      continue;
    }
    if (!isRow) {
      if (taken + registers > (feeds ? budget.withFactors : budget.registers))
        continue;
      taken += registers;
    }
    staged.prefetches.push_back({load, inOrder(slice), lastUse});
  }
  staged.directSlice = inOrder(direct);
}

FailureOr<StagedLoop> LoopAnalysis::run(const PrefetchBudget &budget) {
  if (staged.loop.getUnsignedCmp())
    return fail("the loop compares without sign");
  if (failed(checkTokens()) || failed(collectWrites()))
    return failure();
  SetVector<Operation *> slice;
  for (AsyncCopyOp copy : staged.copies)
    if (failed(checkUnwritten(copy)) ||
        failed(addSlice(copy->getOperands(), slice)))
      return failure();
  staged.copySlice = inOrder(slice);
  if (failed(splitStores()))
    return failure();
  collectPrefetches(budget);
  // Without buffers no barrier stands at the top of each iteration, behind
  // which the next exchange may write what the one before has read: then all
  // stay.
  if (!staged.hasBuffers() && llvm::any_of(*body, [](Operation &op) {
        return isWorkgroupExchange(&op);
      }))
    llvm::erase_if(staged.synchronisation, llvm::IsaPred<BarrierOp>);
  reason.clear();
  return staged;
}

FailureOr<StagedLoop> mlir::evoformer::tile::analyseLoop(scf::ForOp loop,
                                                         PrefetchBudget budget,
                                                         std::string &reason) {
  return LoopAnalysis(loop, reason).run(budget);
}
