//===- DecoderIntrinsics.cpp - Operations known by an intrinsic's name ----===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of the rocdl and nvvm dialects are turned into the LLVM intrinsic
// that they stand for, so that each exists once, in whatever form it arrives.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Matrix.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

/// Attributes of rocdl operations that are trailing operands of the intrinsic.
static ArrayRef<StringRef> trailingAttributes(StringRef name) {
  static const llvm::StringMap<llvm::SmallVector<StringRef, 6>> table = {
      {"rocdl.update.dpp", {"dppCtrl", "rowMask", "bankMask", "boundCtrl"}},
      {"rocdl.permlanex16", {"fi", "boundControl"}},
      {"rocdl.permlane16.swap", {"fi", "boundControl"}},
      {"rocdl.permlane32.swap", {"fi", "boundControl"}},
      {"rocdl.load.to.lds", {"size", "offset", "aux"}},
      {"rocdl.global.load.lds", {"size", "offset", "aux"}},
      {"rocdl.s.waitcnt", {"bitfield"}},
      {"rocdl.s.wait.dscnt", {"count"}},
      {"rocdl.s.wait.loadcnt", {"count"}},
      {"rocdl.s.wait.storecnt", {"count"}},
      {"rocdl.s.barrier.signal", {"id"}},
      {"rocdl.s.barrier.wait", {"id"}},
      {"nvvm.cp.async.wait.group", {"n"}},
  };
  auto it = table.find(name);
  return it == table.end() ? ArrayRef<StringRef>() : it->second;
}

LogicalResult Decoder::decodeCall(Operation *op, StringRef intrinsic) {
  llvm::SmallVector<IntrinsicArg> args;
  ValueRange operands = op->getOperands();
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    operands = call.getArgs();
  for (Value operand : operands)
    args.push_back({operand});
  std::string name = intrinsic.str();
  if (!name.empty() && !fitsIntrinsic(llvmContext, name, operands.getTypes(),
                                      op->getResultTypes()))
    return unsupported(op, "LLVM has no intrinsic " + name + " of these types");
  if (name.empty()) {
    StringRef opName = op->getName().getStringRef();
    name = opName.starts_with("rocdl.")
               ? "llvm.amdgcn." + opName.drop_front(6).str()
               : "llvm." + opName.str();
    for (StringRef attribute : trailingAttributes(opName)) {
      auto value = op->getAttrOfType<IntegerAttr>(attribute);
      args.push_back({Value(), value ? value.getValue().getSExtValue() : 0});
    }
  }
  return decodeIntrinsic(op, name, args);
}

/// Thread and block numbers, in both vendors' names.
std::optional<LogicalResult> Decoder::decodeSpecial(Operation *op,
                                                    StringRef name) {
  struct Entry {
    StringRef prefix;
    Special special;
  };
  static const Entry entries[] = {
      {"llvm.amdgcn.workitem.id.", Special::ThreadId},
      {"llvm.amdgcn.workgroup.id.", Special::BlockId},
      {"llvm.amdgcn.workgroup.dim.", Special::BlockDim},
      {"llvm.amdgcn.grid.dim.", Special::GridDim},
      {"llvm.nvvm.read.ptx.sreg.tid.", Special::ThreadId},
      {"llvm.nvvm.read.ptx.sreg.ctaid.", Special::BlockId},
      {"llvm.nvvm.read.ptx.sreg.ntid.", Special::BlockDim},
      {"llvm.nvvm.read.ptx.sreg.nctaid.", Special::GridDim},
      {"llvm.nvvm.read.ptx.sreg.laneid", Special::LaneId},
      {"llvm.nvvm.read.ptx.sreg.warpid", Special::WarpId},
      {"llvm.nvvm.read.ptx.sreg.nwarpid", Special::WarpCount},
  };
  auto define = [&](Special special, unsigned dimension) -> LogicalResult {
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    if (sizeOf(to->kind) < 4)
      return unsupported(op, "a 32- or 64-bit result is expected");
    Inst &inst = emit(specialHandler(special));
    inst.dst = to->offset;
    inst.imm = dimension;
    inst.n = sizeOf(to->kind);
    return success();
  };
  for (const Entry &entry : entries) {
    StringRef rest = name;
    if (!rest.consume_front(entry.prefix))
      continue;
    if (rest.empty())
      return define(entry.special, 0);
    if (rest.size() == 1 && rest[0] >= 'x' && rest[0] <= 'z')
      return define(entry.special, rest[0] - 'x');
  }
  if (name == "llvm.amdgcn.wavefrontsize" ||
      name == "llvm.nvvm.read.ptx.sreg.warpsize") {
    values[op->getResult(0)] = {constantI32(program.lanes)};
    return success();
  }
  return std::nullopt;
}

LogicalResult Decoder::decodeIntrinsic(Operation *op, StringRef name,
                                       ArrayRef<IntrinsicArg> args) {
  if (auto result = decodeSpecial(op, name))
    return *result;
  if (auto result = decodeMatrix(op, name, args))
    return *result;
  if (name.starts_with("llvm.amdgcn.")) {
    if (auto result = decodeAMD(op, name.drop_front(12), args))
      return *result;
    if (auto result = decodeAMDMemory(op, name.drop_front(12), args))
      return *result;
    return unsupported(op, "intrinsic " + name);
  }
  if (name.starts_with("llvm.nvvm.")) {
    if (auto result = decodeNVIDIA(op, name.drop_front(10), args))
      return *result;
    return unsupported(op, "intrinsic " + name);
  }
  // Keeps ops apart for those who optimize.
  if (name == "llvm.sideeffect")
    return success();
  // "llvm.fma.f32" and the like: the operation without its type suffix.
  StringRef base = name.drop_front(5);
  while (!base.empty()) {
    if (auto result = decodeArith(op, ("llvm.intr." + base).str()))
      return *result;
    base = base.contains('.') ? base.rsplit('.').first : StringRef();
  }
  return unsupported(op, "intrinsic " + name);
}

/// The elements of an operand given as parts: 16-bit inputs may come packed in
/// 32-bit words, the low half first.
static void listElements(ArrayRef<Part> parts, unsigned elementSize,
                         unsigned lanes, std::vector<MatrixElement> &elements) {
  for (const Part &part : parts) {
    unsigned size = sizeOf(part.kind);
    for (uint32_t e = 0; e < part.count; ++e)
      for (unsigned at = 0; at + elementSize <= size; at += elementSize)
        elements.push_back({part.offset + e * size * lanes + at, size});
  }
}

LogicalResult Decoder::decodeMMA(Operation *op, const MatrixShape *shape,
                                 ValueRange a, ValueRange b, ValueRange c) {
  MatrixCall call;
  call.shape = shape;
  bool isHalf =
      shape->input == MatrixInput::F16 || shape->input == MatrixInput::BF16;
  call.flushesSubnormals = isHalf && target.flushesSubnormals;
  auto list = [&](ValueRange operands, unsigned size,
                  std::vector<MatrixElement> &elements) {
    for (Value v : operands)
      listElements(get(v), size, program.lanes, elements);
  };
  list(a, isHalf ? 2 : 4, call.a);
  list(b, isHalf ? 2 : 4, call.b);
  list(c, 4, call.c);
  FailureOr<Parts> to = allocate(op, op->getResult(0).getType());
  if (failed(to))
    return failure();
  values[op->getResult(0)] = *to;
  listElements(*to, 4, program.lanes, call.d);
  if (program.lanes != shape->lanes)
    return unsupported(op, "it needs subgroups of " + Twine(shape->lanes) +
                               " lanes, the target has " +
                               Twine(program.lanes));
  if (call.a.size() != shape->aElements || call.b.size() != shape->bElements ||
      call.c.size() != shape->dElements || call.d.size() != shape->dElements)
    return unsupported(
        op, "operands of " + Twine(call.a.size()) + ", " +
                Twine(call.b.size()) + ", " + Twine(call.c.size()) +
                " elements a lane, expected " + Twine(shape->aElements) + ", " +
                Twine(shape->bElements) + ", " + Twine(shape->dElements));
  ++counts->matrix;
  counts->multiplyAdds += uint64_t(shape->m) * shape->n * shape->k;
  program.matrices.push_back(std::move(call));
  Inst &inst = emit(matrixHandler());
  inst.imm = program.matrices.size() - 1;
  inst.imm2 = target.checksNonFinite;
  return success();
}

std::optional<LogicalResult>
Decoder::decodeMatrix(Operation *op, StringRef name,
                      ArrayRef<IntrinsicArg> args) {
  // Overloaded intrinsics carry type suffixes (.v8f32.v16bf16).
  std::string key = name.str();
  const MatrixShape *shape = findMatrixShape(key);
  while (!shape && StringRef(key).contains('.')) {
    key.resize(key.rfind('.'));
    if (!StringRef(key).contains("mfma.f32.") &&
        !StringRef(key).contains("wmma.f32."))
      return std::nullopt;
    shape = findMatrixShape(key);
  }
  if (!shape)
    return std::nullopt;
  auto valuesOf = [&](unsigned first, unsigned count) {
    llvm::SmallVector<Value> result;
    for (unsigned k = first; k < first + count && k < args.size(); ++k)
      result.push_back(args[k].value);
    return result;
  };
  if (StringRef(key).starts_with("llvm.amdgcn.")) {
    if (args.size() < 3)
      return unsupported(op, "three matrix operands are expected");
    // cbsz, abid and blgp broadcast or permute blocks of an operand.
    for (unsigned k = 3; k < args.size(); ++k)
      if (constantOf(args[k]).value_or(1) != 0)
        return unsupported(op, "cbsz, abid and blgp must be 0");
    Part a = single(args[0].value);
    if (shape->replicated && a.count * sizeOf(a.kind) == 16)
      shape = findMatrixShape(key + "#gfx12");
    if (!StringRef(target.chip).starts_with(shape->chips))
      return unsupported(op, "with these operands it is an operation of " +
                                 shape->chips + ", not of " + target.chip);
    return decodeMMA(op, shape, valuesOf(0, 1), valuesOf(1, 1), valuesOf(2, 1));
  }
  // NVIDIA: registers of A, of B, then four floats of C.
  unsigned perRegister = shape->input == MatrixInput::TF32 ? 1 : 2;
  unsigned a = shape->aElements / perRegister,
           b = shape->bElements / perRegister;
  if (args.size() != a + b + 4)
    return unsupported(op, "a wrong number of operands");
  return decodeMMA(op, shape, valuesOf(0, a), valuesOf(a, b),
                   valuesOf(a + b, 4));
}
