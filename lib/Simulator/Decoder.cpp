//===- Decoder.cpp - Turns an llvm.func into a Program --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

Decoder::Decoder(LLVM::LLVMFuncOp function, const Target &target,
                 Program &program)
    : function(function), target(target), program(program),
      layout(DataLayout::closest(function)) {}

LogicalResult Decoder::unsupported(Operation *op, const Twine &why) {
  if (!error.empty())
    return failure();
  llvm::raw_string_ostream os(error);
  op->getLoc().print(os);
  os << ": the simulator does not know operation '" << op->getName() << "'";
  if (!why.isTriviallyEmpty())
    os << ": " << why;
  os << "\n  ";
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs().skipRegions().useLocalScope();
  op->print(os, flags);
  return failure();
}

FailureOr<Kind> Decoder::kindOf(Operation *op, Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return Kind::I1;
    case 8:
      return Kind::I8;
    case 16:
      return Kind::I16;
    case 32:
      return Kind::I32;
    case 64:
      return Kind::I64;
    default:
      break;
    }
  }
  if (type.isF16())
    return Kind::F16;
  if (type.isBF16())
    return Kind::BF16;
  if (type.isF32())
    return Kind::F32;
  if (type.isF64())
    return Kind::F64;
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type)) {
    switch (pointer.getAddressSpace()) {
    case 0:
    case 1:
    case 4:
      return Kind::I64;
    case 3:
    case 5:
      return Kind::I32;
    default:
      break;
    }
  }
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return unsupported(op, "type " + text);
}

LogicalResult Decoder::requireSize(Operation *op, Type type, uint64_t limit) {
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
    uint64_t count = std::max<uint64_t>(1, array.getNumElements());
    if (count > limit)
      return unsupported(op, "an array of this size");
    return requireSize(op, array.getElementType(), limit / count);
  }
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
    if (structure.isOpaque())
      return unsupported(op, "an opaque struct has no size");
    for (Type member : structure.getBody())
      if (failed(requireSize(op, member, limit)))
        return failure();
    return success();
  }
  if (auto vector = dyn_cast<VectorType>(type))
    if (!vector.isScalable())
      return requireSize(op, vector.getElementType(), limit);
  if (type.isIntOrFloat() || isa<LLVM::LLVMPointerType>(type))
    return success();
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return unsupported(op, "type " + text + " has no size");
}

LogicalResult Decoder::flatten(Operation *op, Type type,
                               llvm::SmallVectorImpl<MemoryPart> &parts,
                               uint64_t offset) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.getRank() > 1 || vector.isScalable())
      return unsupported(op, "vectors have one fixed dimension");
    FailureOr<Kind> kind = kindOf(op, vector.getElementType());
    if (failed(kind))
      return failure();
    uint64_t count = vector.getRank() ? vector.getDimSize(0) : 1;
    if (count > maxElements)
      return unsupported(op, "more than " + Twine(maxElements) + " elements");
    parts.push_back({*kind, uint32_t(count), offset});
    return success();
  }
  if (isa<LLVM::LLVMArrayType, LLVM::LLVMStructType>(type) &&
      failed(requireSize(op, type)))
    return failure();
  const size_t before = parts.size();
  auto refuseEmpty = [&]() -> LogicalResult {
    return parts.size() == before ? unsupported(op, "a type without elements")
                                  : success();
  };
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
    if (array.getNumElements() > maxElements)
      return unsupported(op, "more than " + Twine(maxElements) + " elements");
    uint64_t stride = layout.getTypeSize(array.getElementType());
    for (unsigned k = 0; k < array.getNumElements(); ++k)
      if (failed(
              flatten(op, array.getElementType(), parts, offset + k * stride)))
        return failure();
    return refuseEmpty();
  }
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
    uint64_t at = offset;
    for (Type member : structure.getBody()) {
      if (!structure.isPacked())
        at = llvm::alignTo(at, layout.getTypeABIAlignment(member));
      if (failed(flatten(op, member, parts, at)))
        return failure();
      at += layout.getTypeSize(member);
    }
    return refuseEmpty();
  }
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type)) {
    unsigned space = pointer.getAddressSpace();
    if (space == 7 || space == 8) {
      parts.push_back({Kind::I64, 1, offset});
      parts.push_back({Kind::I64, 1, offset});
      parts.push_back({Kind::I32, 1, offset});
      if (space == 7)
        parts.push_back({Kind::I32, 1, offset});
      return success();
    }
  }
  FailureOr<Kind> kind = kindOf(op, type);
  if (failed(kind))
    return failure();
  parts.push_back({*kind, 1, offset});
  return success();
}

uint32_t Decoder::allocate(Kind kind, uint32_t count) {
  uint32_t offset = uint32_t(nextRegister);
  nextRegister += llvm::alignTo(uint64_t(bytesOf(kind)) * count, 64);
  return offset;
}

FailureOr<Parts> Decoder::allocate(Operation *op, Type type) {
  llvm::SmallVector<MemoryPart> memory;
  if (failed(flatten(op, type, memory)))
    return failure();
  Parts parts;
  for (const MemoryPart &m : memory)
    parts.push_back({m.kind, m.count, allocate(m.kind, m.count)});
  return parts;
}

FailureOr<Part> Decoder::defineScalar(Value result) {
  Operation *op = result.getDefiningOp();
  FailureOr<Parts> parts = allocate(op, result.getType());
  if (failed(parts))
    return failure();
  if (parts->size() != 1)
    return unsupported(op, "a scalar or vector result is expected");
  values[result] = *parts;
  return parts->front();
}

Inst &Decoder::emit(Handler handler) {
  Inst &inst = program.code.emplace_back();
  inst.fn = handler;
  inst.site = site;
  ++counts->instructions;
  return inst;
}

LogicalResult Decoder::emitChecked(Operation *op, Handler handler, Inst inst) {
  if (!handler)
    return unsupported(op, "not for this type");
  uint32_t keep = site;
  Inst &emitted = emit(handler);
  inst.fn = handler;
  inst.site = keep;
  emitted = inst;
  return success();
}

/// Two 16-bit operations fit one 32-bit lane.
void Decoder::countArithmetic(const Part &part) {
  unsigned size = sizeOf(part.kind);
  counts->arithmetic += size == 2   ? (part.count + 1) / 2
                        : size == 8 ? 2 * part.count
                                    : part.count;
}

Part Decoder::constantI32(int32_t value) {
  Builder b(function.getContext());
  Attribute attribute = b.getI32IntegerAttr(value);
  Parts &parts = constants[{attribute, b.getI32Type()}];
  if (parts.empty())
    (void)fillConstant(function, attribute, b.getI32Type(), parts);
  return parts.front();
}

std::optional<int64_t> Decoder::constantOf(const IntrinsicArg &arg) {
  if (!arg.value)
    return arg.immediate;
  if (auto constant = arg.value.getDefiningOp<LLVM::ConstantOp>())
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      return integer.getType().isInteger(1) ? integer.getValue().getZExtValue()
                                            : integer.getValue().getSExtValue();
  return std::nullopt;
}

Part Decoder::resizeInt(Part part, Kind kind, bool isSigned) {
  unsigned from = sizeOf(part.kind), to = sizeOf(kind);
  // Only the width matters from here on.
  auto integer = [](unsigned size) {
    return size == 1   ? Kind::I8
           : size == 2 ? Kind::I16
           : size == 4 ? Kind::I32
                       : Kind::I64;
  };
  if (from == to)
    return {kind, part.count, part.offset};
  Part result{kind, part.count, allocate(kind, part.count)};
  Inst &inst = emit(castHandler(from > to  ? Cast::Trunc
                                : isSigned ? Cast::SExt
                                           : Cast::ZExt,
                                integer(from), integer(to)));
  inst.dst = result.offset;
  inst.a = part.offset;
  inst.n = elements(part);
  return result;
}

Part Decoder::toWords(Part part) {
  unsigned size = sizeOf(part.kind);
  if (size < 4)
    return resizeInt(part, Kind::I32, false);
  if (size == 4)
    return {Kind::I32, part.count, part.offset};
  Part words{Kind::I32, part.count * 2, allocate(Kind::I32, part.count * 2)};
  Inst &inst = emit(bitcastHandler(8, 4));
  inst.dst = words.offset;
  inst.a = part.offset;
  inst.n = part.count;
  return words;
}

void Decoder::fromWords(Part words, Part to) {
  unsigned size = sizeOf(to.kind);
  Handler handler = size == 8   ? bitcastHandler(4, 8)
                    : size == 4 ? moveHandler(4)
                                : castHandler(Cast::Trunc, Kind::I32,
                                              size == 2 ? Kind::I16 : Kind::I8);
  Inst &inst = emit(handler);
  inst.dst = to.offset;
  inst.a = words.offset;
  inst.n = size == 8 ? words.count : elements(words);
}

LogicalResult Decoder::decodeOperation(Operation *op) {
  program.sites.push_back(
      {op->getName().getStringRef().str(), op->getLoc().getAsOpaquePointer()});
  site = program.sites.size() - 1;
  StringRef name = op->getName().getStringRef();
  if (op->hasTrait<OpTrait::IsTerminator>())
    return decodeTerminator(op);
  if (auto result = decodeArith(op, name))
    return *result;
  if (auto result = decodeValueOp(op))
    return *result;
  if (auto result = decodeMemory(op))
    return *result;
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return decodeCall(op, call.getIntrin());
  if (auto call = dyn_cast<LLVM::CallOp>(op)) {
    if (call.getCallee() && call.getCallee()->starts_with("llvm."))
      return decodeCall(op, *call.getCallee());
    return unsupported(op, "calls are inlined before execution");
  }
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op))
    return decodeInlineAsm(assembly);
  if (auto result = decodeNVVM(op, name))
    return *result;
  if (name.starts_with("rocdl.") || name.starts_with("nvvm."))
    return decodeCall(op, "");
  return unsupported(op);
}

LogicalResult Decoder::checkDecoded(Operation *op) {
  for (Value result : op->getResults())
    if (!values.contains(result))
      return unsupported(op, "it has no result");
  if (nextRegister > maxRegisterBytes)
    return unsupported(op, "the values of a subgroup exceed " +
                               Twine(maxRegisterBytes) + " bytes");
  return success();
}

llvm::Error Decoder::run() {
  auto fail = [&] {
    return llvm::createStringError(error.empty() ? "decoding failed" : error);
  };
  program.name = function.getName().str();
  program.lanes = target.lanes;
  program.sites.push_back(
      {"llvm.func", function.getLoc().getAsOpaquePointer()});
  if (function.isExternal())
    return llvm::createStringError("kernel '" + program.name + "' has no body");
  llvm::SmallVector<Block *> blocks = orderBlocks();
  program.blocks.resize(blocks.size());
  for (auto [k, block] : llvm::enumerate(blocks)) {
    blockIndex[block] = k;
    for (BlockArgument argument : block->getArguments()) {
      FailureOr<Parts> parts = allocate(function, argument.getType());
      if (failed(parts))
        return fail();
      values[argument] = *parts;
      if (k != 0)
        continue;
      if (parts->size() != 1 || parts->front().count != 1)
        return llvm::createStringError("kernel '" + program.name +
                                       "': argument " +
                                       std::to_string(argument.getArgNumber()) +
                                       " is not a scalar or a pointer");
      program.args.push_back(
          {parts->front().offset, uint8_t(sizeOf(parts->front().kind))});
    }
  }
  for (auto [k, block] : llvm::enumerate(blocks)) {
    program.blocks[k].first = program.code.size();
    counts = &program.blocks[k].counts;
    for (Operation &op : *block) {
      if (failed(decodeOperation(&op)) || failed(checkDecoded(&op)))
        return fail();
      if (target.checksNonFinite)
        checkNonFinite(&op);
    }
  }
  program.registerBytes = nextRegister;
  program.image.assign(nextRegister, 0xff);
  for (auto &[offset, bytes] : constantBytes)
    llvm::copy(bytes, program.image.begin() + offset);
  return llvm::Error::success();
}
