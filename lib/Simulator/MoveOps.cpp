//===- MoveOps.cpp - Conversions, selection, and moves between registers --===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float.h"
#include "Handlers.h"
#include <limits>
#include <type_traits>

using namespace mlir::evoformer::sim;

namespace {
template <Kind K> struct Rep;
template <> struct Rep<Kind::I1> {
  using Type = uint8_t;
};
template <> struct Rep<Kind::I8> {
  using Type = uint8_t;
};
template <> struct Rep<Kind::I16> {
  using Type = uint16_t;
};
template <> struct Rep<Kind::I32> {
  using Type = uint32_t;
};
template <> struct Rep<Kind::I64> {
  using Type = uint64_t;
};
template <> struct Rep<Kind::F16> {
  using Type = F16;
};
template <> struct Rep<Kind::BF16> {
  using Type = BF16;
};
template <> struct Rep<Kind::F32> {
  using Type = F32;
};
template <> struct Rep<Kind::F64> {
  using Type = F64;
};
} // namespace

template <class From, class To, class F>
static const Inst *convert(Wave &w, const Inst *i, F f) {
  To *d = w.reg<To>(i->dst);
  const From *a = w.reg<From>(i->a);
  for (uint32_t k = 0, n = i->n; k < n; ++k)
    d[k] = f(a[k]);
  return i + 1;
}

template <Kind From, Kind To>
static const Inst *truncate(Wave &w, const Inst *i) {
  using A = typename Rep<From>::Type;
  using D = typename Rep<To>::Type;
  return convert<A, D>(w, i, [](A v) { return D(To == Kind::I1 ? v & 1 : v); });
}

template <Kind From, Kind To, bool IsSigned>
static const Inst *extend(Wave &w, const Inst *i) {
  using A = typename Rep<From>::Type;
  using D = typename Rep<To>::Type;
  return convert<A, D>(w, i, [](A v) {
    if constexpr (!IsSigned)
      return D(v);
    else if constexpr (From == Kind::I1)
      return D(0 - D(v));
    else
      return D(std::make_signed_t<A>(v));
  });
}

template <Kind From, Kind To>
static const Inst *resize(Wave &w, const Inst *i) {
  using A = typename Rep<From>::Type;
  using D = typename Rep<To>::Type;
  using SA = typename A::Storage;
  return convert<SA, typename D::Storage>(w, i, [](SA v) {
    if constexpr (From == Kind::F64)
      return D::storeDouble(v);
    else
      return D::store(A::load(v));
  });
}

template <Kind From, Kind To, bool IsSigned>
static const Inst *toInt(Wave &w, const Inst *i) {
  using A = typename Rep<From>::Type;
  using D = typename Rep<To>::Type;
  using SA = typename A::Storage;
  // Saturating: out of range is poison in LLVM, and the hardware saturates.
  return convert<SA, D>(w, i, [](SA v) {
    double x = std::trunc(double(A::load(v)));
    using L = std::conditional_t<To == Kind::I1, std::numeric_limits<uint8_t>,
                                 std::numeric_limits<std::conditional_t<
                                     IsSigned, std::make_signed_t<D>, D>>>;
    if (std::isnan(x))
      return D(0);
    if (x <= double(L::min()))
      return D(L::min());
    if (x >= double(L::max()))
      return D(L::max());
    if constexpr (IsSigned)
      return D(int64_t(x));
    else
      return D(uint64_t(x));
  });
}

template <Kind From, Kind To, bool IsSigned>
static const Inst *fromInt(Wave &w, const Inst *i) {
  using A = typename Rep<From>::Type;
  using D = typename Rep<To>::Type;
  return convert<A, typename D::Storage>(w, i, [](A v) {
    auto wide = [&] {
      if constexpr (!IsSigned)
        return uint64_t(v);
      else if constexpr (From == Kind::I1)
        return -int64_t(v);
      else
        return int64_t(std::make_signed_t<A>(v));
    }();
    if constexpr (To == Kind::F32)
      return float(wide);
    else if constexpr (To == Kind::F64)
      return double(wide);
    else {
      // 64-bit values need round-to-odd on the way; halves of them do not
      // lose bits in f64.
      double d = double(wide);
      if (sizeof(A) == 8 && std::fabs(d) < (IsSigned ? 0x1p63 : 0x1p64) &&
          decltype(wide)(d) != wide) {
        uint64_t bits = bitsTo<uint64_t>(d);
        bool grew = IsSigned ? (int64_t(d) > int64_t(wide)) == (d > 0)
                             : uint64_t(d) > uint64_t(wide);
        d = bitsTo<double>((grew ? bits - 1 : bits) | 1);
      }
      return D::storeDouble(d);
    }
  });
}

template <template <Kind, Kind> class Pick, Kind First>
static Handler pickInteger(Kind second) {
  switch (second) {
  case Kind::I1:
    return Pick<First, Kind::I1>::handler;
  case Kind::I8:
    return Pick<First, Kind::I8>::handler;
  case Kind::I16:
    return Pick<First, Kind::I16>::handler;
  case Kind::I32:
    return Pick<First, Kind::I32>::handler;
  case Kind::I64:
    return Pick<First, Kind::I64>::handler;
  default:
    return nullptr;
  }
}

template <template <Kind, Kind> class Pick>
static Handler pickIntInt(Kind from, Kind to) {
  switch (from) {
  case Kind::I1:
    return pickInteger<Pick, Kind::I1>(to);
  case Kind::I8:
    return pickInteger<Pick, Kind::I8>(to);
  case Kind::I16:
    return pickInteger<Pick, Kind::I16>(to);
  case Kind::I32:
    return pickInteger<Pick, Kind::I32>(to);
  case Kind::I64:
    return pickInteger<Pick, Kind::I64>(to);
  default:
    return nullptr;
  }
}

template <template <Kind, Kind> class Pick>
static Handler pickFloatInt(Kind floating, Kind integer) {
  switch (floating) {
  case Kind::F16:
    return pickInteger<Pick, Kind::F16>(integer);
  case Kind::BF16:
    return pickInteger<Pick, Kind::BF16>(integer);
  case Kind::F32:
    return pickInteger<Pick, Kind::F32>(integer);
  case Kind::F64:
    return pickInteger<Pick, Kind::F64>(integer);
  default:
    return nullptr;
  }
}

namespace {
template <Kind A, Kind B> struct PickTrunc {
  static constexpr Handler handler = truncate<A, B>;
};
template <Kind A, Kind B> struct PickZExt {
  static constexpr Handler handler = extend<A, B, false>;
};
template <Kind A, Kind B> struct PickSExt {
  static constexpr Handler handler = extend<A, B, true>;
};
template <Kind A, Kind B> struct PickToSI {
  static constexpr Handler handler = toInt<A, B, true>;
};
template <Kind A, Kind B> struct PickToUI {
  static constexpr Handler handler = toInt<A, B, false>;
};
template <Kind A, Kind B> struct PickFromSI {
  static constexpr Handler handler = fromInt<B, A, true>;
};
template <Kind A, Kind B> struct PickFromUI {
  static constexpr Handler handler = fromInt<B, A, false>;
};
} // namespace

template <Kind From> static Handler pickResize(Kind to) {
  switch (to) {
  case Kind::F16:
    return resize<From, Kind::F16>;
  case Kind::BF16:
    return resize<From, Kind::BF16>;
  case Kind::F32:
    return resize<From, Kind::F32>;
  case Kind::F64:
    return resize<From, Kind::F64>;
  default:
    return nullptr;
  }
}

static const Inst *truncateToHalf(Wave &w, const Inst *i) {
  return convert<float, uint16_t>(w, i, [](float v) {
    uint16_t h = floatToHalf(v);
    bool finite = std::isfinite(v);
    return finite && std::fabs(halfToFloat(h)) > std::fabs(v) ? uint16_t(h - 1)
                                                              : h;
  });
}

template <class T> static const Inst *selectLanes(Wave &w, const Inst *i) {
  T *d = w.reg<T>(i->dst);
  const uint8_t *c = w.reg<uint8_t>(i->c);
  const T *a = w.reg<T>(i->a), *b = w.reg<T>(i->b);
  for (uint32_t k = 0, n = i->n; k < n; ++k)
    d[k] = c[k] ? a[k] : b[k];
  return i + 1;
}

template <class T> static const Inst *selectScalar(Wave &w, const Inst *i) {
  T *d = w.reg<T>(i->dst);
  const uint8_t *c = w.reg<uint8_t>(i->c);
  const T *a = w.reg<T>(i->a), *b = w.reg<T>(i->b);
  for (uint32_t k = 0, n = i->n; k < n; k += w.lanes)
    for (unsigned lane = 0; lane < w.lanes; ++lane)
      d[k + lane] = c[lane] ? a[k + lane] : b[k + lane];
  return i + 1;
}

template <class T> static const Inst *move(Wave &w, const Inst *i) {
  std::memmove(w.reg<T>(i->dst), w.reg<T>(i->a), i->n * sizeof(T));
  return i + 1;
}

/// One element of From becomes several of To, or the other way round; element 0
/// is the least significant.
template <class From, class To>
static const Inst *bitcast(Wave &w, const Inst *i) {
  const From *a = w.reg<From>(i->a);
  To *d = w.reg<To>(i->dst);
  unsigned lanes = w.lanes;
  if constexpr (sizeof(From) >= sizeof(To)) {
    constexpr unsigned parts = sizeof(From) / sizeof(To);
    for (uint32_t e = 0; e < i->n; ++e)
      for (unsigned p = 0; p < parts; ++p)
        for (unsigned lane = 0; lane < lanes; ++lane)
          d[(e * parts + p) * lanes + lane] =
              To(a[e * lanes + lane] >> (p * sizeof(To) * 8));
  } else {
    constexpr unsigned parts = sizeof(To) / sizeof(From);
    for (uint32_t e = 0; e < i->n / parts; ++e)
      for (unsigned lane = 0; lane < lanes; ++lane) {
        To v = 0;
        for (unsigned p = 0; p < parts; ++p)
          v |= To(a[(e * parts + p) * lanes + lane]) << (p * sizeof(From) * 8);
        d[e * lanes + lane] = v;
      }
  }
  return i + 1;
}

template <class From> static Handler pickBitcast(unsigned to) {
  switch (to) {
  case 1:
    return bitcast<From, uint8_t>;
  case 2:
    return bitcast<From, uint16_t>;
  case 4:
    return bitcast<From, uint32_t>;
  case 8:
    return bitcast<From, uint64_t>;
  default:
    return nullptr;
  }
}

template <class T> static const Inst *gather(Wave &w, const Inst *i) {
  const uint32_t *source = w.program->table.data() + i->imm;
  uint8_t *d = w.regs + i->dst;
  size_t bytes = w.lanes * sizeof(T);
  for (uint32_t e = 0; e < i->n; ++e)
    std::memcpy(d + e * bytes, w.regs + source[e], bytes);
  return i + 1;
}

template <class T, class Index>
static const Inst *extractDynamic(Wave &w, const Inst *i) {
  T *d = w.reg<T>(i->dst);
  const T *a = w.reg<T>(i->a);
  const Index *index = w.reg<Index>(i->b);
  for (unsigned lane = 0; lane < w.lanes; ++lane)
    d[lane] = index[lane] < i->n ? a[index[lane] * w.lanes + lane] : T(~T(0));
  return i + 1;
}

template <class T, class Index>
static const Inst *insertDynamic(Wave &w, const Inst *i) {
  T *d = w.reg<T>(i->dst);
  const T *b = w.reg<T>(i->b);
  const Index *index = w.reg<Index>(i->c);
  std::memcpy(d, w.reg<T>(i->a), i->n * w.lanes * sizeof(T));
  for (unsigned lane = 0; lane < w.lanes; ++lane)
    if (index[lane] < i->n)
      d[index[lane] * w.lanes + lane] = b[lane];
  return i + 1;
}

/// v_perm_b32 (AMD): selectors 0..3 take bytes of the second operand, 4..7 of
/// the first, 8..11 the sign of a half, 12 is 0 and above is 0xff. prmt (PTX):
/// 0..3 take bytes of the first, bit 3 replicates the sign.
template <bool AMD> static const Inst *permuteBytes(Wave &w, const Inst *i) {
  const uint32_t *a = w.reg<uint32_t>(i->a), *b = w.reg<uint32_t>(i->b),
                 *c = w.reg<uint32_t>(i->c);
  uint32_t *d = w.reg<uint32_t>(i->dst);
  for (uint32_t k = 0; k < i->n; ++k) {
    uint64_t pool =
        AMD ? uint64_t(a[k]) << 32 | b[k] : uint64_t(b[k]) << 32 | a[k];
    uint32_t r = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      unsigned s =
          AMD ? (c[k] >> (8 * byte)) & 0xff : (c[k] >> (4 * byte)) & 15;
      uint32_t v;
      if (s < 8)
        v = (pool >> (8 * s)) & 0xff;
      else if (!AMD)
        v = (pool >> (8 * (s & 7) + 7)) & 1 ? 0xff : 0;
      else if (s < 12)
        v = (pool >> (16 * (s - 8) + 15)) & 1 ? 0xff : 0;
      else
        v = s == 12 ? 0 : 0xff;
      r |= v << (8 * byte);
    }
    d[k] = r;
  }
  return i + 1;
}

#define BY_SIZE(SIZE, TEMPLATE)                                                \
  switch (SIZE) {                                                              \
  case 1:                                                                      \
    return TEMPLATE(uint8_t);                                                  \
  case 2:                                                                      \
    return TEMPLATE(uint16_t);                                                 \
  case 4:                                                                      \
    return TEMPLATE(uint32_t);                                                 \
  case 8:                                                                      \
    return TEMPLATE(uint64_t);                                                 \
  default:                                                                     \
    return nullptr;                                                            \
  }

Handler mlir::evoformer::sim::castHandler(Cast cast, Kind from, Kind to) {
  switch (cast) {
  case Cast::Trunc:
    return pickIntInt<PickTrunc>(from, to);
  case Cast::ZExt:
    return pickIntInt<PickZExt>(from, to);
  case Cast::SExt:
    return pickIntInt<PickSExt>(from, to);
  case Cast::FPToSI:
  case Cast::FPToSISat:
    if (to == Kind::I1)
      return nullptr;
    return pickFloatInt<PickToSI>(from, to);
  case Cast::FPToUI:
  case Cast::FPToUISat:
    if (to == Kind::I1)
      return nullptr;
    return pickFloatInt<PickToUI>(from, to);
  case Cast::SIToFP:
    return pickFloatInt<PickFromSI>(to, from);
  case Cast::UIToFP:
    return pickFloatInt<PickFromUI>(to, from);
  case Cast::FPTrunc:
  case Cast::FPExt:
    switch (from) {
    case Kind::F16:
      return pickResize<Kind::F16>(to);
    case Kind::BF16:
      return pickResize<Kind::BF16>(to);
    case Kind::F32:
      return pickResize<Kind::F32>(to);
    case Kind::F64:
      return pickResize<Kind::F64>(to);
    default:
      return nullptr;
    }
  }
  return nullptr;
}

Handler mlir::evoformer::sim::truncateToHalfHandler() { return truncateToHalf; }

Handler mlir::evoformer::sim::selectHandler(unsigned size, bool scalar){
#define CALL(T) (scalar ? selectScalar<T> : selectLanes<T>)
    BY_SIZE(size, CALL)
#undef CALL
}

Handler mlir::evoformer::sim::moveHandler(unsigned size){
#define CALL(T) move<T>
    BY_SIZE(size, CALL)
#undef CALL
}

Handler mlir::evoformer::sim::bitcastHandler(unsigned from, unsigned to){
#define CALL(T) pickBitcast<T>(to)
    BY_SIZE(from, CALL)
#undef CALL
}

Handler mlir::evoformer::sim::gatherHandler(unsigned size){
#define CALL(T) gather<T>
    BY_SIZE(size, CALL)
#undef CALL
}

Handler mlir::evoformer::sim::extractDynamicHandler(unsigned size,
                                                    bool index64){
#define CALL(T)                                                                \
  (index64 ? extractDynamic<T, uint64_t> : extractDynamic<T, uint32_t>)
    BY_SIZE(size, CALL)
#undef CALL
}

Handler mlir::evoformer::sim::insertDynamicHandler(unsigned size, bool index64){
#define CALL(T)                                                                \
  (index64 ? insertDynamic<T, uint64_t> : insertDynamic<T, uint32_t>)
    BY_SIZE(size, CALL)
#undef CALL
}

Handler mlir::evoformer::sim::permuteBytesHandler(bool amd) {
  return amd ? permuteBytes<true> : permuteBytes<false>;
}
