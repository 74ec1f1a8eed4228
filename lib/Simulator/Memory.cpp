//===- Memory.cpp - Checked access to the address spaces ------------------===//

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

static std::string nameWorkgroup(uint32_t mark) {
  return mark == severalWorkgroups ? "several workgroups"
                                   : "workgroup " + std::to_string(mark - 1);
}

/// Records a read; the mark of another workgroup that wrote a byte, or 0.
/// Writing one's own mark before looking for another's, on both sides, makes
/// sure that of two workgroups one sees the other.
static uint32_t trackGlobalRead(const MemoryRegion &r, uint64_t at,
                                unsigned size, uint32_t self) {
  uint32_t other = 0;
  for (uint64_t k = at - r.begin, e = k + size; k < e; ++k) {
    uint32_t before = r.readers[k].load();
    while (before != self && before != severalWorkgroups &&
           !r.readers[k].compare_exchange_weak(
               before, before ? severalWorkgroups : self)) {
    }
    uint32_t writer = r.writers ? r.writers[k].load() : 0;
    if (writer && writer != self)
      other = writer;
  }
  return other;
}

namespace {
/// Marks of other workgroups that accessed what is written, or 0.
struct GlobalConflict {
  uint32_t writer = 0, reader = 0;
};
} // namespace

static GlobalConflict trackGlobalWrite(const MemoryRegion &r, uint64_t at,
                                       unsigned size, uint32_t self) {
  GlobalConflict conflict;
  for (uint64_t k = at - r.begin, e = k + size; k < e; ++k) {
    uint32_t writer = r.writers[k].exchange(self), reader = r.readers[k].load();
    if (writer && writer != self)
      conflict.writer = writer;
    if (reader && reader != self)
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
  const uint32_t self = w.group->linearId + 1;
  auto race = [&](const char *what, uint32_t other, const char *did) {
    report(w, i, FindingKind::GlobalRace, lane, address, [&] {
      return what + nameWorkgroup(other) + did + " in this launch";
    });
  };
  if (access == Access::Read) {
    if (uint32_t other = trackGlobalRead(*r, address, size, self))
      race("reads what ", other, " wrote");
    return reinterpret_cast<uint8_t *>(address);
  }
  if (!r->writers) {
    report(w, i, FindingKind::OutOfBounds, lane, address, [&] {
      return "writes to read-only buffer '" + r->buffer->name + "'";
    });
    return nullptr;
  }
  GlobalConflict conflict = trackGlobalWrite(*r, address, size, self);
  if (access == Access::Write) {
    if (conflict.writer)
      race("overwrites what ", conflict.writer, " wrote");
    else if (conflict.reader)
      race("overwrites what ", conflict.reader, " read");
  }
  return reinterpret_cast<uint8_t *>(address);
}

/// Records the bytes [offset, offset + size) as read or written by `w`.
static void trackLDS(Wave &w, const Inst *i, unsigned lane, uint64_t offset,
                     unsigned size, bool write) {
  Workgroup &g = *w.group;
  const uint32_t now = g.epoch << 8 | w.index;
  bool unwritten = false, race = false, inFlight = false;
  uint32_t other = 0;
  ByteState *state = g.state.data() + offset;
  const uint8_t *flight = g.inFlight.data() + offset;
  for (unsigned k = 0; k < size; ++k) {
    ByteState &s = state[k];
    inFlight |= flight[k] != 0;
    if ((s.writer >> 8) == g.epoch && s.writer != now) {
      race = true;
      other = s.writer & 255;
    }
    if (write) {
      if ((s.reader >> 8) == g.epoch && s.reader != now) {
        race = true;
        other = s.reader & 255;
      }
      s.writer = now;
    } else {
      unwritten |= s.writer == 0;
      if ((s.reader >> 8) != g.epoch)
        s.reader = now;
      else if (s.reader != now)
        s.reader = now | severalWaves;
    }
  }
  const char *verb = write ? "writes" : "reads";
  if (race && other == landedCopy)
    report(w, i, FindingKind::CopyNotAwaited, lane, offset, [&] {
      return llvm::formatv("{0} LDS bytes of an asynchronous copy that was "
                           "waited for, but no barrier follows the wait",
                           verb)
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
    report(w, i, FindingKind::UnwrittenLDS, lane, offset,
           [] { return std::string("reads LDS that nothing has written"); });
  if (race && other != landedCopy)
    report(w, i, FindingKind::LDSRace, lane, offset, [&] {
      std::string who = other == severalWaves
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
  if (access != Access::Atomic)
    trackLDS(w, i, lane, offset, size, access == Access::Write);
  else
    for (unsigned k = 0; k < size; ++k)
      if (!g.state[offset + k].writer)
        report(w, i, FindingKind::UnwrittenLDS, lane, offset, [] {
          return std::string("updates LDS that nothing has written");
        });
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
    ldsAddress(w, &issued, copy.lane, copy.lds, copy.size, Access::Write);
    // Visible to nobody, the issuing subgroup included, before a barrier.
    for (unsigned k = 0; k < copy.size; ++k)
      g.state[copy.lds + k].writer = g.epoch << 8 | landedCopy;
    if (!copy.landed)
      std::memcpy(g.lds.data() + copy.lds, copy.data, copy.size);
  }
}

void mlir::evoformer::sim::countBanks(Wave &w, const Inst *i,
                                      const uint32_t *offsets, unsigned size) {
  // 32 banks of 4 bytes: a cycle serves up to 128 bytes, so wide accesses
  // proceed in groups of consecutive lanes. Equal words are one access.
  unsigned piece = std::min(size, 16u), pieces = (size + 15) / 16;
  unsigned step = std::max(1u, std::min(32u, 128 / std::max(piece, 4u)));
  unsigned words = std::max(1u, piece / 4);
  const unsigned limit = w.context->launch->bankConflictDegree;
  for (unsigned p = 0; p < pieces; ++p)
    for (unsigned first = 0; first < w.lanes; first += step) {
      uint32_t seen[32][16];
      uint8_t count[32] = {};
      unsigned degree = 0;
      forLanes(w.mask >> first & ((uint64_t(1) << step) - 1), [&](unsigned k) {
        uint32_t word = (offsets[first + k] + p * 16) / 4;
        for (unsigned e = 0; e < words; ++e, ++word) {
          unsigned bank = word & 31;
          bool known = false;
          for (unsigned s = 0; s < count[bank]; ++s)
            known |= seen[bank][s] == word;
          if (known || count[bank] == 16)
            continue;
          seen[bank][count[bank]++] = word;
          degree = std::max<unsigned>(degree, count[bank]);
        }
      });
      if (!degree)
        continue;
      w.counters->ldsCycles += degree;
      ++w.counters->ldsIdealCycles;
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
