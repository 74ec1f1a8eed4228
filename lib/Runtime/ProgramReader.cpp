//===- ProgramReader.cpp - Decoding a plan's functions --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mlir::evoformer::runtime {

using Kind = PlanType::Kind;

static PlanType integerType(unsigned width) {
  PlanType type;
  type.width = width;
  return type;
}

void ProgramReader::define(ValueId id, const PlanType &type) {
  if (types.size() <= id)
    types.resize(id + 1);
  if (types[id])
    return reader.fail("%" + Twine(id) + " is defined twice");
  types[id] = type;
  defined.push_back(id);
}

bool ProgramReader::expectOperands(const PlanOp &op, size_t count) {
  if (op.operands.size() == count)
    return true;
  reader.fail("takes " + Twine(count) + " operands, has " +
              Twine(op.operands.size()));
  return false;
}

void ProgramReader::expectKind(ValueId id, Kind kind) {
  if (!reader.failed() && types[id]->kind != kind)
    reader.fail("%" + Twine(id) + " has the wrong kind of type");
}

void ProgramReader::expectIndex(ValueId id) {
  expectKind(id, Kind::Integer);
  if (!reader.failed() && types[id]->width != 64)
    reader.fail("%" + Twine(id) + " is no index");
}

void ProgramReader::expectType(ValueId id, const PlanType &type) {
  expectKind(id, type.kind);
  if (reader.failed())
    return;
  const PlanType &actual = *types[id];
  bool same = type.kind == Kind::MemRef
                  ? actual.getRank() == type.getRank() &&
                        actual.elementType == type.elementType
                  : actual.width == type.width;
  if (!same)
    reader.fail("%" + Twine(id) + " has another type than the op says");
}

ValueId ProgramReader::readUse(const json::Value &value) {
  std::optional<ValueId> id = reader.asValue(value);
  if (!id)
    reader.fail("an operand is no value");
  else if (!reader.failed() && (*id >= types.size() || !types[*id]))
    reader.fail("%" + Twine(*id) + " is used before its definition");
  return id.value_or(0);
}

SmallVector<PlanIndex, 6> ProgramReader::readIndices(const json::Object &object,
                                                     StringRef key,
                                                     size_t count) {
  SmallVector<PlanIndex, 6> result;
  for (const json::Value &value : reader.getArray(object, key)) {
    PlanIndex index;
    if (value.getAsString()) {
      index.value = readUse(value);
      expectIndex(*index.value);
    } else {
      index.constant = reader.asInteger(value, key);
    }
    result.push_back(index);
  }
  if (result.size() != count)
    reader.fail("'" + key + "' holds " + Twine(result.size()) +
                " entries, not " + Twine(count));
  return result;
}

void ProgramReader::setResults(PlanOp &op, ArrayRef<PlanType> resultTypes) {
  if (op.results.size() != resultTypes.size())
    return reader.fail("has " + Twine(op.results.size()) + " results, not " +
                       Twine(resultTypes.size()));
  for (auto [id, type] : zip_equal(op.results, resultTypes))
    define(id, type);
}

PlanFunction ProgramReader::read(const json::Object &object) {
  PlanFunction function;
  function.name = functionName = reader.getString(object, "name").str();
  reader.setPlace("function '" + functionName + "'");
  for (const json::Value &value : reader.getArray(object, "args")) {
    const json::Object &argument = reader.asObject(value, "an argument");
    PlanArgument result;
    result.name = reader.getString(argument, "name").str();
    result.type = reader.getType(argument, "type");
    if (const json::Value *overwritten = argument.get("overwritten")) {
      result.isOverwritten = overwritten->getAsBoolean().value_or(false);
      if (!result.isOverwritten || result.type.kind != Kind::MemRef)
        reader.fail("'overwritten' is true, of a memref");
    }
    if (const json::Value *id = argument.get("value"))
      result.value = reader.asValue(*id).value_or(0);
    else
      reader.fail("an argument has no 'value'");
    if (reader.failed())
      return function;
    define(result.value, result.type);
    function.arguments.push_back(std::move(result));
  }
  SmallVector<PlanType> results;
  for (const json::Value &value :
       reader.getArray(object, "results", /*optional=*/true))
    results.push_back(reader.asType(value));
  function.body =
      readBody(reader.getArray(object, "body"), 0, PlanOpcode::Return, results);
  function.numValues = types.size();
  return function;
}

std::vector<PlanOp> ProgramReader::readBody(const json::Array &array,
                                            unsigned depth,
                                            PlanOpcode terminator,
                                            ArrayRef<PlanType> yielded) {
  std::vector<PlanOp> ops;
  if (depth > maxPlanDepth) {
    reader.fail("regions are nested too deeply");
    return ops;
  }
  size_t firstOwn = defined.size();
  for (const json::Value &value : array) {
    reader.setPlace("function '" + functionName + "', op " + Twine(opNumber++));
    ops.push_back(readOp(reader.asObject(value, "it"), depth));
    if (reader.failed())
      return ops;
    bool isTerminator = ops.back().code == PlanOpcode::Return ||
                        ops.back().code == PlanOpcode::Yield;
    if (isTerminator && ops.size() != array.size())
      reader.fail("a terminator stands before the end of its region");
  }
  if (ops.empty() || ops.back().code != terminator) {
    reader.fail("a region does not end with " + getName(terminator));
    return ops;
  }
  if (expectOperands(ops.back(), yielded.size()))
    for (auto [id, type] : zip_equal(ops.back().operands, yielded))
      expectType(id, type);
  dropFrom(firstOwn);
  return ops;
}

void ProgramReader::dropFrom(size_t firstOwn) {
  while (defined.size() > firstOwn) {
    types[defined.back()].reset();
    defined.pop_back();
  }
}

PlanOp ProgramReader::readOp(const json::Object &object, unsigned depth) {
  StringRef name = reader.getString(object, "op");
  PlanOp op;
  std::optional<PlanOpcode> code = parsePlanOpcode(name);
  if (!code) {
    reader.fail("unknown op '" + name + "'");
    return op;
  }
  op.code = *code;
  reader.setPlace(reader.getPlace() + " (" + name + ")");
  for (const json::Value &value :
       reader.getArray(object, "operands", /*optional=*/true))
    op.operands.push_back(readUse(value));
  for (const json::Value &value :
       reader.getArray(object, "results", /*optional=*/true)) {
    if (std::optional<ValueId> id = reader.asValue(value))
      op.results.push_back(*id);
    else
      reader.fail("a result is no value");
  }
  if (reader.failed())
    return op;

  switch (op.code) {
  case PlanOpcode::If:
    readIf(op, object, depth);
    return op;
  case PlanOpcode::For:
    readFor(op, object, depth);
    return op;
  case PlanOpcode::Launch:
    readLaunch(op, object);
    return op;
  case PlanOpcode::Assert:
    if (expectOperands(op, 1))
      expectType(op.operands[0], integerType(1));
    op.message = reader.getString(object, "message").str();
    break;
  case PlanOpcode::Yield:
  case PlanOpcode::Return:
    break;
  default:
    if (name.starts_with("arith."))
      readArith(op, object);
    else
      readMemRef(op, object);
    return op;
  }
  setResults(op, {});
  return op;
}

void ProgramReader::readArith(PlanOp &op, const json::Object &object) {
  op.type = reader.getType(object, "type");
  PlanType result = op.type;
  size_t numOperands = 2;
  switch (op.code) {
#define EVOFORMER_PLAN_INT_BINARY(ENUM, NAME) case PlanOpcode::ENUM:
#include "Evoformer/Runtime/PlanOps.def"
    if (op.type.kind != Kind::Integer)
      reader.fail("takes integers");
    break;
#define EVOFORMER_PLAN_FLOAT_BINARY(ENUM, NAME) case PlanOpcode::ENUM:
#include "Evoformer/Runtime/PlanOps.def"
    if (op.type.kind != Kind::Float)
      reader.fail("takes floats");
    break;
#define EVOFORMER_PLAN_CAST(ENUM, NAME) case PlanOpcode::ENUM:
#include "Evoformer/Runtime/PlanOps.def"
    numOperands = 1;
    result = op.resultType = reader.getType(object, "resultType");
    if (op.type.kind == Kind::MemRef || result.kind == Kind::MemRef)
      reader.fail("takes scalars");
    break;
  case PlanOpcode::Constant:
    numOperands = 0;
    if (op.type.kind == Kind::MemRef)
      reader.fail("is a scalar");
    op.integer = reader.getInteger(
        object, op.type.kind == Kind::Float ? "bits" : "value");
    break;
  case PlanOpcode::NegF:
    numOperands = 1;
    if (op.type.kind != Kind::Float)
      reader.fail("takes a float");
    break;
  case PlanOpcode::CmpI:
  case PlanOpcode::CmpF: {
    if ((op.type.kind == Kind::Integer) != (op.code == PlanOpcode::CmpI) ||
        op.type.kind == Kind::MemRef)
      reader.fail("takes operands of another kind");
    result = integerType(1);
    op.integer = reader.getInteger(object, "predicate");
    int64_t last = op.code == PlanOpcode::CmpI ? 9 : 15;
    if (op.integer < 0 || op.integer > last)
      reader.fail("unknown predicate " + Twine(op.integer));
    break;
  }
  case PlanOpcode::Select:
    if (!expectOperands(op, 3))
      return;
    expectType(op.operands[0], integerType(1));
    expectType(op.operands[1], op.type);
    expectType(op.operands[2], op.type);
    return setResults(op, result);
  default:
    reader.fail("is not handled");
  }
  if (!expectOperands(op, numOperands))
    return;
  for (ValueId id : op.operands)
    expectType(id, op.type);
  setResults(op, result);
}

void ProgramReader::readMemRef(PlanOp &op, const json::Object &object) {
  if (op.code == PlanOpcode::Alloc) {
    op.type = reader.getType(object, "type");
    if (op.type.kind != Kind::MemRef || !expectOperands(op, 0))
      return reader.fail("yields a memref");
    op.sizes = readIndices(object, "sizes", op.type.getRank());
    return setResults(op, op.type);
  }
  if (!expectOperands(op, op.code == PlanOpcode::Dim ? 2 : 1))
    return;
  expectKind(op.operands[0], Kind::MemRef);
  if (reader.failed())
    return;
  PlanType source = *types[op.operands[0]];
  switch (op.code) {
  case PlanOpcode::Dim:
    expectIndex(op.operands[1]);
    return setResults(op, integerType(64));
  case PlanOpcode::ExtractAlignedPointer:
    return setResults(op, integerType(64));
  case PlanOpcode::ExtractStridedMetadata: {
    SmallVector<PlanType> results(2 + 2 * source.getRank(), integerType(64));
    results[0].kind = Kind::MemRef;
    results[0].elementType = source.elementType;
    return setResults(op, results);
  }
  case PlanOpcode::Dealloc:
    return setResults(op, {});
  default:
    readView(op, object);
  }
}

void ProgramReader::readView(PlanOp &op, const json::Object &object) {
  PlanType source = *types[op.operands[0]];
  op.type = reader.getType(object, "type");
  if (op.type.kind != Kind::MemRef || op.type.elementType != source.elementType)
    return reader.fail("yields a memref of its operand's element type");
  int64_t rank = source.getRank(), resultRank = op.type.getRank();
  switch (op.code) {
  case PlanOpcode::SubView:
    for (const json::Value &value : reader.getArray(object, "droppedDims")) {
      int64_t dim = reader.asInteger(value, "droppedDims");
      if (dim < 0 || dim >= rank || is_contained(op.dimensions, dim))
        return reader.fail("drops a dimension that does not exist");
      op.dimensions.push_back(dim);
    }
    if (resultRank + static_cast<int64_t>(op.dimensions.size()) != rank)
      return reader.fail("drops another number of dimensions than it says");
    op.offsets = readIndices(object, "offsets", rank);
    op.sizes = readIndices(object, "sizes", rank);
    op.strides = readIndices(object, "strides", rank);
    break;
  case PlanOpcode::ReinterpretCast:
    op.offsets = readIndices(object, "offsets", 1);
    op.sizes = readIndices(object, "sizes", resultRank);
    op.strides = readIndices(object, "strides", resultRank);
    break;
  case PlanOpcode::MemRefCast:
    if (resultRank != rank)
      return reader.fail("changes the rank");
    break;
  case PlanOpcode::Transpose:
    for (const json::Value &value : reader.getArray(object, "permutation")) {
      int64_t dim = reader.asInteger(value, "permutation");
      if (dim < 0 || dim >= rank || is_contained(op.dimensions, dim))
        return reader.fail("its permutation is none");
      op.dimensions.push_back(dim);
    }
    if (static_cast<int64_t>(op.dimensions.size()) != rank ||
        resultRank != rank)
      return reader.fail("its permutation has another rank");
    break;
  default:
    return reader.fail("is not handled");
  }
  setResults(op, op.type);
}

void ProgramReader::readLaunch(PlanOp &op, const json::Object &object) {
  StringRef name = reader.getString(object, "kernel");
  auto it = kernelNumbers.find(name);
  if (it == kernelNumbers.end())
    return reader.fail("there is no kernel '" + name + "'");
  op.kernel = it->second;
  for (const json::Value &value : reader.getArray(object, "space")) {
    op.space.push_back(readUse(value));
    expectIndex(op.space.back());
  }
  if (reader.failed())
    return;
  // The expanded signature must be the kernel's.
  SmallVector<uint8_t> bytes;
  for (ValueId id : op.operands) {
    const PlanType &type = *types[id];
    bool isMemRef = type.kind == Kind::MemRef;
    op.dimensions.push_back(isMemRef ? type.getRank()
                                     : -static_cast<int64_t>(type.width));
    if (isMemRef)
      bytes.append(3 + 2 * type.getRank(), 8);
    else
      bytes.push_back(type.width <= 8    ? 1
                      : type.width <= 16 ? 2
                      : type.width <= 32 ? 4
                                         : 8);
  }
  op.passesExtents = !object.getBoolean("pointers").value_or(false);
  if (op.passesExtents)
    bytes.append(op.space.size(), 8);
  if (ArrayRef(bytes) != ArrayRef(kernels[op.kernel].argumentBytes))
    return reader.fail("its arguments are not those of kernel '" + name + "'");
  setResults(op, {});
}

SmallVector<PlanType>
ProgramReader::readResultTypes(const json::Object &object) {
  SmallVector<PlanType> results;
  for (const json::Value &value :
       reader.getArray(object, "resultTypes", /*optional=*/true))
    results.push_back(reader.asType(value));
  return results;
}

void ProgramReader::readFor(PlanOp &op, const json::Object &object,
                            unsigned depth) {
  SmallVector<PlanType> results = readResultTypes(object);
  if (!expectOperands(op, 3 + results.size()))
    return;
  for (ValueId id : ArrayRef(op.operands).take_front(3))
    expectIndex(id);
  for (auto [id, type] :
       zip_equal(ArrayRef(op.operands).drop_front(3), results))
    expectType(id, type);
  for (const json::Value &value : reader.getArray(object, "arguments")) {
    std::optional<ValueId> id = reader.asValue(value);
    if (!id)
      return reader.fail("an argument is no value");
    op.loopArguments.push_back(*id);
  }
  if (op.loopArguments.size() != 1 + results.size())
    return reader.fail("has " + Twine(op.loopArguments.size()) +
                       " arguments, not " + Twine(1 + results.size()));
  if (reader.failed())
    return;
  size_t firstOwn = defined.size();
  define(op.loopArguments.front(), integerType(64));
  for (auto [id, type] :
       zip_equal(ArrayRef(op.loopArguments).drop_front(), results))
    define(id, type);
  std::string place = reader.getPlace().str();
  op.thenBody = readBody(reader.getArray(object, "body"), depth + 1,
                         PlanOpcode::Yield, results);
  reader.setPlace(place);
  dropFrom(firstOwn);
  setResults(op, results);
}

void ProgramReader::readIf(PlanOp &op, const json::Object &object,
                           unsigned depth) {
  SmallVector<PlanType> results = readResultTypes(object);
  if (!expectOperands(op, 1))
    return;
  expectType(op.operands[0], integerType(1));
  std::string place = reader.getPlace().str();
  op.thenBody = readBody(reader.getArray(object, "then"), depth + 1,
                         PlanOpcode::Yield, results);
  op.elseBody = readBody(reader.getArray(object, "else"), depth + 1,
                         PlanOpcode::Yield, results);
  reader.setPlace(place);
  setResults(op, results);
}

} // namespace mlir::evoformer::runtime
