//===- KernelTimes.cpp - Times of the launches of one run -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/KernelTimes.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::Error;
using llvm::Expected;

Expected<KernelTimes> mlir::evoformer::measureLaunches(
    Device &device, const MeasureOptions &options,
    llvm::function_ref<Error(LaunchObserver)> run) {
  for (unsigned i = 0; i < options.warmups; ++i)
    if (Error error = run(nullptr))
      return error;
  auto begin = [&]() -> Error {
    if (options.coldCache)
      if (Error error = device.flushCaches())
        return error;
    return device.startTimer();
  };
  auto end = [&](std::vector<double> &times) -> Error {
    Expected<double> time = device.stopTimer();
    if (!time)
      return time.takeError();
    times.push_back(*time);
    return Error::success();
  };

  KernelTimes result;
  std::vector<std::vector<double>> times;
  for (unsigned i = 0; i < options.repeats; ++i) {
    size_t number = 0;
    auto timeOne = [&](const KernelInfo &kernel,
                       llvm::function_ref<Error()> launch) -> Error {
      if (number == times.size()) {
        times.emplace_back();
        result.launches.push_back({kernel.name, {}});
      }
      if (Error error = begin())
        return error;
      if (Error error = launch())
        return error;
      return end(times[number++]);
    };
    if (Error error = run(timeOne))
      return error;
  }
  for (auto [launch, ofLaunch] : llvm::zip_equal(result.launches, times))
    launch.times = summarize(ofLaunch, options);

  std::vector<double> backward;
  for (unsigned i = 0; i < options.repeats; ++i) {
    bool isOn = false;
    auto watch = [&](const KernelInfo &kernel,
                     llvm::function_ref<Error()> launch) -> Error {
      if (!isOn && StringRef(kernel.name).contains("_delta")) {
        isOn = true;
        if (Error error = begin())
          return error;
      }
      return launch();
    };
    if (Error error = run(watch))
      return error;
    if (!isOn)
      break;
    if (Error error = end(backward))
      return error;
  }
  if (!backward.empty())
    result.backward = summarize(backward, options);
  return result;
}

static llvm::json::Object toJSON(const Times &times) {
  return llvm::json::Object{{"median_ms", times.median},
                            {"min_ms", times.minimum},
                            {"max_ms", times.maximum}};
}

llvm::json::Value KernelTimes::toJSON(const AttentionCase &problem) const {
  llvm::json::Array launchArray, stepArray;
  for (const Launch &launch : launches) {
    llvm::json::Object entry = ::toJSON(launch.times);
    entry["kernel"] = launch.kernel;
    launchArray.push_back(std::move(entry));
  }
  for (const StepCost &step : steps)
    stepArray.push_back(
        llvm::json::Object{{"name", step.name},
                           {"matrix_flops", step.cost.matrixFlops},
                           {"vector_flops", step.cost.vectorFlops},
                           {"exponentials", step.cost.exponentials},
                           {"bytes", step.cost.bytes()}});
  llvm::json::Object result{
      {"case", problem.str()},         {"launches", std::move(launchArray)},
      {"steps", std::move(stepArray)}, {"workspace_bytes", workspaceBytes},
      {"input_bytes", inputBytes},     {"output_bytes", outputBytes}};
  if (backward)
    result["backward"] = ::toJSON(*backward);
  return result;
}
