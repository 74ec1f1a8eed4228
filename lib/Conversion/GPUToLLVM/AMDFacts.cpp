//===- AMDFacts.cpp - Lowering facts of amdgcn ----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources: LLVM's "User Guide for AMDGPU Backend" (function attributes,
// address spaces), "AMD Instinct MI300 Instruction Set Architecture" and
// "RDNA3 Instruction Set Architecture", sections on V_EXP_F32, V_LOG_F32,
// V_RCP_F32 and the MODE register.
//
//===----------------------------------------------------------------------===//

#include "AMDBarriers.h"
#include "AMDShuffles.h"
#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "LoweringFacts.h"
#include "mlir/Conversion/AMDGPUToROCDL/AMDGPUToROCDL.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::evoformer;

static FailureOr<amdgpu::Chipset> getChipset(tile::TargetAttr target,
                                             Location loc) {
  // Upstream's patterns know chips, of a family the least one ("User Guide for
  // AMDGPU Backend", "Generic Processors").
  StringRef chip = llvm::StringSwitch<StringRef>(target.getChip())
                       .Case("gfx9-4-generic", "gfx942")
                       .Case("gfx11-generic", "gfx1100")
                       .Case("gfx12-generic", "gfx1200")
                       .Default(target.getChip());
  FailureOr<amdgpu::Chipset> chipset = amdgpu::Chipset::parse(chip);
  if (failed(chipset))
    return emitError(loc, "unknown AMD chip '")
           << target.getChip() << "'; expected a name like gfx942";
  return chipset;
}

static LogicalResult populateAMDRewrites(RewritePatternSet &patterns,
                                         tile::TargetAttr target,
                                         Location loc) {
  FailureOr<amdgpu::Chipset> chipset = getChipset(target, loc);
  if (failed(chipset))
    return failure();
  unsigned lanes = target.getSubgroupSize();
  populateGpuLowerSubgroupReduceToDPPPatterns(patterns, lanes, *chipset,
                                              /*benefit=*/2);
  populateGpuLowerClusteredSubgroupReduceToDPPPatterns(patterns, lanes,
                                                       *chipset, /*benefit=*/2);
  populateAMDShufflePatterns(patterns, target, *chipset);
  populateGpuPromoteShuffleToAMDGPUPatterns(patterns, *chipset);
  return success();
}

static LogicalResult populateAMDConversions(LLVMTypeConverter &converter,
                                            RewritePatternSet &patterns,
                                            ConversionTarget &legality,
                                            tile::TargetAttr target,
                                            Location loc) {
  FailureOr<amdgpu::Chipset> chipset = getChipset(target, loc);
  if (failed(chipset))
    return failure();
  amdgpu::populateCommonGPUTypeAndAttributeConversions(converter);
  populateAMDBarrierPatterns(converter, patterns, *chipset);
  populateAMDGPUToROCDLConversionPatterns(converter, patterns, *chipset);
  populateGpuToROCDLConversionPatterns(converter, patterns,
                                       gpu::amd::Runtime::Unknown, *chipset);
  legality.addLegalDialect<ROCDL::ROCDLDialect>();
  return success();
}

/// A mask of the lanes with a bit each, in scalar registers.
static Value buildBallot(OpBuilder &builder, Location loc, Value bit,
                         int64_t lanes) {
  Type mask = builder.getIntegerType(lanes);
  Value ballot = ROCDL::BallotOp::create(builder, loc, mask, bit);
  Value none =
      arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(mask, 0));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, ballot,
                               none);
}

/// SIMDs that share a workgroup ("AMD Instinct MI300 Instruction Set
/// Architecture", 'Compute Unit'; "RDNA3 Instruction Set Architecture",
/// 'Work-group Processor').
static constexpr int64_t kSIMDs = 4;

/// Subgroups of 32 lanes with 256 registers each that a SIMD of RDNA holds at
/// most ("RDNA3 Instruction Set Architecture", 'VGPRs': 1536 of a lane).
static constexpr int64_t kWavesOfAll = 6;

/// Whether a kernel has RDNA's matrix instructions.
static bool multipliesMatrices(LLVM::LLVMFuncOp kernel) {
  return kernel
      .walk([](LLVM::CallIntrinsicOp op) {
        return op.getIntrin().starts_with("llvm.amdgcn.wmma")
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static void finishAMDKernel(LLVM::LLVMFuncOp kernel, tile::TargetAttr target,
                            ArrayRef<int32_t> blockSize) {
  Builder builder(kernel.getContext());
  auto resident = dyn_cast_if_present<IntegerAttr>(
      kernel->removeAttr(kMinWorkgroupsAttrName));
  if (!blockSize.empty()) {
    int32_t size = 1;
    for (int32_t extent : blockSize)
      size *= extent;
    // Without it the code object says 256, and a larger launch fails.
    kernel->setAttr(ROCDL::ROCDLDialect::getFlatWorkGroupSizeAttrName(),
                    builder.getStringAttr(Twine(size) + "," + Twine(size)));
    kernel->setAttr(ROCDL::ROCDLDialect::getReqdWorkGroupSizeAttrName(),
                    builder.getDenseI32ArrayAttr(blockSize));
    if (resident) {
      int64_t waves = llvm::divideCeil(size, target.getSubgroupSize());
      kernel->setAttr(ROCDL::ROCDLDialect::WavesPerEuAttrHelper::getNameStr(),
                      builder.getI32IntegerAttr(
                          llvm::divideCeil(resident.getInt() * waves, kSIMDs)));
    }
  }
  // In IEEE mode llvm.maxnum must quiet its operands: a v_max_f32 x, x for
  // every matrix result. Outside it V_MAX_F32 treats a signaling NaN as a
  // quiet one, and llvm.maxnum is one instruction.
  SmallVector<Attribute> passthrough;
  if (ArrayAttr given = kernel.getPassthroughAttr())
    llvm::append_range(passthrough, given);
  passthrough.push_back(builder.getStrArrayAttr({"amdgpu-ieee", "false"}));
  // As many subgroups as have all registers of a lane do not need each other's:
  // for more the scheduler would issue loads late, one by one. What multiplies
  // no matrices needs few registers, and many subgroups.
  if (!resident && !tile::hasManyRegisters(target) &&
      multipliesMatrices(kernel))
    passthrough.push_back(builder.getStrArrayAttr(
        {"amdgpu-waves-per-eu", ("1," + Twine(kWavesOfAll)).str()}));
  kernel.setPassthroughAttr(builder.getArrayAttr(passthrough));
}

const LoweringFacts &mlir::evoformer::getAMDFacts() {
  static const LoweringFacts facts = {/*arch=*/"amdgcn",
                                      /*exp2=*/"llvm.amdgcn.exp2.f32",
                                      /*log2=*/"llvm.amdgcn.log.f32",
                                      /*reciprocal=*/"llvm.amdgcn.rcp.f32",
                                      /*reciprocalSqrt=*/"llvm.amdgcn.rsq.f32",
                                      /*ldsAlignment=*/16,
                                      /*dynamicLDS=*/false,
                                      populateAMDRewrites,
                                      populateAMDConversions,
                                      buildBallot,
                                      finishAMDKernel};
  return facts;
}
