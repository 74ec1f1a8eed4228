//===- GradientSchedule.cpp - How gradients are cut -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientSchedule.h"
#include "BlockParts.h"
#include "CostModel.h"
#include "FittedCosts.h"

#include "../Kernels/LogitRecompute.h"

#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// Keys of an operand, dynamic ones included.
static int64_t getNumKeys(const GradientOperands &operands) {
  return cast<MemRefType>(operands.key.getType()).getDimSize(3);
}

/// Whether rows of keys and values are as long as their tiles.
static bool fillsTiles(const GradientOperands &operands,
                       const AttentionFacts &facts) {
  auto depthOf = [](Value memory) {
    return cast<MemRefType>(memory.getType()).getShape().back();
  };
  return depthOf(operands.key) == facts.depth &&
         depthOf(operands.value) == facts.valueDepth;
}

/// Puts operands of the own side in LDS, with fewer subgroups where the rows of
/// all do not fit there; returns the cost.
static ScheduleCost
moveToLDS(GradientCut &cut, TargetAttr target, bool mayDivide,
          function_ref<ScheduleCost(GradientCut &)> costOf) {
  cut.ownOperands = OwnOperands::LDS;
  ScheduleCost cost = costOf(cut);
  while (mayDivide && cost.ldsBytes > target.getLdsBytes() &&
         cut.subgroups % 2 == 0) {
    cut.own /= 2;
    cut.subgroups /= 2;
    cost = costOf(cut);
  }
  return cost;
}

bool evoformer::fitsWithQuery(Location loc, TargetAttr target,
                              const GradientOperands &operands,
                              const AttentionFacts &facts,
                              const ScheduleRequest &request) {
  // More would make tiles of the CPU larger than its caches.
  constexpr int64_t kMostKeys = 256;
  int64_t keys = getNumKeys(operands);
  FailureOr<SmallVector<Machine>> machines =
      findMachines(loc, target, facts.elementType);
  if (failed(machines) || request.keys || request.rows || request.own ||
      keys < 1 || keys > kMostKeys)
    return false;
  return llvm::any_of(*machines, [&](const Machine &machine) {
    int64_t subgroups = request.subgroups.value_or(machine.instr ? 4 : 1);
    int64_t own = request.queries.value_or(
        machine.instr ? subgroups * machine.smallestQueryAtom() : 32);
    GradientCut cut{own, keys, subgroups, request.stages.value_or(1)};
    cut.other = llvm::alignTo(keys, machine.keyAtom());
    return fits(machine,
                estimate(machine, facts,
                         getGradientLoop(machine, GradientKind::QueryBias,
                                         facts, cut)));
  });
}

bool evoformer::sumsKeysAndValuesApart(Location loc, TargetAttr target,
                                       const GradientOperands &operands,
                                       const AttentionFacts &facts,
                                       const ScheduleRequest &request) {
  if (target.isCPU() || request.isForced() || !operands.keyGrad ||
      !operands.valueGrad)
    return false;
  FailureOr<SmallVector<Machine>> machines =
      findMachines(loc, target, facts.elementType);
  if (failed(machines))
    return false;
  bool isSplit = machines->front().splitsOperands(facts);
  // With the fewest keys of each machine, and few queries.
  auto getCost = [&](const Machine &machine, ProductScope scope,
                     OwnOperands place, bool ofKey,
                     bool ofValue) -> std::optional<ScheduleCost> {
    constexpr int64_t subgroups = 4;
    bool isGroup = scope == ProductScope::Group;
    int64_t other = llvm::alignTo(isGroup ? 16 : 8, machine.keyAtom());
    if (!machine.instr || (isSplit && !machine.streamsOperands()) ||
        (isGroup &&
         chooseProductScope(machine, facts, subgroups, other) != scope))
      return std::nullopt;
    int64_t atom =
        isGroup || isSplit ? machine.keyAtom() : machine.smallestQueryAtom();
    GradientCut cut{subgroups * atom, other, subgroups, /*stages=*/1};
    cut.products = scope;
    cut.sumsKey = ofKey;
    cut.sumsValue = ofValue;
    auto costOf = [&](GradientCut &cut) {
      return estimate(
          machine, facts,
          getGradientLoop(machine, GradientKind::KeyValue, facts, cut));
    };
    return place == OwnOperands::LDS
               ? moveToLDS(cut, target, /*mayDivide=*/!isGroup, costOf)
               : costOf(cut);
  };
  auto fitsSome = [&](ProductScope scope, bool ofKey, bool ofValue) {
    return llvm::any_of(*machines, [&](const Machine &machine) {
      return llvm::any_of(ArrayRef{OwnOperands::Registers, OwnOperands::LDS},
                          [&](OwnOperands place) {
                            std::optional<ScheduleCost> cost =
                                getCost(machine, scope, place, ofKey, ofValue);
                            return cost && fits(machine, *cost);
                          });
    });
  };
  if (fitsSome(ProductScope::Group, true, true))
    return false;
  if (fitsSome(ProductScope::Group, true, false) &&
      fitsSome(ProductScope::Group, false, true))
    return true;
  if (fitsSome(ProductScope::Subgroup, true, true))
    return false;
  // Products of half an atom take as long as those of a whole one, of three
  // terms each.
  if (isSplit && fitsSome(ProductScope::Subgroup, true, false) &&
      fitsSome(ProductScope::Subgroup, false, true))
    return true;
  // All else may pass through registers later than the estimate says; sums
  // stay.
  return llvm::all_of(*machines, [&](const Machine &machine) {
    std::optional<ScheduleCost> cost =
        getCost(machine, ProductScope::Subgroup, OwnOperands::LDS, true, true);
    return cost && cost->sumRegisters > target.getRegisters() / 2;
  });
}

FailureOr<GradientSchedule> evoformer::chooseGradientSchedule(
    Location loc, StringRef function, TargetAttr target,
    const GradientOperands &operands, const AttentionFacts &facts,
    const ScheduleRequest &request) {
  GradientKind kind = getGradientKind(operands);
  OwnedDim owned = getOwnedDim(operands);
  FailureOr<SmallVector<Machine>> machines =
      findMachines(loc, target, facts.elementType);
  if (failed(machines))
    return failure();
  if (target.isCPU() && request.subgroups.value_or(1) != 1)
    return emitError(loc) << "schedule: target '" << target.getChip()
                          << "' has one subgroup, not " << *request.subgroups;
  if (request.rows.value_or(1) != 1 && sumsBias(kind))
    return emitError(loc) << "schedule: rows=" << *request.rows
                          << ", but the gradient of a bias takes one row at a "
                             "time";

  if (owned == OwnedDim::None && request.subgroups.value_or(1) != 1)
    return emitError(loc) << "schedule: one subgroup sums over queries and "
                             "keys, not "
                          << *request.subgroups;

  if (request.own == OwnOperands::LDS &&
      (sumsBias(kind) || owned == OwnedDim::None))
    return emitError(loc) << "schedule: own=lds, but each step of this kernel, "
                             "which sums a bias's gradient, reads all of its "
                             "operands anew";

  if (request.subgroupsAlongOther.value_or(1) != 1 &&
      kind != GradientKind::Bias)
    return emitError(loc)
           << "schedule: subgroups=" << *request.subgroups << "x"
           << *request.subgroupsAlongOther
           << ", but this kernel sums over what it does not own, "
              "which its subgroups cannot share";

  bool ownsKeys = owned == OwnedDim::Keys;
  int64_t subgroups = owned == OwnedDim::None ? 1 : 4;
  std::optional<int64_t> forcedOwn = ownsKeys ? request.keys : request.queries;
  std::optional<int64_t> forcedOther =
      ownsKeys ? request.queries : request.keys;
  GradientCut cut{32,
                  64,
                  1,
                  1,
                  request.subgroupsAlongOther.value_or(1),
                  request.own.value_or(OwnOperands::Registers)};
  if (sumsKeys(kind)) {
    cut.sumsKey = operands.keyGrad != nullptr;
    cut.sumsValue = operands.valueGrad != nullptr;
  }
  cut.pieces = request.pieces.value_or(1);
  Machine machine = machines->front();
  ScheduleCost cost;
  bool isCut = false;
  // Atoms of the own side and size of the other one. No atoms: half of one,
  // which pads in one orientation.
  constexpr std::pair<int64_t, int64_t> longSteps[] = {
      {2, 64}, {2, 32}, {1, 64}, {1, 32}, {1, 16}, {1, 8}, {0, 8}};
  // Short steps leave registers for own operands, or for the terms of those
  // that are split, and memory for copies that run further ahead.
  constexpr std::pair<int64_t, int64_t> shortSteps[] = {
      {2, 32}, {1, 32}, {1, 16}, {1, 8}, {0, 8}};
  // Where subgroups together multiply what lies in LDS, the own side lies
  // there, too, an atom for each; in the loop over keys first in registers,
  // where a few more of them save copies.
  constexpr std::pair<int64_t, int64_t> groupSteps[] = {
      {1, 64}, {1, 32}, {1, 16}, {1, 8}, {0, 8}};
  // More atoms of the own side let a fragment of the other serve more often.
  bool hasAllKeys = kind == GradientKind::QueryBias;
  int64_t mostAtoms = sumsBias(kind) ? 1 : target.getOperandReuseCrowded();
  // Where matrices are read from LDS quickly, own operands may stay there, too.
  SmallVector<OwnOperands, 2> places = {
      request.own.value_or(OwnOperands::Registers)};
  // Short steps of queries in LDS would wait for it, and keys that pass through
  // registers leave none, as do those of weights that are logits.
  bool hasWholeAtoms = true;
  bool mayBeOfGroups =
      !hasAllKeys && owned != OwnedDim::None && kind != GradientKind::Weights &&
      !facts.weights.areLogits &&
      (kind != GradientKind::Query || !isChoosingCheap(target, facts, kind));
  // Residency was measured where logits take no registers of a score, or of
  // what is dropped.
  bool isPlain = !facts.score && facts.dropThreshold == 0;
  auto costOf = [&](GradientCut &cut) {
    bool mayGroup = hasWholeAtoms && mayBeOfGroups && cut.alongOther == 1;
    cut.products = request.products.value_or(
        mayGroup ? chooseProductScope(machine, facts, cut.subgroups, cut.other)
                 : ProductScope::Subgroup);
    auto estimateOf = [&](const GradientCut &some) {
      return estimate(machine, facts,
                      getGradientLoop(machine, kind, facts, some));
    };
    ScheduleCost cost = estimateOf(cut);
    // Copies are of whole blocks.
    if (int64_t parts = request.steps.value_or(1);
        parts > 1 && cut.other % parts == 0) {
      GradientCut part = cut;
      part.other /= parts;
      cost.registers = estimateOf(part).registers;
    }
    return cost;
  };
  if (!request.own && !sumsBias(kind) && owned != OwnedDim::None &&
      machine.streamsOperands())
    places.push_back(OwnOperands::LDS);
  for (const Machine &candidate : *machines) {
    // Without a matrix unit lanes hold whole rows; copies that run ahead take
    // as many registers again.
    bool hasMatrixUnit = candidate.instr && candidate.instr.getK() > 1;
    bool isSplit = candidate.splitsOperands(facts);
    bool isFar =
        kind == GradientKind::Query && candidate.streamsMatrices(facts);
    bool isShort = isFar || isSplit;
    int64_t mostStages = isFar ? 3 : hasMatrixUnit ? 2 : 1;
    bool isGroup =
        candidate.instr &&
        request.products.value_or(chooseProductScope(
            candidate, facts, request.subgroups.value_or(subgroups),
            forcedOther.value_or(groupSteps[0].second))) == ProductScope::Group;
    int64_t mostOfCandidate = isGroup && kind == GradientKind::Query &&
                                      mayBeOfGroups && isPlain &&
                                      fillsTiles(operands, facts) &&
                                      std::max(facts.depth, facts.valueDepth) <=
                                          fitted::kMostSingleAtomDepth
                                  ? 1
                                  : mostAtoms;
    for (int64_t stages = mostStages; stages > 0; --stages) {
      for (auto [atoms, other] : isShort   ? ArrayRef(shortSteps)
                                 : isGroup ? ArrayRef(groupSteps)
                                           : ArrayRef(longSteps)) {
        if (isCut)
          break;
        if (atoms > mostOfCandidate)
          continue;
        machine = candidate;
        cut.subgroups =
            request.subgroups.value_or(machine.instr ? subgroups : 1);
        cut.stages = request.stages.value_or(machine.instr ? stages : 1);
        cut.own = forcedOwn.value_or(
            !machine.instr ? 32
            : atoms > 0    ? cut.subgroups * atoms * machine.keyAtom()
                           : cut.subgroups * machine.smallestQueryAtom());
        cut.other =
            hasAllKeys
                ? llvm::alignTo(getNumKeys(operands), machine.keyAtom())
                : forcedOther.value_or(llvm::alignTo(other, machine.keyAtom()));
        hasWholeAtoms = atoms > 0;
        for (OwnOperands place : places) {
          if (isCut)
            break;
          bool isLDS = place == OwnOperands::LDS;
          bool wantsLDS = sumsKeys(kind);
          if (isGroup && hasWholeAtoms && places.size() > 1 &&
              (wantsLDS ? !isLDS : isLDS && atoms > 1))
            continue;
          if (isSplit && isLDS && atoms > 1)
            continue;
          cut.ownOperands = place;
          cost = costOf(cut);
          isCut = fits(machine, cost);
          // Terms take registers, too: LDS may hold what they are made of.
          if (isSplit && !isLDS && places.size() > 1 && atoms == 1)
            isCut &= cost.registers + fitted::kTermRegisters <=
                     usableRegisters(target);
        }
      }
    }
  }
  // What takes more than a lane has would lie in scratch memory: LDS is nearer.
  if (!isCut && !request.own && !sumsBias(kind) && owned != OwnedDim::None &&
      cost.registers > target.getRegisters()) {
    GradientCut fromLDS = cut;
    ScheduleCost ofLDS =
        moveToLDS(fromLDS, target,
                  /*mayDivide=*/!request.subgroups && !forcedOwn, costOf);
    if (ofLDS.ldsBytes <= target.getLdsBytes() &&
        ofLDS.registers < cost.registers) {
      cut = fromLDS;
      cost = ofLDS;
    }
  }
  // Two subgroups on a SIMD before copies that run ahead, and two workgroups
  // where terms are made of what is copied.
  if (isCut && !request.stages && cut.stages > 1) {
    GradientCut once = cut;
    once.stages = 1;
    ScheduleCost ofOnce = costOf(once);
    int64_t ofBiases = cut.own * cut.other * facts.biasBytes;
    int64_t reserved = target.getLDSReserved();
    auto haveTwo = [&](const ScheduleCost &some, int64_t stages) {
      int64_t ofOne = some.ldsBytes + stages * ofBiases + reserved;
      return 2 * ofOne <= target.getLdsBytes() + reserved;
    };
    bool costsWorkgroup = machine.splitsOperands(facts) && !sumsBias(kind) &&
                          !haveTwo(cost, cut.stages) &&
                          haveTwo(ofOnce, once.stages);
    // Shorter steps leave room as well, where they read no more for it.
    auto isBetter = [&](const ScheduleCost &ofSome) {
      return costsCompany(machine, cut.subgroups * cut.alongOther, cost, ofSome,
                          /*isForward=*/false);
    };
    if (!forcedOther && !isBetter(ofOnce) && !sumsBias(kind) &&
        cut.other > machine.keyAtom() * cut.alongOther) {
      GradientCut shorter = once;
      shorter.other = llvm::alignTo(cut.other / 2, machine.keyAtom());
      if (ScheduleCost ofShorter = costOf(shorter); isBetter(ofShorter)) {
        once = shorter;
        ofOnce = ofShorter;
      }
    }
    if (costsWorkgroup || isBetter(ofOnce)) {
      cut = once;
      cost = ofOnce;
    }
  }
  // What is copied serves more keys where their subgroups stay two on a SIMD.
  if (isCut && mayCutKeys(operands, facts) && !request.isForced()) {
    if (std::optional<GradientCut> pieces = findPieces(machine, facts, cut)) {
      ScheduleCost ofPieces = costOf(*pieces);
      if (fits(machine, ofPieces) &&
          leavesCompany(machine, pieces->subgroups, ofPieces)) {
        cut = *pieces;
        cost = ofPieces;
      }
    }
  }
  // Copies run further ahead where all workgroups that lanes' registers let be
  // resident have the memory.
  if (isCut && sumsKeys(kind) && machine.streamsMatrices(facts) &&
      !request.stages) {
    GradientCut further = cut;
    ++further.stages;
    ScheduleCost ofFurther = costOf(further);
    int64_t mostResident = getResident(
        target, cut.subgroups * target.getSubgroupSize(), cost.registers);
    if (fits(machine, ofFurther) &&
        ofFurther.ldsBytes * mostResident <= target.getLdsBytes()) {
      cut = further;
      cost = ofFurther;
    }
  }
  // More subgroups that multiply together share what is copied, unless many
  // workgroups have the memory.
  constexpr int64_t kManyResident = 3;
  bool mayShare = cut.products == ProductScope::Group && sumsKeys(kind) &&
                  cost.ldsBytes * kManyResident > target.getLdsBytes();
  if (isCut && mayShare && !request.subgroups && !forcedOwn) {
    int64_t size =
        cast<MemRefType>((ownsKeys ? operands.key : operands.query).getType())
            .getDimSize(3);
    GradientCut more = cut;
    while ((ShapedType::isDynamic(size) || size > more.own) &&
           more.subgroups * 2 <= target.getMostSubgroups() &&
           copiesMuch(facts, more.own)) {
      more.subgroups *= 2;
      more.own *= 2;
    }
    ScheduleCost ofMore = costOf(more);
    if (fits(machine, ofMore)) {
      cut = more;
      cost = ofMore;
    }
  }
  // Each step of a bias's sum reads all of its operands anew. Subgroups along
  // the other side share what is read of the own one, and a tile of two atoms
  // each way lets every fragment serve twice, unless groups of subgroups read
  // all where it lies; where fewer than two such workgroups have the memory,
  // or rows touch more lines of memory, one has more subgroups.
  constexpr int64_t kSomeResident = 2;
  bool isShared = cut.products == ProductScope::Group &&
                  !facts.straddlesLines &&
                  cost.ldsBytes * kSomeResident <= target.getLdsBytes();
  if (isCut && kind == GradientKind::Bias && machine.streamsMatrices(facts) &&
      owned != OwnedDim::None && !isShared && !request.isForced() &&
      copiesWords(facts)) {
    struct {
      int64_t subgroups, alongOther, stages, resident;
    } constexpr choices[] = {{8, 1, 2, 1}, {8, 1, 1, 1}, {2, 2, 2, 3},
                             {2, 2, 3, 2}, {2, 2, 2, 2}, {2, 4, 2, 1},
                             {2, 4, 1, 1}};
    for (auto [subgroups, alongOther, stages, least] : choices) {
      GradientCut shared = cut;
      shared.subgroups = subgroups;
      shared.alongOther = alongOther;
      shared.own = shared.other = llvm::alignTo(64, 4 * machine.keyAtom());
      if (alongOther == 1)
        shared.own = subgroups * machine.keyAtom();
      shared.stages = stages;
      ScheduleCost ofShared = costOf(shared);
      // So many along one side is for groups of them.
      if (alongOther == 1 && shared.products != ProductScope::Group)
        continue;
      // Beside the operands: what subgroups along the other side add up passes
      // through LDS, rows of the own one are padded, too, and statistics and
      // key sums are copied with them.
      constexpr int64_t kBytes = 4, kPadding = 16, kVectors = 4, kOperands = 2;
      int64_t exchanged =
          operands.biasGrad.broadcast[ownsKeys ? kBiasQ : kBiasK]
              ? shared.own * (shared.other * kBytes + kPadding)
              : 0;
      int64_t wholeBytes =
          ofShared.ldsBytes + exchanged +
          stages * shared.own * (kVectors * kBytes + kOperands * kPadding);
      if (!fits(machine, ofShared) ||
          ofShared.ldsBytes * least > target.getLdsBytes() ||
          wholeBytes > target.getLdsBytes())
        continue;
      cut = shared;
      cost = ofShared;
      break;
    }
  }
  BlockParts parts{request.steps.value_or(1), request.resident.value_or(0)};
  if (isCut && kind == GradientKind::KeyValue && !operands.slab &&
      !request.steps && !request.resident) {
    auto choose = [&](const GradientCut &some) {
      return chooseBlockParts(machine, facts, operands, some,
                              [&](GradientCut one) { return costOf(one); });
    };
    parts = choose(cut);
    // Fewer subgroups wait for each other at a barrier, and of the last keys
    // fewer are idle, for twice the copies.
    if (parts.count > 1 && !request.subgroups && !forcedOwn &&
        cut.subgroups % 2 == 0) {
      GradientCut half = cut;
      half.subgroups /= 2;
      half.own /= 2;
      BlockParts ofHalf = choose(half);
      if (ofHalf.count > 1 && ofHalf.resident >= 2 * parts.resident) {
        cut = half;
        cost = costOf(cut);
        parts = ofHalf;
      }
    }
  }
  // The latency of those reads counts, not the registers that save them.
  int64_t resident = parts.resident;
  int64_t numSubgroups = cut.subgroups * cut.alongOther;
  int64_t lanes = numSubgroups * target.getSubgroupSize();
  if (!request.resident && machine.streamsOperands() && copiesWords(facts) &&
      target.getRegistersPerProcessor() > 0) {
    bool isGroup = cut.products == ProductScope::Group;
    bool isKnown =
        kind == GradientKind::Query && machine.streamsMatrices(facts);
    // Of queries that are the rows of one instruction each workgroup has little
    // under way at once.
    bool isNarrow =
        isKnown && isGroup && cut.own == cut.subgroups * machine.queryAtom();
    int64_t most =
        std::min(isNarrow ? kMaxResident : target.getLatencyLanes() / lanes,
                 target.getLdsBytes() / std::max<int64_t>(cost.ldsBytes, 1));
    // The loop over keys waits less, and its registers are well known, as are
    // those of groups, which have their results there and nothing else: a
    // bias's sum is not worth fewer workgroups.
    if (isKnown || (isGroup && !(kind == GradientKind::Bias && isPlain)))
      most = std::min(most, getResident(target, lanes, cost.registers));
    // One is what it is without saying so, and what is said is planned for.
    bool isOfGroup = sumsKeys(kind) && isGroup && isPlain && !operands.slab;
    if (kind == GradientKind::Bias || isKnown || (isOfGroup && most > 1))
      resident = std::clamp<int64_t>(most, 1, kMaxResident);
  }
  if (failed(checkProducts(loc, machine, facts, request, cut.subgroups,
                           cut.alongOther, cut.other)))
    return failure();
  bool isForced = request.isForced();
  StringRef own = ownsKeys ? "k" : "q", other = ownsKeys ? "q" : "k";
  // What is chosen here may spill registers and read in narrow pieces; what a
  // user asks for is refused.
  if (!isCut && (isForced || cost.leastLdsBytes > target.getLdsBytes()))
    return emitError(loc) << "schedule " << own << "=" << cut.own << ", "
                          << other << "=" << cut.other
                          << ", stages=" << cut.stages
                          << " of a gradient needs about " << cost.registers
                          << " registers a lane and " << cost.ldsBytes
                          << " bytes of LDS; target '" << target.getChip()
                          << "' has " << usableRegisters(target)
                          << " usable registers and " << target.getLdsBytes()
                          << " bytes of LDS";
  if ((kind != GradientKind::KeyValue && failed(refuseParts(loc, request))) ||
      (!mayCutKeys(operands, facts) && failed(refusePieces(loc, request))))
    return failure();
  int64_t atom = machine.instr ? machine.keyAtom() : 1;
  if (cut.other % (parts.count * atom) != 0 && parts.count > 1)
    return emitError(loc) << "schedule: steps=" << parts.count
                          << ", but blocks of q=" << cut.other
                          << " have no so many equal parts of atoms of " << atom
                          << " queries";
  if (lanes > target.getMaxWorkgroup())
    return emitError(loc) << "schedule: " << numSubgroups << " subgroups are "
                          << lanes << " lanes, target '" << target.getChip()
                          << "' has workgroups of at most "
                          << target.getMaxWorkgroup();
  if (machine.instr) {
    std::string name = ("matrix instruction " + machine.instr.getName()).str();
    if (failed(checkMultiple(
            loc, own, cut.own,
            cut.subgroups * cut.pieces *
                (forcedOwn ? machine.queryAtom() : machine.smallestQueryAtom()),
            (cut.pieces == 1 ? "subgroups times atoms of "
                             : "subgroups times pieces times atoms of ") +
                name)) ||
        failed(checkMultiple(loc, other, cut.other,
                             cut.alongOther * machine.keyAtom(),
                             "atoms of " + name)))
      return failure();
  } else if (failed(checkMultiple(loc, own, cut.own, cut.pieces, "pieces"))) {
    return failure();
  }

  int64_t rows = request.rows.value_or(1);
  GradientSchedule schedule;
  schedule.blocks = {rows, ownsKeys ? cut.other : cut.own,
                     ownsKeys ? cut.own : cut.other, parts.count, cut.pieces};
  if (failed(checkTile(loc, schedule.blocks)))
    return failure();
  schedule.attr =
      ScheduleAttr::get(loc.getContext(), {rows, cut.own, cut.other},
                        {1, cut.subgroups, cut.alongOther}, cut.stages,
                        resident, cut.ownOperands, cut.products);
  schedule.registers = cost.registers;
  if (parts.count > 1 && !request.steps) {
    GradientCut part = cut;
    part.other /= parts.count;
    schedule.registers = costOf(part).registers;
  }
  auto passed =
      remark::passed(loc, remark::RemarkOpts::name("gradient-schedule")
                              .category("evo-schedule")
                              .function(function));
  passed << remark::metric("gradient", kind == GradientKind::Query     ? "query"
                                       : kind == GradientKind::Bias    ? "bias"
                                       : kind == GradientKind::Weights ? "none"
                                       : hasAllKeys ? "query, bias"
                                                    : "key, value")
         << remark::metric("rows", rows)
         << remark::metric("q", schedule.blocks.queries)
         << remark::metric("k", schedule.blocks.keys)
         << remark::metric("subgroups", numSubgroups)
         << remark::metric("stages", cut.stages)
         << remark::metric("steps", parts.count)
         << remark::metric("pieces", cut.pieces)
         << remark::metric("own", stringifyOwnOperands(cut.ownOperands))
         << remark::metric("products", stringifyProductScope(cut.products))
         << remark::metric("instruction", machine.instr
                                              ? machine.instr.getName().str()
                                              : "none")
         << remark::metric("registers", cost.registers)
         << remark::metric("lds_bytes", cost.ldsBytes);
  if (!request.alternative.empty())
    passed << remark::metric("alternative", request.alternative);
  return schedule;
}
