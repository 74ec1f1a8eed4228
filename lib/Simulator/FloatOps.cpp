//===- FloatOps.cpp - Floating-point arithmetic over lanes ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float.h"
#include "Handlers.h"

using namespace mlir::evoformer::sim;

/// Rounds subnormals to zero of the same sign, as the transcendental units and
/// the .ftz forms do.
static float flush(float v) {
  return std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v) : v;
}

// Each operation works on the type to calculate in; f16 and bf16 round the
// result once more.
#define UNARY(NAME, EXPR)                                                      \
  struct NAME {                                                                \
    template <class T> static T apply(T a) { return EXPR; }                    \
  };
namespace {
UNARY(Sqrt, std::sqrt(a))
UNARY(Exp, std::exp(a))
UNARY(Exp2, std::exp2(a))
UNARY(Log, std::log(a))
UNARY(Log2, std::log2(a))
UNARY(Log10, std::log10(a))
UNARY(Sin, std::sin(a))
UNARY(Cos, std::cos(a))
UNARY(Tanh, std::tanh(a))
UNARY(Floor, std::floor(a))
UNARY(Ceil, std::ceil(a))
UNARY(Rint, std::nearbyint(a))
UNARY(Trunc, std::trunc(a))
UNARY(Round, std::round(a))
UNARY(Rcp, T(1) / a)
UNARY(Rsqrt, T(1) / std::sqrt(a))
// In f64, so that the one rounding to f32 is the correct one.
UNARY(Exp2Ftz, T(flush(float(std::exp2(double(flush(float(a))))))))
UNARY(Log2Ftz, T(flush(float(std::log2(double(flush(float(a))))))))
UNARY(RcpFtz, T(flush(1.0f / flush(float(a)))))
UNARY(RsqFtz, T(flush(float(1.0 / std::sqrt(double(flush(float(a))))))))
#undef UNARY
#define BINARY(NAME, EXPR)                                                     \
  struct NAME {                                                                \
    template <class T> static T apply(T a, T b) { return EXPR; }               \
  };
BINARY(Add, a + b)
BINARY(Sub, a - b)
BINARY(Mul, a *b)
BINARY(Div, a / b)
BINARY(Rem, std::fmod(a, b))
BINARY(Pow, std::pow(a, b))
#undef BINARY
/// The number, if only one operand is a NaN; -0 < +0.
struct MinNum {
  template <class T> static T apply(T a, T b) {
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? b : a;
    return a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct MaxNum {
  template <class T> static T apply(T a, T b) {
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? b : a;
    return a > b || (a == b && !std::signbit(a)) ? a : b;
  }
};
/// A NaN if any operand is one.
struct Minimum {
  template <class T> static T apply(T a, T b) {
    return std::isnan(a) || std::isnan(b) ? a + b : MinNum::apply(a, b);
  }
};
struct Maximum {
  template <class T> static T apply(T a, T b) {
    return std::isnan(a) || std::isnan(b) ? a + b : MaxNum::apply(a, b);
  }
};
/// CDNA3 ISA and RDNA3 ISA, V_MED3_F32: the smallest if one is a NaN.
struct Med3 {
  template <class T> static T apply(T a, T b, T c) {
    if (std::isnan(a) || std::isnan(b) || std::isnan(c))
      return MinNum::apply(MinNum::apply(a, b), c);
    return MaxNum::apply(MinNum::apply(a, b),
                         MinNum::apply(MaxNum::apply(a, b), c));
  }
};
} // namespace

template <class F, class Op> static const Inst *unary(Wave &w, const Inst *i) {
  using S = typename F::Storage;
  S *d = w.reg<S>(i->dst);
  const S *a = w.reg<S>(i->a);
  for (uint32_t k = 0, n = i->n; k < n; ++k)
    d[k] = F::store(Op::apply(F::load(a[k])));
  return i + 1;
}

template <class F, class Op> static const Inst *binary(Wave &w, const Inst *i) {
  using S = typename F::Storage;
  S *d = w.reg<S>(i->dst);
  const S *a = w.reg<S>(i->a), *b = w.reg<S>(i->b);
  for (uint32_t k = 0, n = i->n; k < n; ++k)
    d[k] = F::store(Op::apply(F::load(a[k]), F::load(b[k])));
  return i + 1;
}

template <class F, class Op>
static const Inst *ternary(Wave &w, const Inst *i) {
  using S = typename F::Storage;
  S *d = w.reg<S>(i->dst);
  const S *a = w.reg<S>(i->a), *b = w.reg<S>(i->b), *c = w.reg<S>(i->c);
  for (uint32_t k = 0, n = i->n; k < n; ++k)
    d[k] = F::store(Op::apply(F::load(a[k]), F::load(b[k]), F::load(c[k])));
  return i + 1;
}

template <class F> static const Inst *fusedMultiplyAdd(Wave &w, const Inst *i) {
  using S = typename F::Storage;
  S *d = w.reg<S>(i->dst);
  const S *a = w.reg<S>(i->a), *b = w.reg<S>(i->b), *c = w.reg<S>(i->c);
  for (uint32_t k = 0, n = i->n; k < n; ++k)
    d[k] = F::fma(a[k], b[k], c[k]);
  return i + 1;
}

namespace {
template <class F> struct BitsOf;
template <> struct BitsOf<F16> {
  using Type = uint16_t;
};
template <> struct BitsOf<BF16> {
  using Type = uint16_t;
};
template <> struct BitsOf<F32> {
  using Type = uint32_t;
};
template <> struct BitsOf<F64> {
  using Type = uint64_t;
};
/// Operations on the sign alone keep every other bit, NaNs included.
enum class Sign { Flip, Clear, Copy };
} // namespace

template <class F, Sign Op> static const Inst *sign(Wave &w, const Inst *i) {
  using U = typename BitsOf<F>::Type;
  constexpr U top = U(1) << (sizeof(U) * 8 - 1);
  U *d = w.reg<U>(i->dst);
  const U *a = w.reg<U>(i->a);
  const U *b = w.reg<U>(Op == Sign::Copy ? i->b : i->a);
  for (uint32_t k = 0, n = i->n; k < n; ++k) {
    if constexpr (Op == Sign::Flip)
      d[k] = a[k] ^ top;
    else if constexpr (Op == Sign::Clear)
      d[k] = a[k] & U(~top);
    else
      d[k] = U(a[k] & U(~top)) | U(b[k] & top);
  }
  return i + 1;
}

template <class F> static const Inst *ldexpOp(Wave &w, const Inst *i) {
  using S = typename F::Storage;
  S *d = w.reg<S>(i->dst);
  const S *a = w.reg<S>(i->a);
  const int32_t *b = w.reg<int32_t>(i->b);
  for (uint32_t k = 0, n = i->n; k < n; ++k)
    d[k] = F::storeDouble(std::ldexp(double(F::load(a[k])), b[k]));
  return i + 1;
}

template <class F, class Op, bool HasStart>
static const Inst *reduce(Wave &w, const Inst *i) {
  using S = typename F::Storage;
  S *d = w.reg<S>(i->dst);
  const S *a = w.reg<S>(i->a);
  for (unsigned lane = 0; lane < w.lanes; ++lane) {
    S r = HasStart ? w.reg<S>(i->b)[lane] : a[lane];
    for (uint32_t e = HasStart ? 0 : 1; e < i->n; ++e)
      r = F::store(Op::apply(F::load(r), F::load(a[e * w.lanes + lane])));
    d[lane] = r;
  }
  return i + 1;
}

template <class F> static Handler pick(FloatOp op) {
  switch (op) {
#define CASE(NAME, SHAPE)                                                      \
  case FloatOp::NAME:                                                          \
    return SHAPE<F, NAME>;
    CASE(Add, binary)
    CASE(Sub, binary)
    CASE(Mul, binary)
    CASE(Div, binary)
    CASE(Rem, binary)
    CASE(Pow, binary)
    CASE(MinNum, binary)
    CASE(MaxNum, binary)
    CASE(Minimum, binary)
    CASE(Maximum, binary)
    CASE(Sqrt, unary)
    CASE(Exp, unary)
    CASE(Exp2, unary)
    CASE(Log, unary)
    CASE(Log2, unary)
    CASE(Log10, unary)
    CASE(Sin, unary)
    CASE(Cos, unary)
    CASE(Tanh, unary)
    CASE(Floor, unary)
    CASE(Ceil, unary)
    CASE(Rint, unary)
    CASE(Trunc, unary)
    CASE(Round, unary)
    CASE(Rcp, unary)
    CASE(Rsqrt, unary)
    CASE(Exp2Ftz, unary)
    CASE(Log2Ftz, unary)
    CASE(RcpFtz, unary)
    CASE(RsqFtz, unary)
    CASE(Med3, ternary)
#undef CASE
  case FloatOp::Roundeven:
    return unary<F, Rint>;
  case FloatOp::Neg:
    return sign<F, Sign::Flip>;
  case FloatOp::Abs:
    return sign<F, Sign::Clear>;
  case FloatOp::Copysign:
    return sign<F, Sign::Copy>;
  case FloatOp::FMA:
    return fusedMultiplyAdd<F>;
  case FloatOp::Ldexp:
    return ldexpOp<F>;
  }
  return nullptr;
}

template <class F, bool HasStart> static Handler pickReduce(FloatOp op) {
  switch (op) {
  case FloatOp::Add:
    return reduce<F, Add, HasStart>;
  case FloatOp::Mul:
    return reduce<F, Mul, HasStart>;
  case FloatOp::MinNum:
    return reduce<F, MinNum, HasStart>;
  case FloatOp::MaxNum:
    return reduce<F, MaxNum, HasStart>;
  case FloatOp::Minimum:
    return reduce<F, Minimum, HasStart>;
  case FloatOp::Maximum:
    return reduce<F, Maximum, HasStart>;
  default:
    return nullptr;
  }
}

/// Predicates are numbered as bits: 1 equal, 2 greater, 4 less, 8 unordered.
template <class F, unsigned P>
static const Inst *compare(Wave &w, const Inst *i) {
  using S = typename F::Storage;
  uint8_t *d = w.reg<uint8_t>(i->dst);
  const S *a = w.reg<S>(i->a), *b = w.reg<S>(i->b);
  for (uint32_t k = 0, n = i->n; k < n; ++k) {
    auto x = F::load(a[k]), y = F::load(b[k]);
    bool r = (P & 1) && x == y;
    r |= (P & 2) && x > y;
    r |= (P & 4) && x < y;
    r |= (P & 8) && (std::isnan(x) || std::isnan(y));
    d[k] = r;
  }
  return i + 1;
}

template <class F> static Handler pickCompare(unsigned predicate) {
  static const Handler table[] = {
      compare<F, 0>,  compare<F, 1>,  compare<F, 2>,  compare<F, 3>,
      compare<F, 4>,  compare<F, 5>,  compare<F, 6>,  compare<F, 7>,
      compare<F, 8>,  compare<F, 9>,  compare<F, 10>, compare<F, 11>,
      compare<F, 12>, compare<F, 13>, compare<F, 14>, compare<F, 15>};
  return predicate < 16 ? table[predicate] : nullptr;
}

#define DISPATCH(CALL)                                                         \
  switch (kind) {                                                              \
  case Kind::F16:                                                              \
    return CALL(F16);                                                          \
  case Kind::BF16:                                                             \
    return CALL(BF16);                                                         \
  case Kind::F32:                                                              \
    return CALL(F32);                                                          \
  case Kind::F64:                                                              \
    return CALL(F64);                                                          \
  default:                                                                     \
    return nullptr;                                                            \
  }

Handler mlir::evoformer::sim::floatHandler(FloatOp op, Kind kind){
#define CALL(F) pick<F>(op)
    DISPATCH(CALL)
#undef CALL
}

Handler mlir::evoformer::sim::fcmpHandler(unsigned predicate, Kind kind){
#define CALL(F) pickCompare<F>(predicate)
    DISPATCH(CALL)
#undef CALL
}

Handler mlir::evoformer::sim::reduceFloatHandler(FloatOp op, Kind kind,
                                                 bool hasStart) {
#define CALL(F) (hasStart ? pickReduce<F, true>(op) : pickReduce<F, false>(op))
  DISPATCH(CALL)
#undef CALL
}
