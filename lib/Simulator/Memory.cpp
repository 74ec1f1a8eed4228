//===- Memory.cpp - Checked access to the address spaces ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace mlir::evoformer::sim;

static const MemoryRegion *findRegion(Wave &w, uint64_t address,
                                      unsigned size) {
  auto inside = [&](const MemoryRegion &r) {
    return address >= r.begin && size <= r.end - r.begin &&
           address <= r.end - size;
  };
  if (w.lastRegion && inside(*w.lastRegion))
    return w.lastRegion;
  const auto &regions = w.context->regions;
  auto after = llvm::upper_bound(
      regions, address,
      [](uint64_t a, const MemoryRegion &r) { return a < r.begin; });
  if (after == regions.begin() || !inside(*std::prev(after)))
    return nullptr;
  return w.lastRegion = &*std::prev(after);
}

/// Names the buffer nearest to an address outside all of them.
static std::string describeOutside(Wave &w, uint64_t address, unsigned size) {
  const MemoryRegion *best = nullptr;
  uint64_t bestDistance = ~uint64_t(0);
  for (const MemoryRegion &r : w.context->regions) {
    uint64_t distance = address < r.begin  ? r.begin - address
                        : address >= r.end ? address - r.end
                                           : 0;
    if (distance < bestDistance) {
      best = &r;
      bestDistance = distance;
    }
  }
  if (!best)
    return "no buffer is registered";
  std::string name =
      best->buffer->name.empty() ? "a buffer" : "'" + best->buffer->name + "'";
  int64_t offset = int64_t(address - best->begin);
  return llvm::formatv("{0} bytes at offset {1} of {2}, which has {3} bytes",
                       size, offset, name, best->end - best->begin);
}

namespace {
/// Who accessed a byte of global memory: workgroup + 1, whether by an atomic
/// update, the number of barriers before it, and the subgroup. 0: nobody.
struct GlobalMark {
  uint64_t bits = 0;

  static constexpr uint32_t severalWorkgroups = ~uint32_t(0);
  static constexpr uint64_t atomicBit = uint64_t(1) << 31;

  static GlobalMark of(const Wave &w, bool isAtomic) {
    return {uint64_t(w.group->linearId + 1) << 32 | (isAtomic ? atomicBit : 0) |
            uint64_t(w.group->epoch & 0x7fffff) << 8 | w.index};
  }
  uint32_t workgroup() const { return uint32_t(bits >> 32); }
  uint32_t subgroup() const { return bits & 255; }
  bool isAtomic() const { return bits & atomicBit; }
  /// Same workgroup and number of barriers: only the order within a subgroup is
  /// certain.
  bool isConcurrent(GlobalMark other) const {
    return ((bits ^ other.bits) & ~atomicBit) >> 8 == 0;
  }
  /// Whether nothing orders this access before `other`.
  bool racesWith(GlobalMark other) const {
    if (!bits || (isAtomic() && other.isAtomic()))
      return false;
    return workgroup() != other.workgroup() ||
           (isConcurrent(other) && subgroup() != other.subgroup());
  }
  /// What stands for this access and a later one that does not replace it.
  GlobalMark joined(GlobalMark later) const {
    if (!bits)
      return later;
    if (workgroup() != later.workgroup())
      return {uint64_t(severalWorkgroups) << 32 | (later.bits & atomicBit)};
    if (isConcurrent(later) && subgroup() != later.subgroup())
      return {later.bits | severalWaves};
    return later;
  }
  std::string name(GlobalMark reporter) const {
    if (workgroup() == severalWorkgroups)
      return "several workgroups";
    if (workgroup() != reporter.workgroup())
      return "workgroup " + std::to_string(workgroup() - 1);
    if (subgroup() == severalWaves)
      return "several subgroups";
    return "subgroup " + std::to_string(subgroup());
  }
};

/// Accesses by others that race with one that is recorded.
struct GlobalConflict {
  GlobalMark writer, reader;
};
} // namespace

/// Puts `self` into a mark besides what is there; returns what was there.
static GlobalMark join(std::atomic<uint64_t> &mark, GlobalMark self) {
  uint64_t before = mark.load();
  while (before != self.bits &&
         !mark.compare_exchange_weak(before,
                                     GlobalMark{before}.joined(self).bits)) {
  }
  return {before};
}

/// Leaving one's own mark before looking for another's, on both sides, makes
/// sure that of two workgroups one sees the other.
static GlobalConflict trackGlobalRead(const MemoryRegion &r, uint64_t at,
                                      unsigned size, GlobalMark self) {
  GlobalConflict conflict;
  for (uint64_t k = at - r.begin, e = k + size; k < e; ++k) {
    join(r.readers[k], self);
    GlobalMark writer{r.writers ? r.writers[k].load() : 0};
    if (writer.racesWith(self))
      conflict.writer = writer;
  }
  return conflict;
}

static GlobalConflict trackGlobalWrite(const MemoryRegion &r, uint64_t at,
                                       unsigned size, GlobalMark self) {
  GlobalConflict conflict;
  for (uint64_t k = at - r.begin, e = k + size; k < e; ++k) {
    GlobalMark writer = self.isAtomic()
                            ? join(r.writers[k], self)
                            : GlobalMark{r.writers[k].exchange(self.bits)};
    GlobalMark reader{r.readers[k].load()};
    if (writer.racesWith(self))
      conflict.writer = writer;
    if (reader.racesWith(self))
      conflict.reader = reader;
  }
  return conflict;
}

uint8_t *mlir::evoformer::sim::globalAddress(Wave &w, const Inst *i,
                                             unsigned lane, uint64_t address,
                                             unsigned size, Access access) {
  const MemoryRegion *r = findRegion(w, address, size);
  if (!r) {
    report(w, i, FindingKind::OutOfBounds, lane, address, [&] {
      return std::string(access == Access::Read ? "reads " : "writes ") +
             describeOutside(w, address, size);
    });
    return nullptr;
  }
  const GlobalMark self = GlobalMark::of(w, access == Access::Atomic);
  auto race = [&](const char *what, GlobalMark other, const char *did) {
    report(w, i, FindingKind::GlobalRace, lane, address, [&] {
      return what + other.name(self) + did +
             (other.workgroup() == self.workgroup() ? " since the last barrier"
                                                    : " in this launch");
    });
  };
  if (access == Access::Read) {
    GlobalConflict conflict = trackGlobalRead(*r, address, size, self);
    if (conflict.writer.bits)
      race("reads what ", conflict.writer, " wrote");
    return reinterpret_cast<uint8_t *>(address);
  }
  if (!r->writers) {
    report(w, i, FindingKind::OutOfBounds, lane, address, [&] {
      return "writes to read-only buffer '" + r->buffer->name + "'";
    });
    return nullptr;
  }
  GlobalConflict conflict = trackGlobalWrite(*r, address, size, self);
  if (conflict.writer.bits)
    race("overwrites what ", conflict.writer, " wrote");
  else if (conflict.reader.bits)
    race("overwrites what ", conflict.reader, " read");
  return reinterpret_cast<uint8_t *>(address);
}

static bool isAtomicMark(uint32_t wave) {
  return wave >= atomicUpdate && wave <= severalAtomics && wave != landedBox;
}

/// Up to which clock of another wave this one knows what it accessed.
static uint32_t getKnown(const Wave &w, uint32_t other) {
  uint32_t told = other < w.known.size() ? w.known[other] : 0;
  return std::max(w.group->known, told);
}

/// Whether nothing orders the access that has left a mark before what `w` does
/// now.
static bool isConcurrent(const Wave &w, uint32_t mark) {
  const Workgroup &g = *w.group;
  uint32_t clock = mark >> 8, other = mark & 255;
  if (other == landedBox) {
    if (clock <= g.knownBoxes)
      return false;
    auto [object, phase] = g.landedBoxes[clock - 1];
    auto seen = w.seenPhases.find(object);
    return seen == w.seenPhases.end() || seen->second <= phase;
  }
  if (clock <= g.known)
    return false;
  if (other >= severalAtomics)
    return true;
  other %= atomicUpdate;
  return other != w.index && clock > getKnown(w, other);
}

/// Records the bytes [offset, offset + size) as accessed by `w`.
static void trackLDS(Wave &w, const Inst *i, unsigned lane, uint64_t offset,
                     unsigned size, Access access) {
  Workgroup &g = *w.group;
  const bool write = access != Access::Read, atomic = access == Access::Atomic;
  const uint32_t now = w.clock << 8 | w.index, update = now | atomicUpdate;
  const size_t numWaves = g.fenced.size();
  bool unwritten = false, race = false, inFlight = false;
  uint32_t other = 0;
  auto check = [&](uint32_t mark) {
    if (!isConcurrent(w, mark) || (atomic && isAtomicMark(mark & 255)))
      return;
    race = true;
    other = mark & 255;
  };
  ByteState *state = g.state.data() + offset;
  const uint8_t *flight = g.inFlight.data() + offset;
  for (unsigned k = 0; k < size; ++k) {
    ByteState &s = state[k];
    uint32_t *readers =
        g.readers.empty() ? nullptr : &g.readers[(offset + k) * numWaves];
    inFlight |= flight[k] != 0;
    unwritten |= access != Access::Write && s.writer == 0;
    check(s.writer);
    if (write && !readers)
      check(s.reader);
    for (uint32_t wave = 0; write && readers && wave < numWaves; ++wave)
      check(readers[wave] << 8 | wave);
    if (write)
      s.proxy = w.proxyFences << 8 | w.index;
    else if (readers)
      readers[w.index] = w.clock;
    if (atomic) {
      bool shared = isConcurrent(w, s.writer) && isAtomicMark(s.writer & 255);
      s.writer = shared ? w.clock << 8 | severalAtomics : update;
    } else if (write) {
      s.writer = now;
    } else if (!isConcurrent(w, s.reader)) {
      s.reader = now;
    } else {
      s.reader = now | severalWaves;
    }
  }
  other = isAtomicMark(other) && other != severalAtomics ? other - atomicUpdate
                                                         : other;
  const char *verb = write ? "writes" : "reads";
  bool isCopy = other == landedCopy || other == landedBox;
  if (race && isCopy)
    report(w, i, FindingKind::CopyNotAwaited, lane, offset, [&] {
      return llvm::formatv("{0} LDS bytes of an asynchronous copy that was "
                           "waited for, but {1}",
                           verb,
                           other == landedBox ? "not by this subgroup"
                                              : "no barrier follows the wait")
          .str();
    });
  else if (inFlight)
    report(w, i, FindingKind::CopyNotAwaited, lane, offset, [&] {
      return llvm::formatv("{0} LDS bytes of an asynchronous copy that nothing "
                           "has waited for",
                           verb)
          .str();
    });
  else if (unwritten)
    report(w, i, FindingKind::UnwrittenLDS, lane, offset, [&] {
      return std::string(atomic ? "updates" : "reads") +
             " LDS that nothing has written";
    });
  if (race && !isCopy)
    report(w, i, FindingKind::LDSRace, lane, offset, [&] {
      std::string who = other == severalWaves || other == severalAtomics
                            ? std::string("several other subgroups")
                            : "subgroup " + std::to_string(other);
      return std::string(verb) + " LDS that " + who +
             " accessed since the last barrier";
    });
}

uint8_t *mlir::evoformer::sim::ldsAddress(Wave &w, const Inst *i, unsigned lane,
                                          uint64_t offset, unsigned size,
                                          Access access) {
  Workgroup &g = *w.group;
  if (offset + size > g.lds.size()) {
    report(w, i, FindingKind::OutOfBounds, lane, offset, [&] {
      return llvm::formatv("{0} {1} bytes at offset {2} of LDS, which has {3} "
                           "bytes",
                           access == Access::Write ? "writes" : "reads", size,
                           offset, g.lds.size())
          .str();
    });
    return nullptr;
  }
  if (access == Access::Speculative)
    return g.lds.data() + offset;
  if (w.needsAcquire)
    report(w, i, FindingKind::AccessNotFenced, lane, offset, [] {
      return std::string("accesses LDS after a bare barrier; without a fence "
                         "that acquires, nothing keeps the access behind it");
    });
  trackLDS(w, i, lane, offset, size, access);
  return g.lds.data() + offset;
}

uint8_t *mlir::evoformer::sim::privateAddress(Wave &w, const Inst *i,
                                              unsigned lane, uint64_t offset,
                                              unsigned size, Access access) {
  uint64_t bytes = w.program->privateBytes;
  if (offset + size > bytes) {
    report(w, i, FindingKind::OutOfBounds, lane, offset, [&] {
      return llvm::formatv("{0} bytes at offset {1} of private memory, which "
                           "has {2} bytes",
                           size, offset, bytes)
          .str();
    });
    return nullptr;
  }
  return w.privateMemory.data() + lane * bytes + offset;
}

uint8_t *mlir::evoformer::sim::genericAddress(Wave &w, const Inst *i,
                                              unsigned lane, uint64_t address,
                                              unsigned size, Access access) {
  if (address & ldsAperture)
    return ldsAddress(w, i, lane, address & ~ldsAperture, size, access);
  if (address & privateAperture)
    return privateAddress(w, i, lane, address & ~privateAperture, size, access);
  return globalAddress(w, i, lane, address, size, access);
}

void mlir::evoformer::sim::checkAlignment(Wave &w, const Inst *i, unsigned lane,
                                          uint64_t address,
                                          unsigned alignment) {
  if (address & (alignment - 1))
    report(w, i, FindingKind::Misaligned, lane, address, [&] {
      return llvm::formatv("the operation promises an alignment of {0}",
                           alignment)
          .str();
    });
}

void mlir::evoformer::sim::issueCopy(Wave &w, const Inst *i, unsigned lane,
                                     uint32_t lds, unsigned size,
                                     const uint8_t *source, unsigned sourceSize,
                                     CopyGroup &group) {
  // From issue on the bytes may change at any time, so the hazards are those
  // of a store now and, when the copy lands, once more.
  if (!ldsAddress(w, i, lane, lds, size, Access::Write))
    return;
  CopyLanding landing = w.context->launch->landing;
  bool atOnce = landing == CopyLanding::AtIssue ||
                (landing == CopyLanding::BySeed &&
                 w.context->launch->seed != 0 && (*w.random)() % 2 == 0);
  PendingCopy copy{lds, uint8_t(size), uint8_t(lane), atOnce, {}};
  if (source)
    std::memcpy(copy.data, source, sourceSize);
  Workgroup &g = *w.group;
  std::fill_n(g.inFlight.begin() + lds, size, uint8_t(w.index + 1));
  if (atOnce)
    std::memcpy(g.lds.data() + lds, copy.data, size);
  group.site = i->site;
  group.copies.push_back(copy);
  ++w.counters->asyncCopies;
  w.counters->asyncBytes += size;
}

void mlir::evoformer::sim::landCopies(Wave &w, const CopyGroup &group) {
  Workgroup &g = *w.group;
  Inst issued;
  issued.site = group.site;
  for (const PendingCopy &copy : group.copies) {
    std::fill_n(g.inFlight.begin() + copy.lds, copy.size, uint8_t(0));
    trackLDS(w, &issued, copy.lane, copy.lds, copy.size, Access::Write);
    // Visible to nobody, the issuing subgroup included, before a barrier.
    for (unsigned k = 0; k < copy.size; ++k)
      g.state[copy.lds + k].writer = w.clock << 8 | landedCopy;
    if (!copy.landed)
      std::memcpy(g.lds.data() + copy.lds, copy.data, copy.size);
  }
}

void mlir::evoformer::sim::countBanks(Wave &w, const Inst *i,
                                      const uint32_t *offsets, unsigned size) {
  // Banks of 4 bytes: a cycle serves up to a word of each, so wide accesses
  // proceed in groups of consecutive lanes. Equal words are one access.
  constexpr unsigned kMostBanks = 64;
  const unsigned banks = w.context->program->ldsBanks;
  unsigned piece = std::min(size, 16u), pieces = (size + 15) / 16;
  unsigned step =
      std::max(1u, std::min(banks, 4 * banks / std::max(piece, 4u)));
  unsigned words = std::max(1u, piece / 4);
  const unsigned limit = w.context->launch->bankConflictDegree;
  for (unsigned p = 0; p < pieces; ++p)
    for (unsigned first = 0; first < w.lanes; first += step) {
      uint32_t seen[kMostBanks][kMostBanks];
      uint8_t count[kMostBanks] = {};
      unsigned degree = 0;
      uint64_t lanes = step < 64 ? (uint64_t(1) << step) - 1 : ~uint64_t(0);
      forLanes(w.mask >> first & lanes, [&](unsigned k) {
        uint32_t word = (offsets[first + k] + p * 16) / 4;
        for (unsigned e = 0; e < words; ++e, ++word) {
          unsigned bank = word % banks;
          bool known = false;
          for (unsigned s = 0; s < count[bank]; ++s)
            known |= seen[bank][s] == word;
          if (known)
            continue;
          seen[bank][count[bank]++] = word;
          degree = std::max<unsigned>(degree, count[bank]);
        }
      });
      if (!degree)
        continue;
      w.counters->ldsCycles += degree;
      ++w.counters->ldsIdealCycles;
      w.counters->bankConflictDegree =
          std::max(w.counters->bankConflictDegree, degree);
      if (limit && degree >= limit)
        report(w, i, FindingKind::BankConflict, first, offsets[first], [&] {
          return llvm::formatv("degree {0}: lanes {1} to {2} need so many "
                               "words of one bank",
                               degree, first,
                               std::min(first + step, w.lanes) - 1)
              .str();
        });
    }
}
