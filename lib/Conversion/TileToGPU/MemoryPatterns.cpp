//===- MemoryPatterns.cpp - Memory on lanes ---------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyEngine.h"
#include "MatrixRead.h"
#include "MemoryAccess.h"
#include "Patterns.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

static std::optional<int64_t> getAlignment(std::optional<uint64_t> alignment) {
  if (!alignment)
    return std::nullopt;
  return static_cast<int64_t>(*alignment);
}

static LogicalResult unresolved(Operation *op) {
  return op->emitOpError("workgroup memory must come from evo_tile.alloc_lds "
                         "through subviews with static strides, which start "
                         "swizzled memory at multiples of its period");
}

/// What reads beyond the memory's sizes give: the op's padding, or any element.
template <typename OpTy> static MemoryAccess::Outside getOutside(OpTy op) {
  return op.getPadding() ? MemoryAccess::Outside::Check
                         : MemoryAccess::Outside::Clamp;
}

/// Where the lanes of this subgroup write what nobody reads.
static Value getSpare(LaneBuilder &lane, const Memory &memory) {
  Value offset =
      lane.add(lane.mul(lane.context.subgroup, lane.constant(kSpareBytes)),
               lane.constant(*lane.context.spareLDS));
  return LLVM::GEPOp::create(
      lane.builder, lane.loc, memory.base.getType(), lane.builder.getI8Type(),
      memory.base, ValueRange{offset}, LLVM::GEPNoWrapFlags::inbounds);
}

/// The vector of a piece, of what the lane holds in registers.
static Value assemble(LaneBuilder &lane, ArrayRef<LaneElement> held,
                      const MemoryAccess::Piece &piece) {
  SmallVector<LaneElement> parts;
  for (int64_t reg : piece)
    parts.push_back(held[reg]);
  return lane.assemble(parts);
}

namespace {

struct LoadPattern : KernelPattern<LoadOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LaneBuilder lane(rewriter, loc, kernel);
    FailureOr<Memory> memory = resolveMemory(lane, op.getSource());
    if (failed(memory))
      return unresolved(op);
    RankedTensorType type = op.getTileType();
    LaneMap map = mapOf(op.getResult());
    SmallVector<Value> indices = startAt(lane, *memory, op.getIndices(),
                                         type.getShape(), op.getInBounds());
    auto matrices = readMatrices(lane, *memory, map, type, indices);
    if (!matrices)
      matrices = readAcrossRows(lane, *memory, map, type, indices);
    if (matrices) {
      rewriter.replaceOpWithMultiple(
          op, {lane.pack(*matrices, map.getVectorSize())});
      return success();
    }
    MemoryAccess access(lane, *memory, map, type.getShape(), indices,
                        op.getInBounds(), getOutside(op),
                        ::getAlignment(op.getAlignment()));
    Type elementType = type.getElementType();
    TypedAttr padding = op.getPaddingAttr();
    if (!padding)
      padding = rewriter.getZeroAttr(elementType);
    SmallVector<LaneElement> elements(map.getNumRegisters());
    for (const MemoryAccess::Piece &piece : access.getPieces()) {
      auto vectorType = VectorType::get({(int64_t)piece.size()}, elementType);
      MemoryAccess::Address address = access.getAddress(piece);
      Value fill, value;
      if (address.never || address.valid)
        fill = arith::ConstantOp::create(
            rewriter, loc,
            DenseElementsAttr::get(vectorType, Attribute(padding)));
      if (!address.never)
        value = loadPiece(rewriter, loc, vectorType, address,
                          access.getAlignment(piece), fill);
      for (auto [i, reg] : llvm::enumerate(piece))
        elements[reg] = {value ? value : fill, (int64_t)i};
    }
    fillTwins(map, elements);
    rewriter.replaceOpWithMultiple(op,
                                   {lane.pack(elements, map.getVectorSize())});
    return success();
  }

private:
  /// Registers that hold the same element as another one share its value.
  static void fillTwins(const LaneMap &map,
                        MutableArrayRef<LaneElement> elements) {
    for (int64_t r = 0, e = elements.size(); r < e; ++r)
      for (int64_t other = 0; !elements[r].first && other < e; ++other)
        if (elements[other].first &&
            map.registerOffset(other) == map.registerOffset(r))
          elements[r] = elements[other];
  }
};

struct StorePattern : KernelPattern<StoreOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LaneBuilder lane(rewriter, loc, kernel);
    FailureOr<Memory> memory = resolveMemory(lane, op.getDest());
    if (failed(memory))
      return unresolved(op);
    LaneMap map = mapOf(op.getValue());
    // A branch in a loop keeps schedulers from mixing what lies before and
    // after it, and LLVM sinks compute below it.
    bool writesSpare = memory->isLDS && kernel.spareLDS &&
                       op->getParentOfType<LoopLikeOpInterface>();
    MemoryAccess access(lane, *memory, map, op.getTileType().getShape(),
                        op.getIndices(), op.getInBounds(),
                        writesSpare ? MemoryAccess::Outside::Guard
                                    : MemoryAccess::Outside::Check,
                        ::getAlignment(op.getAlignment()));
    SmallVector<LaneElement> held = lane.elementsOf(adaptor.getValue());
    Value first = lane.isFirstHolder(map);
    for (const MemoryAccess::Piece &piece : access.getPieces()) {
      MemoryAccess::Address address = access.getAddress(piece);
      if (address.never)
        continue;
      Value value = assemble(lane, held, piece);
      OpBuilder::InsertionGuard guard(rewriter);
      // Lanes that have nothing to write do so behind a buffer's end.
      Value valid =
          lane.andI(address.isInBuffer() ? Value() : address.valid, first);
      if (valid && writesSpare) {
        address.pointer = arith::SelectOp::create(
            rewriter, loc, valid, address.pointer, getSpare(lane, *memory));
      } else if (valid) {
        auto branch = scf::IfOp::create(rewriter, loc, valid);
        rewriter.setInsertionPointToStart(branch.thenBlock());
      }
      storePiece(rewriter, loc, value, address, access.getAlignment(piece));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// A subgroup writes and reads its own part of a buffer, or waits for all.
struct ExchangePattern : KernelPattern<ExchangeOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ExchangeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    SmallVector<Value> origin(type.getRank(),
                              arith::ConstantIndexOp::create(rewriter, loc, 0));
    SmallVector<bool> inside(type.getRank(), true);
    if (op.crossesSubgroups()) {
      auto inBounds = rewriter.getDenseBoolArrayAttr(inside);
      StoreOp::create(rewriter, loc, op.getSource(), op.getBuffer(), origin,
                      inBounds, op.getAlignmentAttr());
      BarrierOp::create(rewriter, loc);
      rewriter.replaceOpWithNewOp<LoadOp>(op, type, op.getBuffer(), origin,
                                          inBounds, /*padding=*/TypedAttr(),
                                          op.getAlignmentAttr());
      return success();
    }
    LaneBuilder lane(rewriter, loc, kernel);
    FailureOr<Memory> memory = resolveMemory(lane, op.getBuffer());
    if (failed(memory))
      return unresolved(op);
    LaneMap from = mapOf(op.getSource()), to = mapOf(op.getResult());
    auto access = [&](const LaneMap &map) {
      return MemoryAccess(lane, *memory, map, type.getShape(), origin, inside,
                          MemoryAccess::Outside::Check,
                          ::getAlignment(op.getAlignment()));
    };
    // What the iteration before has written may still be read.
    lane.meetLanes();
    SmallVector<LaneElement> held = lane.elementsOf(adaptor.getSource());
    MemoryAccess write = access(from);
    for (const MemoryAccess::Piece &piece : write.getPieces()) {
      storePiece(rewriter, loc, assemble(lane, held, piece),
                 write.getAddress(piece), write.getAlignment(piece));
    }
    lane.meetLanes();
    MemoryAccess read = access(to);
    SmallVector<LaneElement> elements(to.getNumRegisters());
    for (const MemoryAccess::Piece &piece : read.getPieces()) {
      auto vectorType =
          VectorType::get({(int64_t)piece.size()}, type.getElementType());
      Value value = loadPiece(rewriter, loc, vectorType, read.getAddress(piece),
                              read.getAlignment(piece), /*fill=*/Value());
      for (auto [i, reg] : llvm::enumerate(piece))
        elements[reg] = {value, (int64_t)i};
    }
    rewriter.replaceOpWithMultiple(op,
                                   {lane.pack(elements, to.getVectorSize())});
    return success();
  }
};

struct AsyncCopyPattern : KernelPattern<AsyncCopyOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(AsyncCopyOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    FailureOr<LaneMap> map = getLaneMap(op.getTileType());
    if (failed(map))
      return op.emitOpError("needs a tile with a layout");
    FailureOr<Memory> from = resolveMemory(lane, op.getSource());
    FailureOr<Memory> to = resolveMemory(lane, op.getDest());
    if (failed(from) || failed(to))
      return unresolved(op);
    ResolvedCopy copy{op, *map, *from, *to};
    {
      OpBuilder::InsertionGuard guard(rewriter);
      if (failed(kernel.copyEngine->copy(lane, copy)))
        return failure();
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
};

struct AsyncGroupPattern : KernelPattern<AsyncGroupOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(AsyncGroupOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    kernel.copyEngine->closeGroup(lane);
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
};

struct WaitPattern : KernelPattern<WaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WaitOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    kernel.copyEngine->wait(lane, kernel.underWayAtWaits.lookup(op));
    rewriter.eraseOp(op);
    return success();
  }
};

struct BarrierPattern : KernelPattern<BarrierOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(BarrierOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (kernel.target.hasLDSBarrier())
      amdgpu::LDSBarrierOp::create(rewriter, op.getLoc());
    else
      gpu::BarrierOp::create(rewriter, op.getLoc());
    // Upstream erases a barrier that comes right behind another one. This is no
    // instruction.
    if (op.getApart())
      LLVM::CallIntrinsicOp::create(rewriter, op.getLoc(),
                                    rewriter.getStringAttr("llvm.sideeffect"),
                                    ValueRange());
    rewriter.eraseOp(op);
    return success();
  }
};

/// A fence of one thread orders what the compiler emits, and is no instruction.
struct IssueFencePattern : KernelPattern<IssueFenceOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(IssueFenceOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    using Allowed = amdgpu::sched_barrier_opt_enum;
    if (!kernel.target.hasSchedBarrier())
      rewriter.eraseOp(op);
    else if (op.getCompute())
      rewriter.replaceOpWithNewOp<amdgpu::SchedBarrierOp>(
          op, Allowed::salu | Allowed::mfma_wmma | Allowed::ds_read);
    else
      rewriter.replaceOpWithNewOp<LLVM::FenceOp>(
          op, LLVM::AtomicOrdering::acq_rel, "singlethread");
    return success();
  }
};

} // namespace

void mlir::evoformer::tile::populateMemoryPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    const KernelContext &kernel) {
  patterns
      .add<LoadPattern, StorePattern, ExchangePattern, AsyncCopyPattern,
           AsyncGroupPattern, WaitPattern, BarrierPattern, IssueFencePattern>(
          converter, patterns.getContext(), kernel);
}
