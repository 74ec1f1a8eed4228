//===- HalfSchedule.h - Cuts of fewer queries -------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_HALFSCHEDULE_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_HALFSCHEDULE_H

#include "GradientSchedule.h"

namespace mlir::evoformer {

/// When a kernel of half the queries runs instead of the usual one.
enum class HalfUse {
  /// Items of the usual one are fewer than the chip's processors.
  FewItems,
  /// The usual one's last block would be less than half full.
  ShortEnds,
};

/// Another cut of the query's gradient, for which the host program asks
/// (GradientHost.cpp).
struct HalfSchedule {
  HalfUse use;
  GradientSchedule schedule;
};

/// The cuts of half the queries that the kernel of the query's gradient may
/// have besides `usual`: with as many subgroups where rows are known to be one,
/// which leaves few items, and with half of them. None where anything is
/// forced. What is not possible is no error.
SmallVector<HalfSchedule, 2>
chooseHalfSchedules(Location loc, StringRef function, tile::TargetAttr target,
                    const GradientOperands &operands,
                    const AttentionFacts &facts, const ScheduleRequest &request,
                    const GradientSchedule &usual);

/// The cuts of the kernel of attention where nobody knows yet how many queries
/// rows have, by which the host program chooses (HostProgram.cpp): those that
/// rows known to be short would have, of a quarter of the queries and of half,
/// where they serve, and `usual`.
SmallVector<AttentionSchedule, 3>
chooseByQueries(Location loc, StringRef function, tile::TargetAttr target,
                const AttentionFacts &facts, int64_t queries,
                const ScheduleRequest &request, const AttentionSchedule &usual);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_HALFSCHEDULE_H
