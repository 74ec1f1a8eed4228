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
#include <cstring>
#include <map>

using namespace mlir;
using namespace mlir::evoformer;
using llvm::Error;
using llvm::Expected;

namespace {
/// What one buffer held; launches share what none of them changed.
using Contents = std::shared_ptr<const std::string>;

/// A launch of an unbroken kernel, to be repeated with a broken one.
struct RecordedLaunch {
  sim::Launch launch;
  /// Of each buffer.
  std::vector<Contents> before, after;
  uint64_t longestSubgroup = 0;
};

/// A kernel, by the module that it is in and its name.
using KernelName = std::pair<const sim::Simulator *, std::string>;

struct GroupCase {
  AttentionCase problem;
  /// Of the unbroken program's results.
  uint64_t hash = 0;
  std::map<KernelName, std::vector<RecordedLaunch>> launches;
};

/// Cases that run the same program.
struct Group {
  std::unique_ptr<CaseRunner> runner;
  std::vector<GroupCase> cases;
  /// How long the worst accesses of LDS take of each kernel that is unbroken.
  std::map<KernelName, unsigned> bankConflictDegrees;
  bool isPrepared = false;
};

/// A kernel that the cases of a group launch.
struct LaunchedKernel {
  Group *group;
  std::shared_ptr<sim::Simulator> module;
  std::string name;
};

/// Memory in which recorded launches are repeated.
class Arena {
public:
  /// Puts the buffers of `recorded` as they were before it into the arena;
  /// returns the launch with their new addresses.
  sim::Launch restore(const RecordedLaunch &recorded);
  /// Whether the buffers hold what they held after `recorded`.
  static bool areEqual(const sim::Launch &launch,
                       const RecordedLaunch &recorded);

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory;
  uint64_t capacity = 0;
};

class MutantChecker {
public:
  MutantChecker(MLIRContext &context, llvm::ArrayRef<AttentionCase> cases,
                const CompileOptions &compileOptions,
                const MutantOptions &options);

  /// Learns which kernels the cases launch.
  Error listKernels();
  Error check(llvm::raw_ostream &os);
  /// Lists the blocks that no case enters.
  Error listUnreached(llvm::raw_ostream &os);

private:
  /// Runs a group's unbroken cases and records the launches of `wanted`.
  Error prepare(Group &group, const std::set<KernelName> &wanted);
  /// Prepares a group that follows, of which the one before is not needed
  /// again.
  Error moveTo(Group &group, const std::set<KernelName> &wanted);
  /// The defects to make, those of a group one after the other.
  std::vector<sim::Mutant>
  draw(llvm::ArrayRef<std::vector<sim::Mutation>> mutations) const;
  /// What becomes of a defect, and the case that reports it.
  sim::MutantOutcome runMutant(const LaunchedKernel &kernel, Operation *module,
                               std::string &reporting);
  /// Why a defect is not reported.
  Expected<std::string> explain(const LaunchedKernel &kernel,
                                const sim::Mutation &mutation);
  /// How often each of so many probes is met in all cases.
  Expected<std::vector<uint64_t>> countProbes(const LaunchedKernel &kernel,
                                              Operation *traced, size_t probes);
  /// A case with a broken kernel.
  sim::MutantOutcome runCase(const LaunchedKernel &kernel, GroupCase &entry,
                             std::shared_ptr<sim::Simulator> broken,
                             uint64_t seed);
  /// Fails where a kernel would be reported without any defect.
  Error repeatUnbroken(const LaunchedKernel &kernel);
  Expected<sim::LaunchResult> repeat(const RecordedLaunch &recorded,
                                     sim::Simulator &broken, uint64_t seed,
                                     unsigned bankConflictDegree,
                                     bool &isEqual);

  const MutantOptions &options;
  SimDevice device;
  std::map<std::string, Group> groups;
  std::vector<LaunchedKernel> kernels;
  Group *current = nullptr;
  Arena arena;
};
} // namespace

//===----------------------------------------------------------------------===//
// Arena
//===----------------------------------------------------------------------===//

sim::Launch Arena::restore(const RecordedLaunch &recorded) {
  // As far apart as on the device, and as aligned.
  constexpr uint64_t alignment = 256;
  uint64_t size = sim::bufferMargin;
  std::vector<uint64_t> offsets;
  for (const sim::Buffer &buffer : recorded.launch.buffers) {
    uint64_t base = reinterpret_cast<uint64_t>(buffer.base);
    offsets.push_back(llvm::alignTo(size, alignment) + base % alignment);
    size = offsets.back() + buffer.size + sim::bufferMargin;
  }
  if (size > capacity) {
    capacity = llvm::alignTo(size, alignment);
    memory.reset();
    memory.reset(static_cast<char *>(std::aligned_alloc(alignment, capacity)));
    if (!memory)
      llvm::report_bad_alloc_error("no memory to repeat a launch");
  }
  sim::Launch launch = recorded.launch;
  for (auto [buffer, offset, contents] :
       llvm::zip_equal(launch.buffers, offsets, recorded.before)) {
    buffer.base = memory.get() + offset;
    if (!contents->empty())
      std::memcpy(buffer.base, contents->data(), contents->size());
  }
  // No number is as large as an address.
  auto move = [&](uint64_t &word) {
    for (auto [old, now] :
         llvm::zip_equal(recorded.launch.buffers, launch.buffers)) {
      uint64_t base = reinterpret_cast<uint64_t>(old.base);
      if (word >= base && word - base < std::max(old.size, uint64_t(1))) {
        word += reinterpret_cast<uint64_t>(now.base) - base;
        return;
      }
    }
  };
  llvm::for_each(launch.args, move);
  for (sim::TensorMap &map : launch.maps)
    move(map.address);
  return launch;
}

bool Arena::areEqual(const sim::Launch &launch,
                     const RecordedLaunch &recorded) {
  return llvm::all_of(llvm::zip_equal(launch.buffers, recorded.after),
                      [](auto pair) {
                        auto &[buffer, contents] = pair;
                        return std::memcmp(buffer.base, contents->data(),
                                           contents->size()) == 0;
                      });
}

//===----------------------------------------------------------------------===//
// MutantChecker
//===----------------------------------------------------------------------===//

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
      group.runner->memory = std::make_shared<CaseMemory>();
      group.runner->referenceThreads = options.threads;
    }
    group.cases.emplace_back().problem = problem;
  }
}

/// A case's name before what is wrong with it.
static Error blame(const AttentionCase &problem, Error error) {
  return llvm::createStringError("unbroken kernels fail: " + problem.str() +
                                 ": " + toString(std::move(error)));
}

Error MutantChecker::listKernels() {
  llvm::Regex wanted(options.kernels);
  if (std::string problem; !wanted.isValid(problem))
    return llvm::createStringError("'" + options.kernels +
                                   "' is no regular expression: " + problem);
  for (auto &[text, group] : groups) {
    std::set<KernelName> seen;
    for (const GroupCase &entry : group.cases) {
      auto launches = group.runner->listLaunches(entry.problem);
      if (!launches)
        return blame(entry.problem, launches.takeError());
      for (const CaseLaunch &launch : *launches) {
        const std::string &symbol = launch.kernel->symbol;
        auto module = device.getModule(*launch.kernel);
        if (!module)
          return blame(entry.problem, module.takeError());
        if (seen.insert({module->get(), symbol}).second && wanted.match(symbol))
          kernels.push_back({&group, std::move(*module), symbol});
      }
    }
  }
  if (kernels.empty())
    return llvm::createStringError("no kernel that runs matches '" +
                                   options.kernels + "'");
  return Error::success();
}

/// What the buffers hold, or one of `known` that is the same.
static std::vector<Contents> save(const sim::Launch &launch,
                                  std::map<void *, Contents> &known) {
  std::vector<Contents> saved;
  for (const sim::Buffer &buffer : launch.buffers) {
    llvm::StringRef now(static_cast<const char *>(buffer.base), buffer.size);
    Contents &last = known[buffer.base];
    if (!last || *last != now)
      last = std::make_shared<std::string>(now);
    saved.push_back(last);
  }
  return saved;
}

Error MutantChecker::prepare(Group &group, const std::set<KernelName> &wanted) {
  group.isPrepared = true;
  device.options.seed = 0;
  for (GroupCase &entry : group.cases) {
    std::map<void *, Contents> known;
    device.observer = [&](const sim::Simulator &module,
                          const sim::Launch &launch,
                          const sim::LaunchResult *result) {
      KernelName name(&module, launch.kernel);
      if (!wanted.count(name))
        return;
      std::vector<RecordedLaunch> &all = entry.launches[name];
      if (!result) {
        RecordedLaunch &recorded = all.emplace_back();
        recorded.launch = launch;
        recorded.before = save(launch, known);
        return;
      }
      all.back().after = save(launch, known);
      all.back().longestSubgroup = result->longestSubgroup;
      unsigned &degree = group.bankConflictDegrees[name];
      degree = std::max(degree, result->counters.bankConflictDegree);
    };
    Expected<CaseReport> report = group.runner->run(entry.problem);
    device.observer = nullptr;
    if (!report)
      return blame(entry.problem, report.takeError());
    entry.hash = report->outputHash;
  }
  return Error::success();
}

/// A broken loop must end soon.
static uint64_t limit(const RecordedLaunch &recorded) {
  return 4 * recorded.longestSubgroup + 1000;
}

Expected<sim::LaunchResult>
MutantChecker::repeat(const RecordedLaunch &recorded, sim::Simulator &broken,
                      uint64_t seed, unsigned bankConflictDegree,
                      bool &isEqual) {
  sim::Launch launch = arena.restore(recorded);
  launch.seed = seed;
  launch.stopAtFinding = true;
  // What padding and swizzles are there for.
  launch.bankConflictDegree = bankConflictDegree + 1;
  launch.maxBlocksPerSubgroup = limit(recorded);
  Expected<sim::LaunchResult> result = broken.launch(launch);
  isEqual = result && Arena::areEqual(launch, recorded);
  return result;
}

sim::MutantOutcome
MutantChecker::runCase(const LaunchedKernel &kernel, GroupCase &entry,
                       std::shared_ptr<sim::Simulator> broken, uint64_t seed) {
  auto launches = entry.launches.find({kernel.module.get(), kernel.name});
  if (launches == entry.launches.end())
    return sim::MutantOutcome::Survived;
  bool areEqual = true;
  uint64_t longest = 0;
  unsigned degree =
      std::max(1u, kernel.group->bankConflictDegrees[launches->first]);
  for (const RecordedLaunch &recorded : launches->second) {
    longest = std::max(longest, limit(recorded));
    bool isEqual;
    Expected<sim::LaunchResult> result =
        repeat(recorded, *broken, seed, degree, isEqual);
    if (!result) {
      llvm::consumeError(result.takeError());
      return sim::MutantOutcome::Refused;
    }
    if (!result->findings.empty())
      return sim::MutantOutcome::Found;
    areEqual &= isEqual;
  }
  if (areEqual)
    return sim::MutantOutcome::Survived;
  // Only the whole case shows whether what is different is wrong.
  device.options.seed = seed;
  device.options.maxBlocksPerSubgroup = longest;
  device.replaced = {{kernel.module.get(), std::move(broken)}};
  device.hadFindings = false;
  Expected<CaseReport> report = kernel.group->runner->run(entry.problem);
  device.replaced.clear();
  device.options.maxBlocksPerSubgroup = SimDeviceOptions().maxBlocksPerSubgroup;
  if (report)
    return report->outputHash == entry.hash ? sim::MutantOutcome::Survived
                                            : sim::MutantOutcome::Differs;
  llvm::consumeError(report.takeError());
  return device.hadFindings ? sim::MutantOutcome::Found
                            : sim::MutantOutcome::Wrong;
}

Error MutantChecker::repeatUnbroken(const LaunchedKernel &kernel) {
  for (GroupCase &entry : kernel.group->cases)
    if (runCase(kernel, entry, kernel.module, /*seed=*/0) !=
        sim::MutantOutcome::Survived)
      return llvm::createStringError(
          "unbroken kernel " + kernel.name +
          " is reported when its launches are repeated");
  return Error::success();
}

sim::MutantOutcome MutantChecker::runMutant(const LaunchedKernel &kernel,
                                            Operation *module,
                                            std::string &reporting) {
  Expected<std::unique_ptr<sim::Simulator>> created =
      sim::Simulator::create(module);
  Error refusal =
      created ? (*created)->check(kernel.name) : created.takeError();
  if (refusal) {
    llvm::consumeError(std::move(refusal));
    return sim::MutantOutcome::Refused;
  }
  std::shared_ptr<sim::Simulator> broken = std::move(*created);
  sim::MutantOutcome outcome = sim::MutantOutcome::Survived;
  for (uint64_t seed = 0; seed < 3; ++seed)
    for (GroupCase &entry : kernel.group->cases) {
      sim::MutantOutcome here = runCase(kernel, entry, broken, seed);
      if (here == sim::MutantOutcome::Differs)
        outcome = here;
      else if (here != sim::MutantOutcome::Survived) {
        reporting = entry.problem.str();
        return here;
      }
    }
  return outcome;
}

Expected<std::vector<uint64_t>>
MutantChecker::countProbes(const LaunchedKernel &kernel, Operation *module,
                           size_t probes) {
  auto traced = sim::Simulator::create(module);
  if (!traced)
    return traced.takeError();
  std::vector<uint64_t> counts(probes);
  for (const GroupCase &entry : kernel.group->cases) {
    auto launches = entry.launches.find({kernel.module.get(), kernel.name});
    if (launches == entry.launches.end())
      continue;
    for (const RecordedLaunch &recorded : launches->second) {
      auto result = (*traced)->launch(arena.restore(recorded));
      if (!result)
        return result.takeError();
      for (const sim::Finding &finding : result->findings)
        if (auto probe = sim::MutationTrace::getProbe(finding.location))
          counts[*probe] += finding.count;
    }
  }
  return counts;
}

Expected<std::string> MutantChecker::explain(const LaunchedKernel &kernel,
                                             const sim::Mutation &mutation) {
  sim::MutationTrace trace =
      sim::traceMutation(kernel.module->getModule(), kernel.name, mutation);
  auto counts = countProbes(kernel, *trace.module, trace.probes.size());
  if (!counts)
    return counts.takeError();
  return trace.explain(*counts);
}

Error MutantChecker::moveTo(Group &group, const std::set<KernelName> &wanted) {
  if (current && current != &group)
    current->cases.clear();
  current = &group;
  return group.isPrepared ? Error::success() : prepare(group, wanted);
}

Error MutantChecker::listUnreached(llvm::raw_ostream &os) {
  std::set<KernelName> wanted;
  for (const LaunchedKernel &kernel : kernels)
    wanted.insert({kernel.module.get(), kernel.name});
  unsigned unreached = 0, all = 0;
  for (const LaunchedKernel &kernel : kernels) {
    if (Error error = moveTo(*kernel.group, wanted))
      return error;
    sim::BlockTrace trace =
        sim::traceBlocks(kernel.module->getModule(), kernel.name);
    auto counts = countProbes(kernel, *trace.module, trace.blocks.size());
    if (!counts)
      return counts.takeError();
    os << "kernel " << kernel.name << " of "
       << current->cases.front().problem.str() << "\n";
    for (auto [block, count] : llvm::zip_equal(trace.blocks, *counts)) {
      all += block.mutations;
      if (count)
        continue;
      unreached += block.mutations;
      os << "  " << block.mutations << " possible defects: " << block.first
         << "\n    to: " << block.last << "\n";
    }
  }
  os << unreached << " of " << all
     << " possible defects are in blocks that no case enters\n";
  return Error::success();
}

std::vector<sim::Mutant> MutantChecker::draw(
    llvm::ArrayRef<std::vector<sim::Mutation>> mutations) const {
  std::vector<sim::Mutant> drawn = sim::drawMutants(mutations, options.draw);
  llvm::sort(drawn, [](const sim::Mutant &a, const sim::Mutant &b) {
    return std::tie(a.kernel, a.number) < std::tie(b.kernel, b.number);
  });
  size_t begin = drawn.size() * options.part / options.parts;
  size_t end = drawn.size() * (options.part + 1) / options.parts;
  return {drawn.begin() + begin, drawn.begin() + end};
}

Error MutantChecker::check(llvm::raw_ostream &os) {
  std::vector<std::vector<sim::Mutation>> mutations;
  for (const LaunchedKernel &kernel : kernels) {
    mutations.push_back(
        sim::listMutations(kernel.module->getModule(), kernel.name));
    os << "kernel " << kernel.name << ", " << kernel.group->cases.size()
       << " cases, " << mutations.back().size() << " possible defects\n";
  }
  std::vector<sim::Mutant> mutants = draw(mutations);
  std::set<KernelName> wanted;
  for (const sim::Mutant &mutant : mutants)
    wanted.insert(
        {kernels[mutant.kernel].module.get(), kernels[mutant.kernel].name});
  sim::MutantTable table;
  const LaunchedKernel *repeated = nullptr;
  for (const sim::Mutant &mutant : mutants) {
    const LaunchedKernel &kernel = kernels[mutant.kernel];
    if (!options.onlyLists) {
      if (Error error = moveTo(*kernel.group, wanted))
        return error;
      if (repeated != &kernel)
        if (Error error = repeatUnbroken(kernel))
          return error;
      repeated = &kernel;
    }
    std::string what;
    Expected<OwningOpRef<Operation *>> module = sim::makeMutant(
        kernel.module->getModule(), kernel.name, mutant, options.draw, what);
    if (!module)
      return module.takeError();
    if (options.onlyLists) {
      os << mutant.number << ": " << kernel.name << ": " << what << "\n";
      continue;
    }
    std::string reporting;
    sim::MutantOutcome outcome = runMutant(kernel, **module, reporting);
    if (!reporting.empty())
      what += "\n  by " + reporting;
    if (options.explain && (outcome == sim::MutantOutcome::Survived ||
                            outcome == sim::MutantOutcome::Differs)) {
      Expected<std::string> why = explain(kernel, mutant.mutation);
      if (!why)
        return why.takeError();
      what += *why;
    }
    table.add(mutant, kernel.name + ": " + what, outcome);
  }
  if (!options.onlyLists)
    table.print(os, options.verbose);
  return Error::success();
}

Error mlir::evoformer::checkMutants(MLIRContext &context,
                                    llvm::ArrayRef<AttentionCase> cases,
                                    const CompileOptions &compileOptions,
                                    const MutantOptions &options,
                                    llvm::raw_ostream &os) {
  MutantChecker checker(context, cases, compileOptions, options);
  if (Error error = checker.listKernels())
    return error;
  return options.onlyUnreached ? checker.listUnreached(os) : checker.check(os);
}
