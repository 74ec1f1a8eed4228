//===- AMDInstructions.cpp - Classes of AMD's instructions ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources: the instruction lists of the "AMD Instinct MI300" and "RDNA3"
// Instruction Set Architecture documents, and the form of LLVM's listings.
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

/// Bytes a lane that a memory instruction moves, from its name's last parts.
static unsigned getWidth(StringRef name) {
  SmallVector<StringRef> parts;
  // What is read across rows of LDS has the elements' bits last.
  (name.starts_with("ds_") ? name.split("_tr_").first : name).split(parts, '_');
  unsigned factor = name.contains("2addr") || name.starts_with("ds_read2") ||
                            name.starts_with("ds_write2")
                        ? 2
                        : 1;
  for (StringRef part : reverse(parts)) {
    unsigned width =
        StringSwitch<unsigned>(part)
            .Cases({"ubyte", "sbyte", "byte", "u8", "i8", "b8"}, 1)
            .Cases({"ushort", "sshort", "short", "u16", "i16", "b16"}, 2)
            .Cases({"dword", "b32", "f32", "u32"}, 4)
            .Cases({"dwordx2", "b64", "f64"}, 8)
            .Cases({"dwordx3", "b96"}, 12)
            .Cases({"dwordx4", "b128"}, 16)
            .Default(0);
    if (width)
      return width * factor;
  }
  return 0;
}

bool mlir::evoformer::isLDSAccess(StringRef name) {
  return name.starts_with("ds_") &&
         !startsWithAny(name, {"ds_bpermute", "ds_permute", "ds_swizzle",
                               "ds_bvh", "ds_nop"});
}

static Class classifyLDS(StringRef name) {
  if (!isLDSAccess(name))
    return Class::Exchange;
  if (startsWithAny(name, {"ds_read", "ds_load"}))
    return Class::LDSRead;
  return Class::LDSWrite;
}

static Class classifyMemory(StringRef name, StringRef operands) {
  bool load = name.contains("_load");
  if (name.starts_with("scratch_"))
    return load ? Class::ScratchRead : Class::ScratchWrite;
  if (load && (name.contains("_lds") || operands.ends_with(" lds")))
    return Class::AsyncCopy;
  return load ? Class::GlobalRead : Class::GlobalWrite;
}

static Class classifyVector(StringRef name) {
  if (startsWithAny(name, {"v_mfma_", "v_smfmac_", "v_wmma_", "v_swmmac_"}))
    return Class::Matrix;
  if (startsWithAny(name, {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_",
                           "v_sin_", "v_cos_"}))
    return Class::Transcendental;
  if (startsWithAny(name, {"v_permlane", "v_readlane", "v_writelane",
                           "v_readfirstlane"}) ||
      name.ends_with("_dpp"))
    return Class::Exchange;
  if (startsWithAny(name, {"v_pk_", "v_dual_"}))
    return Class::Packed;
  return Class::Vector;
}

static Class classifyScalar(StringRef name) {
  if (startsWithAny(
          name, {"s_waitcnt", "s_wait_", "s_nop", "s_delay_alu", "s_sleep"}))
    return Class::Wait;
  if (name.starts_with("s_barrier"))
    return Class::Barrier;
  if (startsWithAny(name, {"s_load", "s_buffer_load", "s_store"}))
    return Class::ScalarMemory;
  if (startsWithAny(name, {"s_branch", "s_cbranch", "s_setpc", "s_endpgm"}))
    return Class::Branch;
  return Class::Scalar;
}

/// Whether an instruction waits for all loads from memory.
static bool drainsLoads(const AssemblyInstruction &instruction) {
  StringRef name = instruction.mnemonic, operands = instruction.operands;
  if (name == "s_waitcnt")
    return operands.contains("vmcnt(0)");
  // "RDNA4 Instruction Set Architecture", S_WAIT_LOADCNT_DSCNT: the number of
  // loads lies in bits 13:8.
  unsigned count;
  if (operands.getAsInteger(0, count))
    return false;
  return (name == "s_wait_loadcnt" && count == 0) ||
         (name == "s_wait_loadcnt_dscnt" && (count >> 8 & 63) == 0);
}

/// "VOP3 instructions": products of 32-bit integers take four passes.
static bool isIntegerProduct(StringRef name) {
  return startsWithAny(name, {"v_mul_lo_u32", "v_mul_lo_i32", "v_mul_hi_u32",
                              "v_mul_hi_i32", "v_mad_u64_u32", "v_mad_i64_i32",
                              "v_mad_co_u64_u32", "v_mad_co_i64_i32"});
}

static void countInstruction(const AssemblyInstruction &instruction,
                             InstructionCounts &counts) {
  StringRef name = instruction.mnemonic;
  if (name.starts_with("ds_")) {
    Class kind = classifyLDS(name);
    counts.ldsExchanges += kind == Class::Exchange;
    return addInstruction(counts, kind,
                          kind == Class::Exchange ? 0 : getWidth(name));
  }
  if (startsWithAny(name, {"global_", "buffer_", "flat_", "scratch_"})) {
    // Cache control has no data.
    if (!name.contains("_load") && !name.contains("_store") &&
        !name.contains("_atomic"))
      return addInstruction(counts, Class::Wait);
    return addInstruction(counts, classifyMemory(name, instruction.operands),
                          getWidth(name));
  }
  if (name.starts_with("v_")) {
    Class kind = classifyVector(name);
    if (kind == Class::Matrix)
      ++counts.matrixByName[name.str()];
    counts.integerProducts += isIntegerProduct(name);
    return addInstruction(counts, kind);
  }
  addInstruction(counts, classifyScalar(name));
  counts.drainingWaits += drainsLoads(instruction);
}

static StringRef getBranchTarget(const AssemblyInstruction &instruction) {
  if (startsWithAny(instruction.mnemonic, {"s_branch", "s_cbranch"}))
    return instruction.operands;
  return "";
}

static bool isEnd(const AssemblyInstruction &instruction) {
  return startsWithAny(instruction.mnemonic,
                       {"s_branch", "s_endpgm", "s_setpc"});
}

static bool skipsLanes(const AssemblyInstruction &instruction) {
  return instruction.mnemonic == "s_cbranch_execz";
}

const AssemblySyntax &mlir::evoformer::getAMDSyntax() {
  static const AssemblySyntax syntax{
      ";",
      [](StringRef line) { return line.starts_with("."); },
      getBranchTarget,
      isEnd,
      skipsLanes,
      countInstruction};
  return syntax;
}

StringRef mlir::evoformer::getAMDFunction(StringRef assembly, StringRef name) {
  // A function's lines lie between its label and `.Lfunc_end<n>:`; the code
  // ends at the section of the kernel's descriptor.
  std::string label = ("\n" + name + ":").str();
  size_t begin = assembly.find(label);
  if (begin == StringRef::npos)
    return "";
  StringRef body = assembly.substr(begin + label.size());
  return body.substr(0, body.find(".Lfunc_end"));
}

void mlir::evoformer::countAMDInstructions(StringRef assembly,
                                           KernelReport &report) {
  StringRef body = getAMDFunction(assembly, report.name);
  if (!body.empty())
    countFunction(body, getAMDSyntax(), report);
}
