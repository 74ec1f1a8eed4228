//===- HostToPlan.cpp - From host functions to a launch plan --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/HostToPlan/HostToPlan.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Runtime/Plan.h"
#include "FunctionWriter.h"
#include "llvm/Support/Base64.h"

using namespace mlir;
using namespace mlir::evoformer;
namespace json = llvm::json;

static json::Value writeObject(const PlanObject &object) {
  json::Object result{{"format", object.format}, {"target", object.target}};
  if (!object.file.empty())
    result["file"] = object.file;
  else if (json::isUTF8(object.contents))
    result["text"] = object.contents;
  else
    result["base64"] = llvm::encodeBase64(object.contents);
  return result;
}

FailureOr<json::Value> mlir::evoformer::emitLaunchPlan(ModuleOp module,
                                                       const PlanCode &code) {
  KernelSignatures signatures;
  json::Array functions;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || function.isPrivate())
      continue;
    FunctionWriter writer(signatures);
    FailureOr<json::Value> written = writer.write(function);
    if (failed(written))
      return failure();
    functions.push_back(std::move(*written));
  }

  llvm::StringMap<const PlanKernel *> kernelsByName;
  for (const PlanKernel &kernel : code.kernels)
    kernelsByName[kernel.name] = &kernel;
  WalkResult checked = module.walk([&](tile::LaunchOp launch) -> WalkResult {
    if (!signatures.contains(launch.getKernel()) ||
        kernelsByName.contains(launch.getKernel()))
      return WalkResult::advance();
    return launch.emitError("there is no code of kernel @")
           << launch.getKernel();
  });
  if (checked.wasInterrupted())
    return failure();

  json::Array objects, kernels;
  for (const PlanObject &object : code.objects)
    objects.push_back(writeObject(object));
  for (const PlanKernel &kernel : code.kernels) {
    auto signature = signatures.find(kernel.name);
    if (signature == signatures.end())
      continue; // never launched
    kernels.push_back(
        json::Object{{"name", kernel.name},
                     {"symbol", kernel.symbol},
                     {"object", static_cast<int64_t>(kernel.object)},
                     {"ldsBytes", kernel.ldsBytes},
                     {"threads", kernel.threads},
                     {"startsEarly", kernel.startsEarly},
                     {"argumentBytes", json::Array(signature->second)},
                     {"tensorMaps", json::Array(kernel.tensorMaps)},
                     {"report", kernel.report}});
  }
  return json::Value(json::Object{{"version", runtime::planVersion},
                                  {"functions", std::move(functions)},
                                  {"objects", std::move(objects)},
                                  {"kernels", std::move(kernels)}});
}
