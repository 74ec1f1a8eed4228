//===- ControlOps.cpp - Branches, barriers, and identities of threads -----===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes that part at a branch wait, each at the start of its block; the block
// that comes first in the program's order runs next. Decoding orders blocks so
// that every block of a loop precedes the loop's exits, which makes lanes meet
// again where structured control flow joins.
//
//===----------------------------------------------------------------------===//

#include "Handlers.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir::evoformer::sim;

static const Inst *enter(Wave &w, uint32_t block) {
  const Program &p = *w.program;
  ++w.executions[block];
  w.activeLanes[block] += __builtin_popcountll(w.mask);
  if (w.blockBudget-- == 0) {
    w.status = WaveStatus::Hung;
    return nullptr;
  }
  return p.code.data() + p.blocks[block].first;
}

/// Makes the lanes at the first waiting block active.
static const Inst *resume(Wave &w) {
  auto first = llvm::min_element(w.waitingBlocks);
  uint32_t block = *first;
  w.waitingBlocks.erase(first);
  w.mask = w.waiting[block];
  w.waiting[block] = 0;
  return enter(w, block);
}

static void wait(Wave &w, uint32_t block, uint64_t mask) {
  if (!w.waiting[block])
    w.waitingBlocks.push_back(block);
  w.waiting[block] |= mask;
}

static void copyLanes(Wave &w, const Copy &c, uint64_t mask, bool all) {
  if (all) {
    std::memcpy(w.regs + c.dst, w.regs + c.src, size_t(c.n) * c.size);
    return;
  }
  auto masked = [&](auto tag) {
    using T = decltype(tag);
    T *d = w.reg<T>(c.dst);
    const T *s = w.reg<T>(c.src);
    for (uint32_t k = 0; k < c.n; k += w.lanes)
      forLanes(mask, [&](unsigned lane) { d[k + lane] = s[k + lane]; });
  };
  switch (c.size) {
  case 1:
    return masked(uint8_t());
  case 2:
    return masked(uint16_t());
  case 4:
    return masked(uint32_t());
  default:
    return masked(uint64_t());
  }
}

/// Passes block arguments along `edge` for the lanes in `mask`.
static uint32_t take(Wave &w, uint32_t edge, uint64_t mask) {
  const Edge &e = w.program->edges[edge];
  // Where every living lane goes, no other lane needs the old values.
  bool all = mask == w.live;
  for (const Copy &c : e.saves)
    copyLanes(w, c, mask, true);
  for (const Copy &c : e.copies)
    copyLanes(w, c, mask, all);
  return e.block;
}

static const Inst *jump(Wave &w, uint32_t edge) {
  uint32_t block = take(w, edge, w.mask);
  if (w.waitingBlocks.empty())
    return enter(w, block);
  wait(w, block, w.mask);
  return resume(w);
}

static const Inst *branch(Wave &w, const Inst *i) { return jump(w, i->a); }

static const Inst *condBranch(Wave &w, const Inst *i) {
  const uint8_t *condition = w.reg<uint8_t>(i->c);
  uint64_t taken = 0;
  forLanes(w.mask, [&](unsigned lane) {
    taken |= uint64_t(condition[lane] & 1) << lane;
  });
  ++w.counters->branches;
  if (taken == w.mask)
    return jump(w, i->a);
  if (taken == 0)
    return jump(w, i->b);
  uint64_t other = w.mask & ~taken;
  wait(w, take(w, i->a, taken), taken);
  wait(w, take(w, i->b, other), other);
  return resume(w);
}

template <class T> static const Inst *switchOn(Wave &w, const Inst *i) {
  const T *value = w.reg<T>(i->a);
  const SwitchTable &table = w.program->switches[i->imm];
  uint64_t rest = w.mask;
  ++w.counters->branches;
  for (auto [caseKey, edge] : table.cases) {
    uint64_t here = 0, key = caseKey;
    forLanes(rest, [&](unsigned lane) {
      here |= uint64_t(uint64_t(value[lane]) == key) << lane;
    });
    if (!here)
      continue;
    rest &= ~here;
    wait(w, take(w, edge, here), here);
  }
  if (rest)
    wait(w, take(w, table.defaultEdge, rest), rest);
  return resume(w);
}

static const Inst *returnLanes(Wave &w, const Inst *i) {
  w.live &= ~w.mask;
  if (!w.waitingBlocks.empty())
    return resume(w);
  w.status = WaveStatus::Done;
  return nullptr;
}

static const Inst *unreachable(Wave &w, const Inst *i) {
  report(w, i, FindingKind::UnreachableExecuted, __builtin_ctzll(w.mask), 0,
         [] { return std::string("control reaches llvm.unreachable"); });
  return returnLanes(w, i);
}

static const Inst *barrier(Wave &w, const Inst *i) {
  ++w.counters->barriers;
  if (w.mask != w.live)
    report(w, i, FindingKind::DivergentBarrier,
           __builtin_ctzll(w.live & ~w.mask), 0, [] {
             return std::string("the barrier is reached by some lanes of the "
                                "subgroup only; this lane is elsewhere");
           });
  if (i->imm2 && w.ldsAccesses != LDSAccesses::Done)
    report(w, i, FindingKind::AccessNotAwaited, __builtin_ctzll(w.mask), 0,
           [&] {
             return std::string(
                 w.ldsAccesses == LDSAccesses::Released
                     ? "LDS accesses of this subgroup are fenced, but "
                       "not waited for before the barrier"
                     : "LDS accesses of this subgroup are not fenced "
                       "and then waited for before the barrier");
           });
  w.ldsAccesses = LDSAccesses::Done;
  w.needsAcquire = i->imm2;
  w.barrier = i->imm;
  w.barrierThreads = i->b;
  w.barrierSite = i->site;
  w.status = WaveStatus::AtBarrier;
  w.next = i + 1;
  return nullptr;
}

static const Inst *nop(Wave &, const Inst *i) { return i + 1; }

/// imm: dimension; results of 4 bytes, or 8 if n is 8.
template <Special S> static const Inst *special(Wave &w, const Inst *i) {
  const Launch &l = *w.context->launch;
  for (unsigned lane = 0; lane < w.lanes; ++lane) {
    uint32_t v = 0;
    if constexpr (S == Special::ThreadId) {
      // Threads are numbered x fastest.
      uint32_t linear = w.index * w.lanes + lane;
      v = i->imm == 0   ? linear % l.block[0]
          : i->imm == 1 ? linear / l.block[0] % l.block[1]
                        : linear / l.block[0] / l.block[1];
    } else if constexpr (S == Special::BlockId) {
      v = w.group->id[i->imm];
    } else if constexpr (S == Special::BlockDim) {
      v = l.block[i->imm];
    } else if constexpr (S == Special::GridDim) {
      v = l.grid[i->imm];
    } else if constexpr (S == Special::LaneId) {
      v = lane;
    } else if constexpr (S == Special::WarpId) {
      v = w.index;
    } else {
      v = (l.block[0] * l.block[1] * l.block[2] + w.lanes - 1) / w.lanes;
    }
    if (i->n == 8)
      w.reg<uint64_t>(i->dst)[lane] = v;
    else
      w.reg<uint32_t>(i->dst)[lane] = v;
  }
  return i + 1;
}

Handler mlir::evoformer::sim::branchHandler() { return branch; }
Handler mlir::evoformer::sim::condBranchHandler() { return condBranch; }
Handler mlir::evoformer::sim::switchHandler(unsigned size) {
  switch (size) {
  case 1:
    return switchOn<uint8_t>;
  case 2:
    return switchOn<uint16_t>;
  case 4:
    return switchOn<uint32_t>;
  case 8:
    return switchOn<uint64_t>;
  default:
    return nullptr;
  }
}
Handler mlir::evoformer::sim::returnHandler() { return returnLanes; }
Handler mlir::evoformer::sim::unreachableHandler() { return unreachable; }
Handler mlir::evoformer::sim::barrierHandler() { return barrier; }
Handler mlir::evoformer::sim::nopHandler() { return nop; }

Handler mlir::evoformer::sim::specialHandler(Special s) {
  switch (s) {
  case Special::ThreadId:
    return special<Special::ThreadId>;
  case Special::BlockId:
    return special<Special::BlockId>;
  case Special::BlockDim:
    return special<Special::BlockDim>;
  case Special::GridDim:
    return special<Special::GridDim>;
  case Special::LaneId:
    return special<Special::LaneId>;
  case Special::WarpId:
    return special<Special::WarpId>;
  case Special::WarpCount:
    return special<Special::WarpCount>;
  }
  return nullptr;
}
