//===- evoformer-check.cpp - Checks attention against the reference -------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/CaseRunner.h"
#include "Evoformer/Driver/Mutants.h"
#include "Evoformer/Driver/SimReport.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include <optional>

using namespace mlir::evoformer;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
cl::OptionCategory category("evoformer-check options");

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
                         "full"),
                cl::cat(category));
cl::opt<unsigned> partOption("part", cl::init(0),
                             cl::desc("Which part of the cases to run"),
                             cl::cat(category));
cl::opt<unsigned> partsOption("parts", cl::init(1),
                              cl::desc("Into how many parts they are cut"),
                              cl::cat(category));
cl::opt<bool> listOption("list", cl::desc("Only print the cases"),
                         cl::cat(category));
cl::opt<std::string>
    printModuleOption("print-module",
                      cl::desc("Print the module of this case and stop"),
                      cl::cat(category));
cl::opt<std::string> deviceNameOption("device", cl::init("cpu"),
                                      cl::desc("cpu, cuda, hip or sim"),
                                      cl::cat(category));
cl::opt<int> ordinalOption("ordinal", cl::init(0), cl::desc("Which GPU"),
                           cl::cat(category));
cl::opt<std::string> driverLibraryOption("driver-library",
                                         cl::desc("The GPU driver's library"),
                                         cl::cat(category));
cl::opt<unsigned> threadsOption("cpu-threads", cl::init(0),
                                cl::desc("Threads (0: one a core)"),
                                cl::cat(category));
cl::opt<uint64_t> simSeedOption("sim-seed", cl::init(0),
                                cl::desc("Order of subgroups in the simulator"),
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
cl::opt<unsigned> mutantsOption(
    "mutants", cl::init(0),
    cl::desc("Break the target's kernels in so many ways, run the cases in the "
             "simulator, and count what is reported"),
    cl::cat(category));
cl::opt<uint64_t> mutantSeedOption("mutant-seed", cl::init(7),
                                   cl::desc("Which of all defects"),
                                   cl::cat(category));
cl::opt<std::string> targetOption("target", cl::init("cpu"),
                                  cl::desc("Chip to compile for"),
                                  cl::cat(category));
cl::opt<std::string> levelOption(
    "level", cl::init("tiles"),
    cl::desc("On the CPU: run a chip's program as it is after this level"),
    cl::cat(category));
cl::opt<std::string> scheduleOption("schedule", cl::desc("Force the schedule"),
                                    cl::cat(category));
cl::opt<std::string>
    cubinChipOption("cubin",
                    cl::desc("Compile to a cubin for this chip (needs ptxas)"),
                    cl::cat(category));
cl::opt<uint64_t> guardBytesOption(
    "guard-bytes", cl::init(1024),
    cl::desc("Zone around every buffer that must stay untouched"),
    cl::cat(category));
cl::opt<unsigned> repeatOption("repeat", cl::init(0),
                               cl::desc("Time each case over this many runs"),
                               cl::cat(category));
cl::opt<unsigned> warmupOption("warmup", cl::init(2),
                               cl::desc("Untimed runs before them"),
                               cl::cat(category));
cl::opt<bool>
    coldCacheOption("cold-cache",
                    cl::desc("Evict the caches before each timed run"),
                    cl::cat(category));
cl::opt<bool> verboseOption("verbose", cl::desc("Print each case's errors"),
                            cl::cat(category));

/// What the user said. Linking an AMD object in this process sets all options
/// back to their defaults, so they are read once.
struct Settings {
  std::vector<std::string> caseTexts{caseTextsOption.begin(),
                                     caseTextsOption.end()};
  std::string caseFile = caseFileOption;
  std::string cover = coverOption;
  unsigned part = partOption;
  unsigned parts = partsOption;
  bool list = listOption;
  std::string printModule = printModuleOption;
  bool printModuleGiven = printModuleOption.getNumOccurrences() != 0;
  std::string deviceName = deviceNameOption;
  int ordinal = ordinalOption;
  std::string driverLibrary = driverLibraryOption;
  unsigned threads = threadsOption;
  uint64_t simSeed = simSeedOption;
  unsigned simSeeds = simSeedsOption;
  bool landAtIssue = landAtIssueOption;
  unsigned bankConflicts = bankConflictsOption;
  bool nonFinite = nonFiniteOption;
  std::string counters = countersOption;
  unsigned mutants = mutantsOption;
  uint64_t mutantSeed = mutantSeedOption;
  std::string target = targetOption;
  std::string level = levelOption;
  std::string schedule = scheduleOption;
  std::string cubinChip = cubinChipOption;
  uint64_t guardBytes = guardBytesOption;
  unsigned repeat = repeatOption;
  unsigned warmup = warmupOption;
  bool coldCache = coldCacheOption;
  bool verbose = verboseOption;
};
std::optional<Settings> settings;
} // namespace

static Expected<std::vector<AttentionCase>> getCases() {
  std::vector<AttentionCase> cases;
  std::vector<std::string> texts(settings->caseTexts.begin(),
                                 settings->caseTexts.end());
  if (!settings->caseFile.empty()) {
    auto buffer = llvm::MemoryBuffer::getFile(settings->caseFile);
    if (!buffer)
      return llvm::createFileError(settings->caseFile, buffer.getError());
    llvm::SmallVector<StringRef> lines;
    (*buffer)->getBuffer().split(lines, '\n');
    for (StringRef line : lines)
      if (!line.trim().empty() && !line.starts_with("#"))
        texts.push_back(line.str());
  }
  for (const std::string &text : texts) {
    Expected<AttentionCase> parsed = parseAttentionCase(text);
    if (!parsed)
      return parsed.takeError();
    cases.push_back(std::move(*parsed));
  }
  if (!settings->cover.empty()) {
    auto covering = makeCover(settings->cover);
    if (!covering)
      return covering.takeError();
    for (auto [i, entry] : llvm::enumerate(*covering))
      if (i % std::max(1u, settings->parts) == settings->part)
        cases.push_back(std::move(entry));
  }
  if (cases.empty())
    return llvm::createStringError(
        "no cases: give some, or --cases, or --cover");
  return cases;
}

static CompileOptions getCompileOptions() {
  CompileOptions options;
  options.target = settings->target;
  options.device = settings->deviceName;
  options.level = settings->level;
  options.schedule = settings->schedule;
  options.cubinChip = settings->cubinChip;
  return options;
}

static Error runMutants(llvm::ArrayRef<AttentionCase> cases) {
  if (settings->deviceName != "sim")
    return llvm::createStringError("--mutants needs --device=sim");
  mlir::DialectRegistry registry;
  registerForCompilation(registry);
  mlir::MLIRContext context(registry);
  return checkMutants(
      context, cases, getCompileOptions(),
      {settings->mutants, settings->mutantSeed, settings->verbose},
      llvm::outs());
}

static void printCounters(const SimDevice &device, const AttentionCase &entry) {
  // A case runs twice under each seed.
  SimReport report(entry, device.records, 2 * uint64_t(settings->simSeeds));
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
    simulator.options.seed = settings->simSeed + k;
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

/// Runs the cases; how many failed.
static Expected<size_t> runCases(llvm::ArrayRef<AttentionCase> cases) {
  DeviceOptions deviceOptions;
  deviceOptions.kind = settings->deviceName;
  deviceOptions.ordinal = settings->ordinal;
  deviceOptions.threads = settings->threads;
  deviceOptions.driverLibrary = settings->driverLibrary;
  if (settings->landAtIssue)
    deviceOptions.simulation.landing = sim::CopyLanding::AtIssue;
  deviceOptions.simulation.seed = settings->simSeed;
  deviceOptions.simulation.bankConflictDegree = settings->bankConflicts;
  deviceOptions.simulation.findNonFinite = settings->nonFinite;
  auto device = createDevice(deviceOptions);
  if (!device)
    return device.takeError();
  mlir::DialectRegistry registry;
  registerForCompilation(registry);
  mlir::MLIRContext context(registry);
  CaseRunner runner(context, **device, getCompileOptions(),
                    settings->guardBytes);
  runner.referenceThreads = settings->threads;
  if (settings->repeat)
    runner.measureOptions =
        MeasureOptions{settings->repeat, settings->warmup, settings->coldCache};

  llvm::outs() << "checking " << cases.size() << " cases for "
               << settings->target << " on " << (*device)->getKind() << " ("
               << (*device)->getDescription() << ")\n";
  size_t failures = 0;
  for (const AttentionCase &entry : cases) {
    Expected<CaseReport> report = runCase(runner, **device, entry);
    if (!report) {
      ++failures;
      llvm::outs() << "FAILED " << entry.str() << "\n  "
                   << toString(report.takeError()) << '\n';
    } else if (settings->verbose || report->times) {
      llvm::outs() << "passed " << entry.str() << "\n  error "
                   << llvm::format("%.2e", report->maxError) << " (eager "
                   << llvm::format("%.2e", report->maxEagerError)
                   << "), share of the allowed "
                   << llvm::format("%.2f", report->worstRatio)
                   << ", compiled in "
                   << llvm::format("%.0f", report->compileMilliseconds)
                   << " ms\n";
      if (report->times) {
        llvm::outs() << "  ";
        report->times->print(llvm::outs());
      }
    }
    llvm::outs().flush();
  }
  llvm::outs() << cases.size() - failures << " passed, " << failures
               << " failed\n";
  return failures;
}

static Expected<size_t> runTool() {
  if (!settings->counters.empty() && settings->counters != "text" &&
      settings->counters != "json")
    return llvm::createStringError("--sim-counters is text or json, not '" +
                                   settings->counters + "'");
  if (settings->simSeeds == 0)
    return llvm::createStringError("--sim-seeds is at least 1");
  if (settings->printModuleGiven) {
    Expected<AttentionCase> parsed = parseAttentionCase(settings->printModule);
    if (!parsed)
      return parsed.takeError();
    llvm::outs() << makeModule(*parsed);
    return 0;
  }
  auto cases = getCases();
  if (!cases)
    return cases.takeError();
  if (settings->mutants) {
    if (Error error = runMutants(*cases))
      return std::move(error);
    return 0;
  }
  if (!settings->list)
    return runCases(*cases);
  for (const AttentionCase &entry : *cases)
    llvm::outs() << entry.str() << '\n';
  return 0;
}

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
