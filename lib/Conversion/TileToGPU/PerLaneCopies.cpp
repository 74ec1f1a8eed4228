//===- PerLaneCopies.cpp - Copies in groups, lane by lane -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "cp.async", PTX ISA: each lane copies from its own address to its own,
// without a register. cp.async.commit_group closes a group, cp.async.wait_group
// N leaves the last N groups under way.
//
//===----------------------------------------------------------------------===//

#include "CopyEngine.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {
class PerLaneCopies : public CopyEngine {
public:
  explicit PerLaneCopies(CopyEngineAttr engine) : engine(engine) {}

  int64_t getWeight(Operation *op) const override {
    return isa<AsyncGroupOp>(op) ? 1 : 0;
  }
  LogicalResult copy(LaneBuilder &lane, ResolvedCopy &copy) const override;
  void closeGroup(LaneBuilder &lane) const override {
    NVVM::CpAsyncCommitGroupOp::create(lane.builder, lane.loc);
  }
  void wait(LaneBuilder &lane, int64_t underWay) const override {
    NVVM::CpAsyncWaitGroupOp::create(lane.builder, lane.loc, underWay);
  }
  void finish(gpu::GPUFuncOp kernel) const override;

private:
  CopyEngineAttr engine;
};
} // namespace

/// What follows is done only where `condition`, if there is one, holds.
static void onlyIf(LaneBuilder &lane, Value condition) {
  if (!condition)
    return;
  auto branch = scf::IfOp::create(lane.builder, lane.loc, condition);
  lane.builder.setInsertionPointToStart(branch.thenBlock());
}

LogicalResult PerLaneCopies::copy(LaneBuilder &lane, ResolvedCopy &copy) const {
  OpBuilder &builder = lane.builder;
  Location loc = lane.loc;
  AsyncCopyOp op = copy.op;
  RankedTensorType type = op.getTileType();
  auto alignment = op.getAlignment();
  auto accessSource = [&](MemoryAccess::Outside padded) {
    return MemoryAccess(lane, copy.source, copy.map, type.getShape(),
                        op.getSourceIndices(), op.getInBounds(),
                        op.getPadding() ? padded : MemoryAccess::Outside::Clamp,
                        alignment ? std::optional<int64_t>(*alignment)
                                  : std::nullopt);
  };
  // Where nothing is copied, nobody looks at the address: it need not depend on
  // a condition that is the same in every iteration.
  ArrayRef<bool> inBounds = op.getInBounds();
  bool moves = false;
  for (auto [dim, index] : llvm::enumerate(op.getSourceIndices()))
    moves |= (dim >= inBounds.size() || !inBounds[dim]) &&
             !getConstantIntValue(index);
  MemoryAccess source = accessSource(moves ? MemoryAccess::Outside::Check
                                           : MemoryAccess::Outside::Guard);
  MemoryAccess dest(lane, copy.dest, copy.map, type.getShape(),
                    op.getDestIndices(), {}, MemoryAccess::Outside::Check,
                    std::nullopt);
  // The predicate, which copies of a step share, around what lanes differ in.
  onlyIf(lane, op.getPredicate());
  onlyIf(lane, lane.isFirstHolder(copy.map));
  for (const MemoryAccess::Piece &piece : source.getPieces()) {
    MemoryAccess::Address src = source.getAddress(piece);
    MemoryAccess::Address dst = dest.getAddress(piece);
    if (dst.never)
      continue;
    int64_t bytes = piece.size() * copy.source.elementBytes;
    OpBuilder::InsertionGuard inner(builder);
    onlyIf(lane, dst.valid);
    if (engine.copies(bytes) && bytes <= source.getAlignment(piece) &&
        bytes <= dest.getAlignment(piece)) {
      Value count;
      if (src.valid)
        count = arith::SelectOp::create(builder, loc, src.valid,
                                        lane.constant(bytes), lane.constant(0));
      NVVM::CpAsyncOp::create(builder, loc, dst.pointer, src.pointer, bytes,
                              bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                          : NVVM::LoadCacheModifierKind::CA,
                              count);
      continue;
    }
    // Of a size that the engine lacks: through a register.
    src = accessSource(MemoryAccess::Outside::Check).getAddress(piece);
    auto vectorType =
        VectorType::get({(int64_t)piece.size()}, type.getElementType());
    Value fill;
    if (src.valid)
      fill = arith::ConstantOp::create(builder, loc,
                                       builder.getZeroAttr(vectorType));
    Value value = loadPiece(builder, loc, vectorType, src,
                            source.getAlignment(piece), fill);
    storePiece(builder, loc, value, dst, dest.getAlignment(piece));
  }
  return success();
}

void PerLaneCopies::finish(gpu::GPUFuncOp kernel) const {
  kernel.walk([](scf::ForOp loop) { mergeBranches(*loop.getBody()); });
}

std::unique_ptr<CopyEngine>
mlir::evoformer::tile::makePerLaneCopies(CopyEngineAttr engine) {
  return std::make_unique<PerLaneCopies>(engine);
}
