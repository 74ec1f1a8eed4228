//===- RareWork.cpp - Few registers for what is rarely run ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind a branch that is rarely taken a kernel may do its work again
// (evo_tile.where). A kernel gets the registers of its most demanding part, and
// that is not to be this one: its loads come as late as possible, whatever
// their latency.
//
// Both ways need the same addresses and bounds, which LLVM computes once, at
// the beginning, and keeps over the loops in between: these then lack the
// registers. Here what is rarely run computes them anew, from the arguments,
// which it loads again, and from the numbers of lane and workgroup, behind a
// copy that hides from later passes that the results are the same. Such
// pointers are not based on the arguments: kernels with arguments that are
// noalias stay as they are. In the same way each iteration of a loop there
// computes anew what follows from the number of its lane, of which the loop
// would keep every address that a lane reads from.
// Where arguments lie: LLVM's "User Guide for AMDGPU Backend", "Kernarg
// Segment"; the segment has the layout of a packed list of naturally aligned
// arguments.
//
//===----------------------------------------------------------------------===//

#include "CodeGeneration.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ProfDataUtils.h"

using namespace llvm;

static bool isProduct(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call)
    return false;
  StringRef name = call->getCalledFunction()->getName();
  return name.contains(".mfma.") || name.contains(".wmma.");
}

/// Whether it computes integers or pointers from its operands and nothing else.
static bool isArithmetic(const Instruction &instruction) {
  return !isa<PHINode, AllocaInst>(instruction) &&
         !instruction.mayReadOrWriteMemory() &&
         !instruction.mayHaveSideEffects() &&
         !instruction.getType()->isFPOrFPVectorTy();
}

/// What a lane's numbers are kept in, and what all lanes share.
static constexpr StringLiteral kLaneCopy("=v,0"), kSharedCopy("=s,0");

/// A copy in the same registers of which nothing is known.
static Value *hide(IRBuilder<> &builder, Value *value, StringRef constraints) {
  Type *type = value->getType();
  return builder.CreateCall(
      InlineAsm::get(FunctionType::get(type, {type}, /*isVarArg=*/false), "",
                     constraints, /*hasSideEffects=*/true),
      {value});
}

/// Whether it is such a copy of a lane's number.
static bool isLaneCopy(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  auto *copy = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return copy && copy->getConstraintString() == kLaneCopy;
}

namespace {
/// A block of a loop behind a rare branch.
class LoopWork {
public:
  LoopWork(BasicBlock &block, const Loop &loop)
      : block(block), loop(loop), builder(&block, block.getFirstInsertionPt()) {
  }

  void recompute() {
    SmallVector<Use *> uses;
    for (Instruction &instruction : block)
      if (!isa<PHINode>(instruction))
        for (Use &use : instruction.operands())
          if (isOfLane(use.get()))
            uses.push_back(&use);
    for (Use *use : uses)
      use->set(getCopy(use->get()));
  }

private:
  /// Whether a value from outside of the loop follows from the number of the
  /// lane and from what all lanes share. Each freeze chooses for itself.
  bool isOfLane(Value *value) {
    auto *instruction = dyn_cast<Instruction>(value);
    if (!instruction || loop.contains(instruction))
      return false;
    if (isLaneCopy(*instruction))
      return true;
    if (!isArithmetic(*instruction) || isa<FreezeInst>(instruction) ||
        (isa<CallBase>(instruction) && !isa<MinMaxIntrinsic>(instruction)))
      return false;
    auto [known, isNew] = ofLane.try_emplace(value, false);
    if (!isNew)
      return known->second;
    bool result = any_of(instruction->operand_values(),
                         [&](Value *operand) { return isOfLane(operand); });
    return ofLane[value] = result;
  }

  Value *getCopy(Value *value) {
    if (!isOfLane(value))
      return value;
    if (Value *copy = copies.lookup(value))
      return copy;
    auto *instruction = cast<Instruction>(value);
    if (isLaneCopy(*instruction))
      return copies[value] = hide(builder, value, kLaneCopy);
    SmallVector<Value *> operands;
    for (Value *operand : instruction->operand_values())
      operands.push_back(getCopy(operand));
    Instruction *again = instruction->clone();
    for (auto [place, operand] : llvm::enumerate(operands))
      again->setOperand(place, operand);
    return copies[value] = builder.Insert(again, instruction->getName());
  }

  BasicBlock &block;
  const Loop &loop;
  IRBuilder<> builder;
  DenseMap<Value *, bool> ofLane;
  DenseMap<Value *, Value *> copies;
};

/// The blocks behind one rare branch, `entry` being the first.
class RareWork {
public:
  RareWork(BasicBlock &entry, const DominatorTree &dominators)
      : entry(entry), function(*entry.getParent()), dominators(dominators),
        builder(&entry, entry.getFirstInsertionPt()) {}

  void recompute() {
    SmallVector<Use *> uses;
    for (BasicBlock &block : function)
      if (isInside(block))
        for (Instruction &instruction : block)
          for (Use &use : instruction.operands())
            if (isOutside(use.get()) && isAddress(use.get()))
              uses.push_back(&use);
    for (Use *use : uses)
      use->set(getCopy(use->get()));
  }

  /// In blocks of products.
  void recomputeInLoops(const LoopInfo &loops) {
    for (BasicBlock &block : function) {
      const Loop *loop = loops.getLoopFor(&block);
      if (loop && isInside(*loop->getHeader()) && any_of(block, isProduct))
        LoopWork(block, *loop).recompute();
    }
  }

  /// In blocks of products that write no memory.
  void delayLoads() {
    for (BasicBlock &block : function)
      if (isInside(block) && any_of(block, isProduct) &&
          none_of(block, [](const Instruction &instruction) {
            return instruction.mayWriteToMemory() && !isProduct(instruction) &&
                   !isLaneCopy(instruction);
          }))
        delay(block);
  }

private:
  bool isInside(const BasicBlock &block) const {
    return dominators.dominates(&entry, &block);
  }
  bool isOutside(const Value *value) const {
    auto *instruction = dyn_cast<Instruction>(value);
    return isa<Argument>(value) ||
           (instruction && !isInside(*instruction->getParent()));
  }

  /// The first instruction of the block to use the result of another.
  static Instruction *findUser(Instruction &instruction) {
    Instruction *first = nullptr;
    for (User *user : instruction.users()) {
      auto *here = cast<Instruction>(user);
      if (here->getParent() == instruction.getParent() && !isa<PHINode>(here) &&
          (!first || here->comesBefore(first)))
        first = here;
    }
    return first;
  }

  static void delay(BasicBlock &block) {
    for (Instruction &instruction : make_early_inc_range(reverse(block))) {
      auto *call = dyn_cast<CallBase>(&instruction);
      if (isa<PHINode>(instruction) || instruction.isTerminator() ||
          instruction.mayHaveSideEffects() || (call && call->isConvergent()))
        continue;
      if (Instruction *user = findUser(instruction))
        instruction.moveBefore(user->getIterator());
    }
    // Nothing passes these.
    for (Instruction &instruction : make_early_inc_range(block))
      if (isProduct(instruction)) {
        IRBuilder<> builder(&instruction);
        builder.CreateIntrinsic(Intrinsic::amdgcn_sched_barrier, {},
                                {builder.getInt32(0)});
      }
  }

  static bool isNumber(const Value *value) {
    auto *call = dyn_cast<IntrinsicInst>(value);
    if (!call)
      return false;
    switch (call->getIntrinsicID()) {
    case Intrinsic::amdgcn_workitem_id_x:
    case Intrinsic::amdgcn_workitem_id_y:
    case Intrinsic::amdgcn_workitem_id_z:
    case Intrinsic::amdgcn_workgroup_id_x:
    case Intrinsic::amdgcn_workgroup_id_y:
    case Intrinsic::amdgcn_workgroup_id_z:
      return true;
    default:
      return false;
    }
  }

  /// Whether a copy might differ: each freeze of a poisoned number chooses for
  /// itself.
  static bool isChoice(const Instruction *instruction) {
    if (!isa<FreezeInst>(instruction))
      return false;
    const Value *number = instruction->getOperand(0);
    while (auto *cast = dyn_cast<CastInst>(number))
      number = cast->getOperand(0);
    return !isa<Argument>(number) && !isNumber(number);
  }

  /// Whether a value follows from arguments and the numbers of lane and
  /// workgroup by instructions on integers and pointers.
  bool isAddress(Value *value) {
    if (isa<Constant>(value) || isNumber(value))
      return true;
    if (auto *argument = dyn_cast<Argument>(value))
      return !argument->hasInRegAttr();
    auto *instruction = dyn_cast<Instruction>(value);
    if (!instruction || !isArithmetic(*instruction) || isChoice(instruction))
      return false;
    // Also of which lanes take part: behind such a branch they are the same.
    auto *call = dyn_cast<CallBase>(instruction);
    if (call && !isa<IntrinsicInst>(call))
      return false;
    auto [known, isNew] = addresses.try_emplace(value, false);
    if (!isNew)
      return known->second;
    bool result = all_of(instruction->operands(), [&](Use &operand) {
      return (call && &operand == &call->getCalledOperandUse()) ||
             isAddress(operand.get());
    });
    return addresses[value] = result;
  }

  Value *getCopy(Value *value) {
    if (!isOutside(value))
      return value; // A constant, or an instruction copied already.
    if (Value *copy = copies.lookup(value))
      return copy;
    Value *copy;
    if (auto *argument = dyn_cast<Argument>(value)) {
      copy = loadArgument(*argument);
    } else if (isNumber(value)) {
      copy =
          hide(builder, value, isLaneNumber(value) ? kLaneCopy : kSharedCopy);
    } else {
      auto *instruction = cast<Instruction>(value);
      SmallVector<Value *> operands;
      for (Value *operand : instruction->operands())
        operands.push_back(getCopy(operand));
      Instruction *again = instruction->clone();
      for (auto [place, operand] : llvm::enumerate(operands))
        again->setOperand(place, operand);
      copy = builder.Insert(again, instruction->getName());
    }
    return copies[value] = copy;
  }

  static bool isLaneNumber(const Value *value) {
    Intrinsic::ID id = cast<IntrinsicInst>(value)->getIntrinsicID();
    return id == Intrinsic::amdgcn_workitem_id_x ||
           id == Intrinsic::amdgcn_workitem_id_y ||
           id == Intrinsic::amdgcn_workitem_id_z;
  }

  Value *loadArgument(const Argument &wanted) {
    if (!segment)
      segment =
          hide(builder,
               builder.CreateIntrinsic(Intrinsic::amdgcn_kernarg_segment_ptr,
                                       ArrayRef<Value *>()),
               kSharedCopy);
    const DataLayout &layout = function.getDataLayout();
    uint64_t offset = 0;
    for (const Argument &argument : function.args()) {
      Align align = layout.getABITypeAlign(argument.getType());
      offset = alignTo(offset, align);
      if (&argument == &wanted)
        break;
      offset += layout.getTypeAllocSize(argument.getType());
    }
    LoadInst *load = builder.CreateAlignedLoad(
        wanted.getType(),
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), segment,
                                           offset),
        commonAlignment(Align(16), offset), wanted.getName());
    load->setMetadata(LLVMContext::MD_invariant_load,
                      MDNode::get(function.getContext(), {}));
    return load;
  }

  BasicBlock &entry;
  Function &function;
  const DominatorTree &dominators;
  IRBuilder<> builder;
  Value *segment = nullptr;
  DenseMap<Value *, bool> addresses;
  DenseMap<Value *, Value *> copies;
};
} // namespace

/// Whether all lanes of a subgroup see the same: votes, arguments and what
/// follows from them.
static bool isUniform(const Value *value) {
  if (isa<Constant, Argument>(value))
    return true;
  if (auto *call = dyn_cast<IntrinsicInst>(value))
    return call->getIntrinsicID() == Intrinsic::amdgcn_ballot;
  auto *instruction = dyn_cast<Instruction>(value);
  return isa_and_present<CmpInst, BinaryOperator, CastInst, SelectInst>(
             instruction) &&
         all_of(instruction->operand_values(), isUniform);
}

/// The side of a branch that is taken at most once in a thousand times, by all
/// lanes of a subgroup.
static BasicBlock *getRareSide(BasicBlock &block) {
  constexpr uint64_t kRarely = 1000;
  auto *branch = dyn_cast<BranchInst>(block.getTerminator());
  uint64_t taken, other;
  if (!branch || !branch->isConditional() ||
      !isUniform(branch->getCondition()) ||
      !extractBranchWeights(*branch, taken, other))
    return nullptr;
  BasicBlock *rare = taken * kRarely <= other   ? branch->getSuccessor(0)
                     : other * kRarely <= taken ? branch->getSuccessor(1)
                                                : nullptr;
  return rare && rare->getSinglePredecessor() ? rare : nullptr;
}

void mlir::evoformer::economizeRareWork(llvm::Module &module) {
  for (Function &function : module) {
    // Arguments behind one that is by reference lie elsewhere.
    if (function.getCallingConv() != CallingConv::AMDGPU_KERNEL ||
        any_of(function.args(), [](const Argument &argument) {
          return argument.hasByRefAttr() || argument.hasNoAliasAttr();
        }))
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    SmallVector<BasicBlock *> entries;
    for (BasicBlock &block : function)
      if (BasicBlock *rare = getRareSide(block))
        entries.push_back(rare);
    for (BasicBlock *entry : entries) {
      RareWork work(*entry, dominators);
      work.recompute();
      work.recomputeInLoops(loops);
      work.delayLoads();
    }
  }
}
