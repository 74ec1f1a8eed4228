//===- ConsecutiveCopies.cpp - Loads to workgroup memory --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "AMD Instinct MI300 Instruction Set Architecture", 'Memory Buffer Load to
// LDS', and "AMD Instinct CDNA4 Instruction Set Architecture", the same
// section: lane i of a buffer load to LDS reads its own address and writes at
// M0 + the instruction's offset + i * size. What lies beyond the buffer's
// records is zero. Such loads complete in order, counted by VM_CNT with the
// subgroup's other accesses to memory.
//
// LLVM 22 puts waits of its own before whatever might see what such a load
// writes, for all of them at once: before reads of LDS that may alias it
// (SIInsertWaitcnts), and at fences that release LDS (SIMemoryLegalizer). The
// kernel's own waits say which copies must have arrived, so reads are told not
// to alias copies, and barriers wait by themselves behind a fence of one
// thread, which is no instruction but keeps the order.
//
//===----------------------------------------------------------------------===//

#include "CopyEngine.h"

#include "Evoformer/Dialect/Tile/IR/ConsecutiveCopy.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// The records of a buffer: what is copied lies within 4 GiB of its base, and
/// what is not, where kOutside is. 'Buffer Addressing', range checking.
static constexpr int64_t kRecords = 0xfffffff0;
static constexpr int64_t kOutside = kRecords;
/// Word 3 of a resource, 'Buffer Resource Descriptor': DATA_FORMAT 32 bits,
/// NUM_FORMAT float; both are unused by raw accesses but must be valid.
static constexpr int64_t kResourceFlags = 7 << 12 | 4 << 15;
/// VM_CNT has six bits ("S_WAITCNT").
static constexpr int64_t kMostUnderWay = 63;

namespace {
class ConsecutiveCopies : public CopyEngine {
public:
  explicit ConsecutiveCopies(CopyEngineAttr engine) : engine(engine) {}

  int64_t getWeight(Operation *op) const override;
  LogicalResult copy(LaneBuilder &lane, ResolvedCopy &copy) const override;
  void closeGroup(LaneBuilder &) const override {}
  void finish(gpu::GPUFuncOp kernel) const override;
  void wait(LaneBuilder &lane, int64_t underWay) const override {
    amdgpu::MemoryCounterWaitOp::create(
        lane.builder, lane.loc, /*load=*/
        lane.builder.getI32IntegerAttr(std::min(underWay, kMostUnderWay)),
        /*store=*/nullptr, /*ds=*/nullptr, /*exp=*/nullptr,
        /*tensor=*/nullptr);
  }

private:
  CopyEngineAttr engine;
};
} // namespace

/// Of a copy whose layout has been verified, or 0.
static int64_t getPieceBytes(AsyncCopyOp op) {
  RankedTensorType type = op.getTileType();
  FailureOr<LaneMap> map = getLaneMap(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  auto dest = cast<MemRefType>(op.getDest().getType());
  if (failed(map) || failed(dest.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic) ||
      type.getElementTypeBitWidth() % 8 != 0)
    return 0;
  return getConsecutiveBytes(*map, type.getShape(), strides,
                             type.getElementTypeBitWidth() / 8);
}

/// The instructions of a copy. All are executed, whatever lies inside, so that
/// the count is the same on any way through the kernel.
int64_t ConsecutiveCopies::getWeight(Operation *op) const {
  auto copy = dyn_cast<AsyncCopyOp>(op);
  int64_t bytes = copy ? getPieceBytes(copy) : 0;
  if (bytes == 0)
    return 0;
  RankedTensorType type = copy.getTileType();
  return getLaneMap(type)->getNumRegisters() * type.getElementTypeBitWidth() /
         8 / bytes;
}

/// The memory as a buffer, beside its definition: outside of loops.
static Memory asBuffer(LaneBuilder &lane, const Memory &memory) {
  OpBuilder &builder = lane.builder;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(memory.base);
  auto constant = [&](Type type, int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, lane.loc, type,
                                    builder.getIntegerAttr(type, value));
  };
  Memory buffer = memory;
  buffer.buffer = Value();
  buffer.base = ROCDL::MakeBufferRsrcOp::create(
      builder, lane.loc, LLVM::LLVMPointerType::get(builder.getContext(), 7),
      memory.base, constant(builder.getI16Type(), 0),
      constant(builder.getI64Type(), kRecords),
      constant(builder.getI32Type(), kResourceFlags));
  return buffer;
}

/// The map of what lane 0 of each subgroup holds, for all of its lanes.
static LaneMap withoutLanes(LaneMap map) {
  for (LayoutAxis &axis : map.lanes)
    llvm::fill(axis.strides, 0);
  return map;
}

LogicalResult ConsecutiveCopies::copy(LaneBuilder &lane,
                                      ResolvedCopy &copy) const {
  OpBuilder &builder = lane.builder;
  Location loc = lane.loc;
  AsyncCopyOp op = copy.op;
  RankedTensorType type = op.getTileType();
  int64_t bytes = getPieceBytes(op);
  if (!engine.copies(bytes)) {
    InFlightDiagnostic diag = op.emitOpError("target ")
                              << lane.context.target.getChip()
                              << " needs a layout whose lanes copy pieces that "
                                 "follow each other, of ";
    llvm::interleave(engine.getBytes(), diag, " or ");
    return diag << " bytes, got " << type << " to " << op.getDest().getType();
  }
  Memory from = asBuffer(lane, copy.source);
  auto alignment = op.getAlignment();
  MemoryAccess source(lane, from, copy.map, type.getShape(),
                      op.getSourceIndices(), op.getInBounds(),
                      op.getPadding() ? MemoryAccess::Outside::Guard
                                      : MemoryAccess::Outside::Clamp,
                      alignment ? std::optional<int64_t>(*alignment)
                                : std::nullopt);
  LaneMap firstLane = withoutLanes(copy.map);
  MemoryAccess dest(lane, copy.dest, firstLane, type.getShape(),
                    op.getDestIndices(), {}, MemoryAccess::Outside::Check,
                    std::nullopt);
  for (const MemoryAccess::Piece &piece : source.getPieces()) {
    int64_t size = piece.size() * copy.source.elementBytes;
    if (size != bytes)
      return op.emitOpError("copies ")
             << bytes << " bytes a lane at once, but knows of " << size
             << " only that they lie side by side within memory; 'alignment' "
                "or 'in_bounds' say more";
    MemoryAccess::Address src = source.getAddress(piece);
    MemoryAccess::Address dst = dest.getAddress(piece);
    Value pointer = src.pointer;
    // Zeros where nothing is to be read: the slot is there for them.
    if (Value valid = lane.andI(src.valid, op.getPredicate())) {
      Value outside = LLVM::GEPOp::create(
          builder, loc, from.base.getType(), builder.getI8Type(), from.base,
          ValueRange{lane.constant(static_cast<int32_t>(kOutside))});
      pointer = arith::SelectOp::create(builder, loc, valid, pointer, outside);
    }
    ROCDL::LoadToLDSOp::create(builder, loc, pointer, dst.pointer,
                               builder.getI32IntegerAttr(bytes),
                               /*offset=*/builder.getI32IntegerAttr(0),
                               /*aux=*/builder.getI32IntegerAttr(0),
                               ArrayAttr(), ArrayAttr(), ArrayAttr());
  }
  return success();
}

/// The scope of all copies of a kernel.
static ArrayAttr makeCopyScope(gpu::GPUFuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  auto name = StringAttr::get(context, "copies to workgroup memory: " +
                                           kernel.getName());
  auto domain = LLVM::AliasScopeDomainAttr::get(context, name, StringAttr());
  return ArrayAttr::get(
      context, LLVM::AliasScopeAttr::get(context, name, domain, StringAttr()));
}

/// A barrier that leaves loads to workgroup memory under way.
static void replaceBarrier(amdgpu::LDSBarrierOp barrier) {
  OpBuilder builder(barrier);
  Location loc = barrier.getLoc();
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::release,
                        "singlethread");
  amdgpu::MemoryCounterWaitOp::create(
      builder, loc, /*load=*/nullptr, /*store=*/nullptr,
      /*ds=*/builder.getI32IntegerAttr(0), /*exp=*/nullptr,
      /*tensor=*/nullptr);
  ROCDL::SBarrierOp::create(builder, loc);
  auto fence = LLVM::FenceOp::create(
      builder, loc, LLVM::AtomicOrdering::acquire, "workgroup");
  fence->setDiscardableAttr(LLVM::LLVMDialect::getMmraAttrName(),
                            LLVM::MMRATagAttr::get(builder.getContext(),
                                                   "amdgpu-synchronize-as",
                                                   "local"));
  barrier.erase();
}

void ConsecutiveCopies::finish(gpu::GPUFuncOp kernel) const {
  ArrayAttr scope = makeCopyScope(kernel);
  auto isLDS = [](Value pointer) {
    auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
    return type && type.getAddressSpace() == 3;
  };
  SmallVector<amdgpu::LDSBarrierOp> barriers;
  kernel.walk([&](Operation *op) {
    if (auto copy = dyn_cast<ROCDL::LoadToLDSOp>(op))
      copy.setAliasScopesAttr(scope);
    else if (auto load = dyn_cast<LLVM::LoadOp>(op);
             load && isLDS(load.getAddr()))
      load.setNoaliasScopesAttr(scope);
    else if (auto store = dyn_cast<LLVM::StoreOp>(op);
             store && isLDS(store.getAddr()))
      store.setNoaliasScopesAttr(scope);
    else if (auto barrier = dyn_cast<amdgpu::LDSBarrierOp>(op))
      barriers.push_back(barrier);
  });
  for (amdgpu::LDSBarrierOp barrier : barriers)
    replaceBarrier(barrier);
}

std::unique_ptr<CopyEngine>
mlir::evoformer::tile::makeConsecutiveCopies(CopyEngineAttr engine) {
  return std::make_unique<ConsecutiveCopies>(engine);
}
