//===- BoxCopies.cpp - Copies of boxes by one lane ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "Parallel Thread Execution ISA", 'cp.async.bulk.tensor' and 'mbarrier'. A
// slot is one number: the address of its barrier object in workgroup memory,
// and in its highest bit the parity of the phase that it was closed in. One
// lane of the workgroup initialises, copies and arrives; each phase has this
// one arrival and the bytes of its copies.
//
// Where subgroups release slots, a second object lies behind the first. Each of
// its phases has an arrival of every subgroup, and ends between the phase of
// the first object that brought what they have read and the next one. So both
// are waited for with the same parity.
//
//===----------------------------------------------------------------------===//

#include "CopyEngine.h"
#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Dialect/Tile/IR/Boxes.h"
#include "Patterns.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

static constexpr int64_t kParityBit = 31;

/// The barrier object of a slot that tells of arrival.
static Value getBarrier(LaneBuilder &lane, Value slot) {
  Value address =
      arith::AndIOp::create(lane.builder, lane.loc, slot,
                            lane.constant((int64_t(1) << kParityBit) - 1));
  return LLVM::IntToPtrOp::create(
      lane.builder, lane.loc,
      LLVM::LLVMPointerType::get(lane.builder.getContext(), 3), address);
}

/// That which tells of release.
static Value getReleaseBarrier(LaneBuilder &lane, Value slot) {
  return getBarrier(lane, lane.add(slot, lane.constant(kBarrierBytes)));
}

/// Writes what lanes do for which `condition` holds.
static void onlyWhere(LaneBuilder &lane, Value condition,
                      function_ref<void()> write) {
  OpBuilder::InsertionGuard guard(lane.builder);
  auto branch = scf::IfOp::create(lane.builder, lane.loc, condition);
  lane.builder.setInsertionPointToStart(branch.thenBlock());
  write();
}

/// Writes what one lane of the workgroup does.
static void onlyByFirstLane(LaneBuilder &lane, function_ref<void()> write) {
  onlyWhere(lane, lane.context.isFirstLane, write);
}

/// Waits for the end of the phase that the slot's parity names.
static void waitForPhase(LaneBuilder &lane, Value barrier, Value slot) {
  OpBuilder &builder = lane.builder;
  OpBuilder::InsertionGuard guard(builder);
  Value parity = arith::ShRUIOp::create(builder, lane.loc, slot,
                                        lane.constant(kParityBit));
  auto loop =
      scf::WhileOp::create(builder, lane.loc, TypeRange(), ValueRange());
  builder.createBlock(&loop.getBefore());
  Value done =
      NVVM::MBarrierTryWaitOp::create(builder, lane.loc, builder.getI1Type(),
                                      barrier, parity, /*ticks=*/Value());
  Value again = arith::XOrIOp::create(
      builder, lane.loc, done,
      arith::ConstantIntOp::create(builder, lane.loc, 1, 1));
  scf::ConditionOp::create(builder, lane.loc, again, ValueRange());
  builder.createBlock(&loop.getAfter());
  scf::YieldOp::create(builder, lane.loc);
}

namespace {

struct CopySlotsPattern : KernelPattern<CopySlotsOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(CopySlotsOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getNumResults() == 0) {
      rewriter.eraseOp(op);
      return success();
    }
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    auto pointer = LLVM::LLVMPointerType::get(op.getContext(), 3);
    Value base = LLVM::AddressOfOp::create(
        rewriter, op.getLoc(), pointer, FlatSymbolRefAttr::get(kernel.ldsName));
    Value first =
        lane.add(LLVM::PtrToIntOp::create(rewriter, op.getLoc(),
                                          rewriter.getI32Type(), base),
                 lane.constant(kernel.ldsOffsets.lookup(op)));
    int64_t bytes = getSlotBytes(op.getReleased());
    SmallVector<Value> slots;
    for (size_t i = 0; i < op.getNumResults(); ++i)
      // As if closed in a phase of parity 1: the first one has 0.
      slots.push_back(arith::OrIOp::create(
          rewriter, op.getLoc(), lane.add(first, lane.constant(i * bytes)),
          lane.constant(int64_t(1) << kParityBit)));
    onlyByFirstLane(lane, [&] {
      auto init = [&](Value barrier, int64_t arrivals) {
        NVVM::MBarrierInitOp::create(rewriter, op.getLoc(), barrier,
                                     lane.constant(arrivals),
                                     /*predicate=*/Value());
      };
      for (Value slot : slots) {
        init(getBarrier(lane, slot), 1);
        if (op.getReleased())
          init(getReleaseBarrier(lane, slot), kernel.numSubgroups);
      }
      NVVM::FenceMbarrierInitOp::create(rewriter, op.getLoc());
    });
    rewriter.replaceOp(op, slots);
    return success();
  }
};

struct BoxCopyPattern : KernelPattern<BoxCopyOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(BoxCopyOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LaneBuilder lane(rewriter, loc, kernel);
    FailureOr<Memory> dest = resolveMemory(lane, op.getDest());
    if (failed(dest))
      return op.emitOpError("copies to workgroup memory of "
                            "evo_tile.alloc_lds, through subviews with static "
                            "strides");
    // The innermost dimension comes first.
    SmallVector<Value> coordinates;
    for (Value index : llvm::reverse(op.getCoordinates()))
      coordinates.push_back(lane.toI32(index));
    BoxTiling tiling = *findBoxTiling(cast<MemRefType>(op.getDest().getType()));
    int64_t bytes = tiling.getNumElements() * dest->elementBytes;
    // The workgroup's memory within that of its cluster.
    constexpr unsigned kClusterMemory = 7;
    auto clusterPointer =
        LLVM::LLVMPointerType::get(op.getContext(), kClusterMemory);
    auto getPlace = [&](int64_t number) -> Value {
      Value offset =
          lane.add(dest->dynamicBytes,
                   lane.constant(dest->constantBytes + number * bytes));
      Value pointer = LLVM::GEPOp::create(
          rewriter, loc, dest->base.getType(), rewriter.getI8Type(), dest->base,
          ValueRange{offset}, LLVM::GEPNoWrapFlags::inbounds);
      return LLVM::AddrSpaceCastOp::create(rewriter, loc, clusterPointer,
                                           pointer);
    };
    Value barrier = getBarrier(lane, adaptor.getSlot().front());
    auto copy = [&] {
      NVVM::MBarrierExpectTxOp::create(rewriter, loc, barrier,
                                       lane.constant(tiling.count * bytes));
      for (int64_t number = 0; number < tiling.count; ++number) {
        SmallVector<Value> first = coordinates;
        first.front() = lane.add(first.front(),
                                 lane.constant(number * tiling.sizes.back()));
        NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
            rewriter, loc, getPlace(number), adaptor.getMap().front(), first,
            barrier, /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
            /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE,
            /*isCTAOnly=*/false, /*group=*/NVVM::CTAGroupKindAttr(),
            /*predicate=*/Value());
      }
    };
    onlyByFirstLane(lane, [&] {
      if (Value predicate = op.getPredicate())
        onlyWhere(lane, predicate, copy);
      else
        copy();
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct CloseSlotPattern : KernelPattern<CloseSlotOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(CloseSlotOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    Value slot = adaptor.getSlot().front();
    Value barrier = getBarrier(lane, slot);
    onlyByFirstLane(lane, [&] {
      NVVM::MBarrierArriveOp::create(rewriter, op.getLoc(),
                                     rewriter.getI64Type(), barrier,
                                     /*count=*/Value());
    });
    rewriter.replaceOpWithNewOp<arith::XOrIOp>(
        op, slot, lane.constant(int64_t(1) << kParityBit));
    return success();
  }
};

struct WaitSlotPattern : KernelPattern<WaitSlotOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WaitSlotOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    Value slot = adaptor.getSlot().front();
    waitForPhase(lane, getBarrier(lane, slot), slot);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReleaseSlotPattern : KernelPattern<ReleaseSlotOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ReleaseSlotOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LaneBuilder lane(rewriter, loc, kernel);
    // One lane speaks for all, behind what they have read.
    lane.meetLanes();
    Value isFirst = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::eq, kernel.lane, lane.constant(0));
    onlyWhere(lane, isFirst, [&] {
      NVVM::MBarrierArriveOp::create(
          rewriter, loc, rewriter.getI64Type(),
          getReleaseBarrier(lane, adaptor.getSlot().front()),
          /*count=*/Value());
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct ClaimSlotPattern : KernelPattern<ClaimSlotOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ClaimSlotOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LaneBuilder lane(rewriter, op.getLoc(), kernel);
    Value slot = adaptor.getSlot().front();
    onlyByFirstLane(
        lane, [&] { waitForPhase(lane, getReleaseBarrier(lane, slot), slot); });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::evoformer::tile::populateBoxPatterns(const TypeConverter &converter,
                                                RewritePatternSet &patterns,
                                                const KernelContext &kernel) {
  patterns.add<CopySlotsPattern, BoxCopyPattern, CloseSlotPattern,
               WaitSlotPattern, ReleaseSlotPattern, ClaimSlotPattern>(
      converter, patterns.getContext(), kernel);
}

void mlir::evoformer::tile::setMapAttributes(gpu::GPUFuncOp kernel,
                                             ArrayRef<Type> arguments,
                                             ArrayRef<Type> maps) {
  if (maps.empty())
    return;
  MLIRContext *context = kernel.getContext();
  Builder builder(context);
  // A memref is two addresses, an offset, sizes and strides.
  constexpr int64_t kBeforeSizes = 3;
  SmallVector<int64_t> starts;
  int64_t next = 0;
  for (Type type : arguments) {
    starts.push_back(next);
    auto memory = dyn_cast<MemRefType>(type);
    next += memory ? kBeforeSizes + 2 * memory.getRank() : 1;
  }
  SmallVector<Attribute> descriptions;
  for (auto map : llvm::map_range(
           maps, [](Type type) { return cast<TensorMapType>(type); })) {
    SmallVector<int64_t> slots, ends;
    for (size_t d = 0; d < map.getBox().size(); ++d) {
      int64_t argument = map.getEnds()[2 * d],
              number = map.getEnds()[2 * d + 1];
      slots.push_back(argument < 0 ? -1
                                   : starts[argument] + kBeforeSizes + number);
      ends.push_back(argument < 0 ? number : 0);
    }
    auto memory = cast<MemRefType>(arguments[map.getOf()]);
    auto number = [&](StringRef name, int64_t value) {
      return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
    };
    auto list = [&](StringRef name, ArrayRef<int64_t> values) {
      return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
    };
    descriptions.push_back(builder.getDictionaryAttr(
        {number("slot", starts[map.getOf()]),
         number("element_bytes", memory.getElementTypeBitWidth() / 8),
         number("swizzle", map.getSwizzle()), list("box", map.getBox()),
         list("end_slots", slots), list("ends", ends)}));
  }
  kernel->setAttr(evoformer::kTensorMapsAttrName,
                  builder.getArrayAttr(descriptions));
}
