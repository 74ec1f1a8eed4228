//===- BoxCopies.cpp - Tensor maps and the barriers that count bytes ------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "Parallel Thread Execution ISA": 'mbarrier', 'cp.async.bulk.tensor',
// 'Tensors' (swizzling modes, out of boundary access).
//
//===----------------------------------------------------------------------===//

#include "Handlers.h"
#include "Memory.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::evoformer::sim;

/// Bytes of a barrier object, and what a box in LDS starts at a multiple of.
static constexpr unsigned barrierBytes = 8, boxAlignment = 128, pieceBytes = 16;

/// The object at an address of LDS, for a use of it; null, with a finding,
/// where there is none.
static ArrivalBarrier *findBarrier(Wave &w, const Inst *i, uint32_t address) {
  unsigned lane = unsigned(__builtin_ctzll(w.mask));
  auto found = w.group->arrivals.find(address);
  if (found == w.group->arrivals.end()) {
    report(w, i, FindingKind::UnwrittenLDS, lane, address, [] {
      return std::string("uses a barrier object that nothing has initialised");
    });
    return nullptr;
  }
  ArrivalBarrier &barrier = found->second;
  if (barrier.madeAt == w.group->epoch && barrier.madeBy != w.index)
    report(w, i, FindingKind::LDSRace, lane, address, [&] {
      return llvm::formatv("uses a barrier object that subgroup {0} has "
                           "initialised since the last barrier",
                           barrier.madeBy)
          .str();
    });
  return &barrier;
}

/// A phase ends with its last arrival and the last byte that it expects.
static void endPhase(ArrivalBarrier &barrier) {
  if (barrier.pending || barrier.missingBytes)
    return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.known = barrier.arriving;
}

/// Adds what `from` knows of each wave's accesses.
static void learn(std::vector<uint32_t> &known,
                  const std::vector<uint32_t> &from) {
  known.resize(std::max(known.size(), from.size()));
  for (auto [mine, theirs] : llvm::zip(known, from))
    mine = std::max(mine, theirs);
}

/// What the wave has accessed, and knows of others, is known to who waits for
/// the phase.
static void tell(Wave &w, ArrivalBarrier &barrier) {
  learn(barrier.arriving, w.known);
  if (barrier.arriving.size() <= w.index)
    barrier.arriving.resize(w.index + 1);
  barrier.arriving[w.index] = w.clock++;
}

/// Boxes are there for who has waited for their phase, and for all behind the
/// next barrier. The asynchronous proxy has written them.
static void landBoxes(Wave &w, uint32_t object, const CopyGroup &boxes) {
  Workgroup &g = *w.group;
  landCopies(w, boxes);
  g.landedBoxes.emplace_back(object, uint32_t(boxes.sequence));
  uint32_t mark = uint32_t(g.landedBoxes.size()) << 8 | landedBox;
  for (const PendingCopy &copy : boxes.copies)
    for (unsigned k = 0; k < copy.size; ++k) {
      g.state[copy.lds + k].writer = mark;
      g.state[copy.lds + k].proxy = asyncProxy;
    }
}

/// From now on waves may know of one another's reads without a barrier of all.
static void trackReaders(Workgroup &g) {
  if (!g.readers.empty())
    return;
  size_t numWaves = g.fenced.size();
  g.readers.resize(g.lds.size() * numWaves);
  for (auto [byte, state] : llvm::enumerate(g.state))
    for (size_t wave = 0; wave < numWaves; ++wave) {
      uint32_t reader = state.reader & 255;
      if (reader == wave || reader == severalWaves)
        g.readers[byte * numWaves + wave] = state.reader >> 8;
    }
}

static const Inst *initBarrier(Wave &w, const Inst *i) {
  forLanes(w.mask, [&](unsigned lane) {
    uint32_t address = w.reg<uint32_t>(i->a)[lane];
    checkAlignment(w, i, lane, address, barrierBytes);
    if (!ldsAddress(w, i, lane, address, barrierBytes, Access::Write))
      return;
    ArrivalBarrier &barrier = w.group->arrivals[address];
    if (!barrier.copies.empty() || barrier.missingBytes)
      report(w, i, FindingKind::CopyNotAwaited, lane, address, [] {
        return std::string("initialises a barrier object again while copies "
                           "that it counts are under way");
      });
    barrier = ArrivalBarrier();
    barrier.count = barrier.pending = w.reg<uint32_t>(i->b)[lane];
    barrier.madeAt = w.group->epoch;
    barrier.madeBy = w.index;
    if (barrier.count > 1)
      trackReaders(*w.group);
  });
  return memoryDone(w, i);
}

static const Inst *expectBytes(Wave &w, const Inst *i) {
  forLanes(w.mask, [&](unsigned lane) {
    if (ArrivalBarrier *barrier =
            findBarrier(w, i, w.reg<uint32_t>(i->a)[lane]))
      barrier->missingBytes += w.reg<uint32_t>(i->b)[lane];
  });
  return memoryDone(w, i);
}

static const Inst *arrive(Wave &w, const Inst *i) {
  forLanes(w.mask, [&](unsigned lane) {
    ArrivalBarrier *barrier = findBarrier(w, i, w.reg<uint32_t>(i->a)[lane]);
    if (!barrier)
      return;
    if (barrier->pending == 0) {
      report(w, i, FindingKind::Deadlock, lane, 0, [] {
        return std::string("more arrive in a phase than the barrier object "
                           "counts");
      });
      return;
    }
    --barrier->pending;
    tell(w, *barrier);
    endPhase(*barrier);
  });
  return memoryDone(w, i);
}

bool mlir::evoformer::sim::hasArrived(const Wave &w) {
  auto found = w.group->arrivals.find(w.arrival);
  return found == w.group->arrivals.end() ||
         (found->second.phase & 1) != w.arrivalParity;
}

static const Inst *waitForArrival(Wave &w, const Inst *i) {
  unsigned first = unsigned(__builtin_ctzll(w.mask));
  w.arrival = w.reg<uint32_t>(i->a)[first];
  w.arrivalParity = w.reg<uint32_t>(i->b)[first] & 1;
  ArrivalBarrier *barrier = findBarrier(w, i, w.arrival);
  if (!hasArrived(w)) {
    w.status = WaveStatus::AtArrival;
    w.barrierSite = i->site;
    w.next = i;
    return nullptr;
  }
  ++w.counters->waits;
  if (barrier) {
    learn(w.known, barrier->known);
    w.seenPhases[w.arrival] = barrier->phase;
  }
  while (barrier && !barrier->copies.empty() &&
         barrier->copies.front().sequence < barrier->phase) {
    landBoxes(w, w.arrival, barrier->copies.front());
    barrier->copies.pop_front();
  }
  uint8_t *result = w.reg<uint8_t>(i->dst);
  forLanes(w.mask, [&](unsigned lane) { result[lane] = 1; });
  return memoryDone(w, i);
}

/// One piece of 16 bytes of a box, as it arrives; `index` is that of its first
/// element.
static void gather(Wave &w, const Inst *i, unsigned lane, const TensorMap &map,
                   const std::array<int64_t, 5> &index,
                   uint8_t (&data)[pieceBytes]) {
  std::memset(data, 0, pieceBytes);
  uint64_t address = map.address;
  for (unsigned d = 0; d < map.rank; ++d) {
    if (d != 0 && (index[d] < 0 || index[d] >= map.sizes[d]))
      return;
    address += uint64_t(index[d] * map.strides[d]);
  }
  // What lies outside reads as zero, element by element.
  int64_t elements = pieceBytes / map.elementBytes;
  int64_t begin = std::max<int64_t>(0, -index[0]);
  int64_t end = std::min<int64_t>(elements, map.sizes[0] - index[0]);
  if (begin >= end)
    return;
  int64_t skipped = begin * map.elementBytes;
  unsigned size = unsigned((end - begin) * map.elementBytes);
  if (const uint8_t *from = globalAddress(
          w, i, lane, address + uint64_t(skipped), size, Access::Read))
    std::memcpy(data + skipped, from, size);
}

static void copyBox(Wave &w, const Inst *i, unsigned lane,
                    const TensorMap &map) {
  uint32_t to = w.reg<uint32_t>(i->a)[lane];
  checkAlignment(w, i, lane, to, boxAlignment);
  ArrivalBarrier *barrier = findBarrier(w, i, w.reg<uint32_t>(i->c)[lane]);
  if (!barrier)
    return;
  // Fastest dimension first, as the map's.
  std::array<int64_t, 5> first{}, place{};
  for (unsigned d = 0; d < map.rank; ++d)
    first[d] = int32_t(w.reg<uint32_t>(w.program->table[i->imm + d])[lane]);
  CopyGroup group;
  group.sequence = barrier->phase;
  group.site = i->site;
  int64_t step = pieceBytes / map.elementBytes, bytes = 0;
  while (place[map.rank - 1] < map.box[map.rank - 1]) {
    std::array<int64_t, 5> index{};
    for (unsigned d = 0; d < map.rank; ++d)
      index[d] = first[d] + place[d];
    uint8_t data[pieceBytes];
    gather(w, i, lane, map, index, data);
    uint32_t address = to + uint32_t(bytes);
    // 16-byte pieces, XORed with the number of their 128 bytes.
    for (unsigned bit = 0; map.swizzle >> (5 + bit); ++bit)
      address ^= (address >> (7 + bit) & 1) << (4 + bit);
    issueCopy(w, i, lane, address, pieceBytes, data, pieceBytes, group);
    bytes += pieceBytes;
    place[0] += step;
    for (unsigned d = 0; d + 1 < map.rank && place[d] >= map.box[d]; ++d) {
      place[d] = 0;
      ++place[d + 1];
    }
  }
  w.counters->globalBytesRead += bytes;
  barrier->missingBytes -= bytes;
  barrier->copies.push_back(std::move(group));
  endPhase(*barrier);
}

/// a: where to, b: the map, c: the barrier object, imm: the coordinates in the
/// table, n: how many.
static const Inst *copyBoxes(Wave &w, const Inst *i) {
  ++w.counters->globalLoads;
  forLanes(w.mask, [&](unsigned lane) {
    uint64_t number = w.reg<uint64_t>(i->b)[lane];
    const std::vector<TensorMap> &maps = w.context->launch->maps;
    if (number < 1 || number > maps.size() || maps[number - 1].rank != i->n) {
      report(w, i, FindingKind::OutOfBounds, lane, number, [] {
        return std::string("copies by what is no tensor map of this launch "
                           "with as many dimensions");
      });
      return;
    }
    copyBox(w, i, lane, maps[number - 1]);
  });
  return memoryDone(w, i);
}

Handler mlir::evoformer::sim::initBarrierHandler() { return initBarrier; }
Handler mlir::evoformer::sim::expectBytesHandler() { return expectBytes; }
Handler mlir::evoformer::sim::arriveHandler() { return arrive; }
Handler mlir::evoformer::sim::waitForArrivalHandler() { return waitForArrival; }
Handler mlir::evoformer::sim::copyBoxesHandler() { return copyBoxes; }
