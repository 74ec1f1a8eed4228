//===- HeadSchedule.cpp - When items have heads ---------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeadSchedule.h"
#include "BlockParts.h"
#include "CostModel.h"
#include "FittedCosts.h"
#include "GradientSchedule.h"
#include "ScheduleMachine.h"

#include "Evoformer/Dialect/Evoformer/IR/Score.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// Whether one workgroup may have the registers of a whole processor, and
/// subgroups that multiply together what it leaves in workgroup memory.
static bool mayTakeWholeHeads(TargetAttr target) {
  return copiesPastRegisters(target) && target.getGroupMatrix() &&
         target.getRegistersPerProcessor() > 0;
}

bool evoformer::mayTakeHeads(TargetAttr target) {
  return !target.isCPU() &&
         (!copiesPastRegisters(target) || mayTakeWholeHeads(target));
}

/// Bytes for each logit that a step may copy to LDS: tiles of captures, and of
/// biases that rows do not share, which nobody has transposed.
static int64_t countCopiedBytes(const GradientOperands &operands) {
  int64_t bytes = 0;
  for (const Bias &bias : operands.biases)
    if (!bias.broadcast[kBiasN])
      bytes += getLogitBytes(bias);
  for (const Bias &capture : operands.captures)
    bytes += getLogitBytes(capture);
  return bytes;
}

static void remarkSchedule(Location loc, StringRef function,
                           const Machine &machine, const GradientCut &cut,
                           int64_t registers, int64_t ldsBytes) {
  remark::passed(loc, remark::RemarkOpts::name("gradient-schedule")
                          .category("evo-schedule")
                          .function(function))
      << remark::metric("gradient", StringRef("query, key, value"))
      << remark::metric("q", cut.other) << remark::metric("k", cut.own)
      << remark::metric("subgroups", cut.subgroups)
      << remark::metric("instruction", machine.instr.getName().str())
      << remark::metric("registers", registers)
      << remark::metric("lds_bytes", ldsBytes);
}

/// The ops of a score that know of a query as well as of a key: those that each
/// pair has of its own.
static int64_t countPairOps(Block &score) {
  enum : unsigned { kOfQuery = 1, kOfKey = 2, kOfPair = 3 };
  DenseMap<Value, unsigned> known;
  auto argument = [&](ScoreArgument which) {
    return score.getArgument(static_cast<unsigned>(which));
  };
  known[argument(ScoreArgument::Score)] = kOfPair;
  known[argument(ScoreArgument::Query)] = kOfQuery;
  known[argument(ScoreArgument::Key)] = kOfKey;
  int64_t count = 0;
  for (Operation &op : score.without_terminator()) {
    unsigned all = 0;
    for (Value operand : op.getOperands())
      all |= known.lookup(operand);
    for (Value result : op.getResults())
      known[result] = all;
    count += all == kOfPair;
  }
  return count;
}

/// A workgroup that has all keys of a head, a share in each subgroup, and with
/// them the registers of a processor. Blocks of queries are computed in parts
/// of an atom, and have the rows of an instruction of several subgroups, which
/// multiplies what all parts leave in workgroup memory.
static std::optional<GradientSchedule>
chooseWholeHeads(Location loc, StringRef function, const Machine &machine,
                 const AttentionFacts &facts,
                 const GradientOperands &operands) {
  TargetAttr target = machine.target;
  // What computes more for a logit is not measured, but what a short score adds
  // to it. Nor are what is not copied with its block: biases of bits, and
  // captures along queries or keys; nor tables.
  bool addsLittle =
      !facts.score || (facts.score.isSum && countPairOps(*facts.score.body) <=
                                                fitted::kMostHeadScoreOps);
  if (!machine.streamsMatrices(facts) || !copiesVectors(facts) ||
      facts.dropThreshold != 0 || !addsLittle ||
      llvm::any_of(operands.captures,
                   [](const Bias &capture) {
                     return capture.entries || !capture.broadcast[kBiasQ] ||
                            !capture.broadcast[kBiasK];
                   }) ||
      llvm::any_of(operands.biases,
                   [](const Bias &bias) { return getLogitBytes(bias) == 1; }))
    return std::nullopt;
  constexpr int64_t kAtoms = 2, kStages = 2, kLeastRowBytes = 32;
  int64_t lanes = target.getSubgroupSize();
  GradientCut cut{0, 0, target.getLatencyLanes() / lanes, kStages};
  cut.own = cut.subgroups * kAtoms * machine.keyAtom();
  GroupMatrixInstrAttr instr = findGroupInstr(
      target, machine.instr, cut.subgroups, facts.depth, cut.own);
  if (!instr)
    return std::nullopt;
  cut.other = instr.getSubgroups() * machine.instr.getM();
  // Of a single block the products made again have other layouts, and there is
  // little to gain.
  int64_t queries = cast<MemRefType>(operands.query.getType()).getDimSize(3);
  if (ShapedType::isStatic(queries) && queries <= cut.other)
    return std::nullopt;
  GradientCut part = cut;
  part.other = machine.keyAtom();
  int64_t registers =
      estimate(machine, facts,
               getGradientLoop(machine, GradientKind::KeyValue, facts, part))
          .registers;
  int64_t bytes = getElementBytes(facts.elementType);
  // Rows of keys are as long as the instruction reads them.
  int64_t rowBytes = llvm::PowerOf2Ceil(
      std::max<int64_t>(facts.depth * bytes, kLeastRowBytes));
  int64_t ldsBytes = countCopies(facts, operands, cut) +
                     cut.own * (cut.other * bytes + rowBytes);
  if (cut.subgroups * lanes * registers > target.getRegistersPerProcessor() ||
      cut.subgroups * lanes > target.getMaxWorkgroup() ||
      ldsBytes > target.getLdsBytes())
    return std::nullopt;
  GradientSchedule schedule;
  schedule.blocks = {1, cut.other, cut.own, cut.other / part.other};
  schedule.attr = ScheduleAttr::get(
      loc.getContext(), {1, cut.own, cut.other}, {1, cut.subgroups, 1}, kStages,
      /*resident=*/1, OwnOperands::Registers, ProductScope::Handed);
  remarkSchedule(loc, function, machine, cut, registers, ldsBytes);
  return schedule;
}

std::optional<GradientSchedule>
evoformer::chooseHeadSchedule(Location loc, StringRef function,
                              TargetAttr target, const AttentionFacts &facts,
                              const GradientOperands &operands) {
  // Where loops choose what they drop, nobody looks for NaN afterwards.
  bool chooses =
      facts.weights.areLogits || (facts.score && !facts.score.isTotal);
  if (!mayTakeHeads(target) || chooses || !operands.queryGrad ||
      !operands.logitGrads.empty() || !operands.keyGrad ||
      !operands.valueGrad || facts.elementType.isF32() || facts.hasLengths ||
      !facts.keys.isWhole() || facts.shared.any() ||
      std::max(facts.depth, facts.valueDepth) > fitted::kMostHeadDepth)
    return std::nullopt;
  FailureOr<SmallVector<Machine>> machines =
      findMachines(loc, target, facts.elementType);
  if (failed(machines))
    return std::nullopt;
  if (mayTakeWholeHeads(target)) {
    for (const Machine &machine : *machines)
      if (machine.instr)
        if (std::optional<GradientSchedule> schedule =
                chooseWholeHeads(loc, function, machine, facts, operands))
          return schedule;
    return std::nullopt;
  }
  // What the estimate leaves for the code generator regular rows do not take.
  int64_t mostRegisters =
      isRegular(facts) ? target.getRegisters() : usableRegisters(target);
  int64_t copiedBytes = countCopiedBytes(operands);
  // Rows of an atom for the queries' sums of each subgroup. A step pays with
  // that many logits of a lane: with half of them gfx942 gains nothing.
  constexpr int64_t kSubgroups = 4, kQueries = 64, kLogits = 32;
  for (int64_t keys : {32, 16})
    for (const Machine &machine : *machines) {
      GradientCut cut{kSubgroups * keys, kQueries, kSubgroups, /*stages=*/1};
      if (!machine.instr || machine.instr.getK() == 1 ||
          keys % machine.keyAtom() != 0 ||
          keys * kQueries < kLogits * target.getSubgroupSize())
        continue;
      ScheduleCost cost =
          estimate(machine, facts,
                   getGradientLoop(machine, GradientKind::Head, facts, cut));
      // Tiles in LDS may be read in narrow pieces. One in so many bytes is
      // padding against conflicts of its banks.
      constexpr int64_t kPadding = 8;
      int64_t ldsBytes = cost.leastLdsBytes + cut.own * cut.other * copiedBytes;
      if (cost.registers > mostRegisters ||
          ldsBytes + ldsBytes / kPadding > target.getLdsBytes())
        continue;
      GradientSchedule schedule;
      schedule.blocks = {1, cut.other, cut.own};
      schedule.attr =
          ScheduleAttr::get(loc.getContext(), {1, cut.own, cut.other},
                            {1, cut.subgroups, 1}, cut.stages);
      remarkSchedule(loc, function, machine, cut, cost.registers, ldsBytes);
      return schedule;
    }
  return std::nullopt;
}
