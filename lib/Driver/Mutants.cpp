//===- Mutants.cpp - Breaks an attention's kernels on purpose -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/Mutants.h"
#include "Evoformer/Driver/CaseRunner.h"
#include "Evoformer/Driver/SimDevice.h"
#include "Evoformer/Simulator/Mutation.h"
#include "llvm/Support/Regex.h"
#include <map>

using namespace mlir;
using namespace mlir::evoformer;
using llvm::Error;
using llvm::Expected;

namespace {
/// Cases that run the same program.
struct Group {
  std::unique_ptr<CaseRunner> runner;
  std::vector<AttentionCase> cases;
  /// Of the unbroken program's results.
  std::vector<uint64_t> hashes;
};

/// A kernel that the cases of a group launch.
struct LaunchedKernel {
  Group *group;
  SimKernelRecord record;
};

class MutantChecker {
public:
  MutantChecker(MLIRContext &context, llvm::ArrayRef<AttentionCase> cases,
                const CompileOptions &compileOptions,
                const MutantOptions &options);

  /// Runs everything unbroken and learns which kernels there are.
  Error prepare();
  Error check(llvm::raw_ostream &os);

private:
  /// Runs the group's cases under several interleavings until one fails; the
  /// hashes of the results.
  Expected<std::vector<uint64_t>> run(const Group &group);
  sim::MutantOutcome runMutant(const LaunchedKernel &kernel, Operation *module);

  const MutantOptions &options;
  SimDevice device;
  std::map<std::string, Group> groups;
  std::vector<LaunchedKernel> kernels;
};
} // namespace

MutantChecker::MutantChecker(MLIRContext &context,
                             llvm::ArrayRef<AttentionCase> cases,
                             const CompileOptions &compileOptions,
                             const MutantOptions &options)
    : options(options) {
  device.options.threads = options.threads;
  for (const AttentionCase &problem : cases) {
    Group &group = groups[makeModule(problem)];
    if (!group.runner) {
      // Without guard zones an access behind a buffer is a finding.
      group.runner = std::make_unique<CaseRunner>(
          context, device, compileOptions, /*guardBytes=*/0);
      group.runner->remembers = true;
      group.runner->referenceThreads = options.threads;
    }
    group.cases.push_back(problem);
  }
}

Expected<std::vector<uint64_t>> MutantChecker::run(const Group &group) {
  std::vector<uint64_t> hashes;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    device.options.seed = seed;
    for (const AttentionCase &problem : group.cases) {
      Expected<CaseReport> report = group.runner->run(problem);
      if (!report)
        return llvm::createStringError(problem.str() + ": " +
                                       toString(report.takeError()));
      hashes.push_back(report->outputHash);
    }
  }
  return hashes;
}

Error MutantChecker::prepare() {
  llvm::Regex wanted(options.kernels);
  if (std::string problem; !wanted.isValid(problem))
    return llvm::createStringError("'" + options.kernels +
                                   "' is no regular expression: " + problem);
  for (auto &[text, group] : groups) {
    size_t before = device.records.size();
    Expected<std::vector<uint64_t>> hashes = run(group);
    if (!hashes)
      return llvm::createStringError("unbroken kernels fail: " +
                                     toString(hashes.takeError()));
    group.hashes = std::move(*hashes);
    for (size_t k = before; k < device.records.size(); ++k)
      if (wanted.match(device.records[k].name))
        kernels.push_back({&group, device.records[k]});
  }
  if (kernels.empty())
    return llvm::createStringError("no kernel that runs matches '" +
                                   options.kernels + "'");
  return Error::success();
}

sim::MutantOutcome MutantChecker::runMutant(const LaunchedKernel &kernel,
                                            Operation *module) {
  Expected<std::unique_ptr<sim::Simulator>> broken =
      sim::Simulator::create(module);
  Error refusal =
      broken ? (*broken)->check(kernel.record.name) : broken.takeError();
  if (refusal) {
    llvm::consumeError(std::move(refusal));
    return sim::MutantOutcome::Refused;
  }
  device.replaced = {{kernel.record.module.get(), std::move(*broken)}};
  // A broken loop must end soon.
  device.options.maxBlocksPerSubgroup =
      20 * kernel.record.longestSubgroup + 1000;
  device.hadFindings = false;
  Expected<std::vector<uint64_t>> hashes = run(*kernel.group);
  device.replaced.clear();
  if (hashes)
    return *hashes == kernel.group->hashes ? sim::MutantOutcome::Survived
                                           : sim::MutantOutcome::Differs;
  llvm::consumeError(hashes.takeError());
  return device.hadFindings ? sim::MutantOutcome::Found
                            : sim::MutantOutcome::Wrong;
}

Error MutantChecker::check(llvm::raw_ostream &os) {
  std::vector<std::vector<sim::Mutation>> mutations;
  for (const LaunchedKernel &kernel : kernels) {
    mutations.push_back(sim::listMutations(kernel.record.module->getModule(),
                                           kernel.record.name));
    os << "kernel " << kernel.record.name << ", " << kernel.group->cases.size()
       << " cases, " << mutations.back().size() << " possible defects\n";
  }
  sim::MutantTable table;
  for (const sim::Mutant &mutant : sim::drawMutants(mutations, options.draw)) {
    const LaunchedKernel &kernel = kernels[mutant.kernel];
    std::string what;
    Expected<OwningOpRef<Operation *>> module =
        sim::makeMutant(kernel.record.module->getModule(), kernel.record.name,
                        mutant, options.draw, what);
    if (!module)
      return module.takeError();
    sim::MutantOutcome outcome = runMutant(kernel, **module);
    table.add(mutant, kernel.record.name + ": " + what, outcome);
  }
  table.print(os, options.verbose);
  return Error::success();
}

Error mlir::evoformer::checkMutants(MLIRContext &context,
                                    llvm::ArrayRef<AttentionCase> cases,
                                    const CompileOptions &compileOptions,
                                    const MutantOptions &options,
                                    llvm::raw_ostream &os) {
  MutantChecker checker(context, cases, compileOptions, options);
  if (Error error = checker.prepare())
    return error;
  return checker.check(os);
}
