//===- MmaLayouts.cpp - Layouts of products -------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MmaLayouts.h"

#include "../KernelMemory.h"
#include "../PromoteToLDS/LDSPlan.h"
#include "ReachedMemory.h"

#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
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
    if (!mapsElements(def))
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

SmallVector<int64_t>
mlir::evoformer::tile::getContiguousOrder(MatrixInstrAttr instr,
                                          OperandRole role, bool column,
                                          int64_t atoms, int64_t turns) {
  SmallVector<Digit> digits = getDigits(instr, role, column, atoms / turns);
  int64_t stride = 1;
  for (bool inLane : {false, true})
    for (Digit &digit : digits)
      if (digit.inLane == inLane) {
        digit.order = stride;
        stride *= digit.size;
      }
  if (turns > 1) {
    auto *place = atoms > turns ? std::prev(digits.end()) : digits.end();
    digits.insert(place, {turns, false, 0, stride});
  }
  return flatten(digits);
}

/// How many lanes share an operand's contracted dimension.
static int64_t countLanesAlong(MatrixInstrAttr instr) {
  int64_t count = 1;
  for (const Digit &digit :
       getDigits(instr, OperandRole::A, /*column=*/true, /*atoms=*/1))
    if (digit.inLane)
      count *= digit.size;
  return count;
}

/// After how many atoms an instruction has added what the target's instruction
/// for these types that has most lanes along the contracted dimension adds at
/// once. Taking turns like that, all of them add products in one order, so that
/// a kernel which recomputes a product of another rounds it alike. That counts
/// where operands have as many digits as sums; not at the price of vectors.
static int64_t countTurns(MmaOp op, MatrixInstrAttr instr, int64_t atoms) {
  constexpr int64_t kVectorBytes = 16;
  Type type = instr.getAType();
  auto kernel = op->getParentOfType<KernelOp>();
  int64_t lanes = countLanesAlong(instr);
  if (type != instr.getCType() || instr.getK() != lanes)
    return 1;
  int64_t most = lanes;
  for (auto other :
       kernel.getTarget()->getMatrix().getAsRange<MatrixInstrAttr>())
    if (other.getAType() == type && other.getCType() == instr.getCType() &&
        other.getK() == countLanesAlong(other))
      most = std::max(most, other.getK());
  if (most % lanes != 0 || atoms % (most / lanes) != 0)
    return 1;
  int64_t turns = most / lanes;
  int64_t run = atoms / turns * type.getIntOrFloatBitWidth() / 8;
  return run % kVectorBytes == 0 ? turns : 1;
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

/// Whether both operands are read from workgroup memory in each iteration of a
/// loop, by instructions that read matrices: these have the instruction's own
/// order, and rows that padding alone keeps from meeting in a bank. Where work
/// is rarely needed, what loops bring comes from memory itself.
static bool wantsMatrixReads(const MmaChoice &choice, ScheduleAttr schedule) {
  MmaOp op = choice.op;
  auto kernel = op->getParentOfType<KernelOp>();
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  if (!loop ||
      !readsMatrices(*kernel.getTarget(), op.getA().getType().getElementType()))
    return false;
  bool sharesA =
      schedule.getSubgroups()[2] > 1 && !op->getParentOfType<WhereOp>();
  bool keepsOwn = schedule.getOwn() == OwnOperands::LDS && !choice.ownInRuns;
  SmallVector<LoadedOperand> loaded = findLoadedOperands(op.getA());
  return !loaded.empty() && llvm::all_of(loaded, [&](LoadedOperand &operand) {
    return loop->isProperAncestor(operand.load) ? sharesA : keepsOwn;
  });
}

bool mlir::evoformer::tile::isGroupProduct(const MmaChoice &choice,
                                           ScheduleAttr schedule) {
  MmaOp op = choice.op;
  int64_t rowSubgroups = schedule.getSubgroups()[choice.swapped ? 2 : 1];
  auto loop = op->getParentOfType<LoopLikeOpInterface>();
  if (!loop || op->getParentOfType<WhereOp>())
    return false;
  auto type = cast<RankedTensorType>(op.getC().getType());
  int64_t rank = type.getRank();
  GroupMatrixInstrAttr instr = findGroupInstr(
      op->getParentOfType<KernelOp>(), choice.instr, rowSubgroups,
      type.getDimSize(choice.swapped ? rank - 2 : rank - 1),
      cast<RankedTensorType>(op.getA().getType()).getDimSize(rank - 1));
  if (!instr)
    return false;
  // Only where groups have whole rows of what the kernel has stored itself; the
  // shared operand may be there all the time.
  bool isHanded = schedule.getProducts() == ProductScope::Handed;
  if (isHanded) {
    SmallVector<LoadedOperand> rows =
        findLoadedOperands(choice.swapped ? op.getB() : op.getA());
    int64_t size = type.getDimSize(choice.swapped ? rank - 1 : rank - 2);
    int64_t m = choice.instr.getM();
    if (rows.size() != 1 ||
        !isWorkgroupMemory(rows.front().load.getSourceType()) ||
        size % (instr.getSubgroups() * m) != 0 ||
        rowSubgroups % (size / m) != 0)
      return false;
  }
  SmallVector<LoadedOperand> loaded =
      findLoadedOperands(choice.swapped ? op.getA() : op.getB());
  return !loaded.empty() && llvm::all_of(loaded, [&](LoadedOperand &operand) {
    RankedTensorType tile = operand.load.getTileType();
    return (isHanded || loop->isProperAncestor(operand.load)) &&
           getGroupLayout(
               tile.getShape(),
               getContiguousDim(operand.load.getSourceType(), tile.getShape()),
               tile.getElementTypeBitWidth() / 8)
               .has_value();
  });
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

  // The result: its register dimension in consecutive runs, if wanted.
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
  // Instructions that read memory find there columns and depth in order.
  bool isGroup = isGroupProduct(choice, schedule);
  if (choice.runs == MmaChoice::Runs::OfOperand)
    orderN = getContiguousOrder(instr, roleOfB, /*column=*/!swapped, atomsN);
  else if (choice.runs == MmaChoice::Runs::OfResult && !isGroup)
    (registersInN ? orderN : orderM) =
        getContiguousOrder(instr, OperandRole::C, registersInColumns,
                           registersInN ? atomsN : atomsM);

  // The contracted dimension: as a carried result has it, else in runs.
  SmallVector<int64_t> orderK;
  bool matched = false, carries = false;
  // The contracted dimension of a is its last, of b its last but one.
  auto match = [&](const CarriedResult &carried, bool second) {
    const auto *it = known.find(carried.producer);
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
  if (!matched && !carries && !isGroup && !wantsMatrixReads(choice, schedule))
    orderK = getContiguousOrder(instr, OperandRole::A, /*column=*/true, atomsK,
                                countTurns(op, instr, atomsK));

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
