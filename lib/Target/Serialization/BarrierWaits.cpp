//===- BarrierWaits.cpp - No barrier before what it is for ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AMD's s_barrier waits for nothing but the other subgroups: what a subgroup
// has stored to LDS must have been awaited before, or others read what is not
// yet written. LLVM 22 deletes such a wait, if it is one that its own pass may
// move, in the header of a loop. So the final code is walked before anybody
// gets it, whoever has put the barriers there.
//
// Sources: "AMD Instinct MI300" and "RDNA4" Instruction Set Architecture,
// 'Data Dependency Resolution' and 'S_WAIT_*'.
//
//===----------------------------------------------------------------------===//

#include "AssemblyText.h"
#include "CodeGeneration.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
/// What may be under way on some path. LDS accesses end in order: the last one
/// has, where an instruction waits until no more are left than came after it.
struct UnderWay {
  /// How many came after the last access, the fewest of all paths; none: it
  /// has ended on each of them.
  std::optional<unsigned> afterLast;
  /// An access by an address of any memory, which ends in no order.
  bool flat = false;

  bool any() const { return afterLast || flat; }

  /// Returns whether that changes anything.
  bool join(const UnderWay &other) {
    UnderWay before = *this;
    flat |= other.flat;
    if (other.afterLast)
      afterLast =
          std::min(afterLast.value_or(*other.afterLast), *other.afterLast);
    return flat != before.flat || afterLast != before.afterLast;
  }
};
} // namespace

/// Down to how many LDS accesses an instruction waits, if it waits for them.
static std::optional<unsigned>
getAwaited(const AssemblyInstruction &instruction) {
  StringRef name = instruction.mnemonic, operands = instruction.operands;
  unsigned count;
  if (name == "s_waitcnt") {
    StringRef counter = operands.split("lgkmcnt(").second;
    if (counter.consumeInteger(0, count))
      return std::nullopt;
    return count;
  }
  if (name == "s_wait_idle")
    return 0;
  if (name == "s_waitcnt_lgkmcnt")
    operands = operands.split(',').second.trim();
  if (operands.getAsInteger(0, count))
    return std::nullopt;
  if (name == "s_wait_dscnt" || name == "s_waitcnt_lgkmcnt")
    return count;
  if (name == "s_wait_loadcnt_dscnt" || name == "s_wait_storecnt_dscnt")
    return count & 63;
  return std::nullopt;
}

static void pass(const AssemblyInstruction &instruction, UnderWay &state) {
  StringRef name = instruction.mnemonic;
  if (std::optional<unsigned> count = getAwaited(instruction)) {
    if (state.afterLast && *count <= *state.afterLast)
      state.afterLast.reset();
    state.flat &= *count != 0;
  } else if (isLDSAccess(name)) {
    state.afterLast = 0;
  } else if (name.starts_with("ds_") && state.afterLast) {
    ++*state.afterLast;
  } else if (name.starts_with("flat_")) {
    state.flat = true;
  }
}

static bool hasEarlyBarrier(ArrayRef<AssemblyBlock> blocks) {
  SmallVector<SmallVector<unsigned, 2>> successors =
      getSuccessors(blocks, getAMDSyntax());
  SmallVector<UnderWay> atStart(blocks.size());
  auto worklist = llvm::to_vector(llvm::seq<unsigned>(0, blocks.size()));
  while (!worklist.empty()) {
    unsigned index = worklist.pop_back_val();
    UnderWay state = atStart[index];
    for (const AssemblyInstruction &instruction : blocks[index].instructions) {
      if (state.any() && (instruction.mnemonic == "s_barrier" ||
                          instruction.mnemonic == "s_barrier_signal"))
        return true;
      pass(instruction, state);
    }
    for (unsigned next : successors[index])
      if (atStart[next].join(state))
        worklist.push_back(next);
  }
  return false;
}

LogicalResult evoformer::checkBarrierWaits(StringRef isa,
                                           ArrayRef<KernelReport> kernels,
                                           Location loc) {
  for (const KernelReport &kernel : kernels)
    if (hasEarlyBarrier(
            parseBlocks(getAMDFunction(isa, kernel.name), getAMDSyntax())))
      return emitError(loc, "kernel '")
             << kernel.name
             << "': the code generator's output reaches a barrier while an "
                "access to workgroup memory may be under way; a wait "
                "(fence or s.waitcnt) before the barrier is missing or was "
                "lost";
  return success();
}
