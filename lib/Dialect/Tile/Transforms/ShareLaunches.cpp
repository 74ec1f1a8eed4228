//===- ShareLaunches.cpp - What several launches would prepare ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/Transforms/Passes.h"

#include "KernelMemory.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_SHARELAUNCHES
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-share-launches";

namespace {
/// What is known of kernels, by name.
class Kernels {
public:
  explicit Kernels(ModuleOp module) {
    for (KernelOp kernel : module.getOps<KernelOp>())
      kernels[kernel.getSymNameAttr()] = kernel;
  }

  /// Null: not in this module.
  KernelOp of(LaunchOp launch) const {
    return kernels.lookup(launch.getKernelAttr().getAttr());
  }

  /// Whether a launch may write the memory of an argument.
  bool mayWrite(LaunchOp launch, unsigned index) {
    KernelOp kernel = of(launch);
    if (!kernel)
      return true;
    auto [known, isNew] = written.try_emplace(kernel);
    if (isNew)
      for (BlockArgument argument : kernel.getArguments())
        known->second.push_back(isa<MemRefType>(argument.getType()) &&
                                mayWriteGlobal(kernel, argument));
    return known->second[index];
  }

  /// Whether two launches run the same program.
  bool areEqual(LaunchOp a, LaunchOp b) const {
    KernelOp first = of(a), second = of(b);
    if (!first || !second)
      return false;
    return first == second ||
           (first.getFunctionType() == second.getFunctionType() &&
            first.getSchedule() == second.getSchedule() &&
            first.getTarget() == second.getTarget() &&
            OperationEquivalence::isRegionEquivalentTo(
                &first.getBody(), &second.getBody(),
                OperationEquivalence::IgnoreLocations));
  }

  /// Has one launch less.
  void setReplaced(LaunchOp launch) {
    replaced.insert(launch.getKernelAttr().getAttr());
  }
  SetVector<StringAttr> takeReplaced() { return std::move(replaced); }

private:
  DenseMap<StringAttr, KernelOp> kernels;
  DenseMap<Operation *, SmallVector<bool>> written;
  SetVector<StringAttr> replaced;
};

/// A launch whose results still are what it would compute now.
struct KnownLaunch {
  explicit KnownLaunch(LaunchOp launch);

  LaunchOp launch;
  /// The memory that it takes.
  SmallVector<Value> roots;
  /// Whether all of that is memory of its own, see isApart.
  bool areApart = true;
};

/// The launches of a block, and of blocks in its operations.
class BlockSharing {
public:
  /// `known`: launches of the blocks around it.
  BlockSharing(Block &block, Kernels &kernels, ArrayRef<KnownLaunch> known = {})
      : block(block), kernels(kernels), known(known) {}

  void run();

private:
  bool onlyReads(Value memory, LaunchOp except);
  bool isPreparation(LaunchOp launch);
  bool computesSame(LaunchOp a, LaunchOp b);
  /// Leaves `later` without arguments, to be erased.
  void replace(LaunchOp later, LaunchOp earlier);
  void forgetWritten(Operation *op);
  void forgetReaders(Value written);

  Block &block;
  Kernels &kernels;
  SmallVector<KnownLaunch> known;
};
} // namespace

/// Whether all users of a buffer in any block but one launch only read it, or
/// free it.
bool BlockSharing::onlyReads(Value memory, LaunchOp except) {
  return llvm::all_of(memory.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == except || isa<memref::DeallocOp>(user))
      return true;
    if (auto launch = dyn_cast<LaunchOp>(user)) {
      unsigned first = launch.getArgs().getBeginOperandIndex();
      return use.getOperandNumber() >= first &&
             !kernels.mayWrite(launch, use.getOperandNumber() - first);
    }
    // A branch hands it on.
    if (auto choice = dyn_cast<scf::IfOp>(user->getParentOp());
        choice && isa<scf::YieldOp>(user))
      return onlyReads(choice.getResult(use.getOperandNumber()), except);
    if (!isMemoryEffectFree(user) || user->getNumRegions() != 0 ||
        user->hasTrait<OpTrait::IsTerminator>())
      return false;
    return llvm::all_of(user->getResults(), [&](Value result) {
      return !isa<MemRefType>(result.getType()) || onlyReads(result, except);
    });
  });
}

/// Whether all that a launch writes are whole buffers of this block that
/// nothing else writes.
bool BlockSharing::isPreparation(LaunchOp launch) {
  bool any = false;
  for (auto [index, argument] : llvm::enumerate(launch.getArgs())) {
    if (!kernels.mayWrite(launch, index))
      continue;
    auto alloc = argument.getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getBlock() != &block || !onlyReads(alloc, launch) ||
        llvm::count(launch.getArgs(), argument) != 1)
      return false;
    std::optional<Operation *> dealloc = memref::findDealloc(alloc);
    if (!dealloc || !*dealloc || (*dealloc)->getBlock() != &block)
      return false;
    any = true;
  }
  return any;
}

bool BlockSharing::computesSame(LaunchOp a, LaunchOp b) {
  if (!llvm::equal(a.getSpace(), b.getSpace()) ||
      a.getArgs().size() != b.getArgs().size() || !kernels.areEqual(a, b))
    return false;
  for (auto [index, pair] :
       llvm::enumerate(llvm::zip_equal(a.getArgs(), b.getArgs()))) {
    auto [x, y] = pair;
    if (!kernels.mayWrite(a, index)) {
      if (x != y)
        return false;
      continue;
    }
    auto mine = x.getDefiningOp<memref::AllocOp>(),
         other = y.getDefiningOp<memref::AllocOp>();
    // The one that stays must stand before all that is made of the other.
    bool isBefore =
        other->getBlock() != mine->getBlock() || other->isBeforeInBlock(mine);
    if (!isBefore || mine.getType() != other.getType() ||
        mine.getAlignment() != other.getAlignment() ||
        !llvm::equal(mine->getOperands(), other->getOperands()))
      return false;
  }
  return true;
}

void BlockSharing::replace(LaunchOp later, LaunchOp earlier) {
  remark::passed(later.getLoc(),
                 remark::RemarkOpts::name("shared-launch").category(kPass))
      << remark::metric("kernel", later.getKernel());
  SmallVector<std::pair<Value, Value>> buffers;
  for (auto [index, pair] :
       llvm::enumerate(llvm::zip_equal(later.getArgs(), earlier.getArgs())))
    if (kernels.mayWrite(later, index))
      buffers.emplace_back(std::get<0>(pair), std::get<1>(pair));
  kernels.setReplaced(later);
  later.getArgsMutable().clear();
  for (auto [old, kept] : buffers) {
    // It is freed where the last of both was, or behind what that is in.
    Operation *first = *memref::findDealloc(kept);
    Operation *second = *memref::findDealloc(old);
    Operation *last = first->getBlock()->findAncestorOpInBlock(*second);
    bool isLater = first->isBeforeInBlock(last);
    // What is moved has all of a block's operations counted again.
    if (last == second && isLater)
      std::swap(first, second);
    else if (isLater)
      first->moveAfter(last);
    second->erase();
    old.replaceAllUsesWith(kept);
    old.getDefiningOp()->erase();
  }
}

/// Buffers, and arguments of a function, are memory of their own.
static bool isApart(Value memory) {
  if (auto argument = dyn_cast<BlockArgument>(memory))
    return argument.getOwner()->isEntryBlock() &&
           isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return memory.getDefiningOp<memref::AllocOp>() != nullptr;
}

KnownLaunch::KnownLaunch(LaunchOp launch) : launch(launch) {
  for (Value argument : launch.getArgs()) {
    if (!isa<MemRefType>(argument.getType()))
      continue;
    roots.push_back(getMemoryRoot(argument));
    areApart &= isApart(roots.back());
  }
}

/// What reads the memory that has been written would compute something else.
void BlockSharing::forgetReaders(Value written) {
  Value root = getMemoryRoot(written);
  bool rootIsApart = isApart(root);
  llvm::erase_if(known, [&](const KnownLaunch &one) {
    return llvm::is_contained(one.roots, root) ||
           !(rootIsApart && one.areApart);
  });
}

void BlockSharing::forgetWritten(Operation *op) {
  op->walk([&](Operation *inner) {
    if (auto launch = dyn_cast<LaunchOp>(inner)) {
      for (auto [index, argument] : llvm::enumerate(launch.getArgs()))
        if (isa<MemRefType>(argument.getType()) &&
            kernels.mayWrite(launch, index))
          forgetReaders(argument);
    } else if (!isControlFlow(inner) &&
               // An assertion claims to write, lest it be removed.
               !isa<memref::AllocOp, memref::DeallocOp, cf::AssertOp>(inner) &&
               !isMemoryEffectFree(inner)) {
      known.clear();
    }
  });
}

/// What has none prepares nothing.
static bool makesBuffers(Block &block) {
  return block.walk([](memref::AllocOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void BlockSharing::run() {
  for (auto next = block.begin(); next != block.end();) {
    Operation &op = *next;
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch || !isPreparation(launch)) {
      forgetWritten(&op);
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          if (makesBuffers(inner))
            BlockSharing(inner, kernels, known).run();
      ++next;
      continue;
    }
    auto *same = llvm::find_if(known, [&](const KnownLaunch &earlier) {
      return computesSame(launch, earlier.launch);
    });
    if (same != known.end()) {
      replace(launch, same->launch);
      // What stood next may be gone.
      next = std::next(op.getIterator());
      launch.erase();
      continue;
    }
    known.emplace_back(launch);
    ++next;
  }
}

namespace {
struct ShareLaunchesPass
    : evoformer::tile::impl::ShareLaunchesBase<ShareLaunchesPass> {
protected:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Kernels kernels(module);
    for (auto host : module.getOps<FunctionOpInterface>())
      if (!isa<KernelOp>(host.getOperation()))
        for (Block &block : host.getFunctionBody())
          BlockSharing(block, kernels).run();
    for (StringAttr name : kernels.takeReplaced())
      if (KernelOp kernel = module.lookupSymbol<KernelOp>(name);
          SymbolTable::symbolKnownUseEmpty(kernel, module))
        kernel.erase();
  }
};
} // namespace
