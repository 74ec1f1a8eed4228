//===- HalfSchedule.cpp - Workgroups of half the queries ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HalfSchedule.h"
#include "ScheduleMachine.h"

#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// What `choose` gives. Nobody has asked for it: what cannot be done is no
/// error. Remarks pass.
template <typename ChooseFn>
static auto tryQuietly(Location loc, ChooseFn choose) {
  ScopedDiagnosticHandler quiet(loc.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Error);
  });
  return choose();
}

/// Whether half as many subgroups do the same, each as before: instructions of
/// several need all of them, and where lengths say where rows end the host does
/// not know.
static bool mayHalve(TargetAttr target, const AttentionFacts &facts,
                     int64_t subgroups, ProductScope products) {
  return target.getProcessors() != 0 && copiesPastRegisters(target) &&
         readsMatrices(target, facts.elementType) && copiesWords(facts) &&
         products == ProductScope::Subgroup && subgroups % 2 == 0 &&
         !facts.hasLengths;
}

std::optional<GradientSchedule> evoformer::chooseHalfSchedule(
    Location loc, StringRef function, TargetAttr target,
    const GradientOperands &operands, const AttentionFacts &facts,
    const ScheduleRequest &request, const GradientSchedule &usual) {
  if (target.getProcessors() == 0 || request.isForced() ||
      getGradientKind(operands) != GradientKind::Query || operands.slab)
    return std::nullopt;
  bool isOneRow =
      cast<MemRefType>(operands.query.getType()).getDimSize(kBiasN) == 1;
  int64_t subgroups = usual.attr.getSubgroups()[1];
  bool mayEndShort =
      mayHalve(target, facts, subgroups, usual.attr.getProducts()) &&
      facts.keys.isWhole();
  if (!isOneRow && !mayEndShort)
    return std::nullopt;
  ScheduleRequest half = request;
  half.queries = usual.blocks.queries / 2;
  if (!isOneRow)
    half.subgroups = subgroups / 2;
  FailureOr<GradientSchedule> found = tryQuietly(loc, [&] {
    return chooseGradientSchedule(loc, function, target, operands, facts, half);
  });
  // One kernel reads what was prepared for the other.
  if (failed(found) || found->blocks.keys != usual.blocks.keys)
    return std::nullopt;
  return *found;
}

std::optional<AttentionSchedule>
evoformer::chooseHalfSchedule(Location loc, StringRef function,
                              TargetAttr target, const AttentionFacts &facts,
                              int64_t queries, const ScheduleRequest &request,
                              const AttentionSchedule &usual) {
  if (request.isForced() || !ShapedType::isDynamic(queries) ||
      !mayHalve(target, facts, usual.subgroups, usual.products))
    return std::nullopt;
  ScheduleRequest half = request;
  half.queries = usual.blocks.queries / 2;
  half.subgroups = usual.subgroups / 2;
  // More of them would take registers from each.
  constexpr int64_t kMostResident = 8;
  half.resident = std::min(2 * usual.resident, kMostResident);
  FailureOr<AttentionSchedule> found = tryQuietly(loc, [&] {
    return chooseSchedule(loc, function, target, facts, queries, half);
  });
  if (failed(found) || found->blocks.keys != usual.blocks.keys)
    return std::nullopt;
  return *found;
}
