//===- PromoteToLDS.cpp - Shared tiles go through LDS -----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../KernelMemory.h"
#include "CopiedWork.h"
#include "ExchangeThroughLDS.h"
#include "LDSPlan.h"
#include "TilesOfSteps.h"

#include "Evoformer/Dialect/Tile/IR/ConsecutiveCopy.h"
#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"
#include "Evoformer/Dialect/Tile/IR/LDSPlacement.h"
#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "Evoformer/Dialect/Tile/IR/LoopCounts.h"
#include "Evoformer/Dialect/Tile/IR/Pressure.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::evoformer::tile {
#define GEN_PASS_DEF_PROMOTETOLDS
#include "Evoformer/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::evoformer::tile

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr StringLiteral kPass = "evo-tile-promote-to-lds";
/// The widest access of a lane.
static constexpr int64_t kVectorBytes = 16;

namespace {
/// One buffer, the loads of the same elements that fill it, and what of each is
/// copied: the loaded tile or elementwise work on it.
struct StagedTile {
  SmallVector<LoadOp> loads;
  SmallVector<Value> copied;
  int64_t sourceDim, wantedDim;
  LDSPlan plan;
  /// Of one asynchronous copy of a lane; 0 where registers are between.
  int64_t asyncBytes;
  PromotionReason reason;
  /// What products of several subgroups need that read the buffer; empty where
  /// none does.
  std::optional<SharedLayout> wanted = std::nullopt;
  /// The dimension along which the buffer holds the tiles of all iterations of
  /// the group's `steps`.
  int64_t stepDim = -1;

  LoadOp front() { return loads.front(); }
};

/// Tiles of one block that are copied together, before the first of them.
struct StagedGroup {
  Operation *anchor = nullptr;
  std::vector<StagedTile> tiles;
  /// For all of whose iterations they are copied before it; none: each copies
  /// its own.
  FewSteps steps = {};
};
} // namespace

/// True if `load` reads the same at `anchor`, in the same block; `toMove` gets
/// the ops that must move there too.
static bool canHoist(LoadOp load, Operation *anchor,
                     SetVector<Operation *> &toMove) {
  bool isLater = !load->isBeforeInBlock(anchor);
  Operation *first = isLater ? anchor : load.getOperation();
  Operation *last = isLater ? load.getOperation() : anchor;
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (mayWriteGlobal(op, load.getSource()))
      return false;
  SmallVector<Value> worklist(load->getOperands());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != anchor->getBlock() ||
        op->isBeforeInBlock(anchor))
      continue;
    if (!isPure(op) || op->getNumRegions() != 0)
      return false;
    if (toMove.insert(op))
      llvm::append_range(worklist, op->getOperands());
  }
  return true;
}

/// The widest access of a copy to memory. Where a bound may cut through a
/// vector, as it may without `stepsFit`, elements are read one by one, by more
/// lanes then.
static int64_t getCopyBytes(StagedTile &tile, bool stepsFit = true) {
  if (tile.asyncBytes > 0)
    return tile.asyncBytes;
  LoadOp load = tile.front();
  ArrayRef<bool> inBounds = load.getInBounds();
  bool fits = tile.sourceDim < 0 ||
              (stepsFit && tile.sourceDim < (int64_t)inBounds.size() &&
               inBounds[tile.sourceDim]);
  return fits ? kVectorBytes
              : std::clamp<int64_t>(load.getAlignment().value_or(1), 1,
                                    kVectorBytes);
}

/// Where the buffer is best read: not before it is needed, which is still
/// before the next barrier.
static Operation *getFirstUser(Value tile) {
  Operation *def = tile.getDefiningOp(), *first = nullptr;
  for (Operation *user : tile.getUsers()) {
    Operation *inBlock = def->getBlock()->findAncestorOpInBlock(*user);
    if (inBlock && (!first || inBlock->isBeforeInBlock(first)))
      first = inBlock;
  }
  return first ? first : def;
}

/// The first user of each block that has any.
static SmallVector<Operation *> getFirstUsers(Value tile) {
  llvm::MapVector<Block *, Operation *> first;
  for (Operation *user : tile.getUsers()) {
    Operation *&known = first[user->getBlock()];
    if (!known || user->isBeforeInBlock(known))
      known = user;
  }
  return llvm::map_to_vector(first, [](auto &entry) { return entry.second; });
}

static bool readsSameElements(LoadOp a, LoadOp b) {
  return a.getSource() == b.getSource() && a.getIndices() == b.getIndices() &&
         a.getTileType().getShape() == b.getTileType().getShape() &&
         a.getPaddingAttr() == b.getPaddingAttr() &&
         a.getInBounds() == b.getInBounds();
}

/// True if all that becomes of a tile is stored to workgroup memory: its load
/// is a copy already.
static bool isStaged(LoadOp load) {
  SmallVector<Operation *> worklist = {load};
  DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (op->use_empty())
      return false;
    for (Operation *user : op->getUsers()) {
      auto store = dyn_cast<StoreOp>(user);
      if (store && isWorkgroupMemory(store.getDestType()))
        continue;
      if (!isPure(user) || user->getNumRegions() != 0)
        return false;
      if (seen.insert(user).second)
        worklist.push_back(user);
    }
  }
  return true;
}

/// Whether all uses of a tile, or of work on it, are products of loops that
/// come after its load.
static bool isOwnOperand(LoadOp load) {
  Value work = findCopiedWork(load);
  Block *block = load->getBlock();
  return !work.use_empty() && llvm::all_of(work.getUsers(), [&](Operation *op) {
    Operation *inBlock = block->findAncestorOpInBlock(*op);
    return inBlock != op && isa<MmaOp, TransposeOp>(op) &&
           isa<LoopLikeOpInterface, WhereOp>(inBlock);
  });
}

namespace {
class Promotion {
public:
  Promotion(KernelOp kernel, int64_t minNarrow)
      : kernel(kernel), minNarrow(minNarrow),
        machine{*kernel.getTarget(), kernel.getSchedule()->getNumSubgroups()} {}

  LogicalResult run();

private:
  void collect(Block &block, std::vector<StagedGroup> &groups);
  StagedTile stage(LoadOp load, PromotionReason reason, Operation *anchor,
                   SetVector<Operation *> &toMove);
  void choosePlan(StagedTile &tile, ArrayRef<RankedTensorType> readers) const;
  std::vector<StagedGroup> planGroups();
  void copyStepsAtOnce(StagedGroup &group) const;
  int64_t getNeededBytes(ArrayRef<StagedGroup> groups);
  int64_t getLastingBytes(ArrayRef<StagedGroup> groups);
  LogicalResult checkCapacity(ArrayRef<StagedGroup> groups);
  void rewrite(StagedGroup &group);
  /// Whether only work on the way of other tiles, which loads it itself, reads
  /// what was loaded.
  bool isAbsorbed(LoadOp load) const;
  /// Drops tiles that only work on the way of others reads, which loads them
  /// itself. One may stay the place of its group's copies, until these are
  /// written.
  void dropAbsorbed(StagedGroup &group);
  void remark(StagedTile &tile);

  KernelOp kernel;
  int64_t minNarrow;
  LDSMachine machine;
  /// What the copies of some tile compute.
  DenseSet<Operation *> absorbed;
  /// Tiles stay in memory's order, so that readers across it share a buffer
  /// with those along it.
  bool keepsOrder = false;
  /// Tiles that registers cannot hold an iteration ahead are copied
  /// asynchronously.
  bool copiesAhead = true;
  /// Tiles of all iterations of a short loop are copied together.
  bool copiesSteps = true;
};
} // namespace

/// Whether asynchronous copies go only to buffers in which the lanes' pieces
/// lie side by side.
static bool writesSideBySide(TargetAttr target) {
  CopyEngineAttr engine = target.getCopyEngine();
  return engine && engine.getKind() == CopyEngineKind::Consecutive;
}

static bool isUsedRarely(Value tile) {
  return llvm::all_of(tile.getUsers(), [](Operation *user) {
    return user->getParentOfType<WhereOp>();
  });
}

/// The buffer for `readers`. An engine that cannot fill it, or not as cheaply
/// as copies through registers, is not used.
void Promotion::choosePlan(StagedTile &tile,
                           ArrayRef<RankedTensorType> readers) const {
  if (tile.wanted) {
    tile.plan = planLDS(readers, *tile.wanted, tile.sourceDim,
                        getCopyBytes(tile), machine);
    return;
  }
  int64_t asyncBytes = tile.asyncBytes;
  if (writesSideBySide(machine.target))
    tile.asyncBytes = 0;
  tile.plan = planLDS(readers, tile.sourceDim, tile.wantedDim,
                      getCopyBytes(tile), machine);
  if (asyncBytes == tile.asyncBytes)
    return;
  if (auto plan = planConsecutive(readers, tile.sourceDim, asyncBytes,
                                  tile.plan, machine)) {
    tile.plan = *plan;
    tile.asyncBytes = asyncBytes;
  }
}

/// How the buffer of a tile lies, with as many of them side by side along
/// `dim` as there are `steps`; nothing where they cannot.
static std::optional<SharedLayout>
getLayoutOfSteps(const StagedTile &tile, int64_t dim, int64_t steps) {
  MemRefType type = tile.plan.type;
  SharedLayout layout{SmallVector<int64_t>(type.getShape()),
                      {},
                      tile.wantedDim,
                      type.getElementTypeBitWidth() / 8,
                      tile.plan.swizzle};
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  // A tile must lie within what the next one is away.
  for (auto [d, size] : llvm::enumerate(layout.shape))
    if (int64_t(d) != dim && size > 1 &&
        size * strides[d] > layout.shape[dim] * strides[dim])
      return std::nullopt;
  layout.strides.assign(strides.begin(), strides.end());
  if (layout.shape[dim] * strides[dim] * layout.elementBytes %
          std::max<int64_t>(16, layout.swizzle.getPeriod()) !=
      0)
    return std::nullopt;
  layout.shape[dim] *= steps;
  return layout;
}

/// Where iterations of a loop of few read tiles that lie behind each other, all
/// are copied before it.
void Promotion::copyStepsAtOnce(StagedGroup &group) const {
  FewSteps steps = FewSteps::around(group.anchor);
  if (!steps)
    return;
  std::vector<StagedTile> tiles = group.tiles;
  for (StagedTile &tile : tiles) {
    std::optional<int64_t> dim = steps.findDim(tile.front());
    if (!dim || *dim < 0 || tile.wanted ||
        !canWiden(tile.copied.front(), steps, *dim))
      return;
    std::optional<SharedLayout> layout =
        getLayoutOfSteps(tile, *dim, steps.most);
    if (!layout)
      return;
    SmallVector<RankedTensorType> readers;
    for (Value copied : tile.copied)
      readers.push_back(cast<RankedTensorType>(copied.getType()));
    int64_t padding = tile.plan.padding;
    bool fits = steps.hasAll() || *dim != tile.sourceDim;
    tile.plan = planLDS(readers, *layout, tile.sourceDim,
                        getCopyBytes(tile, fits), machine);
    tile.plan.padding = padding;
    tile.stepDim = *dim;
    if (tile.asyncBytes > 0 && writesSideBySide(machine.target) &&
        getConsecutiveBytes(tile.plan.copy, layout->shape, layout->strides,
                            layout->elementBytes) != tile.asyncBytes)
      return;
  }
  group.tiles = std::move(tiles);
  group.steps = steps;
  group.anchor = steps.loop;
}

/// Whether work on a tile takes fewer instructions of the lanes that copy it,
/// their stores included, than of those that read it from an asynchronous copy.
static bool isCheaperCopied(ArrayRef<Operation *> ops, RankedTensorType tile,
                            const LDSMachine &machine) {
  constexpr int64_t kWordBytes = 4;
  int64_t steps = llvm::count_if(ops, [&](Operation *op) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    return isElementwise(op) && type && type.getShape() == tile.getShape();
  });
  int64_t copied = getCopiedWords(tile, machine);
  int64_t stores = llvm::divideCeil(copied, kVectorBytes / kWordBytes);
  return steps * copied + stores < steps * getRegisterCount(tile);
}

/// A buffer for one load, and what is copied at `anchor` in place of the loaded
/// tile. Asynchronous copies compute nothing.
StagedTile Promotion::stage(LoadOp load, PromotionReason reason,
                            Operation *anchor, SetVector<Operation *> &toMove) {
  RankedTensorType type = load.getTileType();
  StagedTile tile;
  tile.loads = {load};
  tile.copied = {load.getResult()};
  tile.sourceDim = getContiguousDim(load.getSourceType(), type.getShape());
  tile.wantedDim = keepsOrder && tile.sourceDim >= 0
                       ? tile.sourceDim
                       : getWantedDim(type, tile.sourceDim, machine.target);
  Value work = findCopiedWork(load);
  std::optional<SharedLayout> wanted = getGroupLayout(
      type.getShape(), tile.sourceDim, type.getElementTypeBitWidth() / 8);
  if (wanted && (isGroupOperand(load) || isGroupOperand(work)))
    tile.wantedDim = tile.sourceDim;
  else
    wanted = std::nullopt;
  if (isGroupOperand(load))
    tile.wanted = wanted;
  tile.asyncBytes =
      getAsyncCopyBytes(load, tile.sourceDim, tile.wantedDim, machine.target);
  tile.reason = reason;
  if (tile.asyncBytes > 0 && writesSideBySide(machine.target))
    choosePlan(tile, type);
  SmallVector<Operation *> ops = getWorkOps(work, load);
  // Copies through registers take some from an iteration to the next, which
  // schedules that ask for several workgroups at once cannot spare.
  if (tile.asyncBytes > 0 && reason != PromotionReason::Own &&
      (kernel.getSchedule()->getResident() > 0 ||
       !isCheaperCopied(ops, type, machine)))
    return tile;
  if (ops.empty())
    return tile;
  SetVector<Operation *> moved;
  for (Operation *op : ops)
    if (auto other = dyn_cast<LoadOp>(op);
        other && (isWrittenByKernel(other) || !canHoist(other, anchor, moved)))
      return tile;
  tile.asyncBytes = 0;
  toMove.insert_range(moved);
  absorbed.insert_range(ops);
  tile.copied = {work};
  tile.wanted = isGroupOperand(work) ? wanted : std::nullopt;
  return tile;
}

/// Loads that are copied alike share a buffer.
static void addTo(StagedGroup &group, StagedTile added) {
  for (StagedTile &tile : group.tiles)
    if (readsSameElements(tile.front(), added.front()) &&
        tile.wantedDim == added.wantedDim &&
        isSameWork(tile.copied.front(), added.copied.front())) {
      tile.loads.append(added.loads);
      tile.copied.append(added.copied);
      if (!added.wanted && !isUsedRarely(added.copied.front()))
        tile.wanted = std::nullopt;
      return;
    }
  group.tiles.push_back(std::move(added));
}

void Promotion::collect(Block &block, std::vector<StagedGroup> &groups) {
  Operation *parent = block.getParentOp();
  bool inLoop = isa<LoopLikeOpInterface>(parent) ||
                parent->getParentOfType<LoopLikeOpInterface>();
  auto globalLoad = [](Operation &op) {
    auto load = dyn_cast<LoadOp>(op);
    return load && !isWorkgroupMemory(load.getSourceType()) ? load : LoadOp();
  };
  bool isRare = isa<WhereOp>(parent) || parent->getParentOfType<WhereOp>();
  auto decide = [&](LoadOp load) {
    if (isRare)
      return PromotionReason::Rare;
    if (isWrittenByKernel(load))
      return PromotionReason::Written;
    if (isStaged(load))
      return PromotionReason::Staged;
    // What all subgroups read would take the registers of each.
    if ((kernel.getSchedule()->getOwn() == OwnOperands::LDS ||
         isSharedByAll(*getLaneMap(load.getTileType()), machine)) &&
        isOwnOperand(load))
      return PromotionReason::Own;
    PromotionReason reason = decidePromotion(
        load.getTileType(), load.getSourceType(), inLoop, minNarrow, machine);
    return reason == PromotionReason::Direct && inLoop && isGroupOperand(load)
               ? PromotionReason::Together
               : reason;
  };
  bool anyStaged = llvm::any_of(block, [&](Operation &op) {
    LoadOp load = globalLoad(op);
    return load && isPromoted(decide(load));
  });
  // Registers that tiles of the next iteration may take beside this one's.
  ScheduleAttr schedule = *kernel.getSchedule();
  int64_t room =
      schedule.getResident() > 0 ? 0 : getPrefetchShare(machine.target);
  auto isTooLarge = [&](LoadOp load) {
    RankedTensorType type = load.getTileType();
    int64_t sourceDim = getContiguousDim(load.getSourceType(), type.getShape());
    int64_t wantedDim = getWantedDim(type, sourceDim, machine.target);
    if (getAsyncCopyBytes(load, sourceDim, wantedDim, machine.target) == 0)
      return false;
    int64_t registers = getRegisterCount(type);
    if (registers > room)
      return true;
    room -= registers;
    return false;
  };
  // Whether vectors that all subgroups read go with them: loaded late instead,
  // they would arrive after what was issued for the next iteration.
  bool stagesVectors = anyStaged && isa<scf::ForOp>(parent);
  StagedGroup group;
  for (Operation &op : block) {
    LoadOp load = globalLoad(op);
    if (!load || isAbsorbed(load))
      continue;
    PromotionReason reason = decide(load);
    if (reason == PromotionReason::RowVector && stagesVectors &&
        isSharedVector(load.getTileType(), machine))
      reason = PromotionReason::SharedVector;
    if (reason == PromotionReason::Direct && copiesAhead &&
        isa<scf::ForOp>(parent) && isTooLarge(load))
      reason = PromotionReason::Ahead;
    if (!isPromoted(reason)) {
      remark::missed(load.getLoc(),
                     remark::RemarkOpts::name("direct-load").category(kPass))
          << remark::metric("reason", stringify(reason));
      continue;
    }
    SetVector<Operation *> toMove;
    if (group.anchor && !canHoist(load, group.anchor, toMove)) {
      groups.push_back(std::exchange(group, StagedGroup()));
      toMove.clear();
    }
    if (!group.anchor)
      group.anchor = load;
    StagedTile tile = stage(load, reason, group.anchor, toMove);
    // Operands were found from uses to definitions.
    SmallVector<Operation *> moved = toMove.takeVector();
    llvm::sort(moved, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    for (Operation *operand : moved)
      operand->moveBefore(group.anchor);
    addTo(group, std::move(tile));
  }
  if (group.anchor)
    groups.push_back(group);
}

int64_t Promotion::getNeededBytes(ArrayRef<StagedGroup> groups) {
  SmallVector<LDSBuffer> buffers = getLDSBuffers(kernel);
  for (const StagedGroup &group : groups) {
    for (const StagedTile &tile : group.tiles) {
      LDSBuffer &buffer = buffers.emplace_back();
      buffer.bytes = getLDSBytes(tile.plan.type);
      buffer.period = tile.plan.swizzle.getPeriod();
      buffer.users = {group.anchor};
      for (LoadOp load : tile.loads)
        buffer.users.push_back(load);
    }
  }
  return placeLDS(buffers).bytes;
}

/// Bytes of what no loop copies anew: own operands, and what the kernel stores
/// and loads itself.
int64_t Promotion::getLastingBytes(ArrayRef<StagedGroup> groups) {
  int64_t bytes = 0;
  for (const LDSBuffer &buffer : getLDSBuffers(kernel))
    if (llvm::any_of(buffer.users, llvm::IsaPred<LoadOp>))
      bytes += buffer.bytes;
  for (const StagedGroup &group : groups)
    for (const StagedTile &tile : group.tiles)
      if (tile.reason == PromotionReason::Own)
        bytes += getLDSBytes(tile.plan.type);
  return bytes;
}

LogicalResult Promotion::checkCapacity(ArrayRef<StagedGroup> groups) {
  int64_t needed = getNeededBytes(groups);
  int64_t available = machine.target.getLdsBytes();
  if (needed <= available)
    return success();
  InFlightDiagnostic diag = kernel.emitError()
                            << kPass << " needs " << needed
                            << " bytes of workgroup memory for kernel '"
                            << kernel.getSymName() << "', "
                            << machine.target.getChip() << " has " << available;
  kernel.walk([&](AllocLDSOp alloc) {
    diag.attachNote(alloc.getLoc())
        << getLDSBytes(cast<MemRefType>(alloc.getType()))
        << " bytes for this buffer";
  });
  for (const StagedGroup &group : groups)
    for (const StagedTile &tile : group.tiles)
      diag.attachNote(LoadOp(tile.loads.front()).getLoc())
          << getLDSBytes(tile.plan.type) << " bytes for this tile";
  return diag;
}

void Promotion::remark(StagedTile &tile) {
  const LDSPlan &plan = tile.plan;
  auto factor = [](const LDSCycles &cycles) {
    return llvm::formatv("{0:F2}", cycles.getFactor()).str();
  };
  SmallVector<std::string> bits;
  for (int64_t bit : plan.swizzle.from)
    bits.push_back(std::to_string(bit));
  remark::passed(tile.front().getLoc(),
                 remark::RemarkOpts::name("promoted").category(kPass))
      << remark::metric("reason", stringify(tile.reason))
      << remark::metric("computed",
                        tile.front().getResult() == tile.copied.front()
                            ? StringRef("no")
                            : StringRef("yes"))
      << remark::metric("sharing",
                        getSharing(*getLaneMap(tile.front().getTileType()),
                                   machine.subgroups))
      << remark::metric("copy",
                        StringRef(tile.asyncBytes > 0 ? "asynchronous"
                                                      : "through registers"))
      << remark::metric("copy_bytes", plan.copyBytes)
      << remark::metric("transposed", StringRef(plan.transposed ? "yes" : "no"))
      << remark::metric("lds_bytes", getLDSBytes(plan.type))
      << remark::metric("row_padding", plan.padding)
      << remark::metric("swizzle", llvm::join(bits, " "))
      << remark::metric("read_conflicts", factor(plan.reads))
      << remark::metric("write_conflicts", factor(plan.writes));
}

/// Erases `op` and then what only it used.
static void eraseDead(Operation *op) {
  SmallVector<Operation *> worklist = {op};
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    if (!next->use_empty() || !(isa<LoadOp>(next) || isPure(next)))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == next->getBlock() &&
          isa<RankedTensorType>(operand.getType()) &&
          !llvm::is_contained(worklist, def))
        worklist.push_back(def);
    next->erase();
  }
}

/// Reads what was copied in place of `work` on the tile of `load`, at `indices`
/// of the buffer.
static Value readCopied(OpBuilder builder, LoadOp load, Value work,
                        Value buffer, int64_t alignment, ValueRange indices) {
  int64_t rank = indices.size();
  // Atoms may reach beyond the tile; there the padding still counts. Work that
  // changes the type is copied of tiles that atoms cover exactly.
  bool sameType =
      getElementTypeOrSelf(work) == getElementTypeOrSelf(load.getType());
  return LoadOp::create(
      builder, load.getLoc(), work.getType(), buffer, indices,
      builder.getDenseBoolArrayAttr(SmallVector<bool>(rank, true)),
      sameType ? load.getPaddingAttr() : TypedAttr(),
      builder.getI64IntegerAttr(alignment));
}

void Promotion::rewrite(StagedGroup &group) {
  Location loc = group.anchor->getLoc();
  OpBuilder entry = OpBuilder::atBlockBegin(&kernel.getBody().front());
  OpBuilder builder(group.anchor);
  auto layoutOf = [&](RankedTensorType type, const LaneMap &map) {
    return withLayout(type, LaneMapAttr::get(builder.getContext(), map));
  };
  auto allInBounds = [&](int64_t rank) {
    return builder.getDenseBoolArrayAttr(SmallVector<bool>(rank, true));
  };
  Value zero = arith::ConstantIndexOp::create(entry, loc, 0);

  SmallVector<Value> buffers, copied;
  for (StagedTile &tile : group.tiles) {
    LoadOp load = tile.front();
    buffers.push_back(AllocLDSOp::create(entry, load.getLoc(), tile.plan.type));
    copied.push_back(
        tile.asyncBytes > 0
            ? Value()
            : remakeWork(builder, tile.copied.front(),
                         LaneMapAttr::get(builder.getContext(), tile.plan.copy),
                         group.steps, tile.stepDim));
  }

  // Slower subgroups may still read what the last iteration stored.
  if (mayRunAgain(group.anchor))
    BarrierOp::create(builder, loc);
  SmallVector<Value> copies;
  for (auto [tile, buffer] : llvm::zip(group.tiles, buffers)) {
    LoadOp load = tile.front();
    if (tile.asyncBytes == 0)
      continue;
    SmallVector<Value> origin(load.getIndices().size(), zero);
    RankedTensorType type = group.steps.widen(load.getTileType(), tile.stepDim);
    copies.push_back(AsyncCopyOp::create(
        builder, load.getLoc(), load.getSource(),
        group.steps.getFirstIndices(builder, load), buffer, origin,
        /*predicate=*/Value(), TypeAttr::get(layoutOf(type, tile.plan.copy)),
        group.steps.getInBounds(load, tile.stepDim), load.getPaddingAttr(),
        load.getAlignmentAttr()));
  }
  Value underWay =
      copies.empty() ? Value() : AsyncGroupOp::create(builder, loc, copies);
  for (auto [tile, buffer, value] : llvm::zip(group.tiles, buffers, copied)) {
    if (tile.asyncBytes > 0)
      continue;
    int64_t rank = tile.plan.type.getRank();
    StoreOp::create(builder, tile.front().getLoc(), value, buffer,
                    SmallVector<Value>(rank, zero), allInBounds(rank),
                    builder.getI64IntegerAttr(tile.plan.alignment));
  }
  if (underWay)
    WaitOp::create(builder, loc, underWay);
  BarrierOp::create(builder, loc);

  for (auto [tile, buffer] : llvm::zip(group.tiles, buffers)) {
    remark(tile);
    for (auto [load, work] : llvm::zip(tile.loads, tile.copied)) {
      SmallVector<Operation *> readers = {getFirstUser(work)};
      if (tile.reason == PromotionReason::Own)
        readers = getFirstUsers(work);
      for (Operation *reader : readers) {
        OpBuilder atReader(reader);
        SmallVector<Value> indices(tile.plan.type.getRank(), zero);
        if (group.steps)
          indices[tile.stepDim] =
              group.steps.getOffset(atReader, loc, load, tile.stepDim);
        Value read = readCopied(atReader, load, work, buffer,
                                tile.plan.alignment, indices);
        work.replaceUsesWithIf(read, [&](OpOperand &use) {
          return readers.size() == 1 ||
                 use.getOwner()->getBlock() == reader->getBlock();
        });
      }
      eraseDead(work.getDefiningOp());
    }
  }
}

bool Promotion::isAbsorbed(LoadOp load) const {
  return !load->use_empty() &&
         llvm::all_of(load->getUsers(),
                      [&](Operation *user) { return absorbed.contains(user); });
}

void Promotion::dropAbsorbed(StagedGroup &group) {
  llvm::erase_if(group.tiles, [&](const StagedTile &tile) {
    return llvm::equal(tile.copied, tile.loads,
                       [](Value copied, LoadOp load) {
                         return copied == load.getResult();
                       }) &&
           llvm::all_of(tile.loads,
                        [&](LoadOp load) { return isAbsorbed(load); });
  });
}

std::vector<StagedGroup> Promotion::planGroups() {
  absorbed.clear();
  std::vector<StagedGroup> groups;
  kernel.walk<WalkOrder::PreOrder>(
      [&](Block *block) { collect(*block, groups); });
  for (StagedGroup &group : groups)
    dropAbsorbed(group);
  llvm::erase_if(groups,
                 [](const StagedGroup &group) { return group.tiles.empty(); });
  for (StagedGroup &group : groups)
    for (StagedTile &tile : group.tiles) {
      SmallVector<RankedTensorType> readers;
      for (Value tile : tile.copied)
        readers.push_back(cast<RankedTensorType>(tile.getType()));
      choosePlan(tile, readers);
    }
  if (copiesSteps)
    for (StagedGroup &group : groups)
      copyStepsAtOnce(group);
  return groups;
}

LogicalResult Promotion::run() {
  if (failed(exchangeThroughLDS(kernel, machine.target)))
    return failure();
  // Loops without stages copy nothing ahead, and engines that fill buffers only
  // side by side take pieces of few bytes. Two slots of each buffer are the
  // least that others are good for.
  ScheduleAttr schedule = *kernel.getSchedule();
  copiesAhead = schedule.getStages() > 1 && !writesSideBySide(machine.target);
  std::vector<StagedGroup> groups = planGroups();
  // What is copied together must leave memory for a second slot.
  int64_t slots = schedule.getStages() > 1 ? 2 : 1;
  if (llvm::any_of(groups, [](auto &group) { return bool(group.steps); }) &&
      slots * getNeededBytes(groups) - (slots - 1) * getLastingBytes(groups) >
          machine.target.getLdsBytes()) {
    copiesSteps = false;
    groups = planGroups();
  }
  if (copiesAhead &&
      2 * getNeededBytes(groups) > getLDSShare(machine.target, schedule)) {
    copiesAhead = false;
    groups = planGroups();
  }
  if (getNeededBytes(groups) > machine.target.getLdsBytes()) {
    // Narrow reads are better than none.
    keepsOrder = true;
    std::vector<StagedGroup> smaller = planGroups();
    if (getNeededBytes(smaller) < getNeededBytes(groups))
      groups = smaller;
  }
  if (failed(checkCapacity(groups)))
    return failure();
  for (StagedGroup &group : groups)
    rewrite(group);
  return success();
}

namespace {
struct PromoteToLDSPass
    : evoformer::tile::impl::PromoteToLDSBase<PromoteToLDSPass> {
  using PromoteToLDSBase::PromoteToLDSBase;

protected:
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      if (kernel.getTarget() && kernel.getTarget()->isCPU())
        return WalkResult::skip();
      if (failed(requireFragments(kernel, kPass)) ||
          failed(Promotion(kernel, minNarrowAccesses).run()))
        return WalkResult::interrupt();
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
