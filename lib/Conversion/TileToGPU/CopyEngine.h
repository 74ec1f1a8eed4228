//===- CopyEngine.h - Asynchronous copies of a target -----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_CONVERSION_TILETOGPU_COPYENGINE_H
#define EVOFORMER_LIB_CONVERSION_TILETOGPU_COPYENGINE_H

#include "MemoryAccess.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::evoformer::tile {

/// An asynchronous copy with the memory on both sides.
struct ResolvedCopy {
  AsyncCopyOp op;
  LaneMap map;
  Memory source, dest;
};

/// How the asynchronous copies of a target are lowered: one class an engine.
class CopyEngine {
public:
  virtual ~CopyEngine() = default;

  /// By how much `op` moves the count on which the engine's waits rely.
  virtual int64_t getWeight(Operation *op) const = 0;
  virtual LogicalResult copy(LaneBuilder &lane, ResolvedCopy &copy) const = 0;
  virtual void closeGroup(LaneBuilder &lane) const = 0;
  /// Waits until at most so much of that count is under way.
  virtual void wait(LaneBuilder &lane, int64_t underWay) const = 0;
  /// Called once all of a kernel that copies is lowered.
  virtual void finish(gpu::GPUFuncOp kernel) const {}
};

/// Null where the target has no engine.
std::unique_ptr<CopyEngine> makeCopyEngine(TargetAttr target);

/// Each lane names both addresses of its pieces; groups of copies complete in
/// order.
std::unique_ptr<CopyEngine> makePerLaneCopies(CopyEngineAttr engine);

/// Each lane names its source, the subgroup one destination; a count of the
/// subgroup's accesses to memory tells what is complete.
std::unique_ptr<CopyEngine> makeConsecutiveCopies(CopyEngineAttr engine);

/// The elements of a piece; `fill` where its address is not valid.
Value loadPiece(OpBuilder &builder, Location loc, VectorType type,
                const MemoryAccess::Address &address, int64_t alignment,
                Value fill);
void storePiece(OpBuilder &builder, Location loc, Value value,
                const MemoryAccess::Address &address, int64_t alignment);

/// Copies of a step are branches on one condition: they become one branch, with
/// what computes addresses between them before it. With `condition` only those
/// on that.
void mergeBranches(Block &block, Value condition = {});

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_LIB_CONVERSION_TILETOGPU_COPYENGINE_H
