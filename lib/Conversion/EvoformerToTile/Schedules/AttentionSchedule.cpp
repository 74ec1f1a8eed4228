//===- AttentionSchedule.cpp - How attention is cut -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockParts.h"
#include "CostModel.h"
#include "FittedCosts.h"

#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

ScheduleAttr AttentionSchedule::getAttr(MLIRContext *context) const {
  return ScheduleAttr::get(context, {blocks.rows, blocks.queries, blocks.keys},
                           {1, subgroups, 1}, stages, resident, own, products);
}

LogicalResult evoformer::checkTile(Location loc,
                                   const AttentionBlocks &blocks) {
  if (boundedProduct({blocks.rows, blocks.queries, blocks.keys},
                     kMaxTileElements) <= kMaxTileElements)
    return success();
  return emitError(loc) << "schedule: a tile of rows=" << blocks.rows
                        << ", q=" << blocks.queries << ", k=" << blocks.keys
                        << " has more than " << kMaxTileElements << " elements";
}

FailureOr<SmallVector<Machine>>
evoformer::findMachines(Location loc, TargetAttr target, Type elementType) {
  SmallVector<Machine> machines;
  for (auto instr : target.getMatrix().getAsRange<MatrixInstrAttr>())
    if (!target.isCPU() && instr.multiplies(elementType) &&
        (machines.empty() ||
         instr.getTerms() == machines.front().instr.getTerms()))
      machines.push_back({target, instr});
  if (target.isCPU())
    machines.push_back({target, {}});
  if (machines.empty())
    return emitError(loc) << "target '" << target.getChip()
                          << "' has no matrix instruction for " << elementType
                          << " attention";
  return machines;
}

static bool fitsWell(const Machine &machine, ScheduleCost cost) {
  cost.registers += cost.aheadRegisters;
  return fits(machine, cost);
}

/// The cut for one matrix instruction: the preferred one, and where that does
/// not fit the largest that does.
static std::pair<AttentionSchedule, AttentionSchedule>
cutFor(const Machine &machine, const AttentionFacts &facts, int64_t queries,
       const ScheduleRequest &request) {
  AttentionSchedule choice;
  choice.blocks.rows = request.rows.value_or(1);
  choice.stages = request.stages.value_or(machine.instr ? 2 : 1);
  // Where subgroups together multiply what lies in LDS, queries lie there, too,
  // an atom for each of more subgroups, and short steps leave room for a second
  // workgroup.
  constexpr int64_t kGroupSubgroups = 8, kGroupStep = 32;
  auto isGroup = [&](int64_t subgroups) {
    int64_t keys = request.keys.value_or(kGroupStep);
    return request.products
               ? *request.products == ProductScope::Group &&
                     canMultiplyTogether(machine, facts, subgroups, keys)
               : chooseProductScope(machine, facts, subgroups, keys) ==
                     ProductScope::Group;
  };
  bool isShared = isGroup(request.subgroups.value_or(kGroupSubgroups));
  choice.subgroups = request.subgroups.value_or(isShared ? kGroupSubgroups
                                                : machine.instr ? 4
                                                                : 1);

  // More atoms of queries for every subgroup let a fragment of keys serve more
  // often, and long key blocks spread what is done once a block; on the CPU a
  // block of queries and keys stays in the first cache.
  int64_t atom = machine.queryAtom();
  int64_t atoms = isShared        ? 1
                  : machine.instr ? machine.target.getOperandReuse()
                                  : 32;
  // Where a step of few keys is read as matrices, registers that a longer one
  // would take are worth more.
  constexpr int64_t kShallow = 32;
  int64_t usualStep =
      machine.streamsMatrices(facts) &&
              std::max(facts.depth, facts.valueDepth) <= kShallow
          ? 32
          : 64;
  int64_t step = isShared ? kGroupStep : usualStep;
  std::pair<int64_t, int64_t> last;
  auto cut = [&](int64_t atoms, int64_t keys) {
    last = {atoms, keys};
    int64_t queries = atoms > 0 ? atoms * atom : machine.smallestQueryAtom();
    choice.blocks.keys =
        request.keys.value_or(llvm::alignTo(keys, machine.keyAtom()));
    choice.blocks.queries =
        request.queries.value_or(choice.subgroups * queries);
    choice.products = isShared ? ProductScope::Group : ProductScope::Subgroup;
    choice.own = request.own.value_or(isShared ? OwnOperands::LDS
                                               : OwnOperands::Registers);
    choice.cost =
        estimate(machine, facts, getAttentionLoop(machine, facts, choice));
  };
  cut(atoms, step);

  // Queries of a block compute all keys that any of them sees: of a window half
  // as many keys again, unless it is so narrow that loading it counts.
  bool mayShrink = !request.queries && !request.subgroups;
  if (mayShrink && facts.keys.moves()) {
    constexpr int64_t kFewQueries = 64, kMostQueries = 128;
    int64_t most =
        std::clamp(facts.keys.getWidth().value_or(2 * kMostQueries) / 2,
                   kFewQueries, kMostQueries);
    while (choice.subgroups > 1 && choice.blocks.queries > most) {
      choice.subgroups /= 2;
      cut(atoms, step);
    }
  }

  // Where workgroups share registers, fewer atoms leave room for more lanes.
  TargetAttr target = machine.target;
  bool sharesRegisters = machine.instr && target.getRegistersPerProcessor() > 0;
  auto getResidentLanes = [&]() {
    int64_t lanes = choice.subgroups * target.getSubgroupSize();
    return lanes * getResident(target, lanes, choice.cost.registers);
  };
  if (sharesRegisters)
    while (atoms > 1 && getResidentLanes() < target.getEnoughLanes())
      cut(--atoms, step);

  // Few queries: fewer subgroups, then fewer atoms; the other way round where
  // registers that one subgroup leaves serve another.
  while (!request.queries && !ShapedType::isDynamic(queries) &&
         choice.blocks.queries / 2 >= queries) {
    if (sharesRegisters && atoms > 1)
      atoms /= 2;
    else if (choice.subgroups > 1 && !request.subgroups)
      choice.subgroups /= 2;
    else if (atoms > 1)
      atoms /= 2;
    else
      break;
    cut(atoms, step);
  }
  if (isShared && !isGroup(choice.subgroups)) {
    isShared = false;
    step = usualStep;
    cut(atoms, step);
  }

  // Where the last block would be half empty, fewer subgroups may fill it.
  if (!request.queries && !request.subgroups && machine.instr &&
      !ShapedType::isDynamic(queries)) {
    auto covered = [&](int64_t subgroups) {
      return llvm::alignTo(queries, subgroups * atoms * atom);
    };
    int64_t most = choice.subgroups;
    for (int64_t fewer = most - 1; fewer > 0 && fewer * 2 >= most; --fewer)
      if (covered(fewer) * 8 <= covered(choice.subgroups) * 7 &&
          (!isShared || isGroup(fewer)))
        choice.subgroups = fewer;
    cut(atoms, step);
  }

  AttentionSchedule wanted = choice;
  bool isWanted = fitsWell(machine, choice.cost);
  for (int64_t stages = choice.stages; !fitsWell(machine, choice.cost);
       --stages) {
    choice.stages = request.stages.value_or(std::max<int64_t>(stages, 1));
    constexpr std::pair<int64_t, int64_t> cuts[] = {
        {2, 64}, {2, 32}, {1, 64}, {1, 32}};
    constexpr std::pair<int64_t, int64_t> smallest[] = {
        {1, 16}, {1, 8}, {0, 8}};
    for (auto [some, keys] : stages > 0 ? ArrayRef(cuts) : ArrayRef(smallest)) {
      cut(std::min(some, atoms), keys);
      if (fitsWell(machine, choice.cost))
        break;
    }
    if (stages == 0)
      break;
  }
  // Two subgroups on a SIMD before copies that run ahead.
  if (!request.stages && choice.stages > 1 && fitsWell(machine, choice.cost)) {
    AttentionSchedule ahead = choice;
    choice.stages = 1;
    cut(last.first, last.second);
    if (!costsCompany(machine, choice.subgroups, ahead.cost, choice.cost,
                      /*isForward=*/true))
      choice = ahead;
  }
  if (!machine.streamsOperands())
    return {choice, isWanted ? choice : wanted};

  // More subgroups share what is copied, unless fewer lanes would be resident.
  while (!machine.streamsMatrices(facts) && !request.queries &&
         !request.subgroups &&
         (ShapedType::isDynamic(queries) || queries > choice.blocks.queries) &&
         choice.subgroups * 2 <= target.getMostSubgroups() &&
         copiesMuch(facts, choice.blocks.queries)) {
    AttentionSchedule smaller = choice;
    int64_t lanes = getResidentLanes();
    choice.subgroups *= 2;
    cut(last.first, last.second);
    if (getResidentLanes() < std::min(lanes, target.getEnoughLanes())) {
      choice = smaller;
      break;
    }
  }
  // As many workgroups as the registers allow, and copies that run further
  // ahead where all of them still have the memory.
  choice.resident = request.resident.value_or(
      copiesWords(facts)
          ? getResidentLanes() / (choice.subgroups * target.getSubgroupSize())
          : 0);
  if (!request.stages && choice.stages > 1) {
    AttentionSchedule before = choice;
    ++choice.stages;
    cut(last.first, last.second);
    if (choice.cost.ldsBytes * std::max<int64_t>(choice.resident, 1) >
        target.getLdsBytes())
      choice = before;
  }
  return {choice, isWanted ? choice : wanted};
}

LogicalResult evoformer::checkProducts(Location loc, const Machine &machine,
                                       const AttentionFacts &facts,
                                       const ScheduleRequest &request,
                                       int64_t subgroups, int64_t alongOther,
                                       int64_t other) {
  if (request.products != ProductScope::Group ||
      (alongOther == 1 &&
       canMultiplyTogether(machine, facts, subgroups, other)))
    return success();
  return emitError(loc) << "schedule: products=group, but target '"
                        << machine.target.getChip()
                        << "' has no matrix instruction that " << subgroups
                        << "x" << alongOther
                        << " subgroups execute together for steps of " << other
                        << " and depths of " << facts.depth << " and "
                        << facts.valueDepth;
}

FailureOr<AttentionSchedule>
evoformer::chooseSchedule(Location loc, StringRef function, TargetAttr target,
                          const AttentionFacts &facts, int64_t queries,
                          const ScheduleRequest &request) {
  FailureOr<SmallVector<Machine>> machines =
      findMachines(loc, target, facts.elementType);
  if (failed(machines))
    return failure();

  if (target.isCPU() && request.subgroups.value_or(1) != 1)
    return emitError(loc) << "schedule: target '" << target.getChip()
                          << "' has one subgroup, not " << *request.subgroups;

  if (request.subgroupsAlongOther.value_or(1) != 1)
    return emitError(loc)
           << "schedule: subgroups along the keys are not supported";
  if (failed(refuseParts(loc, request)) || failed(refusePieces(loc, request)))
    return failure();

  // The table's first instructions are the fastest ones; smaller atoms make
  // smaller blocks.
  AttentionSchedule choice, wanted;
  Machine machine = machines->front();
  for (const Machine &candidate : *machines) {
    auto [cut, preferred] = cutFor(candidate, facts, queries, request);
    bool isFirst = &candidate == machines->begin();
    if (!isFirst && !fitsWell(candidate, cut.cost))
      continue;
    machine = candidate;
    choice = cut;
    wanted = isFirst ? preferred : wanted;
    if (fitsWell(candidate, cut.cost))
      break;
  }
  if (failed(checkTile(loc, choice.blocks)))
    return failure();
  if (failed(checkProducts(loc, machine, facts, request, choice.subgroups,
                           /*alongOther=*/1, choice.blocks.keys)))
    return failure();
  int64_t lanes = choice.subgroups * target.getSubgroupSize();
  if (lanes > target.getMaxWorkgroup())
    return emitError(loc) << "schedule: " << choice.subgroups
                          << " subgroups are " << lanes << " lanes, target '"
                          << target.getChip() << "' has workgroups of at most "
                          << target.getMaxWorkgroup();

  bool isForced = request.isForced();
  bool fitsLDS = choice.cost.ldsBytes <= target.getLdsBytes();
  // What is chosen here may spill registers; what a user asks for is refused.
  if (machine.instr && !fits(machine, choice.cost) && (isForced || !fitsLDS))
    return emitError(loc) << "schedule q=" << choice.blocks.queries
                          << ", k=" << choice.blocks.keys
                          << ", rows=" << choice.blocks.rows
                          << ", stages=" << choice.stages << " needs about "
                          << choice.cost.registers << " registers a lane and "
                          << choice.cost.ldsBytes << " bytes of LDS; target '"
                          << target.getChip() << "' has "
                          << usableRegisters(target) << " usable registers and "
                          << target.getLdsBytes() << " bytes of LDS";

  if (machine.instr) {
    std::string name = ("matrix instruction " + machine.instr.getName()).str();
    if (failed(checkMultiple(
            loc, "q", choice.blocks.queries,
            choice.subgroups * (request.queries ? machine.queryAtom()
                                                : machine.smallestQueryAtom()),
            "subgroups times atoms of " + name)) ||
        failed(checkMultiple(loc, "k", choice.blocks.keys, machine.keyAtom(),
                             "atoms of " + name)))
      return failure();
  }

  auto options = remark::RemarkOpts::name("attention-schedule")
                     .category("evo-schedule")
                     .function(function);
  if (wanted.getAttr(loc.getContext()) != choice.getAttr(loc.getContext()))
    remark::missed(loc, options) << remark::reason(
        "q={0}, k={1}, stages={2} needs {3} registers and "
        "{4} bytes of LDS",
        wanted.blocks.queries, wanted.blocks.keys, wanted.stages,
        wanted.cost.registers + wanted.cost.aheadRegisters,
        wanted.cost.ldsBytes);
  auto passed = remark::passed(loc, options);
  passed << remark::metric("rows", choice.blocks.rows)
         << remark::metric("q", choice.blocks.queries)
         << remark::metric("k", choice.blocks.keys)
         << remark::metric("subgroups", choice.subgroups)
         << remark::metric("stages", choice.stages)
         << remark::metric("own", stringifyOwnOperands(choice.own))
         << remark::metric("products", stringifyProductScope(choice.products))
         << remark::metric("instruction", machine.instr
                                              ? machine.instr.getName().str()
                                              : "none")
         << remark::metric("registers",
                           choice.cost.registers + choice.cost.aheadRegisters)
         << remark::metric("lds_bytes", choice.cost.ldsBytes);
  if (!request.alternative.empty())
    passed << remark::metric("alternative", request.alternative);
  return choice;
}
