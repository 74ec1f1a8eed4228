//===- LoopPipeliner.h - Copies ahead of compute ----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_LOOPPIPELINER_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_LOOPPIPELINER_H

#include "StagedLoop.h"

namespace mlir::evoformer::tile {

/// How far copies run ahead, and in how many slots.
struct PipelineShape {
  int64_t stages = 2;
  /// Slots of a ring of asynchronous copies.
  int64_t asyncSlots = 3;
  /// The same of stores of loaded tiles. With one, a barrier frees it at an
  /// iteration's end, and the next tiles are under way in registers.
  int64_t registerSlots = 1;
  /// Loads to registers come before the barrier, which keeps schedulers from
  /// sinking them to their uses; where registers are scarce they should.
  bool loadsFirst = true;
  /// Iterations are long beside what copies take, which then may be issued
  /// behind the barrier, and those of the first one as early as they can be.
  bool isLong = false;
  /// Fences keep loads where they are issued.
  bool fences = false;
  /// Only larger tiles are worth a fence where they are prefetched, in 32-bit
  /// registers of a lane: it keeps reads of workgroup memory in order, too.
  int64_t unfencedRegisters = 0;

  /// Iterations that asynchronous copies run ahead.
  int64_t getDistance() const { return stages - 1; }
  /// True if the copies of an iteration are issued before it waits: the wait
  /// then leaves them pending. Otherwise the barrier after the wait frees the
  /// slot that they fill.
  bool issuesFirst() const { return stages == 2 && !isLong; }
  /// A second barrier frees the slot where the ring has none to spare.
  bool needsSecondBarrier() const {
    return issuesFirst() && asyncSlots < getDistance() + 2;
  }
};

/// The type of `slots` buffers in a row.
MemRefType getRingType(MemRefType buffer, int64_t slots);

/// Rewrites the loop; buffers of several slots become rings.
void pipelineLoop(StagedLoop &staged, const PipelineShape &shape);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_LOOPPIPELINER_H
