//===- NVIDIAFacts.cpp - Lowering facts of nvptx64 ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources: "Parallel Thread Execution ISA", sections ex2, lg2, rcp, rsqrt,
// griddepcontrol, "Performance-Tuning Directives" (.maxntid, .reqntid); LLVM's
// "User Guide for NVPTX Back-end" (address spaces).
//
//===----------------------------------------------------------------------===//

#include "LoweringFacts.h"

#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::evoformer;

static LogicalResult populateNVIDIARewrites(RewritePatternSet &patterns,
                                            tile::TargetAttr target,
                                            Location loc) {
  populateExtendPatterns(patterns);
  unsigned lanes = target.getSubgroupSize();
  populateGpuLowerSubgroupReduceToShufflePatterns(patterns, lanes);
  populateGpuLowerClusteredSubgroupReduceToShufflePatterns(patterns, lanes);
  return success();
}

static LogicalResult populateNVIDIAConversions(LLVMTypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               ConversionTarget &legality,
                                               tile::TargetAttr target,
                                               Location loc) {
  configureGpuToNVVMTypeConverter(converter);
  // Order is in the instructions; the token is only a name for it.
  converter.addConversion([&](nvgpu::DeviceAsyncTokenType type) -> Type {
    return IntegerType::get(type.getContext(), 32);
  });
  populateGpuToNVVMConversionPatterns(converter, patterns);
  populateNVGPUToNVVMConversionPatterns(converter, patterns);
  legality.addLegalDialect<NVVM::NVVMDialect>();
  return success();
}

static Value buildVote(OpBuilder &builder, Location loc, Value bit, int64_t) {
  Value everyone = arith::ConstantIntOp::create(builder, loc, -1, 32);
  return NVVM::VoteSyncOp::create(builder, loc, builder.getI1Type(), everyone,
                                  bit, NVVM::VoteSyncKind::any);
}

/// Tensor maps are what the driver made of them, read where the launch put it
/// ("CUDA Driver API", CUtensorMap).
static void passMapsByValue(LLVM::LLVMFuncOp kernel) {
  auto maps = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttrName);
  if (!maps)
    return;
  constexpr int64_t kBytes = 128, kAlignment = 64;
  Builder builder(kernel.getContext());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), kBytes);
  for (unsigned i = kernel.getNumArguments() - maps.size();
       i < kernel.getNumArguments(); ++i) {
    kernel.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(type));
    kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(kAlignment));
    kernel.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                      builder.getUnitAttr());
  }
}

/// Before anything else a kernel waits until those before it have ended and
/// their memory is there. Where it was launched as ever, that does nothing.
static void startEarly(LLVM::LLVMFuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  auto builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  // Upstream's op is an intrinsic that accesses no memory, over which loads may
  // be moved.
  LLVM::InlineAsmOp::create(
      builder, kernel.getLoc(), TypeRange(), ValueRange(),
      "griddepcontrol.wait;", "~{memory}",
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  kernel->setAttr(kStartsEarlyAttrName, builder.getUnitAttr());
}

static void finishNVIDIAKernel(LLVM::LLVMFuncOp kernel, tile::TargetAttr target,
                               ArrayRef<int32_t> blockSize) {
  if (target.hasEarlyStarts())
    startEarly(kernel);
  auto resident = dyn_cast_if_present<IntegerAttr>(
      kernel->removeAttr(kMinWorkgroupsAttrName));
  passMapsByValue(kernel);
  if (blockSize.empty())
    return;
  // PTX takes it beside the size of a workgroup only.
  if (resident)
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    IntegerAttr::get(IntegerType::get(kernel.getContext(), 32),
                                     resident.getInt()));
  auto size = Builder(kernel.getContext()).getDenseI32ArrayAttr(blockSize);
  // The two directives exclude each other; upstream sets the weaker one.
  kernel->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName());
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), size);
}

const LoweringFacts &mlir::evoformer::getNVIDIAFacts() {
  static const LoweringFacts facts = {
      /*arch=*/"nvptx64",
      /*exp2=*/"llvm.nvvm.ex2.approx.ftz.f",
      /*log2=*/"llvm.nvvm.lg2.approx.ftz.f",
      /*reciprocal=*/"llvm.nvvm.rcp.approx.ftz.f",
      /*reciprocalSqrt=*/"llvm.nvvm.rsqrt.approx.ftz.f",
      /*ldsAlignment=*/128,
      /*dynamicLDS=*/true,
      populateNVIDIARewrites,
      populateNVIDIAConversions,
      buildVote,
      finishNVIDIAKernel};
  return facts;
}
