//===- Tuner.h - Finding the best schedules ---------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tries schedules of a problem's kernels one kernel at a time: compiles all
// that fit, ranks them by modelled cycles, and times the first of them on a
// device, each after its results were compared with the reference
// (docs/tuning.md).
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TUNING_TUNER_H
#define EVOFORMER_TUNING_TUNER_H

#include "Evoformer/Driver/CaseRunner.h"
#include "Evoformer/Driver/ScheduleTable.h"

namespace mlir::evoformer {

struct TuneOptions {
  CompileOptions compile;
  /// Of getTunedKernels; none: only the default is looked at.
  std::vector<std::string> kernels;
  /// Time all candidates, not those alone that the model ranks first.
  bool exhaustive = false;
  /// How many of a kernel these are, of products of subgroups and of groups.
  unsigned measured = 8;
  /// Seconds after which nothing new is tried; 0: no end.
  double budget = 0;
  /// Of the compiler and the reference; 0: one a core.
  unsigned threads = 0;
  MeasureOptions measure = {/*repeats=*/20, /*warmups=*/3, /*coldCache=*/true};
  uint64_t guardBytes = 1024;
};

enum class TrialState {
  /// The schedule does not fit the target or the problem.
  Refused,
  /// It gives the kernels that the default has, or those of another trial.
  Known,
  /// It did not compile, was wrong, or the device could not run it.
  Failed,
  /// There was no time.
  Skipped,
  Modelled,
  Measured
};
llvm::StringRef stringifyTrialState(TrialState state);

/// A schedule that was tried; an empty one is the default.
struct Trial {
  std::string kernel, schedule;
  TrialState state = TrialState::Skipped;
  /// Why, of those that were not run.
  std::string note;
  /// What launches cost: of all of a program, those that are the default's as
  /// the default has them; of those that are not; and of those of the default
  /// in whose place they are.
  struct Cost {
    double all = 0, own = 0, replaced = 0;
  };
  /// Cycles by the model (modelLaunch).
  std::optional<Cost> modelled;
  /// Microseconds.
  std::optional<Cost> measured;

  /// What decides; nothing where the schedule cannot be taken.
  const std::optional<Cost> &getCost(bool onDevice) const {
    return onDevice ? measured : modelled;
  }
};

/// A launch of the default program.
struct DefaultLaunch {
  std::string kernel;
  uint64_t workItems = 0;
  /// Cycles by the model (modelLaunch); 0 of kernels without a loop of
  /// products, and where the model knows nothing.
  double modelled = 0;
  /// Of the steady loop: cycles of a processor a logit, and the unit that they
  /// are of.
  std::optional<double> cyclesALogit;
  std::string unit;
  std::optional<double> microseconds;
};

struct TuningResult {
  std::vector<DefaultLaunch> launches;
  /// The default is first.
  std::vector<Trial> trials;
  /// One for each kernel of which a schedule besides the default was ranked or
  /// timed; the default where none is better.
  std::vector<ScheduleEntry> best;

  /// A table of the default's launches, and one of all trials, best first.
  void print(llvm::raw_ostream &os) const;
};

/// Tunes the kernels of a problem for the device, or with none by the model.
/// `progress` gets a line for each step.
llvm::Expected<TuningResult> tune(const AttentionCase &problem,
                                  runtime::Device *device,
                                  const TuneOptions &options,
                                  llvm::raw_ostream &progress);

} // namespace mlir::evoformer

#endif // EVOFORMER_TUNING_TUNER_H
