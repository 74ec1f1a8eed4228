//===- LoadStoreOps.cpp - Loads, stores and atomics -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float.h"
#include "Handlers.h"
#include "Memory.h"
#include <mutex>

using namespace mlir::evoformer::sim;

namespace {
template <Space S> struct In;
template <> struct In<Space::Generic> {
  using Pointer = uint64_t;
  static uint8_t *at(Wave &w, const Inst *i, unsigned lane, uint64_t address,
                     unsigned size, Access access) {
    return genericAddress(w, i, lane, address, size, access);
  }
};
template <> struct In<Space::LDS> {
  using Pointer = uint32_t;
  static uint8_t *at(Wave &w, const Inst *i, unsigned lane, uint64_t address,
                     unsigned size, Access access) {
    return ldsAddress(w, i, lane, uint32_t(address), size, access);
  }
};
template <> struct In<Space::Private> {
  using Pointer = uint32_t;
  static uint8_t *at(Wave &w, const Inst *i, unsigned lane, uint64_t address,
                     unsigned size, Access access) {
    return privateAddress(w, i, lane, uint32_t(address), size, access);
  }
};
} // namespace

template <Space S>
static void count(Wave &w, const Inst *i, unsigned bytes, bool write) {
  Counters &c = *w.counters;
  unsigned active = __builtin_popcountll(w.mask);
  bool lds = S == Space::LDS;
  if (S == Space::Private)
    return;
  if (S == Space::Generic) {
    // A generic pointer of NVIDIA may point to LDS; all lanes agree.
    uint64_t address =
        w.reg<uint64_t>(i->a)[__builtin_ctzll(w.mask | uint64_t(1) << 63)];
    lds = address & ldsAperture;
  }
  if (!lds) {
    ++w.vectorMemory;
    ++(write ? c.globalStores : c.globalLoads);
    (write ? c.globalBytesWritten : c.globalBytesRead) += active * bytes;
    return;
  }
  ++(write ? c.ldsStores : c.ldsLoads);
  c.ldsBytes += active * bytes;
  uint32_t offsets[64];
  for (unsigned lane = 0; lane < w.lanes; ++lane)
    offsets[lane] =
        uint32_t((S == Space::LDS ? uint64_t(w.reg<uint32_t>(i->a)[lane])
                                  : w.reg<uint64_t>(i->a)[lane]) +
                 i->imm64);
  countBanks(w, i, offsets, bytes);
  w.ldsAccesses = LDSAccesses::UnderWay;
}

template <Space S, class T> static const Inst *load(Wave &w, const Inst *i) {
  using P = typename In<S>::Pointer;
  const P *pointer = w.reg<P>(i->a);
  T *d = w.reg<T>(i->dst);
  const unsigned bytes = i->n * sizeof(T), lanes = w.lanes;
  forLanes(w.mask, [&](unsigned lane) {
    uint64_t address = uint64_t(pointer[lane]) + i->imm64;
    checkAlignment(w, i, lane, address, i->imm);
    bool used =
        S != Space::LDS || i->c == UINT32_MAX || w.reg<uint8_t>(i->c)[lane];
    const uint8_t *p = In<S>::at(w, i, lane, address, bytes,
                                 used ? Access::Read : Access::Speculative);
    for (uint32_t e = 0; e < i->n; ++e) {
      T v = 0;
      if (p)
        std::memcpy(&v, p + e * sizeof(T), sizeof(T));
      d[e * lanes + lane] = v;
    }
  });
  count<S>(w, i, bytes, false);
  return memoryDone(w, i);
}

template <Space S, class T> static const Inst *store(Wave &w, const Inst *i) {
  using P = typename In<S>::Pointer;
  const P *pointer = w.reg<P>(i->a);
  const T *v = w.reg<T>(i->b);
  const unsigned bytes = i->n * sizeof(T), lanes = w.lanes;
  forLanes(w.mask, [&](unsigned lane) {
    uint64_t address = uint64_t(pointer[lane]) + i->imm64;
    checkAlignment(w, i, lane, address, i->imm);
    uint8_t *p = In<S>::at(w, i, lane, address, bytes, Access::Write);
    if (!p)
      return;
    for (uint32_t e = 0; e < i->n; ++e)
      std::memcpy(p + e * sizeof(T), &v[e * lanes + lane], sizeof(T));
  });
  count<S>(w, i, bytes, true);
  return memoryDone(w, i);
}

template <Space S, class T>
static const Inst *maskedLoad(Wave &w, const Inst *i) {
  using P = typename In<S>::Pointer;
  const P *pointer = w.reg<P>(i->a);
  const uint8_t *on = w.reg<uint8_t>(i->c);
  const T *other = w.reg<T>(i->b);
  T *d = w.reg<T>(i->dst);
  const unsigned lanes = w.lanes;
  forLanes(w.mask, [&](unsigned lane) {
    uint64_t address = uint64_t(pointer[lane]) + i->imm64;
    for (uint32_t e = 0; e < i->n; ++e) {
      uint32_t k = e * lanes + lane;
      T v = other[k];
      if (on[k])
        if (const uint8_t *p = In<S>::at(w, i, lane, address + e * sizeof(T),
                                         sizeof(T), Access::Read))
          std::memcpy(&v, p, sizeof(T));
      d[k] = v;
    }
  });
  count<S>(w, i, i->n * sizeof(T), false);
  return memoryDone(w, i);
}

template <Space S, class T>
static const Inst *maskedStore(Wave &w, const Inst *i) {
  using P = typename In<S>::Pointer;
  const P *pointer = w.reg<P>(i->a);
  const uint8_t *on = w.reg<uint8_t>(i->c);
  const T *v = w.reg<T>(i->b);
  const unsigned lanes = w.lanes;
  forLanes(w.mask, [&](unsigned lane) {
    uint64_t address = uint64_t(pointer[lane]) + i->imm64;
    for (uint32_t e = 0; e < i->n; ++e) {
      uint32_t k = e * lanes + lane;
      if (!on[k])
        continue;
      if (uint8_t *p = In<S>::at(w, i, lane, address + e * sizeof(T), sizeof(T),
                                 Access::Write))
        std::memcpy(p, &v[k], sizeof(T));
    }
  });
  count<S>(w, i, i->n * sizeof(T), true);
  return memoryDone(w, i);
}

/// Calls `f(byteOffset, size, address)` for the parts of a raw buffer access
/// that the hardware checks one by one, if they are in range.
/// CDNA3 ISA, 'Buffer Addressing', range checking of raw buffers (stride 0,
/// no swizzle): a part is out of range if its offset is not below num_records;
/// parts are the dwords of a wide access.
template <class F>
static void forBufferParts(Wave &w, const Inst *i, unsigned lane,
                           unsigned bytes, F f) {
  const Resource &r = w.program->resources[i->a];
  uint64_t base = w.reg<uint64_t>(r.base)[lane];
  uint64_t limit = w.reg<uint64_t>(r.numRecords)[lane] & 0xffffffff;
  uint64_t offset = w.reg<uint32_t>(r.offset)[lane];
  uint64_t scalar =
      r.scalarOffset == UINT32_MAX ? 0 : w.reg<uint32_t>(r.scalarOffset)[lane];
  offset = (offset + i->imm64) & 0xffffffff;
  for (unsigned at = 0; at < bytes;) {
    unsigned part = std::min(4u, bytes - at);
    uint64_t start = offset + at;
    bool inRange = start < limit;
    if (inRange && start + part > limit)
      report(w, i, FindingKind::OutOfBounds, lane, base + start, [&] {
        return "a part of " + std::to_string(part) +
               " bytes straddles the end of the buffer resource of " +
               std::to_string(limit) + " bytes";
      });
    if (inRange) {
      if (at == 0)
        checkAlignment(w, i, lane, base + scalar + start, i->imm);
      f(at, part, base + scalar + start);
    }
    at += part;
  }
}

template <class T> static const Inst *bufferLoad(Wave &w, const Inst *i) {
  T *d = w.reg<T>(i->dst);
  const unsigned bytes = i->n * sizeof(T), lanes = w.lanes;
  unsigned fetched = 0;
  forLanes(w.mask, [&](unsigned lane) {
    llvm::SmallVector<uint8_t, 128> value(bytes, 0);
    forBufferParts(
        w, i, lane, bytes, [&](unsigned at, unsigned size, uint64_t address) {
          fetched += size;
          if (const uint8_t *p =
                  globalAddress(w, i, lane, address, size, Access::Read))
            std::memcpy(value.data() + at, p, size);
        });
    for (uint32_t e = 0; e < i->n; ++e)
      std::memcpy(&d[e * lanes + lane], value.data() + e * sizeof(T),
                  sizeof(T));
  });
  ++w.vectorMemory;
  ++w.counters->globalLoads;
  w.counters->globalBytesRead += fetched;
  return memoryDone(w, i);
}

template <class T> static const Inst *bufferStore(Wave &w, const Inst *i) {
  const T *v = w.reg<T>(i->b);
  const unsigned bytes = i->n * sizeof(T), lanes = w.lanes;
  unsigned written = 0;
  forLanes(w.mask, [&](unsigned lane) {
    llvm::SmallVector<uint8_t, 128> value(bytes, 0);
    for (uint32_t e = 0; e < i->n; ++e)
      std::memcpy(value.data() + e * sizeof(T), &v[e * lanes + lane],
                  sizeof(T));
    forBufferParts(
        w, i, lane, bytes, [&](unsigned at, unsigned size, uint64_t address) {
          written += size;
          if (uint8_t *p =
                  globalAddress(w, i, lane, address, size, Access::Write))
            std::memcpy(p, value.data() + at, size);
        });
  });
  ++w.vectorMemory;
  ++w.counters->globalStores;
  w.counters->globalBytesWritten += written;
  return memoryDone(w, i);
}

template <class T> static T combineInt(AtomicOp op, T a, T b) {
  using Signed = std::make_signed_t<T>;
  switch (op) {
  case AtomicOp::Xchg:
    return b;
  case AtomicOp::Add:
    return a + b;
  case AtomicOp::And:
    return a & b;
  case AtomicOp::Or:
    return a | b;
  case AtomicOp::Max:
    return Signed(a) > Signed(b) ? a : b;
  case AtomicOp::Min:
    return Signed(a) < Signed(b) ? a : b;
  case AtomicOp::UMax:
    return a > b ? a : b;
  case AtomicOp::UMin:
    return a < b ? a : b;
  default:
    return a;
  }
}

template <class F>
static typename F::Storage combineFloat(AtomicOp op, typename F::Storage a,
                                        typename F::Storage b) {
  auto x = F::load(a), y = F::load(b);
  switch (op) {
  case AtomicOp::FAdd:
    return F::store(x + y);
  case AtomicOp::FMax:
    return F::store(std::fmax(x, y));
  case AtomicOp::FMin:
    return F::store(std::fmin(x, y));
  default:
    return b;
  }
}

static std::mutex atomicMutex;

template <Space S, class T, class Combine>
static const Inst *atomic(Wave &w, const Inst *i, Combine combine) {
  using P = typename In<S>::Pointer;
  const P *pointer = w.reg<P>(i->a);
  const T *v = w.reg<T>(i->b);
  T *d = w.reg<T>(i->dst);
  forLanes(w.mask, [&](unsigned lane) {
    uint64_t address = uint64_t(pointer[lane]) + i->imm64;
    checkAlignment(w, i, lane, address, sizeof(T));
    uint8_t *p = In<S>::at(w, i, lane, address, sizeof(T), Access::Atomic);
    if (!p)
      return;
    std::lock_guard<std::mutex> lock(atomicMutex);
    T old;
    std::memcpy(&old, p, sizeof(T));
    T result = combine(AtomicOp(i->imm2), old, v[lane]);
    std::memcpy(p, &result, sizeof(T));
    d[lane] = old;
  });
  count<S>(w, i, sizeof(T), true);
  return memoryDone(w, i);
}

template <Space S, class T>
static const Inst *atomicInt(Wave &w, const Inst *i) {
  return atomic<S, T>(w, i, combineInt<T>);
}

template <Space S, class F>
static const Inst *atomicFloat(Wave &w, const Inst *i) {
  return atomic<S, typename F::Storage>(w, i, combineFloat<F>);
}

template <Space S> static Handler pickAtomic(Kind kind) {
  switch (kind) {
  case Kind::I32:
    return atomicInt<S, uint32_t>;
  case Kind::I64:
    return atomicInt<S, uint64_t>;
  case Kind::F16:
    return atomicFloat<S, F16>;
  case Kind::BF16:
    return atomicFloat<S, BF16>;
  case Kind::F32:
    return atomicFloat<S, F32>;
  case Kind::F64:
    return atomicFloat<S, F64>;
  default:
    return nullptr;
  }
}

#define BY_SIZE(NAME)                                                          \
  switch (size) {                                                              \
  case 1:                                                                      \
    return NAME(uint8_t);                                                      \
  case 2:                                                                      \
    return NAME(uint16_t);                                                     \
  case 4:                                                                      \
    return NAME(uint32_t);                                                     \
  case 8:                                                                      \
    return NAME(uint64_t);                                                     \
  default:                                                                     \
    return nullptr;                                                            \
  }
#define BY_SPACE(NAME, T)                                                      \
  (space == Space::Generic ? NAME<Space::Generic, T>                           \
   : space == Space::LDS   ? NAME<Space::LDS, T>                               \
                           : NAME<Space::Private, T>)

Handler mlir::evoformer::sim::loadHandler(Space space, unsigned size){
#define CALL(T) BY_SPACE(load, T)
    BY_SIZE(CALL)
#undef CALL
} Handler mlir::evoformer::sim::storeHandler(Space space, unsigned size){
#define CALL(T) BY_SPACE(store, T)
    BY_SIZE(CALL)
#undef CALL
} Handler mlir::evoformer::sim::maskedLoadHandler(Space space, unsigned size){
#define CALL(T) BY_SPACE(maskedLoad, T)
    BY_SIZE(CALL)
#undef CALL
} Handler mlir::evoformer::sim::maskedStoreHandler(Space space, unsigned size){
#define CALL(T) BY_SPACE(maskedStore, T)
    BY_SIZE(CALL)
#undef CALL
} Handler mlir::evoformer::sim::bufferLoadHandler(unsigned size){
#define CALL(T) bufferLoad<T>
    BY_SIZE(CALL)
#undef CALL
} Handler mlir::evoformer::sim::bufferStoreHandler(unsigned size){
#define CALL(T) bufferStore<T>
    BY_SIZE(CALL)
#undef CALL
} Handler mlir::evoformer::sim::atomicHandler(Space space, Kind kind) {
  switch (space) {
  case Space::Generic:
    return pickAtomic<Space::Generic>(kind);
  case Space::LDS:
    return pickAtomic<Space::LDS>(kind);
  case Space::Private:
    return pickAtomic<Space::Private>(kind);
  }
  return nullptr;
}
