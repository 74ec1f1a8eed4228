//===- GPUCode.cpp - A plan's kernels for GPUs ----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GPUCode.h"
#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::evoformer;

FailureOr<SerializeOptions>
mlir::evoformer::getSerializeOptions(gpu::GPUModuleOp module,
                                     const CompileOptions &options) {
  auto target = module->getAttrOfType<tile::TargetAttr>("evo_tile.target");
  if (!target)
    return module.emitOpError("has no 'evo_tile.target'");
  StringRef chip = target.getChip();
  if (!chip.starts_with(options.device == "hip" ? "gfx" : "sm_"))
    return module.emitError("device '")
           << options.device << "' runs no code for target " << chip;
  SerializeOptions serialization;
  serialization.object = options.device == "hip" || !options.cubinChip.empty();
  serialization.objectChip = options.cubinChip;
  return serialization;
}

/// What convert-tile-to-gpu says of a kernel's tensor maps.
static std::vector<runtime::TensorMapArgument>
readTensorMaps(LLVM::LLVMFuncOp function) {
  std::vector<runtime::TensorMapArgument> maps;
  auto described = function->getAttrOfType<ArrayAttr>(kTensorMapsAttrName);
  if (!described)
    return maps;
  for (auto one : described.getAsRange<DictionaryAttr>()) {
    auto number = [&](StringRef name) {
      return one.getAs<IntegerAttr>(name).getInt();
    };
    auto list = [&](StringRef name) {
      return one.getAs<DenseI64ArrayAttr>(name).asArrayRef();
    };
    runtime::TensorMapArgument &map = maps.emplace_back();
    map.slot = number("slot");
    map.elementBytes = number("element_bytes");
    map.swizzle = number("swizzle");
    map.box.assign(list("box").begin(), list("box").end());
    map.endSlots.assign(list("end_slots").begin(), list("end_slots").end());
    map.ends.assign(list("ends").begin(), list("ends").end());
  }
  return maps;
}

/// The kernels of a module whose code is the plan's next object.
static LogicalResult appendKernels(gpu::GPUModuleOp module,
                                   ArrayRef<KernelReport> reports,
                                   PlanCode &code) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr("gpu.kernel"))
      continue;
    PlanKernel kernel;
    kernel.name = kernel.symbol = function.getSymName().str();
    kernel.object = code.objects.size();
    kernel.threads = getWorkgroupThreads(function);
    if (kernel.threads == 0)
      return function.emitOpError("does not say how many threads a workgroup "
                                  "has");
    kernel.ldsBytes = getDynamicLDSBytes(function);
    kernel.startsEarly = function->hasAttr(kStartsEarlyAttrName);
    kernel.tensorMaps = readTensorMaps(function);
    for (const KernelReport &report : reports)
      if (report.name == kernel.symbol)
        kernel.report = report.toJSON();
    code.kernels.push_back(std::move(kernel));
  }
  return success();
}

LogicalResult mlir::evoformer::appendCode(gpu::GPUModuleOp module,
                                          CompiledKernels compiled,
                                          PlanCode &code) {
  if (failed(appendKernels(module, compiled.kernels, code)))
    return failure();
  PlanObject object;
  object.target = compiled.chip;
  bool hasObject = !compiled.objectFormat.empty();
  object.format = hasObject ? compiled.objectFormat : compiled.assemblyFormat;
  object.contents = std::move(hasObject ? compiled.object : compiled.assembly);
  code.objects.push_back(std::move(object));
  return success();
}

/// For the simulator the module as it is.
static LogicalResult appendModule(gpu::GPUModuleOp module, PlanCode &code) {
  auto target = module->getAttrOfType<tile::TargetAttr>("evo_tile.target");
  if (!target)
    return module.emitOpError("has no 'evo_tile.target'");
  if (failed(appendKernels(module, {}, code)))
    return failure();
  PlanObject object;
  object.target = target.getChip().str();
  object.format = "mlir";
  llvm::raw_string_ostream os(object.contents);
  // With locations, so that findings can name them.
  module->print(os, OpPrintingFlags().enableDebugInfo());
  code.objects.push_back(std::move(object));
  return success();
}

FailureOr<PlanCode>
mlir::evoformer::collectGPUCode(ModuleOp module,
                                const CompileOptions &options) {
  PlanCode code;
  for (auto gpuModule : module.getOps<gpu::GPUModuleOp>()) {
    if (options.device == "sim") {
      if (failed(appendModule(gpuModule, code)))
        return failure();
      continue;
    }
    FailureOr<SerializeOptions> serialization =
        getSerializeOptions(gpuModule, options);
    if (failed(serialization))
      return failure();
    FailureOr<CompiledKernels> compiled =
        serializeKernels(gpuModule, *serialization);
    if (failed(compiled) ||
        failed(appendCode(gpuModule, std::move(*compiled), code)))
      return failure();
  }
  return code;
}
