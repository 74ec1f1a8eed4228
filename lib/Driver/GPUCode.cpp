//===- GPUCode.cpp - A plan's kernels for GPUs ----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GPUCode.h"
#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Target/Serialize.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::evoformer;

/// Threads of a workgroup, which both vendors' attributes tell.
static int64_t getThreads(LLVM::LLVMFuncOp function) {
  for (StringRef name : {"rocdl.reqd_work_group_size", "nvvm.reqntid"}) {
    if (auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(name)) {
      int64_t product = 1;
      for (int32_t size : sizes.asArrayRef())
        product *= size;
      return product;
    }
  }
  return 0;
}

/// Bytes of LDS that the launch provides: what lowering to LLVM placed behind
/// the shared symbol, or what distribution placed behind an external array of
/// the kernel's own.
static int64_t getDynamicLDSBytes(LLVM::LLVMFuncOp function) {
  if (auto bytes = function->getAttrOfType<IntegerAttr>(kDynamicLDSAttrName))
    return bytes.getInt();
  auto bytes = function->getAttrOfType<IntegerAttr>("evo_tile.lds_bytes");
  if (!bytes)
    return 0;
  bool isExternal =
      function
          .walk([&](LLVM::AddressOfOp address) {
            auto global = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(
                address, address.getGlobalNameAttr());
            bool found = global && global.getAddrSpace() == 3 &&
                         global.getLinkage() == LLVM::Linkage::External;
            return found ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  return isExternal ? bytes.getInt() : 0;
}

static FailureOr<PlanObject> makeObject(gpu::GPUModuleOp module,
                                        const CompileOptions &options,
                                        std::vector<KernelReport> &reports) {
  PlanObject object;
  auto target = module->getAttrOfType<tile::TargetAttr>("evo_tile.target");
  if (!target)
    return module.emitOpError("has no 'evo_tile.target'");
  object.target = target.getChip().str();
  if (options.device == "sim") {
    object.format = "mlir";
    llvm::raw_string_ostream os(object.contents);
    // With locations, so that findings can name them.
    module->print(os, OpPrintingFlags().enableDebugInfo());
    return object;
  }
  bool fits = StringRef(object.target)
                  .starts_with(options.device == "hip" ? "gfx" : "sm_");
  if (!fits)
    return module.emitError("device '")
           << options.device << "' runs no code for target " << object.target;
  SerializeOptions serialization;
  serialization.object = options.device == "hip" || !options.cubinChip.empty();
  serialization.objectChip = options.cubinChip;
  FailureOr<CompiledKernels> compiled = serializeKernels(module, serialization);
  if (failed(compiled))
    return failure();
  reports = std::move(compiled->kernels);
  bool wantsObject = serialization.object;
  object.format =
      wantsObject ? compiled->objectFormat : compiled->assemblyFormat;
  object.contents =
      std::move(wantsObject ? compiled->object : compiled->assembly);
  return object;
}

FailureOr<PlanCode>
mlir::evoformer::collectGPUCode(ModuleOp module,
                                const CompileOptions &options) {
  PlanCode code;
  for (auto gpuModule : module.getOps<gpu::GPUModuleOp>()) {
    std::vector<KernelReport> reports;
    FailureOr<PlanObject> object = makeObject(gpuModule, options, reports);
    if (failed(object))
      return failure();
    for (auto function : gpuModule.getOps<LLVM::LLVMFuncOp>()) {
      if (!function->hasAttr("gpu.kernel"))
        continue;
      PlanKernel kernel;
      kernel.name = kernel.symbol = function.getSymName().str();
      kernel.object = code.objects.size();
      kernel.threads = getThreads(function);
      if (kernel.threads == 0)
        return function.emitOpError("does not say how many threads a workgroup "
                                    "has");
      kernel.ldsBytes = getDynamicLDSBytes(function);
      for (const KernelReport &report : reports)
        if (report.name == kernel.symbol)
          kernel.report = report.toJSON();
      code.kernels.push_back(std::move(kernel));
    }
    code.objects.push_back(std::move(*object));
  }
  return code;
}
