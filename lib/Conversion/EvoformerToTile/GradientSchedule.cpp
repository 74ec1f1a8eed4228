//===- GradientSchedule.cpp - How gradients are cut -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientHost.h"
#include "ScheduleMachine.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

namespace {
/// A cut: the subgroups share the dimension that an item owns, `own`, and it
/// loops over blocks of the other, `other`.
struct Cut {
  int64_t own, other, subgroups, stages;
};
} // namespace

/// The 32-bit registers of a lane that are live at once, and the bytes of LDS.
static ScheduleCost estimate(const Machine &machine, GradientKind kind,
                             const AttentionFacts &facts, const Cut &cut) {
  ScheduleCost cost;
  if (!machine.instr)
    return cost;
  int64_t lanes = machine.target.getSubgroupSize();
  int64_t bytes = facts.elementType.getIntOrFloatBitWidth() / 8;
  int64_t own = llvm::divideCeil(cut.own, cut.subgroups);
  int64_t depth = llvm::alignTo(facts.depth, machine.keyAtom());
  int64_t valueDepth = llvm::alignTo(facts.valueDepth, machine.keyAtom());
  auto accumulators = [&](int64_t elements) {
    return llvm::divideCeil(elements, lanes);
  };
  auto operand = [&](int64_t elements) {
    return llvm::divideCeil(elements * bytes * machine.operandCopies(),
                            4 * lanes);
  };
  bool hasUniform = machine.target.hasProperty("uniform");
  // The logits and their gradient, the sums, the operands of the own side, half
  // of the other's, and addresses.
  int64_t sums = kind == GradientKind::Query      ? depth
                 : kind == GradientKind::KeyValue ? depth + valueDepth
                                                  : cut.other;
  // What is read plain and transposed.
  int64_t transposed = kind == GradientKind::Query      ? depth
                       : kind == GradientKind::KeyValue ? depth + valueDepth
                                                        : 0;
  int64_t copies = facts.elementType.isF32() ? 2 : 1;
  cost.registers =
      2 * accumulators(own * cut.other) + copies * accumulators(own * sums) +
      operand(own * (depth + valueDepth)) + operand(own * cut.other) +
      operand(cut.other * (depth + valueDepth + transposed)) / 2 +
      machine.target.getRegisters() / (hasUniform ? 8 : 4);
  // Rows plain and transposed, 16 bytes longer against conflicts of the banks.
  int64_t both = kind == GradientKind::Bias ? 1 : 2;
  int64_t staged = kind == GradientKind::Bias ? cut.own + cut.other : cut.other;
  cost.ldsBytes = cut.stages * both * staged *
                  ((facts.depth + facts.valueDepth) * bytes + 32);
  return cost;
}

FailureOr<GradientSchedule> evoformer::chooseGradientSchedule(
    Location loc, StringRef function, TargetAttr target,
    const GradientOperands &operands, const AttentionFacts &facts,
    const ScheduleRequest &request) {
  GradientKind kind = getGradientKind(operands);
  OwnedDim owned = getOwnedDim(operands);
  FailureOr<SmallVector<Machine>> machines =
      findMachines(loc, target, facts.elementType);
  if (failed(machines))
    return failure();
  if (target.isCPU() && request.subgroups.value_or(1) != 1)
    return emitError(loc) << "schedule: target '" << target.getChip()
                          << "' has one subgroup, not " << *request.subgroups;
  if (request.rows.value_or(1) != 1 && kind == GradientKind::Bias)
    return emitError(loc) << "schedule: rows=" << *request.rows
                          << ", but the gradient of a bias takes one row at a "
                             "time";

  if (owned == OwnedDim::None && request.subgroups.value_or(1) != 1)
    return emitError(loc) << "schedule: one subgroup sums over queries and "
                             "keys, not "
                          << *request.subgroups;

  bool ownsKeys = owned == OwnedDim::Keys;
  int64_t subgroups = owned == OwnedDim::None ? 1 : 4;
  std::optional<int64_t> forcedOwn = ownsKeys ? request.keys : request.queries;
  std::optional<int64_t> forcedOther =
      ownsKeys ? request.queries : request.keys;
  Cut cut{32, 64, 1, 1};
  Machine machine = machines->front();
  ScheduleCost cost;
  bool isCut = false;
  constexpr std::pair<int64_t, int64_t> sizes[] = {
      {1, 64}, {1, 32}, {1, 16}, {1, 8}};
  for (const Machine &candidate : *machines) {
    for (int64_t stages : {2, 1}) {
      for (auto [atoms, other] : sizes) {
        if (isCut)
          break;
        machine = candidate;
        cut.subgroups =
            request.subgroups.value_or(machine.instr ? subgroups : 1);
        cut.stages = request.stages.value_or(machine.instr ? stages : 1);
        cut.own = forcedOwn.value_or(
            machine.instr ? cut.subgroups * atoms * machine.keyAtom() : 32);
        cut.other =
            forcedOther.value_or(llvm::alignTo(other, machine.keyAtom()));
        cost = estimate(machine, kind, facts, cut);
        isCut = fits(machine, cost);
      }
    }
  }
  bool isForced = request.queries || request.keys || request.stages ||
                  request.rows || request.subgroups;
  StringRef own = ownsKeys ? "k" : "q", other = ownsKeys ? "q" : "k";
  // What is chosen here may spill registers; what a user asks for is refused.
  if (!isCut && (isForced || cost.ldsBytes > target.getLdsBytes()))
    return emitError(loc) << "schedule " << own << "=" << cut.own << ", "
                          << other << "=" << cut.other
                          << ", stages=" << cut.stages
                          << " of a gradient needs about " << cost.registers
                          << " registers a lane and " << cost.ldsBytes
                          << " bytes of LDS; target '" << target.getChip()
                          << "' has " << usableRegisters(target)
                          << " usable registers and " << target.getLdsBytes()
                          << " bytes of LDS";
  if (cut.subgroups * target.getSubgroupSize() > target.getMaxWorkgroup())
    return emitError(loc) << "schedule: " << cut.subgroups << " subgroups are "
                          << cut.subgroups * target.getSubgroupSize()
                          << " lanes, target '" << target.getChip()
                          << "' has workgroups of at most "
                          << target.getMaxWorkgroup();
  if (machine.instr) {
    std::string name = ("matrix instruction " + machine.instr.getName()).str();
    if (failed(checkMultiple(loc, own, cut.own,
                             cut.subgroups * machine.queryAtom(),
                             "subgroups times atoms of " + name)) ||
        failed(checkMultiple(loc, other, cut.other, machine.keyAtom(),
                             "atoms of " + name)))
      return failure();
  }

  int64_t rows = request.rows.value_or(1);
  GradientSchedule schedule;
  schedule.blocks = {rows, ownsKeys ? cut.other : cut.own,
                     ownsKeys ? cut.own : cut.other};
  if (failed(checkTile(loc, schedule.blocks)))
    return failure();
  schedule.attr =
      ScheduleAttr::get(loc.getContext(), {rows, cut.own, cut.other},
                        {1, cut.subgroups, 1}, cut.stages);
  remark::passed(loc, remark::RemarkOpts::name("gradient-schedule")
                          .category("evo-schedule")
                          .function(function))
      << remark::metric("gradient", kind == GradientKind::Query  ? "query"
                                    : kind == GradientKind::Bias ? "bias"
                                                                 : "key, value")
      << remark::metric("rows", rows)
      << remark::metric("q", schedule.blocks.queries)
      << remark::metric("k", schedule.blocks.keys)
      << remark::metric("subgroups", cut.subgroups)
      << remark::metric("stages", cut.stages)
      << remark::metric("instruction",
                        machine.instr ? machine.instr.getName().str() : "none")
      << remark::metric("registers", cost.registers)
      << remark::metric("lds_bytes", cost.ldsBytes);
  return schedule;
}
