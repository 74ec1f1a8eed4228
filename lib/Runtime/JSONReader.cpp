//===- JSONReader.cpp - Reading a plan's JSON with readable errors --------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JSONReader.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace mlir::evoformer::runtime {

const json::Object &JSONReader::asObject(const json::Value &value,
                                         StringRef what) {
  static const json::Object empty;
  if (const json::Object *object = value.getAsObject())
    return *object;
  fail(what + " is no object");
  return empty;
}

const json::Array &JSONReader::getArray(const json::Object &object,
                                        StringRef key, bool optional) {
  static const json::Array empty;
  const json::Value *member = object.get(key);
  if (!member && optional)
    return empty;
  if (const json::Array *array = member ? member->getAsArray() : nullptr)
    return *array;
  fail("no list '" + key + "'");
  return empty;
}

StringRef JSONReader::getString(const json::Object &object, StringRef key) {
  if (std::optional<StringRef> text = object.getString(key))
    return *text;
  fail("no string '" + key + "'");
  return "";
}

int64_t JSONReader::getInteger(const json::Object &object, StringRef key) {
  if (const json::Value *member = object.get(key))
    return asInteger(*member, key);
  fail("no integer '" + key + "'");
  return 0;
}

int64_t JSONReader::asInteger(const json::Value &value, StringRef what) {
  if (std::optional<int64_t> number = value.getAsInteger())
    return *number;
  fail("'" + what + "' is no integer");
  return 0;
}

std::optional<ValueId> JSONReader::asValue(const json::Value &value) {
  std::optional<StringRef> text = value.getAsString();
  if (!text)
    return std::nullopt;
  uint64_t id = 0;
  StringRef digits = *text;
  if (!digits.consume_front("%") || digits.getAsInteger(10, id) ||
      id >= maxPlanValues) {
    fail("'" + *text + "' is no value");
    return 0;
  }
  return static_cast<ValueId>(id);
}

PlanType JSONReader::getType(const json::Object &object, StringRef key) {
  if (const json::Value *member = object.get(key))
    return asType(*member);
  fail("no type '" + key + "'");
  return {};
}

PlanType JSONReader::asType(const json::Value &value) {
  if (const json::Object *object = value.getAsObject())
    return asMemRefType(*object);
  PlanType type;
  StringRef name = value.getAsString().value_or("");
  if (name == "index")
    return type;
  StringRef digits = name;
  unsigned width = 0;
  if (digits.consume_front("i") && !digits.getAsInteger(10, width) &&
      width >= 1 && width <= 64) {
    type.width = width;
    return type;
  }
  if (name == "f32" || name == "f64") {
    type.kind = PlanType::Kind::Float;
    type.width = name == "f32" ? 32 : 64;
    return type;
  }
  fail("unknown type '" + name + "'");
  return type;
}

void JSONReader::readExtents(const json::Array &array,
                             SmallVectorImpl<int64_t> &out, StringRef what) {
  for (const json::Value &value : array)
    out.push_back(value.kind() == json::Value::Null ? dynamicExtent
                                                    : asInteger(value, what));
}

PlanType JSONReader::asMemRefType(const json::Object &object) {
  PlanType type;
  type.kind = PlanType::Kind::MemRef;
  StringRef name = getString(object, "memref");
  if (std::optional<ElementType> element = parseElementType(name))
    type.elementType = *element;
  else
    fail("unknown element type '" + name + "'");
  readExtents(getArray(object, "shape"), type.shape, "shape");
  readExtents(getArray(object, "strides"), type.strides, "strides");
  if (type.shape.size() != type.strides.size())
    fail("a memref type's shape and strides differ in length");
  for (int64_t size : type.shape)
    if (size < 0 && size != dynamicExtent)
      fail("negative size in a memref type");
  const json::Value *offset = object.get("offset");
  if (!offset || offset->kind() == json::Value::Null)
    type.offset = dynamicExtent;
  else
    type.offset = asInteger(*offset, "offset");
  return type;
}

} // namespace mlir::evoformer::runtime
