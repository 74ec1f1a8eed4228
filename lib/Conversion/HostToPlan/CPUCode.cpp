//===- CPUCode.cpp - A plan's kernels for the CPU -------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/HostToPlan/CPUCode.h"
#include "Evoformer/Conversion/TileToCPU/TileToCPU.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace mlir::evoformer;

OwningOpRef<ModuleOp> mlir::evoformer::copyKernels(ModuleOp module) {
  OwningOpRef<ModuleOp> kernels = module.clone();
  // The plan's interpreter takes the place of the host functions; what they
  // tell of the kernels' spaces is kept.
  SymbolTable symbols(*kernels);
  kernels->walk([&](tile::LaunchOp launch) {
    if (auto kernel = symbols.lookup<tile::KernelOp>(launch.getKernel()))
      kernel->setAttr(
          tile::kNumExtentsAttr,
          IntegerAttr::get(IntegerType::get(launch.getContext(), 64),
                           static_cast<int64_t>(launch.getSpace().size())));
  });
  for (auto function :
       llvm::make_early_inc_range(kernels->getOps<func::FuncOp>()))
    function.erase();
  return kernels;
}

/// The module without the definitions of `kernels` other than this one.
static std::string printAlone(const llvm::Module &module, StringRef kernel,
                              const llvm::StringSet<> &kernels) {
  llvm::ValueToValueMapTy values;
  std::unique_ptr<llvm::Module> alone =
      llvm::CloneModule(module, values, [&](const llvm::GlobalValue *value) {
        return value->getName() == kernel ||
               !kernels.contains(value->getName());
      });
  for (llvm::Function &function : llvm::make_early_inc_range(*alone))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  std::string text;
  llvm::raw_string_ostream(text) << *alone;
  return text;
}

FailureOr<PlanCode> mlir::evoformer::compileKernelsForCPU(ModuleOp module) {
  PlanCode code;
  OwningOpRef<ModuleOp> kernels = copyKernels(module);
  llvm::StringSet<> names;
  for (auto kernel : kernels->getOps<tile::KernelOp>()) {
    PlanKernel entry;
    entry.name = entry.symbol = kernel.getSymName().str();
    names.insert(entry.symbol);
    code.kernels.push_back(std::move(entry));
  }

  PassManager pm(module.getContext());
  // The translation verifies what it is given, and people wait for this.
  pm.enableVerifier(false);
  buildTileToCPULLVMPipeline(pm);
  if (failed(pm.run(*kernels)))
    return failure();

  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(*kernels, context);
  if (!translated)
    return module.emitError("the kernels cannot be translated to LLVM IR");
  // Each by itself: a run turns only those that it launches into machine code.
  for (PlanKernel &kernel : code.kernels) {
    kernel.object = code.objects.size();
    PlanObject object;
    object.format = "llvm";
    object.target = "cpu";
    object.contents = printAlone(*translated, kernel.symbol, names);
    code.objects.push_back(std::move(object));
  }
  return code;
}
