//===- HeadSchedule.cpp - When items have heads ---------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeadSchedule.h"
#include "FittedCosts.h"
#include "GradientSchedule.h"
#include "ScheduleMachine.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

bool evoformer::mayTakeHeads(TargetAttr target) {
  return copiesPastRegisters(target);
}

std::optional<GradientSchedule> evoformer::chooseHeadSchedule(
    Location loc, StringRef function, TargetAttr target,
    const AttentionFacts &facts, const GradientOperands &operands) {
  if (!operands.queryGrad || !operands.logitGrads.empty() ||
      !operands.keyGrad || !operands.valueGrad || facts.elementType.isF32() ||
      facts.hasLengths || !facts.keys.isWhole() || facts.shared.any() ||
      std::max(facts.depth, facts.valueDepth) > fitted::kMostHeadDepth)
    return std::nullopt;
  GradientOperands ofKeys = operands;
  ofKeys.queryGrad = {};
  FailureOr<GradientSchedule> schedule =
      chooseGradientSchedule(loc, function, target, ofKeys, facts, {});
  if (failed(schedule))
    return std::nullopt;
  int q = 32, n = 4, st = 2, res = 2, kpw = 32;
  if (const char *e = getenv("EVO_HEAD"))
    sscanf(e, "%d,%d,%d,%d,%d", &q, &n, &st, &res, &kpw);
  if (q == 0)
    return std::nullopt;
  schedule->blocks = {1, q, n * kpw};
  schedule->attr = ScheduleAttr::get(
      loc.getContext(), {1, n * kpw, q}, {1, n, 1}, st, res,
      OwnOperands::Registers, ProductScope::Subgroup);
  return *schedule;
}
