//===- Measure.cpp - Times of repeated runs -------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/Measure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir::evoformer;

void Times::print(llvm::raw_ostream &os) const {
  os << "time: median " << llvm::format("%.4f", median) << " ms, min "
     << llvm::format("%.4f", minimum) << ", max "
     << llvm::format("%.4f", maximum) << ", " << repeats
     << (coldCache ? " runs with cold caches\n" : " runs\n");
}

Times mlir::evoformer::summarize(std::vector<double> times,
                                 const MeasureOptions &options) {
  Times result;
  result.repeats = times.size();
  result.coldCache = options.coldCache;
  if (times.empty())
    return result;
  llvm::sort(times);
  size_t middle = times.size() / 2;
  result.median = times.size() % 2 ? times[middle]
                                   : (times[middle - 1] + times[middle]) / 2;
  result.minimum = times.front();
  result.maximum = times.back();
  return result;
}

llvm::Expected<Times>
mlir::evoformer::measure(runtime::Device &device, const MeasureOptions &options,
                         llvm::function_ref<llvm::Error()> run) {
  for (unsigned i = 0; i < options.warmups; ++i)
    if (llvm::Error error = run())
      return error;
  std::vector<double> times;
  for (unsigned i = 0; i < options.repeats; ++i) {
    if (options.coldCache)
      if (llvm::Error error = device.flushCaches())
        return error;
    if (llvm::Error error = device.startTimer())
      return error;
    if (llvm::Error error = run())
      return error;
    llvm::Expected<double> time = device.stopTimer();
    if (!time)
      return time.takeError();
    times.push_back(*time);
  }
  return summarize(std::move(times), options);
}
