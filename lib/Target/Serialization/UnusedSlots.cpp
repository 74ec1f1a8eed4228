//===- UnusedSlots.cpp - Stack slots that no instruction uses -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AMD's scalar registers are spilled to lanes of vector registers, so that the
// stack slots which the allocator gave them are of no use. LLVM 22 removes
// those that it has found lanes for, which are those that an instruction names;
// a slot whose instructions went away again becomes one of the kernel's scratch
// memory (SIMachineFunctionInfo::removeDeadFrameIndices), and one more is added
// for registers that are found late. Each lane is then given memory that no
// instruction touches.
//
//===----------------------------------------------------------------------===//

#include "CodeGeneration.h"
#include "llvm/CodeGen/MachineFrameInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"

using namespace llvm;

namespace {
class UnusedSlots : public MachineFunctionPass {
public:
  static char id;
  UnusedSlots() : MachineFunctionPass(id) {}

  StringRef getPassName() const override { return "Remove unused slots"; }

  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &function) override {
    MachineFrameInfo &frame = function.getFrameInfo();
    SmallVector<bool> isUsed(frame.getObjectIndexEnd());
    for (MachineBasicBlock &block : function)
      for (MachineInstr &instruction : block)
        for (MachineOperand &operand : instruction.operands())
          if (operand.isFI() && operand.getIndex() >= 0)
            isUsed[operand.getIndex()] = true;
    bool changed = false;
    for (int slot = 0; slot < frame.getObjectIndexEnd(); ++slot) {
      if (isUsed[slot] || frame.isDeadObjectIndex(slot))
        continue;
      frame.RemoveStackObject(slot);
      changed = true;
    }
    return changed;
  }
};
} // namespace

char UnusedSlots::id = 0;

Pass *mlir::evoformer::createUnusedSlotsPass() { return new UnusedSlots(); }
