//===- AttentionSchedule.cpp - How attention is cut -------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionSchedule.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

ScheduleAttr AttentionSchedule::getAttr(MLIRContext *context) const {
  return ScheduleAttr::get(context, {blocks.rows, blocks.queries, blocks.keys},
                           {1, subgroups, 1}, stages);
}

namespace {
/// A chip as this choice sees it.
struct Machine {
  TargetAttr target;
  /// Null on the CPU.
  MatrixInstrAttr instr;

  /// Tiles are whole atoms whichever operand a dimension belongs to.
  int64_t queryAtom() const {
    return instr ? std::lcm(instr.getM(), instr.getN()) : 1;
  }
  int64_t keyAtom() const {
    return instr ? std::lcm(queryAtom(), instr.getK()) : 1;
  }
  /// Registers that an operand takes beyond one element a lane: A and B may be
  /// replicated over lanes.
  int64_t operandCopies() const {
    int64_t held =
        instr.getA().toLaneMap().getNumRegisters() * target.getSubgroupSize();
    return std::max<int64_t>(1, held / (instr.getM() * instr.getK()));
  }
};
} // namespace

/// The 32-bit registers of a lane that are live at once, and the bytes of LDS.
static ScheduleCost estimate(const Machine &machine,
                             const AttentionFacts &facts,
                             const AttentionSchedule &schedule) {
  ScheduleCost cost;
  if (!machine.instr)
    return cost;
  int64_t lanes = machine.target.getSubgroupSize();
  int64_t bytes = facts.elementType.getIntOrFloatBitWidth() / 8;
  int64_t rows = schedule.blocks.rows *
                 llvm::divideCeil(schedule.blocks.queries, schedule.subgroups);
  int64_t keys = schedule.blocks.keys;
  int64_t depth = llvm::alignTo(facts.depth, machine.instr.getK());
  int64_t valueDepth = llvm::alignTo(facts.valueDepth, machine.queryAtom());
  auto accumulators = [&](int64_t columns) {
    return llvm::divideCeil(rows * columns, lanes);
  };
  auto operand = [&](int64_t columns) {
    return llvm::divideCeil(rows * columns * bytes * machine.operandCopies(),
                            4 * lanes);
  };
  // Scores and output, the queries' fragments, then either a bias or the
  // weights in the operand's type; addresses, fragments of keys and values in
  // flight and the rows' statistics are the constant.
  constexpr int64_t others = 32;
  cost.registers = accumulators(keys) + accumulators(valueDepth) +
                   operand(depth) +
                   std::max(accumulators(keys) / 2, operand(keys)) + others;
  cost.ldsBytes = schedule.stages * schedule.blocks.rows * keys *
                  (facts.depth + facts.valueDepth) * bytes;
  return cost;
}

/// What the compiler needs besides: a tenth of the registers.
static int64_t usableRegisters(TargetAttr target) {
  return target.getRegisters() * 9 / 10;
}

static bool fits(const Machine &machine, const ScheduleCost &cost) {
  return !machine.instr || (cost.registers <= usableRegisters(machine.target) &&
                            cost.ldsBytes <= machine.target.getLdsBytes());
}

static LogicalResult checkMultiple(Location loc, StringRef name, int64_t value,
                                   int64_t factor, const Twine &why) {
  if (value % factor == 0)
    return success();
  return emitError(loc) << "schedule: " << name << "=" << value
                        << " is not a multiple of " << factor << " (" << why
                        << ")";
}

FailureOr<AttentionSchedule>
evoformer::chooseSchedule(Location loc, StringRef function, TargetAttr target,
                          const AttentionFacts &facts, int64_t queries,
                          const ScheduleRequest &request) {
  Machine machine{target, {}};
  if (!target.isCPU()) {
    for (auto instr : target.getMatrix().getAsRange<MatrixInstrAttr>())
      if (!machine.instr && instr.getAType() == facts.elementType)
        machine.instr = instr;
    if (!machine.instr)
      return emitError(loc) << "target '" << target.getChip()
                            << "' has no matrix instruction for "
                            << facts.elementType << " attention";
  }

  AttentionSchedule choice;
  choice.blocks.rows = request.rows.value_or(1);
  choice.stages = request.stages.value_or(machine.instr ? 2 : 1);
  choice.subgroups = request.subgroups.value_or(machine.instr ? 4 : 1);
  if (!machine.instr && choice.subgroups != 1)
    return emitError(loc) << "schedule: target '" << target.getChip()
                          << "' has one subgroup, not " << choice.subgroups;
  int64_t lanes = choice.subgroups * target.getSubgroupSize();
  if (lanes > target.getMaxWorkgroup())
    return emitError(loc) << "schedule: " << choice.subgroups
                          << " subgroups are " << lanes << " lanes, target '"
                          << target.getChip() << "' has workgroups of at most "
                          << target.getMaxWorkgroup();

  // Two atoms of queries for every subgroup let a fragment of keys serve
  // twice; on the CPU a block of queries and keys stays in the first cache.
  int64_t atom = machine.queryAtom();
  int64_t atoms = machine.instr ? 2 : 32;
  choice.blocks.keys =
      request.keys.value_or(llvm::alignTo<int64_t>(64, machine.keyAtom()));
  auto setQueries = [&] {
    choice.blocks.queries =
        request.queries.value_or(choice.subgroups * atoms * atom);
    choice.cost = estimate(machine, facts, choice);
  };
  setQueries();

  // Few queries: fewer subgroups, then fewer atoms.
  while (!request.queries && !ShapedType::isDynamic(queries) &&
         choice.blocks.queries / 2 >= queries) {
    if (choice.subgroups > 1 && !request.subgroups)
      choice.subgroups /= 2;
    else if (atoms > 1)
      atoms /= 2;
    else
      break;
    setQueries();
  }
  AttentionSchedule wanted = choice;
  while (!fits(machine, choice.cost)) {
    bool registers = choice.cost.registers > usableRegisters(target);
    if (registers && !request.queries && atoms > 1)
      atoms /= 2;
    else if (!registers && !request.stages && choice.stages > 1)
      --choice.stages;
    else if (!request.keys && choice.blocks.keys / 2 % machine.keyAtom() == 0)
      choice.blocks.keys /= 2;
    else
      return emitError(loc)
             << "schedule q=" << choice.blocks.queries
             << ", k=" << choice.blocks.keys << ", rows=" << choice.blocks.rows
             << ", stages=" << choice.stages << " needs about "
             << choice.cost.registers << " registers a lane and "
             << choice.cost.ldsBytes << " bytes of LDS; target '"
             << target.getChip() << "' has " << usableRegisters(target)
             << " usable registers and " << target.getLdsBytes()
             << " bytes of LDS";
    setQueries();
  }

  if (machine.instr) {
    std::string name = ("matrix instruction " + machine.instr.getName()).str();
    if (failed(checkMultiple(loc, "q", choice.blocks.queries,
                             choice.subgroups * atom,
                             "subgroups times atoms of " + name)) ||
        failed(checkMultiple(loc, "k", choice.blocks.keys, machine.keyAtom(),
                             "atoms of " + name)))
      return failure();
  }

  auto options = remark::RemarkOpts::name("attention-schedule")
                     .category("evo-schedule")
                     .function(function);
  if (wanted.getAttr(loc.getContext()) != choice.getAttr(loc.getContext()))
    remark::missed(loc, options) << remark::reason(
        "q={0}, k={1}, stages={2} needs {3} registers and "
        "{4} bytes of LDS",
        wanted.blocks.queries, wanted.blocks.keys, wanted.stages,
        wanted.cost.registers, wanted.cost.ldsBytes);
  remark::passed(loc, options)
      << remark::metric("rows", choice.blocks.rows)
      << remark::metric("q", choice.blocks.queries)
      << remark::metric("k", choice.blocks.keys)
      << remark::metric("subgroups", choice.subgroups)
      << remark::metric("stages", choice.stages)
      << remark::metric("instruction",
                        machine.instr ? machine.instr.getName().str() : "none")
      << remark::metric("registers", choice.cost.registers)
      << remark::metric("lds_bytes", choice.cost.ldsBytes);
  return choice;
}
