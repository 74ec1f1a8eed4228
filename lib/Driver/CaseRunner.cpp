//===- CaseRunner.cpp - Checks attentions against the reference -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/CaseRunner.h"
#include "CaseReference.h"
#include "Evoformer/Driver/DeferredKernels.h"
#include "Evoformer/Driver/ScheduleTable.h"
#include "Evoformer/Support/HostResources.h"
#include "Evoformer/Target/Targets.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include <chrono>

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

static double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

Expected<CaseRunner::Program *>
CaseRunner::getProgram(const AttentionCase &problem, CaseReport &report) {
  CompileOptions options = compileOptions;
  if (Error error = chooseFromTable(options, getShape(problem)))
    return error;
  std::string text = makeModule(problem);
  if (lastProgram && lastText == text && lastSchedule == options.schedule)
    return lastProgram.get();
  lastProgram.reset();
  std::string problems;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      problems += diagnostic.str() + "\n";
    return success();
  });
  FailureOr<tile::TargetAttr> target =
      tile::getTarget(UnknownLoc::get(&context), compileOptions.target);
  if (failed(target))
    return createStringError(problems);
  auto start = std::chrono::steady_clock::now();
  options.deferKernels = true;
  auto json = compileToPlan(context, text, "case", options);
  if (failed(json))
    return createStringError("does not compile: " + problems + text);
  report.compileMilliseconds = millisecondsSince(start);
  Expected<Plan> plan = decodePlan(*json, "");
  if (!plan)
    return plan.takeError();
  if (plan->functions.size() != 1)
    return createStringError("the module has not exactly one host function");
  lastProgram = std::make_unique<Program>();
  lastProgram->plan = std::move(*plan);
  lastProgram->arithmetic.flushesSubnormals = target->flushesSubnormals();
  lastProgram->arithmetic.splitsProducts =
      splitsProducts(context, compileOptions);
  lastProgram->arithmetic.startsFromBiases = !target->isCPU();
  lastProgram->arithmetic.cutsOffGradients =
      !target->isCPU() && !target->hasNativeBF16Convert();
  lastProgram->arithmetic.sumsNarrowGradients = bool(target->getGroupMatrix());
  lastProgram->session = std::make_unique<Session>(lastProgram->plan, device);
  lastText = std::move(text);
  lastSchedule = options.schedule;
  return lastProgram.get();
}

/// One case on the device.
class mlir::evoformer::CaseRun {
public:
  /// With the inputs of an earlier run, or new ones if `inputs` is empty.
  CaseRun(const AttentionCase &problem, Session &session, uint64_t guardBytes,
          llvm::ArrayRef<HostArray> inputs)
      : session(session), device(session.getDevice()), guardBytes(guardBytes),
        problem(problem), operands(getOperands(problem)) {
    arrays = inputs.vec();
    if (!arrays.empty())
      return;
    for (const CaseOperand &operand : operands)
      arrays.emplace_back(operand.layout);
    fillInputs(problem, arrays);
  }

  Error upload();
  Error runOnce(LaunchObserver observer = nullptr);
  /// Fetches the outputs; inputs and guards must be untouched.
  Error fetch();
  Error checkSecondRun();
  uint64_t hashOutputs() const;
  Expected<Times> time(const MeasureOptions &options) {
    return measure(device, options, [&] { return runOnce(); });
  }

  Expected<KernelTimes> timeLaunches(const MeasureOptions &options);

  std::vector<HostArray> arrays;

private:
  Session &session;
  Device &device;
  uint64_t guardBytes;
  const AttentionCase &problem;
  std::vector<CaseOperand> operands;
  std::vector<DeviceArray> deviceArrays;
  std::vector<HostValue> values;
  std::optional<SessionWorkspace> workspace;
};

Error CaseRun::upload() {
  for (auto [operand, array] : llvm::zip_equal(operands, arrays)) {
    auto deviceArray =
        DeviceArray::create(device, operand.name, operand.layout, guardBytes);
    if (!deviceArray)
      return deviceArray.takeError();
    deviceArrays.push_back(std::move(*deviceArray));
    if (!operand.isOutput)
      if (Error error = deviceArrays.back().upload(array))
        return error;
    values.push_back(deviceArrays.back().getValue(operand.order));
  }
  for (auto &[name, number] : getNumbers(problem))
    values.emplace_back().bits = static_cast<uint64_t>(number);
  auto created = SessionWorkspace::create(
      session, session.getPlan().functions[0], values, guardBytes);
  if (!created)
    return created.takeError();
  workspace.emplace(std::move(*created));
  return Error::success();
}

Error CaseRun::runOnce(LaunchObserver observer) {
  return session
      .run(session.getPlan().functions[0], values, workspace->prepare(),
           observer)
      .takeError();
}

Expected<KernelTimes> CaseRun::timeLaunches(const MeasureOptions &options) {
  Expected<KernelTimes> times =
      measureLaunches(device, options, [&](LaunchObserver observer) {
        return runOnce(observer);
      });
  if (!times)
    return times;
  times->workspaceBytes = workspace->getNumBytes();
  for (const CaseOperand &operand : operands)
    (operand.isOutput ? times->outputBytes : times->inputBytes) +=
        operand.layout.getNumElements() * getByteSize(operand.layout.type);
  return times;
}

Error CaseRun::fetch() {
  if (Error error = device.synchronize())
    return error;
  for (auto [operand, deviceArray, array] :
       llvm::zip_equal(operands, deviceArrays, arrays)) {
    if (Error error = deviceArray.checkGuards())
      return error;
    HostArray now(operand.layout);
    if (Error error = deviceArray.download(now))
      return error;
    if (operand.isOutput) {
      array = std::move(now);
      if (!array.gapsAreUntouched(findWritten(problem, operand.name)))
        return createStringError("'" + operand.name +
                                 "' was written to between its elements");
    } else if (now.storage != array.storage) {
      return createStringError("the input '" + operand.name + "' has changed");
    }
  }
  return workspace->checkGuards();
}

Error CaseRun::checkSecondRun() {
  for (auto [operand, deviceArray] : llvm::zip_equal(operands, deviceArrays))
    if (operand.isOutput)
      if (Error error = deviceArray.poison())
        return error;
  if (Error error = runOnce())
    return error;
  std::vector<HostArray> first = arrays;
  if (Error error = fetch())
    return error;
  for (auto [operand, before, after] : llvm::zip_equal(operands, first, arrays))
    if (before.storage != after.storage)
      return createStringError("two runs give different bits in '" +
                               operand.name + "'");
  return Error::success();
}

uint64_t CaseRun::hashOutputs() const {
  uint64_t hash = 0;
  for (auto [operand, array] : llvm::zip_equal(operands, arrays))
    if (operand.isOutput)
      hash = llvm::hash_combine(
          hash, llvm::xxh3_64bits(llvm::ArrayRef(
                    reinterpret_cast<const uint8_t *>(array.storage.data()),
                    array.storage.size())));
  return hash;
}

/// What a case launches.
static Expected<std::vector<CaseLaunch>>
findLaunched(const AttentionCase &problem, const Plan &plan) {
  // No memory is read, but arguments must not overlap.
  std::vector<HostValue> values;
  for (const CaseOperand &operand : getOperands(problem))
    values.push_back(describe(operand.layout, uint64_t(values.size() + 1) << 40,
                              operand.order));
  for (auto &[name, number] : getNumbers(problem))
    values.emplace_back().bits = static_cast<uint64_t>(number);
  std::vector<CaseLaunch> launched;
  Workspace workspace = Workspace::unlimited(/*guardBytes=*/0);
  auto results = interpret(
      plan, plan.functions[0], values, workspace,
      [&](unsigned kernel, uint64_t workItems, llvm::ArrayRef<LaunchArgument>) {
        launched.push_back({&plan.kernels[kernel], workItems});
        return Error::success();
      });
  if (!results)
    return results.takeError();
  return launched;
}

Error CaseRunner::compileLaunched(llvm::ArrayRef<CaseLaunch> launches,
                                  const AttentionCase &problem,
                                  CaseReport &report) {
  Plan &plan = lastProgram->plan;
  // By symbol, since equal kernels share one.
  std::map<std::string, std::vector<unsigned>> missing;
  std::string tiles;
  for (const CaseLaunch &launch : launches) {
    const KernelInfo &kernel = *launch.kernel;
    unsigned number = &kernel - plan.kernels.data();
    if (kernel.object->format != kTilesFormat)
      continue;
    tiles = kernel.object->contents;
    if (!llvm::is_contained(missing[kernel.symbol], number))
      missing[kernel.symbol].push_back(number);
  }
  if (missing.empty())
    return Error::success();
  std::vector<std::string> symbols;
  for (auto &[symbol, users] : missing)
    symbols.push_back(symbol);
  auto start = std::chrono::steady_clock::now();
  auto compiled =
      makeKernels
          ? makeKernels(tiles, symbols)
          : compileKernelInfos(tiles, symbols, compileOptions, referenceThreads,
                               [](StringRef, StringRef) {});
  if (!compiled)
    return createStringError(
        "does not compile: " + toString(compiled.takeError()) + "\n" +
        makeModule(problem));
  report.compileMilliseconds += millisecondsSince(start);
  for (auto [entry, kernel] : llvm::zip_equal(missing, *compiled)) {
    for (unsigned number : entry.second) {
      kernel.name = plan.kernels[number].name;
      kernel.argumentBytes = plan.kernels[number].argumentBytes;
      plan.kernels[number] = kernel;
    }
  }
  return Error::success();
}

Expected<std::vector<CaseLaunch>>
CaseRunner::listLaunches(const AttentionCase &problem, bool compiles,
                         CaseReport &report) {
  Expected<Program *> program = getProgram(problem, report);
  if (!program)
    return program.takeError();
  auto launches = findLaunched(problem, (*program)->plan);
  if (launches && compiles)
    if (Error error = compileLaunched(*launches, problem, report))
      return error;
  return launches;
}

Expected<std::vector<CaseLaunch>>
CaseRunner::listLaunches(const AttentionCase &problem, bool compiles) {
  CaseReport report;
  return listLaunches(problem, compiles, report);
}

/// Inputs and outputs here and, on the CPU, on the device.
static Error checkCaseMemory(const AttentionCase &problem) {
  uint64_t bytes = 0;
  for (const CaseOperand &operand : getOperands(problem))
    bytes +=
        operand.layout.getStorageElements() * getByteSize(operand.layout.type);
  return checkMemory(bytes, "the case");
}

Error CaseRunner::start(
    const AttentionCase &problem, CaseReport &report,
    llvm::function_ref<Error(CaseRun &, CaseMemory::Entry &)> then) {
  auto launches = listLaunches(problem, /*compiles=*/true, report);
  if (!launches)
    return launches.takeError();
  if (Error error = checkCaseMemory(problem))
    return error;
  CaseMemory::Entry forgotten;
  CaseMemory::Entry &known =
      memory ? memory->entries[problem.str()] : forgotten;
  CaseRun run(problem, *lastProgram->session, guardBytes, known.inputs);
  if (memory && known.inputs.empty())
    known.inputs = run.arrays;
  if (Error error = run.upload())
    return error;
  return then(run, known);
}

Expected<KernelTimes> CaseRunner::time(const AttentionCase &problem,
                                       const MeasureOptions &options) {
  CaseReport report;
  KernelTimes times;
  if (Error error =
          start(problem, report, [&](CaseRun &run, CaseMemory::Entry &) {
            return run.timeLaunches(options).moveInto(times);
          }))
    return error;
  return times;
}

Expected<CaseReport> CaseRunner::run(const AttentionCase &problem) {
  CaseReport report;
  if (Error error =
          start(problem, report, [&](CaseRun &run, CaseMemory::Entry &known) {
            return check(problem, run, known, report);
          }))
    return error;
  return report;
}

Error CaseRunner::check(const AttentionCase &problem, CaseRun &run,
                        CaseMemory::Entry &known, CaseReport &report) {
  if (Error error = run.runOnce())
    return error;
  if (Error error = run.fetch())
    return error;
  report.outputHash = run.hashOutputs();
  if (!known.rightHashes.count(report.outputHash)) {
    if (!memory)
      if (Error error = run.checkSecondRun())
        return error;
    if (Error error = compareCase(problem, run.arrays, lastProgram->arithmetic,
                                  referenceThreads, report))
      return error;
    if (memory && !known.rightHashes.empty())
      if (Error error = run.checkSecondRun())
        return error;
    known.rightHashes.insert(report.outputHash);
  }
  if (measureOptions) {
    Expected<Times> times = run.time(*measureOptions);
    if (!times)
      return times.takeError();
    report.times = *times;
  }
  if (measureOptions && timeKernels) {
    Expected<KernelTimes> times = run.timeLaunches(*measureOptions);
    if (!times)
      return times.takeError();
    AttentionSizes sizes;
    sizes.batch = problem.batch;
    sizes.rows = problem.rows;
    sizes.queries = problem.queries;
    sizes.keys = problem.keys;
    sizes.heads = problem.heads;
    sizes.keyHeads = problem.getKeyHeads();
    sizes.depth = problem.depth;
    sizes.valueDepth = problem.getValueDepth();
    auto module = parseSourceString<ModuleOp>(makeModule(problem), &context);
    if (auto steps = getStepCosts(*module, compileOptions.biasGradients, sizes);
        succeeded(steps))
      times->steps = std::move(*steps);
    report.kernelTimes = std::move(*times);
  }
  return Error::success();
}
