//===- TunerTest.cpp - Finding schedules on a device with made-up times ---===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Tuning/Tuner.h"
#include "Evoformer/Driver/SimDevice.h"
#include "gtest/gtest.h"

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {
/// The simulator, where a launch takes as many milliseconds as a workgroup has
/// threads, and those of one kernel can be wrong.
class MadeUpTimes : public Device {
public:
  StringRef getKind() const override { return "sim"; }
  std::string getDescription() const override { return "made up"; }
  Expected<uint64_t> allocate(uint64_t bytes) override {
    return sim.allocate(bytes);
  }
  Error release(uint64_t address) override { return sim.release(address); }
  void divide(uint64_t address, llvm::ArrayRef<MemoryRange> parts) override {
    sim.divide(address, parts);
  }
  uint64_t getMargin() const override { return sim.getMargin(); }
  Error copyIn(uint64_t to, llvm::ArrayRef<char> from) override {
    return sim.copyIn(to, from);
  }
  Error copyOut(llvm::MutableArrayRef<char> to, uint64_t from) override {
    return sim.copyOut(to, from);
  }
  Expected<std::unique_ptr<LoadedKernel>>
  load(const KernelInfo &info) override {
    return sim.load(info);
  }
  Error launch(LoadedKernel &kernel, uint64_t workItems,
               llvm::ArrayRef<LaunchArgument> arguments) override {
    milliseconds = kernel.info.threads;
    if (milliseconds == brokenThreads)
      return Error::success();
    return sim.launch(kernel, workItems, arguments);
  }
  Error synchronize() override { return sim.synchronize(); }
  Error startTimer() override { return Error::success(); }
  Expected<double> stopTimer() override { return milliseconds; }
  Error flushCaches() override { return Error::success(); }

  /// Kernels with so many threads do nothing.
  double brokenThreads = 0;

private:
  SimDevice sim;
  double milliseconds = 0;
};

class Tuning : public ::testing::Test {
protected:
  Tuning() {
    options.compile.target = "gfx1100";
    options.compile.device = "sim";
    options.kernels = {"attention", "query_grad"};
    options.exhaustive = true;
    options.measure = {/*repeats=*/1, /*warmups=*/0, /*coldCache=*/false};
    options.guardBytes = 0;
    options.threads = 2;
  }

  TuningResult run(StringRef text) {
    auto problem = parseAttentionCase(text);
    EXPECT_TRUE(bool(problem));
    Expected<TuningResult> result =
        tune(*problem, &device, options, llvm::nulls());
    EXPECT_TRUE(bool(result)) << toString(result.takeError());
    return result ? std::move(*result) : TuningResult();
  }

  const ScheduleEntry *find(const TuningResult &result, StringRef kernel) {
    for (const ScheduleEntry &entry : result.best)
      if (entry.kernel == kernel)
        return &entry;
    return nullptr;
  }

  MadeUpTimes device;
  TuneOptions options;
};
} // namespace

TEST_F(Tuning, TakesTheBestOfEachKernel) {
  TuningResult result =
      run("pass=backward N=1 H=1 Sq=48 Sk=48 D=16 type=bf16 static=heads");
  // The default has four subgroups of 32 lanes.
  for (StringRef kernel : {"attention", "query_grad"}) {
    const ScheduleEntry *best = find(result, kernel);
    ASSERT_TRUE(best) << kernel.str();
    EXPECT_EQ(best->chip, "gfx1100");
    EXPECT_TRUE(best->isMeasured);
    EXPECT_NE(best->schedule.find("subgroups=1x1"), std::string::npos)
        << best->schedule;
    EXPECT_LT(best->cost, best->defaultCost);
  }
  EXPECT_EQ(result.best.size(), 2u);
  // Together, after the default.
  EXPECT_EQ(result.trials.front().kernel, "all");
  EXPECT_EQ(result.trials.back().kernel, "all");
  ASSERT_TRUE(result.trials.back().measured && result.trials.front().measured);
  double gain = 0;
  for (const ScheduleEntry &entry : result.best)
    gain += entry.defaultCost - entry.cost;
  EXPECT_EQ(result.trials.back().measured->all,
            result.trials.front().measured->all - gain);
  ASSERT_FALSE(result.launches.empty());
  EXPECT_EQ(result.launches.front().microseconds.has_value(), true);
}

TEST_F(Tuning, TakesNothingWrong) {
  options.kernels = {"attention"};
  // What would be quickest.
  device.brokenThreads = 32;
  TuningResult result = run("N=1 H=1 Sq=48 Sk=48 D=16 type=bf16");
  const ScheduleEntry *best = find(result, "attention");
  ASSERT_TRUE(best);
  EXPECT_EQ(best->schedule.find("subgroups=1x1"), std::string::npos)
      << best->schedule;
  bool hasFailed = false;
  for (const Trial &trial : result.trials)
    if (StringRef(trial.schedule).contains("subgroups=1x1") &&
        trial.state == TrialState::Failed) {
      hasFailed = true;
      EXPECT_FALSE(trial.note.empty());
      EXPECT_FALSE(trial.measured);
    }
  EXPECT_TRUE(hasFailed);
}

TEST_F(Tuning, KeepsTheDefaultWithoutAGain) {
  options.kernels = {"attention"};
  options.exhaustive = false;
  options.measured = 0;
  // Nothing was tried: nothing is said.
  EXPECT_TRUE(run("N=1 H=1 Sq=48 Sk=48 D=16 type=bf16").best.empty());
}
