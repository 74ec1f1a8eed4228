//===- HalfSchedule.h - Workgroups of half the queries ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_HALFSCHEDULE_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_HALFSCHEDULE_H

#include "GradientSchedule.h"

namespace mlir::evoformer {

/// A second cut of the kernel for the query's gradient, of half the queries, or
/// none: rows that are known to be one leave too few items for a chip, and
/// others a last block that may be less than half full, for which subgroups are
/// halved as well. Nothing is forced. The host program chooses
/// (GradientHost.cpp).
std::optional<GradientSchedule>
chooseHalfSchedule(Location loc, StringRef function, tile::TargetAttr target,
                   const GradientOperands &operands,
                   const AttentionFacts &facts, const ScheduleRequest &request,
                   const GradientSchedule &usual);

/// A second cut of the kernel of attention, of half the queries and subgroups,
/// for rows without more of them, or none. The host program chooses
/// (HostProgram.cpp).
std::optional<AttentionSchedule>
chooseHalfSchedule(Location loc, StringRef function, tile::TargetAttr target,
                   const AttentionFacts &facts, int64_t queries,
                   const ScheduleRequest &request,
                   const AttentionSchedule &usual);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_HALFSCHEDULE_H
