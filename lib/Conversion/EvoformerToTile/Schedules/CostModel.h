//===- CostModel.h - What a kernel's loop takes of a chip -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_COSTMODEL_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_COSTMODEL_H

#include "../Kernels/GradientKernels.h"
#include "ScheduleMachine.h"

namespace mlir::evoformer {

/// The loop of a kernel as its cost sees it. A workgroup owns some rows of one
/// side (queries or keys), which its subgroups share; a step takes rows of the
/// other side, and makes the logits of both.
struct LoopShape {
  /// Rows of one subgroup whose logits are computed at a time, and of a step.
  int64_t own, other;
  /// Along the own side, and along the other one.
  int64_t subgroups, alongOther = 1;
  /// Blocks that lie in LDS at once.
  int64_t slots;
  /// Attentions (rows of the batch) of a step; `own` has them all.
  int64_t rows = 1;

  // Elements that one row of a side has, padded to atoms.
  /// Sums of f32, and operands, of the own side.
  int64_t sums, ownOperands;
  /// Operands of the other side.
  int64_t otherOperands;

  /// The same that a step copies to LDS.
  int64_t copiedBiasBytes = 0;

  /// Operands of the own side lie in LDS.
  bool ownInLDS = false;
  /// Those of groups read the other side's operands there, and the own side's
  /// if they lie there.
  tile::ProductScope products = tile::ProductScope::Subgroup;
  /// Each step copies operands of the own side there, too.
  bool copiesOwn = false;
  /// Matrices of the other side that are copied to LDS: along their rows, and
  /// transposed.
  struct Copied {
    int64_t depth;
    bool plain, transposed;
  };
  SmallVector<Copied, 2> copied;

  /// Registers that an operand takes beyond one element a lane.
  int64_t operandCopies;
  /// Tiles of logits that are whole in f32 at once.
  int64_t logitTiles;
  /// Bytes of biases that are held for each logit.
  int64_t biasBytes = 0;
  /// The code generator holds one in so many of the other side's operands at
  /// once, and for addresses and statistics one in so many registers of a lane.
  int64_t otherOperandShare, addressShare;
  /// Registers of loops besides that over blocks.
  int64_t loopRegisters = 0;
  /// It holds one in so many of the sums twice; 0: none.
  int64_t twiceShare = 0;
  /// Whether loads to registers run ahead of the step as well.
  bool loadsAhead = false;
  /// Elements of a row of the other side that each step sums as well, over the
  /// own side: the subgroups share these rows, exchange the gradients of logits
  /// through LDS, and all read operands of that many elements of each own row
  /// there.
  int64_t otherSums = 0;
};

/// The loop of the forward kernel.
LoopShape getAttentionLoop(const Machine &machine, const AttentionFacts &facts,
                           const AttentionSchedule &schedule);

/// That of a kernel of gradients which owns `own` queries or keys.
struct GradientCut {
  int64_t own, other, subgroups, stages;
  /// Subgroups along the other side.
  int64_t alongOther = 1;
  tile::OwnOperands ownOperands = tile::OwnOperands::Registers;
  tile::ProductScope products = tile::ProductScope::Subgroup;
  /// Of the kernel that owns keys: which gradients it sums.
  bool sumsKey = true, sumsValue = true;
  /// Of its block of keys, see AttentionBlocks.
  int64_t pieces = 1;
};
LoopShape getGradientLoop(const Machine &machine, GradientKind kind,
                          const AttentionFacts &facts, const GradientCut &cut);

/// The 32-bit registers of a lane that are live at once, and the bytes of LDS;
/// none where there are no matrix instructions.
ScheduleCost estimate(const Machine &machine, const AttentionFacts &facts,
                      const LoopShape &loop);

/// Whether rows are such as the code generator reads late: powers of two of
/// some bytes.
bool isRegular(const AttentionFacts &facts);

/// Bytes of a bias or capture that has an element for each logit of a tile; 0
/// for others.
inline int64_t getLogitBytes(const Bias &bias) {
  if (bias.broadcast[kBiasQ] || bias.broadcast[kBiasK])
    return 0;
  return getElementBytes(
      cast<MemRefType>(bias.memory.getType()).getElementType());
}

/// Whether the loop sums the gradient of a bias: every step has other operands.
inline bool sumsBias(GradientKind kind) {
  return kind == GradientKind::Bias || kind == GradientKind::QueryBias;
}

/// Whether each SIMD has two subgroups of a loop whose copies do not run ahead.
bool leavesCompany(const Machine &machine, int64_t subgroups, ScheduleCost once,
                   bool isForward = false);

/// Whether copies that run ahead cost a second subgroup on each SIMD, which
/// hides what loads take as well: `cost` is theirs, `once` that without them.
bool costsCompany(const Machine &machine, int64_t subgroups,
                  const ScheduleCost &cost, const ScheduleCost &once,
                  bool isForward);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_COSTMODEL_H
