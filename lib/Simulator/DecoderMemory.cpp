//===- DecoderMemory.cpp - Addresses, loads and stores --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

FailureOr<Space> Decoder::spaceOf(Operation *op, Value pointer) {
  switch (cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace()) {
  case 0:
  case 1:
  case 4:
    return Space::Generic;
  case 3:
    return Space::LDS;
  case 5:
    return Space::Private;
  default:
    return unsupported(op, "this address space");
  }
}

unsigned Decoder::alignmentOf(Type type, std::optional<uint64_t> attribute) {
  return attribute && *attribute ? *attribute
                                 : layout.getTypeABIAlignment(type);
}

LogicalResult Decoder::decodeGEP(LLVM::GEPOp op) {
  if (isa<VectorType>(op.getType()))
    return unsupported(op, "vectors of pointers");
  struct Term {
    Part index;
    int64_t scale;
  };
  llvm::SmallVector<Term> terms;
  int64_t constant = 0;
  Type type = op.getElemType();
  if (failed(requireSize(op, type)))
    return failure();
  LLVM::GEPIndicesAdaptor<ValueRange> indices = op.getIndices();
  for (unsigned k = 0; k < indices.size(); ++k) {
    int64_t scale;
    if (k == 0) {
      scale = layout.getTypeSize(type);
    } else if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
      auto index = dyn_cast<IntegerAttr>(indices[k]);
      if (!index)
        return unsupported(op, "dynamic index into a struct");
      uint64_t at = 0;
      for (int64_t member = 0;; ++member) {
        Type t = structure.getBody()[member];
        if (!structure.isPacked())
          at = llvm::alignTo(at, layout.getTypeABIAlignment(t));
        if (member == index.getInt()) {
          type = t;
          break;
        }
        at += layout.getTypeSize(t);
      }
      constant += at;
      continue;
    } else if (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
      type = array.getElementType();
      scale = layout.getTypeSize(type);
    } else if (auto vector = dyn_cast<VectorType>(type)) {
      type = vector.getElementType();
      scale = layout.getTypeSize(type);
    } else {
      return unsupported(op, "index into a scalar");
    }
    if (auto index = dyn_cast<IntegerAttr>(indices[k])) {
      constant += index.getInt() * scale;
      continue;
    }
    Value index = cast<Value>(indices[k]);
    if (auto known = constantOf({index}))
      constant += *known * scale;
    else
      terms.push_back({single(index), scale});
  }
  // Address arithmetic happens in the last part: the pointer itself, or the
  // offset of a buffer pointer.
  Parts parts = get(op.getBase());
  Part base = parts.back();
  if (terms.empty() && constant == 0) {
    values[op.getResult()] = parts;
    return success();
  }
  if (terms.empty())
    terms.push_back({constantI32(0), 0});
  for (auto [k, term] : llvm::enumerate(terms)) {
    Part to{base.kind, 1, allocate(base.kind, 1)};
    Inst inst;
    inst.dst = to.offset;
    inst.a = base.offset;
    inst.b = term.index.offset;
    inst.imm64 = term.scale;
    inst.imm2 = k == 0 ? constant : 0;
    countArithmetic(to);
    if (failed(emitChecked(
            op, addressHandler(base.kind == Kind::I64, sizeOf(term.index.kind)),
            inst)))
      return failure();
    base = to;
  }
  parts.back() = base;
  values[op.getResult()] = parts;
  return success();
}

LogicalResult Decoder::decodeAddressOf(LLVM::AddressOfOp op) {
  SymbolTableCollection symbols;
  LLVM::GlobalOp global = op.getGlobal(symbols);
  if (!global)
    return unsupported(op, "not a global variable");
  if (global.getAddrSpace() != 3)
    return unsupported(op, "global variables outside of LDS");
  if (failed(requireSize(op, global.getGlobalType())))
    return failure();
  if (layout.getTypeSize(global.getGlobalType()) > maxLDSBytes)
    return unsupported(op,
                       "more than " + Twine(maxLDSBytes >> 10) + " KiB of LDS");
  auto [it, isNew] = ldsOffsets.try_emplace(global.getSymName(), 0);
  if (isNew) {
    uint64_t size = layout.getTypeSize(global.getGlobalType());
    uint64_t alignment = std::max<uint64_t>(
        {16, global.getAlignment().value_or(1),
         layout.getTypeABIAlignment(global.getGlobalType())});
    if (size == 0) {
      // Its place is behind all static variables, so those must be known: the
      // kernel's own, not those of other kernels.
      llvm::StringSet<> used;
      function.walk([&](LLVM::AddressOfOp address) {
        used.insert(address.getGlobalName());
      });
      for (auto other : function->getParentRegion()->getOps<LLVM::GlobalOp>())
        if (other.getAddrSpace() == 3 && other != global &&
            used.contains(other.getSymName()) &&
            layout.getTypeSize(other.getGlobalType()) != 0 &&
            !ldsOffsets.contains(other.getSymName())) {
          program.staticLDSBytes = llvm::alignTo(program.staticLDSBytes, 16);
          ldsOffsets[other.getSymName()] = program.staticLDSBytes;
          program.staticLDSBytes += layout.getTypeSize(other.getGlobalType());
        }
      program.usesDynamicLDS = true;
      program.dynamicLDSOffset =
          llvm::alignTo(program.staticLDSBytes, alignment);
      ldsOffsets[global.getSymName()] = program.dynamicLDSOffset;
    } else {
      program.staticLDSBytes = llvm::alignTo(program.staticLDSBytes, alignment);
      ldsOffsets[global.getSymName()] = program.staticLDSBytes;
      program.staticLDSBytes += size;
    }
  }
  values[op.getResult()] = {constantI32(ldsOffsets[global.getSymName()])};
  return success();
}

LogicalResult Decoder::decodeAlloca(LLVM::AllocaOp op) {
  auto count = constantOf({op.getArraySize()});
  if (!count || *count < 0)
    return unsupported(op, "allocations of dynamic size");
  if (failed(requireSize(op, op.getElemType())))
    return failure();
  uint64_t size = llvm::SaturatingMultiply<uint64_t>(
      *count, layout.getTypeSize(op.getElemType()));
  uint64_t alignment =
      std::max<uint64_t>(op.getAlignment().value_or(1),
                         layout.getTypeABIAlignment(op.getElemType()));
  if (llvm::SaturatingAdd<uint64_t>(program.privateBytes, size, alignment) >
      maxPrivateBytes)
    return unsupported(op, "more than " + Twine(maxPrivateBytes) +
                               " bytes of private memory");
  program.privateBytes =
      llvm::alignTo(program.privateBytes, std::max<uint64_t>(alignment, 1));
  uint64_t offset = program.privateBytes;
  program.privateBytes += size;
  unsigned space = op.getType().getAddressSpace();
  if (space == 5) {
    values[op.getResult()] = {constantI32(offset)};
    return success();
  }
  if (space != 0)
    return unsupported(op, "this address space");
  Builder b(op.getContext());
  Parts parts;
  if (failed(fillConstant(op, b.getI64IntegerAttr(privateAperture | offset),
                          b.getI64Type(), parts)))
    return failure();
  values[op.getResult()] = parts;
  return success();
}

LogicalResult Decoder::decodeAddrSpaceCast(LLVM::AddrSpaceCastOp op) {
  auto spaceNumber = [](Value v) {
    return cast<LLVM::LLVMPointerType>(v.getType()).getAddressSpace();
  };
  if (isa<VectorType>(op.getType()))
    return unsupported(op, "vectors of pointers");
  unsigned from = spaceNumber(op.getArg()), to = spaceNumber(op.getRes());
  auto isGeneric = [](unsigned s) { return s == 0 || s == 1 || s == 4; };
  Parts parts = get(op.getArg());
  // NVIDIA's 7 is LDS of a cluster, which here is one workgroup.
  bool isCluster = !target.isAMD && from == 3 && to == 7;
  if (from == to || isCluster || (isGeneric(from) && isGeneric(to))) {
    values[op.getRes()] = parts;
    return success();
  }
  if (from == 8 && to == 7) {
    parts.push_back(constantI32(0));
    values[op.getRes()] = parts;
    return success();
  }
  if ((from == 3 || from == 5) && to == 0) {
    Part wide = resizeInt(parts.front(), Kind::I64, false);
    Part result{Kind::I64, 1, allocate(Kind::I64, 1)};
    Inst inst;
    inst.dst = result.offset;
    inst.a = wide.offset;
    inst.b = constantI32(0).offset;
    inst.imm2 = from == 3 ? ldsAperture : privateAperture;
    values[op.getRes()] = {result};
    return emitChecked(op, addressHandler(true, 4), inst);
  }
  if (from == 0 && (to == 3 || to == 5)) {
    values[op.getRes()] = {resizeInt(parts.front(), Kind::I32, false)};
    return success();
  }
  return unsupported(op, "this pair of address spaces");
}

/// The condition under which anything looks at `value`: that of the selects
/// that are its only users. Null if it is always used.
static Value onlyUsedUnder(Value value) {
  Value condition;
  for (Operation *user : value.getUsers()) {
    Value here;
    if (auto select = dyn_cast<LLVM::SelectOp>(user)) {
      bool keepsIfTrue = select.getTrueValue() == value &&
                         select.getFalseValue() != value &&
                         select.getCondition().getType().isInteger(1);
      here = keepsIfTrue ? select.getCondition() : Value();
    } else if (isa<LLVM::BitcastOp, LLVM::ExtractElementOp,
                   LLVM::ShuffleVectorOp>(user)) {
      here = onlyUsedUnder(user->getResult(0));
    }
    if (!here || (condition && condition != here))
      return {};
    condition = here;
  }
  return condition;
}

/// Where lanes outside of a tile load from some valid place and drop the
/// value, such a load is no access to what lies there. The condition must be
/// known before the load; it is if it has been decoded, because both dominate
/// the select.
std::optional<Part> Decoder::guardOf(Value result) {
  Value condition = onlyUsedUnder(result);
  if (!condition || !values.contains(condition))
    return std::nullopt;
  return single(condition);
}

/// Emits the access to one part of a value; `inst` says where its registers
/// are.
LogicalResult Decoder::emitAccess(Operation *op, Value pointer,
                                  const MemoryPart &part, unsigned alignment,
                                  Inst inst, Handler (*buffer)(unsigned),
                                  Handler (*plain)(Space, unsigned)) {
  if (part.kind == Kind::I1 && part.count > 1)
    return unsupported(op, "vectors of i1 are packed bits in memory");
  inst.n = part.count;
  inst.imm64 = part.offset;
  inst.imm = std::max<uint64_t>(1, llvm::MinAlign(alignment, part.offset));
  auto type = cast<LLVM::LLVMPointerType>(pointer.getType());
  if (type.getAddressSpace() == 7) {
    const Parts &p = get(pointer);
    program.resources.push_back({p[0].offset, p[1].offset, p[3].offset});
    inst.a = program.resources.size() - 1;
    return emitChecked(op, buffer(sizeOf(part.kind)), inst);
  }
  FailureOr<Space> space = spaceOf(op, pointer);
  if (failed(space))
    return failure();
  inst.a = single(pointer).offset;
  return emitChecked(op, plain(*space, sizeOf(part.kind)), inst);
}

LogicalResult
Decoder::flattenForMemory(Operation *op, Type type,
                          llvm::SmallVectorImpl<MemoryPart> &parts) {
  if (failed(flatten(op, type, parts)))
    return failure();
  // The parts of a resource have no places of their own.
  for (size_t k = 1; k < parts.size(); ++k)
    if (parts[k].offset == parts[k - 1].offset)
      return unsupported(op, "buffer resources in memory");
  return success();
}

LogicalResult Decoder::decodeLoad(Operation *op, Value pointer, Value result,
                                  unsigned alignment) {
  llvm::SmallVector<MemoryPart> shape;
  if (failed(flattenForMemory(op, result.getType(), shape)))
    return failure();
  auto type = cast<LLVM::LLVMPointerType>(pointer.getType());
  std::optional<Part> guard;
  if (type.getAddressSpace() == 3)
    guard = guardOf(result);
  Parts parts;
  for (const MemoryPart &m : shape) {
    Part to{m.kind, m.count, allocate(m.kind, m.count)};
    parts.push_back(to);
    Inst inst;
    inst.dst = to.offset;
    inst.c = guard ? guard->offset : UINT32_MAX;
    if (failed(emitAccess(op, pointer, m, alignment, inst, bufferLoadHandler,
                          loadHandler)))
      return failure();
  }
  values[result] = parts;
  return success();
}

LogicalResult Decoder::decodeStore(Operation *op, Value pointer, Value value,
                                   unsigned alignment) {
  llvm::SmallVector<MemoryPart> shape;
  if (failed(flattenForMemory(op, value.getType(), shape)))
    return failure();
  Parts from = get(value);
  for (auto [part, m] : llvm::zip_equal(from, shape)) {
    Inst inst;
    inst.b = part.offset;
    if (failed(emitAccess(op, pointer, m, alignment, inst, bufferStoreHandler,
                          storeHandler)))
      return failure();
  }
  return success();
}

LogicalResult Decoder::decodeMasked(Operation *op, Value pointer, Value mask,
                                    Value value, Value passThrough) {
  FailureOr<Space> space = spaceOf(op, pointer);
  if (failed(space))
    return failure();
  if (!value && !passThrough)
    return unsupported(op, "a pass-through value is needed");
  Part data = single(value ? value : passThrough);
  Inst inst;
  inst.a = single(pointer).offset;
  inst.b = data.offset;
  inst.c = single(mask).offset;
  inst.n = data.count;
  if (value)
    return emitChecked(op, maskedStoreHandler(*space, sizeOf(data.kind)), inst);
  FailureOr<Part> to = defineScalar(op->getResult(0));
  if (failed(to))
    return failure();
  inst.dst = to->offset;
  return emitChecked(op, maskedLoadHandler(*space, sizeOf(data.kind)), inst);
}

LogicalResult Decoder::decodeAtomic(LLVM::AtomicRMWOp op) {
  FailureOr<Space> space = spaceOf(op, op.getPtr());
  FailureOr<Part> to = defineScalar(op.getResult());
  if (failed(space) || failed(to))
    return failure();
  using B = LLVM::AtomicBinOp;
  std::optional<AtomicOp> which;
  switch (op.getBinOp()) {
  case B::xchg:
    which = AtomicOp::Xchg;
    break;
  case B::add:
    which = AtomicOp::Add;
    break;
  case B::_and:
    which = AtomicOp::And;
    break;
  case B::_or:
    which = AtomicOp::Or;
    break;
  case B::max:
    which = AtomicOp::Max;
    break;
  case B::min:
    which = AtomicOp::Min;
    break;
  case B::umax:
    which = AtomicOp::UMax;
    break;
  case B::umin:
    which = AtomicOp::UMin;
    break;
  case B::fadd:
    which = AtomicOp::FAdd;
    break;
  case B::fmax:
    which = AtomicOp::FMax;
    break;
  case B::fmin:
    which = AtomicOp::FMin;
    break;
  default:
    return unsupported(op, "this atomic operation");
  }
  Part v = single(op.getVal());
  if (v.count != 1)
    return unsupported(op, "atomic operations on vectors");
  Inst inst;
  inst.dst = to->offset;
  inst.a = single(op.getPtr()).offset;
  inst.b = v.offset;
  inst.imm2 = int64_t(*which);
  return emitChecked(op, atomicHandler(*space, v.kind), inst);
}

std::optional<LogicalResult> Decoder::decodeMemory(Operation *op) {
  if (auto gep = dyn_cast<LLVM::GEPOp>(op))
    return decodeGEP(gep);
  if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
    return decodeAddressOf(address);
  if (auto allocation = dyn_cast<LLVM::AllocaOp>(op))
    return decodeAlloca(allocation);
  if (auto cast = dyn_cast<LLVM::AddrSpaceCastOp>(op))
    return decodeAddrSpaceCast(cast);
  if (isa<LLVM::PtrToIntOp, LLVM::IntToPtrOp>(op)) {
    if (get(op->getOperand(0)).size() != 1)
      return unsupported(op, "buffer resources have no integer value here");
    FailureOr<Kind> kind = kindOf(op, op->getResult(0).getType());
    if (failed(kind))
      return failure();
    values[op->getResult(0)] = {
        resizeInt(single(op->getOperand(0)), *kind, false)};
    return success();
  }
  // An atomic access orders and does not race, unlike a plain one.
  auto isAtomic = [](auto access) {
    return access.getOrdering() != LLVM::AtomicOrdering::not_atomic;
  };
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    if (isAtomic(load))
      return unsupported(op, "atomic loads");
    return decodeLoad(op, load.getAddr(), load.getResult(),
                      alignmentOf(load.getType(), load.getAlignment()));
  }
  if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
    if (isAtomic(store))
      return unsupported(op, "atomic stores");
    return decodeStore(
        op, store.getAddr(), store.getValue(),
        alignmentOf(store.getValue().getType(), store.getAlignment()));
  }
  if (auto load = dyn_cast<LLVM::MaskedLoadOp>(op)) {
    return decodeMasked(op, load.getData(), load.getMask(), {},
                        load.getPassThru());
  }
  if (auto store = dyn_cast<LLVM::MaskedStoreOp>(op))
    return decodeMasked(op, store.getData(), store.getMask(), store.getValue(),
                        {});
  if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op))
    return decodeAtomic(atomic);
  if (auto fence = dyn_cast<LLVM::FenceOp>(op)) {
    // A fence that releases completes LDS accesses: to the workgroup or beyond,
    // or within the thread where a wait of the program's own follows, which the
    // finding asks for either way. One that acquires keeps later ones behind
    // it.
    StringRef scope = fence.getSyncscope().value_or("");
    LLVM::AtomicOrdering ordering = fence.getOrdering();
    bool orders = scope.starts_with("singlethread")
                      ? ordering == LLVM::AtomicOrdering::release
                      : !scope.starts_with("wavefront");
    if (orders) {
      Inst &inst = emit(fenceHandler());
      inst.imm = ordering == LLVM::AtomicOrdering::acquire;
      inst.b = ordering == LLVM::AtomicOrdering::release;
    }
    return success();
  }
  bool isMarker = llvm::StringSwitch<bool>(op->getName().getStringRef())
                      .Cases({"llvm.intr.assume", "llvm.intr.lifetime.start",
                              "llvm.intr.lifetime.end", "llvm.intr.dbg.value",
                              "llvm.intr.dbg.declare", "llvm.intr.dbg.label",
                              "llvm.intr.prefetch",
                              "llvm.intr.experimental.noalias.scope.decl"},
                             true)
                      .Default(false);
  if (isMarker)
    return success();
  return std::nullopt;
}
