//===- evoformer-check.cpp - Checks attention against the reference -------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/CaseRunner.h"
#include "Evoformer/Driver/SimDevice.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace mlir::evoformer;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
cl::OptionCategory category("evoformer-check options");

cl::list<std::string> caseTexts(cl::Positional,
                                cl::desc("<cases like 'Sq=17 D=32 type=bf16'>"),
                                cl::cat(category));
cl::opt<std::string> caseFile("cases", cl::desc("A file with one case a line"),
                              cl::cat(category));
cl::opt<std::string> cover("cover",
                           cl::desc("A pairwise covering set: small, quick or "
                                    "full"),
                           cl::cat(category));
cl::opt<unsigned> part("part", cl::init(0),
                       cl::desc("Which part of the cases to run"),
                       cl::cat(category));
cl::opt<unsigned> parts("parts", cl::init(1),
                        cl::desc("Into how many parts they are cut"),
                        cl::cat(category));
cl::opt<bool> list("list", cl::desc("Only print the cases"), cl::cat(category));
cl::opt<std::string>
    printModule("print-module",
                cl::desc("Print the module of this case and stop"),
                cl::cat(category));
cl::opt<std::string> deviceName("device", cl::init("cpu"),
                                cl::desc("cpu, cuda, hip or sim"),
                                cl::cat(category));
cl::opt<int> ordinal("ordinal", cl::init(0), cl::desc("Which GPU"),
                     cl::cat(category));
cl::opt<std::string> driverLibrary("driver-library",
                                   cl::desc("The GPU driver's library"),
                                   cl::cat(category));
cl::opt<unsigned> threads("cpu-threads", cl::init(0),
                          cl::desc("Threads (0: one a core)"),
                          cl::cat(category));
cl::opt<uint64_t> simSeed("sim-seed", cl::init(0),
                          cl::desc("Order of subgroups in the simulator"),
                          cl::cat(category));
cl::opt<bool>
    landAtIssue("sim-land-at-issue",
                cl::desc("Asynchronous copies land at once in the simulator"),
                cl::cat(category));
cl::opt<std::string> target("target", cl::init("cpu"),
                            cl::desc("Chip to compile for"), cl::cat(category));
cl::opt<std::string> level(
    "level", cl::init("tiles"),
    cl::desc("On the CPU: run a chip's program as it is after this level"),
    cl::cat(category));
cl::opt<std::string> schedule("schedule", cl::desc("Force the schedule"),
                              cl::cat(category));
cl::opt<std::string>
    cubinChip("cubin",
              cl::desc("Compile to a cubin for this chip (needs ptxas)"),
              cl::cat(category));
cl::opt<uint64_t>
    guardBytes("guard-bytes", cl::init(1024),
               cl::desc("Zone around every buffer that must stay untouched"),
               cl::cat(category));
cl::opt<unsigned> repeat("repeat", cl::init(0),
                         cl::desc("Time each case over this many runs"),
                         cl::cat(category));
cl::opt<unsigned> warmup("warmup", cl::init(2),
                         cl::desc("Untimed runs before them"),
                         cl::cat(category));
cl::opt<bool> coldCache("cold-cache",
                        cl::desc("Evict the caches before each timed run"),
                        cl::cat(category));
cl::opt<bool> verbose("verbose", cl::desc("Print each case's errors"),
                      cl::cat(category));
} // namespace

static Expected<std::vector<AttentionCase>> getCases() {
  std::vector<AttentionCase> cases;
  std::vector<std::string> texts(caseTexts.begin(), caseTexts.end());
  if (!caseFile.empty()) {
    auto buffer = llvm::MemoryBuffer::getFile(caseFile);
    if (!buffer)
      return llvm::createFileError(caseFile, buffer.getError());
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
  if (!cover.empty()) {
    auto covering = makeCover(cover);
    if (!covering)
      return covering.takeError();
    for (auto [i, entry] : llvm::enumerate(*covering))
      if (i % std::max(1u, parts.getValue()) == part)
        cases.push_back(std::move(entry));
  }
  if (cases.empty())
    return llvm::createStringError(
        "no cases: give some, or --cases, or --cover");
  return cases;
}

/// Runs the cases; how many failed.
static Expected<size_t> runCases(llvm::ArrayRef<AttentionCase> cases) {
  DeviceOptions deviceOptions;
  deviceOptions.kind = deviceName;
  deviceOptions.ordinal = ordinal;
  deviceOptions.threads = threads;
  deviceOptions.driverLibrary = driverLibrary;
  deviceOptions.seed = simSeed;
  deviceOptions.landAtIssue = landAtIssue;
  auto device = createDevice(deviceOptions);
  if (!device)
    return device.takeError();
  mlir::DialectRegistry registry;
  registerForCompilation(registry);
  mlir::MLIRContext context(registry);
  CompileOptions compileOptions;
  compileOptions.target = target;
  compileOptions.device = deviceName;
  compileOptions.level = level;
  compileOptions.schedule = schedule;
  compileOptions.cubinChip = cubinChip;
  CaseRunner runner(context, **device, compileOptions, guardBytes);
  runner.referenceThreads = threads;
  if (repeat)
    runner.measureOptions = MeasureOptions{repeat, warmup, coldCache};

  llvm::outs() << "checking " << cases.size() << " cases for " << target
               << " on " << (*device)->getKind() << " ("
               << (*device)->getDescription() << ")\n";
  size_t failures = 0;
  for (const AttentionCase &entry : cases) {
    Expected<CaseReport> report = runner.run(entry);
    if (!report) {
      ++failures;
      llvm::outs() << "FAILED " << entry.str() << "\n  "
                   << toString(report.takeError()) << '\n';
    } else if (verbose || report->times) {
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
  if (printModule.getNumOccurrences()) {
    Expected<AttentionCase> parsed = parseAttentionCase(printModule);
    if (!parsed)
      return parsed.takeError();
    llvm::outs() << makeModule(*parsed);
    return 0;
  }
  auto cases = getCases();
  if (!cases)
    return cases.takeError();
  if (!list)
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
  Expected<size_t> failures = runTool();
  if (!failures) {
    llvm::WithColor::error(llvm::errs(), "evoformer-check")
        << toString(failures.takeError()) << '\n';
    return 1;
  }
  return *failures ? 1 : 0;
}
