//===- DecoderValue.cpp - Constants, and moves inside vectors and structs -===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of a value is where its elements are, so taking an element out, or
// regrouping members of a struct, costs nothing: the result names the same
// registers. That is safe because each operation defines its registers once
// per execution and block arguments change only for lanes that enter a block.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

/// The bits of one element. A single integer takes the width of its type, as
/// in the translation to LLVM.
static uint64_t elementBits(Attribute attribute, unsigned index,
                            unsigned width) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getValue().sextOrTrunc(width).getZExtValue();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValue().bitcastToAPInt().getZExtValue();
  auto elements = cast<DenseElementsAttr>(attribute);
  if (isa<FloatType>(elements.getElementType()))
    return (elements.isSplat() ? elements.getSplatValue<APFloat>()
                               : *(elements.value_begin<APFloat>() + index))
        .bitcastToAPInt()
        .getZExtValue();
  return (elements.isSplat() ? elements.getSplatValue<APInt>()
                             : *(elements.value_begin<APInt>() + index))
      .getZExtValue();
}

static bool hasWidth(Attribute attribute, unsigned width) {
  if (isa<IntegerAttr>(attribute))
    return true;
  Type type = isa<FloatAttr>(attribute)
                  ? cast<FloatAttr>(attribute).getType()
                  : cast<DenseElementsAttr>(attribute).getElementType();
  return type.isIndex()
             ? width == 64
             : type.isIntOrFloat() && type.getIntOrFloatBitWidth() == width;
}

/// A null attribute gives zeros.
LogicalResult Decoder::fillConstant(Operation *op, Attribute attribute,
                                    Type type, Parts &parts) {
  FailureOr<Parts> allocated = allocate(op, type);
  if (failed(allocated))
    return failure();
  parts = *allocated;
  if (attribute && parts.size() != 1)
    return unsupported(op, "constants of struct or array type");
  if (attribute && !isa<IntegerAttr, FloatAttr, DenseElementsAttr>(attribute))
    return unsupported(op, "this kind of constant");
  for (const Part &part : parts) {
    unsigned size = sizeOf(part.kind);
    unsigned width = part.kind == Kind::I1 ? 1 : 8 * size;
    if (attribute && !hasWidth(attribute, width))
      return unsupported(op, "the elements have another width than the type");
    std::vector<uint8_t> bytes(size_t(elements(part)) * size);
    if (attribute)
      for (uint32_t e = 0; e < part.count; ++e) {
        uint64_t bits = elementBits(attribute, e, width);
        for (unsigned lane = 0; lane < program.lanes; ++lane)
          std::memcpy(&bytes[(e * program.lanes + lane) * size], &bits, size);
      }
    constantBytes.push_back({part.offset, std::move(bytes)});
  }
  return success();
}

LogicalResult Decoder::decodeConstant(LLVM::ConstantOp op) {
  Attribute attribute = op.getValue();
  Parts &parts = constants[{attribute, op.getType()}];
  if (parts.empty()) {
    Parts made;
    if (failed(fillConstant(op, attribute, op.getType(), made)))
      return failure();
    parts = made;
  }
  values[op.getResult()] = parts;
  return success();
}

LogicalResult Decoder::decodeShuffle(LLVM::ShuffleVectorOp op) {
  Part a = single(op.getV1()), b = single(op.getV2());
  ArrayRef<int32_t> mask = op.getMask();
  auto source = [&](int32_t m) {
    if (m < 0)
      m = 0;
    const Part &from = uint32_t(m) < a.count ? a : b;
    uint32_t element = uint32_t(m) < a.count ? m : m - a.count;
    return from.offset + element * bytesOf(from.kind);
  };
  // A run of consecutive elements stays where it is.
  bool isRun = true;
  for (size_t k = 1; k < mask.size(); ++k)
    isRun &= source(mask[k]) == source(mask[0]) + k * bytesOf(a.kind);
  if (isRun && !mask.empty()) {
    values[op.getResult()] = {{a.kind, uint32_t(mask.size()), source(mask[0])}};
    return success();
  }
  FailureOr<Part> to = defineScalar(op.getResult());
  if (failed(to))
    return failure();
  Inst inst;
  inst.dst = to->offset;
  inst.n = mask.size();
  inst.imm = program.table.size();
  for (int32_t m : mask)
    program.table.push_back(source(m));
  return emitChecked(op, gatherHandler(sizeOf(a.kind)), inst);
}

LogicalResult Decoder::decodeBitcast(Operation *op) {
  const Parts &from = get(op->getOperand(0));
  if (from.size() != 1)
    return unsupported(op, "bitcast of buffer resources");
  Part a = from.front();
  if (isa<LLVM::LLVMPointerType>(op->getResult(0).getType())) {
    values[op->getResult(0)] = {a};
    return success();
  }
  llvm::SmallVector<MemoryPart> shape;
  if (failed(flatten(op, op->getResult(0).getType(), shape)) ||
      shape.size() != 1)
    return unsupported(op);
  if ((a.kind == Kind::I1) != (shape[0].kind == Kind::I1))
    return unsupported(op, "bitcast between i1 and wider elements");
  if (sizeOf(shape[0].kind) == sizeOf(a.kind)) {
    values[op->getResult(0)] = {{shape[0].kind, a.count, a.offset}};
    return success();
  }
  FailureOr<Part> to = defineScalar(op->getResult(0));
  if (failed(to))
    return failure();
  Inst inst;
  inst.dst = to->offset;
  inst.a = a.offset;
  inst.n = a.count;
  return emitChecked(op, bitcastHandler(sizeOf(a.kind), sizeOf(to->kind)),
                     inst);
}

/// The parts of the member at `position`, and where they start.
static LogicalResult findMember(Type type, ArrayRef<int64_t> position,
                                unsigned &first, unsigned &count) {
  // A leaf is one part, unless it is a buffer resource.
  auto leaves = [](Type t, auto &&self) -> unsigned {
    if (auto array = dyn_cast<LLVM::LLVMArrayType>(t))
      return array.getNumElements() * self(array.getElementType(), self);
    if (auto structure = dyn_cast<LLVM::LLVMStructType>(t)) {
      unsigned n = 0;
      for (Type member : structure.getBody())
        n += self(member, self);
      return n;
    }
    if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(t))
      return pointer.getAddressSpace() == 7   ? 4
             : pointer.getAddressSpace() == 8 ? 3
                                              : 1;
    return 1;
  };
  first = 0;
  for (int64_t index : position) {
    if (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
      type = array.getElementType();
      first += index * leaves(type, leaves);
    } else if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
      for (int64_t k = 0; k < index; ++k)
        first += leaves(structure.getBody()[k], leaves);
      type = structure.getBody()[index];
    } else {
      return failure();
    }
  }
  count = leaves(type, leaves);
  return success();
}

std::optional<LogicalResult> Decoder::decodeValueOp(Operation *op) {
  if (auto constant = dyn_cast<LLVM::ConstantOp>(op))
    return decodeConstant(constant);
  if (isa<LLVM::ZeroOp>(op)) {
    Parts parts;
    if (failed(fillConstant(op, {}, op->getResult(0).getType(), parts)))
      return failure();
    values[op->getResult(0)] = parts;
    return success();
  }
  if (isa<LLVM::UndefOp, LLVM::PoisonOp>(op)) {
    // The register file starts as all ones: a NaN in every format.
    FailureOr<Parts> parts = allocate(op, op->getResult(0).getType());
    if (failed(parts))
      return failure();
    values[op->getResult(0)] = *parts;
    return success();
  }
  if (isa<LLVM::FreezeOp>(op) ||
      op->getName().getStringRef() == "llvm.intr.expect") {
    values[op->getResult(0)] = Parts(get(op->getOperand(0)));
    return success();
  }
  if (isa<LLVM::BitcastOp>(op))
    return decodeBitcast(op);
  if (auto shuffle = dyn_cast<LLVM::ShuffleVectorOp>(op))
    return decodeShuffle(shuffle);
  if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op)) {
    unsigned first, count;
    if (failed(findMember(extract.getContainer().getType(),
                          extract.getPosition(), first, count)))
      return unsupported(op);
    const Parts &from = get(extract.getContainer());
    values[extract.getResult()] =
        Parts(from.begin() + first, from.begin() + first + count);
    return success();
  }
  if (auto insert = dyn_cast<LLVM::InsertValueOp>(op)) {
    unsigned first, count;
    if (failed(findMember(insert.getContainer().getType(), insert.getPosition(),
                          first, count)))
      return unsupported(op);
    Parts parts = get(insert.getContainer());
    llvm::copy(get(insert.getValue()), parts.begin() + first);
    values[insert.getResult()] = parts;
    return success();
  }
  if (auto extract = dyn_cast<LLVM::ExtractElementOp>(op)) {
    Part a = single(extract.getVector());
    if (auto index = constantOf({extract.getPosition()})) {
      if (*index < 0 || *index >= int64_t(a.count))
        return unsupported(op, "index out of the vector's bounds");
      values[extract.getResult()] = {
          {a.kind, 1, uint32_t(a.offset + *index * bytesOf(a.kind))}};
      return success();
    }
    FailureOr<Part> to = defineScalar(extract.getResult());
    if (failed(to))
      return failure();
    Part index = single(extract.getPosition());
    bool wide = sizeOf(index.kind) == 8;
    if (!wide)
      index = resizeInt(index, Kind::I32, false);
    Inst inst;
    inst.dst = to->offset;
    inst.a = a.offset;
    inst.b = index.offset;
    inst.n = a.count;
    return emitChecked(op, extractDynamicHandler(sizeOf(a.kind), wide), inst);
  }
  if (auto insert = dyn_cast<LLVM::InsertElementOp>(op)) {
    Part a = single(insert.getVector()), v = single(insert.getValue());
    FailureOr<Part> to = defineScalar(insert.getResult());
    if (failed(to))
      return failure();
    if (auto index = constantOf({insert.getPosition()})) {
      if (*index < 0 || *index >= int64_t(a.count))
        return unsupported(op, "index out of the vector's bounds");
      Inst inst;
      inst.dst = to->offset;
      inst.n = a.count;
      inst.imm = program.table.size();
      for (uint32_t e = 0; e < a.count; ++e)
        program.table.push_back(e == *index ? v.offset
                                            : a.offset + e * bytesOf(a.kind));
      return emitChecked(op, gatherHandler(sizeOf(a.kind)), inst);
    }
    Part index = single(insert.getPosition());
    bool wide = sizeOf(index.kind) == 8;
    if (!wide)
      index = resizeInt(index, Kind::I32, false);
    Inst inst;
    inst.dst = to->offset;
    inst.a = a.offset;
    inst.b = v.offset;
    inst.c = index.offset;
    inst.n = a.count;
    return emitChecked(op, insertDynamicHandler(sizeOf(a.kind), wide), inst);
  }
  // llvm.vector.extract / insert: a run of elements at a fixed place.
  if (auto extract = dyn_cast<LLVM::vector_extract>(op)) {
    Part a = single(extract.getSrcvec());
    auto type = cast<VectorType>(extract.getType());
    values[extract.getResult()] = {
        {a.kind, uint32_t(type.getDimSize(0)),
         uint32_t(a.offset + extract.getPos() * bytesOf(a.kind))}};
    return success();
  }
  if (auto insert = dyn_cast<LLVM::vector_insert>(op)) {
    Part a = single(insert.getDstvec()), v = single(insert.getSrcvec());
    FailureOr<Part> to = defineScalar(insert.getResult());
    if (failed(to))
      return failure();
    Inst inst;
    inst.dst = to->offset;
    inst.n = a.count;
    inst.imm = program.table.size();
    for (uint32_t e = 0; e < a.count; ++e) {
      bool inside = e >= insert.getPos() && e < insert.getPos() + v.count;
      program.table.push_back(inside ? v.offset + (e - insert.getPos()) *
                                                      bytesOf(v.kind)
                                     : a.offset + e * bytesOf(a.kind));
    }
    return emitChecked(op, gatherHandler(sizeOf(a.kind)), inst);
  }
  return std::nullopt;
}
