//===- DeferredKernels.cpp - Kernels compiled when needed -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/DeferredKernels.h"
#include "Evoformer/Conversion/HostToPlan/CPUCode.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Pipelines/Pipelines.h"
#include "GPUCode.h"
#include "Level.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>

using namespace mlir;
using namespace mlir::evoformer;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// ErrorText
//===----------------------------------------------------------------------===//

ErrorText::ErrorText(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return;
        llvm::raw_string_ostream os(text);
        if (!text.empty())
          os << '\n';
        if (auto location = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
          os << "line " << location.getLine() << ": ";
        os << diagnostic;
        for (Diagnostic &note : diagnostic.getNotes())
          os << "\n  " << note;
      }) {
  // People get the message, not the whole program.
  context->printOpOnDiagnostic(false);
}

Error ErrorText::take(StringRef otherwise) {
  return llvm::createStringError(text.empty() ? otherwise : StringRef(text));
}

//===----------------------------------------------------------------------===//
// Deferring
//===----------------------------------------------------------------------===//

/// Kernels are told by themselves, not by their names.
static bool areEqual(tile::KernelOp a, tile::KernelOp b) {
  StringAttr name = b.getSymNameAttr();
  b.setSymNameAttr(a.getSymNameAttr());
  bool equal = OperationEquivalence::isEquivalentTo(
      a, b, OperationEquivalence::IgnoreLocations);
  b.setSymNameAttr(name);
  return equal;
}

PlanCode mlir::evoformer::deferKernels(ModuleOp module) {
  PlanCode code;
  OwningOpRef<ModuleOp> kernels = copyKernels(module);
  SmallVector<tile::KernelOp> distinct;
  for (auto kernel :
       llvm::make_early_inc_range(kernels->getOps<tile::KernelOp>())) {
    PlanKernel entry;
    entry.name = kernel.getSymName().str();
    auto *same = llvm::find_if(distinct, [&](tile::KernelOp other) {
      return areEqual(other, kernel);
    });
    if (same == distinct.end()) {
      distinct.push_back(kernel);
      entry.symbol = entry.name;
    } else {
      entry.symbol = same->getSymName().str();
      kernel.erase();
    }
    code.kernels.push_back(std::move(entry));
  }
  PlanObject object;
  object.format = kTilesFormat;
  std::optional<tile::TargetAttr> target;
  if (!distinct.empty())
    target = distinct.front().getTarget();
  object.target = target ? target->getChip().str() : "cpu";
  llvm::raw_string_ostream os(object.contents);
  // With locations, so that errors can name them.
  (*kernels)->print(os, OpPrintingFlags().enableDebugInfo());
  code.objects.push_back(std::move(object));
  return code;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

runtime::KernelInfo mlir::evoformer::makeKernelInfo(KernelCode code) {
  runtime::KernelInfo kernel;
  kernel.name = kernel.symbol = std::move(code.kernel.symbol);
  kernel.ldsBytes = code.kernel.ldsBytes;
  kernel.threads = code.kernel.threads;
  kernel.startsEarly = code.kernel.startsEarly;
  kernel.tensorMaps = std::move(code.kernel.tensorMaps);
  kernel.report = std::move(code.kernel.report);
  kernel.object =
      std::make_shared<const runtime::KernelObject>(runtime::KernelObject{
          std::move(code.object.format), std::move(code.object.target),
          std::move(code.object.contents)});
  return kernel;
}

namespace {
/// What a thread compiles in. Contexts are not shared: locks would cost more
/// than parsing the kernels again.
class Worker {
public:
  Worker(const DialectRegistry &registry, const CompileOptions &options)
      : context(registry, MLIRContext::Threading::DISABLED), problems(&context),
        options(options), pm(&context, ModuleOp::getOperationName()) {
    // What was parsed has been verified, and people wait for this.
    pm.enableVerifier(false);
  }

  /// Compiles the kernels whose numbers `next` yields.
  void run(StringRef tiles, ArrayRef<std::string> symbols,
           std::atomic<size_t> &next, CodeTaker prepare);
  /// What must wait until all threads have ended. Moves the results to their
  /// places.
  Error finish(MutableArrayRef<KernelCode> results);

private:
  /// A kernel that was compiled, and the module it was in.
  struct Done {
    size_t number;
    OwningOpRef<ModuleOp> module;
    CompiledKernels compiled;
    SerializeOptions serialization;
    PlanCode code;
  };

  LogicalResult compile(StringRef symbol, size_t number);
  LogicalResult generate(Done &done);
  LogicalResult link(Done &done);

  MLIRContext context;
  ErrorText problems;
  const CompileOptions &options;
  PassManager pm;
  OwningOpRef<ModuleOp> kernels;
  std::vector<Done> done;
  bool good = true;
};
} // namespace

LogicalResult Worker::generate(Done &done) {
  bool onCPU = options.device == "cpu";
  // Kernels over tiles run there as they are.
  if ((!onCPU || options.level != "tiles") && failed(pm.run(*done.module)))
    return failure();
  // The simulator takes modules.
  if (onCPU || options.device == "sim") {
    FailureOr<PlanCode> code = onCPU ? compileKernelsForCPU(*done.module)
                                     : collectGPUCode(*done.module, options);
    if (succeeded(code))
      done.code = std::move(*code);
    return code;
  }
  for (auto gpuModule : done.module->getOps<gpu::GPUModuleOp>()) {
    FailureOr<SerializeOptions> serialization =
        getSerializeOptions(gpuModule, options);
    if (failed(serialization))
      return failure();
    done.serialization = *serialization;
    // AMD's linker is no matter of one thread.
    serialization->object &= options.device != "hip";
    FailureOr<CompiledKernels> compiled =
        serializeKernels(gpuModule, *serialization);
    if (failed(compiled))
      return failure();
    done.compiled = std::move(*compiled);
  }
  return success();
}

LogicalResult Worker::compile(StringRef symbol, size_t number) {
  auto kernel = kernels->lookupSymbol<tile::KernelOp>(symbol);
  if (!kernel)
    return kernels->emitError("there is no kernel '") << symbol << "'";
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  module->push_back(kernel->clone());
  done.push_back({number, std::move(module), {}, {}, {}});
  return generate(done.back());
}

void Worker::run(StringRef tiles, ArrayRef<std::string> symbols,
                 std::atomic<size_t> &next, CodeTaker prepare) {
  kernels = parseSourceString<ModuleOp>(tiles, &context);
  if (!kernels) {
    good = false;
    return;
  }
  LowerOptions lowering;
  lowering.target = options.target;
  lowering.schedule = options.schedule;
  lowering.f32Products = options.f32Products;
  if (options.device == "cpu")
    lowering.stopAfter = parseLevel(options.level).value_or(Level::Tiles);
  buildLowerKernelsPipeline(pm, lowering);
  while (good) {
    size_t number = next.fetch_add(1, std::memory_order_relaxed);
    if (number >= symbols.size())
      return;
    good = succeeded(compile(symbols[number], number));
    if (!good)
      return;
    const Done &last = done.back();
    if (last.compiled.assemblyFormat == "ptx" && !last.serialization.object)
      prepare(last.compiled.assemblyFormat, last.compiled.assembly);
  }
}

LogicalResult Worker::link(Done &done) {
  if (!done.code.objects.empty())
    return success();
  for (auto gpuModule : done.module->getOps<gpu::GPUModuleOp>()) {
    auto target = gpuModule->getAttrOfType<tile::TargetAttr>("evo_tile.target");
    if (done.serialization.object && done.compiled.object.empty() &&
        failed(addObject(done.compiled, target, done.serialization,
                         gpuModule.getLoc())))
      return failure();
    if (failed(appendCode(gpuModule, std::move(done.compiled), done.code)))
      return failure();
  }
  return success();
}

Error Worker::finish(MutableArrayRef<KernelCode> results) {
  for (Done &one : done) {
    good = good && succeeded(link(one));
    if (!good)
      return problems.take("a kernel does not compile");
    assert(one.code.kernels.size() == 1 && one.code.objects.size() == 1 &&
           "a module of one kernel has become code of several");
    results[one.number] = {std::move(one.code.objects.front()),
                           std::move(one.code.kernels.front())};
  }
  return good ? Error::success() : problems.take("the kernels are malformed");
}

Expected<std::vector<KernelCode>>
mlir::evoformer::compileKernels(StringRef tiles, ArrayRef<std::string> symbols,
                                const CompileOptions &options,
                                unsigned numThreads, CodeTaker prepare) {
  DialectRegistry registry;
  registerForCompilation(registry);
  llvm::ThreadPoolStrategy strategy = llvm::hardware_concurrency(numThreads);
  size_t count =
      std::min<size_t>(symbols.size(), strategy.compute_thread_count());
  std::vector<std::unique_ptr<Worker>> workers;
  std::atomic<size_t> next{0};
  for (size_t i = 0; i < std::max<size_t>(count, 1); ++i)
    workers.push_back(std::make_unique<Worker>(registry, options));
  auto run = [&](Worker &worker) { worker.run(tiles, symbols, next, prepare); };
  if (workers.size() == 1) {
    run(*workers.front());
  } else {
    llvm::DefaultThreadPool pool(strategy);
    for (std::unique_ptr<Worker> &worker : workers)
      pool.async([&] { run(*worker); });
    pool.wait();
  }

  std::vector<KernelCode> results(symbols.size());
  for (std::unique_ptr<Worker> &worker : workers)
    if (Error problem = worker->finish(results))
      return problem;
  return results;
}

Expected<std::vector<runtime::KernelInfo>> mlir::evoformer::compileKernelInfos(
    StringRef tiles, ArrayRef<std::string> symbols,
    const CompileOptions &options, unsigned numThreads, CodeTaker prepare) {
  auto compiled = compileKernels(tiles, symbols, options, numThreads, prepare);
  if (!compiled)
    return compiled.takeError();
  std::vector<runtime::KernelInfo> infos;
  for (KernelCode &code : *compiled)
    infos.push_back(makeKernelInfo(std::move(code)));
  return infos;
}
