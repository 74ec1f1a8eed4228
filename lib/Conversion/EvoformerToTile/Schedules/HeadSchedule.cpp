//===- HeadSchedule.cpp - When items have heads ---------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeadSchedule.h"
#include "CostModel.h"
#include "FittedCosts.h"
#include "GradientSchedule.h"
#include "ScheduleMachine.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

bool evoformer::mayTakeHeads(TargetAttr target) {
  return !target.isCPU() && !copiesPastRegisters(target);
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
      remark::passed(loc, remark::RemarkOpts::name("gradient-schedule")
                              .category("evo-schedule")
                              .function(function))
          << remark::metric("gradient", StringRef("query, key, value"))
          << remark::metric("q", cut.other) << remark::metric("k", cut.own)
          << remark::metric("subgroups", cut.subgroups)
          << remark::metric("instruction", machine.instr.getName().str())
          << remark::metric("registers", cost.registers)
          << remark::metric("lds_bytes", ldsBytes);
      return schedule;
    }
  return std::nullopt;
}
