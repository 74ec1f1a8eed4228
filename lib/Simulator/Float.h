//===- Float.h - Formats narrower than f32, rounded correctly ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on f16 and bf16 is done in f32 and rounded once more. For add,
// subtract, multiply, divide and square root that is correct rounding, because
// f32 has more than twice their precision plus two bits. Where a wider value
// is narrowed twice, the first step rounds to odd, which the second cannot
// mistake for a tie.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_SIMULATOR_FLOAT_H
#define EVOFORMER_LIB_SIMULATOR_FLOAT_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace mlir::evoformer::sim {

template <class To, class From> inline To bitsTo(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

inline float bf16ToFloat(uint16_t bits) {
  return bitsTo<float>(uint32_t(bits) << 16);
}

inline uint16_t floatToBF16(float value) {
  uint32_t bits = bitsTo<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40;
  return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

inline float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t rest = uint32_t(bits & 0x7fff) << 13;
  // Scaling by 2^112 moves the exponent's bias and normalises subnormals.
  uint32_t finite = bitsTo<uint32_t>(bitsTo<float>(rest) * 0x1p112f);
  uint32_t special = rest | 0x7f800000;
  return bitsTo<float>(sign | ((bits & 0x7c00) == 0x7c00 ? special : finite));
}

inline uint16_t floatToHalf(float value) {
  uint32_t bits = bitsTo<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return uint16_t(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  if (magnitude >= 0x477ff000) // rounds to 2^16 or is above
    return uint16_t(sign | 0x7c00);
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 puts the last bit of the result at 2^-24, so the
    // addition itself rounds.
    float shifted = bitsTo<float>(magnitude) + 0.5f;
    return uint16_t(sign | (bitsTo<uint32_t>(shifted) - 0x3f000000));
  }
  uint32_t rounded = magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1);
  return uint16_t(sign | (rounded >> 13));
}

/// Truncates and makes the last bit odd if anything was lost.
inline float toFloatOdd(double value) {
  float rounded = float(value);
  if (double(rounded) == value || std::isnan(value) || std::isinf(rounded))
    return rounded;
  uint32_t bits = bitsTo<uint32_t>(rounded);
  if (std::fabs(double(rounded)) > std::fabs(value))
    --bits;
  return bitsTo<float>(bits | 1);
}
inline uint16_t doubleToHalf(double v) { return floatToHalf(toFloatOdd(v)); }
inline uint16_t doubleToBF16(double v) { return floatToBF16(toFloatOdd(v)); }

/// a * b + c for factors whose product is exact in f64, rounded to odd.
inline double fmaOdd(double a, double b, double c) {
  double product = a * b;
  double sum = product + c;
  if (std::isnan(sum) || std::isinf(sum))
    return sum;
  // The error of the addition, exactly (Knuth's TwoSum).
  double cPart = sum - product;
  double error = (product - (sum - cPart)) + (c - cPart);
  uint64_t bits = bitsTo<uint64_t>(sum);
  if (error == 0 || (bits & 1))
    return sum;
  // The even sum was rounded: step towards zero if it grew, then set the bit.
  if ((error < 0) == (sum > 0))
    --bits;
  return bitsTo<double>(bits | 1);
}

/// A floating-point format: how it is stored, and the type to calculate in.
struct F16 {
  using Storage = uint16_t;
  using Compute = float;
  static float load(uint16_t v) { return halfToFloat(v); }
  static uint16_t store(float v) { return floatToHalf(v); }
  static uint16_t storeDouble(double v) { return doubleToHalf(v); }
  static uint16_t fma(uint16_t a, uint16_t b, uint16_t c) {
    return doubleToHalf(fmaOdd(load(a), load(b), load(c)));
  }
};
struct BF16 {
  using Storage = uint16_t;
  using Compute = float;
  static float load(uint16_t v) { return bf16ToFloat(v); }
  static uint16_t store(float v) { return floatToBF16(v); }
  static uint16_t storeDouble(double v) { return doubleToBF16(v); }
  static uint16_t fma(uint16_t a, uint16_t b, uint16_t c) {
    return doubleToBF16(fmaOdd(load(a), load(b), load(c)));
  }
};
struct F32 {
  using Storage = float;
  using Compute = float;
  static float load(float v) { return v; }
  static float store(float v) { return v; }
  static float storeDouble(double v) { return float(v); }
  static float fma(float a, float b, float c) { return std::fma(a, b, c); }
};
struct F64 {
  using Storage = double;
  using Compute = double;
  static double load(double v) { return v; }
  static double store(double v) { return v; }
  static double storeDouble(double v) { return v; }
  static double fma(double a, double b, double c) { return std::fma(a, b, c); }
};

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_LIB_SIMULATOR_FLOAT_H
