//===- Measure.h - Times of repeated runs -----------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_MEASURE_H
#define EVOFORMER_DRIVER_MEASURE_H

#include "Evoformer/Runtime/Device.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::evoformer {

struct MeasureOptions {
  unsigned repeats = 1;
  unsigned warmups = 0;
  /// Evict the caches before every run.
  bool coldCache = false;
};

/// Milliseconds.
struct Times {
  unsigned repeats = 0;
  double median = 0, minimum = 0, maximum = 0;
  bool coldCache = false;

  void print(llvm::raw_ostream &os) const;
};

/// What single times of runs say.
Times summarize(std::vector<double> times, const MeasureOptions &options);

/// Runs `run` repeatedly and times each run on the device's clock.
llvm::Expected<Times> measure(runtime::Device &device,
                              const MeasureOptions &options,
                              llvm::function_ref<llvm::Error()> run);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_MEASURE_H
