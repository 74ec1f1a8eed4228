//===- AsyncOps.cpp - Copies to LDS that complete later; ldmatrix ---------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handlers.h"
#include "Memory.h"

using namespace mlir::evoformer::sim;

/// cp.async: each lane copies to its own LDS address.
static const Inst *asyncCopy(Wave &w, const Inst *i) {
  const uint32_t *lds = w.reg<uint32_t>(i->a);
  const uint64_t *global = w.reg<uint64_t>(i->b);
  unsigned size = i->imm, total = 0;
  forLanes(w.mask, [&](unsigned lane) {
    // PTX ISA, 'cp.async': bytes beyond the source size are written as zeros.
    unsigned read = i->c == UINT32_MAX ? size : w.reg<uint32_t>(i->c)[lane];
    read = std::min(read, size);
    uint32_t to = uint32_t(lds[lane] + i->imm64);
    checkAlignment(w, i, lane, to, size);
    const uint8_t *from = nullptr;
    if (read) {
      checkAlignment(w, i, lane, global[lane], size);
      from = genericAddress(w, i, lane, global[lane], read, Access::Read);
    }
    issueCopy(w, i, lane, to, size, from, from ? read : 0, w.open);
    total += read;
  });
  ++w.counters->globalLoads;
  w.counters->globalBytesRead += total;
  return memoryDone(w, i);
}

static const Inst *asyncCommit(Wave &w, const Inst *i) {
  w.groups.push_back(std::move(w.open));
  w.open = CopyGroup();
  return i + 1;
}

/// imm: groups that may stay outstanding; imm2 = 1 also takes uncommitted
/// copies (cp.async.wait_all).
static const Inst *asyncWait(Wave &w, const Inst *i) {
  ++w.counters->waits;
  if (i->imm2 && !w.open.copies.empty())
    asyncCommit(w, i);
  while (w.groups.size() > i->imm) {
    landCopies(w, w.groups.front());
    w.groups.pop_front();
  }
  return memoryDone(w, i);
}

/// CDNA3 ISA, 'Memory: loads to LDS': the LDS address is one base for the
/// subgroup (M0) plus the instruction offset plus lane * size; each lane has
/// its own global address. Completion is counted by vmcnt.
static void checkUniformBase(Wave &w, const Inst *i) {
  const uint32_t *lds = w.reg<uint32_t>(i->a);
  unsigned first = __builtin_ctzll(w.mask);
  forLanes(w.mask, [&](unsigned lane) {
    if (lds[lane] != lds[first])
      report(w, i, FindingKind::DivergentOperation, lane, lds[lane], [] {
        return std::string("the LDS base of a load to LDS differs between "
                           "lanes");
      });
  });
}

static const Inst *loadToLDS(Wave &w, const Inst *i) {
  const uint32_t *lds = w.reg<uint32_t>(i->a);
  const uint64_t *global = w.reg<uint64_t>(i->b);
  checkUniformBase(w, i);
  uint32_t base = lds[__builtin_ctzll(w.mask)];
  CopyGroup group;
  group.sequence = ++w.vectorMemory;
  forLanes(w.mask, [&](unsigned lane) {
    uint64_t address = global[lane] + i->imm64;
    checkAlignment(w, i, lane, address, 4);
    const uint8_t *from =
        globalAddress(w, i, lane, address, i->imm, Access::Read);
    issueCopy(w, i, lane, uint32_t(base + i->imm64 + lane * i->imm), i->imm,
              from, from ? i->imm : 0, group);
  });
  w.groups.push_back(std::move(group));
  ++w.counters->globalLoads;
  w.counters->globalBytesRead += __builtin_popcountll(w.mask) * i->imm;
  return memoryDone(w, i);
}

static const Inst *bufferLoadToLDS(Wave &w, const Inst *i) {
  const uint32_t *lds = w.reg<uint32_t>(i->a);
  const Resource &r = w.program->resources[i->b];
  checkUniformBase(w, i);
  uint32_t base = lds[__builtin_ctzll(w.mask)];
  CopyGroup group;
  group.sequence = ++w.vectorMemory;
  forLanes(w.mask, [&](unsigned lane) {
    uint64_t offset = uint32_t(w.reg<uint32_t>(r.offset)[lane] + i->imm64);
    uint64_t limit = w.reg<uint64_t>(r.numRecords)[lane] & 0xffffffff;
    uint64_t address = w.reg<uint64_t>(r.base)[lane] + offset;
    if (r.scalarOffset != UINT32_MAX)
      address += w.reg<uint32_t>(r.scalarOffset)[lane];
    const uint8_t *from = nullptr;
    unsigned size = 0;
    if (offset < limit) {
      size = unsigned(std::min<uint64_t>(i->imm, (limit - offset + 3) / 4 * 4));
      checkAlignment(w, i, lane, address, 4);
      from = globalAddress(w, i, lane, address, size, Access::Read);
    }
    issueCopy(w, i, lane, uint32_t(base + i->imm64 + lane * i->imm), i->imm,
              from, from ? size : 0, group);
  });
  w.groups.push_back(std::move(group));
  ++w.counters->globalLoads;
  w.counters->globalBytesRead += __builtin_popcountll(w.mask) * i->imm;
  return memoryDone(w, i);
}

static const Inst *waitCount(Wave &w, const Inst *i) {
  ++w.counters->waits;
  while (!w.groups.empty() &&
         w.groups.front().sequence + i->imm <= w.vectorMemory) {
    landCopies(w, w.groups.front());
    w.groups.pop_front();
  }
  if (i->imm2 == 0 && w.ldsAccesses == LDSAccesses::Released)
    w.ldsAccesses = LDSAccesses::Done;
  return memoryDone(w, i);
}

/// imm: does not release; b: does not acquire.
static const Inst *fence(Wave &w, const Inst *i) {
  if (!i->imm && w.ldsAccesses == LDSAccesses::UnderWay)
    w.ldsAccesses = LDSAccesses::Released;
  if (!i->b)
    w.needsAcquire = false;
  return i + 1;
}

static void checkConverged(Wave &w, const Inst *i) {
  if (w.mask != w.full)
    report(
        w, i, FindingKind::DivergentOperation, __builtin_ctzll(w.mask), 0,
        [] { return std::string("all lanes of the subgroup must take part"); });
}

/// PTX ISA, 'Warp-level matrix load instruction: ldmatrix'. Lane 8m + r gives
/// the address of row r of 8x8 matrix m; lane t receives elements 2(t%4) and
/// 2(t%4)+1 of row t/4, with .trans of the transposed matrix.
static const Inst *ldmatrix(Wave &w, const Inst *i) {
  checkConverged(w, i);
  const uint32_t *pointer = w.reg<uint32_t>(i->a);
  uint32_t *d = w.reg<uint32_t>(i->dst);
  uint32_t offsets[64];
  for (unsigned m = 0; m < i->n; ++m) {
    uint16_t rows[8][8];
    for (unsigned r = 0; r < 8; ++r) {
      unsigned lane = m * 8 + r;
      uint32_t address = uint32_t(pointer[lane] + i->imm64);
      checkAlignment(w, i, lane, address, 16);
      const uint8_t *p = ldsAddress(w, i, lane, address, 16, Access::Read);
      if (p)
        std::memcpy(rows[r], p, 16);
      else
        std::memset(rows[r], 0, 16);
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned r = lane / 4, c = 2 * (lane % 4);
      uint32_t low = i->imm ? rows[c][r] : rows[r][c];
      uint32_t high = i->imm ? rows[c + 1][r] : rows[r][c + 1];
      d[m * 32 + lane] = high << 16 | low;
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    offsets[lane] = uint32_t(pointer[lane] + i->imm64);
  uint64_t mask = w.mask;
  w.mask = i->n == 4 ? 0xffffffff : (uint64_t(1) << (8 * i->n)) - 1;
  countBanks(w, i, offsets, 16);
  w.mask = mask;
  ++w.counters->ldsLoads;
  w.counters->ldsBytes += 128 * i->n;
  return memoryDone(w, i);
}

/// CDNA4 ISA, DS_READ_B64_TR_B16: of 16 lanes, lane l gives the address of four
/// elements of row l / 4, from 4 * (l % 4) on, and receives element l of the
/// four rows.
static const Inst *readAcrossRows(Wave &w, const Inst *i) {
  constexpr unsigned kRows = 4, kLanes = 16, kBytes = 8;
  checkConverged(w, i);
  const uint32_t *pointer = w.reg<uint32_t>(i->a);
  uint32_t offsets[64];
  for (unsigned first = 0; first < w.lanes; first += kLanes) {
    uint16_t rows[kRows][kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
      uint32_t address = uint32_t(pointer[first + l] + i->imm64);
      offsets[first + l] = address;
      checkAlignment(w, i, first + l, address, kBytes);
      uint16_t *row = &rows[l / kRows][kRows * (l % kRows)];
      if (const uint8_t *p =
              ldsAddress(w, i, first + l, address, kBytes, Access::Read))
        std::memcpy(row, p, kBytes);
      else
        std::memset(row, 0, kBytes);
    }
    for (unsigned row = 0; row < kRows; ++row)
      for (unsigned l = 0; l < kLanes; ++l)
        w.reg<uint16_t>(i->dst + row * i->imm2)[first + l] = rows[row][l];
  }
  countBanks(w, i, offsets, kBytes);
  w.ldsAccesses = LDSAccesses::UnderWay;
  ++w.counters->ldsLoads;
  w.counters->ldsBytes += kBytes * w.lanes;
  return memoryDone(w, i);
}

/// The reverse of ldmatrix; b is the first of n source registers.
static const Inst *stmatrix(Wave &w, const Inst *i) {
  checkConverged(w, i);
  const uint32_t *pointer = w.reg<uint32_t>(i->a);
  const uint32_t *v = w.reg<uint32_t>(i->b);
  for (unsigned m = 0; m < i->n; ++m) {
    uint16_t rows[8][8];
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned r = lane / 4, c = 2 * (lane % 4);
      uint32_t value = v[m * 32 + lane];
      (i->imm ? rows[c][r] : rows[r][c]) = uint16_t(value);
      (i->imm ? rows[c + 1][r] : rows[r][c + 1]) = uint16_t(value >> 16);
    }
    for (unsigned r = 0; r < 8; ++r) {
      unsigned lane = m * 8 + r;
      uint32_t address = uint32_t(pointer[lane] + i->imm64);
      checkAlignment(w, i, lane, address, 16);
      if (uint8_t *p = ldsAddress(w, i, lane, address, 16, Access::Write))
        std::memcpy(p, rows[r], 16);
    }
  }
  w.ldsAccesses = LDSAccesses::UnderWay;
  ++w.counters->ldsStores;
  w.counters->ldsBytes += 128 * i->n;
  return memoryDone(w, i);
}

Handler mlir::evoformer::sim::asyncCopyHandler() { return asyncCopy; }
Handler mlir::evoformer::sim::asyncCommitHandler() { return asyncCommit; }
Handler mlir::evoformer::sim::asyncWaitHandler() { return asyncWait; }
Handler mlir::evoformer::sim::loadToLDSHandler() { return loadToLDS; }
Handler mlir::evoformer::sim::bufferLoadToLDSHandler() {
  return bufferLoadToLDS;
}
Handler mlir::evoformer::sim::waitCountHandler() { return waitCount; }
Handler mlir::evoformer::sim::fenceHandler() { return fence; }
Handler mlir::evoformer::sim::ldmatrixHandler() { return ldmatrix; }
Handler mlir::evoformer::sim::readAcrossRowsHandler() { return readAcrossRows; }
Handler mlir::evoformer::sim::stmatrixHandler() { return stmatrix; }
