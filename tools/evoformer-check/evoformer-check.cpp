//===- evoformer-check.cpp - Checks attention against the reference -------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/CaseRunner.h"
#include "Evoformer/Driver/Mutants.h"
#include "Evoformer/Driver/SimReport.h"
#include "Evoformer/Driver/ToolFlags.h"
#include "Evoformer/Support/HostResources.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include <algorithm>
#include <map>
#include <optional>

using namespace mlir::evoformer;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
cl::OptionCategory category("evoformer-check options");
ToolFlags flags(category, /*guardBytes=*/1024);

cl::list<std::string>
    caseTextsOption(cl::Positional,
                    cl::desc("<cases like 'Sq=17 D=32 type=bf16'>"),
                    cl::cat(category));
cl::opt<std::string> caseFileOption("cases",
                                    cl::desc("A file with one case a line"),
                                    cl::cat(category));
cl::opt<std::string>
    coverOption("cover",
                cl::desc("A pairwise covering set: small, quick or "
                         "full, of gradients backward-small, of weights "
                         "weights-small and so on"),
                cl::cat(category));
cl::opt<unsigned>
    partOption("part", cl::init(0),
               cl::desc("Which part of the cases to run, or of the mutants"),
               cl::cat(category));
cl::opt<unsigned> partsOption("parts", cl::init(1),
                              cl::desc("Into how many parts they are cut"),
                              cl::cat(category));
cl::opt<bool>
    listOption("list",
               cl::desc("Only print the cases, or with --mutants the defects"),
               cl::cat(category));
cl::opt<std::string>
    printModuleOption("print-module",
                      cl::desc("Print the module of this case and stop"),
                      cl::cat(category));
cl::opt<std::string> schedulesOption(
    "schedules",
    cl::desc("A table of schedules that evoformer-tune wrote, for what is not "
             "forced"),
    cl::cat(category));
cl::opt<unsigned>
    simSeedsOption("sim-seeds", cl::init(1),
                   cl::desc("Run each case under so many seeds, from sim-seed"),
                   cl::cat(category));
cl::opt<bool> landAtIssueOption(
    "sim-land-at-issue",
    cl::desc("Asynchronous copies land at once in the simulator"),
    cl::cat(category));
cl::opt<unsigned> bankConflictsOption(
    "sim-bank-conflicts",
    cl::desc("Fail on LDS accesses of this degree or more (0: none)"),
    cl::init(0), cl::cat(category));
cl::opt<bool> nonFiniteOption(
    "sim-non-finite",
    cl::desc("Fail on infinite results and NaNs that no operand explains"),
    cl::cat(category));
cl::opt<std::string> countersOption(
    "sim-counters",
    cl::desc("Print what each case executed: text, or a JSON object a line"),
    cl::cat(category));
cl::opt<bool> kernelTimesOption(
    "kernel-times",
    cl::desc("With --repeat: time every launch too, and print a JSON object"),
    cl::cat(category));
cl::opt<unsigned> mutantsOption(
    "mutants", cl::init(0),
    cl::desc("Break the target's kernels in so many ways, run the cases in the "
             "simulator, and count what is reported"),
    cl::cat(category));
cl::opt<uint64_t> mutantSeedOption("mutant-seed", cl::init(7),
                                   cl::desc("Which of all defects"),
                                   cl::cat(category));
cl::list<unsigned> mutantsOnlyOption(
    "mutants-only", cl::CommaSeparated,
    cl::desc("Of the defects drawn, make only those with these numbers"),
    cl::cat(category));
cl::opt<std::string> mutantsKernelsOption(
    "mutants-kernels", cl::init(".*"),
    cl::desc("Break only kernels whose names match this regular expression"),
    cl::cat(category));
cl::opt<std::string> mutantsFolderOption(
    "mutants-folder",
    cl::desc("Keep each defect's module here, unbroken and broken"),
    cl::cat(category));
cl::opt<bool> mutantsExplainOption(
    "mutants-explain",
    cl::desc("Say of each defect that is not reported where the values that it "
             "changes lead, and what makes them equal again"),
    cl::cat(category));
cl::opt<bool> mutantsUnreachedOption(
    "mutants-unreached",
    cl::desc("Make no defects, but list the blocks of kernels that no case "
             "enters, in which none can be reported"),
    cl::cat(category));
cl::opt<bool> verboseOption("verbose", cl::desc("Print each case's errors"),
                            cl::cat(category));

/// What the user said. Linking an AMD object in this process sets all options
/// back to their defaults, so they are read once.
struct Settings : ToolSettings {
  Settings() : ToolSettings(flags.getSettings()) {
    compile.schedules = schedulesOption;
  }

  std::vector<std::string> caseTexts{caseTextsOption.begin(),
                                     caseTextsOption.end()};
  std::string caseFile = caseFileOption;
  std::string cover = coverOption;
  unsigned part = partOption;
  unsigned parts = partsOption;
  bool list = listOption;
  std::string printModule = printModuleOption;
  bool printModuleGiven = printModuleOption.getNumOccurrences() != 0;
  unsigned simSeeds = simSeedsOption;
  bool landAtIssue = landAtIssueOption;
  unsigned bankConflicts = bankConflictsOption;
  bool nonFinite = nonFiniteOption;
  std::string counters = countersOption;
  sim::MutantDraw mutants = {
      mutantsOption,
      mutantSeedOption,
      {mutantsOnlyOption.begin(), mutantsOnlyOption.end()},
      mutantsFolderOption};
  std::string mutantsKernels = mutantsKernelsOption;
  bool mutantsExplain = mutantsExplainOption;
  bool mutantsUnreached = mutantsUnreachedOption;
  bool kernelTimes = kernelTimesOption;
  bool verbose = verboseOption;
};
std::optional<Settings> settings;
} // namespace

static Expected<std::vector<AttentionCase>> getCases() {
  auto given = readCases(settings->caseTexts, settings->caseFile);
  if (!given)
    return given.takeError();
  std::vector<AttentionCase> cases = std::move(*given);
  if (!settings->cover.empty()) {
    auto covering = makeCover(settings->cover);
    if (!covering)
      return covering.takeError();
    llvm::append_range(cases, *covering);
  }
  if (cases.empty())
    return llvm::createStringError(
        "no cases: give some, or --cases, or --cover");
  return cases;
}

/// Those of the part that was asked for; parts take cases in turn.
static Expected<std::vector<AttentionCase>>
getPart(llvm::ArrayRef<AttentionCase> cases) {
  std::vector<AttentionCase> part;
  for (size_t i = settings->part; i < cases.size(); i += settings->parts)
    part.push_back(cases[i]);
  if (part.empty())
    return llvm::createStringError(
        llvm::formatv("part {0} of {1} holds none of {2} cases", settings->part,
                      settings->parts, cases.size()));
  return part;
}

static Error runMutants(llvm::ArrayRef<AttentionCase> cases) {
  if (settings->device.kind != "sim")
    return llvm::createStringError("--mutants needs --device=sim");
  mlir::DialectRegistry registry;
  registerForCompilation(registry);
  mlir::MLIRContext context(registry);
  MutantOptions options = {settings->mutants,
                           settings->mutantsKernels,
                           settings->part,
                           settings->parts,
                           settings->device.threads,
                           settings->verbose,
                           settings->mutantsExplain,
                           settings->list,
                           settings->mutantsUnreached};
  return checkMutants(context, cases, settings->compile, options, llvm::outs());
}

static void printCounters(const SimDevice &device, const AttentionCase &entry) {
  // A case runs twice under each seed, and when it is timed.
  uint64_t runs = 2;
  if (settings->isTimed)
    runs += (settings->measure.repeats + settings->measure.warmups) *
            (settings->kernelTimes ? 2 : 1);
  if (settings->isTimed && settings->kernelTimes)
    runs += settings->measure.repeats;
  SimReport report(entry, device.records, runs * settings->simSeeds);
  if (settings->counters == "json")
    llvm::outs() << report.toJSON() << '\n';
  else
    report.printText(llvm::outs() << entry.str() << '\n');
}

/// Runs a case, in the simulator under each seed.
static Expected<CaseReport> runCase(CaseRunner &runner, runtime::Device &device,
                                    const AttentionCase &entry) {
  if (device.getKind() != "sim")
    return runner.run(entry);
  auto &simulator = static_cast<SimDevice &>(device);
  simulator.records.clear();
  Expected<CaseReport> report = CaseReport();
  for (unsigned k = 0; report && k < settings->simSeeds; ++k) {
    simulator.options.seed = settings->device.simulation.seed + k;
    report = runner.run(entry);
  }
  if (!report)
    return llvm::createStringError("seed " +
                                   llvm::Twine(simulator.options.seed) + ": " +
                                   toString(report.takeError()));
  if (!settings->counters.empty())
    printCounters(simulator, entry);
  return report;
}

namespace {
/// What outputs and gradients take of their bounds: next to nothing if the
/// bounds are too wide to find anything.
class BoundShares {
public:
  void add(const AttentionCase &entry, const CaseReport &report) {
    rows += report.rows;
    beyondPromise += report.beyondPromise;
    // Rows with one key are often exact.
    if (report.medianShare > 0)
      ofOutputs[getName(entry.type)].push_back(report.medianShare);
    llvm::append_range(ofGradients[getName(entry.type)], report.gradientShares);
  }

  void print(llvm::raw_ostream &os) {
    print(os, ofOutputs, "outputs");
    print(os, ofGradients, "gradients");
    os << beyondPromise << " of " << rows
       << " rows of outputs beyond twice eager's error\n";
  }

private:
  /// By element type.
  using Medians = std::map<StringRef, std::vector<double>>;

  static void print(llvm::raw_ostream &os, Medians &medians, StringRef name) {
    for (auto &[type, shares] : medians) {
      if (shares.empty())
        continue;
      auto middle = shares.begin() + shares.size() / 2;
      std::nth_element(shares.begin(), middle, shares.end());
      os << llvm::formatv("{0}: errors take {1:f3} of their bounds (median of "
                          "{2} {3})\n",
                          type, *middle, shares.size(), name);
    }
  }

  Medians ofOutputs, ofGradients;
  int64_t rows = 0, beyondPromise = 0;
};
} // namespace

/// Runs the cases; how many failed.
static Expected<size_t> runCases(llvm::ArrayRef<AttentionCase> cases) {
  if (settings->landAtIssue)
    settings->device.simulation.landing = sim::CopyLanding::AtIssue;
  settings->device.simulation.bankConflictDegree = settings->bankConflicts;
  settings->device.simulation.findNonFinite = settings->nonFinite;
  auto device = openDevice(*settings);
  if (!device)
    return device.takeError();
  mlir::DialectRegistry registry;
  registerForCompilation(registry);
  mlir::MLIRContext context(registry);
  CaseRunner runner(context, **device, settings->compile, settings->guardBytes);
  runner.referenceThreads = settings->device.threads;
  if (settings->isTimed)
    runner.measureOptions = settings->measure;
  runner.timeKernels = settings->kernelTimes;

  llvm::outs() << "checking " << cases.size() << " cases for "
               << settings->compile.target << " on " << (*device)->getKind()
               << " (" << (*device)->getDescription() << ")\n";
  size_t failures = 0;
  BoundShares shares;
  for (const AttentionCase &entry : cases) {
    Expected<CaseReport> report = runCase(runner, **device, entry);
    if (report)
      shares.add(entry, *report);
    if (!report) {
      ++failures;
      llvm::outs() << "FAILED " << entry.str() << "\n  "
                   << toString(report.takeError()) << '\n';
    } else if (settings->verbose || report->times) {
      llvm::outs()
          << "passed " << entry.str() << "\n  error "
          << llvm::format("%.2e", report->maxError) << " (eager "
          << llvm::format("%.2e", report->maxEagerError)
          << "), share of the allowed "
          << llvm::format("%.2f", report->worstRatio) << ", median "
          << llvm::format("%.2f", report->medianRatio) << " of eager's, mean "
          << llvm::format("%.1f", report->meanInStandardErrors)
          << " standard errors"
          << llvm::formatv(", output: median share {0:f3}, {1} of {2} rows "
                           "beyond twice eager's error",
                           report->medianShare, report->beyondPromise,
                           report->rows)
                 .str()
          << (report->gradientRows
                  ? llvm::formatv(", {0} of {1} rows of gradients beyond "
                                  "twice eager's own error (at most "
                                  "{2:f2} of it)",
                                  report->luckyRows, report->gradientRows,
                                  report->worstLucky)
                        .str()
                  : "")
          << ", compiled in "
          << llvm::format("%.0f", report->compileMilliseconds) << " ms\n";
      const char *separator = "  largest errors of rows: ";
      for (const auto &gradient : report->gradientErrors) {
        llvm::outs() << llvm::formatv("{0}{1} {2:e1} (eager {3:e1})", separator,
                                      gradient.name, gradient.maxError,
                                      gradient.maxEagerError);
        separator = ", ";
      }
      if (!report->gradientErrors.empty())
        llvm::outs() << '\n';
      if (report->times) {
        llvm::outs() << "  ";
        report->times->print(llvm::outs());
      }
      if (report->kernelTimes)
        llvm::outs() << report->kernelTimes->toJSON(entry) << '\n';
    }
    llvm::outs().flush();
  }
  if (settings->verbose)
    shares.print(llvm::outs());
  llvm::outs() << cases.size() - failures << " passed, " << failures
               << " failed\n";
  return failures;
}

static Expected<size_t> runTool() {
  if (!settings->counters.empty() && settings->counters != "text" &&
      settings->counters != "json")
    return llvm::createStringError("--sim-counters is text or json, not '" +
                                   settings->counters + "'");
  if (settings->kernelTimes && !settings->isTimed)
    return llvm::createStringError("--kernel-times needs --repeat");
  if (settings->simSeeds == 0)
    return llvm::createStringError("--sim-seeds is at least 1");
  if (settings->printModuleGiven) {
    Expected<AttentionCase> parsed = parseAttentionCase(settings->printModule);
    if (!parsed)
      return parsed.takeError();
    llvm::outs() << makeModule(*parsed);
    return 0;
  }
  if (settings->mutants.count == 0)
    for (auto [isGiven, name] :
         {std::pair(settings->mutantsExplain, "--mutants-explain"),
          std::pair(settings->mutantsUnreached, "--mutants-unreached")})
      if (isGiven)
        return llvm::createStringError(
            llvm::formatv("{0} needs --mutants", name));
  if (settings->parts == 0)
    return llvm::createStringError("--parts is at least 1");
  if (settings->part >= settings->parts)
    return llvm::createStringError(llvm::formatv(
        "part is below parts, which is {0}, not {1}: the first is 0",
        settings->parts, settings->part));
  auto all = getCases();
  if (!all)
    return all.takeError();
  if (settings->mutants.count) {
    if (Error error = runMutants(*all))
      return std::move(error);
    return 0;
  }
  auto cases = getPart(*all);
  if (!cases)
    return cases.takeError();
  if (!settings->list)
    return runCases(*cases);
  for (const AttentionCase &entry : *cases)
    llvm::outs() << entry.str() << '\n';
  return 0;
}

/// Behind the options.
static cl::extrahelp
    caseHelp("\nA case is KEY=VALUE, any of these, separated by spaces:\n"),
    caseWords(kCaseWords);

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles attentions, runs them and compares with the f64 reference\n");
  settings.emplace();
  Expected<size_t> failures = runTool();
  if (!failures) {
    llvm::WithColor::error(llvm::errs(), "evoformer-check")
        << toString(failures.takeError()) << '\n';
    return 1;
  }
  return *failures ? 1 : 0;
}
