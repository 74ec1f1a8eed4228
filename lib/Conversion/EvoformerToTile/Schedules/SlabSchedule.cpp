//===- SlabSchedule.cpp - When slabs pay ----------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlabSchedule.h"
#include "FittedCosts.h"
#include "GradientSchedule.h"
#include "ScheduleMachine.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

bool evoformer::mayStoreSlabs(TargetAttr target) {
  return bool(target.getGroupMatrix());
}

/// Whether a kernel knows all that it needs of a logit from its place among the
/// rows of a slab.
static bool isPlaceless(const AttentionFacts &facts) {
  return !facts.score && facts.dropThreshold == 0 && !facts.hasLengths &&
         facts.keys.isWhole() && !facts.shared.any() &&
         !facts.weights.areLogits;
}

bool evoformer::chooseSlabSchedules(Location loc, StringRef function,
                                    TargetAttr target,
                                    const AttentionFacts &facts,
                                    SlabGradients &gradients) {
  const Bias &ofBias = gradients.ofBias;
  if (!gradients.ofQuery.queryGrad || !gradients.ofQuery.logitGrads.empty() ||
      !gradients.ofKeyValue.keyGrad || !gradients.ofKeyValue.valueGrad ||
      facts.elementType.isF32() || !isPlaceless(facts) || !ofBias.memory ||
      !ofBias.broadcast[kBiasN] || ofBias.broadcast[kBiasH] ||
      std::max(facts.depth, facts.valueDepth) < fitted::kSlabDepth ||
      sumsKeysAndValuesApart(loc, target, gradients.ofKeyValue, facts, {}))
    return false;
  FailureOr<SmallVector<Machine>> machines =
      findMachines(loc, target, facts.elementType);
  if (failed(machines))
    return false;
  // A tile of logits' gradients is what a subgroup and its three neighbours
  // read where it lies.
  constexpr int64_t kSubgroups = 8, kKeys = 64, kMostStages = 4;
  const Machine &machine = machines->front();
  if (chooseProductScope(machine, facts, kSubgroups, kKeys) !=
      ProductScope::Group)
    return false;
  FailureOr<GradientSchedule> ofKeyValue = chooseGradientSchedule(
      loc, function, target, gradients.ofKeyValue, facts, {});
  if (failed(ofKeyValue) || ofKeyValue->blocks.keys % kKeys != 0)
    return false;
  gradients.keyValueSchedule = *ofKeyValue;
  int64_t own = kSubgroups * machine.keyAtom();
  int64_t bytes = facts.elementType.getIntOrFloatBitWidth() / 8;
  int64_t ofStage = (own + llvm::PowerOf2Ceil(facts.depth)) * kKeys * bytes;
  constexpr int64_t kResident = 2;
  int64_t stages = std::clamp<int64_t>(
      target.getLdsBytes() / kResident / ofStage, 1, kMostStages);
  GradientSchedule &ofQuery = gradients.querySchedule;
  ofQuery.blocks = {1, own, kKeys};
  ofQuery.attr = ScheduleAttr::get(
      loc.getContext(), {1, own, kKeys}, {1, kSubgroups, 1}, stages,
      /*resident=*/kResident, OwnOperands::Registers, ProductScope::Group);
  return true;
}
