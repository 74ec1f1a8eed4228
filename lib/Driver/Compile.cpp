//===- Compile.cpp - From a module to a launch plan -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/Compile.h"
#include "Evoformer/Conversion/HostToPlan/CPUCode.h"
#include "Evoformer/Driver/DeferredKernels.h"
#include "Evoformer/Pipelines/InitAll.h"
#include "Evoformer/Pipelines/Pipelines.h"
#include "Evoformer/Target/Serialize.h"
#include "Evoformer/Target/Targets.h"
#include "GPUCode.h"
#include "Level.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::evoformer;

void mlir::evoformer::registerForCompilation(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  evoformer::registerAllDialects(registry);
  registerSerialization(registry);
}

std::optional<Level> mlir::evoformer::parseLevel(StringRef name) {
  return llvm::StringSwitch<std::optional<Level>>(name)
      .Case("tiles", Level::Tiles)
      .Case("fragments", Level::Fragments)
      .Case("staged", Level::Staged)
      .Case("pipelined", Level::Pipelined)
      .Default(std::nullopt);
}

bool mlir::evoformer::splitsProducts(MLIRContext &context,
                                     const CompileOptions &options) {
  // Kernels over tiles have no instructions.
  if (options.device == "cpu" && options.level != "pipelined")
    return false;
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  FailureOr<tile::TargetAttr> target =
      tile::getTarget(UnknownLoc::get(&context), options.target);
  if (succeeded(target))
    target = tile::chooseProducts(UnknownLoc::get(&context), *target,
                                  options.f32Products);
  return succeeded(target) &&
         llvm::any_of(
             target->getMatrix().getAsRange<tile::MatrixInstrAttr>(),
             [](tile::MatrixInstrAttr instr) { return instr.getTerms() > 1; });
}

FailureOr<llvm::json::Value>
mlir::evoformer::compileToPlan(ModuleOp module, const CompileOptions &options) {
  std::optional<Level> level = parseLevel(options.level);
  if (!level)
    return module.emitError("unknown level '")
           << options.level << "': it is tiles, fragments, staged or pipelined";
  bool onCPU = options.device == "cpu";
  if (!onCPU && options.target == "cpu")
    return module.emitError("device '")
           << options.device
           << "' needs a target other than cpu, such as sm_90 or gfx942";

  LowerOptions lowering;
  lowering.target = options.target;
  lowering.schedule = options.schedule;
  lowering.biasGradients = options.biasGradients;
  lowering.partialSumBytes = options.partialSumBytes;
  lowering.f32Products = options.f32Products;
  lowering.checkSizes = true;
  lowering.linalgKernels = true;
  lowering.stopAfter = options.deferKernels ? Level::Tiles
                       : onCPU              ? *level
                                            : Level::Machine;
  PassManager pm(module.getContext());
  // Parsing verifies what a user gives, and evoformer-opt what each pass makes
  // of it: a tenth of the time in which people wait.
  pm.enableVerifier(false);
  buildLowerPipeline(pm, lowering);
  if (failed(pm.run(module)))
    return failure();
  if (options.deferKernels)
    return emitLaunchPlan(module, deferKernels(module));
  FailureOr<PlanCode> code =
      onCPU ? compileKernelsForCPU(module) : collectGPUCode(module, options);
  if (failed(code))
    return failure();
  return emitLaunchPlan(module, *code);
}

/// Arguments without an `evoformer.name` get the name that the text gives them.
static void nameArguments(func::FuncOp function, const AsmParserState &state) {
  if (function.isExternal())
    return;
  const AsmParserState::BlockDefinition *block =
      state.getBlockDef(&function.getBody().front());
  if (!block)
    return;
  for (auto [index, argument] : llvm::enumerate(block->arguments)) {
    StringRef text(argument.loc.Start.getPointer(),
                   argument.loc.End.getPointer() -
                       argument.loc.Start.getPointer());
    if (text.consume_front("%") && !text.empty() &&
        !function.getArgAttr(index, "evoformer.name"))
      function.setArgAttr(index, "evoformer.name",
                          StringAttr::get(function.getContext(), text));
  }
}

static OwningOpRef<ModuleOp> parseWithNames(MLIRContext &context,
                                            StringRef text, StringRef name) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name),
                             SMLoc());
  Block block;
  AsmParserState state;
  if (failed(
          parseAsmSourceFile(sources, &block, ParserConfig(&context), &state)))
    return nullptr;
  block.walk([&](func::FuncOp function) { nameArguments(function, state); });
  auto location = FileLineColLoc::get(&context, name, 0, 0);
  return mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, &context, location);
}

/// Compiles with as many kernels' schedules as the module can have.
static FailureOr<llvm::json::Value>
compileWithKept(MLIRContext &context, StringRef text, StringRef name,
                const CompileOptions &options) {
  CompileOptions kept = options;
  kept.mayDropSchedule = false;
  {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
    auto plan = compileToPlan(context, text, name, kept);
    if (succeeded(plan))
      return plan;
    SmallVector<StringRef> parts;
    StringRef(options.schedule).split(parts, ';');
    kept.schedule.clear();
    for (StringRef part : parts) {
      CompileOptions more = kept;
      more.schedule += (kept.schedule.empty() ? "" : ";") + part.str();
      if (succeeded(compileToPlan(context, text, name, more)))
        kept = more;
    }
  }
  return compileToPlan(context, text, name, kept);
}

FailureOr<llvm::json::Value>
mlir::evoformer::compileToPlan(MLIRContext &context, StringRef text,
                               StringRef name, const CompileOptions &options) {
  if (options.mayDropSchedule)
    return compileWithKept(context, text, name, options);
  OwningOpRef<ModuleOp> module = parseWithNames(context, text, name);
  if (!module)
    return failure();
  return compileToPlan(*module, options);
}
