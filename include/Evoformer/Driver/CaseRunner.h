//===- CaseRunner.h - Checks attentions against the reference ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_CASERUNNER_H
#define EVOFORMER_DRIVER_CASERUNNER_H

#include "Evoformer/Driver/AttentionCase.h"
#include "Evoformer/Driver/Compile.h"
#include "Evoformer/Driver/KernelTimes.h"
#include "Evoformer/Reference/ErrorBound.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <set>

namespace mlir::evoformer {

struct CaseReport {
  /// Error of the output and what eager mode has; the largest quotient of any
  /// result's error and what is allowed.
  double maxError = 0, maxEagerError = 0, worstRatio = 0;
  /// Of results with many rows: the largest quotient of the medians of errors
  /// and eager mode's, and the largest mean of signed errors in standard
  /// errors.
  double medianRatio = 0, meanInStandardErrors = 0;
  /// The median share that errors of the output take of their bounds; 0 of few
  /// rows. The same of each gradient of many rows.
  double medianShare = 0;
  std::vector<double> gradientShares;
  /// Rows of the output, and those further off than users are promised; the
  /// same of gradients, see reference::compareOutput and compareGradient.
  int64_t rows = 0, beyondPromise = 0;
  int64_t gradientRows = 0, luckyRows = 0;
  double worstLucky = 0;
  /// The largest relative errors of a row of each gradient, and eager mode's.
  struct GradientError {
    std::string name;
    double maxError, maxEagerError;
  };
  std::vector<GradientError> gradientErrors;
  double compileMilliseconds = 0;
  /// Of the bits of all results.
  uint64_t outputHash = 0;
  std::optional<Times> times;
  std::optional<KernelTimes> kernelTimes;
};

/// A launch of a case's program.
struct CaseLaunch {
  /// Lives until the runner compiles another module.
  const runtime::KernelInfo *kernel;
  uint64_t workItems;
};

/// What is known of cases, by their texts.
struct CaseMemory {
  struct Entry {
    std::vector<HostArray> inputs;
    std::set<uint64_t> rightHashes;
  };
  std::map<std::string, Entry> entries;
};

class CaseRun;

/// Compiles, runs and compares cases. Modules that are alike are compiled once,
/// and of their kernels those that a case launches.
class CaseRunner {
public:
  /// The context has what registerForCompilation registers.
  CaseRunner(MLIRContext &context, runtime::Device &device,
             CompileOptions compileOptions, uint64_t guardBytes)
      : context(context), device(device),
        compileOptions(std::move(compileOptions)), guardBytes(guardBytes) {}

  /// Threads of the reference; 0: one a core.
  unsigned referenceThreads = 0;
  /// Keeps each case's inputs and the hashes of results that were right, for
  /// cases that run again and again, in this runner or in others: the same bits
  /// are right without a second run, and others run again only if they are
  /// right. Null: nothing is kept.
  std::shared_ptr<CaseMemory> memory;
  /// Time the case after checking it.
  std::optional<MeasureOptions> measureOptions;
  /// Each launch by itself as well.
  bool timeKernels = false;
  /// What makes machine code of kernels over tiles; unset: compileKernels.
  std::function<llvm::Expected<std::vector<runtime::KernelInfo>>(
      StringRef tiles, ArrayRef<std::string> symbols)>
      makeKernels;

  /// An error says what is wrong: it does not compile, cannot run, writes where
  /// it must not, differs between runs or from the reference.
  llvm::Expected<CaseReport> run(const AttentionCase &problem);

  /// What the case launches, in this order, without running it. The kernels are
  /// machine code, or still tiles where they were not compiled and need not be.
  llvm::Expected<std::vector<CaseLaunch>>
  listLaunches(const AttentionCase &problem, bool compiles = true);

  /// Times the launches of the case without checking what they compute.
  llvm::Expected<KernelTimes> time(const AttentionCase &problem,
                                   const MeasureOptions &options);

private:
  struct Program {
    runtime::Plan plan;
    reference::Arithmetic arithmetic;
    std::unique_ptr<runtime::Session> session;
  };
  llvm::Expected<Program *> getProgram(const AttentionCase &problem,
                                       CaseReport &report);
  llvm::Expected<std::vector<CaseLaunch>>
  listLaunches(const AttentionCase &problem, bool compiles, CaseReport &report);
  /// Compiles those of the launched kernels that are not.
  llvm::Error compileLaunched(llvm::ArrayRef<CaseLaunch> launches,
                              const AttentionCase &problem, CaseReport &report);
  /// Hands out the case with its program compiled and its inputs on the device.
  llvm::Error
  start(const AttentionCase &problem, CaseReport &report,
        llvm::function_ref<llvm::Error(CaseRun &, CaseMemory::Entry &)> then);
  /// Runs and compares it, and times it where that was asked for.
  llvm::Error check(const AttentionCase &problem, CaseRun &run,
                    CaseMemory::Entry &known, CaseReport &report);

  MLIRContext &context;
  runtime::Device &device;
  CompileOptions compileOptions;
  uint64_t guardBytes;
  /// The last few, by text; a cover lists cases of one module one after the
  /// other.
  std::string lastText, lastSchedule;
  std::unique_ptr<Program> lastProgram;
};

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_CASERUNNER_H
