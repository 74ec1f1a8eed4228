//===- Program.cpp - Programs and the code of their kernels ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "Evoformer/Driver/DeferredKernels.h"
#include "Evoformer/Support/JSON.h"
#include "Support.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Base64.h"
#include <cstdlib>

using namespace llvm;
using namespace mlir::evoformer;
using namespace mlir::evoformer::capi;
using namespace mlir::evoformer::runtime;

std::mutex &capi::getCompilerMutex() {
  static std::mutex mutex;
  return mutex;
}

unsigned capi::getNumThreads() {
  unsigned number = 0;
  if (const char *text = std::getenv("EVOFORMER_NUM_THREADS"))
    if (StringRef(text).getAsInteger(10, number))
      return 0;
  // More would only cost: systems refuse threads before programs do.
  constexpr unsigned most = 1024;
  return std::min(number, most);
}

std::string CompileRequest::getKey(ArrayRef<StringRef> input) const {
  std::string partialSumBytes = std::to_string(options.partialSumBytes);
  SmallVector<StringRef> parts = {EVOFORMER_VERSION,
                                  getBuildId(),
                                  options.target,
                                  options.device,
                                  options.cubinChip,
                                  options.schedule,
                                  options.biasGradients,
                                  partialSumBytes,
                                  options.f32Products,
                                  options.deferKernels ? "deferred" : "",
                                  options.mayDropSchedule ? "or default" : ""};
  append_range(parts, input);
  std::string text;
  for (StringRef part : parts)
    text += std::to_string(part.size()) + ":" + part.str();
  return hashText(text);
}

Expected<std::shared_ptr<ProgramData>>
ProgramData::create(std::string planText, CompileRequest request) {
  Expected<Plan> plan = parsePlan(planText, "");
  if (!plan)
    return plan.takeError();
  return std::shared_ptr<ProgramData>(new ProgramData(
      std::move(planText), std::move(*plan), std::move(request)));
}

bool ProgramData::isDeferred(unsigned number) const {
  return plan.kernels[number].object->format == kTilesFormat;
}

void ProgramData::setCode(unsigned number, const KernelInfo &compiled) {
  code[number] = std::make_unique<KernelInfo>(compiled);
  code[number]->name = plan.kernels[number].name;
  code[number]->argumentBytes = plan.kernels[number].argumentBytes;
}

namespace {
/// A kernel as the cache keeps it.
struct StoredCode {
  std::string format, target, base64, symbol;
  int64_t ldsBytes = 0, threads = 0;
  bool startsEarly = false;
  std::vector<TensorMapArgument> tensorMaps;
  json::Value report = nullptr;
};
} // namespace

static json::Value toJSON(const StoredCode &code) {
  return json::Object{{"format", code.format},
                      {"target", code.target},
                      {"base64", code.base64},
                      {"symbol", code.symbol},
                      {"ldsBytes", code.ldsBytes},
                      {"threads", code.threads},
                      {"startsEarly", code.startsEarly},
                      {"tensorMaps", json::Array(code.tensorMaps)},
                      {"report", code.report}};
}

static bool fromJSON(const json::Value &value, StoredCode &code,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("format", code.format) ||
      !map.map("target", code.target) || !map.map("base64", code.base64) ||
      !map.map("symbol", code.symbol) || !map.map("ldsBytes", code.ldsBytes) ||
      !map.map("threads", code.threads) ||
      !map.map("startsEarly", code.startsEarly) ||
      !map.map("tensorMaps", code.tensorMaps))
    return false;
  if (const json::Value *report = value.getAsObject()->get("report"))
    code.report = *report;
  return true;
}

static std::string writeCode(const KernelInfo &kernel) {
  StoredCode code{kernel.object->format,
                  kernel.object->target,
                  encodeBase64(kernel.object->contents),
                  kernel.symbol,
                  static_cast<int64_t>(kernel.ldsBytes),
                  kernel.threads,
                  kernel.startsEarly,
                  kernel.tensorMaps,
                  kernel.report};
  std::string text;
  raw_string_ostream(text) << toJSON(code);
  return text;
}

/// What is no code of this symbol, for a launch with so many arguments, is as
/// good as nothing.
static std::optional<KernelInfo> readCode(StringRef text, StringRef symbol,
                                          size_t numArguments) {
  std::optional<json::Value> value = expectedToOptional(parseJSON(text));
  json::Path::Root root;
  StoredCode code;
  if (!value || !fromJSON(*value, code, root) || code.symbol != symbol ||
      code.ldsBytes < 0 || code.ldsBytes > INT32_MAX || code.threads < 1 ||
      code.threads > 1024 ||
      !all_of(code.tensorMaps, [&](const TensorMapArgument &map) {
        return map.isValidFor(numArguments);
      }))
    return std::nullopt;
  std::vector<char> bytes;
  if (Error error = decodeBase64(code.base64, bytes)) {
    consumeError(std::move(error));
    return std::nullopt;
  }
  KernelInfo kernel;
  kernel.symbol = std::move(code.symbol);
  kernel.ldsBytes = code.ldsBytes;
  kernel.threads = code.threads;
  kernel.startsEarly = code.startsEarly;
  kernel.tensorMaps = std::move(code.tensorMaps);
  kernel.report = std::move(code.report);
  kernel.object = std::make_shared<const KernelObject>(
      KernelObject{std::move(code.format), std::move(code.target),
                   std::string(bytes.begin(), bytes.end())});
  return kernel;
}

Error ProgramData::compile(ArrayRef<unsigned> numbers, CodeTaker prepare) {
  DiskCache cache(request.cacheFolder);
  StringRef tiles = plan.kernels[numbers.front()].object->contents;
  // By symbol, since equal kernels share one.
  MapVector<StringRef, SmallVector<unsigned>> missing;
  for (unsigned number : numbers)
    missing[plan.kernels[number].symbol].push_back(number);
  auto getKey = [&](StringRef symbol) {
    return request.getKey({tiles, symbol});
  };
  auto takeFromCache = [&] {
    missing.remove_if([&](auto &entry) {
      std::optional<std::string> text = cache.get(getKey(entry.first));
      std::optional<KernelInfo> kernel =
          text ? readCode(
                     *text, entry.first,
                     plan.kernels[entry.second.front()].argumentBytes.size())
               : std::nullopt;
      if (kernel)
        for (unsigned number : entry.second)
          setCode(number, *kernel);
      return kernel.has_value();
    });
    return missing.empty();
  };
  if (takeFromCache())
    return Error::success();
  // Of processes that want them at the same time one compiles.
  std::shared_ptr<void> lockOfCode =
      cache.lock(request.getKey({tiles, "code"}));
  if (takeFromCache())
    return Error::success();

  std::vector<std::string> symbols;
  for (auto &[symbol, users] : missing)
    symbols.push_back(symbol.str());
  std::lock_guard<std::mutex> lock(getCompilerMutex());
  Expected<std::vector<KernelCode>> compiled =
      compileKernels(tiles, symbols, request.options, getNumThreads(), prepare);
  if (!compiled)
    return compiled.takeError();
  for (auto [entry, made] : zip_equal(missing, *compiled)) {
    KernelInfo kernel = makeKernelInfo(std::move(made));
    cache.put(getKey(entry.first), writeCode(kernel));
    for (unsigned number : entry.second)
      setCode(number, kernel);
  }
  return Error::success();
}

Expected<std::vector<const KernelInfo *>>
ProgramData::getCode(ArrayRef<unsigned> numbers, CodeTaker prepare) {
  std::lock_guard<std::mutex> lock(mutex);
  SmallVector<unsigned> deferred;
  for (unsigned number : numbers)
    if (!code[number] && isDeferred(number) && !is_contained(deferred, number))
      deferred.push_back(number);
  if (!deferred.empty())
    if (Error error = compile(deferred, prepare))
      return error;
  std::vector<const KernelInfo *> result;
  for (unsigned number : numbers)
    result.push_back(code[number] ? code[number].get() : &plan.kernels[number]);
  return result;
}
