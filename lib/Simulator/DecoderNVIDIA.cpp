//===- DecoderNVIDIA.cpp - Intrinsics llvm.nvvm.* and nvvm operations -----===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Matrix.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

/// The text of an enum attribute, as in "#nvvm.shfl_kind bfly" or
/// "#nvvm.mma_type<bf16>". The dialect's header is by far the slowest of
/// MLIR's, so attributes are read by their spelling.
static std::string textOf(Operation *op, StringRef attribute) {
  std::string text;
  if (Attribute value = op->getAttr(attribute)) {
    llvm::raw_string_ostream os(text);
    value.print(os);
  }
  return text;
}

static unsigned numberAfter(StringRef text, StringRef key) {
  unsigned value = 0;
  size_t at = text.find((key + " = ").str());
  if (at != StringRef::npos)
    text.drop_front(at + key.size() + 3).consumeInteger(10, value);
  return value;
}

static std::optional<FloatOp> mathOp(StringRef name) {
  return llvm::StringSwitch<std::optional<FloatOp>>(name)
      .Cases({"ex2.approx.ftz.f", "ex2.approx.ftz", "ex2.approx.ftz.f32"},
             FloatOp::Exp2Ftz)
      .Cases({"ex2.approx.f", "ex2.approx", "ex2.approx.f32",
              "ex2.approx.f16x2", "ex2.approx.f16"},
             FloatOp::Exp2)
      .Case("lg2.approx.ftz.f", FloatOp::Log2Ftz)
      .Case("lg2.approx.f", FloatOp::Log2)
      .Cases({"rcp.approx.ftz.f", "rcp.approx.ftz.f32"}, FloatOp::RcpFtz)
      .Cases({"rcp.rn.f", "rcp.rn.d"}, FloatOp::Rcp)
      .Case("rsqrt.approx.ftz.f", FloatOp::RsqFtz)
      .Case("rsqrt.approx.f", FloatOp::Rsqrt)
      .Cases({"sqrt.rn.f", "sqrt.approx.f", "sqrt.approx.ftz.f", "sqrt.f"},
             FloatOp::Sqrt)
      .Cases({"tanh.approx.f", "tanh.approx.f32"}, FloatOp::Tanh)
      .Cases({"fmax.f", "fmax.ftz.f"}, FloatOp::MaxNum)
      .Cases({"fmin.f", "fmin.ftz.f"}, FloatOp::MinNum)
      .Cases({"fmax.nan.f", "fmax.ftz.nan.f"}, FloatOp::Maximum)
      .Cases({"fmin.nan.f", "fmin.ftz.nan.f"}, FloatOp::Minimum)
      .Cases({"fma.rn.f", "fma.rn.ftz.f", "fma.rn.d"}, FloatOp::FMA)
      .Cases({"div.approx.f", "div.approx.ftz.f", "div.rn.f", "div.full"},
             FloatOp::Div)
      .Default(std::nullopt);
}

static bool isFence(StringRef name) {
  return name.starts_with("membar.") || name.starts_with("fence.") ||
         name == "memory.barrier" || name == "bar.warp.sync";
}

std::optional<LogicalResult> Decoder::decodeNVVM(Operation *op,
                                                 StringRef name) {
  if (!name.consume_front("nvvm."))
    return std::nullopt;
  if (std::optional<LogicalResult> decoded = decodeBoxes(op, name))
    return decoded;
  auto call = [&](const Twine &intrinsic, ArrayRef<IntrinsicArg> args) {
    return decodeIntrinsic(op, ("llvm.nvvm." + intrinsic).str(), args);
  };
  llvm::SmallVector<IntrinsicArg> args;
  for (Value operand : op->getOperands())
    args.push_back({operand});

  if (name == "shfl.sync" || name == "vote.sync") {
    std::string kind = textOf(op, "kind");
    for (StringRef which :
         {"bfly", "up", "down", "idx", "any", "all", "ballot", "uni"})
      if (StringRef(kind).contains(which))
        return call(name + "." + which, args);
    return unsupported(op);
  }
  if (name == "barrier0")
    return call("barrier.cta.sync.aligned.all", {IntrinsicArg()});
  if (name == "barrier") {
    auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
    if (!segments || segments.size() < 2 || op->getNumResults())
      return unsupported(op, "barriers with a reduction");
    llvm::SmallVector<IntrinsicArg> operands(2);
    if (segments[0])
      operands[0] = args[0];
    if (segments[1])
      operands[1] = args[segments[0]];
    return call("barrier.cta.sync.aligned.count", operands);
  }
  if (name == "cp.async.shared.global") {
    auto size = op->getAttrOfType<IntegerAttr>("size");
    return call("cp.async.cg.shared.global." + Twine(size.getInt()) +
                    (args.size() == 3 ? ".s" : ""),
                args);
  }
  if (name == "ldmatrix" || name == "stmatrix") {
    bool isLoad = name == "ldmatrix";
    unsigned count = isLoad ? op->getAttrOfType<IntegerAttr>("num").getInt()
                            : args.size() - 1;
    bool transposed = StringRef(textOf(op, "layout")).contains("col");
    std::string shape = textOf(op, "shape");
    if (numberAfter(shape, "m") != 8 || numberAfter(shape, "n") != 8)
      return unsupported(op, "shapes other than 8x8");
    return call((isLoad ? "ldmatrix" : "stmatrix") +
                    Twine(".sync.aligned.m8n8.x") + Twine(count) +
                    (transposed ? ".trans" : "") + ".b16",
                args);
  }
  if (name == "mma.sync") {
    std::string shape = textOf(op, "shape"),
                type = textOf(op, "multiplicandAPtxType");
    auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
    MatrixInput input = StringRef(type).contains("bf16")   ? MatrixInput::BF16
                        : StringRef(type).contains("tf32") ? MatrixInput::TF32
                                                           : MatrixInput::F16;
    const MatrixShape *found =
        findMMA(numberAfter(shape, "m"), numberAfter(shape, "n"),
                numberAfter(shape, "k"), input);
    if (!found || !segments)
      return unsupported(op, "this shape and type");
    if (!StringRef(textOf(op, "layoutA")).contains("row") ||
        !StringRef(textOf(op, "layoutB")).contains("col"))
      return unsupported(op, "layouts other than row, col");
    ValueRange all = op->getOperands();
    return decodeMMA(op, found, all.take_front(segments[0]),
                     all.slice(segments[0], segments[1]),
                     all.drop_front(segments[0] + segments[1]));
  }
  return std::nullopt;
}

std::optional<LogicalResult>
Decoder::decodeNVIDIA(Operation *op, StringRef name,
                      ArrayRef<IntrinsicArg> args) {
  if (std::optional<FloatOp> which = mathOp(name)) {
    Part a = single(args[0].value);
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    if (args.size() > 1)
      countArithmetic(a);
    else
      counts->transcendental += a.count;
    Inst inst;
    inst.dst = to->offset;
    inst.a = a.offset;
    if (args.size() > 1)
      inst.b = single(args[1].value).offset;
    if (args.size() > 2)
      inst.c = single(args[2].value).offset;
    inst.n = elements(a);
    return emitChecked(op, floatHandler(*which, a.kind), inst);
  }
  if (isFence(name)) {
    emit(fenceHandler());
    return success();
  }
  // cvt.rn.{f16,bf16}x2: the first operand is the upper half.
  if (name == "ff2bf16x2.rn" || name == "ff2f16x2.rn") {
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    counts->arithmetic += 1;
    for (unsigned k = 0; k < 2; ++k) {
      Inst inst;
      inst.dst = to->offset + k * bytesOf(Kind::F16);
      inst.a = single(args[1 - k].value).offset;
      inst.n = program.lanes;
      if (failed(
              emitChecked(op,
                          castHandler(Cast::FPTrunc, Kind::F32,
                                      name[3] == 'b' ? Kind::BF16 : Kind::F16),
                          inst)))
        return failure();
    }
    return success();
  }
  if (name == "prmt") {
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (failed(to))
      return failure();
    countArithmetic(*to);
    Inst inst;
    inst.dst = to->offset;
    inst.a = single(args[0].value).offset;
    inst.b = single(args[1].value).offset;
    inst.c = single(args[2].value).offset;
    inst.n = elements(*to);
    return emitChecked(op, permuteBytesHandler(false), inst);
  }

  if (name == "barrier0" || name == "barrier.cta.sync.aligned.all" ||
      name == "barrier.cta.sync.aligned.count" || name == "barrier.sync") {
    auto id = args.empty() ? 0 : constantOf(args[0]);
    auto threads = args.size() < 2 ? 0 : constantOf(args[1]);
    if (!id || !threads || *threads % program.lanes)
      return unsupported(op, "barrier number and thread count must be "
                             "constants, the count whole subgroups");
    Inst &inst = emit(barrierHandler());
    inst.imm = *id;
    inst.b = *threads;
    return success();
  }

  StringRef rest = name;
  if (rest.consume_front("shfl.sync.")) {
    rest = rest.split('.').first;
    auto which = llvm::StringSwitch<std::optional<CrossLane>>(rest)
                     .Case("bfly", CrossLane::ShflXor)
                     .Case("up", CrossLane::ShflUp)
                     .Case("down", CrossLane::ShflDown)
                     .Case("idx", CrossLane::ShflIdx)
                     .Default(std::nullopt);
    FailureOr<Parts> to = allocate(op, op->getResult(0).getType());
    if (!which || failed(to) || to->empty() || to->size() > 2)
      return unsupported(op);
    values[op->getResult(0)] = *to;
    ++counts->crossLane;
    Inst &inst = emit(crossLaneHandler(*which));
    inst.dst = to->front().offset;
    inst.a = single(args[1].value).offset;
    inst.b = single(args[2].value).offset;
    inst.c = single(args[3].value).offset;
    inst.imm = to->size() == 2 ? (*to)[1].offset : UINT32_MAX;
    inst.imm2 = single(args[0].value).offset;
    return success();
  }
  if (rest.consume_front("vote.sync.") || rest.consume_front("vote.")) {
    auto which = llvm::StringSwitch<std::optional<CrossLane>>(rest)
                     .Cases({"any", "any.sync"}, CrossLane::VoteAny)
                     .Cases({"all", "all.sync"}, CrossLane::VoteAll)
                     .Cases({"uni", "uni.sync"}, CrossLane::VoteUni)
                     .Cases({"ballot", "ballot.sync"}, CrossLane::VoteBallot)
                     .Default(std::nullopt);
    FailureOr<Part> to = defineScalar(op->getResult(0));
    if (!which || failed(to))
      return unsupported(op);
    ++counts->crossLane;
    Inst &inst = emit(crossLaneHandler(*which));
    inst.dst = to->offset;
    inst.a = single(args[1].value).offset;
    inst.b = single(args[0].value).offset;
    return success();
  }

  if (rest.consume_front("cp.async.")) {
    if (rest == "commit.group") {
      emit(asyncCommitHandler());
      return success();
    }
    if (rest == "wait.all") {
      emit(asyncWaitHandler()).imm2 = 1;
      return success();
    }
    if (rest == "wait.group") {
      auto count = constantOf(args[0]);
      if (!count || *count < 0)
        return unsupported(op, "the number of groups must be a constant");
      emit(asyncWaitHandler()).imm = *count;
      return success();
    }
    bool hasSize = rest.consume_back(".s");
    unsigned size = 0;
    if (rest.rsplit('.').second.getAsInteger(10, size) ||
        !rest.contains("shared.global") ||
        (size != 4 && size != 8 && size != 16))
      return unsupported(op, "intrinsic llvm.nvvm." + name);
    Inst &inst = emit(asyncCopyHandler());
    inst.a = single(args[0].value).offset;
    inst.b = single(args[1].value).offset;
    inst.imm = size;
    inst.c = hasSize ? single(args[2].value).offset : UINT32_MAX;
    return success();
  }
  if (rest.starts_with("ldmatrix.sync.aligned.m8n8.x") ||
      rest.starts_with("stmatrix.sync.aligned.m8n8.x")) {
    bool isLoad = rest.starts_with("ld");
    rest = rest.drop_front(StringRef("ldmatrix.sync.aligned.m8n8.x").size());
    unsigned count = 0;
    if (rest.consumeInteger(10, count) || !rest.contains("b16") ||
        (count != 1 && count != 2 && count != 4))
      return unsupported(op);
    bool transposed = rest.contains("trans");
    Part pointer = single(args[0].value);
    if (pointer.kind != Kind::I32)
      return unsupported(op, "the pointer must be in address space 3");
    Inst inst;
    inst.a = pointer.offset;
    inst.n = count;
    inst.imm = transposed;
    if (isLoad) {
      // The result, a struct of words, is made of consecutive registers.
      uint32_t first = allocate(Kind::I32, count);
      Parts parts;
      for (unsigned k = 0; k < count; ++k)
        parts.push_back({Kind::I32, 1, first + k * bytesOf(Kind::I32)});
      values[op->getResult(0)] = parts;
      inst.dst = first;
      return emitChecked(op, ldmatrixHandler(), inst);
    }
    inst.imm = transposed;
    Part sources{Kind::I32, count, allocate(Kind::I32, count)};
    Inst collect;
    collect.dst = sources.offset;
    collect.n = count;
    collect.imm = program.table.size();
    for (unsigned k = 0; k < count; ++k)
      program.table.push_back(single(args[1 + k].value).offset);
    if (failed(emitChecked(op, gatherHandler(4), collect)))
      return failure();
    inst.b = sources.offset;
    return emitChecked(op, stmatrixHandler(), inst);
  }
  return std::nullopt;
}
