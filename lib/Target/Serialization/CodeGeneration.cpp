//===- CodeGeneration.cpp - LLVM's optimizer and code generators ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodeGeneration.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

using namespace mlir;
using namespace mlir::evoformer;

void mlir::evoformer::initializeCodeGenerators() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

namespace {

/// While it lives, LLVM's fatal errors (an intrinsic that a chip does not
/// have, say) end `run` instead of the process.
class FatalErrorGuard {
public:
  FatalErrorGuard() {
    std::lock_guard<std::mutex> lock(mutex());
    if (users()++ == 0) {
      llvm::CrashRecoveryContext::Enable();
      llvm::install_fatal_error_handler(handle);
    }
  }
  ~FatalErrorGuard() {
    std::lock_guard<std::mutex> lock(mutex());
    if (--users() == 0) {
      llvm::remove_fatal_error_handler();
      llvm::CrashRecoveryContext::Disable();
    }
  }

  /// Runs a function; false and a message where LLVM gave up.
  bool run(llvm::function_ref<void()> function, std::string &message) {
    llvm::CrashRecoveryContext context;
    reason() = nullptr;
    std::string text;
    reason() = &text;
    bool done = context.RunSafely(function);
    reason() = nullptr;
    if (!done)
      message = text.empty() ? "it crashed" : text;
    return done;
  }

private:
  static void handle(void *, const char *text, bool) {
    llvm::CrashRecoveryContext *context =
        llvm::CrashRecoveryContext::GetCurrent();
    if (!reason() || !context)
      return; // Not ours: LLVM goes on to end the process.
    *reason() = text;
    context->HandleExit(1);
  }

  static std::mutex &mutex() {
    static std::mutex instance;
    return instance;
  }
  static int &users() {
    static int count = 0;
    return count;
  }
  static std::string *&reason() {
    static thread_local std::string *text = nullptr;
    return text;
  }
};

/// Passes LLVM's diagnostics on as MLIR's.
class DiagnosticsToMLIR : public llvm::DiagnosticHandler {
public:
  DiagnosticsToMLIR(Location loc, bool &failed) : loc(loc), failed(failed) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
    switch (info.getSeverity()) {
    case llvm::DS_Error:
      failed = true;
      emitError(loc) << "code generator: " << text;
      break;
    case llvm::DS_Warning:
      emitWarning(loc) << "code generator: " << text;
      break;
    case llvm::DS_Remark:
    case llvm::DS_Note:
      break;
    }
    return true;
  }

private:
  Location loc;
  bool &failed;
};

} // namespace

/// What PTX needs of the middle end. A kernel is one function without calls,
/// whose loops MLIR has shaped and ptxas compiles once more: the default
/// pipelines would spend most of their time on inlining, on vectorizing loops
/// and on combining instructions a third to eighth time, for the same code.
constexpr llvm::StringLiteral kPTXPasses =
    "early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,reassociate,"
    "loop-mssa(loop-instsimplify,loop-rotate,licm),loop(indvars),gvn,bdce,"
    "instcombine<no-verify-fixpoint>,vector-combine,simplifycfg";

CodeGenerator::CodeGenerator(unsigned optimization, Location loc)
    : optimization(std::min(optimization, 3u)), loc(loc) {}

CodeGenerator::~CodeGenerator() = default;

FailureOr<std::unique_ptr<CodeGenerator>>
CodeGenerator::create(tile::TargetAttr target, unsigned optimization,
                      Location loc) {
  initializeCodeGenerators();
  llvm::Triple triple(target.getTriple().str());
  std::string error;
  const llvm::Target *generator =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!generator)
    return emitError(loc, "no code generator: ") << error;
  std::unique_ptr<llvm::MCSubtargetInfo> chips(
      generator->createMCSubtargetInfo(triple, "", ""));
  if (!chips || !chips->isCPUStringValid(target.getCodeChip()))
    return emitError(loc, "no code generator for chip '")
           << target.getCodeChip() << "' of " << target.getTriple();
  llvm::TargetOptions options;
  // The report reads the comments of the listing.
  options.MCOptions.AsmVerbose = true;
  std::unique_ptr<CodeGenerator> result(new CodeGenerator(optimization, loc));
  // For PTX the third level is the second with global value numbering, which
  // has been done.
  unsigned level = std::min(result->optimization, triple.isNVPTX() ? 2u : 3u);
  result->machine.reset(generator->createTargetMachine(
      triple, target.getCodeChip(), target.getFeatures(), options,
      llvm::Reloc::PIC_, std::nullopt,
      static_cast<llvm::CodeGenOptLevel>(level)));
  return result;
}

LogicalResult CodeGenerator::run(llvm::LLVMContext &context,
                                 llvm::function_ref<void()> function) {
  bool failed = false;
  context.setDiagnosticHandler(
      std::make_unique<DiagnosticsToMLIR>(loc, failed));
  FatalErrorGuard guard;
  std::string message;
  if (!guard.run(function, message)) {
    // The generator's state is unknown: better to leak it than to touch it.
    (void)machine.release();
    return emitError(loc, "the code generator gave up: ") << message;
  }
  return failure(failed);
}

static llvm::ModulePassManager buildPasses(llvm::PassBuilder &builder,
                                           unsigned optimization, bool forPTX) {
  static const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  if (optimization == 0)
    return builder.buildO0DefaultPipeline(levels[0]);
  if (optimization == 1 || !forPTX)
    return builder.buildPerModuleDefaultPipeline(levels[optimization]);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, kPTXPasses));
  return passes;
}

LogicalResult CodeGenerator::optimize(llvm::Module &module) {
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  if (machine->getTargetTriple().isAMDGCN())
    // Version 5 loads on every ROCm from 5.x on; code of families of chips is
    // of version 6 ("User Guide for AMDGPU Backend", "Generic Processors").
    module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version",
                         machine->getTargetCPU().ends_with("-generic") ? 600
                                                                       : 500);
  return run(module.getContext(), [&] {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager graph;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(machine.get());
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graph);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graph, modules);
    buildPasses(builder, optimization, machine->getTargetTriple().isNVPTX())
        .run(module, modules);
  });
}

static llvm::AnalysisID findPass(StringRef name) {
  const llvm::PassInfo *pass =
      llvm::PassRegistry::getPassRegistry()->getPassInfo(name);
  return pass ? pass->getTypeInfo() : nullptr;
}

/// Changes LLVM's own order of passes for AMD's chips.
///
/// LLVM 22's SIPreEmitPeephole removes the AND of a comparison with EXEC before
/// a branch (SIInstrInfo.cpp's isVOPC is all that it asks), though a scalar
/// choice behind it reads that AND's SCC: where 64-bit sizes are compared, the
/// choice is then by what SCC happened to be.
static void changeMachinePasses() {
  static llvm::RegisterTargetPassConfigCallback change(
      [](llvm::TargetMachine &machine, llvm::PassManagerBase &,
         llvm::TargetPassConfig *config) {
        if (!machine.getTargetTriple().isAMDGCN())
          return;
        if (llvm::AnalysisID peephole = findPass("si-pre-emit-peephole"))
          config->disablePass(peephole);
        if (llvm::AnalysisID spills = findPass("si-lower-sgpr-spills"))
          config->insertPass(spills, createUnusedSlotsPass());
      });
}

FailureOr<std::string> CodeGenerator::emit(const llvm::Module &module,
                                           const llvm::StringSet<> &leftOut) {
  // Code generation changes the IR.
  llvm::ValueToValueMapTy values;
  std::unique_ptr<llvm::Module> copy =
      llvm::CloneModule(module, values, [&](const llvm::GlobalValue *value) {
        return !leftOut.contains(value->getName());
      });
  llvm::SmallString<0> text;
  bool refused = false;
  LogicalResult result = run(copy->getContext(), [&] {
    llvm::raw_svector_ostream os(text);
    llvm::legacy::PassManager passes;
    changeMachinePasses();
    refused = machine->addPassesToEmitFile(passes, os, nullptr,
                                           llvm::CodeGenFileType::AssemblyFile);
    if (!refused)
      passes.run(*copy);
  });
  if (!machine)
    (void)copy.release();
  if (failed(result))
    return failure();
  if (refused)
    return emitError(loc, "the code generator writes no assembly");
  return text.str().str();
}
