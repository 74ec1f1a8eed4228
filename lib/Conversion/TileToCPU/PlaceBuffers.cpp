//===- PlaceBuffers.cpp - One block of memory for all buffers -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "Evoformer/Conversion/TileToCPU/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;
using namespace mlir::evoformer;

/// Buffers start at cache lines.
static constexpr int64_t kAlignment = 64;

/// Elements from the first to the last one of a static strided memref.
static FailureOr<int64_t> getSpan(MemRefType type) {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return failure();
  int64_t span = 1;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    if (size == 0)
      return 0;
    span += (size - 1) * stride;
  }
  return span;
}

/// Bytes of an element in memory.
static FailureOr<int64_t> getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  if (!type.isIntOrFloat())
    return failure();
  return std::max<int64_t>(1, llvm::PowerOf2Ceil(type.getIntOrFloatBitWidth()) /
                                  8);
}

namespace {
class PlaceBuffers
    : public evoformer::impl::PlaceBuffersPassBase<PlaceBuffers> {
protected:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->removeAttr(tile_to_cpu::kKernelAttr))
      return;
    SmallVector<memref::AllocOp> allocs;
    function.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    if (allocs.empty())
      return;

    OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
    Location loc = function.getLoc();
    int64_t total = 0;
    SmallVector<int64_t> places;
    for (memref::AllocOp alloc : allocs) {
      FailureOr<int64_t> span = getSpan(alloc.getType());
      FailureOr<int64_t> bytes =
          getElementBytes(alloc.getType().getElementType());
      if (failed(span) || failed(bytes)) {
        alloc.emitOpError("a buffer of type ")
            << alloc.getType()
            << " has no static place; static strides, offset 0 and integer or "
               "float elements do";
        return signalPassFailure();
      }
      places.push_back(total);
      total += llvm::alignTo(*span * *bytes, kAlignment);
    }
    auto blockType = MemRefType::get({total}, b.getI8Type());
    Value block = memref::AllocOp::create(b, loc, blockType,
                                          b.getI64IntegerAttr(kAlignment));
    for (auto [alloc, place] : llvm::zip_equal(allocs, places)) {
      MemRefType type = alloc.getType();
      Value start = arith::ConstantIndexOp::create(b, alloc.getLoc(), place);
      auto viewType = MemRefType::get({*getSpan(type)}, type.getElementType());
      Value view = memref::ViewOp::create(b, alloc.getLoc(), viewType, block,
                                          start, ValueRange{});
      int64_t offset;
      SmallVector<int64_t> strides;
      (void)type.getStridesAndOffset(strides, offset);
      view = memref::ReinterpretCastOp::create(
          b, alloc.getLoc(), type, view, offset, type.getShape(), strides);
      alloc.replaceAllUsesWith(view);
      alloc.erase();
    }
    b.setInsertionPoint(function.getBody().front().getTerminator());
    memref::DeallocOp::create(b, loc, block);
  }
};
} // namespace
