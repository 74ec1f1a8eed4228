//===- IntegerOps.cpp - Integer arithmetic over lanes ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handlers.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <type_traits>

using namespace mlir::evoformer::sim;

namespace {
template <class T> using Signed = std::make_signed_t<T>;
} // namespace

template <class T> static constexpr unsigned widthOf = sizeof(T) * 8;

// LLVM gives poison where C++ is undefined; any value will do, but it must not
// trap: shifts by too much and division by zero give 0 and a finding.
#define BINARY(NAME, EXPR)                                                     \
  template <class T> struct NAME {                                             \
    static T apply(T a, T b) {                                                 \
      using S [[maybe_unused]] = Signed<T>;                                    \
      return T(EXPR);                                                          \
    }                                                                          \
  };
namespace {
BINARY(Add, a + b)
BINARY(Sub, a - b)
BINARY(Mul, uint64_t(a) * uint64_t(b))
BINARY(And, a &b)
BINARY(Or, a | b)
BINARY(Xor, a ^ b)
BINARY(Shl, b < widthOf<T> ? uint64_t(a) << b : 0)
BINARY(LShr, b < widthOf<T> ? a >> b : 0)
BINARY(AShr, S(a) >> (b < widthOf<T> ? b : T(widthOf<T> - 1)))
BINARY(SDiv, b == 0 ? 0 : S(b) == -1 ? T(0 - a) : T(S(a) / S(b)))
BINARY(UDiv, b == 0 ? 0 : a / b)
BINARY(SRem, b == 0 || S(b) == -1 ? 0 : T(S(a) % S(b)))
BINARY(URem, b == 0 ? 0 : a % b)
BINARY(SMin, S(a) < S(b) ? a : b)
BINARY(SMax, S(a) > S(b) ? a : b)
BINARY(UMin, a < b ? a : b)
BINARY(UMax, a > b ? a : b)
// CDNA3 ISA, V_MUL_U32_U24 and V_MUL_I32_I24: the upper bits do not count.
BINARY(MulU24, uint64_t(a & 0xffffff) * uint64_t(b & 0xffffff))
BINARY(MulI24, llvm::SignExtend64<24>(a) * llvm::SignExtend64<24>(b))
BINARY(UAddSat, T(a + b) < a ? std::numeric_limits<T>::max() : T(a + b))
BINARY(USubSat, a < b ? 0 : a - b)
#undef BINARY
} // namespace

template <class T> static T clampToSigned(__int128 v) {
  using L = std::numeric_limits<Signed<T>>;
  return T(v < L::min() ? L::min() : v > L::max() ? L::max() : Signed<T>(v));
}

namespace {
template <class T> struct SAddSat {
  static T apply(T a, T b) {
    return clampToSigned<T>(__int128(Signed<T>(a)) + Signed<T>(b));
  }
};
template <class T> struct SSubSat {
  static T apply(T a, T b) {
    return clampToSigned<T>(__int128(Signed<T>(a)) - Signed<T>(b));
  }
};
#define UNARY(NAME, EXPR)                                                      \
  template <class T> struct NAME {                                             \
    static T apply(T a) {                                                      \
      constexpr unsigned w [[maybe_unused]] = widthOf<T>;                      \
      return T(EXPR);                                                          \
    }                                                                          \
  };
UNARY(Ctpop, __builtin_popcountll(a))
UNARY(Ctlz, a == 0 ? w : __builtin_clzll(uint64_t(a)) - (64 - w))
UNARY(Cttz, a == 0 ? w : __builtin_ctzll(a))
UNARY(Abs, Signed<T>(a) < 0 ? T(0 - a) : a)
UNARY(Bitreverse, __builtin_bitreverse64(a) >> (64 - w))
UNARY(Bswap, __builtin_bswap64(a) >> (64 - w))
#undef UNARY
template <class T> struct Fshl {
  static T apply(T a, T b, T c) {
    unsigned s = c % widthOf<T>;
    return s ? T(uint64_t(a) << s | b >> (widthOf<T> - s)) : a;
  }
};
template <class T> struct Fshr {
  static T apply(T a, T b, T c) {
    unsigned s = c % widthOf<T>;
    return s ? T(uint64_t(a) << (widthOf<T> - s) | b >> s) : b;
  }
};

template <class T, class Op> struct Unary {
  static const Inst *run(Wave &w, const Inst *i) {
    T *d = w.reg<T>(i->dst);
    const T *a = w.reg<T>(i->a);
    for (uint32_t k = 0, n = i->n; k < n; ++k)
      d[k] = Op::apply(a[k]);
    return i + 1;
  }
};

template <class T, class Op> struct Binary {
  static const Inst *run(Wave &w, const Inst *i) {
    T *d = w.reg<T>(i->dst);
    const T *a = w.reg<T>(i->a), *b = w.reg<T>(i->b);
    for (uint32_t k = 0, n = i->n; k < n; ++k)
      d[k] = Op::apply(a[k], b[k]);
    return i + 1;
  }
};

template <class T, class Op> struct Ternary {
  static const Inst *run(Wave &w, const Inst *i) {
    T *d = w.reg<T>(i->dst);
    const T *a = w.reg<T>(i->a), *b = w.reg<T>(i->b), *c = w.reg<T>(i->c);
    for (uint32_t k = 0, n = i->n; k < n; ++k)
      d[k] = Op::apply(a[k], b[k], c[k]);
    return i + 1;
  }
};

template <class T, class Op> struct Divide {
  static const Inst *run(Wave &w, const Inst *i) {
    const T *b = w.reg<T>(i->b);
    for (uint32_t k = 0; k < i->n; ++k) {
      unsigned lane = k % w.lanes;
      if (b[k] == 0 && (w.mask >> lane & 1))
        report(w, i, FindingKind::DivisionByZero, lane, 0,
               [] { return std::string("division by zero"); });
    }
    return Binary<T, Op>::run(w, i);
  }
};

template <class T, class Op> struct Shift {
  static const Inst *run(Wave &w, const Inst *i) {
    const T *b = w.reg<T>(i->b);
    for (uint32_t k = 0; k < i->n; ++k) {
      unsigned lane = k % w.lanes;
      if (b[k] >= widthOf<T> && (w.mask >> lane & 1))
        report(w, i, FindingKind::UndefinedShift, lane, 0, [&] {
          return "shifts " + std::to_string(widthOf<T>) + " bits by " +
                 std::to_string(uint64_t(b[k]));
        });
    }
    return Binary<T, Op>::run(w, i);
  }
};
} // namespace

/// What runs `Op` in this form on the type of `kind`.
template <template <class, class> class Form, template <class> class Op>
static Handler pick(Kind kind) {
  switch (kind) {
  case Kind::I8:
    return Form<uint8_t, Op<uint8_t>>::run;
  case Kind::I16:
    return Form<uint16_t, Op<uint16_t>>::run;
  case Kind::I32:
    return Form<uint32_t, Op<uint32_t>>::run;
  case Kind::I64:
    return Form<uint64_t, Op<uint64_t>>::run;
  default:
    return nullptr;
  }
}

/// On one bit, addition is exclusive or, multiplication is and; -1 < 0.
static Handler pickBit(IntOp op) {
  switch (op) {
  case IntOp::Add:
  case IntOp::Sub:
  case IntOp::Xor:
    return Binary<uint8_t, Xor<uint8_t>>::run;
  case IntOp::Mul:
  case IntOp::And:
  case IntOp::UMin:
  case IntOp::SMax:
    return Binary<uint8_t, And<uint8_t>>::run;
  case IntOp::Or:
  case IntOp::UMax:
  case IntOp::SMin:
    return Binary<uint8_t, Or<uint8_t>>::run;
  default:
    return nullptr;
  }
}

namespace {
enum Predicate { EQ, NE, SLT, SLE, SGT, SGE, ULT, ULE, UGT, UGE };
} // namespace

template <class T, Predicate P>
static const Inst *compare(Wave &w, const Inst *i) {
  using S = Signed<T>;
  uint8_t *d = w.reg<uint8_t>(i->dst);
  const T *a = w.reg<T>(i->a), *b = w.reg<T>(i->b);
  for (uint32_t k = 0, n = i->n; k < n; ++k) {
    if constexpr (P == EQ)
      d[k] = a[k] == b[k];
    else if constexpr (P == NE)
      d[k] = a[k] != b[k];
    else if constexpr (P == SLT)
      d[k] = S(a[k]) < S(b[k]);
    else if constexpr (P == SLE)
      d[k] = S(a[k]) <= S(b[k]);
    else if constexpr (P == SGT)
      d[k] = S(a[k]) > S(b[k]);
    else if constexpr (P == SGE)
      d[k] = S(a[k]) >= S(b[k]);
    else if constexpr (P == ULT)
      d[k] = a[k] < b[k];
    else if constexpr (P == ULE)
      d[k] = a[k] <= b[k];
    else if constexpr (P == UGT)
      d[k] = a[k] > b[k];
    else
      d[k] = a[k] >= b[k];
  }
  return i + 1;
}

template <class T> static Handler pickCompare(unsigned predicate) {
  static const Handler table[] = {
      compare<T, EQ>,  compare<T, NE>,  compare<T, SLT>, compare<T, SLE>,
      compare<T, SGT>, compare<T, SGE>, compare<T, ULT>, compare<T, ULE>,
      compare<T, UGT>, compare<T, UGE>};
  return predicate < 10 ? table[predicate] : nullptr;
}

template <class T, class Op, bool HasStart>
static const Inst *reduce(Wave &w, const Inst *i) {
  T *d = w.reg<T>(i->dst);
  const T *a = w.reg<T>(i->a);
  for (unsigned lane = 0; lane < w.lanes; ++lane) {
    T r = HasStart ? w.reg<T>(i->b)[lane] : a[lane];
    for (uint32_t e = HasStart ? 0 : 1; e < i->n; ++e)
      r = Op::apply(r, a[e * w.lanes + lane]);
    d[lane] = r;
  }
  return i + 1;
}

template <template <class> class Op> static Handler pickReduce(Kind kind) {
  switch (kind) {
  case Kind::I1:
  case Kind::I8:
    return reduce<uint8_t, Op<uint8_t>, false>;
  case Kind::I16:
    return reduce<uint16_t, Op<uint16_t>, false>;
  case Kind::I32:
    return reduce<uint32_t, Op<uint32_t>, false>;
  case Kind::I64:
    return reduce<uint64_t, Op<uint64_t>, false>;
  default:
    return nullptr;
  }
}

template <class Index, class T>
static const Inst *address(Wave &w, const Inst *i) {
  T *d = w.reg<T>(i->dst);
  const T *a = w.reg<T>(i->a);
  const Index *b = w.reg<Index>(i->b);
  for (unsigned lane = 0; lane < w.lanes; ++lane)
    d[lane] =
        T(uint64_t(a[lane]) + uint64_t(int64_t(b[lane])) * i->imm64 + i->imm2);
  return i + 1;
}

Handler mlir::evoformer::sim::intHandler(IntOp op, Kind kind) {
  if (kind == Kind::I1)
    return pickBit(op);
  switch (op) {
#define CASE(NAME)                                                             \
  case IntOp::NAME:                                                            \
    return pick<Binary, NAME>(kind);
    CASE(Add)
    CASE(Sub)
    CASE(Mul)
    CASE(And)
    CASE(Or)
    CASE(Xor)
    CASE(SMin)
    CASE(SMax)
    CASE(UMin)
    CASE(UMax)
    CASE(MulU24)
    CASE(MulI24)
    CASE(UAddSat)
    CASE(USubSat)
    CASE(SAddSat)
    CASE(SSubSat)
#undef CASE
  case IntOp::Shl:
    return pick<Shift, Shl>(kind);
  case IntOp::LShr:
    return pick<Shift, LShr>(kind);
  case IntOp::AShr:
    return pick<Shift, AShr>(kind);
  case IntOp::SDiv:
    return pick<Divide, SDiv>(kind);
  case IntOp::UDiv:
    return pick<Divide, UDiv>(kind);
  case IntOp::SRem:
    return pick<Divide, SRem>(kind);
  case IntOp::URem:
    return pick<Divide, URem>(kind);
  case IntOp::Ctpop:
    return pick<Unary, Ctpop>(kind);
  case IntOp::Ctlz:
    return pick<Unary, Ctlz>(kind);
  case IntOp::Cttz:
    return pick<Unary, Cttz>(kind);
  case IntOp::Abs:
    return pick<Unary, Abs>(kind);
  case IntOp::Bitreverse:
    return pick<Unary, Bitreverse>(kind);
  case IntOp::Bswap:
    return pick<Unary, Bswap>(kind);
  case IntOp::Fshl:
    return kind == Kind::I8 ? nullptr : pick<Ternary, Fshl>(kind);
  case IntOp::Fshr:
    return kind == Kind::I8 ? nullptr : pick<Ternary, Fshr>(kind);
  }
  return nullptr;
}

Handler mlir::evoformer::sim::icmpHandler(unsigned predicate, Kind kind) {
  switch (kind) {
  case Kind::I1:
    // The only signed order on one bit is the reverse of the unsigned one.
    if (predicate >= SLT && predicate <= SGE) {
      static const unsigned reversed[] = {UGT, UGE, ULT, ULE};
      predicate = reversed[predicate - SLT];
    }
    return pickCompare<uint8_t>(predicate);
  case Kind::I8:
    return pickCompare<uint8_t>(predicate);
  case Kind::I16:
    return pickCompare<uint16_t>(predicate);
  case Kind::I32:
    return pickCompare<uint32_t>(predicate);
  case Kind::I64:
    return pickCompare<uint64_t>(predicate);
  default:
    return nullptr;
  }
}

Handler mlir::evoformer::sim::reduceIntHandler(IntOp op, Kind kind,
                                               bool hasStart) {
  if (hasStart)
    return nullptr;
  if (kind == Kind::I1) {
    if (op == IntOp::Add)
      op = IntOp::Xor;
    if (op == IntOp::Mul || op == IntOp::UMin || op == IntOp::SMax)
      op = IntOp::And;
    if (op == IntOp::UMax || op == IntOp::SMin)
      op = IntOp::Or;
  }
  switch (op) {
#define CASE(NAME)                                                             \
  case IntOp::NAME:                                                            \
    return pickReduce<NAME>(kind);
    CASE(Add)
    CASE(Mul)
    CASE(And)
    CASE(Or)
    CASE(Xor)
    CASE(SMin)
    CASE(SMax)
    CASE(UMin)
    CASE(UMax)
#undef CASE
  default:
    return nullptr;
  }
}

Handler mlir::evoformer::sim::addressHandler(bool pointer64,
                                             unsigned indexSize) {
  switch (indexSize) {
  case 1:
    return pointer64 ? address<int8_t, uint64_t> : address<int8_t, uint32_t>;
  case 2:
    return pointer64 ? address<int16_t, uint64_t> : address<int16_t, uint32_t>;
  case 4:
    return pointer64 ? address<int32_t, uint64_t> : address<int32_t, uint32_t>;
  case 8:
    return pointer64 ? address<int64_t, uint64_t> : address<int64_t, uint32_t>;
  default:
    return nullptr;
  }
}
