//===- evoformer-run.cpp - Runs launch plans ------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/Arguments.h"
#include "Evoformer/Driver/Compile.h"
#include "Evoformer/Driver/Measure.h"
#include "Evoformer/Driver/ToolFlags.h"
#include "Evoformer/Support/HostResources.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include <optional>

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
cl::OptionCategory category("evoformer-run options");
ToolFlags flags(category, /*guardBytes=*/256);

cl::opt<std::string> inputFileOption(cl::Positional, cl::Required,
                                     cl::desc("<plan.json or module.mlir>"),
                                     cl::cat(category));
cl::opt<std::string>
    functionNameOption("function",
                       cl::desc("The function to run (default: the only one)"),
                       cl::cat(category));
cl::opt<std::string> emitPlanOption("emit-plan",
                                    cl::desc("Write the launch plan here"),
                                    cl::cat(category));
cl::list<std::string> inputsOption("input", cl::desc("[name=]file.npy to read"),
                                   cl::cat(category));
cl::list<std::string> outputsOption("output",
                                    cl::desc("[name=]file.npy to write"),
                                    cl::cat(category));
cl::list<std::string>
    shapesOption("shape", cl::desc("name=1x2x3 of an argument with no file"),
                 cl::cat(category));
cl::list<std::string>
    layoutsOption("layout",
                  cl::desc("name=0,2,1: dimensions outermost first in memory"),
                  cl::cat(category));
cl::list<std::string> scalarsOption("scalar", cl::desc("name=number"),
                                    cl::cat(category));
cl::opt<uint64_t>
    seedOption("random", cl::desc("Fill inputs with no file from this seed"),
               cl::cat(category));
cl::opt<bool>
    checkOption("check",
                cl::desc("Run twice and compare the outputs bit by bit"),
                cl::cat(category));
cl::opt<bool> workspaceOption(
    "workspace",
    cl::desc("Print the bytes of workspace that a run with arguments of these "
             "shapes takes, guard zones not counted, and stop: needs no "
             "device and no memory"),
    cl::cat(category));
cl::opt<bool> noRunOption("no-run", cl::desc("Only compile"),
                          cl::cat(category));

/// What the user said. Linking an AMD object in this process sets all options
/// back to their defaults, so they are read once.
struct Settings : ToolSettings {
  Settings() : ToolSettings(flags.getSettings()) {}

  std::string inputFile = inputFileOption;
  std::string functionName = functionNameOption;
  std::string emitPlan = emitPlanOption;
  std::vector<std::string> inputs{inputsOption.begin(), inputsOption.end()};
  std::vector<std::string> outputs{outputsOption.begin(), outputsOption.end()};
  std::vector<std::string> shapes{shapesOption.begin(), shapesOption.end()};
  std::vector<std::string> layouts{layoutsOption.begin(), layoutsOption.end()};
  std::vector<std::string> scalars{scalarsOption.begin(), scalarsOption.end()};
  uint64_t seed = seedOption;
  bool seedGiven = seedOption.getNumOccurrences() != 0;
  bool check = checkOption;
  bool noRun = noRunOption;
  bool queriesWorkspace = workspaceOption;
};
std::optional<Settings> settings;
} // namespace

/// A plan is read, anything else compiled.
static Expected<Plan> getPlan() {
  if (StringRef(settings->inputFile).ends_with(".json"))
    return readPlan(settings->inputFile);
  auto buffer = readFile(settings->inputFile);
  if (!buffer)
    return buffer.takeError();
  mlir::DialectRegistry registry;
  registerForCompilation(registry);
  mlir::MLIRContext context(registry);
  auto json = compileToPlan(context, (*buffer)->getBuffer(),
                            settings->inputFile, settings->compile);
  if (mlir::failed(json))
    return createStringError("'" + settings->inputFile + "' does not compile");
  if (!settings->emitPlan.empty())
    if (Error error = writeFile(settings->emitPlan, [&](llvm::raw_ostream &os) {
          os << llvm::formatv("{0:2}", *json) << '\n';
        }))
      return error;
  return decodePlan(*json, "");
}

static Expected<const PlanFunction *> getFunction(const Plan &plan) {
  if (!settings->functionName.empty()) {
    if (const PlanFunction *function = plan.lookup(settings->functionName))
      return function;
    return createStringError("there is no function '" + settings->functionName +
                             "'");
  }
  if (plan.functions.size() == 1)
    return &plan.functions.front();
  if (plan.functions.empty())
    return createStringError("there is no function to run");
  std::string names;
  for (const PlanFunction &function : plan.functions)
    names += " " + function.name;
  return createStringError("choose one with --function:" + names);
}

static Expected<std::vector<HostArray>>
download(const std::vector<BoundArgument> &arguments) {
  std::vector<HostArray> arrays;
  for (const BoundArgument &argument : arguments) {
    arrays.emplace_back(argument.layout);
    if (argument.array)
      if (Error error = argument.array->download(arrays.back()))
        return error;
  }
  return arrays;
}

static ArgumentTexts getTexts() {
  ArgumentTexts texts{settings->inputs,    settings->outputs, settings->shapes,
                      settings->layouts,   settings->scalars, {},
                      settings->guardBytes};
  if (settings->seedGiven)
    texts.seed = settings->seed;
  return texts;
}

static Error printWorkspace(const Plan &plan, const PlanFunction &function) {
  auto arguments = bindArguments(function, getTexts(), /*device=*/nullptr);
  if (!arguments)
    return arguments.takeError();
  std::vector<HostValue> values;
  for (BoundArgument &argument : *arguments)
    values.push_back(argument.value);
  Expected<uint64_t> bytes = queryWorkspace(plan, function, values);
  if (!bytes)
    return bytes.takeError();
  llvm::outs() << "workspace " << *bytes << " bytes\n";
  return Error::success();
}

static Error runFunction(const Plan &plan, const PlanFunction &function,
                         Device &device) {
  auto arguments = bindArguments(function, getTexts(), &device);
  if (!arguments)
    return arguments.takeError();
  std::vector<HostValue> values;
  for (BoundArgument &argument : *arguments)
    values.push_back(argument.value);

  Session session(plan, device);
  auto workspace =
      SessionWorkspace::create(session, function, values, settings->guardBytes);
  if (!workspace)
    return workspace.takeError();
  auto runOnce = [&]() -> Error {
    return session.run(function, values, workspace->prepare()).takeError();
  };
  if (Error error = runOnce())
    return error;
  if (Error error = device.synchronize())
    return error;
  for (BoundArgument &argument : *arguments)
    if (argument.array)
      if (Error error = argument.array->checkGuards())
        return error;
  if (Error error = workspace->checkGuards())
    return error;
  Expected<std::vector<HostArray>> arrays = download(*arguments);
  if (!arrays)
    return arrays.takeError();
  if (settings->check) {
    if (Error error = runOnce())
      return error;
    Expected<std::vector<HostArray>> again = download(*arguments);
    if (!again)
      return again.takeError();
    for (auto [argument, first, second] :
         llvm::zip_equal(*arguments, *arrays, *again))
      if (first.storage != second.storage)
        return createStringError("two runs give different bits in '" +
                                 argument.name + "'");
  }
  llvm::outs() << "ran '" << function.name << "' on " << device.getKind()
               << " (" << device.getDescription() << "), workspace "
               << workspace->getNumBytes() << " bytes\n";
  if (settings->isTimed) {
    auto times = measure(device, settings->measure, runOnce);
    if (!times)
      return times.takeError();
    times->print(llvm::outs());
  }
  for (auto [argument, array] : llvm::zip_equal(*arguments, *arrays))
    if (!argument.outputPath.empty())
      if (Error error = writeNpy(argument.outputPath, toTensor(array)))
        return error;
  return Error::success();
}

static Error runTool() {
  Expected<Plan> plan = getPlan();
  if (!plan)
    return plan.takeError();
  if (settings->noRun)
    return Error::success();
  Expected<const PlanFunction *> function = getFunction(*plan);
  if (!function)
    return function.takeError();
  if (settings->queriesWorkspace)
    return printWorkspace(*plan, **function);
  auto device = createDevice(settings->device);
  if (!device)
    return device.takeError();
  return runFunction(*plan, **function, **device);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Runs a function of a launch plan, or of a module that it compiles\n");
  settings.emplace();
  if (Error error = runTool()) {
    llvm::WithColor::error(llvm::errs(), "evoformer-run")
        << toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
