//===- evoformer-opt.cpp - The project's passes on the command line -------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the project's dialects, passes and pipelines besides the
// upstream ones.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Pipelines/InitAll.h"
#include "Evoformer/Target/Targets.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

static llvm::cl::opt<bool> listTargets(
    "list-targets",
    llvm::cl::desc("Print the chips that are built in, a line each: name, "
                   "triple, lanes of a subgroup"));

static LogicalResult printTargets(llvm::raw_ostream &os) {
  MLIRContext context;
  for (StringRef chip : evoformer::tile::getKnownChips()) {
    FailureOr<evoformer::tile::TargetAttr> target =
        evoformer::tile::getTarget(UnknownLoc::get(&context), chip);
    if (failed(target))
      return failure();
    os << chip << ' ' << target->getTriple() << ' ' << target->getSubgroupSize()
       << '\n';
  }
  return success();
}

/// A message about a module of kernels would show all of it, thousands of
/// lines: what a message is about is shown where that is asked for.
static void hideOpsOfMessages() {
  registerMLIRContextCLOptions();
  auto *option =
      llvm::cl::getRegisteredOptions().lookup("mlir-print-op-on-diagnostic");
  if (option)
    static_cast<llvm::cl::opt<bool> *>(option)->setInitialValue(false);
}

int main(int argc, char **argv) {
  hideOpsOfMessages();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  // What upstream's gpu-module-to-binary asks for.
  registerAllGPUToLLVMIRTranslations(registry);
  registerAllPasses();
  evoformer::registerAllDialects(registry);
  evoformer::registerAllPasses();
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Compiler for biased gated attention\n", registry);
  return asMainReturnCode(
      listTargets ? printTargets(llvm::outs())
                  : MlirOptMain(argc, argv, input, output, registry));
}
