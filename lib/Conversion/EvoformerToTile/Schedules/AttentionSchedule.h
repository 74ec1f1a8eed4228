//===- AttentionSchedule.h - How attention is cut -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_ATTENTIONSCHEDULE_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_ATTENTIONSCHEDULE_H

#include "../AttentionProblem.h"
#include "../Kernels/GradientKernels.h"

namespace mlir::evoformer {

/// What a user forces; what is absent is chosen.
struct ScheduleRequest {
  std::optional<int64_t> rows, queries, keys, subgroups, stages, resident;
  /// Parts of a block of queries, of the kernel that sums over them.
  std::optional<int64_t> steps;
  /// Of a block of keys, of the same kernel.
  std::optional<int64_t> pieces;
  /// Subgroups along what the kernel does not own.
  std::optional<int64_t> subgroupsAlongOther;
  std::optional<tile::OwnOperands> own;
  std::optional<tile::ProductScope> products;
  /// What remarks call a cut beside the usual one; nobody forces it.
  StringRef alternative = {};

  bool isForced() const {
    return rows || queries || keys || subgroups || stages || resident ||
           steps || pieces || own || products;
  }
};

/// What a user forces of each kernel that has a schedule of its own.
struct ScheduleRequests {
  ScheduleRequest attention, queryGrad, keyValueGrad, biasGrad, weights;

  bool isForced() const {
    return attention.isForced() || queryGrad.isForced() ||
           keyValueGrad.isForced() || biasGrad.isForced() || weights.isForced();
  }
  const ScheduleRequest &of(GradientKind kind) const;
  /// The most rows that an item of any kernel takes at a time.
  int64_t getMostRows() const;
};

/// Reads `v1:rows=1,q=128,k=64,subgroups=4x1,stages=2,resident=3,steps=4,
/// own=lds`, any subset of it, or nothing at all: for every kernel. With the
/// name of a kernel before it, `query_grad:v1:q=64`, it is for that one; a
/// semicolon separates several. A mistake is an error at `loc`.
FailureOr<ScheduleRequests> parseSchedules(Location loc, StringRef text);

/// What the kernel's cut needs of a lane and of a workgroup.
struct ScheduleCost {
  int64_t registers = 0, ldsBytes = 0;
  /// Of the registers, those of one copy of the sums, which are held all the
  /// time.
  int64_t sumRegisters = 0;
  /// Registers besides, without which loads cannot run as far ahead.
  int64_t aheadRegisters = 0;
  /// Of LDS, where tiles that are read in two orders lie there once.
  int64_t leastLdsBytes = 0;
};

/// A chosen cut.
struct AttentionSchedule {
  AttentionBlocks blocks;
  int64_t subgroups = 1, stages = 1;
  /// Workgroups on a processor; 0: the code generator's choice.
  int64_t resident = 0;
  /// Where queries lie.
  tile::OwnOperands own = tile::OwnOperands::Registers;
  tile::ProductScope products = tile::ProductScope::Subgroup;
  ScheduleCost cost;

  tile::ScheduleAttr getAttr(MLIRContext *context) const;
};

/// The cut of attention for a target: what `request` forces, and for the rest
/// the largest tile that fits. `queries` is Sq or dynamic. What cannot be done
/// is an error at `loc`; remarks tell what was chosen.
FailureOr<AttentionSchedule> chooseSchedule(Location loc, StringRef function,
                                            tile::TargetAttr target,
                                            const AttentionFacts &facts,
                                            int64_t queries,
                                            const ScheduleRequest &request);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_ATTENTIONSCHEDULE_H
