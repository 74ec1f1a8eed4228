//===- evoformer-opt.cpp - The project's passes on the command line -------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the project's dialects, passes and pipelines besides the
// upstream ones, and reports on the kernels that they make.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Pipelines/InitAll.h"
#include "Evoformer/Target/Serialize.h"
#include "Evoformer/Target/Targets.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

static llvm::cl::opt<bool> listTargets(
    "list-targets",
    llvm::cl::desc("Print the chips that are built in, a line each: name, "
                   "triple, lanes of a subgroup; behind them, of chips that "
                   "are like another one, that one"));

static llvm::cl::opt<std::string> reportForm(
    "report", llvm::cl::ValueOptional, llvm::cl::init("none"),
    llvm::cl::desc("Behind the passes compile all kernels, and instead of the "
                   "module print registers, memory, instructions and modelled "
                   "cycles of each: text, or json"));

static LogicalResult printTargets(llvm::raw_ostream &os) {
  MLIRContext context;
  auto print = [&](StringRef chip) -> LogicalResult {
    FailureOr<evoformer::tile::TargetAttr> target =
        evoformer::tile::getTarget(UnknownLoc::get(&context), chip);
    if (succeeded(target))
      os << chip << ' ' << target->getTriple() << ' '
         << target->getSubgroupSize();
    return target;
  };
  for (StringRef chip : evoformer::tile::getKnownChips()) {
    if (failed(print(chip)))
      return failure();
    os << '\n';
  }
  for (const evoformer::tile::OtherChip &other :
       evoformer::tile::getOtherChips()) {
    if (failed(print(other.name)))
      return failure();
    os << ' ' << other.same << '\n';
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

/// The passes that were asked for, and reports in the place of the module.
static LogicalResult printReports(StringRef input, StringRef output,
                                  DialectRegistry &registry) {
  if (!reportForm.empty() && reportForm != "text" && reportForm != "json") {
    llvm::WithColor::error(llvm::errs(), "evoformer-opt")
        << "--report is text or json, not '" << reportForm << "'\n";
    return failure();
  }
  std::string problem;
  auto file = openInputFile(input, &problem);
  auto printed = file ? openOutputFile(output, &problem) : nullptr;
  if (!printed) {
    llvm::errs() << problem << '\n';
    return failure();
  }
  MlirOptMainConfig asked = MlirOptMainConfig::createFromCLOptions();
  if (!asked.inputSplitMarker().empty()) {
    llvm::WithColor::error(llvm::errs(), "evoformer-opt")
        << "--report is of one module, --split-input-file makes several\n";
    return failure();
  }
  bool asJSON = reportForm == "json";
  MlirOptMainConfig config = asked;
  config.setPassPipelineSetupFn([&](PassManager &pm) {
    if (failed(asked.setupPassPipeline(pm)))
      return failure();
    pm.addPass(evoformer::createKernelReport(printed->os(), asJSON));
    return success();
  });
  if (failed(MlirOptMain(llvm::nulls(), std::move(file), registry, config)))
    return failure();
  printed->keep();
  return success();
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
  if (listTargets)
    return asMainReturnCode(printTargets(llvm::outs()));
  if (reportForm.getNumOccurrences() != 0)
    return asMainReturnCode(printReports(input, output, registry));
  return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
}
