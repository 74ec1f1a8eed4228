//===- Serialize.cpp - From the LLVM dialect to machine code --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/Serialize.h"
#include "CodeGeneration.h"
#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/ROCDL/ROCDLToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::evoformer;

void mlir::evoformer::registerSerialization(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect, ROCDL::ROCDLDialect>();
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registerROCDLDialectTranslation(registry);
}

/// Only a module that is wholly in LLVM's dialects can be translated.
static LogicalResult checkLowered(gpu::GPUModuleOp module) {
  WalkResult result =
      module.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
        if (op == module.getOperation() ||
            isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect,
                            ROCDL::ROCDLDialect>(op->getDialect()))
          return WalkResult::advance();
        return op->emitOpError("is not of the LLVM dialect; "
                               "convert-gpu-lanes-to-llvm comes before");
      });
  return failure(result.wasInterrupted());
}

/// What the IR says of a kernel, before it is compiled.
static KernelReport startReport(LLVM::LLVMFuncOp kernel,
                                tile::TargetAttr target) {
  KernelReport report;
  report.name = kernel.getName();
  report.chip = target.getChip();
  report.subgroupSize = target.getSubgroupSize();
  report.threads = getWorkgroupThreads(kernel);
  report.dynamicLDSBytes = getDynamicLDSBytes(kernel);
  if (auto ideal = kernel->getAttrOfType<DictionaryAttr>(kIdealLoopAttrName)) {
    if (auto count = ideal.getAs<IntegerAttr>("matrix"))
      report.idealMatrix = count.getInt();
    if (auto count = ideal.getAs<IntegerAttr>("transcendental"))
      report.idealTranscendental = count.getInt();
    if (auto count = ideal.getAs<IntegerAttr>("stages"))
      report.stages = count.getInt();
    if (auto block = ideal.getAs<DenseI64ArrayAttr>("block"))
      report.block.assign(block.asArrayRef().begin(), block.asArrayRef().end());
    if (auto count = ideal.getAs<IntegerAttr>("resident"))
      report.resident = count.getInt();
    if (auto count = ideal.getAs<IntegerAttr>("registers"))
      report.estimatedRegisters = count.getInt();
  }
  return report;
}

/// What follows from counts of final code.
static void modelKernel(KernelReport &report, tile::TargetAttr target) {
  if (report.steadyPass)
    report.passCycles = modelCycles(*report.steadyPass, target);
  if (report.outside)
    report.outsideCycles = modelCycles(*report.outside, target);
}

/// Some nvvm ops are inline PTX; that is written out on a copy.
static LogicalResult expandInlinePTX(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateNVVMToLLVMConversionPatterns(patterns);
  // LLVM drops blocks and arguments that nobody needs.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(module, std::move(patterns), config);
}

static LogicalResult generatePTX(CodeGenerator &generator,
                                 const llvm::Module &code,
                                 CompiledKernels &result) {
  FailureOr<std::string> ptx = generator.emit(code);
  if (failed(ptx))
    return failure();
  result.assembly = std::move(*ptx);
  for (KernelReport &report : result.kernels)
    countPTXInstructions(result.assembly, report);
  return success();
}

LogicalResult mlir::evoformer::addObject(CompiledKernels &code,
                                         tile::TargetAttr target,
                                         const SerializeOptions &options,
                                         Location loc) {
  bool amd = code.assemblyFormat == "isa";
  StringRef chip = target.getChip();
  if (amd && target.getCodeChip() != chip)
    return emitError(loc, "code for ")
           << target.getCodeChip() << " cannot become an object for " << chip
           << "; only PTX runs on later chips";
  if (!options.objectChip.empty()) {
    if (amd && chip != options.objectChip)
      return emitError(loc, "code for ")
             << chip << " cannot become an object for " << options.objectChip
             << "; only PTX runs on later chips";
    chip = options.objectChip;
  }
  // Code of one chip alone becomes an object for that one.
  if (!amd && chip == target.getChip() && tile::isForOneChipAlone(target))
    chip = target.getCodeChip();
  FailureOr<std::string> object =
      amd ? linkCodeObject(code.assembly, target, loc)
          : assemblePTX(code.assembly, chip, target, code.kernels, loc);
  if (failed(object))
    return failure();
  code.object = std::move(*object);
  code.objectFormat = amd ? "hsaco" : "cubin";
  code.objectChip = chip;
  return success();
}

FailureOr<CompiledKernels>
mlir::evoformer::serializeKernels(gpu::GPUModuleOp module,
                                  const SerializeOptions &options) {
  Location loc = module.getLoc();
  auto target = module->getAttrOfType<tile::TargetAttr>("evo_tile.target");
  if (!target)
    return module.emitError("a module of kernels needs the attribute "
                            "'evo_tile.target' of type #evo_tile.target");
  StringRef arch = target.getTriple().split('-').first;
  bool amd = arch == "amdgcn";
  if (!amd && arch != "nvptx64")
    return module.emitError("target '")
           << target.getChip() << "' (" << target.getTriple()
           << ") is not serialized; amdgcn and nvptx64 are";
  if (failed(checkLowered(module)))
    return failure();

  CompiledKernels result;
  result.name = module.getName();
  result.chip = target.getChip();
  // Kernels that come with a wish for the number of waves.
  SmallVector<std::string> pinned;
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!kernel->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      continue;
    result.kernels.push_back(startReport(kernel, target));
    if (kernel->hasAttr(
            ROCDL::ROCDLDialect::WavesPerEuAttrHelper::getNameStr()))
      pinned.push_back(kernel.getName().str());
  }

  OwningOpRef<gpu::GPUModuleOp> copy = module.clone();
  if (!amd && failed(expandInlinePTX(*copy)))
    return module.emitError("expanding inline PTX did not converge");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*copy, context, result.name);
  if (!code)
    return module.emitError("translation to LLVM IR failed");
  FailureOr<std::unique_ptr<CodeGenerator>> generator =
      CodeGenerator::create(target, options.optimization, loc);
  if (failed(generator) || failed((*generator)->optimize(*code)))
    return failure();
  if (amd && options.optimization > 0)
    economizeRareWork(*code);
  if (amd)
    keepWavesWhole(*code);
  result.assemblyFormat = amd ? "isa" : "ptx";
  if (failed(amd ? generateTunedISA(**generator, *code, target, result, pinned,
                                    loc)
                 : generatePTX(**generator, *code, result)))
    return failure();
  for (KernelReport &kernel : result.kernels)
    modelKernel(kernel, target);
  if (amd && failed(checkBarrierWaits(result.assembly, result.kernels, loc)))
    return failure();
  if (options.object && failed(addObject(result, target, options, loc)))
    return failure();
  return result;
}
