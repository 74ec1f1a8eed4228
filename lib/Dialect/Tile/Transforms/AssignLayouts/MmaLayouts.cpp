//===- MmaLayouts.cpp - Instructions and orientations -----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MmaLayouts.h"

#include "ReachedMemory.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

using LayoutMap = llvm::MapVector<Operation *, MmaLayouts>;

//===----------------------------------------------------------------------===//
// Chains of products
//===----------------------------------------------------------------------===//

SmallVector<CarriedResult>
mlir::evoformer::tile::findCarriedResults(Value operand) {
  SmallVector<CarriedResult> results;
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  // Depth first through elementwise work; loads and loop-carried values end a
  // path, since they hold no result of this iteration.
  SmallVector<std::pair<Value, SmallVector<int64_t>>> worklist{{operand, dims}};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    auto [value, map] = worklist.pop_back_val();
    Operation *def = value.getDefiningOp();
    if (!def || !seen.insert(def).second)
      continue;
    if (auto mma = dyn_cast<MmaOp>(def)) {
      results.push_back({mma, map});
      continue;
    }
    if (auto transpose = dyn_cast<TransposeOp>(def)) {
      SmallVector<int64_t> inner;
      for (int64_t d : map)
        inner.push_back(transpose.getPermutation()[d]);
      worklist.push_back({transpose.getSource(), inner});
      continue;
    }
    if (!OpTrait::hasElementwiseMappableTraits(def))
      continue;
    for (Value input : llvm::reverse(def->getOperands()))
      if (isa<RankedTensorType>(input.getType()))
        worklist.push_back({input, map});
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

namespace {
/// A digit of the hardware's index along one dimension.
struct Digit {
  int64_t size;
  bool inLane;
  int64_t laneBase; // first lane number of the digit, where it is in the lane
  int64_t order = 0;
};
} // namespace

/// The digits of the hardware's index along one dimension of an operand,
/// lowest first, the atoms last.
static SmallVector<Digit> getDigits(MatrixInstrAttr instr, OperandRole role,
                                    bool column, int64_t atoms) {
  LaneMap map = instr.getMap(role).toLaneMap();
  SmallVector<std::pair<int64_t, Digit>> digits; // by hardware stride
  for (const LayoutAxis &axis : map.registers)
    if (axis.strides[column] != 0)
      digits.push_back({axis.strides[column], {axis.size, false, 0}});
  int64_t laneBase = 1;
  for (const LayoutAxis &axis : map.lanes) {
    if (axis.strides[column] != 0)
      digits.push_back({axis.strides[column], {axis.size, true, laneBase}});
    laneBase *= axis.size;
  }
  llvm::sort(digits, [](auto &x, auto &y) { return x.first < y.first; });
  SmallVector<Digit> result;
  for (auto &[stride, digit] : digits)
    if (digit.size > 1)
      result.push_back(digit);
  if (atoms > 1)
    result.push_back({atoms, false, 0});
  return result;
}

static SmallVector<int64_t> flatten(ArrayRef<Digit> digits) {
  SmallVector<int64_t> order;
  int64_t natural = 1;
  bool identity = true;
  for (const Digit &digit : digits) {
    order.append({digit.size, digit.order});
    identity &= digit.order == natural;
    natural *= digit.size;
  }
  return identity ? SmallVector<int64_t>() : order;
}

SmallVector<int64_t> mlir::evoformer::tile::getContiguousOrder(
    MatrixInstrAttr instr, OperandRole role, bool column, int64_t atoms) {
  SmallVector<Digit> digits = getDigits(instr, role, column, atoms);
  int64_t stride = 1;
  for (bool inLane : {false, true})
    for (Digit &digit : digits)
      if (digit.inLane == inLane) {
        digit.order = stride;
        stride *= digit.size;
      }
  return flatten(digits);
}

/// The order under which an operand's contracted dimension finds its elements
/// where `carried` (an accumulator's map) holds them: lane digits keep their
/// stride there, registers follow in order. Empty-handed (nullopt) where the
/// lanes differ, so that an exchange is needed whatever the order.
static std::optional<SmallVector<int64_t>>
matchOrder(const LaneMap &carried, int64_t carriedDim, MatrixInstrAttr instr,
           OperandRole role, bool column, int64_t atoms) {
  SmallVector<Digit> digits = getDigits(instr, role, column, atoms);
  // Lanes of the accumulator that move along the dimension.
  int64_t laneBase = 1, laneExtent = 1, matched = 1;
  for (const LayoutAxis &axis : carried.lanes) {
    if (axis.strides[carriedDim] != 0 && axis.size > 1) {
      laneExtent *= axis.size;
      for (Digit &digit : digits)
        if (digit.inLane && digit.laneBase == laneBase &&
            digit.size == axis.size) {
          digit.order = axis.strides[carriedDim];
          matched *= axis.size;
        }
    }
    laneBase *= axis.size;
  }
  int64_t wanted = 1;
  for (const Digit &digit : digits)
    if (digit.inLane)
      wanted *= digit.size;
  if (matched != laneExtent || wanted != matched)
    return std::nullopt;

  // Registers of the accumulator along it, by stride.
  SmallVector<std::pair<int64_t, int64_t>> steps; // stride, size
  for (const LayoutAxis &axis : carried.registers)
    if (axis.strides[carriedDim] != 0 && axis.size > 1)
      steps.push_back({axis.strides[carriedDim], axis.size});
  llvm::sort(steps);
  size_t step = 0;
  int64_t used = 1; // of steps[step]
  SmallVector<Digit> split;
  for (Digit digit : digits) {
    if (digit.inLane) {
      split.push_back(digit);
      continue;
    }
    for (int64_t left = digit.size; left > 1;) {
      if (step == steps.size())
        return std::nullopt;
      int64_t available = steps[step].second / used;
      int64_t take = std::min(left, available);
      if (left % take != 0 || available % take != 0)
        return std::nullopt;
      split.push_back({take, false, 0, steps[step].first * used});
      left /= take;
      used *= take;
      if (used == steps[step].second) {
        ++step;
        used = 1;
      }
    }
  }
  if (step != steps.size())
    return std::nullopt;
  return flatten(split);
}

//===----------------------------------------------------------------------===//
// Layouts of one product
//===----------------------------------------------------------------------===//

FailureOr<MmaLayouts> mlir::evoformer::tile::getMmaLayouts(
    const MmaChoice &choice, ScheduleAttr schedule, const LayoutMap &known) {
  MmaOp op = choice.op;
  MLIRContext *context = op.getContext();
  MatrixInstrAttr instr = choice.instr;
  auto aType = cast<RankedTensorType>(op.getA().getType());
  auto cType = cast<RankedTensorType>(op.getC().getType());
  int64_t rank = cType.getRank();
  int64_t batch = schedule.getSubgroups()[0],
          alongM = schedule.getSubgroups()[1],
          alongN = schedule.getSubgroups()[2];
  if (rank == 2 && batch != 1)
    return op.emitOpError("the schedule has ")
           << batch << " subgroups along a batch that this product lacks";

  // In the tile's terms: which hardware operand our a and b are.
  bool swapped = choice.swapped;
  OperandRole roleOfA = swapped ? OperandRole::B : OperandRole::A;
  OperandRole roleOfB = swapped ? OperandRole::A : OperandRole::B;
  int64_t atomM = swapped ? instr.getN() : instr.getM();
  int64_t atomN = swapped ? instr.getM() : instr.getN();
  int64_t m = cType.getDimSize(rank - 2), n = cType.getDimSize(rank - 1),
          k = aType.getDimSize(rank - 1);
  int64_t atomsM = llvm::divideCeil(m, atomM * alongM);
  int64_t atomsN = llvm::divideCeil(n, atomN * alongN);
  int64_t atomsK = llvm::divideCeil(k, instr.getK());

  // The result: its register dimension in consecutive runs.
  LaneMap cMap = instr.getC().toLaneMap();
  int64_t inRows = 1, inColumns = 1;
  for (const LayoutAxis &axis : cMap.registers) {
    if (axis.strides[0] != 0)
      inRows *= axis.size;
    if (axis.strides[1] != 0)
      inColumns *= axis.size;
  }
  // Hardware columns are our N unless swapped.
  bool registersInColumns = inColumns >= inRows;
  bool registersInN = registersInColumns != swapped;
  SmallVector<int64_t> orderM, orderN;
  (registersInN ? orderN : orderM) =
      getContiguousOrder(instr, OperandRole::C, registersInColumns,
                         registersInN ? atomsN : atomsM);

  // The contracted dimension: as a carried result has it, else in runs.
  SmallVector<int64_t> orderK;
  bool matched = false, carries = false;
  // The contracted dimension of a is its last, of b its last but one.
  auto match = [&](const CarriedResult &carried, bool second) {
    auto it = known.find(carried.producer);
    if (matched || it == known.end())
      return;
    carries = true;
    MmaOp producer = carried.producer;
    FailureOr<LaneMap> map =
        it->second.c.getLaneMap(producer.getType().getShape(), nullptr);
    if (failed(map))
      return;
    int64_t dim = carried.dims[second ? rank - 2 : rank - 1];
    OperandRole role = second ? roleOfB : roleOfA;
    if (std::optional<SmallVector<int64_t>> order = matchOrder(
            *map, dim, instr, role, role == OperandRole::A, atomsK)) {
      orderK = *order;
      matched = true;
    }
  };
  for (bool second : {false, true})
    for (const CarriedResult &carried :
         findCarriedResults(second ? op.getB() : op.getA()))
      match(carried, second);
  if (!matched && !carries)
    orderK = getContiguousOrder(instr, OperandRole::A, /*column=*/true, atomsK);

  auto frag = [&](OperandRole role, int64_t rows, int64_t columns,
                  ArrayRef<int64_t> orderRows, ArrayRef<int64_t> orderColumns,
                  bool hasM, bool hasN) {
    SmallVector<int64_t> subgroups;
    auto add = [&](int64_t count, int64_t dim) {
      if (count > 1)
        subgroups.append({count, dim});
    };
    add(alongN, hasN ? rank - 1 : -1);
    add(alongM, hasM ? rank - 2 : -1);
    if (rank > 2)
      add(batch, rank - 3);
    // `orderRows` belongs to the last but one tile dimension.
    SmallVector<Attribute> order(rank, DenseI64ArrayAttr::get(context, {}));
    order[rank - 2] = DenseI64ArrayAttr::get(context, orderRows);
    order[rank - 1] = DenseI64ArrayAttr::get(context, orderColumns);
    return FragAttr::getChecked([&] { return op.emitOpError(); }, context,
                                instr, role, ArrayRef<int64_t>{rows, columns},
                                DenseI64ArrayAttr::get(context, subgroups),
                                ArrayAttr::get(context, order));
  };
  // The hardware's rows and columns among the tile's last two dimensions.
  int64_t first = swapped ? rank - 1 : rank - 2;
  int64_t second = swapped ? rank - 2 : rank - 1;
  MmaLayouts result;
  result.a = frag(roleOfA, first, second, orderM, orderK, true, false);
  result.b = frag(roleOfB, first, second, orderK, orderN, false, true);
  result.c = frag(OperandRole::C, first, second, orderM, orderN, true, true);
  if (!result.a || !result.b || !result.c)
    return failure();
  return result;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

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
    if (a.getElementType() != instr.getAType() ||
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
    cost += count * (instr.getPasses() + issue);
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

/// The product whose sum a value is, through loops that carry it and work on
/// its elements; null where there is none.
static MmaOp findSum(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (auto mma = dyn_cast<MmaOp>(def))
      return mma;
    if (auto loop = dyn_cast<scf::ForOp>(def)) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      value = loop.getBody()->getTerminator()->getOperand(number);
    } else if (def->getNumOperands() > 0 &&
               def->getOperand(0).getType() == value.getType() &&
               OpTrait::hasElementwiseMappableTraits(def)) {
      value = def->getOperand(0);
    } else {
      break;
    }
  }
  return {};
}

/// Of products inside evo_tile.where, those outside whose results they stand
/// for: both are best oriented alike.
static DenseMap<Operation *, Operation *> findRepeated(KernelOp kernel) {
  DenseMap<Operation *, Operation *> repeated;
  kernel.walk([&](WhereOp where) {
    for (auto [init, result] :
         llvm::zip(where.getInits(), where.getYield().getResults())) {
      MmaOp before = findSum(init), again = findSum(result);
      if (before && again && before != again)
        repeated[again] = before;
    }
  });
  return repeated;
}

namespace {
/// Chooses the orientations of some products, beside those that are chosen
/// already.
struct OrientationChoice {
  const DenseMap<Operation *, MatrixInstrAttr> &instrs;
  ScheduleAttr schedule;
  /// What weighs in besides exchanges, and what is pinned.
  llvm::MapVector<Operation *, SmallVector<ReachedMemory>> reachedBy;
  DenseMap<Operation *, Operation *> like;

  LogicalResult run(ArrayRef<MmaOp> ops, LayoutMap &known) const;
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
  for (uint64_t mask = 0, e = all ? 1ull << count : 2; mask < e; ++mask) {
    SmallVector<MmaChoice> choices;
    int64_t cost = 0;
    bool allowed = true;
    for (auto [i, op] : llvm::enumerate(ops)) {
      bool swapped = all ? (mask >> i) & 1 : mask;
      allowed &= !all || !isPinnedOtherwise(op, swapped);
      MatrixInstrAttr instr = instrs.lookup(op);
      choices.push_back({op, instr, swapped});
      // Padding may differ between the orientations.
      cost += *getCost(op, instr, swapped, schedule);
    }
    if (!allowed)
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
    if (!bestCost || cost < *bestCost ||
        (cost == *bestCost && alike && bestMask != 0 && bestMask != e - 1)) {
      bestCost = cost;
      best = layouts;
      bestMask = mask;
    }
  }
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
    for (Attribute entry : target.getMatrix()) {
      auto instr = cast<MatrixInstrAttr>(entry);
      for (bool swapped : {false, true}) {
        std::optional<int64_t> cost = getCost(group, instr, swapped, schedule);
        if (cost && (!best || *cost < bestCost)) {
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

  OrientationChoice choice{instrs, schedule, {}, {}};
  for (MmaOp op : usual)
    choice.reachedBy[op] = findReachedMemory(op);
  LayoutMap best;
  if (failed(choice.run(usual, best)))
    return failure();
  choice.reachedBy.clear();
  choice.like = findRepeated(kernel);
  if (!rare.empty() && failed(choice.run(rare, best)))
    return failure();
  for (auto &[op, layouts] : best)
    remark::passed(op->getLoc(), remark::RemarkOpts::name("matrix-instruction")
                                     .category("evo-tile-assign-layouts"))
        << remark::metric("instruction", layouts.c.getInstr().getName())
        << remark::metric("swapped",
                          layouts.a.getRole() == OperandRole::B ? "yes" : "no");
  return best;
}
