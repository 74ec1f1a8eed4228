//===- WholeWaves.cpp - Matrix instructions for all lanes -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// WMMA is undefined unless all lanes are on ("RDNA3 Instruction Set
// Architecture", "Wave Matrix Multiply Accumulate"). Its intrinsics are
// convergent, but in LLVM 22 some of the machine instructions are not, those
// that add to their operand in place among them (llvm/llvm-project#178314). So
// machine sinking may move one behind the branch on lanes that guards a store
// of its result. It leaves alone what is used where it stands. Where nothing
// does that, an instruction does here that becomes no code.
//
//===----------------------------------------------------------------------===//

#include "CodeGeneration.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

static bool isWMMA(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getCalledFunction()->getName().contains(".wmma.");
}

/// The WMMA instructions of a block that nothing keeps from being moved behind
/// it, together with what uses them.
static SmallVector<Instruction *> findLoose(BasicBlock &block,
                                            const DominatorTree &dominators) {
  DenseSet<const Instruction *> stays;
  // The next round of a loop counts: nothing is moved into the edge to it.
  auto isHeld = [&](const Instruction &instruction) {
    return any_of(instruction.users(), [&](const User *user) {
      return isa<PHINode>(user) ? dominators.dominates(
                                      cast<PHINode>(user)->getParent(), &block)
                                : stays.contains(cast<Instruction>(user));
    });
  };
  SmallVector<Instruction *> loose;
  for (Instruction &instruction : reverse(block)) {
    bool held = isHeld(instruction);
    if (isWMMA(instruction) && !held)
      loose.push_back(&instruction);
    if (held || isWMMA(instruction) || instruction.isTerminator() ||
        instruction.mayWriteToMemory())
      stays.insert(&instruction);
  }
  return loose;
}

static void useInPlace(Instruction &product) {
  IRBuilder<> builder(product.getNextNode());
  builder.CreateIntrinsic(Intrinsic::fake_use, ArrayRef<Value *>(&product));
}

void mlir::evoformer::keepWavesWhole(llvm::Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    for (BasicBlock &block : function)
      for (Instruction *product : findLoose(block, dominators))
        useInPlace(*product);
  }
}
