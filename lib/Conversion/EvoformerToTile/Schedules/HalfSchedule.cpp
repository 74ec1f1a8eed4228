//===- HalfSchedule.cpp - Cuts of fewer queries ---------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalfSchedule.h"
#include "FittedCosts.h"
#include "ScheduleMachine.h"

#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// What `choose` gives beside a cut with blocks of so many keys: one kernel
/// reads what was prepared for the other. Nobody has asked for it: what cannot
/// be done is no error. Remarks pass.
template <typename ChooseFn>
static auto chooseBeside(Location loc, int64_t keys,
                         const ScheduleRequest &request, ChooseFn choose) {
  ScopedDiagnosticHandler quiet(loc.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Error);
  });
  ScheduleRequest other = request;
  other.alternative = "of few queries";
  auto found = choose(other);
  if (succeeded(found) && found->blocks.keys != keys)
    found = failure();
  return found;
}

/// Whether half as many subgroups do the same, each as before: instructions of
/// several need all of them, and where lengths say where rows end the host does
/// not know. Ranges and larger depths are not measured.
static bool mayHalve(TargetAttr target, const AttentionFacts &facts,
                     int64_t subgroups, ProductScope products) {
  return target.getProcessors() != 0 && copiesPastRegisters(target) &&
         readsMatrices(target, facts.elementType) && copiesWords(facts) &&
         products == ProductScope::Subgroup && subgroups % 2 == 0 &&
         !facts.hasLengths && facts.keys.isWhole() &&
         std::max(facts.depth, facts.valueDepth) <= fitted::kMostHalfDepth;
}

SmallVector<HalfSchedule, 2> evoformer::chooseHalfSchedules(
    Location loc, StringRef function, TargetAttr target,
    const GradientOperands &operands, const AttentionFacts &facts,
    const ScheduleRequest &request, const GradientSchedule &usual) {
  SmallVector<HalfSchedule, 2> halves;
  if (target.getProcessors() == 0 || request.isForced() ||
      getGradientKind(operands) != GradientKind::Query || operands.slab)
    return halves;
  auto add = [&](HalfUse use, std::optional<int64_t> subgroups) {
    ScheduleRequest half = request;
    half.queries = usual.blocks.queries / 2;
    half.subgroups = subgroups;
    FailureOr<GradientSchedule> found = chooseBeside(
        loc, usual.blocks.keys, half, [&](const ScheduleRequest &request) {
          return chooseGradientSchedule(loc, function, target, operands, facts,
                                        request);
        });
    if (succeeded(found))
      halves.push_back({use, *found});
  };
  if (cast<MemRefType>(operands.query.getType()).getDimSize(kBiasN) == 1)
    add(HalfUse::FewItems, std::nullopt);
  int64_t subgroups = usual.attr.getSubgroups()[1];
  if (mayHalve(target, facts, subgroups, usual.attr.getProducts()))
    add(HalfUse::ShortEnds, subgroups / 2);
  return halves;
}

SmallVector<AttentionSchedule, 3>
evoformer::chooseByQueries(Location loc, StringRef function, TargetAttr target,
                           const AttentionFacts &facts, int64_t queries,
                           const ScheduleRequest &request,
                           const AttentionSchedule &usual) {
  SmallVector<AttentionSchedule, 3> cuts;
  if (!request.isForced() && ShapedType::isDynamic(queries) &&
      mayHalve(target, facts, usual.subgroups, usual.products))
    for (int64_t share : {4, 2}) {
      int64_t most = usual.blocks.queries / share;
      FailureOr<AttentionSchedule> found = chooseBeside(
          loc, usual.blocks.keys, request, [&](const ScheduleRequest &request) {
            return chooseSchedule(loc, function, target, facts, most, request);
          });
      if (succeeded(found) && found->blocks.queries <= most)
        cuts.push_back(*found);
    }
  cuts.push_back(usual);
  return cuts;
}
