//===- ElementType.cpp - Element types of buffers -------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/ElementType.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;

namespace mlir::evoformer::runtime {

unsigned getByteSize(ElementType type) {
  switch (type) {
  case ElementType::I1:
  case ElementType::I8:
    return 1;
  case ElementType::I16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::I32:
  case ElementType::F32:
    return 4;
  case ElementType::I64:
  case ElementType::F64:
    return 8;
  }
  return 0;
}

bool isFloat(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 ||
         type == ElementType::F32 || type == ElementType::F64;
}

StringRef getName(ElementType type) {
  switch (type) {
  case ElementType::I1:
    return "i1";
  case ElementType::I8:
    return "i8";
  case ElementType::I16:
    return "i16";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F32:
    return "f32";
  case ElementType::F64:
    return "f64";
  }
  return "";
}

std::optional<ElementType> parseElementType(StringRef name) {
  return StringSwitch<std::optional<ElementType>>(name)
      .Case("i1", ElementType::I1)
      .Case("i8", ElementType::I8)
      .Case("i16", ElementType::I16)
      .Case("i32", ElementType::I32)
      .Case("i64", ElementType::I64)
      .Case("f16", ElementType::F16)
      .Case("bf16", ElementType::BF16)
      .Case("f32", ElementType::F32)
      .Case("f64", ElementType::F64)
      .Default(std::nullopt);
}

std::optional<int64_t> getByteCount(ElementType type, ArrayRef<int64_t> shape) {
  // A zero anywhere makes the tensor empty, however large the other sizes.
  for (int64_t size : shape)
    if (size < 0)
      return std::nullopt;
  if (is_contained(shape, 0))
    return 0;
  int64_t bytes = getByteSize(type);
  for (int64_t size : shape)
    if (MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return bytes;
}

/// Reads a 16-bit float of the given format.
static double readSmallFloat(const fltSemantics &semantics, const char *data) {
  uint16_t bits;
  std::memcpy(&bits, data, 2);
  return APFloat(semantics, APInt(16, bits)).convertToDouble();
}

static void writeSmallFloat(const fltSemantics &semantics, double value,
                            char *data) {
  APFloat rounded(value);
  bool losesInfo = false;
  rounded.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  auto bits = static_cast<uint16_t>(rounded.bitcastToAPInt().getZExtValue());
  std::memcpy(data, &bits, 2);
}

template <typename T> static double readAs(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return static_cast<double>(value);
}

template <typename T> static void writeAs(double value, char *data) {
  T converted = static_cast<T>(value);
  std::memcpy(data, &converted, sizeof(T));
}

double readElement(ElementType type, const char *data) {
  switch (type) {
  case ElementType::I1:
    return *data != 0;
  case ElementType::I8:
    return readAs<int8_t>(data);
  case ElementType::I16:
    return readAs<int16_t>(data);
  case ElementType::I32:
    return readAs<int32_t>(data);
  case ElementType::I64:
    return readAs<int64_t>(data);
  case ElementType::F16:
    return readSmallFloat(APFloat::IEEEhalf(), data);
  case ElementType::BF16:
    return readSmallFloat(APFloat::BFloat(), data);
  case ElementType::F32:
    return readAs<float>(data);
  case ElementType::F64:
    return readAs<double>(data);
  }
  return 0;
}

void writeElement(ElementType type, double value, char *data) {
  switch (type) {
  case ElementType::I1:
    *data = value != 0;
    return;
  case ElementType::I8:
    return writeAs<int8_t>(value, data);
  case ElementType::I16:
    return writeAs<int16_t>(value, data);
  case ElementType::I32:
    return writeAs<int32_t>(value, data);
  case ElementType::I64:
    return writeAs<int64_t>(value, data);
  case ElementType::F16:
    return writeSmallFloat(APFloat::IEEEhalf(), value, data);
  case ElementType::BF16:
    return writeSmallFloat(APFloat::BFloat(), value, data);
  case ElementType::F32:
    return writeAs<float>(value, data);
  case ElementType::F64:
    return writeAs<double>(value, data);
  }
}

std::string formatShape(ElementType type, ArrayRef<int64_t> shape) {
  std::string text;
  raw_string_ostream os(text);
  for (int64_t size : shape)
    os << size << 'x';
  os << getName(type);
  return text;
}

} // namespace mlir::evoformer::runtime
