//===- SizedCuts.cpp - Cuts that sizes decide between ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizedCuts.h"
#include "FittedCosts.h"
#include "ScheduleMachine.h"

#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"
#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

/// What remarks call a cut of fewer queries than the usual one.
static constexpr StringLiteral kOfFewQueries = "of few queries";

/// What `choose` gives beside a cut with blocks of so many keys: one kernel
/// reads what was prepared for the other. Nobody has asked for it: what cannot
/// be done is no error. Remarks pass.
template <typename ChooseFn>
static auto chooseBeside(Location loc, int64_t keys,
                         const ScheduleRequest &request, StringRef alternative,
                         ChooseFn choose) {
  ScopedDiagnosticHandler quiet(loc.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Error);
  });
  ScheduleRequest other = request;
  other.alternative = alternative;
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

/// Whether groups of subgroups, which multiply together, may share the keys and
/// values that every step of a bias's gradient reads anew: where boxes of whole
/// lines bring them no group waits for another.
static bool mayShareKeys(TargetAttr target, const GradientOperands &operands,
                         const AttentionFacts &facts,
                         const GradientSchedule &usual) {
  const Bias &gradient = operands.biasGrad;
  auto fitsBoxes = [](Value sequence) {
    auto type = cast<MemRefType>(sequence.getType());
    int64_t bits = type.getDimSize(4) * type.getElementTypeBitWidth();
    return bits % (8 * kMapAlignment) == 0;
  };
  return getGradientKind(operands) == GradientKind::Bias &&
         getOwnedDim(operands) == OwnedDim::Queries &&
         usual.attr.getProducts() == ProductScope::Group &&
         target.hasTensorMaps() && fitsBoxes(operands.query) &&
         fitsBoxes(operands.value) && !gradient.broadcast[kBiasQ] &&
         !gradient.broadcast[kBiasK] && !facts.hasLengths &&
         facts.keys.isWhole() && !facts.score && facts.dropThreshold == 0 &&
         facts.depth == fitted::kSharedKeysDepth &&
         facts.valueDepth == fitted::kSharedKeysDepth;
}

SmallVector<SizedCut, 2> evoformer::chooseSizedCuts(
    Location loc, StringRef function, TargetAttr target,
    const GradientOperands &operands, const AttentionFacts &facts,
    const ScheduleRequest &request, const GradientSchedule &usual) {
  SmallVector<SizedCut, 2> cuts;
  if (target.getProcessors() == 0 || request.isForced() || operands.slab)
    return cuts;
  auto add = [&](CutUse use, const ScheduleRequest &wanted,
                 StringRef alternative) {
    FailureOr<GradientSchedule> found =
        chooseBeside(loc, usual.blocks.keys, wanted, alternative,
                     [&](const ScheduleRequest &request) {
                       return chooseGradientSchedule(loc, function, target,
                                                     operands, facts, request);
                     });
    if (succeeded(found))
      cuts.push_back({use, *found});
  };
  if (GroupMatrixInstrAttr instr = findGroupInstr(target, facts.elementType);
      instr && mayShareKeys(target, operands, facts, usual)) {
    ScheduleRequest wide = request;
    wide.subgroups = fitted::kSharedKeysGroups * instr.getSubgroups();
    wide.queries = *wide.subgroups * instr.getEach().getM();
    wide.keys = usual.blocks.keys;
    wide.resident = 1;
    add(CutUse::FullBlocks, wide, "of many queries");
  }
  if (getGradientKind(operands) != GradientKind::Query)
    return cuts;
  auto addHalf = [&](CutUse use, std::optional<int64_t> subgroups) {
    ScheduleRequest half = request;
    half.queries = usual.blocks.queries / 2;
    half.subgroups = subgroups;
    add(use, half, kOfFewQueries);
  };
  if (cast<MemRefType>(operands.query.getType()).getDimSize(kBiasN) == 1)
    addHalf(CutUse::FewItems, std::nullopt);
  int64_t subgroups = usual.attr.getSubgroups()[1];
  if (mayHalve(target, facts, subgroups, usual.attr.getProducts()))
    addHalf(CutUse::ShortEnds, subgroups / 2);
  return cuts;
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
          loc, usual.blocks.keys, request, kOfFewQueries,
          [&](const ScheduleRequest &request) {
            return chooseSchedule(loc, function, target, facts, most, request);
          });
      if (succeeded(found) && found->blocks.queries <= most)
        cuts.push_back(*found);
    }
  cuts.push_back(usual);
  return cuts;
}
