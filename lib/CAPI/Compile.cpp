//===- Compile.cpp - Compiling through C ----------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/Compile.h"
#include "Cache.h"
#include "Evoformer/Target/Targets.h"
#include "Program.h"
#include "Support.h"
#include "mlir/IR/Diagnostics.h"
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
struct Request {
  std::string module;
  CompileOptions options;
  std::string cacheFolder = DiskCache::getDefaultFolder();

  /// Everything that the result depends on.
  std::string getKey() const;
};

struct Found {
  std::shared_ptr<const ProgramData> program;
  const char *origin;
};
} // namespace

std::string Request::getKey() const {
  std::string text;
  for (StringRef part :
       {StringRef(EVOFORMER_VERSION), getBuildId(), StringRef(options.target),
        StringRef(options.device), StringRef(options.cubinChip),
        StringRef(options.schedule), StringRef(module)})
    text += std::to_string(part.size()) + ":" + part.str();
  return hashText(text);
}

static Error addOption(StringRef key, StringRef value, Request &request) {
  CompileOptions &options = request.options;
  if (key == "target")
    options.target = value.str();
  else if (key == "schedule")
    options.schedule = value.str();
  else if (key == "cubin")
    options.cubinChip = value.str();
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

static Expected<std::shared_ptr<const ProgramData>>
makeProgram(std::string planText) {
  auto program = std::make_shared<ProgramData>();
  program->planText = std::move(planText);
  Expected<runtime::Plan> plan = runtime::parsePlan(program->planText, "");
  if (!plan)
    return plan.takeError();
  program->plan = std::move(*plan);
  return program;
}

/// The launch plan's text, or the diagnostics as an error.
static Expected<std::string> compile(const Request &request) {
  // LLVM's and lld's flags are global.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  DialectRegistry registry;
  registerForCompilation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string problems;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return;
    llvm::raw_string_ostream os(problems);
    if (!problems.empty())
      os << '\n';
    if (auto location = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      os << "line " << location.getLine() << ": ";
    os << diagnostic;
    for (Diagnostic &note : diagnostic.getNotes())
      os << "\n  " << note;
  });
  FailureOr<llvm::json::Value> plan =
      compileToPlan(context, request.module, "module", request.options);
  if (failed(plan))
    return createStringError(problems.empty() ? "the module does not compile"
                                              : problems);
  std::string text;
  llvm::raw_string_ostream(text) << *plan;
  return text;
}

/// From memory, from disk, or compiled.
static Expected<Found> getProgram(const Request &request) {
  static std::mutex mutex;
  static llvm::StringMap<std::shared_ptr<const ProgramData>> programs;
  std::string key = request.getKey();
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto it = programs.find(key); it != programs.end())
      return Found{it->second, "memory"};
  }
  const char *origin = "disk";
  DiskCache cache(request.cacheFolder);
  std::shared_ptr<const ProgramData> program;
  if (std::optional<std::string> text = cache.get(key)) {
    // What another build could not read is compiled again.
    if (auto read = makeProgram(std::move(*text)))
      program = std::move(*read);
    else
      llvm::consumeError(read.takeError());
  }
  if (!program) {
    origin = "compiled";
    Expected<std::string> text = compile(request);
    if (!text)
      return text.takeError();
    cache.put(key, *text);
    auto made = makeProgram(std::move(*text));
    if (!made)
      return made.takeError();
    program = std::move(*made);
  }
  std::lock_guard<std::mutex> lock(mutex);
  return Found{programs.try_emplace(key, program).first->second, origin};
}

const char *evoformerGetChips(void) {
  static const std::string chips = llvm::join(tile::getKnownChips(), " ");
  return chips.c_str();
}

EvoformerStatus evoformerCompile(const char *module, const char *options,
                                 EvoformerProgram **program) {
  Request request;
  request.module = module;
  if (Error error = forEachWord(options, [&](StringRef key, StringRef value) {
        return addOption(key, value, request);
      }))
    return fail(std::move(error));
  Expected<Found> found = getProgram(request);
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
