//===- LoopPipeliner.cpp - Copies ahead of compute --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopPipeliner.h"

#include "../KernelMemory.h"
#include "../PromoteToLDS/LDSPlan.h"
#include "Evoformer/Dialect/Tile/IR/LoopCounts.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

MemRefType mlir::evoformer::tile::getRingType(MemRefType buffer,
                                              int64_t slots) {
  SmallVector<int64_t> shape(buffer.getShape()), strides;
  int64_t offset;
  // Buffers have static strides: evo_tile.alloc_lds verifies it.
  (void)buffer.getStridesAndOffset(strides, offset);
  shape.insert(shape.begin(), slots);
  strides.insert(strides.begin(),
                 getLDSBytes(buffer) * 8 / buffer.getElementTypeBitWidth());
  return MemRefType::get(
      shape, buffer.getElementType(),
      StridedLayoutAttr::get(buffer.getContext(), 0, strides),
      buffer.getMemorySpace());
}

namespace {
/// A ring of slots, the number of the one that is read carried by the loop.
struct SlotCounter {
  int64_t slots = 0;
  int64_t distance = 0;
  BlockArgument read;
  Value write, nextRead;
  unsigned iterArg = 0;
};

class LoopPipeliner {
public:
  LoopPipeliner(StagedLoop &staged, const PipelineShape &shape)
      : staged(staged), shape(shape), loop(staged.loop),
        loc(staged.loop.getLoc()), rewriter(staged.loop.getContext()) {}

  void run();

private:
  void makeRings();
  void dropCoveredBarrier();
  Operation *findFirst();
  void sinkWaits();
  void emitPrologue();
  void carry();
  void emitTop();
  void issueLoads();
  void emitPrefetches();
  void emitBottom();
  void eraseReplaced();
  void emitViews();

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  /// The induction variable `count` steps after `from`.
  Value advance(Value from, int64_t count);
  Value isBefore(Value iteration) {
    return rewriter.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::slt, iteration, loop.getUpperBound());
  }
  /// The next iteration, or this one if it is the last. As a sum, from which
  /// addresses that grow by a constant in each step can be told.
  Value advanceInside(Value iteration) {
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(iteration.getType()));
    Value step = rewriter.createOrFold<arith::SelectOp>(
        loc, isBefore(advance(iteration, 1)), loop.getStep(), zero);
    return rewriter.createOrFold<arith::AddIOp>(loc, iteration, step);
  }
  Value wrap(Value slot, int64_t by, int64_t slots);
  Value view(Value ring, MemRefType buffer, OpFoldResult slot);
  void clone(ArrayRef<Operation *> ops, IRMapping &mapping) {
    for (Operation *op : ops)
      rewriter.clone(*op, mapping);
  }
  void cloneAhead(ArrayRef<Operation *> ops, IRMapping &mapping, Value inside);
  Value issueCopies(Value iteration, OpFoldResult slot);
  void storeTiles(IRMapping &mapping, OpFoldResult slot);

  StagedLoop &staged;
  PipelineShape shape;
  scf::ForOp loop;
  Location loc;
  IRRewriter rewriter;

  DenseMap<Value, Value> rings; ///< by the buffer, where there are several
  Value next;                   ///< the next iteration, at most the last
  SmallVector<Value> inits;     ///< prefetched tiles, counters, tokens
  unsigned firstPrefetch = 0, firstToken = 0;
  SmallVector<Value> tokens; ///< of copies under way, the oldest first
  SlotCounter asyncCounter, registerCounter;
  IRMapping ahead;  ///< the next iteration's loads
  BarrierOp landed; ///< after it the loop's body may read
};
} // namespace

Value LoopPipeliner::advance(Value from, int64_t count) {
  if (count == 0)
    return from;
  Value step = loop.getStep();
  if (count != 1)
    step = rewriter.createOrFold<arith::MulIOp>(
        loc, step,
        arith::ConstantOp::create(
            rewriter, loc, rewriter.getIntegerAttr(step.getType(), count)));
  return rewriter.createOrFold<arith::AddIOp>(loc, from, step);
}

Value LoopPipeliner::wrap(Value slot, int64_t by, int64_t slots) {
  if (slots == 2 && by == 1)
    return arith::SubIOp::create(rewriter, loc, constant(1), slot);
  Value limit = constant(slots - by);
  Value fits = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                     slot, limit);
  Value up = arith::AddIOp::create(rewriter, loc, slot, constant(by));
  Value down = arith::SubIOp::create(rewriter, loc, slot, limit);
  return arith::SelectOp::create(rewriter, loc, fits, up, down);
}

Value LoopPipeliner::view(Value ring, MemRefType buffer, OpFoldResult slot) {
  int64_t rank = buffer.getRank();
  SmallVector<OpFoldResult> offsets(rank + 1, rewriter.getIndexAttr(0)),
      sizes = {rewriter.getIndexAttr(1)},
      strides(rank + 1, rewriter.getIndexAttr(1));
  offsets.front() = slot;
  for (int64_t size : buffer.getShape())
    sizes.push_back(rewriter.getIndexAttr(size));
  auto ringType = cast<MemRefType>(ring.getType());
  MemRefType type = memref::SubViewOp::inferRankReducedResultType(
      buffer.getShape(), ringType, offsets, sizes, strides);
  return memref::SubViewOp::create(rewriter, loc, type, ring, offsets, sizes,
                                   strides);
}

void LoopPipeliner::makeRings() {
  auto make = [&](AllocLDSOp alloc, int64_t slots) {
    rewriter.setInsertionPoint(alloc);
    rings[alloc.getResult()] = AllocLDSOp::create(
        rewriter, alloc.getLoc(),
        getRingType(cast<MemRefType>(alloc.getType()), slots));
  };
  for (AllocLDSOp alloc : staged.asyncBuffers)
    make(alloc, shape.asyncSlots);
  if (shape.registerSlots > 1)
    for (AllocLDSOp alloc : staged.registerBuffers)
      make(alloc, shape.registerSlots);
}

/// What an iteration's copies need, for one that there is if `inside` holds:
/// beyond the last one there may be nothing to read, and before a loop without
/// iterations nothing to divide by.
void LoopPipeliner::cloneAhead(ArrayRef<Operation *> ops, IRMapping &mapping,
                               Value inside) {
  bool inLoop = rewriter.getInsertionBlock() == loop.getBody();
  for (Operation *op : ops) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      auto guard = scf::IfOp::create(
          rewriter, loc, inside,
          [&](OpBuilder &b, Location loc) {
            scf::YieldOp::create(b, loc, b.clone(*op, mapping)->getResults());
          },
          [&](OpBuilder &b, Location loc) {
            Value none = arith::ConstantOp::create(
                b, loc, b.getZeroAttr(load.getType()));
            scf::YieldOp::create(b, loc, none);
          });
      mapping.map(load.getResult(), guard.getResult(0));
      continue;
    }
    Operation *copy = rewriter.clone(*op, mapping);
    if (inLoop || !isFixedDivision(op, loop))
      continue;
    Value divisor = copy->getOperand(1);
    rewriter.setInsertionPoint(copy);
    Value one = arith::ConstantOp::create(
        rewriter, loc, rewriter.getOneAttr(divisor.getType()));
    copy->setOperand(1,
                     rewriter.createOrFold<arith::MaxUIOp>(loc, divisor, one));
    rewriter.setInsertionPointAfter(copy);
  }
}

/// Copies of one iteration into a slot, as one group; none beyond the end.
Value LoopPipeliner::issueCopies(Value iteration, OpFoldResult slot) {
  SmallVector<Value> copies;
  Value inside = isBefore(iteration);
  std::optional<int64_t> known = getConstantIntValue(inside);
  if (!known || *known != 0) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), iteration);
    cloneAhead(staged.copySlice, mapping, inside);
    for (AllocLDSOp alloc : staged.asyncBuffers)
      mapping.map(alloc.getResult(),
                  view(rings[alloc.getResult()],
                       cast<MemRefType>(alloc.getType()), slot));
    for (AsyncCopyOp copy : staged.copies) {
      Value predicate = copy.getPredicate();
      if (predicate)
        predicate = mapping.lookupOrDefault(predicate);
      if (!known)
        predicate =
            predicate
                ? rewriter.createOrFold<arith::AndIOp>(loc, predicate, inside)
                : inside;
      auto issued = cast<AsyncCopyOp>(rewriter.clone(*copy, mapping));
      if (predicate)
        issued.getPredicateMutable().assign(predicate);
      copies.push_back(issued.getToken());
    }
  }
  return AsyncGroupOp::create(rewriter, loc, copies);
}

void LoopPipeliner::storeTiles(IRMapping &mapping, OpFoldResult slot) {
  clone(staged.storeSlice, mapping);
  for (AllocLDSOp alloc : staged.registerBuffers)
    if (Value ring = rings.lookup(alloc.getResult()))
      mapping.map(alloc.getResult(),
                  view(ring, cast<MemRefType>(alloc.getType()), slot));
  for (StoreOp store : staged.stores)
    rewriter.clone(*store, mapping);
}

/// Whether the op may read what workgroup memory holds.
static bool mayReadLDS(Operation *op) {
  if (op->getNumRegions() != 0)
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return true;
  SmallVector<MemoryEffects::EffectInstance> all;
  effects.getEffects(all);
  return llvm::any_of(all, [](const MemoryEffects::EffectInstance &effect) {
    auto type = effect.getValue()
                    ? dyn_cast<MemRefType>(effect.getValue().getType())
                    : MemRefType();
    return isa<MemoryEffects::Read>(effect.getEffect()) &&
           (!type || isWorkgroupMemory(type));
  });
}

/// Where the first copies can be issued: what the loop finds before it is
/// loaded while they are under way.
Operation *LoopPipeliner::findFirst() {
  DenseSet<Operation *> needed;
  auto need = [&](ValueRange values) {
    for (Value value : values)
      if (Operation *def = value.getDefiningOp())
        needed.insert(def);
  };
  for (Operation *op : staged.copySlice)
    need(op->getOperands());
  for (AsyncCopyOp copy : staged.copies)
    need(copy->getOperands());
  need({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  Operation *first = loop;
  while (Operation *op = first->getPrevNode()) {
    auto load = dyn_cast<LoadOp>(op);
    bool passes = isPure(op) || isa<WaitOp, BarrierOp>(op) ||
                  (load && !isWorkgroupMemory(load.getSourceType()));
    if (!passes || needed.contains(op) || op->getNumRegions() != 0)
      break;
    first = op;
  }
  return first;
}

/// For copies that only the loop reads it is early enough to wait right before
/// it, as its own barrier then follows.
void LoopPipeliner::sinkWaits() {
  auto isReadHere = [&](AsyncCopyOp copy) {
    Value memory = getMemoryRoot(copy.getDest());
    SmallVector<Value> views = {memory};
    for (size_t i = 0; i < views.size(); ++i)
      for (Operation *user : views[i].getUsers()) {
        if (isa<ViewLikeOpInterface>(user))
          llvm::append_range(views, user->getResults());
        else if (user != copy && !loop->isProperAncestor(user))
          return false;
      }
    return true;
  };
  // The barrier may keep apart other things, too, that are read before the
  // loop.
  auto readsBefore = [&](BarrierOp barrier) {
    for (Operation *op = barrier; op != loop; op = op->getNextNode())
      if (!isa<BarrierOp, WaitOp, AsyncGroupOp, AsyncCopyOp>(op) &&
          mayReadLDS(op))
        return true;
    return false;
  };
  for (WaitOp wait : llvm::to_vector(loop->getBlock()->getOps<WaitOp>())) {
    auto barrier = dyn_cast_or_null<BarrierOp>(wait->getNextNode());
    auto group = wait.getToken().getDefiningOp<AsyncGroupOp>();
    if (!barrier || barrier.getHandover() || !group ||
        !barrier->isBeforeInBlock(loop) || wait->getPrevNode() != group ||
        readsBefore(barrier) ||
        !llvm::all_of(group.getCopies(), [&](Value copy) {
          auto op = copy.getDefiningOp<AsyncCopyOp>();
          return op && isReadHere(op);
        }))
      continue;
    rewriter.eraseOp(barrier);
    rewriter.moveOpBefore(wait, loop);
  }
}

void LoopPipeliner::emitPrologue() {
  if (shape.isLong) {
    sinkWaits();
    rewriter.setInsertionPoint(findFirst());
  } else {
    rewriter.setInsertionPoint(loop);
  }
  Value lower = loop.getLowerBound();
  // Slower subgroups may still read what the loop filled when it ran before.
  if (staged.hasBuffers() && mayRunAgain(loop))
    BarrierOp::create(rewriter, loc);
  if (!staged.copies.empty())
    for (int64_t i = 0; i < shape.getDistance(); ++i)
      tokens.push_back(
          issueCopies(advance(lower, i), rewriter.getIndexAttr(i)));
  rewriter.setInsertionPoint(loop);
  if (staged.stores.empty() && staged.prefetches.empty())
    return;

  // A loop without iterations must not read memory.
  Value runs = isBefore(lower);
  bool always = getConstantIntValue(runs).value_or(0) != 0;
  SmallVector<Type> tiles;
  for (StagedLoop::Prefetch &prefetch : staged.prefetches)
    tiles.push_back(prefetch.load.getType());
  scf::IfOp guard;
  if (!always) {
    guard = scf::IfOp::create(rewriter, loc, tiles, runs,
                              /*withElseRegion=*/!tiles.empty());
    rewriter.setInsertionPointToStart(guard.thenBlock());
  }
  IRMapping first, direct;
  first.map(loop.getInductionVar(), lower);
  direct.map(loop.getInductionVar(), lower);
  clone(staged.loadSlice, first);
  SmallVector<Value> loaded;
  for (StagedLoop::Prefetch &prefetch : staged.prefetches) {
    clone(prefetch.slice, direct);
    loaded.push_back(direct.lookup(prefetch.load.getResult()));
  }
  if (!staged.stores.empty())
    storeTiles(first, rewriter.getIndexAttr(0));
  if (guard && !tiles.empty()) {
    scf::YieldOp::create(rewriter, loc, loaded);
    rewriter.setInsertionPointToStart(guard.elseBlock());
    SmallVector<Value> zeros;
    for (Type tile : tiles)
      zeros.push_back(arith::ConstantOp::create(
          rewriter, loc, cast<TypedAttr>(rewriter.getZeroAttr(tile))));
    scf::YieldOp::create(rewriter, loc, zeros);
    loaded = llvm::to_vector(ValueRange(guard.getResults()));
  }
  rewriter.setInsertionPoint(loop);
  llvm::append_range(inits, loaded);
}

/// Adds what the loop must carry: prefetched tiles, slot numbers and copies
/// under way.
void LoopPipeliner::carry() {
  firstPrefetch = loop.getNumRegionIterArgs();
  auto addCounter = [&](SlotCounter &counter, int64_t slots, int64_t distance) {
    counter.slots = slots;
    counter.distance = distance;
    counter.iterArg = firstPrefetch + inits.size();
    inits.push_back(constant(0));
  };
  rewriter.setInsertionPoint(loop);
  if (!staged.asyncBuffers.empty())
    addCounter(asyncCounter, shape.asyncSlots, shape.getDistance());
  if (!staged.registerBuffers.empty() && shape.registerSlots > 1)
    addCounter(registerCounter, shape.registerSlots, 1);
  firstToken = firstPrefetch + inits.size();
  inits.append(tokens);
  if (inits.empty())
    return;
  // What is yielded is known once the body is rewritten.
  FailureOr<LoopLikeOpInterface> replaced = loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> args) {
        return SmallVector<Value>(args.begin(), args.end());
      });
  loop = cast<scf::ForOp>(replaced->getOperation());
  staged.loop = loop;
  for (SlotCounter *counter : {&asyncCounter, &registerCounter})
    if (counter->slots)
      counter->read = loop.getRegionIterArg(counter->iterArg);
  for (auto [i, token] : llvm::enumerate(tokens))
    token = loop.getRegionIterArg(firstToken + i);
}

void LoopPipeliner::emitTop() {
  rewriter.setInsertionPointToStart(loop.getBody());
  Value iv = loop.getInductionVar();
  for (SlotCounter *counter : {&asyncCounter, &registerCounter}) {
    if (!counter->slots)
      continue;
    counter->nextRead = wrap(counter->read, 1, counter->slots);
    counter->write =
        counter->distance == 1
            ? counter->nextRead
            : wrap(counter->read, counter->distance, counter->slots);
  }
  if (shape.loadsFirst)
    issueLoads();
  auto issue = [&]() {
    tokens.push_back(
        issueCopies(advance(iv, shape.getDistance()), asyncCounter.write));
  };
  bool async = !staged.copies.empty();
  if (async && shape.issuesFirst())
    issue();
  if (async)
    WaitOp::create(rewriter, loc, tokens.front());
  if (staged.hasBuffers())
    landed = BarrierOp::create(rewriter, loc);
  if (async && !shape.issuesFirst())
    issue();
  if (!shape.loadsFirst)
    issueLoads();
}

/// Loads to registers. Memory answers in order: what this iteration needs comes
/// first, then what ends in workgroup memory after compute; waiting for the one
/// leaves the other under way. So does waiting for a tile of the iteration
/// before, as long as nothing that uses it moves up here.
void LoopPipeliner::issueLoads() {
  if (staged.hasBuffers())
    for (Operation *op : staged.directSlice) {
      // What is there already stays, and the rest follows it.
      if (rewriter.getInsertionPoint() == op->getIterator())
        rewriter.setInsertionPointAfter(op);
      else
        rewriter.moveOpBefore(op, rewriter.getInsertionBlock(),
                              rewriter.getInsertionPoint());
    }
  if (staged.stores.empty() && staged.prefetches.empty())
    return;
  next = advanceInside(loop.getInductionVar());
  ahead.map(loop.getInductionVar(), next);
  clone(staged.loadSlice, ahead);
  if (shape.fences && !staged.stores.empty() && !staged.prefetches.empty())
    IssueFenceOp::create(rewriter, loc, /*compute=*/true);
}

/// What the next iteration needs in registers is loaded as soon as this one's
/// registers are free: so it needs no others, and no copy from one to the other
/// that would have to wait for it. It arrives while the loads above are waited
/// for.
void LoopPipeliner::emitPrefetches() {
  for (auto [i, prefetch] : llvm::enumerate(staged.prefetches)) {
    unsigned arg = firstPrefetch + i;
    rewriter.setInsertionPointAfter(prefetch.lastUse);
    IRMapping direct;
    direct.map(loop.getInductionVar(), next);
    clone(prefetch.slice, direct);
    if (shape.fences &&
        getRegisterCount(prefetch.load.getTileType()) > shape.unfencedRegisters)
      IssueFenceOp::create(rewriter, loc, /*compute=*/false);
    Value now = prefetch.load.getResult();
    loop.getBody()->getTerminator()->setOperand(arg, direct.lookup(now));
    rewriter.replaceAllUsesWith(now, loop.getRegionIterArg(arg));
  }
}

void LoopPipeliner::emitViews() {
  if (!staged.hasBuffers())
    return;
  rewriter.setInsertionPointAfter(landed);
  auto readSlot = [&](AllocLDSOp alloc, const SlotCounter &counter) {
    Value buffer = alloc.getResult(), ring = rings.lookup(buffer);
    if (!ring)
      return;
    Value slot = view(ring, cast<MemRefType>(alloc.getType()),
                      OpFoldResult(counter.read));
    rewriter.replaceAllUsesWith(buffer, slot);
    rewriter.eraseOp(alloc);
  };
  for (AllocLDSOp alloc : staged.asyncBuffers)
    readSlot(alloc, asyncCounter);
  for (AllocLDSOp alloc : staged.registerBuffers)
    readSlot(alloc, registerCounter);
}

/// The stores wait for the loads at the top: a prefetch that sinks behind them
/// is issued late, and leaves them nothing under way. Nor does what makes their
/// tiles wait for these any earlier.
void LoopPipeliner::emitBottom() {
  Operation *yield = loop.getBody()->getTerminator();
  rewriter.setInsertionPoint(yield);
  if (shape.fences && (!staged.storeSlice.empty() ||
                       (!staged.stores.empty() && !staged.prefetches.empty())))
    IssueFenceOp::create(rewriter, loc, /*compute=*/true);
  if (!staged.stores.empty()) {
    if (shape.registerSlots == 1)
      BarrierOp::create(rewriter, loc);
    storeTiles(ahead, OpFoldResult(registerCounter.write));
  }
  if (!staged.copies.empty() && shape.needsSecondBarrier())
    BarrierOp::create(rewriter, loc);
  for (SlotCounter *counter : {&asyncCounter, &registerCounter})
    if (counter->slots)
      yield->setOperand(counter->iterArg, counter->nextRead);
  for (size_t i = 1; i < tokens.size(); ++i)
    yield->setOperand(firstToken + i - 1, tokens[i]);
}

/// Erases what the emitted copies replace.
void LoopPipeliner::eraseReplaced() {
  // Users of tokens first.
  for (Operation *op : llvm::reverse(staged.synchronisation))
    rewriter.eraseOp(op);
  for (AsyncCopyOp copy : staged.copies)
    rewriter.eraseOp(copy);
  for (StoreOp store : staged.stores)
    rewriter.eraseOp(store);
  Operation *op = loop.getBody()->getTerminator()->getPrevNode();
  while (op) {
    Operation *before = op->getPrevNode();
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
    op = before;
  }
}

/// What subgroups hand over at the top of an iteration they do behind the
/// barrier that is there anyway.
void LoopPipeliner::dropCoveredBarrier() {
  auto isReplaced = [&](Operation *op) {
    return llvm::is_contained(staged.synchronisation, op) ||
           llvm::is_contained(staged.copies, op) ||
           llvm::is_contained(staged.stores, op);
  };
  for (Operation &op : *loop.getBody()) {
    auto barrier = dyn_cast<BarrierOp>(op);
    if (barrier && barrier.getHandover()) {
      rewriter.eraseOp(barrier);
      return;
    }
    if (!isReplaced(&op) && mayReadLDS(&op))
      return;
  }
}

void LoopPipeliner::run() {
  if (staged.hasBuffers())
    dropCoveredBarrier();
  makeRings();
  emitPrologue();
  carry();
  emitTop();
  emitPrefetches();
  emitBottom();
  eraseReplaced();
  emitViews();
}

void mlir::evoformer::tile::pipelineLoop(StagedLoop &staged,
                                         const PipelineShape &shape) {
  LoopPipeliner(staged, shape).run();
}
