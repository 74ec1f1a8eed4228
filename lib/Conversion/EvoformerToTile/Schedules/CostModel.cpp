//===- CostModel.cpp - What a kernel's loop takes of a chip ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostModel.h"
#include "FittedCosts.h"

#include "../Kernels/LogitRecompute.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

static int64_t getBytes(const AttentionFacts &facts) {
  return facts.elementType.getIntOrFloatBitWidth() / 8;
}

bool evoformer::isRegular(const AttentionFacts &facts) {
  // Weights alone have no values.
  return llvm::all_of(
      ArrayRef{facts.depth, facts.valueDepth}, [&](int64_t size) {
        return size == 0 || (llvm::isPowerOf2_64(size) &&
                             size * getBytes(facts) >= fitted::kRegularBytes);
      });
}

static int64_t getAddressShare(const Machine &machine,
                               const fitted::AddressShares &shares,
                               bool isStreamed, ProductScope products) {
  if (isStreamed)
    return products == ProductScope::Group ? shares.ofGroups : shares.streamed;
  return machine.target.getUniform().empty() ? shares.without
                                             : shares.withUniform;
}

/// Registers of a lane, beyond their contents, for copies of `elements` of rows
/// of `depth`. Rows that end within a word are copied an element at a time,
/// each to a register of its own, and addresses take as many again.
static int64_t narrowCopyRegisters(const Machine &machine, int64_t depth,
                                   int64_t bytes, int64_t elements,
                                   int64_t subgroups) {
  if (depth * bytes % 4 == 0 || copiesPastRegisters(machine.target))
    return 0;
  return llvm::divideCeil(elements,
                          subgroups * machine.target.getSubgroupSize());
}

/// Numbers of a pair that a score has at once: what it makes of the product
/// and of captures. Each of its ops is done for a whole tile of logits.
static int64_t countScoreNumbers(const ScoreFacts &score) {
  if (!score)
    return 1;
  DenseSet<Value> ofPair = {score.body->getArgument(0)}, live;
  ofPair.insert_range(score.pairCaptures);
  for (Operation &op : *score.body)
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return ofPair.contains(operand); }))
      for (Value result : op.getResults())
        if (isa<FloatType>(result.getType()))
          ofPair.insert(result);
  int64_t most = 1;
  for (Operation &op : llvm::reverse(*score.body)) {
    for (Value result : op.getResults())
      live.erase(result);
    for (Value operand : op.getOperands())
      if (ofPair.contains(operand))
        live.insert(operand);
    most = std::max<int64_t>(most, live.size());
  }
  return most;
}

/// Blocks of copies that a schedule wants room for in LDS. On CDNA one: the
/// next is under way in registers. On RDNA those of all stages, though there is
/// one as well: room for the workgroup that hides the barriers.
static int64_t getSlots(const Machine &machine, int64_t stages) {
  return hasManyRegisters(machine.target) ? 1 : stages;
}

//===----------------------------------------------------------------------===//
// The loops
//===----------------------------------------------------------------------===//

LoopShape evoformer::getAttentionLoop(const Machine &machine,
                                      const AttentionFacts &facts,
                                      const AttentionSchedule &schedule) {
  LoopShape loop;
  loop.rows = schedule.blocks.rows;
  loop.own = schedule.blocks.rows *
             llvm::divideCeil(schedule.blocks.queries, schedule.subgroups);
  loop.other = schedule.blocks.keys;
  loop.subgroups = schedule.subgroups;
  loop.slots = getSlots(machine, schedule.stages);
  loop.ownInLDS = schedule.own == OwnOperands::LDS;
  if (!machine.instr)
    return loop;
  bool streams = machine.streamsOperands();
  int64_t depth = llvm::alignTo(facts.depth, machine.instr.getK());
  int64_t valueDepth = llvm::alignTo(facts.valueDepth, machine.queryAtom());
  loop.products = schedule.products;
  if (loop.products == ProductScope::Group) {
    loop.copiedBiasBytes = facts.biasBytes;
    loop.twiceShare = fitted::kTwiceOfGroups;
  }
  loop.sums = valueDepth;
  loop.ownOperands = depth;
  loop.otherOperands = depth + valueDepth;
  // Values lie transposed.
  loop.copied = {{facts.depth, /*plain=*/true, /*transposed=*/false},
                 {facts.valueDepth, /*plain=*/false, /*transposed=*/true}};
  loop.operandCopies = machine.operandCopies();
  loop.logitTiles = streams ? 1 : countScoreNumbers(facts.score);
  loop.biasBytes = streams ? facts.biasBytes : fitted::kHeldBiasBytes;
  bool isShort = streams && std::max(depth, valueDepth) * getBytes(facts) <=
                                fitted::kShortStreamedBytes;
  loop.otherOperandShare =
      isShort || (machine.instr.getK() > 1 && isRegular(facts))
          ? fitted::kForwardHeld.ofRegularRows
      : schedule.stages == 1 ? fitted::kForwardHeld.ofOneStage
                             : fitted::kForwardHeld.ofStages;
  loop.addressShare = getAddressShare(machine, fitted::kForwardAddresses,
                                      streams, loop.products);
  loop.loadsAhead = schedule.stages > 1 && !streams;
  return loop;
}

LoopShape evoformer::getGradientLoop(const Machine &machine, GradientKind kind,
                                     const AttentionFacts &facts,
                                     const GradientCut &cut) {
  LoopShape loop;
  loop.own = llvm::divideCeil(cut.own, cut.subgroups * cut.pieces);
  loop.other = cut.other;
  loop.subgroups = cut.subgroups;
  loop.alongOther = cut.alongOther;
  loop.slots = getSlots(machine, cut.stages);
  loop.ownInLDS = cut.ownOperands == OwnOperands::LDS;
  loop.products = cut.products;
  // The loop over rows has one.
  if (loop.products == ProductScope::Group && !sumsBias(kind))
    loop.copiedBiasBytes = facts.biasBytes;
  // Subgroups along the other side share the own one; in a loop over rows it
  // changes with each step, and products of groups read it from LDS.
  loop.copiesOwn = cut.alongOther > 1 || (cut.products == ProductScope::Group &&
                                          kind == GradientKind::Bias);
  if (!machine.instr)
    return loop;
  int64_t depth = llvm::alignTo(facts.depth, machine.keyAtom());
  int64_t valueDepth = llvm::alignTo(facts.valueDepth, machine.keyAtom());
  bool ofKeys = sumsKeys(kind);
  loop.sums = kind == GradientKind::Weights ? 0
              : kind == GradientKind::Query ? depth
              : ofKeys
                  ? (cut.sumsKey ? depth : 0) + (cut.sumsValue ? valueDepth : 0)
              : kind == GradientKind::QueryBias ? depth + cut.other
                                                : cut.other / cut.alongOther;
  // The value's gradient alone takes the weights and no gradients of theirs.
  bool needsValues = !ofKeys || cut.sumsKey;
  loop.ownOperands = depth + (needsValues ? valueDepth : 0);
  bool readsRowsTwice =
      ofKeys ? cut.sumsKey
             : kind != GradientKind::Bias && kind != GradientKind::Weights;
  bool readsValuesTwice = ofKeys && cut.sumsValue && needsValues;
  loop.otherOperands = depth + valueDepth + (readsRowsTwice ? depth : 0) +
                       (readsValuesTwice ? valueDepth : 0);
  // Instructions that read matrices read them across their rows, too; others
  // that read across rows, those of whole atoms.
  bool isHalf = facts.elementType.getIntOrFloatBitWidth() == 16;
  auto copiesTwice = [&](int64_t depth) {
    bool readsAtoms = machine.target.hasLDSTranspose() && isHalf &&
                      depth % machine.instr.getN() == 0;
    return !readsMatrices(machine.target, facts.elementType) && !readsAtoms;
  };
  loop.copied = {{facts.depth, /*plain=*/true,
                  readsRowsTwice && copiesTwice(facts.depth)}};
  if (facts.valueDepth != 0)
    loop.copied.push_back({facts.valueDepth, /*plain=*/true,
                           readsValuesTwice && copiesTwice(facts.valueDepth)});
  // Those of the output's gradient are copied once more, without what NaN
  // spoils.
  if (cut.products == ProductScope::Group && ofKeys &&
      isChoosingCheap(machine.target, facts, kind))
    loop.copied.push_back(
        {facts.valueDepth, /*plain=*/true, /*transposed=*/false});
  loop.operandCopies = machine.fewestOperandCopies();
  bool streams = !sumsBias(kind) && machine.streamsOperands();
  loop.logitTiles =
      streams ? fitted::kStreamedGradientTiles : fitted::kGradientTiles;
  if (!machine.streamsOperands())
    loop.logitTiles += countScoreNumbers(facts.score) - 1;
  loop.otherOperandShare = machine.streamsOperands()
                               ? fitted::kGradientHeld.ofStreamed
                           : sumsBias(kind) && !isRegular(facts)
                               ? fitted::kGradientHeld.ofIrregularBias
                               : fitted::kGradientHeld.usually;
  loop.addressShare = getAddressShare(machine, fitted::kGradientAddresses,
                                      streams, loop.products);
  // Pieces are computed one after the other, and all of them kept.
  loop.sums *= cut.pieces;
  loop.ownOperands *= cut.pieces;
  if (kind == GradientKind::Head)
    loop.otherSums = depth;
  // A bias's gradient has the operands of one block at a time, and room for one
  // of both.
  bool moves = facts.keys.moves(), hasLengths = facts.hasLengths;
  // One step that is known to be the only one is no loop: what a round keeps in
  // its place is mixed with what the kernel begins and ends with.
  bool isStraight =
      !ShapedType::isDynamic(facts.queries) && facts.queries <= cut.other;
  // Loops over what shares keys have the ends of rows as well.
  int64_t ofSharers = facts.shared.countLoops();
  if (hasLengths && ofSharers)
    ++ofSharers;
  int64_t loops =
      ofKeys ? moves + isStraight + (moves || hasLengths ? ofSharers : 0)
             : sumsBias(kind) && moves && hasLengths;
  if (!machine.streamsOperands())
    loop.loopRegisters = loops * fitted::kLoopRegisters;
  return loop;
}

//===----------------------------------------------------------------------===//
// Their cost
//===----------------------------------------------------------------------===//

ScheduleCost evoformer::estimate(const Machine &machine,
                                 const AttentionFacts &facts,
                                 const LoopShape &loop) {
  ScheduleCost cost;
  if (!machine.instr)
    return cost;
  int64_t lanes = machine.target.getSubgroupSize(), bytes = getBytes(facts);
  auto accumulators = [&](int64_t elements) {
    return llvm::divideCeil(elements, lanes);
  };
  auto operand = [&](int64_t elements) {
    return llvm::divideCeil(elements * bytes * loop.operandCopies, 4 * lanes);
  };
  // In f32 a step's share of the sums is added to them as a whole.
  int64_t sumCopies = facts.elementType.isF32() ? 2 : 1;
  int64_t otherOfSubgroup = loop.other / loop.alongOther;
  int64_t logits = accumulators(loop.own * otherOfSubgroup);
  int64_t others = operand(loop.rows * otherOfSubgroup * loop.otherOperands);
  bool readsLDS = loop.products == ProductScope::Group;
  int64_t heldOthers = readsLDS ? 0 : others / loop.otherOperandShare;
  int64_t sums = accumulators(loop.own * loop.sums);
  cost.sumRegisters = sums;
  int64_t owns = operand(loop.own * loop.ownOperands);
  bool copiesOwn = loop.ownInLDS || loop.copiesOwn;
  // The biases are read before the weights are there in the operand's type.
  cost.registers = loop.logitTiles * logits + sumCopies * sums +
                   (loop.twiceShare ? sums / loop.twiceShare : 0) +
                   (!copiesOwn ? owns
                    : readsLDS && loop.own <= machine.queryAtom()
                        ? 0
                        : owns / loop.otherOperandShare) +
                   std::max<int64_t>(logits * loop.biasBytes / 4,
                                     operand(loop.own * otherOfSubgroup)) +
                   heldOthers + loop.loopRegisters +
                   machine.target.getRegisters() / loop.addressShare;
  if (loop.loadsAhead) {
    cost.aheadRegisters = logits / fitted::kLogitsOfAheadBias;
    // Operands that lanes replicate take more registers and are loaded late
    // where these are scarce.
    if (loop.operandCopies > 1)
      cost.aheadRegisters +=
          std::max<int64_t>(others / fitted::kAheadOperands - heldOthers, 0);
  }
  if (loop.otherSums) {
    int64_t rows = llvm::divideCeil(loop.other, loop.subgroups);
    cost.registers += accumulators(rows * loop.otherSums) +
                      operand(rows * loop.own * loop.subgroups);
  }
  // Rows in LDS are 16 bytes longer than their contents, against conflicts of
  // its banks, or as long as instructions of groups want them.
  constexpr int64_t kPadding = 16, kShortestRow = 32;
  auto getPitch = [&](int64_t rowBytes) -> int64_t {
    return readsLDS
               ? std::max<int64_t>(llvm::PowerOf2Ceil(rowBytes), kShortestRow)
               : rowBytes + kPadding;
  };
  for (auto [depth, plain, transposed] : loop.copied) {
    int64_t rows = loop.other * getPitch(depth * bytes);
    int64_t columns = depth * getPitch(loop.other * bytes);
    cost.ldsBytes += (plain ? rows : 0) + (transposed ? columns : 0);
    cost.leastLdsBytes += plain ? rows : columns;
    cost.registers += narrowCopyRegisters(machine, depth, bytes,
                                          loop.rows * loop.other * depth *
                                              (plain + transposed),
                                          loop.subgroups * loop.alongOther);
  }
  cost.ldsBytes +=
      loop.own * loop.subgroups * loop.other * loop.copiedBiasBytes;
  cost.ldsBytes *= loop.slots * loop.rows;
  cost.leastLdsBytes *= loop.rows;
  if (loop.otherSums) {
    int64_t exchanged =
        loop.own * loop.subgroups * (loop.other + loop.otherSums) * bytes;
    cost.ldsBytes += exchanged;
    cost.leastLdsBytes += exchanged;
  }
  if (copiesOwn) {
    int64_t own = loop.own * loop.subgroups *
                  (readsLDS ? getPitch(loop.ownOperands * bytes)
                            : loop.ownOperands * bytes);
    cost.ldsBytes += loop.ownInLDS ? own : loop.slots * own;
    cost.leastLdsBytes += own;
  }
  return cost;
}

//===----------------------------------------------------------------------===//
// Subgroups beside each other
//===----------------------------------------------------------------------===//

/// Whether a SIMD has room for one subgroup only, whose matrix instructions and
/// arithmetic then wait for each other, on chips whose subgroups share a lane's
/// many registers.
static bool hasLoneSubgroups(const Machine &machine, int64_t subgroups,
                             const ScheduleCost &cost) {
  if (!machine.instr || !hasManyRegisters(machine.target))
    return false;
  constexpr int64_t simds = 4;
  int64_t workgroups =
      machine.target.getLdsBytes() / std::max<int64_t>(cost.ldsBytes, 1);
  return 2 * cost.registers > machine.target.getRegisters() ||
         workgroups * subgroups < 2 * simds;
}

bool evoformer::leavesCompany(const Machine &machine, int64_t subgroups,
                              ScheduleCost once, bool isForward) {
  constexpr fitted::TakenWithoutAhead taken = fitted::kTakenWithoutAhead;
  once.registers =
      once.registers * (isForward ? taken.forward : taken.gradient) / 16;
  return !hasLoneSubgroups(machine, subgroups, once);
}

bool evoformer::costsCompany(const Machine &machine, int64_t subgroups,
                             const ScheduleCost &cost, const ScheduleCost &once,
                             bool isForward) {
  return hasLoneSubgroups(machine, subgroups, cost) &&
         leavesCompany(machine, subgroups, once, isForward);
}
