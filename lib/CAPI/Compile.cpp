//===- Compile.cpp - Compiling through C ----------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/Compile.h"
#include "Cache.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "Evoformer/Driver/DeferredKernels.h"
#include "Evoformer/Target/Targets.h"
#include "Program.h"
#include "Support.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::capi;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

namespace {
struct Found {
  std::shared_ptr<ProgramData> program;
  const char *origin;
};
} // namespace

static Error addOption(StringRef key, StringRef value,
                       CompileRequest &request) {
  CompileOptions &options = request.options;
  if (key == "target")
    options.target = value.str();
  else if (key == "schedule")
    options.schedule = value.str();
  else if (key == "schedules")
    options.schedules = value.str();
  else if (key == "shape") {
    Expected<ProblemShape> shape = parseProblemShape(value);
    if (!shape)
      return shape.takeError();
    request.shape = std::move(*shape);
  } else if (key == "bias_gradients")
    options.biasGradients = value.str();
  else if (key == "partial_sum_bytes") {
    if (value.getAsInteger(10, options.partialSumBytes))
      return createStringError("partial_sum_bytes=" + value +
                               " is no number of bytes");
  } else if (key == "f32_products")
    options.f32Products = value.str();
  else if (key == "cubin")
    options.cubinChip = value.str();
  else if (key == "deferred")
    options.deferKernels = true;
  else if (key == "cache")
    request.cacheFolder = value.str();
  else if (key == "device" && is_contained({"cpu", "cuda", "hip"}, value))
    options.device = value.str();
  else if (key == "device")
    return createStringError("device '" + value +
                             "' is unknown: it is cpu, cuda or hip");
  else
    return createStringError("unknown option '" + key + "' of the compiler");
  return Error::success();
}

/// The launch plan's text, or the diagnostics as an error.
static Expected<std::string> compile(StringRef module,
                                     const CompileOptions &options) {
  std::lock_guard<std::mutex> lock(getCompilerMutex());
  DialectRegistry registry;
  registerForCompilation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ErrorText problems(&context);
  FailureOr<llvm::json::Value> plan =
      compileToPlan(context, module, "module", options);
  if (failed(plan))
    return problems.take("the module does not compile");
  std::string text;
  llvm::raw_string_ostream(text) << *plan;
  return text;
}

/// From memory, from disk, or compiled.
static Expected<Found> getProgram(StringRef module,
                                  const CompileRequest &request) {
  static std::mutex mutex;
  static llvm::StringMap<std::shared_ptr<ProgramData>> programs;
  std::string key = request.getKey(module);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto it = programs.find(key); it != programs.end())
      return Found{it->second, "memory"};
  }
  const char *origin = "disk";
  DiskCache cache(request.cacheFolder);
  std::shared_ptr<ProgramData> program;
  auto read = [&] {
    std::optional<std::string> text = cache.get(key);
    if (!text)
      return;
    // What another build could not read is compiled again.
    if (auto read = ProgramData::create(std::move(*text), request))
      program = std::move(*read);
    else
      llvm::consumeError(read.takeError());
  };
  read();
  // Of processes that want it at the same time one compiles.
  std::shared_ptr<void> lockOfEntry;
  if (!program) {
    lockOfEntry = cache.lock(key);
    read();
  }
  if (!program) {
    origin = "compiled";
    Expected<std::string> text = compile(module, request.options);
    if (!text)
      return text.takeError();
    cache.put(key, *text);
    auto made = ProgramData::create(std::move(*text), request);
    if (!made)
      return made.takeError();
    program = std::move(*made);
  }
  std::lock_guard<std::mutex> lock(mutex);
  return Found{programs.try_emplace(key, program).first->second, origin};
}

const char *evoformerGetChips(void) {
  static const std::string chips = llvm::join(tile::getChipNames(), " ");
  return chips.c_str();
}

const char *evoformerGetPortableChips(void) {
  static const std::string chips = [] {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    SmallVector<StringRef> portable;
    for (StringRef chip : tile::getKnownChips()) {
      FailureOr<tile::TargetAttr> target =
          tile::getTarget(UnknownLoc::get(&context), chip);
      if (succeeded(target) &&
          StringRef(target->getTriple()).starts_with("nvptx") &&
          !tile::isForOneChipAlone(*target))
        portable.push_back(chip);
    }
    return llvm::join(portable, " ");
  }();
  return chips.c_str();
}

EvoformerStatus evoformerCompile(const char *module, const char *options,
                                 EvoformerProgram **program) {
  CompileRequest request;
  if (Error error = forEachWord(options, [&](StringRef key, StringRef value) {
        return addOption(key, value, request);
      }))
    return fail(std::move(error));
  if (!request.options.schedules.empty() && !request.shape)
    return fail(createStringError("schedules=" + request.options.schedules +
                                  " needs shape=, which the table is asked "
                                  "for"));
  if (const char *table = std::getenv("EVOFORMER_SCHEDULES");
      table && request.options.schedules.empty())
    request.options.schedules = table;
  if (request.shape)
    if (Error error = chooseFromTable(request.options, *request.shape))
      return fail(std::move(error));
  Expected<Found> found = getProgram(module, request);
  if (!found)
    return fail(found.takeError());
  *program = new EvoformerProgram{std::move(found->program), found->origin};
  return EVOFORMER_SUCCESS;
}

void evoformerProgramRelease(EvoformerProgram *program) { delete program; }

const char *evoformerProgramGetPlan(const EvoformerProgram *program) {
  return program->data->planText.c_str();
}

const char *evoformerProgramGetOrigin(const EvoformerProgram *program) {
  return program->origin;
}
