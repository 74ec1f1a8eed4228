//===- evoformer-run.cpp - Runs launch plans ------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/Arguments.h"
#include "Evoformer/Driver/Compile.h"
#include "Evoformer/Driver/Measure.h"
#include "Evoformer/Driver/SimDevice.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace cl = llvm::cl;

namespace {
cl::OptionCategory category("evoformer-run options");

cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                               cl::desc("<plan.json or module.mlir>"),
                               cl::cat(category));
cl::opt<std::string>
    functionName("function",
                 cl::desc("The function to run (default: the only one)"),
                 cl::cat(category));
cl::opt<std::string> deviceName("device", cl::init("cpu"),
                                cl::desc("cpu, cuda, hip or sim"),
                                cl::cat(category));
cl::opt<int> ordinal("ordinal", cl::init(0), cl::desc("Which GPU"),
                     cl::cat(category));
cl::opt<unsigned> threads("cpu-threads", cl::init(0),
                          cl::desc("CPU threads (0: one a core)"),
                          cl::cat(category));
cl::opt<uint64_t> simSeed("sim-seed", cl::init(0),
                          cl::desc("Order of subgroups in the simulator"),
                          cl::cat(category));
cl::opt<std::string>
    cubinChip("cubin",
              cl::desc("Compile to a cubin for this chip (needs ptxas)"),
              cl::cat(category));
cl::opt<std::string> driverLibrary("driver-library",
                                   cl::desc("The GPU driver's library"),
                                   cl::cat(category));
cl::opt<std::string>
    target("target", cl::init("cpu"),
           cl::desc("Chip to compile a module for (cpu, gfx942, …)"),
           cl::cat(category));
cl::opt<std::string>
    level("level", cl::init("tiles"),
          cl::desc("On the CPU: run a chip's program as it is after this level "
                   "(tiles, fragments, staged, pipelined)"),
          cl::cat(category));
cl::opt<std::string> schedule("schedule", cl::desc("Force the schedule"),
                              cl::cat(category));
cl::opt<std::string> emitPlan("emit-plan",
                              cl::desc("Write the launch plan here"),
                              cl::cat(category));
cl::list<std::string> inputs("input", cl::desc("[name=]file.npy to read"),
                             cl::cat(category));
cl::list<std::string> outputs("output", cl::desc("[name=]file.npy to write"),
                              cl::cat(category));
cl::list<std::string> shapes("shape",
                             cl::desc("name=1x2x3 of an argument with no file"),
                             cl::cat(category));
cl::list<std::string>
    layouts("layout",
            cl::desc("name=0,2,1: dimensions outermost first in memory"),
            cl::cat(category));
cl::list<std::string> scalars("scalar", cl::desc("name=number"),
                              cl::cat(category));
cl::opt<uint64_t> seed("random",
                       cl::desc("Fill inputs with no file from this seed"),
                       cl::cat(category));
cl::opt<uint64_t>
    guardBytes("guard-bytes", cl::init(256),
               cl::desc("Zone around every buffer that must stay untouched"),
               cl::cat(category));
cl::opt<unsigned> repeat("repeat", cl::init(0),
                         cl::desc("Time this many further runs"),
                         cl::cat(category));
cl::opt<unsigned> warmup("warmup", cl::init(2),
                         cl::desc("Untimed runs before them"),
                         cl::cat(category));
cl::opt<bool> coldCache("cold-cache",
                        cl::desc("Evict the caches before each timed run"),
                        cl::cat(category));
cl::opt<bool> check("check",
                    cl::desc("Run twice and compare the outputs bit by bit"),
                    cl::cat(category));
cl::opt<bool> noRun("no-run", cl::desc("Only compile"), cl::cat(category));
} // namespace

/// A plan is read, anything else compiled.
static Expected<Plan> getPlan() {
  if (StringRef(inputFile).ends_with(".json"))
    return readPlan(inputFile);
  auto buffer = llvm::MemoryBuffer::getFile(inputFile);
  if (!buffer)
    return llvm::createFileError(inputFile, buffer.getError());
  mlir::DialectRegistry registry;
  registerForCompilation(registry);
  mlir::MLIRContext context(registry);
  CompileOptions options;
  options.target = target;
  options.device = deviceName;
  options.level = level;
  options.schedule = schedule;
  options.cubinChip = cubinChip;
  auto json =
      compileToPlan(context, (*buffer)->getBuffer(), inputFile, options);
  if (mlir::failed(json))
    return createStringError("'" + inputFile + "' does not compile");
  if (!emitPlan.empty())
    if (Error error = llvm::writeToOutput(emitPlan, [&](llvm::raw_ostream &os) {
          os << llvm::formatv("{0:2}", *json) << '\n';
          return Error::success();
        }))
      return error;
  return decodePlan(*json, "");
}

static Expected<const PlanFunction *> getFunction(const Plan &plan) {
  if (!functionName.empty()) {
    if (const PlanFunction *function = plan.lookup(functionName))
      return function;
    return createStringError("there is no function '" + functionName + "'");
  }
  if (plan.functions.size() == 1)
    return &plan.functions.front();
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

static Error runFunction(const Plan &plan, const PlanFunction &function,
                         Device &device) {
  ArgumentTexts texts{inputs,  outputs, shapes,    layouts,
                      scalars, {},      guardBytes};
  if (seed.getNumOccurrences())
    texts.seed = seed;
  auto arguments = bindArguments(function, texts, device);
  if (!arguments)
    return arguments.takeError();
  std::vector<HostValue> values;
  for (BoundArgument &argument : *arguments)
    values.push_back(argument.value);

  Session session(plan, device);
  auto workspace =
      SessionWorkspace::create(session, function, values, guardBytes);
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
  if (check) {
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
  if (repeat) {
    auto times = measure(device, {repeat, warmup, coldCache}, runOnce);
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
  if (noRun)
    return Error::success();
  Expected<const PlanFunction *> function = getFunction(*plan);
  if (!function)
    return function.takeError();
  DeviceOptions options;
  options.kind = deviceName;
  options.ordinal = ordinal;
  options.threads = threads;
  options.driverLibrary = driverLibrary;
  options.seed = simSeed;
  auto device = createDevice(options);
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
  if (Error error = runTool()) {
    llvm::WithColor::error(llvm::errs(), "evoformer-run")
        << toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
