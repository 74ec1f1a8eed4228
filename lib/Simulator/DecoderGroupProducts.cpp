//===- DecoderGroupProducts.cpp - Products that go on beside other work ---===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, 'wgmma.fence' and 'wgmma.wait_group': what an asynchronous product
// reads and writes between its issue and the wait for it. The simulator
// executes products where they are issued; that nothing could tell is proved
// here, from the block that has both.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "LLVMOps.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

static bool isProduct(Operation *op) {
  return isInAssembly(op, "wgmma.mma_async");
}

/// Names registers anew, or takes vectors of them apart.
static bool isMove(Operation *op) {
  return isa<LLVM::ExtractValueOp, LLVM::InsertValueOp, LLVM::ExtractElementOp,
             LLVM::InsertElementOp, LLVM::BitcastOp>(op);
}

static bool isLDSStore(Operation *op) {
  auto store = dyn_cast<LLVM::StoreOp>(op);
  return store && isLDSPointer(store.getAddr());
}

/// The fence that comes before a product in its block; null: none.
static Operation *findFence(LLVM::InlineAsmOp product) {
  for (Operation *op = product; op; op = op->getPrevNode())
    if (isInAssembly(op, "wgmma.fence"))
      return op;
  return nullptr;
}

bool Decoder::isFenced(LLVM::InlineAsmOp product) {
  return findFence(product) != nullptr;
}

/// The wait that ends a product at the latest; null: none in its block.
static Operation *findWait(LLVM::InlineAsmOp product) {
  unsigned later = 0;
  for (Operation *op = product->getNextNode(); op; op = op->getNextNode()) {
    later += isProduct(op);
    if (!isInAssembly(op, "wgmma.wait_group"))
      continue;
    StringRef text = cast<LLVM::InlineAsmOp>(op).getAsmString();
    unsigned pending = 0;
    text.substr(text.rfind(' '))
        .take_until([](char c) { return c == ';'; })
        .trim()
        .getAsInteger(10, pending);
    if (pending <= later)
      return op;
  }
  return nullptr;
}

/// Of registers that a product reads: what wrote them last, behind moves, in
/// its block and behind `fence`; null: nothing.
static Operation *findLateWrite(Value value, Operation *fence) {
  SmallVector<Value> left = {value};
  DenseSet<Value> seen;
  while (!left.empty()) {
    Value next = left.pop_back_val();
    Operation *def = next.getDefiningOp();
    if (!seen.insert(next).second || !def ||
        def->getBlock() != fence->getBlock())
      continue;
    if (isMove(def))
      llvm::append_range(left, def->getOperands());
    else if (fence->isBeforeInBlock(def) && !isa<LLVM::InlineAsmOp>(def) &&
             !def->hasTrait<OpTrait::ConstantLike>() &&
             !isa<LLVM::PoisonOp, LLVM::UndefOp>(def))
      return def;
  }
  return nullptr;
}

/// What uses a result before `wait`, if anything does.
static Operation *findEarlyUse(LLVM::InlineAsmOp product, Operation *wait) {
  SmallVector<Operation *> left(product->getUsers());
  DenseSet<Operation *> seen;
  while (!left.empty()) {
    Operation *user = left.pop_back_val();
    if (!seen.insert(user).second)
      continue;
    bool isHere = user->getBlock() == wait->getBlock();
    if (isHere && isMove(user))
      llvm::append_range(left, user->getUsers());
    else if (user != wait && !isProduct(user) &&
             (!isHere || user->isBeforeInBlock(wait) ||
              !isInAssembly(user, "wgmma.wait_group")))
      return user;
  }
  return nullptr;
}

LogicalResult Decoder::checkAsyncProduct(LLVM::InlineAsmOp product) {
  Operation *wait = findWait(product), *fence = findFence(product);
  if (!wait)
    return unsupported(product,
                       "no wgmma.wait_group of its block waits for it");
  for (Value operand : product.getOperands())
    if (!operand.getType().isInteger(64))
      if (Operation *write = findLateWrite(operand, fence))
        return unsupported(product, "'" + write->getName().getStringRef() +
                                        "' writes a register of it behind the "
                                        "last wgmma.fence");
  if (Operation *user = findEarlyUse(product, wait))
    return unsupported(product, "'" + user->getName().getStringRef() +
                                    "' reads its result, which no "
                                    "wgmma.wait_group gave");
  for (Operation *op = product->getNextNode(); op != wait;
       op = op->getNextNode())
    if (isLDSStore(op) || op->getName().getStringRef().contains("barrier") ||
        op->getName().getStringRef().contains("cp.async"))
      return unsupported(product, "'" + op->getName().getStringRef() +
                                      "' may change what it reads before a "
                                      "wgmma.wait_group");
  return success();
}
