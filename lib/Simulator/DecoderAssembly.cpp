//===- DecoderAssembly.cpp - Inline assembly ------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

namespace {
/// A piece of assembly that may be executed, and what it means here.
struct Snippet {
  StringRef text;
  bool waitsForLDS, isBarrier;
};
} // namespace

/// All of AMD's that is known, from the CDNA3 and RDNA3 ISA documents,
/// 'S_WAITCNT' and 'S_BARRIER'.
static const Snippet snippets[] = {
    {"s_waitcnt lgkmcnt(0)\ns_barrier", true, true},
    {"s_waitcnt lgkmcnt(0)", true, false},
    {"s_barrier", false, true},
};

/// Comments and the spelling of white space do not matter.
LogicalResult Decoder::decodeInlineAsm(LLVM::InlineAsmOp op) {
  if (!target.isAMD)
    return decodePTX(op);
  llvm::SmallVector<StringRef> lines;
  op.getAsmString().split(lines, '\n', -1, false);
  std::string text;
  for (StringRef line : lines) {
    line = line.split(';').first.trim();
    if (line.empty())
      continue;
    text += text.empty() ? "" : "\n";
    text += line.str();
  }
  for (const Snippet &snippet : snippets) {
    if (snippet.text != text)
      continue;
    // Assembly with both keeps accesses on their side.
    if (snippet.waitsForLDS && snippet.isBarrier) {
      emit(fenceHandler());
    } else if (snippet.waitsForLDS) {
      Inst &inst = emit(waitCountHandler());
      inst.imm = UINT32_MAX / 2;
      inst.imm2 = 0;
    }
    if (snippet.isBarrier)
      emit(barrierHandler()).imm2 = !snippet.waitsForLDS;
    return success();
  }
  return unsupported(op, "assembly outside of the table of known snippets");
}

namespace {
/// A statement of PTX: what it is and its operands, lists in braces as one.
struct Statement {
  StringRef opcode;
  llvm::SmallVector<StringRef, 8> operands;
};

/// What a register that the assembly declares holds.
struct Declared {
  /// A value from outside plus a constant, or the constant.
  std::optional<unsigned> operand;
  int64_t constant = 0;
};
} // namespace

static Statement parseStatement(StringRef text) {
  Statement statement;
  auto [opcode, rest] = text.split(' ');
  statement.opcode = opcode;
  while (!(rest = rest.trim()).empty()) {
    size_t end = rest.starts_with("{") ? rest.find('}') : 0;
    end = rest.find(',', end == StringRef::npos ? 0 : end);
    statement.operands.push_back(rest.substr(0, end).trim());
    rest = end == StringRef::npos ? "" : rest.drop_front(end + 1);
  }
  return statement;
}

/// The number in "$12"; nothing for other text.
static std::optional<unsigned> operandNumber(StringRef text) {
  unsigned number;
  if (!text.consume_front("$") || text.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

static bool parseList(StringRef text,
                      llvm::SmallVectorImpl<unsigned> &numbers) {
  if (!text.consume_front("{") || !text.consume_back("}"))
    return false;
  llvm::SmallVector<StringRef> names;
  text.split(names, ',');
  for (StringRef name : names) {
    std::optional<unsigned> number = operandNumber(name.trim());
    if (!number)
      return false;
    numbers.push_back(*number);
  }
  return true;
}

/// Whether a kernel begins with this op, but for what touches no memory.
static bool beginsKernel(Operation *op) {
  Block *block = op->getBlock();
  return block->isEntryBlock() && isa<LLVM::LLVMFuncOp>(block->getParentOp()) &&
         llvm::all_of(llvm::make_range(block->begin(), op->getIterator()),
                      [](Operation &before) { return isPure(&before); });
}

/// PTX ISA: 'fence.proxy.async', 'griddepcontrol.wait' where a kernel begins,
/// and 'wgmma' whose end is waited for, here or by other assembly of the block.
LogicalResult Decoder::decodePTX(LLVM::InlineAsmOp op) {
  llvm::SmallVector<StringRef> texts, constraints;
  op.getAsmString().split(texts, ';', -1, false);
  op.getConstraints().split(constraints, ',', -1, false);

  // Operands in the order of their numbers: results, then what goes in. A
  // result that is tied starts as its operand.
  Parts parts;
  if (op->getNumResults()) {
    FailureOr<Parts> to = allocate(op, op->getResult(0).getType());
    if (failed(to))
      return failure();
    values[op->getResult(0)] = parts = *to;
  }
  unsigned numResults = parts.size(), used = 0;
  llvm::BitVector isDefined(numResults);
  for (StringRef constraint : llvm::drop_begin(constraints, numResults)) {
    if (constraint.starts_with("~"))
      continue;
    if (used == op->getNumOperands())
      return unsupported(op, "constraints without operands");
    Part given = single(op->getOperand(used++));
    parts.push_back(given);
    unsigned tied;
    if (constraint.getAsInteger(10, tied))
      continue;
    if (tied >= numResults || given.kind != parts[tied].kind)
      return unsupported(op, "an operand tied to no result of its type");
    Inst copy;
    copy.dst = parts[tied].offset;
    copy.n = 1;
    copy.imm = program.table.size();
    program.table.push_back(given.offset);
    if (failed(emitChecked(op, gatherHandler(sizeOf(given.kind)), copy)))
      return failure();
    isDefined.set(tied);
  }

  llvm::StringMap<Declared> declared;
  enum class Wgmma { None, Fenced, Issued, Committed } state = Wgmma::None;
  auto value = [&](StringRef text) -> std::optional<Declared> {
    int64_t constant;
    if (!text.getAsInteger(10, constant))
      return Declared{std::nullopt, constant};
    if (std::optional<unsigned> number = operandNumber(text);
        number && *number < parts.size())
      return Declared{number, 0};
    auto known = declared.find(text);
    return known == declared.end() ? std::nullopt
                                   : std::optional(known->second);
  };
  auto matrix = [&](StringRef text, StringRef transposes,
                    GroupMatrix &to) -> bool {
    std::optional<Declared> from = value(text);
    if (!from || !from->operand || parts[*from->operand].kind != Kind::I64)
      return false;
    to.descriptor = parts[*from->operand].offset;
    to.step = from->constant;
    to.alongDepth = transposes == "0";
    return to.alongDepth || transposes == "1";
  };
  for (StringRef text : texts) {
    text = text.trim();
    text.consume_front("{");
    text.consume_front("}");
    text = text.trim();
    if (text.empty() || text.starts_with(".reg "))
      continue;
    Statement s = parseStatement(text);
    auto refuse = [&](const Twine &why) {
      return unsupported(op, "'" + text + "': " + why);
    };
    if (s.opcode == "fence.proxy.async.shared::cta") {
      emit(proxyFenceHandler());
    } else if (s.opcode == "griddepcontrol.wait") {
      // Kernels run one after the other here.
      if (!beginsKernel(op))
        return refuse("memory of the kernels before may be accessed before it");
    } else if (s.opcode == "add.s64" || s.opcode == "setp.ne.b32") {
      if (s.operands.size() != 3)
        return refuse("three operands are needed");
      std::optional<Declared> a = value(s.operands[1]),
                              b = value(s.operands[2]);
      if (!a || !b || b->operand || (a->operand && s.opcode != "add.s64"))
        return refuse("operands are not known");
      a->constant = s.opcode == "add.s64" ? a->constant + b->constant
                                          : a->constant != b->constant;
      declared[s.operands[0]] = *a;
    } else if (s.opcode == "wgmma.fence.sync.aligned") {
      state = Wgmma::Fenced;
    } else if (s.opcode.consume_front("wgmma.mma_async.sync.aligned.m64n")) {
      GroupMatrixCall call;
      call.input = s.opcode.ends_with(".f32.bf16.bf16") ? MatrixInput::BF16
                                                        : MatrixInput::F16;
      bool isKnown =
          !s.opcode.consumeInteger(10, call.n) &&
          (s.opcode == "k16.f32.bf16.bf16" || s.opcode == "k16.f32.f16.f16");
      if (!isKnown || call.n % 8 || call.n < 8 || call.n > 256)
        return refuse("this shape or type is not known");
      if (state == Wgmma::None && !isFenced(op))
        return refuse("no wgmma.fence is before it");
      llvm::SmallVector<unsigned> sums, rows;
      bool fromLDS = s.operands.size() == 8;
      std::optional<Declared> adds;
      if (s.operands.size() < 7 || s.operands.size() > 8 ||
          !parseList(s.operands[0], sums) || sums.size() != call.n / 2 ||
          !(fromLDS ? matrix(s.operands[1], s.operands[6], call.sharedRows)
                    : parseList(s.operands[1], rows) && rows.size() == 4) ||
          !matrix(s.operands[2], s.operands.back(), call.columns) ||
          !(adds = value(s.operands[3])) || s.operands[4] != "1" ||
          s.operands[5] != "1")
        return refuse("operands are not known");
      call.accumulates = adds->constant != 0;
      for (unsigned number : sums) {
        if (number >= numResults ||
            (call.accumulates && !isDefined.test(number)))
          return refuse("it adds to a register without a value");
        isDefined.set(number);
        call.sums.push_back(parts[number].offset);
      }
      for (unsigned number : rows) {
        if (number >= parts.size() || sizeOf(parts[number].kind) != 4)
          return refuse("its rows are no registers of 32 bits");
        call.rows.push_back(parts[number].offset);
      }
      ++counts->matrix;
      constexpr uint64_t kRows = 16, kDepth = 16;
      counts->multiplyAdds += kRows * call.n * kDepth;
      program.groupMatrices.push_back(std::move(call));
      Inst &inst = emit(groupMatrixHandler());
      inst.imm = program.groupMatrices.size() - 1;
      inst.imm2 = this->target.checksNonFinite;
      state = Wgmma::Issued;
    } else if (s.opcode == "wgmma.commit_group.sync.aligned") {
      if (state == Wgmma::Issued)
        state = Wgmma::Committed;
    } else if (s.opcode == "wgmma.wait_group.sync.aligned") {
      if (s.operands.size() == 1 && s.operands[0] == "0" &&
          state == Wgmma::Committed)
        state = Wgmma::Fenced;
    } else {
      return refuse("not among the instructions of assembly that are known");
    }
  }
  if (state == Wgmma::Issued)
    return unsupported(op, "its last wgmma is not committed");
  return state == Wgmma::Committed ? checkAsyncProduct(op) : success();
}
