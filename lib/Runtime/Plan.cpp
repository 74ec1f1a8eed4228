//===- Plan.cpp - Decoding a launch plan ----------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Plan.h"
#include "Evoformer/Support/HostResources.h"
#include "Evoformer/Support/JSON.h"
#include "JSONReader.h"
#include "ProgramReader.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mlir::evoformer::runtime {

StringRef getName(PlanOpcode code) {
  static constexpr const char *names[] = {
#define EVOFORMER_PLAN_OP(ENUM, NAME) NAME,
#include "Evoformer/Runtime/PlanOps.def"
  };
  return names[static_cast<unsigned>(code)];
}

std::optional<PlanOpcode> parsePlanOpcode(StringRef name) {
  static const StringMap<PlanOpcode> codes = {
#define EVOFORMER_PLAN_OP(ENUM, NAME) {NAME, PlanOpcode::ENUM},
#include "Evoformer/Runtime/PlanOps.def"
  };
  auto it = codes.find(name);
  if (it == codes.end())
    return std::nullopt;
  return it->second;
}

const PlanFunction *Plan::lookup(StringRef name) const {
  for (const PlanFunction &function : functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

/// Fetches a kernel object's contents: given as text, base64 or a file's name.
static std::string readContents(JSONReader &reader, const json::Object &object,
                                StringRef folder) {
  if (std::optional<StringRef> text = object.getString("text"))
    return text->str();
  if (std::optional<StringRef> encoded = object.getString("base64")) {
    std::vector<char> bytes;
    if (Error error = decodeBase64(*encoded, bytes))
      reader.fail("its base64 is malformed: " + toString(std::move(error)));
    return std::string(bytes.begin(), bytes.end());
  }
  SmallString<128> path(reader.getString(object, "file"));
  if (reader.failed())
    return "";
  if (sys::path::is_relative(path)) {
    SmallString<128> absolute(folder);
    sys::path::append(absolute, path);
    path = absolute;
  }
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(path);
  if (!buffer) {
    reader.fail("cannot read " + toString(buffer.takeError()));
    return "";
  }
  return (*buffer)->getBuffer().str();
}

static KernelInfo
readKernel(JSONReader &reader, const json::Object &object,
           ArrayRef<std::shared_ptr<const KernelObject>> objects) {
  KernelInfo kernel;
  kernel.name = reader.getString(object, "name").str();
  kernel.symbol = reader.getString(object, "symbol").str();
  int64_t number = reader.getInteger(object, "object");
  if (number < 0 || static_cast<size_t>(number) >= objects.size())
    reader.fail("its object does not exist");
  else
    kernel.object = objects[number];
  int64_t lds = reader.getInteger(object, "ldsBytes");
  int64_t threads = reader.getInteger(object, "threads");
  if (lds < 0 || lds > INT32_MAX || threads < 1 || threads > 1024)
    reader.fail("its ldsBytes or threads are out of range");
  kernel.ldsBytes = lds;
  kernel.threads = threads;
  if (const json::Value *early = object.get("startsEarly")) {
    if (std::optional<bool> starts = early->getAsBoolean())
      kernel.startsEarly = *starts;
    else
      reader.fail("its startsEarly is not true or false");
  }
  for (const json::Value &value : reader.getArray(object, "argumentBytes")) {
    int64_t bytes = reader.asInteger(value, "argumentBytes");
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
      reader.fail("an argument takes 1, 2, 4 or 8 bytes");
    kernel.argumentBytes.push_back(bytes);
  }
  for (const json::Value &value :
       reader.getArray(object, "tensorMaps", /*optional=*/true)) {
    json::Path::Root root;
    TensorMapArgument map;
    if (!fromJSON(value, map, root) ||
        !map.isValidFor(kernel.argumentBytes.size()))
      reader.fail("a tensor map is not one of its arguments");
    kernel.tensorMaps.push_back(std::move(map));
  }
  if (const json::Value *report = object.get("report"))
    kernel.report = *report;
  return kernel;
}

Expected<Plan> decodePlan(const json::Value &json, StringRef folder) {
  JSONReader reader("top level");
  const json::Object &top = reader.asObject(json, "the file");
  int64_t version = reader.getInteger(top, "version");
  if (version != planVersion)
    reader.fail("version " + Twine(version) + " is not supported; this is " +
                Twine(planVersion));

  Plan plan;
  std::vector<std::shared_ptr<const KernelObject>> objects;
  for (const json::Value &value : reader.getArray(top, "objects")) {
    reader.setPlace("object " + Twine(objects.size()));
    const json::Object &object = reader.asObject(value, "it");
    auto result = std::make_shared<KernelObject>();
    result->format = reader.getString(object, "format").str();
    result->target = reader.getString(object, "target").str();
    result->contents = readContents(reader, object, folder);
    objects.push_back(std::move(result));
    if (reader.failed())
      return reader.takeError();
  }
  StringMap<unsigned> kernelNumbers;
  reader.setPlace("top level");
  for (const json::Value &value : reader.getArray(top, "kernels")) {
    reader.setPlace("kernel " + Twine(plan.kernels.size()));
    plan.kernels.push_back(
        readKernel(reader, reader.asObject(value, "it"), objects));
    unsigned number = plan.kernels.size() - 1;
    if (!kernelNumbers.try_emplace(plan.kernels.back().name, number).second)
      reader.fail("'" + plan.kernels.back().name + "' exists twice");
    if (reader.failed())
      return reader.takeError();
  }
  reader.setPlace("top level");
  for (const json::Value &value : reader.getArray(top, "functions")) {
    reader.setPlace("function " + Twine(plan.functions.size()));
    ProgramReader program(reader, plan.kernels, kernelNumbers);
    plan.functions.push_back(program.read(reader.asObject(value, "it")));
    if (reader.failed())
      return reader.takeError();
  }
  if (reader.failed())
    return reader.takeError();
  return plan;
}

Expected<Plan> parsePlan(StringRef text, StringRef folder) {
  Expected<json::Value> json = parseJSON(text);
  if (!json)
    return createStringError("launch plan: no valid JSON: " +
                             toString(json.takeError()));
  return decodePlan(*json, folder);
}

Expected<Plan> readPlan(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readFile(path);
  if (!buffer)
    return buffer.takeError();
  Expected<Plan> plan =
      parsePlan((*buffer)->getBuffer(), sys::path::parent_path(path));
  if (!plan)
    return createFileError(path, plan.takeError());
  return plan;
}

} // namespace mlir::evoformer::runtime
