//===- BlockParts.h - Blocks computed part by part --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_BLOCKPARTS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_BLOCKPARTS_H

#include "CostModel.h"

namespace mlir::evoformer {

/// In how many parts the block of a step is computed, one after the other, and
/// how many workgroups are resident then; 0: that is not said.
struct BlockParts {
  int64_t count = 1, resident = 0;
};

/// Bytes that two blocks of copies take: operands of the other side, its
/// statistics, and what has an element for each logit.
int64_t countCopies(const AttentionFacts &facts,
                    const GradientOperands &operands, const GradientCut &cut);

/// Whether rows are copied in the widest pieces. Copies of narrower ones take
/// registers that parts would leave.
bool copiesVectors(const AttentionFacts &facts);

/// A part of an atom leaves registers for more workgroups, which hide what each
/// of them waits for: chosen for the kernel that sums over queries where more
/// are resident with it, and find the memory for two blocks of copies of whole
/// vectors.
BlockParts
chooseBlockParts(const Machine &machine, const AttentionFacts &facts,
                 const GradientOperands &operands, const GradientCut &cut,
                 function_ref<ScheduleCost(const GradientCut &)> costOf);

/// The cut with as many keys of half as many subgroups, which take them in
/// pieces: each piece reads the queries in LDS that the others read, and
/// registers hold logits of one. Blocks of queries are short and copies do not
/// run ahead, so that registers are left for another subgroup. None where
/// subgroups have few registers, which sums would fill.
std::optional<GradientCut> findPieces(const Machine &machine,
                                      const AttentionFacts &facts,
                                      const GradientCut &cut);

/// Whether the kernel's loop takes several blocks of keys at a time.
bool mayCutKeys(const GradientOperands &operands, const AttentionFacts &facts);

/// Whether a kernel whose loop does not is asked for pieces: an error.
LogicalResult refusePieces(Location loc, const ScheduleRequest &request);

/// Whether a kernel whose loop is not that over queries is asked for parts: an
/// error.
LogicalResult refuseParts(Location loc, const ScheduleRequest &request);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_BLOCKPARTS_H
