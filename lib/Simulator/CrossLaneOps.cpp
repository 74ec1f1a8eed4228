//===- CrossLaneOps.cpp - Exchange between lanes --------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All work on one 32-bit element per lane; the decoder splits wider values.
// Results are written under the mask.
//
//===----------------------------------------------------------------------===//

#include "Handlers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::evoformer::sim;

static bool active(const Wave &w, unsigned lane) {
  return lane < w.lanes && (w.mask >> lane & 1);
}

static const Inst *readFirstLane(Wave &w, const Inst *i) {
  uint32_t v = w.reg<uint32_t>(i->a)[__builtin_ctzll(w.mask)];
  uint32_t *d = w.reg<uint32_t>(i->dst);
  forLanes(w.mask, [&](unsigned lane) { d[lane] = v; });
  return i + 1;
}

/// The lane number is uniform; a lane outside EXEC still has its register.
static const Inst *readLane(Wave &w, const Inst *i) {
  const uint32_t *a = w.reg<uint32_t>(i->a);
  uint32_t from = w.reg<uint32_t>(i->b)[__builtin_ctzll(w.mask)] % w.lanes;
  uint32_t *d = w.reg<uint32_t>(i->dst);
  forLanes(w.mask, [&](unsigned lane) { d[lane] = a[from]; });
  return i + 1;
}

/// CDNA3 ISA, DS_BPERMUTE_B32: a: byte address of the lane, b: data; lanes
/// outside EXEC give 0.
static const Inst *bpermute(Wave &w, const Inst *i) {
  const uint32_t *index = w.reg<uint32_t>(i->a), *v = w.reg<uint32_t>(i->b);
  uint32_t *d = w.reg<uint32_t>(i->dst);
  forLanes(w.mask, [&](unsigned lane) {
    unsigned from = index[lane] / 4 % w.lanes;
    d[lane] = active(w, from) ? v[from] : 0;
  });
  return i + 1;
}

/// CDNA3 ISA, DS_SWIZZLE_B32: with bit 15 a permutation inside groups of 4,
/// else and / or / xor masks on the lane inside groups of 32.
static const Inst *swizzle(Wave &w, const Inst *i) {
  const uint32_t *v = w.reg<uint32_t>(i->a);
  uint32_t *d = w.reg<uint32_t>(i->dst);
  uint32_t pattern = i->imm;
  forLanes(w.mask, [&](unsigned lane) {
    unsigned from;
    if (pattern & 0x8000)
      from = (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
    else
      from = (lane & ~31u) | (((lane & pattern & 31) | (pattern >> 5 & 31)) ^
                              (pattern >> 10 & 31));
    d[lane] = active(w, from) ? v[from] : 0;
  });
  return i + 1;
}

/// The lane that DPP control `ctrl` reads, or -1 if there is none. CDNA3 ISA
/// and RDNA3 ISA, 'Data Parallel Processing (DPP)'.
static int dppSource(unsigned ctrl, int lane, int lanes) {
  int row = lane & ~15, in = lane & 15;
  if (ctrl <= 0xff)
    return (lane & ~3) | (ctrl >> (2 * (lane & 3)) & 3);
  int amount = ctrl & 15;
  switch (ctrl & 0x1f0) {
  case 0x100: // row_shl
    return in + amount < 16 ? lane + amount : -1;
  case 0x110: // row_shr
    return in - amount >= 0 ? lane - amount : -1;
  case 0x120: // row_ror
    return row | ((in - amount) & 15);
  case 0x130:
    switch (ctrl) {
    case 0x130: // wave_shl:1
      return lane + 1 < lanes ? lane + 1 : -1;
    case 0x134: // wave_rol:1
      return (lane + 1) % lanes;
    case 0x138: // wave_shr:1
      return lane - 1;
    default: // wave_ror:1
      return (lane + lanes - 1) % lanes;
    }
  case 0x140:
    switch (ctrl) {
    case 0x140: // row_mirror
      return row | (15 - in);
    case 0x141: // row_half_mirror
      return (lane & ~7) | (7 - (lane & 7));
    case 0x142: // row_bcast:15
      return row == 0 ? -1 : row - 1;
    default: // row_bcast:31
      return lane < 32 ? -1 : 31;
    }
  case 0x150: // row_share (RDNA), row_newbcast (CDNA)
    return row | amount;
  default: // 0x160, row_xmask
    return row | (in ^ amount);
  }
}

/// a: old, b: source; imm: control | row mask << 12 | bank mask << 16 |
/// bound control << 20.
static const Inst *dpp(Wave &w, const Inst *i) {
  const uint32_t *old = w.reg<uint32_t>(i->a), *v = w.reg<uint32_t>(i->b);
  uint32_t *d = w.reg<uint32_t>(i->dst);
  unsigned ctrl = i->imm & 0x1ff, rows = i->imm >> 12 & 15,
           banks = i->imm >> 16 & 15;
  bool zero = i->imm >> 20 & 1;
  forLanes(w.mask, [&](unsigned lane) {
    if (!(rows >> (lane / 16) & 1) || !(banks >> (lane / 4 % 4) & 1)) {
      d[lane] = old[lane];
      return;
    }
    int from = dppSource(ctrl, lane, w.lanes);
    bool valid = from >= 0 && active(w, from);
    d[lane] = valid ? v[from] : zero ? 0 : old[lane];
  });
  return i + 1;
}

/// RDNA3 ISA, V_PERMLANE16_B32 and V_PERMLANEX16_B32: 4 bits for each of the
/// 16 lanes of a row, from two scalars (b, c), choose a lane of the same or of
/// the other row. imm: 1 for X16, | 2 fetch inactive, | 4 bound control;
/// imm2: register of the old value.
static const Inst *permlane16(Wave &w, const Inst *i) {
  const uint32_t *v = w.reg<uint32_t>(i->a);
  const uint32_t *old = w.reg<uint32_t>(uint32_t(i->imm2));
  unsigned first = __builtin_ctzll(w.mask);
  uint64_t selectors = uint64_t(w.reg<uint32_t>(i->c)[first]) << 32 |
                       w.reg<uint32_t>(i->b)[first];
  uint32_t *d = w.reg<uint32_t>(i->dst);
  forLanes(w.mask, [&](unsigned lane) {
    unsigned from = ((lane & ~15u) ^ (i->imm & 1 ? 16 : 0)) |
                    (selectors >> (4 * (lane & 15)) & 15);
    bool valid = from < w.lanes && ((i->imm & 2) || active(w, from));
    d[lane] = valid ? v[from] : (i->imm & 4) ? 0 : old[lane];
  });
  return i + 1;
}

/// CDNA4 ISA, V_PERMLANE16_SWAP_B32 and V_PERMLANE32_SWAP_B32: the odd rows of
/// the first operand change places with the even rows of the second. imm: lanes
/// in a row. Results at dst and imm2.
static const Inst *swapRows(Wave &w, const Inst *i) {
  const uint32_t *a = w.reg<uint32_t>(i->a), *b = w.reg<uint32_t>(i->b);
  uint32_t *d = w.reg<uint32_t>(i->dst);
  uint32_t *e = w.reg<uint32_t>(uint32_t(i->imm2));
  unsigned size = i->imm;
  forLanes(w.mask, [&](unsigned lane) {
    bool odd = lane / size & 1;
    d[lane] = odd ? b[lane - size] : a[lane];
    e[lane] = odd ? b[lane] : a[lane + size];
  });
  return i + 1;
}

/// Bits of mask a below the lane, plus b. imm: 0 for lanes 0..31, 32 for the
/// upper ones.
template <unsigned Base> static const Inst *mbcnt(Wave &w, const Inst *i) {
  const uint32_t *a = w.reg<uint32_t>(i->a), *b = w.reg<uint32_t>(i->b);
  uint32_t *d = w.reg<uint32_t>(i->dst);
  for (unsigned lane = 0; lane < w.lanes; ++lane) {
    uint32_t below = lane >= Base + 32 ? ~0u
                     : lane < Base     ? 0
                                       : (1u << (lane - Base)) - 1;
    d[lane] = __builtin_popcount(a[lane] & below) + b[lane];
  }
  return i + 1;
}

static uint64_t ballotOf(Wave &w, const uint8_t *p) {
  uint64_t bits = 0;
  forLanes(w.mask,
           [&](unsigned lane) { bits |= uint64_t(p[lane] & 1) << lane; });
  return bits;
}

/// imm: bytes of the result.
static const Inst *ballot(Wave &w, const Inst *i) {
  uint64_t bits = ballotOf(w, w.reg<uint8_t>(i->a));
  forLanes(w.mask, [&](unsigned lane) {
    if (i->imm == 8)
      w.reg<uint64_t>(i->dst)[lane] = bits;
    else
      w.reg<uint32_t>(i->dst)[lane] = uint32_t(bits);
  });
  return i + 1;
}

/// Lanes named by the member mask must be here (or have exited).
static void checkMembers(Wave &w, const Inst *i, uint32_t members) {
  uint64_t missing = uint64_t(members) & w.live & ~w.mask;
  bool self = true;
  forLanes(w.mask, [&](unsigned lane) { self &= members >> lane & 1; });
  if (missing || !self)
    report(w, i, FindingKind::DivergentOperation,
           __builtin_ctzll(missing ? missing : w.mask), 0, [&] {
             return std::string(missing
                                    ? "a lane of the member mask does not "
                                      "execute the operation"
                                    : "an executing lane is not in the member "
                                      "mask");
           });
}

/// PTX ISA, 'shfl.sync': the operand for the lane, and that for the clamp with
/// the mask of segments.
std::optional<unsigned> mlir::evoformer::sim::getShuffleSource(CrossLane mode,
                                                               unsigned lane,
                                                               uint32_t by,
                                                               uint32_t clamp) {
  int me = lane, other = by & 31, segment = clamp >> 8 & 31;
  int minLane = me & segment;
  int maxLane = minLane | (int(clamp & 31) & ~segment);
  int from = mode == CrossLane::ShflUp     ? me - other
             : mode == CrossLane::ShflDown ? me + other
             : mode == CrossLane::ShflXor  ? me ^ other
                                           : minLane | (other & ~segment);
  bool isThere = mode == CrossLane::ShflUp ? from >= maxLane : from <= maxLane;
  return isThere ? std::optional<unsigned>(from) : std::nullopt;
}

/// a: value, b: lane operand, c: clamp and segment mask; imm2: member mask
/// register; imm: register of the predicate, or UINT32_MAX.
template <CrossLane Mode> static const Inst *shuffle(Wave &w, const Inst *i) {
  const uint32_t *v = w.reg<uint32_t>(i->a), *b = w.reg<uint32_t>(i->b),
                 *c = w.reg<uint32_t>(i->c);
  checkMembers(w, i,
               w.reg<uint32_t>(uint32_t(i->imm2))[__builtin_ctzll(w.mask)]);
  uint32_t *d = w.reg<uint32_t>(i->dst);
  forLanes(w.mask, [&](unsigned lane) {
    std::optional<unsigned> source =
        getShuffleSource(Mode, lane, b[lane], c[lane]);
    unsigned from = source.value_or(lane);
    if (!active(w, from))
      report(w, i, FindingKind::DivergentOperation, lane, 0,
             [] { return std::string("the source lane is inactive"); });
    d[lane] = v[from];
    if (i->imm != UINT32_MAX)
      w.reg<uint8_t>(i->imm)[lane] = source.has_value();
  });
  return i + 1;
}

/// a: predicate, b: member mask.
template <CrossLane Mode> static const Inst *vote(Wave &w, const Inst *i) {
  uint32_t members = w.reg<uint32_t>(i->b)[__builtin_ctzll(w.mask)];
  checkMembers(w, i, members);
  uint64_t present = w.mask & members;
  uint64_t bits = ballotOf(w, w.reg<uint8_t>(i->a)) & members;
  forLanes(w.mask, [&](unsigned lane) {
    if (Mode == CrossLane::VoteBallot)
      w.reg<uint32_t>(i->dst)[lane] = uint32_t(bits);
    else
      w.reg<uint8_t>(i->dst)[lane] = Mode == CrossLane::VoteAny ? bits != 0
                                     : Mode == CrossLane::VoteAll
                                         ? bits == present
                                         : bits == 0 || bits == present;
  });
  return i + 1;
}

Handler mlir::evoformer::sim::crossLaneHandler(CrossLane op) {
  switch (op) {
  case CrossLane::ReadFirstLane:
    return readFirstLane;
  case CrossLane::ReadLane:
    return readLane;
  case CrossLane::Bpermute:
    return bpermute;
  case CrossLane::Swizzle:
    return swizzle;
  case CrossLane::DPP:
    return dpp;
  case CrossLane::Permlane16:
    return permlane16;
  case CrossLane::SwapRows:
    return swapRows;
  case CrossLane::Mbcnt:
    return mbcnt<0>;
  case CrossLane::MbcntHi:
    return mbcnt<32>;
  case CrossLane::Ballot:
    return ballot;
  case CrossLane::ShflIdx:
    return shuffle<CrossLane::ShflIdx>;
  case CrossLane::ShflXor:
    return shuffle<CrossLane::ShflXor>;
  case CrossLane::ShflUp:
    return shuffle<CrossLane::ShflUp>;
  case CrossLane::ShflDown:
    return shuffle<CrossLane::ShflDown>;
  case CrossLane::VoteAny:
    return vote<CrossLane::VoteAny>;
  case CrossLane::VoteAll:
    return vote<CrossLane::VoteAll>;
  case CrossLane::VoteUni:
    return vote<CrossLane::VoteUni>;
  case CrossLane::VoteBallot:
    return vote<CrossLane::VoteBallot>;
  }
  return nullptr;
}
