//===- CPUModule.cpp - LLVM IR compiled in process ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPUModule.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

static std::string getEntryName(StringRef symbol) {
  return (symbol + ".evoformer_entry").str();
}

/// What LLVM calls to round a scalar to bf16 where the processor has no
/// instruction for it. Kernels round by bit arithmetic, but a bf16 that lives
/// from one basic block to another is held as f32, so a mere copy rounds, too,
/// and the compiler's run-time library is not always there or too old. The
/// result is in the lower half of the register that returns an f32.
static float roundToBF16(float value) {
  uint32_t bits = bit_cast<uint32_t>(value);
  if (value != value)
    return bit_cast<float>(bits >> 16 | 0x40);
  return bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Adds the function that unpacks the slots and calls `function`.
static void addEntry(Function &function) {
  LLVMContext &context = function.getContext();
  Type *i64 = Type::getInt64Ty(context);
  auto *type = FunctionType::get(Type::getVoidTy(context),
                                 {PointerType::getUnqual(context), i64, i64},
                                 /*isVarArg=*/false);
  Function *entry =
      Function::Create(type, GlobalValue::ExternalLinkage,
                       getEntryName(function.getName()), function.getParent());
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> arguments;
  size_t numSlots = function.arg_size() - 2;
  for (size_t i = 0; i < numSlots; ++i) {
    Value *slot = builder.CreateConstInBoundsGEP1_64(i64, entry->getArg(0), i);
    arguments.push_back(
        builder.CreateLoad(function.getArg(i)->getType(), slot));
  }
  arguments.push_back(entry->getArg(1));
  arguments.push_back(entry->getArg(2));
  builder.CreateCall(&function, arguments);
  builder.CreateRetVoid();
}

static bool canHaveEntry(const Function &function) {
  if (function.isDeclaration() || function.hasLocalLinkage() ||
      function.isVarArg() || !function.getReturnType()->isVoidTy() ||
      function.arg_size() < 2)
    return false;
  for (const Argument &argument : function.args()) {
    Type *type = argument.getType();
    if (!type->isPointerTy() && !type->isIntegerTy() &&
        !type->isFloatingPointTy())
      return false;
    if (type->isIntegerTy() && type->getIntegerBitWidth() > 64)
      return false;
  }
  size_t count = function.arg_size();
  return function.getArg(count - 1)->getType()->isIntegerTy(64) &&
         function.getArg(count - 2)->getType()->isIntegerTy(64);
}

static void optimize(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager cgscc;
  llvm::ModuleAnalysisManager modules;
  // Kernels come with the loops that they want: of the others, unrolling took a
  // third of the time to compile and made no attention quicker.
  PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgscc);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgscc, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3)
      .run(module, modules);
}

/// The optimised module as a relocatable object.
static Expected<std::string> compileToObject(Module &module,
                                             TargetMachine &machine) {
  optimize(module, machine);
  SmallVector<char, 0> object;
  raw_svector_ostream os(object);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr,
                                  CodeGenFileType::ObjectFile))
    return createStringError(
        "this processor's code generator writes no objects");
  passes.run(module);
  return std::string(object.begin(), object.end());
}

/// Machine code of the module that was read from `object`: kept, or new.
static Expected<std::string>
getCode(const mlir::evoformer::runtime::KernelObject &object, Module &module,
        orc::JITTargetMachineBuilder &host,
        mlir::evoformer::runtime::CodeStore *store) {
  // Everything that it depends on but this library.
  std::string key;
  std::shared_ptr<void> lock;
  if (store) {
    SHA256 hash;
    const std::string parts[] = {object.contents, host.getTargetTriple().str(),
                                 host.getCPU(), host.getFeatures().getString()};
    for (StringRef part : parts) {
      hash.update(std::to_string(part.size()) + ":");
      hash.update(part);
    }
    key = toHex(hash.final(), /*LowerCase=*/true);
    if (std::optional<std::string> kept = store->get(key))
      return *kept;
    lock = store->lock(key);
    if (std::optional<std::string> kept = store->get(key))
      return *kept;
  }
  Expected<std::unique_ptr<TargetMachine>> machine = host.createTargetMachine();
  if (!machine)
    return machine.takeError();
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  Expected<std::string> code = compileToObject(module, **machine);
  if (code && store)
    store->put(key, *code);
  return code;
}

namespace mlir::evoformer::runtime {

CPUModule::CPUModule() = default;
CPUModule::~CPUModule() = default;

Expected<std::shared_ptr<CPUModule>>
CPUModule::compile(const KernelObject &object, CodeStore *store) {
  if (object.format != "llvm")
    return createStringError("the CPU runs LLVM IR, not '" + object.format +
                             "' for " + object.target);
  static const bool initialized = [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;

  auto context = std::make_unique<LLVMContext>();
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module =
      parseIR(MemoryBufferRef(object.contents, "kernel"), diagnostic, *context);
  if (!module)
    return createStringError("its LLVM IR is malformed: " +
                             diagnostic.getMessage());
  std::string problem;
  raw_string_ostream os(problem);
  if (verifyModule(*module, &os))
    return createStringError("its LLVM IR is malformed: " + problem);

  std::shared_ptr<CPUModule> result(new CPUModule());
  SmallVector<Function *> kernels;
  for (Function &function : *module)
    if (canHaveEntry(function))
      kernels.push_back(&function);
  for (Function *function : kernels) {
    result->numParameters[function->getName()] = function->arg_size();
    addEntry(*function);
  }

  Expected<orc::JITTargetMachineBuilder> host =
      orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return host.takeError();
  host->setCodeGenOptLevel(CodeGenOptLevel::Aggressive);
  // What LLJIT's linker takes.
  host->setRelocationModel(Reloc::PIC_);
  host->setCodeModel(CodeModel::Small);
  Expected<std::string> code = getCode(object, *module, *host, store);
  if (!code)
    return code.takeError();

  auto jit = orc::LLJITBuilder().setJITTargetMachineBuilder(*host).create();
  if (!jit)
    return jit.takeError();
  // The kernels may call libm.
  auto generator = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!generator)
    return generator.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*generator));
  orc::SymbolMap symbols;
  symbols[(*jit)->mangleAndIntern("__truncsfbf2")] = {
      orc::ExecutorAddr::fromPtr(&roundToBF16), JITSymbolFlags::Exported};
  if (Error error = (*jit)->getMainJITDylib().define(
          orc::absoluteSymbols(std::move(symbols))))
    return error;
  if (Error error = (*jit)->addObjectFile(
          MemoryBuffer::getMemBufferCopy(*code, "kernel")))
    return error;
  result->jit = std::move(*jit);
  return result;
}

Expected<CPUEntry> CPUModule::lookup(StringRef symbol, size_t numArguments) {
  auto it = numParameters.find(symbol);
  if (it == numParameters.end())
    return createStringError("its module has no kernel function '" + symbol +
                             "'");
  if (it->second != numArguments + 2)
    return createStringError("function '" + symbol + "' takes " +
                             Twine(it->second) + " parameters where " +
                             Twine(numArguments) +
                             " arguments and a range are expected");
  Expected<orc::ExecutorAddr> address = jit->lookup(getEntryName(symbol));
  if (!address)
    return address.takeError();
  return address->toPtr<CPUEntry>();
}

} // namespace mlir::evoformer::runtime
