//===- DynamicLDS.cpp - Workgroup memory of a kernel ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "LoweringFacts.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer;

static constexpr StringLiteral kDynamicLDSSymbol("evo_dynamic_lds");

/// Sizes of the attributions; fails where one is not a plain byte count.
static LogicalResult getSizes(gpu::GPUFuncOp kernel,
                              SmallVectorImpl<int64_t> &sizes) {
  for (BlockArgument argument : kernel.getWorkgroupAttributions()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
        !type.getElementType().isIntOrFloat())
      return kernel.emitError("workgroup memory must be a memref of static "
                              "shape and contiguous layout, but is ")
             << argument.getType();
    SmallVector<int64_t> factors(type.getShape());
    factors.push_back(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
    sizes.push_back(tile::boundedProduct(factors, tile::kMaxLDSBytes));
  }
  return success();
}

/// Replaces every attribution by a view of the launch's dynamic LDS.
static LogicalResult makeDynamic(gpu::GPUFuncOp kernel,
                                 ArrayRef<int64_t> offsets, int64_t total) {
  for (BlockArgument argument : kernel.getWorkgroupAttributions())
    if (!cast<MemRefType>(argument.getType()).getElementType().isInteger(8) ||
        cast<MemRefType>(argument.getType()).getRank() != 1)
      return kernel.emitError("dynamic workgroup memory must be a 1-D memref "
                              "of i8, but is ")
             << argument.getType();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Location loc = kernel.getLoc();
  Attribute space;
  unsigned first = kernel.getFirstWorkgroupAttributionIndex();
  unsigned count = kernel.getNumWorkgroupAttributions();
  for (auto [argument, offset] :
       llvm::zip_equal(kernel.getWorkgroupAttributions(), offsets)) {
    auto type = cast<MemRefType>(argument.getType());
    space = type.getMemorySpace();
    auto wholeType =
        MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                        MemRefLayoutAttrInterface(), space);
    Value whole = gpu::DynamicSharedMemoryOp::create(builder, loc, wholeType);
    Value start = arith::ConstantIndexOp::create(builder, loc, offset);
    Value view = memref::ViewOp::create(builder, loc, type, whole, start,
                                        /*sizes=*/ValueRange());
    Value(argument).replaceAllUsesWith(view);
  }
  kernel.getBody().front().eraseArguments(first, count);
  kernel->removeAttr(gpu::GPUFuncOp::getNumWorkgroupAttributionsAttrName());
  kernel.removeWorkgroupAttribAttrsAttr();
  kernel->setAttr(kDynamicLDSAttrName, builder.getI64IntegerAttr(total));
  return success();
}

LogicalResult
mlir::evoformer::lowerWorkgroupMemory(gpu::GPUFuncOp kernel,
                                      tile::TargetAttr target,
                                      const LoweringFacts &facts) {
  SmallVector<int64_t> sizes, offsets;
  if (failed(getSizes(kernel, sizes)))
    return failure();
  int64_t total = 0;
  for (int64_t size : sizes) {
    offsets.push_back(llvm::alignTo(total, facts.ldsAlignment));
    total = offsets.back() + size;
  }
  if (total > target.getLdsBytes())
    return kernel.emitError("workgroup memory of ")
           << total << " bytes exceeds the " << target.getLdsBytes()
           << " bytes of " << target.getChip();
  int64_t limit = target.getMaxLDSStatic();
  if (total > limit) {
    if (!facts.dynamicLDS)
      return kernel.emitError("workgroup memory of ")
             << total << " bytes exceeds the " << limit
             << " bytes that a kernel may declare on " << target.getChip();
    return makeDynamic(kernel, offsets, total);
  }
  auto alignName = LLVM::LLVMDialect::getAlignAttrName();
  Builder builder(kernel.getContext());
  for (unsigned i = 0, e = kernel.getNumWorkgroupAttributions(); i < e; ++i)
    if (!kernel.getWorkgroupAttributionAttr(i, alignName))
      kernel.setWorkgroupAttributionAttr(
          i, alignName, builder.getI64IntegerAttr(facts.ldsAlignment));
  return success();
}

namespace {

/// Upstream's own conversion makes the variable internal, which the code
/// generator demotes to a static one of unknown size; an external one is what
/// the driver sizes at launch.
struct DynamicLDSLowering : ConvertOpToLLVMPattern<gpu::DynamicSharedMemoryOp> {
  explicit DynamicLDSLowering(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern(converter, /*benefit=*/10) {}

  LogicalResult
  matchAndRewrite(gpu::DynamicSharedMemoryOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto module = op->getParentOfType<gpu::GPUModuleOp>();
    auto space = getTypeConverter()->getMemRefAddressSpace(op.getType());
    if (!module || failed(space))
      return rewriter.notifyMatchFailure(op, "no module or address space");
    auto global = module.lookupSymbol<LLVM::GlobalOp>(kDynamicLDSSymbol);
    if (!global) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(module.getBody());
      auto type = LLVM::LLVMArrayType::get(rewriter.getI8Type(), 0);
      // 128 bytes: the alignment that bulk copies ask of their destination.
      global = LLVM::GlobalOp::create(
          rewriter, module.getLoc(), type, /*isConstant=*/false,
          LLVM::Linkage::External, kDynamicLDSSymbol, Attribute(),
          /*alignment=*/128, *space);
    }
    Value pointer = LLVM::AddressOfOp::create(rewriter, loc, global);
    auto descriptor = MemRefDescriptor::poison(
        rewriter, loc, getTypeConverter()->convertType(op.getType()));
    descriptor.setAllocatedPtr(rewriter, loc, pointer);
    descriptor.setAlignedPtr(rewriter, loc, pointer);
    descriptor.setConstantOffset(rewriter, loc, 0);
    // Its size is the launch's business; views only use the pointer.
    Type index = getIndexType();
    descriptor.setSize(rewriter, loc, 0,
                       createIndexAttrConstant(rewriter, loc, index, 0));
    descriptor.setStride(rewriter, loc, 0,
                         createIndexAttrConstant(rewriter, loc, index, 1));
    rewriter.replaceOp(op, {descriptor});
    return success();
  }
};

} // namespace

void mlir::evoformer::populateDynamicLDSPatterns(
    const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<DynamicLDSLowering>(converter);
}
