//===- FunctionWriter.cpp - One host function as JSON ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionWriter.h"
#include "Evoformer/Conversion/GPUToLLVM/PointersAttr.h"
#include "Evoformer/Conversion/HostToPlan/OverwrittenAttr.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Runtime/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::evoformer;
namespace json = llvm::json;

json::Value FunctionWriter::name(Value value) {
  // Numbers are given in the order in which values are met: definitions come
  // before uses.
  unsigned number = numbers.try_emplace(value, numbers.size()).first->second;
  return "%" + std::to_string(number);
}

json::Array FunctionWriter::names(ValueRange values) {
  json::Array array;
  for (Value value : values)
    array.push_back(name(value));
  return array;
}

json::Array FunctionWriter::mixed(ArrayRef<OpFoldResult> values) {
  json::Array array;
  for (OpFoldResult value : values) {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      array.push_back(*constant);
    else
      array.push_back(name(cast<Value>(value)));
  }
  return array;
}

static json::Array extents(ArrayRef<int64_t> values) {
  json::Array array;
  for (int64_t value : values)
    array.push_back(ShapedType::isDynamic(value) ? json::Value(nullptr)
                                                 : json::Value(value));
  return array;
}

FailureOr<json::Value> FunctionWriter::writeType(Operation *op, Type type) {
  bool isScalar =
      isa<IndexType, Float32Type, Float64Type>(type) ||
      (type.isSignlessInteger() && type.getIntOrFloatBitWidth() >= 1 &&
       type.getIntOrFloatBitWidth() <= 64);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isScalar) {
    os << type;
    return json::Value(std::move(text));
  }
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return op->emitError("a launch plan holds integers up to 64 bits, index, "
                         "f32, f64 and memrefs, not ")
           << type;
  os << memref.getElementType();
  int64_t offset = 0;
  SmallVector<int64_t> strides;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return op->emitError("a launch plan holds strided memrefs, not ") << type;
  if (memref.getMemorySpaceAsInt() != 0 || !runtime::parseElementType(text))
    return op->emitError("a launch plan holds memrefs of i1, i8, i16, i32, "
                         "i64, f16, bf16, f32 or f64 in the default memory "
                         "space, not ")
           << type;
  return json::Value(json::Object{{"memref", std::move(text)},
                                  {"shape", extents(memref.getShape())},
                                  {"strides", extents(strides)},
                                  {"offset", ShapedType::isDynamic(offset)
                                                 ? json::Value(nullptr)
                                                 : json::Value(offset)}});
}

LogicalResult FunctionWriter::setType(Operation *op, Type type,
                                      json::Object &json, StringRef key) {
  FailureOr<json::Value> value = writeType(op, type);
  if (failed(value))
    return failure();
  json[key] = std::move(*value);
  return success();
}

/// What people call the argument: the attribute `evoformer.name`, the name of
/// its location, or its number.
static std::string getArgumentName(func::FuncOp function, unsigned index) {
  if (auto name =
          function.getArgAttrOfType<StringAttr>(index, "evoformer.name"))
    return json::fixUTF8(name);
  if (auto loc = dyn_cast<NameLoc>(function.getArgument(index).getLoc()))
    return json::fixUTF8(loc.getName());
  return "arg" + std::to_string(index);
}

FailureOr<json::Value> FunctionWriter::write(func::FuncOp function) {
  // Names by which things are found cannot be replaced by similar ones.
  if (!json::isUTF8(function.getSymName()))
    return function.emitError(
        "a launch plan is UTF-8, the name of this function is not");
  json::Array arguments, results;
  for (BlockArgument argument : function.getArguments()) {
    FailureOr<json::Value> type = writeType(function, argument.getType());
    if (failed(type))
      return failure();
    json::Object written{
        {"name", getArgumentName(function, argument.getArgNumber())},
        {"value", name(argument)},
        {"type", std::move(*type)}};
    if (function.getArgAttr(argument.getArgNumber(), kOverwrittenAttrName)) {
      if (!isa<MemRefType>(argument.getType()))
        return function.emitError("argument ")
               << argument.getArgNumber() << " has '" << kOverwrittenAttrName
               << "', which is for memrefs, and type " << argument.getType();
      written["overwritten"] = true;
    }
    arguments.push_back(std::move(written));
  }
  for (Type result : function.getResultTypes()) {
    FailureOr<json::Value> type = writeType(function, result);
    if (failed(type))
      return failure();
    results.push_back(std::move(*type));
  }
  if (!function.getBody().hasOneBlock())
    return function.emitError("a launch plan needs structured control flow: a "
                              "host function is one block");
  FailureOr<json::Array> body = writeBlock(function.getBody().front());
  if (failed(body))
    return failure();
  return json::Value(json::Object{{"name", function.getSymName()},
                                  {"args", std::move(arguments)},
                                  {"results", std::move(results)},
                                  {"body", std::move(*body)}});
}

FailureOr<json::Array> FunctionWriter::writeBlock(Block &block) {
  json::Array body;
  for (Operation &op : block) {
    json::Object json{{"op", op.getName().getStringRef()}};
    // Launches and views list some operands under other keys.
    if (failed(writeOp(&op, json)))
      return failure();
    if (op.getNumResults() != 0)
      json["results"] = names(op.getResults());
    body.push_back(std::move(json));
  }
  return body;
}

LogicalResult FunctionWriter::writeOp(Operation *op, json::Object &json) {
  if (!runtime::parsePlanOpcode(op->getName().getStringRef()))
    return op->emitOpError(
        "cannot be part of a host program; it may hold scalar arith, memref "
        "views and allocations, scf.if, scf.for, cf.assert and "
        "evo_tile.launch: run "
        "convert-linalg-to-tile for linalg and copies, inline for calls, or "
        "compile the host by upstream's passes");
  if (isa<arith::ArithDialect>(op->getDialect()))
    return writeArith(op, json);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::IfOp>([&](auto ifOp) { return writeIf(ifOp, json); })
      .Case<scf::ForOp>([&](auto loop) { return writeFor(loop, json); })
      .Case<tile::LaunchOp>(
          [&](auto launch) { return writeLaunch(launch, json); })
      .Case<memref::AllocOp>(
          [&](auto alloc) { return writeAlloc(alloc, json); })
      .Case<memref::SubViewOp>(
          [&](auto view) { return writeSubView(view, json); })
      .Case<memref::ReinterpretCastOp>([&](auto view) {
        json["operands"] = names(view.getSource());
        json["offsets"] = mixed(view.getMixedOffsets());
        json["sizes"] = mixed(view.getMixedSizes());
        json["strides"] = mixed(view.getMixedStrides());
        return setType(view, view.getType(), json);
      })
      .Case<memref::CastOp>([&](auto view) -> LogicalResult {
        if (!isa<MemRefType>(view.getSource().getType()))
          return view.emitError("a launch plan holds ranked memrefs only");
        json["operands"] = names(view.getSource());
        return setType(view, view.getType(), json);
      })
      .Case<memref::TransposeOp>([&](auto view) {
        json::Array permutation;
        for (AffineExpr result : view.getPermutation().getResults())
          permutation.push_back(cast<AffineDimExpr>(result).getPosition());
        json["operands"] = names(view.getIn());
        json["permutation"] = std::move(permutation);
        return setType(view, view.getType(), json);
      })
      .Case<cf::AssertOp>([&](auto assertion) {
        json["operands"] = names(assertion.getArg());
        json["message"] = json::fixUTF8(assertion.getMsg());
        return success();
      })
      .Default([&](Operation *other) {
        // dim, extract_*, dealloc, yield, return: operands say it all.
        json["operands"] = names(other->getOperands());
        return success();
      });
}

LogicalResult FunctionWriter::writeArith(Operation *op, json::Object &json) {
  json["operands"] = names(op->getOperands());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    // Wider numbers than a plan's are refused before they are taken apart.
    if (failed(setType(op, constant.getType(), json)))
      return failure();
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      json["value"] = integer.getValue().getSExtValue();
    else if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      json["bits"] = static_cast<int64_t>(
          number.getValue().bitcastToAPInt().getZExtValue());
    return success();
  }
  if (isa<arith::SelectOp>(op))
    return setType(op, op->getResult(0).getType(), json);
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    json["predicate"] = static_cast<int64_t>(compare.getPredicate());
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    json["predicate"] = static_cast<int64_t>(compare.getPredicate());
  Type operandType = op->getOperand(0).getType();
  if (isa<MemRefType>(operandType))
    return op->emitError("a launch plan holds arith on scalars");
  if (op->getResult(0).getType() != operandType &&
      failed(setType(op, op->getResult(0).getType(), json, "resultType")))
    return failure();
  return setType(op, operandType, json);
}

LogicalResult FunctionWriter::writeAlloc(memref::AllocOp op,
                                         json::Object &json) {
  MemRefType type = op.getType();
  if (!type.getLayout().isIdentity())
    return op.emitError("a launch plan allocates memrefs without a layout");
  json["sizes"] = mixed(op.getMixedSizes());
  return setType(op, type, json);
}

LogicalResult FunctionWriter::writeSubView(memref::SubViewOp op,
                                           json::Object &json) {
  json["operands"] = names(op.getSource());
  json["offsets"] = mixed(op.getMixedOffsets());
  json["sizes"] = mixed(op.getMixedSizes());
  json["strides"] = mixed(op.getMixedStrides());
  json::Array dropped;
  llvm::SmallBitVector bits = op.getDroppedDims();
  for (unsigned dim : bits.set_bits())
    dropped.push_back(dim);
  json["droppedDims"] = std::move(dropped);
  return setType(op, op.getType(), json);
}

LogicalResult FunctionWriter::writeResultTypes(Operation *op,
                                               json::Object &json) {
  json::Array types;
  for (Type result : op->getResultTypes()) {
    FailureOr<json::Value> type = writeType(op, result);
    if (failed(type))
      return failure();
    types.push_back(std::move(*type));
  }
  if (!types.empty())
    json["resultTypes"] = std::move(types);
  return success();
}

LogicalResult FunctionWriter::writeFor(Operation *op, json::Object &json) {
  auto loop = cast<scf::ForOp>(op);
  if (!loop.getInductionVar().getType().isIndex())
    return op->emitError("a launch plan counts loops in index, not ")
           << loop.getInductionVar().getType();
  if (loop.getUnsignedCmp())
    return op->emitError("a launch plan compares a loop's bounds with signs");
  json["operands"] = names(loop->getOperands());
  json["arguments"] = names(loop.getBody()->getArguments());
  if (failed(writeResultTypes(op, json)))
    return failure();
  FailureOr<json::Array> body = writeBlock(*loop.getBody());
  if (failed(body))
    return failure();
  json["body"] = std::move(*body);
  return success();
}

LogicalResult FunctionWriter::writeIf(Operation *op, json::Object &json) {
  auto ifOp = cast<scf::IfOp>(op);
  json["operands"] = names(ifOp.getCondition());
  if (failed(writeResultTypes(op, json)))
    return failure();
  FailureOr<json::Array> thenBody = writeBlock(*ifOp.thenBlock());
  if (failed(thenBody))
    return failure();
  json["then"] = std::move(*thenBody);
  if (!ifOp.elseBlock()) {
    json["else"] = json::Array{json::Object{{"op", "scf.yield"}}};
    return success();
  }
  FailureOr<json::Array> elseBody = writeBlock(*ifOp.elseBlock());
  if (failed(elseBody))
    return failure();
  json["else"] = std::move(*elseBody);
  return success();
}

/// Sizes in bytes of what the type expands to in the kernel ABI.
static LogicalResult expand(Operation *op, Type type,
                            SmallVectorImpl<int64_t> &bytes) {
  if (auto memref = dyn_cast<MemRefType>(type)) {
    bytes.append(3 + 2 * memref.getRank(), 8);
    return success();
  }
  if (type.isIndex()) {
    bytes.push_back(8);
    return success();
  }
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() > 64)
    return op->emitError("a kernel takes memrefs and scalars up to 64 bits, "
                         "not ")
           << type;
  bytes.push_back(
      llvm::PowerOf2Ceil(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8)));
  return success();
}

LogicalResult FunctionWriter::writeLaunch(Operation *op, json::Object &json) {
  auto launch = cast<tile::LaunchOp>(op);
  if (!json::isUTF8(launch.getKernel()))
    return launch.emitError(
        "a launch plan is UTF-8, the name of this kernel is not");
  json["kernel"] = launch.getKernel();
  json["space"] = names(launch.getSpace());
  json["operands"] = names(launch.getArgs());
  SmallVector<int64_t> bytes;
  for (Value argument : launch.getArgs())
    if (failed(expand(op, argument.getType(), bytes)))
      return failure();
  if (launch->hasAttr(kPointersAttrName))
    json["pointers"] = true;
  else
    bytes.append(launch.getSpace().size(), 8);
  auto [it, isNew] = signatures.try_emplace(launch.getKernel(), bytes);
  if (!isNew && it->second != bytes)
    return op->emitError("kernel @")
           << launch.getKernel()
           << " is launched with another signature elsewhere";
  return success();
}
