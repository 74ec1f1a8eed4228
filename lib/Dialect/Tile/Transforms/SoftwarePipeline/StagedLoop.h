//===- StagedLoop.h - What of a loop can run ahead --------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_STAGEDLOOP_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_STAGEDLOOP_H

#include "Evoformer/Dialect/Tile/IR/Pressure.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::evoformer::tile {

/// A loop, cut into what fills workgroup memory and what computes. The ops of
/// each list are in the order of the loop's body.
struct StagedLoop {
  scf::ForOp loop;

  /// Buffers filled by asynchronous copies, and by stores of tiles that were
  /// loaded to registers.
  SmallVector<AllocLDSOp> asyncBuffers, registerBuffers;
  SmallVector<AsyncCopyOp> copies;
  SmallVector<StoreOp> stores;

  /// What the copies need: their indices and predicates.
  SmallVector<Operation *> copySlice;
  /// What the stores need: first indices and loads, then what depends on the
  /// loaded tiles.
  SmallVector<Operation *> loadSlice, storeSlice;
  /// A load straight to registers that is issued an iteration early.
  struct Prefetch {
    LoadOp load;
    /// What it needs, itself included.
    SmallVector<Operation *> slice;
    /// The op of the body after which its registers are free again.
    Operation *lastUse;
  };
  SmallVector<Prefetch> prefetches;
  /// The other direct loads, and what they need: they can be issued first.
  SmallVector<Operation *> directSlice;

  /// Barriers, commits and waits that order the above.
  SmallVector<Operation *> synchronisation;

  bool hasBuffers() const {
    return !asyncBuffers.empty() || !registerBuffers.empty();
  }
};

/// True for a division whose divisor is the same in every iteration of `loop`:
/// what divides in one may divide in any.
bool isFixedDivision(Operation *op, scf::ForOp loop);

/// The 32-bit registers of a lane that prefetched tiles may take: all of them,
/// and together with tiles that products multiply, whose latency nothing hides.
struct PrefetchBudget {
  PrefetchBudget(int64_t registers) : PrefetchBudget(registers, registers) {}
  PrefetchBudget(int64_t registers, int64_t withFactors)
      : registers(registers), withFactors(std::max(registers, withFactors)) {}

  int64_t registers, withFactors;
};

/// Takes the loop apart. Fails, with `reason` set, where copies cannot run
/// ahead; a loop without buffers is no failure. Direct loads are prefetched
/// within the budget.
FailureOr<StagedLoop> analyseLoop(scf::ForOp loop, PrefetchBudget budget,
                                  std::string &reason);

/// True if the loop's estimated pressure leaves a quarter of the target's
/// registers for tiles under way.
bool hasRoom(scf::ForOp loop, TargetAttr target);

/// Whether subgroups hand tiles over amid an iteration.
bool handsTilesOver(scf::ForOp loop);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_STAGEDLOOP_H
