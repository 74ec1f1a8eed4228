//===- Machine.h - State of a running launch --------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_SIMULATOR_MACHINE_H
#define EVOFORMER_LIB_SIMULATOR_MACHINE_H

#include "Evoformer/Simulator/Simulator.h"
#include "Program.h"
#include "llvm/ADT/DenseMap.h"
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <random>

namespace mlir::evoformer::sim {

/// Generic addresses with these bits set lie in LDS or private memory.
constexpr uint64_t ldsAperture = uint64_t(1) << 62;
constexpr uint64_t privateAperture = uint64_t(1) << 61;
constexpr uint64_t apertureMask = ldsAperture | privateAperture;

/// A raw finding of one worker; text is added when the launch ends.
struct RawFinding {
  FindingKind kind;
  uint32_t site;
  std::array<uint32_t, 3> workgroup;
  unsigned subgroup, lane;
  uint64_t address, count;
  std::string detail;
};

/// Collects findings of one worker thread, once per kind and operation.
class FindingSink {
public:
  /// True if this is the first of its kind at that site: only then the caller
  /// needs to describe it.
  RawFinding *add(const Wave &w, FindingKind kind, uint32_t site, unsigned lane,
                  uint64_t address);
  std::vector<RawFinding> findings;

private:
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> index;
};

/// A registered buffer, sorted by address.
struct MemoryRegion {
  uint64_t begin, end;
  const Buffer *buffer;
  /// Per byte, who wrote and who read it last in this launch (GlobalMark);
  /// writers is null if the buffer is read-only.
  std::atomic<uint64_t> *writers = nullptr, *readers = nullptr;
};

/// What all workgroups of a launch share.
struct LaunchContext {
  const Program *program;
  const Launch *launch;
  std::vector<MemoryRegion> regions;
};

/// History of one byte of LDS. The clock is that of the wave.
struct ByteState {
  uint32_t writer = 0; // clock << 8 | wave; 0: never written
  uint32_t reader = 0; // clock << 8 | wave
  uint32_t proxy = 0;  // proxy fences of the writer before << 8 | writer
};
/// In the place of a wave: several waves; a copy that landed; atomic updates by
/// several waves; a box that landed, with its number for a clock; added to a
/// wave: it made an atomic update.
constexpr uint32_t severalWaves = 255, landedCopy = 254, severalAtomics = 253,
                   landedBox = 252, atomicUpdate = 128;
/// In the place of proxy fences: written through the asynchronous proxy.
constexpr uint32_t asyncProxy = ~uint32_t(0);

/// One asynchronous copy of up to 16 bytes by one lane.
struct PendingCopy {
  uint32_t lds;
  uint8_t size, lane;
  /// Its data is in LDS already.
  bool landed;
  uint8_t data[16];
};
struct CopyGroup {
  uint64_t sequence = 0;
  uint32_t site = 0;
  std::vector<PendingCopy> copies;
};

/// A barrier object (mbarrier): each phase ends when so many have arrived and
/// all bytes are there that they said to expect.
struct ArrivalBarrier {
  uint32_t count = 0, pending = 0, phase = 0;
  int64_t missingBytes = 0;
  /// Issued in the phase that is their sequence.
  std::deque<CopyGroup> copies;
  /// Who initialised it, and after how many barriers.
  uint32_t madeAt = 0, madeBy = 0;
  /// By wave: up to which clock of its those who arrived in this phase know
  /// what it accessed, and those of ended phases, which tell who waits.
  std::vector<uint32_t> arriving, known;
};

struct Workgroup {
  std::array<uint32_t, 3> id;
  uint32_t linearId = 0;
  /// Barriers so far, from 1.
  uint32_t epoch = 1;
  /// Accesses up to this clock of any wave come before a barrier that all have
  /// passed.
  uint32_t known = 0;
  std::vector<uint8_t> lds;
  std::vector<ByteState> state;
  /// Wave + 1 whose copy to this byte has been issued but not awaited.
  std::vector<uint8_t> inFlight;
  /// Per wave: its proxy fences before the last barrier.
  std::vector<uint32_t> fenced;
  /// Barrier objects by their addresses in LDS.
  std::map<uint32_t, ArrivalBarrier> arrivals;
  /// Per byte and wave the clock of the last read, where waves may know of one
  /// another's accesses without a barrier of all; else empty.
  std::vector<uint32_t> readers;
  /// The objects and phases of boxes that landed, by their numbers from 1, and
  /// the last one before a barrier that all have passed.
  std::vector<std::pair<uint32_t, uint32_t>> landedBoxes;
  size_t knownBoxes = 0;
};

enum class WaveStatus { Ready, AtBarrier, AtArrival, Done, Hung };

/// How far a subgroup's accesses to LDS are: under way; kept on their side of
/// what follows by a fence that releases; done, because that was waited for.
/// A code generator turns the fence into a wait, too, but may drop that one.
enum class LDSAccesses { UnderWay, Released, Done };

/// One subgroup.
struct Wave {
  uint8_t *regs = nullptr;
  const Program *program = nullptr;
  LaunchContext *context = nullptr;
  Workgroup *group = nullptr;
  FindingSink *sink = nullptr;
  Counters *counters = nullptr;
  std::mt19937_64 *random = nullptr;

  const Inst *next = nullptr;
  uint64_t mask = 0; // lanes executing the current block
  uint64_t live = 0; // lanes that have not returned
  uint64_t full = 0; // lanes that exist in hardware
  unsigned lanes = 0;
  unsigned index = 0; // within its workgroup
  WaveStatus status = WaveStatus::Ready;
  uint32_t barrier = 0, barrierThreads = 0;
  uint32_t barrierSite = 0;
  /// The barrier object that it waits for, and the parity of the phase.
  uint32_t arrival = 0, arrivalParity = 0;
  /// Counts its barriers and arrivals, from 1.
  uint32_t clock = 1;
  /// By wave: up to which clock of its this one knows what it accessed, as
  /// barrier objects have told.
  std::vector<uint32_t> known;
  /// By barrier object: its phases that this wave has seen end.
  std::map<uint32_t, uint32_t> seenPhases;

  /// Lanes waiting at the start of a block, and which blocks have any.
  std::vector<uint64_t> waiting;
  std::vector<uint32_t> waitingBlocks;
  /// Per block: how often it ran, and the active lanes summed over that.
  std::vector<uint64_t> executions, activeLanes;
  uint64_t blockBudget = 0;
  /// Memory operations left before pre-emption; 0 means unlimited.
  uint64_t quantum = 0;

  /// Private memory, one stretch per lane.
  std::vector<uint8_t> privateMemory;

  /// Vector memory operations issued so far: what vmcnt counts.
  uint64_t vectorMemory = 0;
  std::deque<CopyGroup> groups;
  CopyGroup open;
  LDSAccesses ldsAccesses = LDSAccesses::Done;
  uint32_t proxyFences = 0;
  /// A bare barrier has been passed and no fence keeps accesses behind it.
  bool needsAcquire = false;

  const MemoryRegion *lastRegion = nullptr;
  std::array<uint32_t, 3> firstThread;

  template <class T> T *reg(uint32_t offset) const {
    return reinterpret_cast<T *>(regs + offset);
  }
};

/// Calls `f(lane)` for every lane in `mask`.
template <class F> inline void forLanes(uint64_t mask, F f) {
  while (mask) {
    f(unsigned(__builtin_ctzll(mask)));
    mask &= mask - 1;
  }
}

/// Adds a finding; `describe` gives further text and runs once per site.
template <class F>
inline void report(Wave &w, const Inst *i, FindingKind kind, unsigned lane,
                   uint64_t address, F describe) {
  if (RawFinding *f = w.sink->add(w, kind, i->site, lane, address))
    f->detail = describe();
}

/// Whether the phase that a wave waits for has ended.
bool hasArrived(const Wave &w);

/// Runs every workgroup of a launch.
llvm::Expected<LaunchResult> runLaunch(const Program &program,
                                       const Launch &launch,
                                       std::vector<RawFinding> &findings);

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_LIB_SIMULATOR_MACHINE_H
