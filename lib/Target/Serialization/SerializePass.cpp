//===- SerializePass.cpp - Writing code objects ---------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Support/HostResources.h"
#include "Evoformer/Target/Serialize.h"
#include "Evoformer/Target/SerializePasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_EVOFORMERSERIALIZE
#include "Evoformer/Target/SerializePasses.h.inc"
} // namespace mlir::evoformer

using namespace mlir;
using namespace mlir::evoformer;

static LogicalResult writeWhole(StringRef path, StringRef contents,
                                Location loc) {
  llvm::Error error =
      writeFile(path, [&](llvm::raw_ostream &os) { os << contents; });
  if (!error)
    return success();
  return emitError(loc, "cannot write ")
         << path << ": " << llvm::toString(std::move(error));
}

/// Code of some of a program's work must not pass for all of it.
static LogicalResult checkHost(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    bool launches = function
                        .walk([](Operation *op) {
                          return isa<tile::LaunchOp, gpu::LaunchFuncOp>(op)
                                     ? WalkResult::interrupt()
                                     : WalkResult::advance();
                        })
                        .wasInterrupted();
    if (!launches)
      continue;
    WalkResult left = function.walk([](DestinationStyleOpInterface op) {
      op->emitOpError("is left in a function that launches kernels, and is "
                      "none itself; run convert-linalg-to-tile first");
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      return failure();
  }
  return success();
}

namespace {
class EvoformerSerialize
    : public evoformer::impl::EvoformerSerializeBase<EvoformerSerialize> {
public:
  using EvoformerSerializeBase::EvoformerSerializeBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerSerialization(registry);
  }

protected:
  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  LogicalResult checkOptions();
  LogicalResult embedCode(gpu::GPUModuleOp module, StringRef format,
                          StringRef contents);
  LogicalResult embedBest(gpu::GPUModuleOp module, const CompiledKernels &code);
  LogicalResult embedModule(gpu::GPUModuleOp module);
  LogicalResult writeCode(const CompiledKernels &code, Location loc);
  LogicalResult writeReport(ArrayRef<CompiledKernels> modules);
};
} // namespace

LogicalResult EvoformerSerialize::checkOptions() {
  Location loc = getOperation().getLoc();
  if (format != "isa" && format != "ptx" && format != "object" &&
      format != "mlir")
    return emitError(loc, "unknown format '")
           << format << "'; known formats: isa, ptx, object, mlir";
  if (format == "mlir" && !embed)
    return emitError(loc, "the format 'mlir' is for 'embed' only");
  if (optimization > 3)
    return emitError(loc, "optimization level ")
           << unsigned(optimization) << " is not one of 0 to 3";
  if (outDir.empty())
    return success();
  if (std::error_code error = llvm::sys::fs::create_directories(outDir))
    return emitError(loc, "cannot create ")
           << outDir << ": " << error.message();
  return success();
}

LogicalResult EvoformerSerialize::writeCode(const CompiledKernels &code,
                                            Location loc) {
  if (outDir.empty())
    return success();
  llvm::SmallString<128> base(outDir);
  llvm::sys::path::append(base, code.name);
  StringRef suffix = code.assemblyFormat == "isa" ? ".s" : ".ptx";
  if (failed(writeWhole((base + suffix).str(), code.assembly, loc)))
    return failure();
  if (code.object.empty())
    return success();
  return writeWhole((base + "." + code.objectFormat).str(), code.object, loc);
}

/// What gpu-module-to-binary makes of a module.
LogicalResult EvoformerSerialize::embedCode(gpu::GPUModuleOp module,
                                            StringRef format,
                                            StringRef contents) {
  if (!module.getTargets())
    return module.emitError("has no target of upstream's to embed code for; "
                            "run convert-tile-launch-to-gpu first");
  // Assembly is PTX, which the driver compiles.
  auto kind = format == "ptx" ? gpu::CompilationTarget::Assembly
                              : gpu::CompilationTarget::Binary;
  OpBuilder builder(module);
  auto object = builder.getAttr<gpu::ObjectAttr>(
      module.getTargets()->getValue().front(), kind,
      builder.getStringAttr(contents), /*properties=*/DictionaryAttr(),
      /*kernels=*/gpu::KernelTableAttr());
  gpu::BinaryOp::create(builder, module.getLoc(), module.getName(),
                        module.getOffloadingHandlerAttr(),
                        builder.getArrayAttr(object));
  module.erase();
  return success();
}

/// The object where there is one. ISA text is nothing that a driver takes.
LogicalResult EvoformerSerialize::embedBest(gpu::GPUModuleOp module,
                                            const CompiledKernels &code) {
  if (!code.object.empty())
    return embedCode(module, code.objectFormat, code.object);
  if (code.assemblyFormat == "isa")
    return module.emitError("the format 'isa' cannot be embedded: drivers take "
                            "objects; give the format 'object'");
  return embedCode(module, code.assemblyFormat, code.assembly);
}

LogicalResult EvoformerSerialize::embedModule(gpu::GPUModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  return embedCode(module, "mlir", text);
}

LogicalResult
EvoformerSerialize::writeReport(ArrayRef<CompiledKernels> modules) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printReports(modules, StringRef(report).ends_with(".json"), os);
  if (report == "-") {
    llvm::errs() << text;
    return success();
  }
  return writeWhole(report, text, getOperation().getLoc());
}

LogicalResult EvoformerSerialize::run() {
  if (failed(checkOptions()) || failed(checkHost(getOperation())))
    return failure();
  SerializeOptions options;
  options.object = format == "object";
  options.objectChip = objectChip;
  options.optimization = optimization;
  SmallVector<CompiledKernels> compiled;
  SmallVector<gpu::GPUModuleOp> modules(
      getOperation().getOps<gpu::GPUModuleOp>());
  if (modules.empty())
    return getOperation().emitError(
        "holds no gpu.module to serialize; evoformer-lower with the target of "
        "a GPU makes one (what it makes for the CPU evoformer-run runs)");
  for (gpu::GPUModuleOp module : modules) {
    if (format == "mlir") {
      if (failed(embedModule(module)))
        return failure();
      continue;
    }
    FailureOr<CompiledKernels> code = serializeKernels(module, options);
    if (failed(code))
      return failure();
    if ((format == "isa" || format == "ptx") && code->assemblyFormat != format)
      return module.emitError("target '")
             << code->chip << "' has no " << format << "; it has "
             << code->assemblyFormat;
    compiled.push_back(std::move(*code));
    if (failed(writeCode(compiled.back(), module.getLoc())))
      return failure();
    if (embed && failed(embedBest(module, compiled.back())))
      return failure();
  }
  return report.empty() ? success() : writeReport(compiled);
}
