//===- ScheduleMachine.h - A chip as schedules see it ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_SCHEDULEMACHINE_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_SCHEDULEMACHINE_H

#include "AttentionSchedule.h"

#include "Evoformer/Dialect/Tile/IR/GroupProduct.h"
#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::evoformer {

struct ScheduleRequest;

/// A chip as this choice sees it.
struct Machine {
  tile::TargetAttr target;
  /// Null on the CPU.
  tile::MatrixInstrAttr instr;

  /// Tiles are whole atoms whichever operand a dimension belongs to.
  int64_t queryAtom() const {
    return instr ? std::lcm(instr.getM(), instr.getN()) : 1;
  }
  /// Enough in one orientation, padded in the other.
  int64_t smallestQueryAtom() const {
    return instr ? std::min(instr.getM(), instr.getN()) : 1;
  }
  int64_t keyAtom() const {
    return instr ? std::lcm(queryAtom(), instr.getK()) : 1;
  }
  /// Registers that an operand takes beyond one element a lane: A and B may be
  /// replicated over lanes.
  int64_t operandCopies() const {
    return copiesOf(instr.getA().toLaneMap(), instr.getM());
  }
  /// Those of the operand that has fewer.
  int64_t fewestOperandCopies() const {
    return std::min(operandCopies(),
                    copiesOf(instr.getB().toLaneMap(), instr.getN()));
  }
  /// Whether tiles are copied past registers and operands of matrix units read
  /// as they are used, so that few of them are held at once.
  bool streamsOperands() const {
    return instr && instr.getK() > 1 && tile::copiesPastRegisters(target);
  }
  /// Whether those operands are read as matrices, too.
  bool streamsMatrices(const AttentionFacts &facts) const {
    return streamsOperands() && tile::readsMatrices(target, facts.elementType);
  }
  /// Whether they are not, since each is split into terms.
  bool splitsOperands(const AttentionFacts &facts) const {
    return streamsOperands() && !streamsMatrices(facts);
  }

private:
  int64_t copiesOf(const tile::LaneMap &map, int64_t size) const {
    int64_t held = map.getNumRegisters() * target.getSubgroupSize();
    return std::max<int64_t>(1, held / (size * instr.getK()));
  }
};

/// Whether all products of a loop with steps of `other` rows can be executed by
/// `subgroups` together that are side by side along the own side.
inline bool canMultiplyTogether(const Machine &machine,
                                const AttentionFacts &facts, int64_t subgroups,
                                int64_t other) {
  auto canMultiply = [&](int64_t columns, int64_t depth) {
    return tile::findGroupInstr(machine.target, machine.instr, subgroups,
                                columns, depth);
  };
  return machine.instr && llvm::all_of(ArrayRef{facts.depth, facts.valueDepth},
                                       [&](int64_t depth) {
                                         return canMultiply(other, depth) &&
                                                canMultiply(depth, other);
                                       });
}

/// Who executes them, where it pays.
inline tile::ProductScope chooseProductScope(const Machine &machine,
                                             const AttentionFacts &facts,
                                             int64_t subgroups, int64_t other) {
  return std::min(facts.depth, facts.valueDepth) >=
                     machine.target.getGroupDepth() &&
                 canMultiplyTogether(machine, facts, subgroups, other)
             ? tile::ProductScope::Group
             : tile::ProductScope::Subgroup;
}

/// Bytes that a workgroup may copy to its memory for each logit. Above, it
/// takes more subgroups, which share what is copied.
inline constexpr int64_t kCopiedBytes = 2;

/// Whether rows are copied in words of 4 bytes at least: narrower pieces pass
/// through registers, which nothing here counts.
inline bool copiesWords(const AttentionFacts &facts) {
  int64_t bytes = facts.elementType.getIntOrFloatBitWidth() / 8;
  return facts.depth * bytes % 4 == 0 && facts.valueDepth * bytes % 4 == 0;
}

/// Whether `own` queries (or keys) share too little of the rows that are
/// copied.
inline bool copiesMuch(const AttentionFacts &facts, int64_t own) {
  int64_t bytes = facts.elementType.getIntOrFloatBitWidth() / 8;
  return bytes * (facts.depth + facts.valueDepth) > kCopiedBytes * own;
}

/// Workgroups of `lanes` on a processor where a lane takes `registers`; 0
/// where the target does not say what a processor has.
inline int64_t getResident(tile::TargetAttr target, int64_t lanes,
                           int64_t registers) {
  return std::min(target.getRegistersPerProcessor() / (lanes * registers),
                  tile::kMaxResident);
}

/// The rest is the code generator's.
inline int64_t usableRegisters(tile::TargetAttr target) {
  return target.getRegisters() * 15 / 16;
}

inline bool fits(const Machine &machine, const ScheduleCost &cost) {
  return !machine.instr || (cost.registers <= usableRegisters(machine.target) &&
                            cost.ldsBytes <= machine.target.getLdsBytes());
}

inline LogicalResult checkMultiple(Location loc, StringRef name, int64_t value,
                                   int64_t factor, const Twine &why) {
  if (value % factor == 0)
    return success();
  return emitError(loc) << "schedule: " << name << "=" << value
                        << " is not a multiple of " << factor << " (" << why
                        << ")";
}

/// Fails unless the tile of a block's logits is one that layouts can hold.
LogicalResult checkTile(Location loc, const AttentionBlocks &blocks);

/// Fails where products of groups are asked for that the machine does not have
/// for steps of `other` rows.
LogicalResult checkProducts(Location loc, const Machine &machine,
                            const AttentionFacts &facts,
                            const ScheduleRequest &request, int64_t subgroups,
                            int64_t alongOther, int64_t other);

/// The target's machines for an element type, fastest instruction first; none
/// is an error at `loc`.
FailureOr<SmallVector<Machine>>
findMachines(Location loc, tile::TargetAttr target, Type elementType);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_SCHEDULEMACHINE_H
