//===- Handlers.h - The executors that decoding can choose ------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every function returns null where the operation does not exist for the kind;
// the decoder turns that into an error that names the operation.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_SIMULATOR_HANDLERS_H
#define EVOFORMER_LIB_SIMULATOR_HANDLERS_H

#include "Machine.h"

namespace mlir::evoformer::sim {

enum class IntOp {
  Add,
  Sub,
  Mul,
  And,
  Or,
  Xor,
  Shl,
  LShr,
  AShr,
  SDiv,
  UDiv,
  SRem,
  URem,
  SMin,
  SMax,
  UMin,
  UMax,
  MulU24,
  MulI24,
  Ctpop,
  Ctlz,
  Cttz,
  Abs,
  Bitreverse,
  Bswap,
  Fshl,
  Fshr,
  UAddSat,
  USubSat,
  SAddSat,
  SSubSat,
};
enum class FloatOp {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Neg,
  Abs,
  FMA,
  MinNum,
  MaxNum,
  Minimum,
  Maximum,
  Copysign,
  Sqrt,
  Exp,
  Exp2,
  Log,
  Log2,
  Log10,
  Pow,
  Sin,
  Cos,
  Tanh,
  Floor,
  Ceil,
  Rint,
  Roundeven,
  Trunc,
  Round,
  Rcp,
  Rsqrt,
  Exp2Ftz,
  Log2Ftz,
  RcpFtz,
  RsqFtz,
  Med3,
  Ldexp,
};
/// Numbered as the LLVM dialect's ICmpPredicate.
Handler intHandler(IntOp op, Kind kind);
Handler floatHandler(FloatOp op, Kind kind);
Handler icmpHandler(unsigned predicate, Kind kind);
/// The relations that satisfy it: 1 equal, 2 greater, 4 less, 8 unordered.
Handler fcmpHandler(unsigned predicate, Kind kind);

enum class Cast {
  Trunc,
  ZExt,
  SExt,
  FPTrunc,
  FPExt,
  FPToSI,
  FPToUI,
  SIToFP,
  UIToFP,
  FPToSISat,
  FPToUISat
};
Handler castHandler(Cast cast, Kind from, Kind to);
/// Rounds towards zero: f32 to f16.
Handler truncateToHalfHandler();

/// imm counts the elements per lane. The condition is one per lane.
Handler selectHandler(unsigned size, bool scalarCondition);
/// Copies n elements over all lanes, whatever the mask.
Handler moveHandler(unsigned size);
/// Regroups n source elements per lane of size `from` into elements of `to`.
Handler bitcastHandler(unsigned from, unsigned to);
/// imm: first entry of a table of n source offsets, one per result element.
Handler gatherHandler(unsigned size);
/// dst = vector a with n elements, element index in register b (I32 or I64).
Handler extractDynamicHandler(unsigned size, bool index64);
/// dst = vector a with element b inserted at index c.
Handler insertDynamicHandler(unsigned size, bool index64);
/// dst = start b combined with the n elements of a in order.
Handler reduceIntHandler(IntOp op, Kind kind, bool hasStart);
Handler reduceFloatHandler(FloatOp op, Kind kind, bool hasStart);

/// dst = base a + index b * imm64 + imm2.
Handler addressHandler(bool pointer64, unsigned indexSize);

enum class Space { Generic, LDS, Private };
/// n elements per lane at address a + imm64; imm is the promised alignment. c
/// of a load: the register of the condition without which its value is dropped,
/// or UINT32_MAX.
Handler loadHandler(Space space, unsigned size);
Handler storeHandler(Space space, unsigned size);
/// c: one I1 per element and lane; b of a load: the pass-through register.
Handler maskedLoadHandler(Space space, unsigned size);
Handler maskedStoreHandler(Space space, unsigned size);
/// a: index of a Resource; imm is the promised alignment.
Handler bufferLoadHandler(unsigned size);
Handler bufferStoreHandler(unsigned size);
/// Pointer a; value b; dst the old value. imm2: see AtomicOp.
enum class AtomicOp {
  Xchg,
  Add,
  FAdd,
  And,
  Or,
  Max,
  Min,
  UMax,
  UMin,
  FMax,
  FMin
};
Handler atomicHandler(Space space, Kind kind);
/// cp.async: LDS address a, global address b, imm bytes, c bytes read (or
/// UINT32_MAX: all).
Handler asyncCopyHandler();
Handler asyncCommitHandler();
Handler asyncWaitHandler();
/// Load to LDS: imm bytes per lane from global address b + imm64 to the
/// subgroup's LDS base a + imm64 + lane * imm.
Handler loadToLDSHandler();
/// The same from the resource with index b.
Handler bufferLoadToLDSHandler();
/// imm: outstanding vector memory operations allowed; imm2: LDS ones.
Handler waitCountHandler();
/// Releases to the workgroup: LDS stores are complete.
Handler fenceHandler();
/// ds_read_b64_tr_b16: four elements of 16 bits at dst, imm2 bytes apart.
Handler readAcrossRowsHandler();
/// ldmatrix: n matrices, imm = 1 transposes; results at dst in a row.
Handler ldmatrixHandler();
Handler stmatrixHandler();

enum class CrossLane {
  ReadFirstLane,
  ReadLane,
  Bpermute,
  Swizzle,
  DPP,
  Permlane16,
  SwapRows,
  Mbcnt,
  MbcntHi,
  Ballot,
  ShflIdx,
  ShflXor,
  ShflUp,
  ShflDown,
  VoteAny,
  VoteAll,
  VoteUni,
  VoteBallot,
};
Handler crossLaneHandler(CrossLane op);
/// The lane that a shuffle of NVIDIA reads, or none where the lane that is
/// asked for is not there, so that the lane has its own.
std::optional<unsigned> getShuffleSource(CrossLane mode, unsigned lane,
                                         uint32_t by, uint32_t clamp);
Handler permuteBytesHandler(bool amd);

enum class Special {
  ThreadId,
  BlockId,
  BlockDim,
  GridDim,
  LaneId,
  WarpId,
  WarpCount
};
Handler specialHandler(Special special);

/// Matrix product Program::matrices[imm]; imm2: checked for being finite.
Handler matrixHandler();

/// Program::groupMatrices[imm]; imm2: checked for being finite.
Handler groupMatrixHandler();
Handler proxyFenceHandler();

Handler branchHandler();
/// Edges a (true) and b (false), condition c.
Handler condBranchHandler();
Handler switchHandler(unsigned size);
Handler returnHandler();
Handler unreachableHandler();
/// imm: barrier id; b: threads, 0 for all; imm2: 1 if stores need a wait.
Handler barrierHandler();
/// Barrier objects in LDS, which count arrivals and bytes (a: the object; b:
/// how many, or the parity), and copies of boxes that they count.
Handler initBarrierHandler();
Handler expectBytesHandler();
Handler arriveHandler();
Handler waitForArrivalHandler();
Handler copyBoxesHandler();
/// A wave-level synchronisation: memory effects of its lanes are ordered.
Handler nopHandler();

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_LIB_SIMULATOR_HANDLERS_H
