//===- GradientSchedule.cpp - How gradients are cut -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientSchedule.h"
#include "ScheduleMachine.h"

#include "Evoformer/Dialect/Tile/IR/Limits.h"
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

/// Rows that the code generator reads late: powers of two of at least 64 bytes.
static bool isRegular(const AttentionFacts &facts) {
  int64_t bytes = facts.elementType.getIntOrFloatBitWidth() / 8;
  return llvm::all_of(ArrayRef{facts.depth, facts.valueDepth},
                      [&](int64_t size) {
                        return llvm::isPowerOf2_64(size) && size * bytes >= 64;
                      });
}

/// Whether the loop sums the gradient of a bias: every step has other operands.
static bool sumsBias(GradientKind kind) {
  return kind == GradientKind::Bias || kind == GradientKind::QueryBias;
}

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
    return llvm::divideCeil(elements * bytes * machine.fewestOperandCopies(),
                            4 * lanes);
  };
  bool hasUniform = !machine.target.getUniform().empty();
  // The logits and their gradient, the sums, the operands of the own side, half
  // of the other's, and addresses.
  int64_t sums = kind == GradientKind::Query       ? depth
                 : kind == GradientKind::KeyValue  ? depth + valueDepth
                 : kind == GradientKind::QueryBias ? depth + cut.other
                                                   : cut.other;
  // What is read plain and transposed.
  int64_t transposed = kind == GradientKind::Bias       ? 0
                       : kind == GradientKind::KeyValue ? depth + valueDepth
                                                        : depth;
  // Half of the other side's are under way at once; all of them where every
  // operand is another one in each step and rows are no powers of two.
  int64_t underWay = operand(cut.other * (depth + valueDepth + transposed)) /
                     (sumsBias(kind) && !isRegular(facts) ? 1 : 2);
  int64_t copies = facts.elementType.isF32() ? 2 : 1;
  int64_t tiles = 2,
          addresses = machine.target.getRegisters() / (hasUniform ? 8 : 4);
  // Where tiles are copied past registers and matrix operands read as they are
  // used, atoms of the logits follow each other: fitted to what ptxas 13 gives
  // sm_90 at depth 32, for 16 and 32 rows a subgroup and 16 to 64 of the
  // others.
  if (!sumsBias(kind) && machine.streamsOperands()) {
    tiles = 1;
    if (kind == GradientKind::KeyValue && isRegular(facts))
      underWay /= 4;
    addresses = machine.target.getRegisters() / 8;
  }
  cost.registers = tiles * accumulators(own * cut.other) +
                   copies * accumulators(own * sums) +
                   operand(own * (depth + valueDepth)) +
                   operand(own * cut.other) + underWay + addresses;
  // Each copied plain, and what is read transposed once more.
  auto narrow = [&](int64_t depth, bool isTransposed) {
    return narrowCopyRegisters(machine, depth, bytes,
                               cut.other * depth * (isTransposed ? 2 : 1),
                               cut.subgroups);
  };
  cost.registers += narrow(facts.depth, kind != GradientKind::Bias) +
                    narrow(facts.valueDepth, kind == GradientKind::KeyValue);
  // Rows of the other side, 16 bytes longer against conflicts of the banks, and
  // what is read transposed the other way round.
  auto rows = [&](int64_t depth) { return cut.other * (depth * bytes + 16); };
  auto columns = [&](int64_t depth) {
    return depth * (cut.other * bytes + 16);
  };
  int64_t plain = rows(facts.depth) + rows(facts.valueDepth);
  cost.ldsBytes = plain;
  if (kind != GradientKind::Bias)
    cost.ldsBytes += columns(facts.depth);
  if (kind == GradientKind::KeyValue)
    cost.ldsBytes += columns(facts.valueDepth);
  cost.ldsBytes *= cut.stages;
  cost.leastLdsBytes = plain;
  return cost;
}

/// Keys of an operand, dynamic ones included.
static int64_t getNumKeys(const GradientOperands &operands) {
  return cast<MemRefType>(operands.key.getType()).getDimSize(3);
}

bool evoformer::fitsWithQuery(Location loc, TargetAttr target,
                              const GradientOperands &operands,
                              const AttentionFacts &facts,
                              const ScheduleRequest &request) {
  // More would make tiles of the CPU larger than its caches.
  constexpr int64_t kMostKeys = 256;
  int64_t keys = getNumKeys(operands);
  FailureOr<SmallVector<Machine>> machines =
      findMachines(loc, target, facts.elementType);
  if (failed(machines) || request.keys || request.rows || keys < 1 ||
      keys > kMostKeys)
    return false;
  return llvm::any_of(*machines, [&](const Machine &machine) {
    int64_t subgroups = request.subgroups.value_or(machine.instr ? 4 : 1);
    int64_t own = request.queries.value_or(
        machine.instr ? subgroups * machine.smallestQueryAtom() : 32);
    Cut cut{own, keys, subgroups, request.stages.value_or(1)};
    cut.other = llvm::alignTo(keys, machine.keyAtom());
    return fits(machine,
                estimate(machine, GradientKind::QueryBias, facts, cut));
  });
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
  if (request.rows.value_or(1) != 1 && sumsBias(kind))
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
  // No atoms: half of one, which pads in one orientation.
  constexpr std::pair<int64_t, int64_t> sizes[] = {
      {2, 64}, {2, 32}, {1, 64}, {1, 32}, {1, 16}, {1, 8}, {0, 8}};
  // More atoms of the own side let a fragment of the other serve more often.
  bool hasAllKeys = kind == GradientKind::QueryBias;
  int64_t mostAtoms = sumsBias(kind) ? 1 : target.getOperandReuseCrowded();
  for (const Machine &candidate : *machines) {
    // Without a matrix unit lanes hold whole rows; copies that run ahead take
    // as many registers again.
    bool hasMatrixUnit = candidate.instr && candidate.instr.getK() > 1;
    int64_t mostStages = hasMatrixUnit ? 2 : 1;
    for (int64_t stages = mostStages; stages > 0; --stages) {
      for (auto [atoms, other] : sizes) {
        if (isCut)
          break;
        if (atoms > mostAtoms)
          continue;
        machine = candidate;
        cut.subgroups =
            request.subgroups.value_or(machine.instr ? subgroups : 1);
        cut.stages = request.stages.value_or(machine.instr ? stages : 1);
        cut.own = forcedOwn.value_or(
            !machine.instr ? 32
            : atoms > 0    ? cut.subgroups * atoms * machine.keyAtom()
                           : cut.subgroups * machine.smallestQueryAtom());
        cut.other =
            hasAllKeys
                ? llvm::alignTo(getNumKeys(operands), machine.keyAtom())
                : forcedOther.value_or(llvm::alignTo(other, machine.keyAtom()));
        cost = estimate(machine, kind, facts, cut);
        isCut = fits(machine, cost);
      }
    }
  }
  // More subgroups share what is copied.
  if (isCut && machine.streamsOperands() && !sumsBias(kind) &&
      !request.subgroups && !forcedOwn) {
    int64_t size =
        cast<MemRefType>((ownsKeys ? operands.key : operands.query).getType())
            .getDimSize(3);
    while ((ShapedType::isDynamic(size) || size > cut.own) &&
           cut.subgroups * 2 <= target.getMostSubgroups() &&
           copiesMuch(facts, cut.own)) {
      cut.subgroups *= 2;
      cut.own *= 2;
    }
    cost = estimate(machine, kind, facts, cut);
  }
  // Each step of a bias's sum reads all of its operands anew: the latency of
  // that counts, not the registers that save reads.
  int64_t resident = request.resident.value_or(0);
  int64_t lanes = cut.subgroups * target.getSubgroupSize();
  if (!request.resident && kind == GradientKind::Bias &&
      machine.streamsOperands() && copiesWords(facts) &&
      target.getRegistersPerProcessor() > 0)
    resident =
        std::clamp<int64_t>(target.getEnoughLanes() / lanes, 1, kMaxResident);
  bool isForced = request.isForced();
  StringRef own = ownsKeys ? "k" : "q", other = ownsKeys ? "q" : "k";
  // What is chosen here may spill registers and read in narrow pieces; what a
  // user asks for is refused.
  if (!isCut && (isForced || cost.leastLdsBytes > target.getLdsBytes()))
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
    if (failed(checkMultiple(
            loc, own, cut.own,
            cut.subgroups *
                (forcedOwn ? machine.queryAtom() : machine.smallestQueryAtom()),
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
                        {1, cut.subgroups, 1}, cut.stages, resident);
  remark::passed(loc, remark::RemarkOpts::name("gradient-schedule")
                          .category("evo-schedule")
                          .function(function))
      << remark::metric("gradient", kind == GradientKind::Query  ? "query"
                                    : kind == GradientKind::Bias ? "bias"
                                    : hasAllKeys                 ? "query, bias"
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
