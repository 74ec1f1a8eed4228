//===- ConvertGPULanesToLLVM.cpp - From lanes to the LLVM dialect ---------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Dialect/Tile/IR/Levels.h"
#include "LoweringFacts.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_CONVERTGPULANESTOLLVM
#include "Evoformer/Conversion/GPUToLLVM/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;
using namespace mlir::evoformer;

namespace {
class ConvertGPULanesToLLVM
    : public evoformer::impl::ConvertGPULanesToLLVMBase<ConvertGPULanesToLLVM> {
protected:
  void runOnOperation() override;

private:
  LogicalResult checkInput(gpu::GPUModuleOp module, tile::TargetAttr target);
  LogicalResult rewriteLanes(gpu::GPUModuleOp module, tile::TargetAttr target,
                             const LoweringFacts &facts);
  LogicalResult convert(gpu::GPUModuleOp module, tile::TargetAttr target,
                        const LoweringFacts &facts);
};
} // namespace

/// Math ops that are an instruction or a short sequence on every chip. The
/// others exist upstream as calls into vendors' libraries only.
static bool isSupportedMath(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::Exp2Op, math::FloorOp, math::FmaOp,
             math::Log2Op, math::RoundEvenOp, math::RsqrtOp, math::SqrtOp,
             math::TruncOp>(op);
}

/// Refuses what no pattern could convert, with a reason.
LogicalResult ConvertGPULanesToLLVM::checkInput(gpu::GPUModuleOp module,
                                                tile::TargetAttr target) {
  for (gpu::GPUFuncOp kernel : module.getOps<gpu::GPUFuncOp>()) {
    DenseI32ArrayAttr block = kernel.getKnownBlockSizeAttr();
    if (!block)
      continue;
    int64_t lanes = 1;
    for (int32_t extent : block.asArrayRef())
      lanes *= extent;
    if (lanes > target.getMaxWorkgroup())
      return kernel.emitError("a workgroup of ")
             << lanes << " lanes exceeds the " << target.getMaxWorkgroup()
             << " of " << target.getChip();
  }
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (isa<math::Exp2Op, math::Log2Op, math::RsqrtOp>(op) &&
        getElementTypeOrSelf(op->getResult(0).getType()).isF64())
      return op->emitOpError("on f64 has no instruction on ")
             << target.getChip() << "; f16, bf16 and f32 have";
    if (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
        !isSupportedMath(op))
      return op->emitOpError("has no instruction on ")
             << target.getChip()
             << "; write it with exp2, log2, sqrt, rsqrt and arithmetic";
    if (auto truncate = dyn_cast<arith::TruncFOp>(op))
      if (failed(tile::checkRounding(truncate)))
        return WalkResult::interrupt();
    if (op->getName().getDialectNamespace() == "evo_tile")
      return op->emitOpError("is of the tile level; convert-tile-to-gpu comes "
                             "before this pass");
    for (Type type : op->getResultTypes())
      if (isa<TensorType>(type))
        return op->emitOpError("yields a tensor; this pass takes programs of "
                               "one lane, which hold vectors and memrefs");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Brings everything into forms that the conversion patterns know.
LogicalResult ConvertGPULanesToLLVM::rewriteLanes(gpu::GPUModuleOp module,
                                                  tile::TargetAttr target,
                                                  const LoweringFacts &facts) {
  MLIRContext *context = &getContext();
  // To nearest even is what the hardware does; with the mode spelled out,
  // upstream would choose an intrinsic for changing modes.
  module.walk([](arith::TruncFOp op) {
    if (op.getRoundingmode() == arith::RoundingMode::to_nearest_even)
      op.removeRoundingmodeAttr();
  });
  RewritePatternSet patterns(context);
  populateGpuRewritePatterns(patterns);
  if (failed(facts.populateRewrites(patterns, target, module.getLoc())))
    return failure();
  populateIntegerTruncatePatterns(patterns, target.hasNativeBF16Convert());
  populatePairwisePatterns(patterns, target);
  populateVotePatterns(patterns, facts, target.getSubgroupSize());

  using namespace vector;
  populateVectorBitCastLoweringPatterns(patterns);
  populateVectorBroadcastLoweringPatterns(patterns);
  populateVectorMaskOpLoweringPatterns(patterns);
  populateVectorShapeCastLoweringPatterns(patterns);
  populateVectorInterleaveLoweringPatterns(patterns);
  populateVectorTransposeLoweringPatterns(patterns,
                                          VectorTransposeLowering::Shuffle1D);
  populateVectorMultiReductionLoweringPatterns(
      patterns, VectorMultiReductionLowering::InnerParallel);
  populateVectorMaskMaterializationPatterns(patterns,
                                            /*force32BitVectorIndices=*/false);
  populateVectorInsertExtractStridedSliceTransforms(patterns);
  populateVectorStepLoweringPatterns(patterns);
  populateVectorRankReducingFMAPattern(patterns);
  populateVectorTransferLoweringPatterns(patterns, /*maxTransferRank=*/1);
  populateVectorFromElementsUnrollPatterns(patterns);
  populateVectorToElementsUnrollPatterns(patterns);

  memref::populateExpandStridedMetadataPatterns(patterns);
  memref::populateResolveExtractStridedMetadataPatterns(patterns);
  // Structured control flow has no blocks or arguments to clean up, and LLVM
  // does it once more.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  if (failed(applyPatternsGreedily(module, std::move(patterns), config)))
    return module.emitError("rewriting of the lanes level did not converge");

  // Strided metadata came out as affine.apply.
  RewritePatternSet affine(context);
  populateAffineToStdConversionPatterns(affine);
  ConversionTarget noAffine(*context);
  noAffine.addIllegalDialect<affine::AffineDialect>();
  noAffine.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  if (failed(applyPartialConversion(module, noAffine, std::move(affine))))
    return failure();
  RewritePatternSet steps(context);
  populateStepPatterns(steps);
  return applyPatternsGreedily(module, std::move(steps), config);
}

LogicalResult ConvertGPULanesToLLVM::convert(gpu::GPUModuleOp module,
                                             tile::TargetAttr target,
                                             const LoweringFacts &facts) {
  MLIRContext *context = &getContext();
  {
    RewritePatternSet scf(context);
    populateSCFToControlFlowConversionPatterns(scf);
    ConversionTarget noLoops(*context);
    noLoops.addIllegalDialect<scf::SCFDialect>();
    noLoops.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, noLoops, std::move(scf))))
      return failure();
  }
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);
  LLVMConversionTarget legality(*context);
  legality.addLegalOp<gpu::GPUModuleOp>();
  legality.addIllegalOp<UnrealizedConversionCastOp>();

  RewritePatternSet patterns(context);
  if (failed(facts.populateConversions(converter, patterns, legality, target,
                                       module.getLoc())))
    return failure();
  populateMathPatterns(converter, patterns, facts);
  populateDynamicLDSPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  // Before upstream's calls into math libraries, which have benefit 1.
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false,
                                       /*benefit=*/5);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  return applyFullConversion(module, legality, std::move(patterns));
}

/// What optimizers may do to a loop comes from scf as an attribute like any
/// other; branches have a place for it.
static void annotateLoops(gpu::GPUModuleOp module) {
  constexpr StringLiteral name("llvm.loop_annotation");
  module.walk([&](Operation *op) {
    auto annotation =
        dyn_cast_if_present<LLVM::LoopAnnotationAttr>(op->getAttr(name));
    if (!annotation)
      return;
    if (auto branch = dyn_cast<LLVM::BrOp>(op))
      branch.setLoopAnnotationAttr(annotation);
    else if (auto branch = dyn_cast<LLVM::CondBrOp>(op))
      branch.setLoopAnnotationAttr(annotation);
    op->removeAttr(name);
  });
}

void ConvertGPULanesToLLVM::runOnOperation() {
  gpu::GPUModuleOp module = getOperation();
  auto target = module->getAttrOfType<tile::TargetAttr>("evo_tile.target");
  if (!target) {
    module.emitError("a module of kernels needs the attribute "
                     "'evo_tile.target' of type #evo_tile.target");
    return signalPassFailure();
  }
  const LoweringFacts *facts = getLoweringFacts(target);
  if (!facts) {
    module.emitError("target '")
        << target.getChip() << "' (" << target.getTriple()
        << ") has no lane-level lowering; amdgcn and nvptx64 have";
    return signalPassFailure();
  }
  if (failed(checkInput(module, target)))
    return signalPassFailure();

  llvm::StringMap<SmallVector<int32_t>> blockSizes;
  for (gpu::GPUFuncOp kernel : module.getOps<gpu::GPUFuncOp>()) {
    if (failed(lowerWorkgroupMemory(kernel, target, *facts)))
      return signalPassFailure();
    SmallVector<int32_t> &blockSize = blockSizes[kernel.getName()];
    if (DenseI32ArrayAttr block = kernel.getKnownBlockSizeAttr())
      llvm::append_range(blockSize, block.asArrayRef());
  }
  if (failed(rewriteLanes(module, target, *facts)) ||
      failed(convert(module, target, *facts)))
    return signalPassFailure();
  annotateLoops(module);
  // Kernels that were functions of the LLVM dialect before are finished.
  for (LLVM::LLVMFuncOp function : module.getOps<LLVM::LLVMFuncOp>())
    if (auto found = blockSizes.find(function.getName());
        found != blockSizes.end() &&
        function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      facts->finishKernel(function, target, found->second);
}
