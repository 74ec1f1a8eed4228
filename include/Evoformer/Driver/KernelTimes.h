//===- KernelTimes.h - Times of the launches of one run ---------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_KERNELTIMES_H
#define EVOFORMER_DRIVER_KERNELTIMES_H

#include "Evoformer/Driver/AttentionCase.h"
#include "Evoformer/Driver/Measure.h"
#include "Evoformer/Pipelines/StepCosts.h"
#include "Evoformer/Runtime/Session.h"

namespace mlir::evoformer {

/// The launches of a run of a case.
struct KernelTimes {
  struct Launch {
    std::string kernel;
    /// Of this launch, the others in between.
    Times times;
  };
  std::vector<Launch> launches;
  /// From the launch on that reads the gradient of the output: the backward
  /// pass without the forward one.
  std::optional<Times> backward;
  std::vector<StepCost> steps;
  uint64_t workspaceBytes = 0, inputBytes = 0, outputBytes = 0;

  llvm::json::Value toJSON(const AttentionCase &problem) const;
};

/// Runs `run` repeatedly, which hands its observer to Session::run, and times
/// each launch by itself, in its place among the others.
llvm::Expected<KernelTimes>
measureLaunches(runtime::Device &device, const MeasureOptions &options,
                llvm::function_ref<llvm::Error(runtime::LaunchObserver)> run);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_KERNELTIMES_H
