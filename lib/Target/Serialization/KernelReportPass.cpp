//===- KernelReportPass.cpp - Reports in the place of code ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/Serialize.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::evoformer;

void mlir::evoformer::printReports(ArrayRef<CompiledKernels> modules,
                                   bool asJSON, raw_ostream &os) {
  llvm::json::Array kernels;
  for (const CompiledKernels &module : modules)
    for (const KernelReport &kernel : module.kernels) {
      if (asJSON)
        kernels.push_back(kernel.toJSON());
      else
        kernel.print(os);
    }
  if (asJSON)
    os << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(kernels)));
}

namespace {
/// Not for pipelines: it prints what `evoformer-opt --report` asks for.
class KernelReportPass
    : public PassWrapper<KernelReportPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelReportPass)

  KernelReportPass(raw_ostream &os, bool asJSON) : os(os), asJSON(asJSON) {}

  StringRef getArgument() const override { return "evoformer-kernel-report"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerSerialization(registry);
  }

protected:
  void runOnOperation() override {
    SmallVector<CompiledKernels> compiled;
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
      SerializeOptions options;
      auto target = module->getAttrOfType<tile::TargetAttr>("evo_tile.target");
      // Without ptxas nobody knows registers, but PTX can be counted.
      options.object = !target || !target.getTriple().starts_with("nvptx") ||
                       !findPtxas().empty();
      FailureOr<CompiledKernels> code = serializeKernels(module, options);
      if (failed(code))
        return signalPassFailure();
      compiled.push_back(std::move(*code));
    }
    if (compiled.empty()) {
      getOperation().emitError("holds no gpu.module to report on; "
                               "evoformer-lower with the target of "
                               "a GPU makes one");
      return signalPassFailure();
    }
    printReports(compiled, asJSON, os);
  }

private:
  raw_ostream &os;
  bool asJSON;
};
} // namespace

std::unique_ptr<Pass> mlir::evoformer::createKernelReport(raw_ostream &os,
                                                          bool asJSON) {
  return std::make_unique<KernelReportPass>(os, asJSON);
}
