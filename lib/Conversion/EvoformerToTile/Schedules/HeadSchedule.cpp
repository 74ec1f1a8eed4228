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

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

bool evoformer::mayTakeHeads(TargetAttr target) {
  return !target.isCPU() && !copiesPastRegisters(target);
}

std::optional<GradientSchedule>
evoformer::chooseHeadSchedule(Location loc, StringRef function,
                              TargetAttr target, const AttentionFacts &facts,
                              const GradientOperands &operands) {
  if (!mayTakeHeads(target) || !operands.queryGrad ||
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
  // Rows of an atom for the queries' sums of each subgroup.
  constexpr int64_t kSubgroups = 4, kQueries = 64;
  for (int64_t keys : {32, 16})
    for (const Machine &machine : *machines) {
      GradientCut cut{kSubgroups * keys, kQueries, kSubgroups, /*stages=*/1};
      if (!machine.instr || machine.instr.getK() == 1 ||
          keys % machine.keyAtom() != 0)
        continue;
      ScheduleCost cost =
          estimate(machine, facts,
                   getGradientLoop(machine, GradientKind::Head, facts, cut));
      // Tiles in LDS may be read in narrow pieces.
      if (cost.registers > mostRegisters ||
          cost.leastLdsBytes > target.getLdsBytes())
        continue;
      GradientSchedule schedule;
      schedule.blocks = {1, cut.other, cut.own};
      schedule.attr =
          ScheduleAttr::get(loc.getContext(), {1, cut.own, cut.other},
                            {1, cut.subgroups, 1}, cut.stages);
      return schedule;
    }
  return std::nullopt;
}
