//===- DecoderControl.cpp - Blocks, branches, block arguments -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "mlir/Analysis/CFGLoopInfo.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::evoformer::sim;

/// A reverse post-order in which the blocks of a loop come before the blocks
/// behind it: successors outside of loops are visited first, so they end last.
llvm::SmallVector<mlir::Block *> Decoder::orderBlocks() {
  Region &body = function.getBody();
  DominanceInfo dominance(function);
  std::optional<CFGLoopInfo> loops;
  if (!body.hasOneBlock())
    loops.emplace(dominance.getDomTree(&body));
  auto depth = [&](mlir::Block *b) {
    return loops ? loops->getLoopDepth(b) : 0;
  };
  llvm::SmallVector<mlir::Block *> postOrder;
  llvm::DenseSet<mlir::Block *> seen;
  // A stack of blocks with the successors still to visit.
  llvm::SmallVector<
      std::pair<mlir::Block *, llvm::SmallVector<mlir::Block *, 2>>>
      stack;
  auto push = [&](mlir::Block *block) {
    if (!seen.insert(block).second)
      return;
    llvm::SmallVector<mlir::Block *, 2> next(block->getSuccessors());
    // Taken from the back: the shallowest last. Among equals the last
    // successor first, which keeps the textual order.
    // Insertion sort: there are few, and their order among equals counts.
    for (size_t k = 1; k < next.size(); ++k)
      for (size_t j = k; j && depth(next[j - 1]) < depth(next[j]); --j)
        std::swap(next[j - 1], next[j]);
    stack.push_back({block, std::move(next)});
  };
  push(&body.front());
  while (!stack.empty()) {
    auto &[block, next] = stack.back();
    if (next.empty()) {
      postOrder.push_back(block);
      stack.pop_back();
      continue;
    }
    push(next.pop_back_val());
  }
  std::reverse(postOrder.begin(), postOrder.end());
  return postOrder;
}

FailureOr<uint32_t> Decoder::makeEdge(mlir::Block *block, ValueRange operands) {
  Edge edge;
  edge.block = blockIndex.lookup(block);
  for (auto [argument, operand] : llvm::zip(block->getArguments(), operands))
    for (auto [to, from] : llvm::zip(get(argument), get(operand)))
      if (to.offset != from.offset)
        edge.copies.push_back(
            {to.offset, from.offset, elements(to), uint8_t(sizeOf(to.kind))});
  auto overlap = [](uint32_t a, const Copy &ca, uint32_t b, const Copy &cb) {
    return a < b + cb.n * cb.size && b < a + ca.n * ca.size;
  };
  // All copies happen at once: sources that some copy overwrites are saved.
  for (Copy &c : edge.copies)
    for (const Copy &other : edge.copies)
      if (&other != &c && overlap(c.src, c, other.dst, other)) {
        uint32_t temporary = uint32_t(nextRegister);
        nextRegister += llvm::alignTo(c.n * c.size, 64);
        edge.saves.push_back({temporary, c.src, c.n, c.size});
        c.src = temporary;
        break;
      }
  program.edges.push_back(std::move(edge));
  return program.edges.size() - 1;
}

LogicalResult Decoder::decodeTerminator(Operation *op) {
  if (isa<LLVM::ReturnOp>(op)) {
    emit(returnHandler());
    return success();
  }
  if (isa<LLVM::UnreachableOp>(op)) {
    emit(unreachableHandler());
    return success();
  }
  if (auto branch = dyn_cast<LLVM::BrOp>(op)) {
    FailureOr<uint32_t> edge =
        makeEdge(branch.getDest(), branch.getDestOperands());
    emit(branchHandler()).a = *edge;
    return success();
  }
  if (auto branch = dyn_cast<LLVM::CondBrOp>(op)) {
    FailureOr<uint32_t> yes =
        makeEdge(branch.getTrueDest(), branch.getTrueDestOperands());
    FailureOr<uint32_t> no =
        makeEdge(branch.getFalseDest(), branch.getFalseDestOperands());
    Inst &inst = emit(condBranchHandler());
    inst.a = *yes;
    inst.b = *no;
    inst.c = single(branch.getCondition()).offset;
    return success();
  }
  if (auto choice = dyn_cast<LLVM::SwitchOp>(op)) {
    Part value = single(choice.getValue());
    SwitchTable table;
    table.defaultEdge =
        *makeEdge(choice.getDefaultDestination(), choice.getDefaultOperands());
    if (auto cases = choice.getCaseValues())
      for (auto [k, key] : llvm::enumerate(cases->getValues<APInt>()))
        table.cases.push_back(
            {key.getZExtValue(), *makeEdge(choice.getCaseDestinations()[k],
                                           choice.getCaseOperands(k))});
    program.switches.push_back(std::move(table));
    Inst inst;
    inst.a = value.offset;
    inst.imm = program.switches.size() - 1;
    return emitChecked(op, switchHandler(sizeOf(value.kind)), inst);
  }
  return unsupported(op);
}
