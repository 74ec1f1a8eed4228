//===- DecoderAMD.cpp - Intrinsics llvm.amdgcn.* --------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

static std::optional<FloatOp> mathOp(StringRef name) {
  return llvm::StringSwitch<std::optional<FloatOp>>(name)
      .Case("exp2", FloatOp::Exp2Ftz)
      .Case("log", FloatOp::Log2Ftz)
      .Case("rcp", FloatOp::RcpFtz)
      .Case("rsq", FloatOp::RsqFtz)
      .Case("sqrt", FloatOp::Sqrt)
      .Case("fmed3", FloatOp::Med3)
      .Case("ldexp", FloatOp::Ldexp)
      .Default(std::nullopt);
}

/// Scheduling and power hints, without effect on values.
static bool isHint(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"sched.barrier", "sched.group.barrier", "iglp.opt", "s.setprio",
              "s.nop", "s.sleep", "wave.barrier"},
             true)
      .Default(false);
}

/// CDNA3 ISA and RDNA3 ISA, 'Data Parallel Processing (DPP)', table of
/// DPP_CTRL: shifts of whole waves and broadcasts of rows are CDNA's, row_xmask
/// is RDNA's.
static bool isDPPControl(int64_t control, bool isCDNA) {
  if (control < 0 || control > 0x1ff)
    return false;
  if (control <= 0xff) // quad_perm
    return true;
  switch (control & 0x1f0) {
  case 0x100: // row_shl, row_shr, row_ror by 1 to 15
  case 0x110:
  case 0x120:
    return (control & 15) != 0;
  case 0x130: // wave_shl, wave_rol, wave_shr, wave_ror
    return isCDNA && (control & 3) == 0;
  case 0x140: // row_mirror, row_half_mirror; row_bcast:15, row_bcast:31
    return control <= 0x141 || (isCDNA && control <= 0x143);
  case 0x150: // row_newbcast, row_share
    return true;
  case 0x160: // row_xmask
    return !isCDNA;
  default:
    return false;
  }
}

std::optional<LogicalResult> Decoder::decodeAMD(Operation *op, StringRef name,
                                                ArrayRef<IntrinsicArg> args) {
  if (isHint(name))
    return success();

  // The name without the suffix of an overloaded type.
  StringRef base = name;
  if (base.contains('.')) {
    StringRef suffix = base.rsplit('.').second;
    if (suffix == "f32" || suffix == "f16" || suffix == "f64" ||
        suffix == "i32" || suffix == "i64" || suffix == "bf16" ||
        suffix == "v2f16" || suffix == "v2bf16" || suffix == "v2i16")
      base = base.rsplit('.').first;
  }
  if (std::optional<FloatOp> which = mathOp(base)) {
    Part a = single(args[0].value);
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    // The f64 forms do not flush; f16 has no numbers that are subnormal in f32.
    if (a.kind == Kind::F64 && *which == FloatOp::RcpFtz)
      which = FloatOp::Rcp;
    if (a.kind == Kind::F64 && *which == FloatOp::RsqFtz)
      which = FloatOp::Rsqrt;
    if (*which == FloatOp::Med3)
      countArithmetic(a);
    else
      counts->transcendental += a.count;
    Inst inst;
    inst.dst = to->offset;
    inst.a = a.offset;
    if (args.size() > 1 && args[1].value)
      inst.b = single(args[1].value).offset;
    if (args.size() > 2 && args[2].value)
      inst.c = single(args[2].value).offset;
    inst.n = elements(a);
    return emitChecked(op, floatHandler(*which, a.kind), inst);
  }
  if (base == "cvt.pkrtz") {
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    counts->arithmetic += 1;
    for (unsigned k = 0; k < 2; ++k) {
      Inst &inst = emit(truncateToHalfHandler());
      inst.dst = to->offset + k * bytesOf(Kind::F16);
      inst.a = single(args[k].value).offset;
      inst.n = program.lanes;
    }
    return success();
  }
  if (base == "perm" || base == "mul.u24" || base == "mul.i24") {
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    countArithmetic(*to);
    Inst inst;
    inst.dst = to->offset;
    inst.a = single(args[0].value).offset;
    inst.b = single(args[1].value).offset;
    if (args.size() > 2)
      inst.c = single(args[2].value).offset;
    inst.n = elements(*to);
    return emitChecked(
        op,
        base == "perm"
            ? permuteBytesHandler(true)
            : intHandler(base == "mul.u24" ? IntOp::MulU24 : IntOp::MulI24,
                         to->kind),
        inst);
  }

  // Exchange between lanes: on 32-bit words, one instruction per word.
  auto perWord = [&](Handler handler, Value source,
                     auto fill) -> LogicalResult {
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    Part words = toWords(single(source));
    Part out{Kind::I32, words.count, allocate(Kind::I32, words.count)};
    for (uint32_t k = 0; k < words.count; ++k) {
      ++counts->crossLane;
      Inst &inst = emit(handler);
      inst.dst = out.offset + k * bytesOf(Kind::I32);
      fill(inst, words.offset + k * bytesOf(Kind::I32), k);
    }
    fromWords(out, *to);
    return success();
  };
  if (base == "readfirstlane")
    return perWord(crossLaneHandler(CrossLane::ReadFirstLane), args[0].value,
                   [](Inst &i, uint32_t word, unsigned) { i.a = word; });
  if (base == "readlane") {
    Part lane = single(args[1].value);
    return perWord(crossLaneHandler(CrossLane::ReadLane), args[0].value,
                   [&](Inst &i, uint32_t word, unsigned) {
                     i.a = word;
                     i.b = lane.offset;
                   });
  }
  if (base == "ds.bpermute" || base == "ds_bpermute") {
    Part index = single(args[0].value);
    return perWord(crossLaneHandler(CrossLane::Bpermute), args[1].value,
                   [&](Inst &i, uint32_t word, unsigned) {
                     i.a = index.offset;
                     i.b = word;
                   });
  }
  if (base == "ds.swizzle" || base == "ds_swizzle") {
    auto pattern = constantOf(args[1]);
    if (!pattern || (*pattern & 0xc000) == 0xc000)
      return unsupported(op, "rotate and FFT patterns of ds_swizzle");
    return perWord(crossLaneHandler(CrossLane::Swizzle), args[0].value,
                   [&](Inst &i, uint32_t word, unsigned) {
                     i.a = word;
                     i.imm = uint32_t(*pattern & 0xffff);
                   });
  }
  if (base.starts_with("ds.read.tr16.b64")) {
    Part pointer = single(args[0].value);
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to) || to->count != 4 || bytesOf(to->kind) != bytesOf(Kind::I16))
      return unsupported(op);
    if (target.chip != "gfx950")
      return unsupported(op, target.chip + " has no reads across rows");
    if (pointer.kind != Kind::I32)
      return unsupported(op, "the pointer must be in address space 3");
    Inst inst;
    inst.a = pointer.offset;
    inst.dst = to->offset;
    inst.imm2 = bytesOf(to->kind);
    return emitChecked(op, readAcrossRowsHandler(), inst);
  }
  if (base == "update.dpp" || base == "mov.dpp") {
    bool hasOld = base == "update.dpp";
    unsigned first = hasOld ? 1 : 0;
    uint32_t controls = 0;
    const unsigned shifts[] = {0, 12, 16, 20};
    for (unsigned k = 0; k < 4; ++k) {
      auto value = constantOf(args[first + 1 + k]);
      if (!value)
        return unsupported(op, "the controls must be constants");
      if (k == 0 &&
          !isDPPControl(*value, StringRef(target.chip).starts_with("gfx9")))
        return unsupported(op, target.chip + " has no such DPP control");
      controls |= uint32_t(*value & (k == 0 ? 0x1ff : 15)) << shifts[k];
    }
    Part old = toWords(single(args[0].value));
    return perWord(crossLaneHandler(CrossLane::DPP), args[first].value,
                   [&](Inst &i, uint32_t word, unsigned k) {
                     i.a = old.offset + k * bytesOf(Kind::I32);
                     i.b = word;
                     i.imm = controls;
                   });
  }
  if (base == "permlane16" || base == "permlanex16") {
    auto fetch = constantOf(args[4]), bound = constantOf(args[5]);
    if (!fetch || !bound)
      return unsupported(op, "the controls must be constants");
    Part old = toWords(single(args[0].value));
    uint32_t flags =
        (base == "permlanex16") | (*fetch ? 2 : 0) | (*bound ? 4 : 0);
    return perWord(crossLaneHandler(CrossLane::Permlane16), args[1].value,
                   [&](Inst &i, uint32_t word, unsigned k) {
                     i.a = word;
                     i.b = single(args[2].value).offset;
                     i.c = single(args[3].value).offset;
                     i.imm = flags;
                     i.imm2 = old.offset + k * bytesOf(Kind::I32);
                   });
  }
  if (base == "permlane16.swap" || base == "permlane32.swap") {
    FailureOr<Parts> to = allocate(op, op->getResult(0).getType());
    if (failed(to) || to->size() != 2)
      return unsupported(op);
    values[op->getResult(0)] = *to;
    ++counts->crossLane;
    Inst &inst = emit(crossLaneHandler(CrossLane::SwapRows));
    inst.dst = (*to)[0].offset;
    inst.imm2 = (*to)[1].offset;
    inst.a = single(args[0].value).offset;
    inst.b = single(args[1].value).offset;
    inst.imm = base == "permlane16.swap" ? 16 : 32;
    return success();
  }
  if (base == "mbcnt.lo" || base == "mbcnt.hi") {
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    Inst &inst = emit(crossLaneHandler(
        base == "mbcnt.lo" ? CrossLane::Mbcnt : CrossLane::MbcntHi));
    inst.dst = to->offset;
    inst.a = single(args[0].value).offset;
    inst.b = single(args[1].value).offset;
    return success();
  }
  if (base == "ballot") {
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    if (8 * sizeOf(to->kind) < program.lanes)
      return unsupported(op, "a bit for each lane is expected");
    ++counts->crossLane;
    Inst &inst = emit(crossLaneHandler(CrossLane::Ballot));
    inst.dst = to->offset;
    inst.a = single(args[0].value).offset;
    inst.imm = sizeOf(to->kind);
    return success();
  }
  return std::nullopt;
}

/// Whether `op` is rocdl.NAME or a call of llvm.amdgcn.NAME.
static bool isIntrinsic(Operation *op, StringRef name) {
  if (!op)
    return false;
  StringRef is = op->getName().getStringRef();
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op))
    is = call.getIntrin();
  return (is.consume_front("rocdl.") || is.consume_front("llvm.amdgcn.")) &&
         is == name;
}

/// Bytes a lane of a load to LDS. CDNA3 ISA, 'Memory: loads to LDS', and CDNA4
/// ISA; those of 1 and 2 bytes, which the ISA places at a distance of 4, are
/// not modelled.
static bool isLoadToLDSSize(std::optional<int64_t> size, StringRef chip) {
  return size == 4 || (chip == "gfx950" && (size == 12 || size == 16));
}

/// Barriers, waits, buffer resources, and loads to LDS.
std::optional<LogicalResult>
Decoder::decodeAMDMemory(Operation *op, StringRef name,
                         ArrayRef<IntrinsicArg> args) {
  if (name == "s.barrier") {
    emit(barrierHandler()).imm2 = 1;
    return success();
  }
  // The halves of a barrier of gfx12. What happens between them is ordered with
  // neither side, so nothing may be there.
  if (name == "s.barrier.signal" || name == "s.barrier.wait") {
    if (constantOf(args[0]) != -1)
      return unsupported(op, "a barrier other than that of the workgroup");
    bool isWait = name == "s.barrier.wait";
    Operation *other = isWait ? op->getPrevNode() : op->getNextNode();
    if (!isIntrinsic(other, isWait ? "s.barrier.signal" : "s.barrier.wait"))
      return unsupported(op, "signal and wait of a barrier must be neighbours");
    if (isWait)
      emit(barrierHandler()).imm2 = 1;
    return success();
  }
  if (name == "barrier") { // rocdl.barrier: with fences on both sides
    emit(fenceHandler());
    emit(barrierHandler());
    return success();
  }
  auto wait = [&](uint32_t vectorMemory, uint32_t lds) {
    Inst &inst = emit(waitCountHandler());
    inst.imm = vectorMemory;
    inst.imm2 = lds;
    return success();
  };
  const uint32_t none = UINT32_MAX / 2;
  if (name == "s.waitcnt") {
    auto bits = constantOf(args[0]);
    if (!bits)
      return unsupported(op, "the counts must be a constant");
    // CDNA3 ISA, S_WAITCNT: vmcnt in bits 3:0 and 15:14, lgkmcnt in 11:8.
    // RDNA3 ISA: vmcnt in 15:10, lgkmcnt in 9:4.
    bool rdna3 = StringRef(target.chip).starts_with("gfx11");
    uint32_t v = rdna3 ? *bits >> 10 & 63 : (*bits & 15) | (*bits >> 10 & 48);
    uint32_t l = rdna3 ? *bits >> 4 & 63 : *bits >> 8 & 15;
    return wait(v == 63 ? none : v, l == (rdna3 ? 63u : 15u) ? none : l);
  }
  if (name == "s.wait.loadcnt" || name == "s.wait.dscnt") {
    auto count = constantOf(args[0]);
    if (!count)
      return unsupported(op, "the count must be a constant");
    return name == "s.wait.dscnt" ? wait(none, *count) : wait(*count, none);
  }
  if (name == "s.wait.storecnt" || name == "s.wait.expcnt")
    return success();

  StringRef base = name;
  auto hasBase = [&](StringRef prefix) {
    return base == prefix ||
           (base.starts_with(prefix) && base[prefix.size()] == '.');
  };
  if (hasBase("make.buffer.rsrc")) {
    if (constantOf(args[1]).value_or(1) != 0)
      return unsupported(op, "buffer resources with a stride");
    Parts parts;
    parts.push_back(single(args[0].value));
    parts.push_back(resizeInt(single(args[2].value), Kind::I64, false));
    parts.push_back(single(args[3].value));
    auto type = cast<LLVM::LLVMPointerType>(op->getResult(0).getType());
    if (type.getAddressSpace() == 7)
      parts.push_back(constantI32(0));
    else if (type.getAddressSpace() != 8)
      return unsupported(op, "this result address space");
    values[op->getResult(0)] = parts;
    return success();
  }
  auto resourceOf = [&](const IntrinsicArg &resource,
                        const IntrinsicArg &offset,
                        const IntrinsicArg &scalar) {
    const Parts parts = get(resource.value);
    auto word = [&](const IntrinsicArg &arg) {
      return arg.value ? single(arg.value).offset
                       : constantI32(arg.immediate).offset;
    };
    uint32_t at = word(offset), scalarAt = word(scalar);
    // CDNA3 ISA, 'Buffer Addressing', range checking of raw buffers: against
    // the number of records less the scalar offset. RDNA's leaves it out.
    uint32_t records = parts[1].offset;
    if (constantOf(scalar) != 0 && StringRef(target.chip).starts_with("gfx9")) {
      Part by = resizeInt({Kind::I32, 1, scalarAt}, Kind::I64, false);
      uint32_t left = allocate(Kind::I64, 1);
      Inst &inst = emit(intHandler(IntOp::USubSat, Kind::I64));
      inst.dst = left;
      inst.a = records;
      inst.b = by.offset;
      inst.n = program.lanes;
      records = left;
    }
    program.resources.push_back({parts[0].offset, records, at, scalarAt});
    return uint32_t(program.resources.size() - 1);
  };
  // The LDS form first: its name extends the other one's.
  if (hasBase("raw.ptr.buffer.load.lds")) {
    auto size = constantOf(args[2]), offset = constantOf(args[5]);
    if (!offset || !isLoadToLDSSize(size, target.chip))
      return unsupported(op, "loads to LDS are of 4 bytes, on gfx950 also of "
                             "12 and 16, at a constant offset");
    uint32_t index = resourceOf(args[0], args[3], args[4]);
    Inst &inst = emit(bufferLoadToLDSHandler());
    inst.a = single(args[1].value).offset;
    inst.b = index;
    inst.imm = *size;
    inst.imm64 = *offset;
    return success();
  }
  if (hasBase("raw.ptr.buffer.load")) {
    uint32_t index = resourceOf(args[0], args[1], args[2]);
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    Inst inst;
    inst.dst = to->offset;
    inst.a = index;
    inst.n = to->count;
    inst.imm = std::min(4u, sizeOf(to->kind) * to->count);
    return emitChecked(op, bufferLoadHandler(sizeOf(to->kind)), inst);
  }
  if (hasBase("raw.ptr.buffer.store")) {
    uint32_t index = resourceOf(args[1], args[2], args[3]);
    Part v = single(args[0].value);
    Inst inst;
    inst.a = index;
    inst.b = v.offset;
    inst.n = v.count;
    inst.imm = std::min(4u, sizeOf(v.kind) * v.count);
    return emitChecked(op, bufferStoreHandler(sizeOf(v.kind)), inst);
  }
  if (hasBase("global.load.lds") || hasBase("load.to.lds")) {
    auto size = constantOf(args[2]), offset = constantOf(args[3]);
    if (!offset || !isLoadToLDSSize(size, target.chip))
      return unsupported(op, "loads to LDS are of 4 bytes, on gfx950 also of "
                             "12 and 16, at a constant offset");
    const Parts source = get(args[0].value);
    bool isBuffer = source.size() == 4;
    uint32_t from = source.front().offset;
    if (isBuffer) {
      program.resources.push_back(
          {source[0].offset, source[1].offset, source[3].offset});
      from = program.resources.size() - 1;
    }
    Inst &inst = emit(isBuffer ? bufferLoadToLDSHandler() : loadToLDSHandler());
    inst.a = single(args[1].value).offset;
    inst.b = from;
    inst.imm = *size;
    inst.imm64 = *offset;
    return success();
  }
  return std::nullopt;
}
