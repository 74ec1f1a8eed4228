//===- ShareOperands.cpp - Products that read workgroup memory ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelMemory.h"

#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"
#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_SHAREOPERANDS
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-share-operands";

/// Whether the op may change what workgroup memory holds, or waits until others
/// may.
static bool mayChangeLDS(Operation *op) {
  if (isa<BarrierOp, WaitOp, AsyncCopyOp>(op) || op->getNumRegions() != 0)
    return true;
  if (auto exchange = dyn_cast<ExchangeOp>(op))
    return exchange.crossesSubgroups();
  auto store = dyn_cast<StoreOp>(op);
  return store && isWorkgroupMemory(store.getDestType());
}

/// The load of all of a buffer in workgroup memory that the operand of a
/// product is, a transpose of it included, if memory still holds it at the
/// product.
static LoadOp findLoad(MmaOp mma, Value operand,
                       SmallVectorImpl<int64_t> &permutation) {
  auto type = cast<RankedTensorType>(operand.getType());
  permutation = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  while (auto transpose = operand.getDefiningOp<TransposeOp>()) {
    for (int64_t &dim : permutation)
      dim = transpose.getPermutation()[dim];
    operand = transpose.getSource();
  }
  auto load = operand.getDefiningOp<LoadOp>();
  if (!load || load->getBlock() != mma->getBlock() ||
      load.getSourceType().getShape() != load.getTileType().getShape() ||
      !llvm::all_of(load.getIndices(), [](Value index) {
        return getConstantIntValue(index) == 0;
      }))
    return {};
  for (Operation *op = load; op != mma; op = op->getNextNode())
    if (mayChangeLDS(op))
      return {};
  return load;
}

/// The memory of an operand, as a view with its dimensions; null where it
/// cannot be read there.
static Value viewMemory(OpBuilder &builder, MmaOp mma, OpOperand &operand) {
  SmallVector<int64_t> permutation;
  LoadOp load = findLoad(mma, operand.get(), permutation);
  if (!load)
    return {};
  int64_t rank = permutation.size();
  int64_t depthDim = &operand == &mma.getAMutable() ? rank - 1 : rank - 2;
  // The depth is a dimension of the memory, whichever view.
  if (!matchGroupOperand(load.getSourceType(), permutation[depthDim]))
    return {};
  SmallVector<unsigned> dims(permutation.begin(), permutation.end());
  AffineMap map = AffineMap::getPermutationMap(dims, builder.getContext());
  if (map.isIdentity())
    return load.getSource();
  return memref::TransposeOp::create(builder, load.getLoc(), load.getSource(),
                                     AffineMapAttr::get(map));
}

/// Whether a loop keeps the rows of a product in registers beside rows of the
/// same type that it computes. ptxas of CUDA 13.0 gives both the same
/// registers, in which the second iteration then finds the wrong ones.
static bool keepsRowsLike(MmaOp mma, ArrayRef<MmaOp> products) {
  auto rowsOf = [](MmaOp product) {
    OpOperand &shared = getSharedOperand(product);
    return &shared == &product.getAMutable() ? product.getB() : product.getA();
  };
  auto loop = mma->getParentOfType<LoopLikeOpInterface>();
  Value rows = rowsOf(mma);
  if (!loop || !loop.isDefinedOutsideOfLoop(rows))
    return false;
  return llvm::any_of(products, [&](MmaOp other) {
    return other->getBlock() == mma->getBlock() && findGroupInstr(other) &&
           rowsOf(other).getType() == rows.getType() &&
           !loop.isDefinedOutsideOfLoop(rowsOf(other));
  });
}

/// Whether another barrier comes before any product that reads memory.
static bool isFollowedByBarrier(BarrierOp barrier) {
  for (Operation *op = barrier->getNextNode(); op; op = op->getNextNode()) {
    if (isa<BarrierOp>(op))
      return true;
    if (op->walk([](GroupMmaOp) {
            return WalkResult::interrupt();
          }).wasInterrupted())
      return false;
  }
  return false;
}

/// Whether what arrives by `token` is written to memory of which `isRead`
/// holds.
static bool arrivesIn(Value token, function_ref<bool(Value)> isRead) {
  SmallVector<Value> worklist = {token};
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto group = next.getDefiningOp<AsyncGroupOp>()) {
      for (Value copy : group.getCopies()) {
        auto op = copy.getDefiningOp<AsyncCopyOp>();
        if (!op || isRead(op.getDest()))
          return true;
      }
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(next);
    auto loop =
        argument
            ? dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp())
            : LoopLikeOpInterface();
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    OpOperand *yielded =
        loop ? loop.getTiedLoopYieldedValue(argument) : nullptr;
    if (!init || !yielded)
      return true;
    worklist.append({init->get(), yielded->get()});
  }
  return false;
}

namespace {
/// Puts fences between what writes workgroup memory and the next barriers.
class Fences {
public:
  explicit Fences(KernelOp kernel) : kernel(kernel) {
    kernel.walk([&](GroupMmaOp mma) {
      for (Value operand : mma->getOperands())
        if (isa<MemRefType>(operand.getType()))
          read.insert(getMemoryRoot(operand));
    });
  }

  void add() {
    find(kernel.getBody(), /*wrote=*/false);
    for (BarrierOp barrier : fenced) {
      OpBuilder builder(barrier);
      ProxyFenceOp::create(builder, barrier.getLoc());
    }
  }

private:
  bool isRead(Value memory) const {
    return read.contains(getMemoryRoot(memory));
  }
  /// Whether products read what `op` writes. What is copied has arrived at the
  /// wait.
  bool writes(Operation *op) const {
    if (auto wait = dyn_cast<WaitOp>(op))
      return arrivesIn(wait.getToken(),
                       [&](Value memory) { return isRead(memory); });
    auto store = dyn_cast<StoreOp>(op);
    return store && isWorkgroupMemory(store.getDestType()) &&
           isRead(store.getDest());
  }

  /// Finds the barriers that what a region writes to workgroup memory may come
  /// before; `wrote`: something before it. Returns whether what comes after may
  /// follow a write without a barrier.
  bool find(Region &region, bool wrote) {
    bool after = wrote;
    for (Block &block : region) {
      bool wroteHere = wrote;
      for (Operation &op : block) {
        if (auto barrier = dyn_cast<BarrierOp>(op)) {
          // Where nobody reads before the next one, that has it.
          if (isFollowedByBarrier(barrier))
            continue;
          if (wroteHere)
            fenced.insert(barrier);
          wroteHere = false;
          continue;
        }
        wroteHere |= writes(&op);
        // Regions may run or not, and those of loops again.
        int64_t times = isa<LoopLikeOpInterface>(op) ? 2 : 1;
        for (int64_t i = 0; i < times * int64_t(op.getNumRegions()); ++i)
          wroteHere |= find(op.getRegion(i % op.getNumRegions()), wroteHere);
      }
      after |= wroteHere;
    }
    return after;
  }

  KernelOp kernel;
  /// The buffers that products read.
  DenseSet<Value> read;
  SetVector<BarrierOp> fenced;
};
} // namespace

namespace {
struct ShareOperandsPass
    : evoformer::tile::impl::ShareOperandsBase<ShareOperandsPass> {
protected:
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      if (kernel.getTarget() && kernel.getTarget()->isCPU())
        return WalkResult::skip();
      if (failed(requireFragments(kernel, kPass)))
        return WalkResult::interrupt();
      if (kernel.getTarget()->getGroupMatrix())
        share(kernel);
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static void share(KernelOp kernel) {
    SmallVector<MmaOp> products;
    kernel.walk([&](MmaOp mma) { products.push_back(mma); });
    bool any = false;
    DenseSet<Operation *> kept;
    for (MmaOp mma : products)
      if (keepsRowsLike(mma, products))
        kept.insert(mma);
    for (MmaOp mma : products)
      any |= !kept.contains(mma) && share(mma);
    if (any)
      Fences(kernel).add();
  }

  static bool share(MmaOp mma) {
    GroupMatrixInstrAttr instr = findGroupInstr(mma);
    if (!instr)
      return false;
    OpBuilder builder(mma);
    OpOperand &shared = getSharedOperand(mma);
    OpOperand &rows =
        &shared == &mma.getAMutable() ? mma.getBMutable() : mma.getAMutable();
    Value memory = viewMemory(builder, mma, shared);
    if (!memory)
      return false;
    Value rowMemory =
        canShareRows(mma) ? viewMemory(builder, mma, rows) : Value();
    Value other = rowMemory ? rowMemory : rows.get();
    bool sharesB = &shared == &mma.getBMutable();
    auto product = GroupMmaOp::create(builder, mma.getLoc(), mma.getType(),
                                      sharesB ? other : memory,
                                      sharesB ? memory : other, mma.getC());
    remark::passed(mma.getLoc(),
                   remark::RemarkOpts::name("shared-operand").category(kPass))
        << remark::metric("instruction", instr.getName())
        << remark::metric("rows",
                          StringRef(rowMemory ? "memory" : "registers"));
    SmallVector<Value> operands(mma->getOperands());
    mma.replaceAllUsesWith(product.getResult());
    mma.erase();
    // What nobody reads any more.
    for (Value operand : operands)
      while (Operation *def = operand.getDefiningOp()) {
        if (!isa<TransposeOp, LoadOp>(def) || !def->use_empty())
          break;
        operand = def->getOperand(0);
        def->erase();
      }
    return true;
  }
};
} // namespace
