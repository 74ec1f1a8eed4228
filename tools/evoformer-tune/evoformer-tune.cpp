//===- evoformer-tune.cpp - Finds the best schedules for a card -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/ToolFlags.h"
#include "Evoformer/Tuning/Candidates.h"
#include "Evoformer/Tuning/Tuner.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace mlir::evoformer;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
namespace cl = llvm::cl;

namespace {
cl::OptionCategory category("evoformer-tune options");
ToolFlags flags(category, /*guardBytes=*/1024);

cl::list<std::string>
    caseTextsOption(cl::Positional,
                    cl::desc("<problems like 'N=384 H=4 Sq=384 Sk=384 D=32 "
                             "type=bf16 bias=bhqk:bf16:normal'>"),
                    cl::cat(category));
cl::opt<std::string> caseFileOption("cases",
                                    cl::desc("A file with one problem a line"),
                                    cl::cat(category));
cl::list<std::string> kernelsOption(
    "kernels", cl::CommaSeparated,
    cl::desc("Tune these alone: attention, query_grad, key_value_grad, "
             "bias_grad (default: all that the problem launches)"),
    cl::cat(category));
cl::opt<unsigned> candidatesOption(
    "candidates", cl::init(8),
    cl::desc("How many schedules of a kernel, first by modelled cycles, are "
             "timed on the device"),
    cl::cat(category));
cl::opt<bool> exhaustiveOption("exhaustive",
                               cl::desc("Time all that fit on the device"),
                               cl::cat(category));
cl::opt<double>
    budgetOption("budget", cl::init(0),
                 cl::desc("Seconds for each problem, after which nothing new "
                          "is tried (0: no end)"),
                 cl::cat(category));
cl::opt<std::string> outputOption(
    "output",
    cl::desc("A table of schedules to add the best ones to, as --schedules and "
             "EVOFORMER_SCHEDULES take it; made where it is missing"),
    cl::cat(category));
cl::opt<bool> defaultsOption(
    "defaults",
    cl::desc("Try nothing: show what the default launches, and what "
             "it costs"),
    cl::cat(category));
cl::opt<bool> quietOption("quiet", cl::desc("No lines about progress"),
                          cl::cat(category));

/// What the user said. Linking an AMD object in this process sets all options
/// back to their defaults, so they are read once.
struct Settings : ToolSettings {
  Settings() : ToolSettings(flags.getSettings()) {}

  std::vector<std::string> caseTexts{caseTextsOption.begin(),
                                     caseTextsOption.end()};
  std::string caseFile = caseFileOption;
  std::vector<std::string> kernels{kernelsOption.begin(), kernelsOption.end()};
  unsigned candidates = candidatesOption;
  bool exhaustive = exhaustiveOption;
  double budget = budgetOption;
  std::string output = outputOption;
  bool defaults = defaultsOption;
  bool quiet = quietOption;
};
} // namespace

/// What remains of the settings for the tuner.
static Expected<TuneOptions> getOptions(const Settings &settings) {
  TuneOptions options;
  options.compile = settings.compile;
  if (!settings.compile.schedule.empty())
    return createStringError("--schedule forces what is to be found; leave it "
                             "out");
  if (!settings.defaults)
    for (const std::string &kernel : settings.kernels)
      if (!llvm::is_contained(options.kernels, kernel))
        options.kernels.push_back(kernel);
  if (settings.budget < 0)
    return createStringError(llvm::formatv(
        "--budget={0}: seconds are 0 (no end) or more", settings.budget));
  for (const std::string &kernel : settings.kernels)
    if (!llvm::is_contained(getTunedKernels(), kernel))
      return createStringError("unknown kernel '" + kernel + "'; known are " +
                               llvm::join(getTunedKernels(), ", "));
  if (options.kernels.empty() && !settings.defaults)
    options.kernels = {getTunedKernels().begin(), getTunedKernels().end()};
  options.exhaustive = settings.exhaustive;
  options.measured = settings.candidates;
  options.budget = settings.budget;
  options.threads = settings.device.threads;
  options.guardBytes = settings.guardBytes;
  if (settings.isTimed)
    options.measure = settings.measure;
  options.measure.coldCache = true;
  return options;
}

static void checkDevice(runtime::Device &device, const Settings &settings) {
  std::string chip = device.getChip();
  if (!chip.empty() && chip != settings.compile.target)
    llvm::WithColor::warning(llvm::errs(), "evoformer-tune")
        << "compiling for " << settings.compile.target
        << " on a device that is a " << chip << "\n";
}

static Error runTool(Settings &settings) {
  auto cases = readCases(settings.caseTexts, settings.caseFile);
  if (!cases)
    return cases.takeError();
  if (cases->empty())
    return createStringError("no problems: give some, or --cases");
  std::unique_ptr<runtime::Device> device;
  if (settings.device.kind == "sim")
    return createStringError("--device=sim takes no times that say anything of "
                             "a card; without --device schedules are ranked by "
                             "the model");
  if (settings.device.kind != "cpu") {
    auto opened = openDevice(settings);
    if (!opened)
      return opened.takeError();
    device = std::move(*opened);
    checkDevice(*device, settings);
  }
  Expected<TuneOptions> options = getOptions(settings);
  if (!options)
    return options.takeError();
  // What cannot be read is said before hours of work.
  ScheduleTable table;
  if (!settings.output.empty() && llvm::sys::fs::exists(settings.output)) {
    auto known = ScheduleTable::read(settings.output);
    if (!known)
      return known.takeError();
    table = std::move(*known);
  }
  // Nor what cannot be written.
  if (!settings.output.empty())
    if (Error error = table.write(settings.output))
      return error;
  llvm::raw_ostream &progress =
      settings.quiet ? llvm::nulls() : (llvm::raw_ostream &)llvm::errs();
  for (const AttentionCase &problem : *cases) {
    Expected<TuningResult> result =
        tune(problem, device.get(), *options, progress);
    if (!result)
      return result.takeError();
    llvm::outs() << problem.str() << '\n';
    result->print(llvm::outs());
    if (result->best.empty() && !settings.defaults)
      llvm::outs() << "no schedule of " << llvm::join(options->kernels, ", ")
                   << " was tried\n";
    for (ScheduleEntry &entry : result->best) {
      llvm::outs() << "best " << entry.kernel << ": ";
      if (entry.schedule.empty())
        llvm::outs() << "the default\n";
      else
        llvm::outs() << llvm::formatv(
            "{0}, {1:f1} instead of {2:f1} {3}\n", entry.schedule, entry.cost,
            entry.defaultCost, entry.isMeasured ? "us" : "modelled cycles");
      std::string kernel = entry.kernel;
      if (!table.add(std::move(entry)))
        llvm::outs() << "the table keeps what was measured of " << kernel
                     << '\n';
    }
    llvm::outs().flush();
    // After each problem: what was found stays where later ones fail.
    if (!settings.output.empty())
      if (Error error = table.write(settings.output))
        return error;
  }
  return Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Finds the best schedules of attentions for a GPU\n\n"
      "With --device=cuda or hip the candidates that the model of the target's "
      "units ranks first are checked and timed on it; without a device the "
      "model alone ranks them.\n");
  Settings settings;
  if (Error error = runTool(settings)) {
    llvm::WithColor::error(llvm::errs(), "evoformer-tune")
        << toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
