//===- Scheduler.cpp - Runs workgroups and interleaves their subgroups ----===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handlers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>

using namespace mlir::evoformer::sim;

RawFinding *FindingSink::add(const Wave &w, FindingKind kind, uint32_t site,
                             unsigned lane, uint64_t address) {
  auto [it, isNew] =
      index.try_emplace({unsigned(kind), site}, unsigned(findings.size()));
  if (!isNew) {
    ++findings[it->second].count;
    return nullptr;
  }
  findings.push_back(
      {kind, site, w.group->id, w.index, lane, address, 1, std::string()});
  return &findings.back();
}

namespace {

/// One worker thread: a set of subgroups that it reuses for every workgroup.
class Worker {
public:
  Worker(const Program &program, LaunchContext &context);
  /// False if a subgroup did not end.
  bool runWorkgroup(uint32_t linearId);
  void finish();

  FindingSink sink;
  Counters counters;
  uint64_t longestSubgroup = 0;

private:
  void interleave(uint32_t linearId);
  void reset(Wave &w);
  void runRound();
  bool releaseBarriers();
  void reportLeft();
  void step(Wave &w);

  const Program &program;
  const Launch &launch;
  unsigned threads;
  Workgroup group;
  std::vector<Wave> waves;
  std::vector<std::vector<uint64_t>> registers;
  std::vector<uint64_t> executions, activeLanes;
  std::mt19937_64 random;
};
} // namespace

Worker::Worker(const Program &program, LaunchContext &context)
    : program(program), launch(*context.launch),
      threads(launch.block[0] * launch.block[1] * launch.block[2]) {
  unsigned count = (threads + program.lanes - 1) / program.lanes;
  uint32_t ldsBytes = program.staticLDSBytes;
  if (program.usesDynamicLDS)
    ldsBytes =
        std::max(ldsBytes, program.dynamicLDSOffset + launch.dynamicLDSBytes);
  group.lds.resize(ldsBytes);
  group.state.resize(ldsBytes);
  group.inFlight.resize(ldsBytes);
  group.fenced.resize(count);
  executions.resize(program.blocks.size());
  activeLanes.resize(program.blocks.size());
  waves.resize(count);
  registers.resize(count);
  for (unsigned k = 0; k < count; ++k) {
    Wave &w = waves[k];
    registers[k].resize(program.registerBytes / 8 + 16);
    // Registers are aligned to 64 bytes relative to each other; the array of
    // words is aligned enough for every element.
    w.regs = reinterpret_cast<uint8_t *>(registers[k].data());
    llvm::copy(program.image, w.regs);
    for (size_t a = 0; a < program.args.size(); ++a)
      for (unsigned lane = 0; lane < program.lanes; ++lane)
        std::memcpy(w.regs + program.args[a].dst + lane * program.args[a].size,
                    &launch.args[a], program.args[a].size);
    w.program = &program;
    w.context = &context;
    w.group = &group;
    w.sink = &sink;
    w.counters = &counters;
    w.random = &random;
    w.lanes = program.lanes;
    w.index = k;
    w.full =
        program.lanes == 64 ? ~uint64_t(0) : (uint64_t(1) << program.lanes) - 1;
    w.waiting.resize(program.blocks.size());
    w.executions.resize(program.blocks.size());
    w.activeLanes.resize(program.blocks.size());
    w.privateMemory.resize(size_t(program.privateBytes) * program.lanes);
  }
}

void Worker::reset(Wave &w) {
  unsigned present = std::min(program.lanes, threads - w.index * program.lanes);
  w.live = present == 64 ? ~uint64_t(0) : (uint64_t(1) << present) - 1;
  w.mask = w.live;
  w.status = WaveStatus::Ready;
  w.waitingBlocks.clear();
  llvm::fill(w.waiting, 0);
  // What was left in private memory by another work item is no value to rely
  // on; neither is what stays in LDS.
  llvm::fill(w.privateMemory, 0xff);
  w.blockBudget = launch.maxBlocksPerSubgroup;
  w.groups.clear();
  w.open = CopyGroup();
  w.vectorMemory = 0;
  w.ldsAccesses = LDSAccesses::Done;
  w.needsAcquire = false;
  w.proxyFences = 0;
  w.clock = 1;
  w.known.clear();
  w.seenPhases.clear();
  w.next = program.code.data() + program.blocks[0].first;
  ++w.executions[0];
  w.activeLanes[0] += present;
}

void Worker::step(Wave &w) {
  w.quantum = launch.seed == 0 ? 0 : 1 + random() % 32;
  const Inst *i = w.next;
  while (i)
    i = i->fn(w, i);
}

/// Lets every subgroup that can run do so once.
void Worker::runRound() {
  if (launch.seed == 0) {
    for (Wave &w : waves)
      while (w.status == WaveStatus::Ready)
        step(w);
    return;
  }
  llvm::SmallVector<unsigned> ready;
  while (true) {
    ready.clear();
    for (Wave &w : waves)
      if (w.status == WaveStatus::Ready)
        ready.push_back(w.index);
    if (ready.empty())
      return;
    step(waves[ready[random() % ready.size()]]);
  }
}

/// Opens the barriers that are complete; false if no subgroup can go on.
bool Worker::releaseBarriers() {
  bool progress = false;
  for (Wave &w : waves) {
    if (w.status != WaveStatus::AtBarrier)
      continue;
    unsigned arrived = 0, needed = 0;
    for (Wave &other : waves) {
      bool here = other.status == WaveStatus::AtBarrier &&
                  other.barrier == w.barrier &&
                  other.barrierThreads == w.barrierThreads;
      if (here)
        arrived += other.lanes;
      if (other.status != WaveStatus::Done)
        needed += other.lanes;
    }
    if (w.barrierThreads)
      needed = w.barrierThreads;
    if (arrived < needed)
      continue;
    // A barrier of all subgroups orders every access before it; launch()
    // refuses those of some only.
    uint32_t id = w.barrier, count = w.barrierThreads;
    for (Wave &other : waves)
      if (other.status == WaveStatus::AtBarrier && other.barrier == id &&
          other.barrierThreads == count)
        other.status = WaveStatus::Ready;
    for (const Wave &other : waves) {
      group.fenced[other.index] = other.proxyFences;
      group.known = std::max(group.known, other.clock);
    }
    for (Wave &other : waves)
      other.clock = group.known + 1;
    group.knownBoxes = group.landedBoxes.size();
    ++group.epoch;
    progress = true;
  }
  for (Wave &w : waves)
    if (w.status == WaveStatus::AtArrival && hasArrived(w)) {
      w.status = WaveStatus::Ready;
      progress = true;
    }
  return progress;
}

bool Worker::runWorkgroup(uint32_t linearId) {
  interleave(linearId);
  bool ends = true;
  for (const Wave &w : waves) {
    longestSubgroup =
        std::max(longestSubgroup, launch.maxBlocksPerSubgroup - w.blockBudget);
    ends &= w.status != WaveStatus::Hung;
  }
  return ends;
}

/// Copies to LDS that nobody has waited for when the workgroup ends.
void Worker::reportLeft() {
  for (const auto &[address, barrier] : group.arrivals)
    if (!barrier.copies.empty()) {
      Inst at;
      at.site = barrier.copies.front().site;
      report(waves.front(), &at, FindingKind::CopyNotAwaited, 0, address, [] {
        return std::string("the workgroup ends before the copy has arrived");
      });
    }
}

void Worker::interleave(uint32_t linearId) {
  group.linearId = linearId;
  group.id = {linearId % launch.grid[0],
              linearId / launch.grid[0] % launch.grid[1],
              linearId / launch.grid[0] / launch.grid[1]};
  group.epoch = 1;
  group.known = 0;
  group.readers.clear();
  group.landedBoxes.clear();
  group.knownBoxes = 0;
  // All ones is a NaN in every floating-point format.
  llvm::fill(group.lds, 0xff);
  llvm::fill(group.state, ByteState());
  llvm::fill(group.inFlight, 0);
  llvm::fill(group.fenced, 0);
  group.arrivals.clear();
  random.seed(launch.seed * 0x9e3779b97f4a7c15 + linearId);
  for (Wave &w : waves)
    reset(w);
  while (true) {
    runRound();
    bool waiting = false;
    for (Wave &w : waves) {
      waiting |= w.status == WaveStatus::AtBarrier ||
                 w.status == WaveStatus::AtArrival;
      if (w.status != WaveStatus::Hung)
        continue;
      Inst none;
      report(w, &none, FindingKind::Deadlock, 0, 0, [] {
        return std::string("the subgroup does not end: it executed the "
                           "largest number of blocks allowed");
      });
      return;
    }
    if (!waiting)
      return reportLeft();
    if (releaseBarriers())
      continue;
    for (Wave &w : waves) {
      if (w.status == WaveStatus::AtArrival) {
        Inst at;
        at.site = w.barrierSite;
        report(w, &at, FindingKind::Deadlock, 0, w.arrival, [] {
          return std::string("the subgroup waits for arrivals or bytes that "
                             "never come");
        });
      }
      if (w.status == WaveStatus::AtBarrier) {
        Inst at;
        at.site = w.barrierSite;
        report(w, &at, FindingKind::Deadlock, 0, 0, [&] {
          return llvm::formatv("the subgroup waits at barrier {0} for others "
                               "that never arrive",
                               w.barrier)
              .str();
        });
      }
    }
    return;
  }
}

void Worker::finish() {
  for (Wave &w : waves)
    for (size_t b = 0; b < program.blocks.size(); ++b) {
      const BlockCounts &c = program.blocks[b].counts;
      uint64_t n = w.executions[b];
      counters.matrix += n * c.matrix;
      counters.matrixMultiplyAdds += n * c.multiplyAdds;
      counters.transcendental += n * c.transcendental;
      counters.arithmetic += n * c.arithmetic;
      counters.crossLane += n * c.crossLane;
      counters.laneOperations += w.activeLanes[b] * c.instructions;
    }
}

/// Merges by kind and site, keeping the first occurrence in launch order.
static void mergeFindings(std::vector<RawFinding> &into,
                          std::vector<RawFinding> &&from) {
  for (RawFinding &f : from) {
    auto same = llvm::find_if(into, [&](RawFinding &g) {
      return g.kind == f.kind && g.site == f.site;
    });
    if (same == into.end()) {
      into.push_back(std::move(f));
      continue;
    }
    uint64_t count = same->count + f.count;
    auto order = [](const RawFinding &g) {
      return std::make_tuple(g.workgroup[2], g.workgroup[1], g.workgroup[0],
                             g.subgroup);
    };
    if (order(f) < order(*same))
      *same = std::move(f);
    same->count = count;
  }
}

llvm::Expected<LaunchResult>
mlir::evoformer::sim::runLaunch(const Program &program, const Launch &launch,
                                std::vector<RawFinding> &findings) {
  LaunchContext context{&program, &launch, {}};
  // Zeroed pages that nobody touches cost nothing; and unlike `new`, calloc
  // lets a caller go on where there is no memory.
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<std::atomic<uint64_t>[], Free>> accesses;
  for (const Buffer &b : launch.buffers) {
    MemoryRegion r;
    r.begin = reinterpret_cast<uint64_t>(b.base);
    r.end = r.begin + b.size;
    r.buffer = &b;
    void *marks = b.size > uint64_t(1) << 40
                      ? nullptr
                      : std::calloc(2 * b.size + 1, sizeof(uint64_t));
    if (!marks)
      return llvm::createStringError("not enough memory to watch " +
                                     std::to_string(b.size) + " bytes of '" +
                                     b.name + "'");
    static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));
    accesses.emplace_back(static_cast<std::atomic<uint64_t> *>(marks));
    r.readers = accesses.back().get();
    if (!b.readOnly)
      r.writers = r.readers + b.size;
    context.regions.push_back(r);
  }
  llvm::sort(context.regions, [](const MemoryRegion &a, const MemoryRegion &b) {
    return a.begin < b.begin;
  });

  uint32_t total = launch.grid[0] * launch.grid[1] * launch.grid[2];
  unsigned threads =
      launch.threads ? launch.threads : std::thread::hardware_concurrency();
  threads = std::max(1u, std::min<unsigned>(threads, total));
  std::atomic<uint64_t> next{0};
  // After one workgroup without end the others would take as long.
  std::atomic<bool> stops{false};
  std::mutex mutex;
  LaunchResult result;
  auto work = [&] {
    Worker worker(program, context);
    for (uint64_t id = next++; id < total && !stops; id = next++)
      if (!worker.runWorkgroup(uint32_t(id)) ||
          (launch.stopAtFinding && !worker.sink.findings.empty()))
        stops = true;
    worker.finish();
    std::lock_guard<std::mutex> lock(mutex);
    result.counters.add(worker.counters);
    result.longestSubgroup =
        std::max(result.longestSubgroup, worker.longestSubgroup);
    mergeFindings(findings, std::move(worker.sink.findings));
  };
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < threads; ++t)
    pool.emplace_back(work);
  work();
  for (std::thread &t : pool)
    t.join();

  result.subgroupSize = program.lanes;
  if (launch.stopAtFinding && !findings.empty())
    return result;
  for (const MemoryRegion &r : context.regions) {
    auto countBytes = [&](const std::atomic<uint64_t> *marks) {
      return std::count_if(marks, marks + (r.end - r.begin),
                           [](const auto &mark) { return mark.load() != 0; });
    };
    if (!launch.stopAtFinding) {
      result.counters.distinctBytesRead += countBytes(r.readers);
      if (r.writers)
        result.counters.distinctBytesWritten += countBytes(r.writers);
    }
    if (!r.buffer->mustBeWritten || !r.writers)
      continue;
    uint64_t missing = 0, first = 0;
    for (uint64_t k = 0; k < r.end - r.begin; ++k)
      if (!r.writers[k].load(std::memory_order_relaxed) && missing++ == 0)
        first = k;
    if (missing)
      findings.push_back(
          {FindingKind::UnwrittenOutput,
           0,
           {0, 0, 0},
           0,
           0,
           r.begin + first,
           missing,
           llvm::formatv("{0} of {1} bytes of '{2}' stay unwritten, the first "
                         "at offset {3}",
                         missing, r.end - r.begin, r.buffer->name, first)
               .str()});
  }
  return result;
}
