//===- BlockParts.cpp - Blocks computed part by part ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockParts.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

int64_t evoformer::countCopies(const AttentionFacts &facts,
                               const GradientOperands &operands,
                               const GradientCut &cut) {
  constexpr int64_t kBlocks = 2, kStatistics = 3, kStatisticBytes = 4;
  int64_t bytes =
      getElementBytes(facts.elementType) * (facts.depth + facts.valueDepth) +
      kStatistics * kStatisticBytes;
  for (const auto *biases : {&operands.biases, &operands.captures})
    for (const Bias &bias : *biases)
      bytes += cut.own * getLogitBytes(bias);
  return kBlocks * cut.other * bytes;
}

bool evoformer::copiesVectors(const AttentionFacts &facts) {
  constexpr int64_t kVectorBytes = 16;
  int64_t bytes = getElementBytes(facts.elementType);
  return facts.depth * bytes % kVectorBytes == 0 &&
         facts.valueDepth * bytes % kVectorBytes == 0;
}

BlockParts evoformer::chooseBlockParts(
    const Machine &machine, const AttentionFacts &facts,
    const GradientOperands &operands, const GradientCut &cut,
    function_ref<ScheduleCost(const GradientCut &)> costOf) {
  TargetAttr target = machine.target;
  if (cut.products != ProductScope::Subgroup ||
      cut.ownOperands != OwnOperands::Registers ||
      !machine.streamsMatrices(facts) || !copiesVectors(facts) ||
      target.getRegistersPerProcessor() == 0 ||
      cut.other % machine.keyAtom() != 0)
    return {};
  GradientCut part = cut;
  part.other = machine.keyAtom();
  int64_t lanes = cut.subgroups * target.getSubgroupSize();
  int64_t reserved = target.getLDSReserved();
  int64_t ofCopies = countCopies(facts, operands, cut) + reserved;
  int64_t resident =
      std::min({getResident(target, lanes, costOf(part).registers),
                target.getLatencyLanes() / lanes,
                (target.getLdsBytes() + reserved) / ofCopies, kMaxResident});
  if (resident <= getResident(target, lanes, costOf(cut).registers))
    return {};
  return {cut.other / part.other, resident};
}

std::optional<GradientCut> evoformer::findPieces(const Machine &machine,
                                                 const AttentionFacts &facts,
                                                 const GradientCut &cut) {
  constexpr int64_t kPieces = 2;
  if (!machine.instr || machine.instr.getK() == 1 ||
      !hasManyRegisters(machine.target) || facts.elementType.isF32() ||
      cut.subgroups % kPieces != 0 ||
      cut.own != cut.subgroups * machine.keyAtom())
    return std::nullopt;
  GradientCut pieces = cut;
  pieces.pieces = kPieces;
  pieces.subgroups /= kPieces;
  pieces.other = machine.keyAtom();
  pieces.stages = 1;
  return pieces;
}

bool evoformer::mayCutKeys(const GradientOperands &operands,
                           const AttentionFacts &facts) {
  return getGradientKind(operands) == GradientKind::KeyValue &&
         !operands.slab && !facts.shared.any();
}

/// An error where an entry of a schedule asks for several of what a kernel does
/// not have.
static LogicalResult refuseSeveral(Location loc, StringRef name,
                                   std::optional<int64_t> asked,
                                   StringRef only) {
  if (asked.value_or(1) == 1)
    return success();
  return emitError(loc) << "schedule: " << name << "=" << *asked
                        << ", but only the kernel of the gradients of key and "
                           "value "
                        << only;
}

LogicalResult evoformer::refusePieces(Location loc,
                                      const ScheduleRequest &request) {
  return refuseSeveral(loc, "pieces", request.pieces,
                       "cuts its block of keys, where no heads, rows or "
                       "batches share keys and no slab is stored");
}

LogicalResult evoformer::refuseParts(Location loc,
                                     const ScheduleRequest &request) {
  return refuseSeveral(loc, "steps", request.steps,
                       "computes blocks of queries in parts");
}
