//===- LDSPlan.h - How a tile lies in workgroup memory ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_LDSPLAN_H
#define EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_LDSPLAN_H

#include "BankConflicts.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"

namespace mlir::evoformer::tile {

/// Why a load goes through workgroup memory, or why it does not.
enum class PromotionReason {
  Shared,        ///< several subgroups read the same elements
  ShortRun,      ///< a lane's accesses to memory would be below four bytes
  Direct,        ///< not shared, and wide enough
  RowVector,     ///< a row vector: the cache serves it
  Own,           ///< the schedule wants it there for the loops that read it
  Together,      ///< instructions of several subgroups read it there
  Ahead,         ///< more than registers can hold of a later iteration
  SharedVector,  ///< a row vector that many registers hold, beside other tiles
  OutsideLoop,   ///< runs once; too few narrow accesses to pay for a barrier
  PartialBytes,  ///< elements are not whole bytes
  NoWiderAccess, ///< narrow, but not wider from workgroup memory either
  Written,       ///< the kernel writes this memory: lanes read what they wrote
  Staged,        ///< on its way to workgroup memory already
  Rare           ///< inside evo_tile.where, which few subgroups run, if any
};
StringRef stringify(PromotionReason reason);
inline bool isPromoted(PromotionReason reason) {
  return reason == PromotionReason::Shared ||
         reason == PromotionReason::ShortRun ||
         reason == PromotionReason::Own ||
         reason == PromotionReason::Together ||
         reason == PromotionReason::Ahead ||
         reason == PromotionReason::SharedVector;
}

/// The kernel's machine, as far as staging is concerned.
struct LDSMachine {
  TargetAttr target;
  int64_t subgroups;

  int64_t getLanes() const { return target.getSubgroupSize(); }
};

/// The dimension along which `memory` is contiguous (the one of the largest
/// tile extent where several qualify), or -1.
int64_t getContiguousDim(MemRefType memory, ArrayRef<int64_t> tileShape);

/// How many subgroups read the same elements of a tile.
int64_t getSharing(const LaneMap &map, int64_t subgroups);

/// The dimension that workgroup memory should hold contiguously for this
/// reader; `sourceDim` is the contiguous one of global memory or -1.
int64_t getWantedDim(RankedTensorType reader, int64_t sourceDim,
                     TargetAttr target);

/// True if the tile can be read by 8x8 matrix reads from a buffer that is
/// contiguous along `contiguousDim`.
bool usesMatrixReads(RankedTensorType reader, int64_t contiguousDim,
                     TargetAttr target);

/// True if lanes can read it across the rows of such a buffer, four at a time
/// (matchTransposedRead).
bool readsAcrossRows(RankedTensorType reader, int64_t contiguousDim,
                     TargetAttr target);

/// Whether each of several subgroups has the whole tile.
bool isSharedByAll(const LaneMap &map, const LDSMachine &machine);

/// Words of a tile that each lane of a workgroup copies.
int64_t getCopiedWords(RankedTensorType tile, const LDSMachine &machine);

/// Instructions of a lane that bring a tile of this layout from `memory` to its
/// registers through workgroup memory, shared by `subgroups`: those that read
/// it there, and those that copy it.
struct StagingCount {
  int64_t reads, copies;
};
StagingCount countStaging(RankedTensorType reader, MemRefType memory,
                          const LDSMachine &machine);

/// True for a row vector in a loop that is worth staging where other tiles are:
/// all subgroups read it, and it takes many registers of a lane to load ahead.
bool isSharedVector(RankedTensorType tile, const LDSMachine &machine);

/// Decides for a load of `tile` from `memory`; `minNarrow` is the number of
/// narrow accesses per lane from which staging pays outside a loop.
PromotionReason decidePromotion(RankedTensorType tile, MemRefType memory,
                                bool inLoop, int64_t minNarrow,
                                const LDSMachine &machine);

/// A buffer in workgroup memory and the cooperative copy that fills it.
struct LDSPlan {
  MemRefType type;
  LaneMap copy; ///< the layout of the copy
  bool transposed = false;
  int64_t copyBytes = 0; ///< bytes of one access of the copy to global memory
  int64_t padding = 0;   ///< bytes added to each row
  Swizzle swizzle;       ///< of the buffer's addresses
  int64_t alignment = 0; ///< bytes, of the buffer's rows and their accesses
  LDSCycles reads, writes;

  int64_t getCost() const { return reads.getCost() + writes.getCost(); }
};

/// Chooses the copy and the buffer of least conflicts for these readers, all
/// of which want `wantedDim` contiguous; the copy's accesses to memory move at
/// most `maxBytes`.
LDSPlan planLDS(ArrayRef<RankedTensorType> readers, int64_t sourceDim,
                int64_t wantedDim, int64_t maxBytes, const LDSMachine &machine);

/// The same for a buffer that must lie like `layout`.
LDSPlan planLDS(ArrayRef<RankedTensorType> readers, const SharedLayout &layout,
                int64_t sourceDim, int64_t maxBytes, const LDSMachine &machine);

/// The same for an engine whose lanes write pieces of `copyBytes` side by side,
/// from memory contiguous along `dim`; nothing where it would take more
/// instructions, or more cycles of workgroup memory, than `through` registers.
std::optional<LDSPlan> planConsecutive(ArrayRef<RankedTensorType> readers,
                                       int64_t dim, int64_t copyBytes,
                                       const LDSPlan &through,
                                       const LDSMachine &machine);

/// A buffer through which a tile changes its layout, with few conflicts; the
/// writer may store it in parts.
LDSPlan planExchange(RankedTensorType writer, RankedTensorType reader,
                     TargetAttr target);

/// Bytes at whose multiples rows start. An access may not reach beyond the
/// row's elements either.
int64_t getRowAlignment(const SharedLayout &layout);

/// Whether products of several subgroups read a tile from workgroup memory, and
/// nothing else does but rarely.
bool isGroupOperand(Value tile);

/// The bytes of one asynchronous copy of a lane, for a tile that stays in
/// memory's order; 0 where the target has none for it.
int64_t getAsyncCopyBytes(LoadOp load, int64_t sourceDim, int64_t wantedDim,
                          TargetAttr target);

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_DIALECT_TILE_TRANSFORMS_LDSPLAN_H
