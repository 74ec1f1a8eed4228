//===- AMDBarriers.cpp - Barriers that wait for workgroup memory ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// s_barrier orders no memory. LLVM turns a fence that releases into a wait
// that its pass for waits may drop again where it sees nothing outstanding. In
// the header of a loop LLVM 22 decides that before it has seen what the loop's
// end leaves outstanding, so that other subgroups read what is not yet written
// (LLVM pull request 211684). A wait that the program asks for itself is kept.
//
//===----------------------------------------------------------------------===//

#include "AMDBarriers.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace mlir::evoformer;

/// The barrier with fences of the subgroup's accesses (all, or only those that
/// `memory` names) on both sides and a wait for those to workgroup memory.
static void buildBarrier(OpBuilder &builder, Location loc, bool isSplit,
                         Attribute memory) {
  auto fence = [&](LLVM::AtomicOrdering ordering) {
    auto op = LLVM::FenceOp::create(builder, loc, ordering, "workgroup");
    if (memory)
      op->setDiscardableAttr(LLVM::LLVMDialect::getMmraAttrName(), memory);
  };
  fence(LLVM::AtomicOrdering::release);
  amdgpu::MemoryCounterWaitOp::create(
      builder, loc, /*load=*/nullptr, /*store=*/nullptr,
      /*ds=*/builder.getI32IntegerAttr(0), /*exp=*/nullptr,
      /*tensor=*/nullptr);
  if (isSplit) {
    constexpr int32_t workgroup = -1;
    ROCDL::BarrierSignalOp::create(builder, loc, workgroup);
    ROCDL::BarrierWaitOp::create(builder, loc, workgroup);
  } else {
    ROCDL::SBarrierOp::create(builder, loc);
  }
  fence(LLVM::AtomicOrdering::acquire);
}

namespace {
template <typename OpTy> struct Barrier : ConvertOpToLLVMPattern<OpTy> {
  Barrier(const LLVMTypeConverter &converter, amdgpu::Chipset chipset)
      : ConvertOpToLLVMPattern<OpTy>(converter, /*benefit=*/2),
        isSplit(chipset.majorVersion >= 12) {}

  LogicalResult
  matchAndRewrite(OpTy op, typename OpTy::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Attribute memory;
    if constexpr (std::is_same_v<OpTy, amdgpu::LDSBarrierOp>)
      memory = LLVM::MMRATagAttr::get(op.getContext(), "amdgpu-synchronize-as",
                                      "local");
    buildBarrier(rewriter, op.getLoc(), isSplit, memory);
    rewriter.eraseOp(op);
    return success();
  }

  bool isSplit;
};
} // namespace

void mlir::evoformer::populateAMDBarrierPatterns(
    const LLVMTypeConverter &converter, RewritePatternSet &patterns,
    amdgpu::Chipset chipset) {
  patterns.add<Barrier<amdgpu::LDSBarrierOp>, Barrier<gpu::BarrierOp>>(
      converter, chipset);
}
