//===- NVIDIAInstructions.cpp - Classes of PTX instructions ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts are those of PTX, before ptxas schedules it: memory, matrix and
// special-function instructions stay as they are; moves mostly vanish and are
// not counted. Source: "Parallel Thread Execution ISA".
//
//===----------------------------------------------------------------------===//

#include "AssemblyText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::evoformer;
using Class = InstructionClass;

static bool startsWithAny(StringRef name, ArrayRef<StringRef> prefixes) {
  return any_of(prefixes, [&](StringRef p) { return name.starts_with(p); });
}

/// Bytes a lane of `ld.global.v4.b32` and the like.
static unsigned getWidth(StringRef name) {
  unsigned lanes = 1, width = 0;
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef part : parts) {
    lanes = StringSwitch<unsigned>(part)
                .Case("v2", 2)
                .Case("v4", 4)
                .Case("v8", 8)
                .Default(lanes);
    unsigned bits;
    if (part.size() > 1 && StringRef("busf").contains(part[0]) &&
        !part.drop_front().getAsInteger(10, bits))
      width = bits / 8;
  }
  return lanes * width;
}

/// ldmatrix gives each lane one 32-bit register a matrix.
static unsigned getMatrixWidth(StringRef name) {
  return name.contains(".x4") ? 16 : name.contains(".x2") ? 8 : 4;
}

/// `cp.async.cg.shared.global [dst], [src], 16`: the third operand.
static unsigned getCopyWidth(StringRef operands) {
  SmallVector<StringRef> parts;
  operands.split(parts, ',');
  unsigned bytes = 0;
  if (parts.size() > 2)
    parts[2].trim(" ;").getAsInteger(0, bytes);
  return bytes;
}

static void countLoadOrStore(StringRef name, InstructionCounts &counts) {
  bool load = name.starts_with("ld");
  if (name.contains(".param") || name.contains(".const"))
    return addInstruction(counts, Class::ScalarMemory);
  if (name.contains(".shared"))
    return addInstruction(counts, load ? Class::LDSRead : Class::LDSWrite,
                          getWidth(name));
  if (name.contains(".local"))
    return addInstruction(counts,
                          load ? Class::ScratchRead : Class::ScratchWrite,
                          getWidth(name));
  addInstruction(counts, load ? Class::GlobalRead : Class::GlobalWrite,
                 getWidth(name));
}

static void countAsync(StringRef name, StringRef operands,
                       InstructionCounts &counts) {
  if (name.contains("wait")) {
    addInstruction(counts, Class::Wait);
    if (name.starts_with("cp.async.wait_all") || operands.trim(" ;") == "0")
      ++counts.drainingWaits;
  } else if (name.contains("commit")) {
    addInstruction(counts, Class::Wait);
  } else {
    addInstruction(counts, Class::AsyncCopy, getCopyWidth(operands));
  }
}

static void countInstruction(const AssemblyInstruction &instruction,
                             InstructionCounts &counts) {
  StringRef name = instruction.mnemonic, operands = instruction.operands;
  // A guard comes before the name: `@%p1 bra $L__BB0_1;`.
  if (name.starts_with("@")) {
    size_t end = operands.find_first_of(" \t");
    name = operands.substr(0, end);
    operands = end == StringRef::npos ? "" : operands.substr(end).trim();
  }
  name = name.rtrim(';');
  if (startsWithAny(name, {"ldmatrix"}))
    return addInstruction(counts, Class::LDSRead, getMatrixWidth(name));
  if (startsWithAny(name, {"stmatrix"}))
    return addInstruction(counts, Class::LDSWrite, getMatrixWidth(name));
  if (startsWithAny(name, {"mma.", "wgmma.mma_async"})) {
    ++counts.matrixByName[name.str()];
    return addInstruction(counts, Class::Matrix);
  }
  if (startsWithAny(name, {"ex2.", "lg2.", "rcp.", "rsqrt.", "sqrt.", "sin.",
                           "cos.", "tanh."}))
    return addInstruction(counts, Class::Transcendental);
  if (startsWithAny(name, {"ld.", "st.", "ldu."}))
    return countLoadOrStore(name, counts);
  if (startsWithAny(name, {"atom.", "red."}))
    return addInstruction(
        counts, name.contains(".shared") ? Class::LDSWrite : Class::GlobalWrite,
        getWidth(name));
  if (startsWithAny(name, {"cp.async"}))
    return countAsync(name, operands, counts);
  if (startsWithAny(name, {"shfl.", "redux.", "vote."}))
    return addInstruction(counts, Class::Exchange);
  if (startsWithAny(name, {"bar.", "barrier."}))
    return addInstruction(counts, Class::Barrier);
  if (startsWithAny(name, {"wgmma.", "fence.", "membar", "mbarrier."}))
    return addInstruction(counts, Class::Wait);
  if (startsWithAny(name, {"bra", "ret", "exit", "brx"}))
    return addInstruction(counts, Class::Branch);
  if (startsWithAny(name, {"mov.", "cvta."}))
    return;
  counts.integerProducts +=
      startsWithAny(name, {"mul.", "mad."}) && !name.contains(".f");
  addInstruction(counts, name.contains("x2") ? Class::Packed : Class::Vector);
}

static StringRef getBranchTarget(const AssemblyInstruction &instruction) {
  StringRef text = instruction.operands;
  if (instruction.mnemonic.starts_with("@")) {
    if (!text.consume_front("bra"))
      return "";
    text.consume_front(".uni");
  } else if (!instruction.mnemonic.starts_with("bra")) {
    return "";
  }
  return text.trim(" \t;");
}

static bool isEnd(const AssemblyInstruction &instruction) {
  return startsWithAny(instruction.mnemonic, {"bra", "ret", "exit"});
}

void mlir::evoformer::countPTXInstructions(StringRef assembly,
                                           KernelReport &report) {
  std::string header = ".entry " + report.name + "(";
  size_t begin = assembly.find(header);
  if (begin == StringRef::npos)
    return;
  StringRef body = assembly.substr(begin);
  body = body.substr(body.find("\n{") + 2);
  // Inline assembly has braces of its own.
  size_t end = body.find("// -- End function");
  body = body.substr(0, end == StringRef::npos ? body.find("\n}") : end);
  AssemblySyntax syntax{"//",
                        [](StringRef line) {
                          return line.starts_with(".") ||
                                 line.starts_with("{") || line.starts_with("}");
                        },
                        getBranchTarget,
                        isEnd,
                        [](const AssemblyInstruction &) { return false; },
                        countInstruction};
  countFunction(body, syntax, report);
}
