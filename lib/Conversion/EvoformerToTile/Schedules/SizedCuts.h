//===- SizedCuts.h - Cuts that sizes decide between -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_SIZEDCUTS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_SIZEDCUTS_H

#include "GradientSchedule.h"

namespace mlir::evoformer {

/// When a kernel of another cut runs instead of that of the usual one.
enum class CutUse {
  /// Of half the queries: the usual cut has fewer items than the chip has
  /// processors.
  FewItems,
  /// Of half the queries: the usual cut's last block would be less than half
  /// full.
  ShortEnds,
  /// Of more queries: they fill its blocks nearly as well.
  FullBlocks,
};

/// Another cut of a gradient's kernel, for which the host program asks
/// (GradientHost.cpp).
struct SizedCut {
  CutUse use;
  GradientSchedule schedule;
};

/// The cuts that a gradient's kernel may have besides `usual`. Of the query's:
/// those of half the queries, with as many subgroups where rows are known to be
/// one, which leaves few items, and with half of them. Of a bias's: one of
/// several groups of subgroups, which share what they read of keys and values.
/// None where anything is forced. What is not possible is no error.
SmallVector<SizedCut, 2>
chooseSizedCuts(Location loc, StringRef function, tile::TargetAttr target,
                const GradientOperands &operands, const AttentionFacts &facts,
                const ScheduleRequest &request, const GradientSchedule &usual);

/// The cuts of the kernel of attention where nobody knows yet how many queries
/// rows have, by which the host program chooses (HostProgram.cpp): those that
/// rows known to be short would have, of a quarter of the queries and of half,
/// where they serve, and `usual`.
SmallVector<AttentionSchedule, 3>
chooseByQueries(Location loc, StringRef function, tile::TargetAttr target,
                const AttentionFacts &facts, int64_t queries,
                const ScheduleRequest &request, const AttentionSchedule &usual);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_SIZEDCUTS_H
