//===- Numbers.cpp - Element types of the reference -----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Reference/Numbers.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::evoformer::reference;

namespace {
/// A binary interchange format: stored significand bits and the exponents of
/// the smallest and largest normal numbers.
struct Format {
  int significandBits;
  int minExponent;
  int maxExponent;
};
} // namespace

static Format formatOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return {10, -14, 15};
  case ElementType::BF16:
    return {7, -126, 127};
  case ElementType::F32:
    return {23, -126, 127};
  case ElementType::F64:
  case ElementType::I1:
    break;
  }
  return {52, -1022, 1023};
}

/// Exponent of the unit in the last place at a finite, non-zero value.
static int ulpExponent(double value, const Format &format) {
  int exponent;
  std::frexp(value, &exponent);
  return std::max(exponent - 1, format.minExponent) - format.significandBits;
}

int64_t mlir::evoformer::reference::sizeOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::F32:
    return 4;
  case ElementType::F64:
    return 8;
  case ElementType::I1:
    break;
  }
  return 1;
}

template <typename T> static T load(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T> static void store(void *data, int64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * sizeof(T), &value, sizeof(T));
}

static double decodeF16(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  int significand = bits & 1023;
  double magnitude;
  if (exponent == 31)
    magnitude = significand ? std::numeric_limits<double>::quiet_NaN()
                            : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(significand, -24);
  else
    magnitude = std::ldexp(significand + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

static uint16_t encodeF16(double rounded) {
  uint16_t sign = std::signbit(rounded) ? 0x8000 : 0;
  double magnitude = std::fabs(rounded);
  if (std::isnan(rounded))
    return sign | 0x7e00;
  if (std::isinf(rounded))
    return sign | 0x7c00;
  if (magnitude < std::ldexp(1.0, -14))
    return sign | static_cast<uint16_t>(std::ldexp(magnitude, 24));
  int exponent;
  double fraction = std::frexp(magnitude, &exponent);
  auto significand = static_cast<uint16_t>(std::ldexp(fraction, 11));
  return sign | static_cast<uint16_t>((exponent + 14) << 10) |
         (significand & 1023);
}

double mlir::evoformer::reference::readElement(const void *data,
                                               ElementType type,
                                               int64_t index) {
  switch (type) {
  case ElementType::F16:
    return decodeF16(load<uint16_t>(data, index));
  case ElementType::BF16: {
    uint32_t bits = static_cast<uint32_t>(load<uint16_t>(data, index)) << 16;
    return load<float>(&bits, 0);
  }
  case ElementType::F32:
    return load<float>(data, index);
  case ElementType::F64:
    return load<double>(data, index);
  case ElementType::I1:
    break;
  }
  return load<uint8_t>(data, index) != 0;
}

void mlir::evoformer::reference::writeElement(void *data, ElementType type,
                                              int64_t index, double value) {
  switch (type) {
  case ElementType::F16:
    return store(data, index, encodeF16(roundTo(value, type)));
  case ElementType::BF16: {
    auto rounded = static_cast<float>(roundTo(value, type));
    return store(data, index,
                 static_cast<uint16_t>(load<uint32_t>(&rounded, 0) >> 16));
  }
  case ElementType::F32:
    return store(data, index, static_cast<float>(value));
  case ElementType::F64:
    return store(data, index, value);
  case ElementType::I1:
    return store<uint8_t>(data, index, value != 0);
  }
}

double mlir::evoformer::reference::roundTo(double value, ElementType type) {
  if (type == ElementType::F64)
    return value;
  if (type == ElementType::F32)
    return static_cast<float>(value);
  if (value == 0 || !std::isfinite(value))
    return value;
  Format format = formatOf(type);
  double rounded;
  if (std::fabs(value) < std::ldexp(1.0, format.minExponent)) {
    // Subnormal numbers are the multiples of the smallest one.
    int exponent = format.minExponent - format.significandBits;
    rounded =
        std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
  } else {
    // The bits below the last place go; a carry moves into the exponent.
    int dropped = 52 - format.significandBits;
    auto bits = load<uint64_t>(&value, 0);
    uint64_t last = (bits >> dropped) & 1;
    bits += (uint64_t(1) << (dropped - 1)) - 1 + last;
    bits &= ~((uint64_t(1) << dropped) - 1);
    rounded = load<double>(&bits, 0);
  }
  if (std::fabs(rounded) >= std::ldexp(1.0, format.maxExponent + 1))
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

double mlir::evoformer::reference::ulpOf(double value, ElementType type) {
  Format format = formatOf(type);
  if (value == 0)
    return std::ldexp(1.0, format.minExponent - format.significandBits);
  return std::ldexp(1.0, ulpExponent(value, format));
}
