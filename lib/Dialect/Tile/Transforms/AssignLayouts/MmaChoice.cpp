//===- MmaChoice.cpp - Which instruction, which way around ------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MmaLayouts.h"

#include "../KernelMemory.h"
#include "../PromoteToLDS/LDSPlan.h"
#include "LayoutPropagation.h"
#include "ReachedMemory.h"

#include "Evoformer/Dialect/Tile/IR/Limits.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

using LayoutMap = llvm::MapVector<Operation *, MmaLayouts>;

/// Cycles of all products with one instruction; padding counts. An issue slot
/// is a few cycles besides.
static std::optional<int64_t> getCost(ArrayRef<MmaOp> ops,
                                      MatrixInstrAttr instr, bool swapped,
                                      ScheduleAttr schedule) {
  constexpr int64_t issue = 4;
  int64_t cost = 0;
  for (MmaOp op : ops) {
    auto a = cast<RankedTensorType>(op.getA().getType());
    auto c = cast<RankedTensorType>(op.getC().getType());
    if (!instr.multiplies(a.getElementType()) ||
        c.getElementType() != instr.getCType())
      return std::nullopt;
    int64_t rank = c.getRank();
    int64_t m = swapped ? instr.getN() : instr.getM();
    int64_t n = swapped ? instr.getM() : instr.getN();
    int64_t count = llvm::divideCeil(c.getDimSize(rank - 2),
                                     m * schedule.getSubgroups()[1]) *
                    llvm::divideCeil(c.getDimSize(rank - 1),
                                     n * schedule.getSubgroups()[2]) *
                    llvm::divideCeil(a.getDimSize(rank - 1), instr.getK());
    for (int64_t d = 0; d + 2 < rank; ++d)
      count *= c.getDimSize(d);
    cost += count * instr.countProducts(a.getElementType()) *
            (instr.getCycles() + issue);
  }
  return cost;
}

/// What bringing carried results into the operands' layouts costs: per element,
/// an exchange doubles with every lane bit, a pass through LDS is dearest.
static FailureOr<int64_t> getExchangeCost(ArrayRef<MmaChoice> choices,
                                          ScheduleAttr schedule,
                                          LayoutMap &layouts) {
  constexpr int64_t viaShared = 64;
  int64_t cost = 0;
  // Products that want one operand in one layout share its exchange, results
  // that meet in one layout are exchanged together.
  DenseSet<std::tuple<Value, Attribute, Attribute>> counted;
  for (const MmaChoice &choice : choices) {
    FailureOr<MmaLayouts> mine = getMmaLayouts(choice, schedule, layouts);
    if (failed(mine))
      return failure();
    layouts[choice.op] = *mine;
    MmaOp op = choice.op;
    for (bool second : {false, true}) {
      Value operand = second ? op.getB() : op.getA();
      auto type = cast<RankedTensorType>(operand.getType());
      FragAttr wanted = second ? mine->b : mine->a;
      FailureOr<LaneMap> to = wanted.getLaneMap(type.getShape(), nullptr);
      for (CarriedResult &carried : findCarriedResults(operand)) {
        if (!layouts.contains(carried.producer))
          continue;
        FragAttr held = layouts[carried.producer].c;
        if (!counted.insert({operand, wanted, held}).second)
          continue;
        FailureOr<LaneMap> from =
            held.getLaneMap(carried.producer.getType().getShape(), nullptr);
        if (failed(from) || failed(to))
          return failure();
        int64_t mask = 0;
        switch (LaneMap::relate(from->permuteDims(carried.dims), *to,
                                type.getShape(), &mask)) {
        case LayoutRelation::Same:
        case LayoutRelation::RegisterRename:
          break;
        case LayoutRelation::LaneExchange:
          cost += (1ll << llvm::popcount(static_cast<uint64_t>(mask))) *
                  type.getNumElements();
          break;
        case LayoutRelation::Shared:
          cost += viaShared * type.getNumElements();
          break;
        }
      }
    }
  }
  return cost;
}

/// What loading and storing the tiles costs that take their layouts from
/// results: an issue slot an access. Where results agree it counts once.
static FailureOr<int64_t> getMemoryCost(
    const llvm::MapVector<Operation *, SmallVector<ReachedMemory>> &reachedBy,
    const LayoutMap &layouts) {
  constexpr int64_t issue = 4;
  int64_t cost = 0;
  DenseSet<std::pair<Operation *, Attribute>> counted;
  for (auto &[op, reached] : reachedBy) {
    FragAttr layout = layouts.find(op)->second.c;
    FailureOr<LaneMap> map =
        layout.getLaneMap(cast<MmaOp>(op).getType().getShape(), nullptr);
    if (failed(map))
      return failure();
    for (const ReachedMemory &memory : reached)
      if (counted.insert({memory.access, layout}).second)
        cost += issue * countAccesses(memory, *map);
  }
  return cost;
}

/// How often an op runs beside what is outside of all loops, as far as costs
/// are concerned.
static int64_t getWeight(Operation *op) {
  constexpr int64_t kSteps = 8;
  int64_t weight = 1;
  for (Operation *parent = op->getParentOp(); !isa<KernelOp>(parent);
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      weight *= kSteps;
  return weight;
}

/// Instructions of a lane that move what the products multiply, load beside
/// their results and store of them.
static FailureOr<int64_t> countMoves(
    const llvm::MapVector<Operation *, SmallVector<ReachedMemory>> &reachedBy,
    const LayoutMap &layouts, const LDSMachine &machine) {
  int64_t count = 0;
  DenseSet<std::pair<Operation *, Attribute>> counted;
  for (auto &[op, reached] : reachedBy) {
    auto mma = cast<MmaOp>(op);
    const MmaLayouts &mine = layouts.find(op)->second;
    FailureOr<LaneMap> map =
        mine.c.getLaneMap(mma.getType().getShape(), nullptr);
    if (failed(map))
      return failure();
    for (const ReachedMemory &memory : reached)
      if (!memory.access->getParentOfType<WhereOp>() &&
          counted.insert({memory.access, mine.c}).second)
        count += getWeight(memory.access) * countAccesses(memory, *map);
    for (auto [operand, layout] :
         {std::pair(mma.getA(), mine.a), std::pair(mma.getB(), mine.b)})
      for (LoadedOperand &loaded : findLoadedOperands(operand)) {
        RankedTensorType tile = loaded.load.getTileType();
        SmallVector<int64_t> inverse(loaded.dims.size());
        for (auto [i, d] : llvm::enumerate(loaded.dims))
          inverse[d] = i;
        Attribute ofTile = permuteLayout(
            layout, cast<RankedTensorType>(operand.getType()).getShape(),
            inverse);
        if (!counted.insert({loaded.load, ofTile}).second)
          continue;
        RankedTensorType reader = withLayout(tile, ofTile);
        StagingCount staging =
            countStaging(reader, loaded.load.getSourceType(), machine);
        // What all subgroups read stays in workgroup memory until it is used.
        FailureOr<LaneMap> ofReader = getLaneMap(reader);
        bool isShared =
            succeeded(ofReader) && isSharedByAll(*ofReader, machine);
        count += getWeight(loaded.load) * staging.copies +
                 getWeight(isShared ? op : loaded.load) * staging.reads;
      }
  }
  return count;
}

/// The products whose sums a value is made of, element by element and through
/// loops that carry it.
static void findSums(Value value, SetVector<MmaOp> &sums,
                     DenseSet<Value> &seen) {
  Operation *def = value.getDefiningOp();
  if (!def || !seen.insert(value).second)
    return;
  if (auto mma = dyn_cast<MmaOp>(def)) {
    sums.insert(mma);
  } else if (auto loop = dyn_cast<scf::ForOp>(def)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    findSums(loop.getBody()->getTerminator()->getOperand(number), sums, seen);
  } else if (mapsElements(def)) {
    for (Value operand : def->getOperands())
      if (operand.getType() == value.getType())
        findSums(operand, sums, seen);
  }
}
static SetVector<MmaOp> findSums(Value value) {
  SetVector<MmaOp> sums;
  DenseSet<Value> seen;
  findSums(value, sums, seen);
  return sums;
}

/// Of products inside evo_tile.where, those outside whose results they stand
/// for: both are best oriented alike.
static DenseMap<Operation *, Operation *> findRepeated(KernelOp kernel) {
  DenseMap<Operation *, Operation *> repeated;
  kernel.walk([&](WhereOp where) {
    for (auto [init, result] :
         llvm::zip(where.getInits(), where.getYield().getResults())) {
      SetVector<MmaOp> before = findSums(init);
      for (MmaOp again : findSums(result))
        if (!before.empty() && !before.contains(again))
          repeated[again] = before.front();
    }
  });
  return repeated;
}

/// Whether each step of a loop brings an operand of 16 bits of a product, as a
/// box may.
static bool isReadAnew(scf::ForOp loop, Value operand) {
  SmallVector<LoadedOperand> loads = findLoadedOperands(operand);
  return getElementTypeOrSelf(operand).getIntOrFloatBitWidth() == 16 &&
         !loads.empty() && llvm::all_of(loads, [&](LoadedOperand &loaded) {
           LoadOp load = loaded.load;
           return loop->isAncestor(load) &&
                  load.getAlignment().value_or(1) % kMapAlignment == 0;
         });
}

/// Whether each step of a loop brings all that these products multiply, while
/// tiles that lie along their results are loaded and stored outside of it.
static bool readAllAnew(
    ArrayRef<MmaOp> ops,
    const llvm::MapVector<Operation *, SmallVector<ReachedMemory>> &reachedBy) {
  return llvm::all_of(ops, [&](MmaOp op) {
    auto loop = op->getParentOfType<scf::ForOp>();
    return loop && isReadAnew(loop, op.getA()) && isReadAnew(loop, op.getB()) &&
           llvm::none_of(reachedBy.lookup(op), [&](const ReachedMemory &to) {
             return !isRowVector(to.tile) && loop->isAncestor(to.access);
           });
  });
}

/// Whether a product that is rarely needed reads rows of its second operand
/// from memory itself, whose elements lie along its result. Of 16 bits: sums of
/// f32 are made apart, and would be exchanged in each step.
static bool loadsAcross(MmaOp op) {
  auto type = cast<RankedTensorType>(op.getB().getType());
  SmallVector<LoadedOperand> loads = findLoadedOperands(op.getB());
  return type.getElementTypeBitWidth() == 16 && !loads.empty() &&
         llvm::all_of(loads, [&](LoadedOperand &loaded) {
           LoadOp load = loaded.load;
           return load->getParentOfType<WhereOp>() &&
                  !isWorkgroupMemory(load.getSourceType()) &&
                  loaded.dims.back() ==
                      getContiguousDim(load.getSourceType(),
                                       load.getTileType().getShape());
         });
}

/// Whether lanes that hold consecutive elements of 16 bits along a product's
/// result, all that they have, hold as many as vectors that are worth it.
static bool holdVectors(MmaOp op, MatrixInstrAttr instr, bool swapped,
                        ScheduleAttr schedule) {
  constexpr int64_t kLeastElements = 4;
  int64_t n = cast<RankedTensorType>(op.getB().getType()).getShape().back();
  int64_t atom =
      (swapped ? instr.getM() : instr.getN()) * schedule.getSubgroups()[2];
  return n % atom == 0 && llvm::isPowerOf2_64(n / atom) &&
         n / atom >= kLeastElements;
}

/// Whether what these products read besides what their loops bring is one tile.
static bool haveOneOwn(ArrayRef<MmaOp> ops) {
  DenseSet<Operation *> own;
  for (MmaOp op : ops)
    if (auto loop = op->getParentOfType<LoopLikeOpInterface>())
      for (LoadedOperand &operand : findLoadedOperands(op.getA()))
        if (!loop->isProperAncestor(operand.load))
          own.insert(operand.load);
  return own.size() == 1;
}

/// The products of each tile that several of them read.
static SmallVector<SmallVector<MmaOp>> findReaders(ArrayRef<MmaOp> ops) {
  llvm::MapVector<Operation *, SetVector<MmaOp>> readers;
  for (MmaOp op : ops)
    for (Value operand : {op.getA(), op.getB()})
      for (LoadedOperand &loaded : findLoadedOperands(operand))
        readers[loaded.load].insert(op);
  SmallVector<SmallVector<MmaOp>> several;
  for (auto &[load, products] : readers)
    if (products.size() > 1)
      several.push_back(products.takeVector());
  return several;
}

namespace {
/// Chooses the orientations of some products, beside those that are chosen
/// already.
struct OrientationChoice {
  OrientationChoice(const DenseMap<Operation *, MatrixInstrAttr> &instrs,
                    ScheduleAttr schedule)
      : instrs(instrs), schedule(schedule) {}

  const DenseMap<Operation *, MatrixInstrAttr> &instrs;
  ScheduleAttr schedule;
  /// What weighs in besides exchanges, and what is pinned.
  llvm::MapVector<Operation *, SmallVector<ReachedMemory>> reachedBy;
  DenseMap<Operation *, Operation *> like;
  /// The product that is rarely needed and loads its second operand in runs, if
  /// there is one, and whether their own operand is read so as well.
  MmaOp across;
  bool ownInRuns = false;

  LogicalResult run(ArrayRef<MmaOp> ops, LayoutMap &known) const;
  /// Leaves results as their instructions have them where that moves less.
  LogicalResult chooseRuns(ArrayRef<MmaOp> ops, LayoutMap &known);

  /// The products whose results do not lie in runs.
  DenseSet<Operation *> asInstructed;

private:
  /// Of a product as it was chosen.
  MmaChoice::Runs getRuns(Operation *op) const {
    return asInstructed.contains(op) ? MmaChoice::Runs::None
                                     : MmaChoice::Runs::OfResult;
  }
  /// Of one that is to be: like the product that it repeats.
  MmaChoice::Runs getRuns(MmaOp op, bool swapped) const {
    return op == across && holdVectors(op, instrs.lookup(op), swapped, schedule)
               ? MmaChoice::Runs::OfOperand
               : getRuns(like.lookup(op));
  }
};
} // namespace

LogicalResult OrientationChoice::run(ArrayRef<MmaOp> ops,
                                     LayoutMap &known) const {
  auto isPinnedOtherwise = [&](MmaOp op, bool swapped) {
    auto it = known.find(like.lookup(op));
    return it != known.end() &&
           swapped != (it->second.a.getRole() == OperandRole::B);
  };
  // All combinations for short chains, else one for all.
  size_t count = ops.size();
  bool all = count <= 5;
  std::optional<int64_t> bestCost;
  LayoutMap best;
  uint64_t bestMask = 0;
  int64_t mostTogether = 0;
  for (uint64_t mask = 0, e = all ? 1ull << count : 2; mask < e; ++mask) {
    SmallVector<MmaChoice> choices;
    int64_t cost = 0;
    bool allowed = true;
    int64_t together = 0;
    for (auto [i, op] : llvm::enumerate(ops)) {
      bool swapped = all ? (mask >> i) & 1 : mask;
      allowed &= !all || !isPinnedOtherwise(op, swapped);
      MatrixInstrAttr instr = instrs.lookup(op);
      choices.push_back({op, instr, swapped, getRuns(op, swapped), ownInRuns});
      together += isGroupProduct(choices.back(), schedule);
      // Padding may differ between the orientations.
      cost += *getCost(op, instr, swapped, schedule);
    }
    // What subgroups execute together saves more than any exchange.
    if (!allowed || together < mostTogether)
      continue;
    LayoutMap layouts = known;
    FailureOr<int64_t> exchange = getExchangeCost(choices, schedule, layouts);
    if (failed(exchange))
      return failure();
    FailureOr<int64_t> memory = getMemoryCost(reachedBy, layouts);
    if (failed(memory))
      return failure();
    cost += *exchange + *memory;
    // Among equals: rather all alike, rather not swapped.
    bool alike = mask == 0 || mask == e - 1;
    if (!bestCost || together > mostTogether || cost < *bestCost ||
        (cost == *bestCost && alike && bestMask != 0 && bestMask != e - 1)) {
      bestCost = cost;
      best = layouts;
      bestMask = mask;
      mostTogether = together;
    }
  }
  known = best;
  return success();
}

LogicalResult OrientationChoice::chooseRuns(ArrayRef<MmaOp> ops,
                                            LayoutMap &known) {
  if (ops.empty())
    return success();
  auto kernel = ops.front()->getParentOfType<KernelOp>();
  LDSMachine machine{*kernel.getTarget(), schedule.getNumSubgroups()};
  auto layOut = [&](LayoutMap &layouts) -> FailureOr<int64_t> {
    SmallVector<MmaChoice> choices;
    for (MmaOp op : ops)
      choices.push_back({op, instrs.lookup(op),
                         known.find(op)->second.a.getRole() == OperandRole::B,
                         getRuns(op)});
    FailureOr<int64_t> exchange = getExchangeCost(choices, schedule, layouts);
    if (failed(exchange))
      return failure();
    FailureOr<int64_t> moves = countMoves(reachedBy, layouts, machine);
    if (failed(moves))
      return failure();
    return *exchange + *moves;
  };
  // Boxes bring tiles in order, for which lanes issue nothing; runs would save
  // accesses that are made once.
  if (machine.target.hasTensorMaps() &&
      schedule.getProducts() == ProductScope::Subgroup &&
      readAllAnew(ops, reachedBy)) {
    asInstructed.insert(ops.begin(), ops.end());
    return failure(failed(layOut(known)));
  }
  LayoutMap best;
  FailureOr<int64_t> least = layOut(best);
  if (failed(least))
    return failure();
  auto attempt = [&](ArrayRef<MmaOp> some) {
    asInstructed.insert(some.begin(), some.end());
    LayoutMap layouts;
    FailureOr<int64_t> cost = layOut(layouts);
    if (failed(cost))
      return failure();
    if (*cost < *least) {
      least = cost;
      best = layouts;
    } else {
      for (MmaOp op : some)
        asInstructed.erase(op);
    }
    return success();
  };
  for (MmaOp op : ops)
    if (failed(attempt(op)))
      return failure();
  // Of products that read one tile, each alone would have it read twice.
  for (const SmallVector<MmaOp> &readers : findReaders(ops))
    if (llvm::none_of(readers,
                      [&](MmaOp op) { return asInstructed.contains(op); }) &&
        failed(attempt(readers)))
      return failure();
  known = best;
  return success();
}

FailureOr<LayoutMap> mlir::evoformer::tile::chooseMmaLayouts(KernelOp kernel) {
  // What is rarely run must not decide for the rest; it comes out like what it
  // repeats.
  SmallVector<MmaOp> usual, rare;
  kernel.walk([&](MmaOp op) {
    (op->getParentOfType<WhereOp>() ? rare : usual).push_back(op);
  });
  if (usual.empty())
    usual.swap(rare);
  if (usual.empty())
    return LayoutMap();
  TargetAttr target = *kernel.getTarget();
  ScheduleAttr schedule = *kernel.getSchedule();

  // Per element type, the cheapest row of the table.
  auto typesOf = [](MmaOp op) {
    return std::pair(getElementTypeOrSelf(op.getA().getType()),
                     getElementTypeOrSelf(op.getC().getType()));
  };
  llvm::MapVector<std::pair<Type, Type>, SmallVector<MmaOp>> byType;
  for (MmaOp op : usual)
    byType[typesOf(op)].push_back(op);
  llvm::MapVector<std::pair<Type, Type>, SmallVector<MmaOp>> rareByType;
  for (MmaOp op : rare)
    rareByType[typesOf(op)].push_back(op);
  for (auto &[types, group] : rareByType)
    if (!byType.contains(types))
      byType[types] = group;
  DenseMap<Operation *, MatrixInstrAttr> instrs;
  for (auto &[types, group] : byType) {
    MatrixInstrAttr best;
    int64_t bestCost = 0;
    // Split products are rounded unlike others: where the target prefers them
    // all kernels have them, so that one recomputes what another computed.
    std::optional<int64_t> products;
    for (Attribute entry : target.getMatrix()) {
      auto instr = cast<MatrixInstrAttr>(entry);
      for (bool swapped : {false, true}) {
        std::optional<int64_t> cost = getCost(group, instr, swapped, schedule);
        if (!cost)
          continue;
        int64_t some = instr.countProducts(types.first);
        if (some != products.value_or(some))
          continue;
        products = some;
        if (!best || *cost < bestCost) {
          best = instr;
          bestCost = *cost;
        }
      }
    }
    if (!best)
      return group.front().emitOpError("has no matrix instruction on ")
             << target.getChip() << " for " << types.first << " operands and a "
             << types.second << " result";
    for (MmaOp op : group)
      instrs[op] = best;
    for (MmaOp op : rareByType.lookup(types))
      instrs[op] = best;
  }

  OrientationChoice choice(instrs, schedule);
  for (MmaOp op : usual)
    choice.reachedBy[op] = findReachedMemory(op);
  LayoutMap best;
  if (failed(choice.run(usual, best)) || failed(choice.chooseRuns(usual, best)))
    return failure();
  choice.reachedBy.clear();
  choice.like = findRepeated(kernel);
  // Results that lie otherwise are exchanged, and own operands read in wide
  // pieces, which takes registers that the usual work would have: so that is
  // for a single one in a kernel.
  SmallVector<MmaOp> across;
  llvm::copy_if(rare, std::back_inserter(across), [&](MmaOp op) {
    MatrixInstrAttr instr = instrs.lookup(op);
    return loadsAcross(op) &&
           (holdVectors(op, instr, /*swapped=*/false, schedule) ||
            holdVectors(op, instr, /*swapped=*/true, schedule));
  });
  if (across.size() == 1) {
    choice.across = across.front();
    choice.ownInRuns = haveOneOwn(rare);
  }
  // Each region on its own: few products, of which all combinations are tried.
  llvm::MapVector<Operation *, SmallVector<MmaOp>> regions;
  for (MmaOp op : rare)
    regions[op->getParentOfType<WhereOp>()].push_back(op);
  for (auto &[where, ops] : regions)
    if (failed(choice.run(ops, best)))
      return failure();
  for (auto &[op, layouts] : best)
    remark::passed(op->getLoc(), remark::RemarkOpts::name("matrix-instruction")
                                     .category("evo-tile-assign-layouts"))
        << remark::metric("instruction", layouts.c.getInstr().getName())
        << remark::metric("swapped",
                          layouts.a.getRole() == OperandRole::B ? "yes" : "no");
  return best;
}
