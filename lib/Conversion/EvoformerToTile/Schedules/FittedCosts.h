//===- FittedCosts.h - The cost model's fitted constants --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No document says how many registers a compiler gives a loop. Each table here
// was fitted to what the compilers named above it gave these kernels, and is to
// be fitted anew where they change. A share of 8 means one in 8.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_FITTEDCOSTS_H
#define EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_FITTEDCOSTS_H

#include <cstdint>

namespace mlir::evoformer::fitted {

/// Of the other side's operands, what the forward loop holds at once. It
/// depends on how far the code generator can move their loads.
/// LLVM 22, gfx942 and gfx1100, depths 1 to 192.
struct HeldOperands {
  /// Matrix units, rows that are powers of two of at least `regularBytes`.
  int64_t ofRegularRows;
  /// One stage: loads may move to their use.
  int64_t ofOneStage;
  /// Copies that run ahead stand between loads and use.
  int64_t ofStages;
};
inline constexpr HeldOperands kForwardHeld = {8, 4, 1};
inline constexpr int64_t kRegularBytes = 64;

/// Streamed rows of up to so many bytes, one row of LDS banks, are held as
/// regular ones are. ptxas 13, sm_90 on an H200, depths 8 to 256.
inline constexpr int64_t kShortStreamedBytes = 128;

/// Of a lane's registers, what addresses and statistics take.
struct AddressShares {
  /// The chip has registers that all lanes share; it has none.
  int64_t withUniform, without;
  /// Operands are streamed past registers, and multiplied where they lie.
  int64_t streamed, ofGroups;
};
/// LLVM 22, gfx942 and gfx1100, depths 1 to 192; streamed: ptxas 13, sm_90,
/// what it gives without spills at depths 32 to 128, of groups 48 to 128.
inline constexpr AddressShares kForwardAddresses = {8, 4, 16, 10};
/// The forward loop with products of groups holds one in so many sums twice. As
/// above.
inline constexpr int64_t kTwiceOfGroups = 8;
/// LLVM 22, gfx942 and gfx1100, as below; streamed: ptxas 13, sm_90, depth 32,
/// 16 and 32 rows a subgroup and 16 to 64 of the other side.
inline constexpr AddressShares kGradientAddresses = {8, 4, 8, 8};

/// What a gradient's kernel keeps of each loop that it has besides that over
/// blocks which all are alike: over the rest of a window's blocks, and over
/// what shares keys where what it sees of them differs; and of a step of such a
/// kernel that no loop is around. Much of it are scalars that the code
/// generator spills to lanes. LLVM 22, gfx1100 and gfx1201, depths 8 to 40.
inline constexpr int64_t kLoopRegisters = 32;

/// Of the other side's operands, what a gradient's loop holds at once.
/// LLVM 22, gfx942 and gfx1100: what leaves nothing in scratch memory up to a
/// depth of 64.
struct HeldGradientOperands {
  /// Half are under way at once.
  int64_t usually;
  /// Every step has other operands, and rows are no powers of two.
  int64_t ofIrregularBias;
  /// Streamed past registers: atoms of the logits follow each other. ptxas 13,
  /// sm_90, depths 24 to 128.
  int64_t ofStreamed;
};
inline constexpr HeldGradientOperands kGradientHeld = {2, 1, 8};

/// Tiles of logits in f32 at once: these and their gradient. Streamed, atoms
/// follow each other: ptxas 13, sm_90, as above.
inline constexpr int64_t kGradientTiles = 2, kStreamedGradientTiles = 1;

/// What the terms of operands take where products are split, beside a
/// subgroup's own operands of one atom. ptxas 13, sm_90, f32: gradients of 207
/// estimated registers and more spill at depths 40 to 64, and those of 199 and
/// fewer do not; an H200 took 671 and 666 us for dQ at 64 and dK and dV at 48,
/// and 582 and 587 with own operands in workgroup memory.
inline constexpr int64_t kTermRegisters = 32;

/// Where loads run ahead through registers: a bias of 16 bits for each two
/// logits, and of operands that lanes replicate all but what is held, of one in
/// so many. LLVM 22, gfx1100.
inline constexpr int64_t kLogitsOfAheadBias = 2, kAheadOperands = 3;

/// Of more than half of a lane's registers that are estimated for a loop whose
/// copies do not run ahead, what counts, in sixteenths: with these, loops that
/// are left without such copies took half or less. LLVM 22, gfx90a, gfx942 and
/// gfx950: up to a depth of 64 the forward loop took 14 to 15, or in f32 14,
/// gradients 12 to 15; at 72, of 313 that are estimated, forward took 304.
struct TakenWithoutAhead {
  int64_t forward, gradient;
};
inline constexpr TakenWithoutAhead kTakenWithoutAhead = {14, 13};

/// Bytes of biases a logit that the forward loop holds where it does not stream
/// operands. LLVM 22, gfx942 and gfx1100.
inline constexpr int64_t kHeldBiasBytes = 2;

/// From which depth on storing the gradients of logits, and reading them again
/// twice, takes less time than two more recomputations. H200, 256 rows of 1024
/// queries and keys, 4 heads, bf16: at 96 5.2 ms instead of 6.2, at 128 5.2
/// instead of 6.3, at 64 as much.
inline constexpr int64_t kSlabDepth = 96;

/// Up to which depth a query's gradient by products of several subgroups takes
/// one atom of queries a subgroup and four resident workgroups, not two and
/// two, where depths are whole steps of the instruction. H200, 64 rows of 1024
/// queries and keys, 4 heads, bf16: 249 instead of 262 us at 64, 228 instead of
/// 244 at 48, but 328 instead of 237 at 40 and 345 instead of 323 at 80.
inline constexpr int64_t kMostSingleAtomDepth = 64;

/// Up to which depth one kernel makes the gradients of query, key and value
/// where lanes' registers have them: LLVM 22, gfx90a, gfx942 and gfx950,
/// modelled cycles a logit, 0.31, 0.20 and 0.21 at 32 instead of 0.44, 0.30 and
/// 0.25, 0.63, 0.35 and 0.37 at 64 instead of 0.88, 0.44 and 0.41.
inline constexpr int64_t kMostHeadDepth = 64;

/// Up to which depth attention and the query's gradient have kernels of fewer
/// queries, and of how many blocks at most the latter's of half runs. H200, 4
/// heads, bf16, dQ at 32: 228 instead of 242 us for 391 rows of 391, 426
/// instead of 432 for 128 of 1031, which is 17 blocks, but 911 instead of 902
/// for 128 of 1550, 25 blocks.
inline constexpr int64_t kMostHalfDepth = 32, kMostHalves = 19;

/// At which depth of tiles groups of subgroups share what a bias's gradient
/// reads of keys, and how many of them. From so many of their blocks on they do
/// where these hold at most 7/6 of the queries that blocks of one group would
/// hold, and fewer where they hold as many. H200, 4 heads, bf16, at 64, blocks
/// of 192 and of 64 queries, us: 91 and 94 for 128 rows of 384, 144 and 136 of
/// 512 (9/8), 253 and 246 of 640 (6/5), 321 and 365 of 832 (15/13), 475 and 527
/// of 1000 (9/8); 491 and 567 for 256 rows of 768.
inline constexpr int64_t kSharedKeysDepth = 64, kSharedKeysGroups = 3;
inline constexpr int64_t kManyBlocks = 4, kMostHeld = 7, kMostHeldOf = 6;

/// How many ops of a pair's own a score may have in the kernel of whole heads.
/// H200, 384 rows of 384 at 32: ALiBi's five take 0.67 instead of 0.81 ms for
/// the whole backward pass; of 23 the loop keeps registers in scratch memory.
inline constexpr int64_t kMostHeadScoreOps = 8;

} // namespace mlir::evoformer::fitted

#endif // EVOFORMER_LIB_CONVERSION_EVOFORMERTOTILE_SCHEDULES_FITTEDCOSTS_H
