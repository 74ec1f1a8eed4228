//===- AssemblyText.cpp - Functions, blocks and loops of a listing --------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyText.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <limits>
#include <queue>

using namespace llvm;
using namespace mlir::evoformer;

SmallVector<AssemblyBlock>
mlir::evoformer::parseBlocks(StringRef body, const AssemblySyntax &syntax) {
  SmallVector<AssemblyBlock> blocks(1);
  while (!body.empty()) {
    auto [line, rest] = body.split('\n');
    body = rest;
    line = line.substr(0, line.find(syntax.comment)).trim();
    if (line.empty())
      continue;
    if (line.ends_with(":")) {
      blocks.emplace_back();
      blocks.back().label = line.drop_back();
      continue;
    }
    if (syntax.isSkipped(line))
      continue;
    size_t end = line.find_first_of(" \t");
    AssemblyInstruction instruction{line.substr(0, end), {}};
    if (end != StringRef::npos)
      instruction.operands = line.substr(end).trim();
    blocks.back().instructions.push_back(instruction);
    if (!syntax.getBranch(instruction).empty() || syntax.isEnd(instruction))
      blocks.emplace_back();
  }
  return blocks;
}

void mlir::evoformer::addInstruction(InstructionCounts &counts,
                                     InstructionClass kind, unsigned width) {
  ++counts.byClass[unsigned(kind)];
  if (width)
    ++counts.byWidth[unsigned(kind)][width];
}

using Successors = SmallVector<SmallVector<unsigned, 2>>;

Successors mlir::evoformer::getSuccessors(ArrayRef<AssemblyBlock> blocks,
                                          const AssemblySyntax &syntax) {
  StringMap<unsigned> positions;
  for (auto [index, block] : enumerate(blocks))
    if (!block.label.empty())
      positions[block.label] = index;
  Successors successors(blocks.size());
  for (auto [index, block] : enumerate(blocks)) {
    bool ends = false;
    if (!block.instructions.empty()) {
      const AssemblyInstruction &last = block.instructions.back();
      ends = syntax.isEnd(last);
      auto target = positions.find(syntax.getBranch(last));
      if (target != positions.end())
        successors[index].push_back(target->second);
    }
    if (!ends && index + 1 < blocks.size())
      successors[index].push_back(index + 1);
  }
  return successors;
}

/// For each block the set of those that every path to it passes.
static std::vector<BitVector> getDominators(const Successors &successors) {
  unsigned size = successors.size();
  std::vector<BitVector> dominators(size, BitVector(size, true));
  dominators[0].reset();
  dominators[0].set(0);
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned from = 0; from < size; ++from) {
      for (unsigned to : successors[from]) {
        BitVector next = dominators[from];
        next.set(to);
        next &= dominators[to];
        if (next == dominators[to])
          continue;
        dominators[to] = next;
        changed = true;
      }
    }
  }
  return dominators;
}

/// The blocks of each loop. Code generators move rare blocks out of a loop's
/// place, so this follows the jumps, not the order of the listing.
static std::vector<BitVector> findLoops(const Successors &successors) {
  unsigned size = successors.size();
  std::vector<BitVector> dominators = getDominators(successors);
  Successors predecessors(size);
  for (unsigned from = 0; from < size; ++from)
    for (unsigned to : successors[from])
      predecessors[to].push_back(from);
  std::vector<BitVector> loops;
  for (unsigned header = 0; header < size; ++header) {
    BitVector body(size);
    SmallVector<unsigned> worklist;
    for (unsigned latch : predecessors[header])
      if (dominators[latch].test(header) && !dominators[latch].all())
        worklist.push_back(latch);
    if (worklist.empty())
      continue;
    body.set(header);
    while (!worklist.empty()) {
      unsigned block = worklist.pop_back_val();
      if (body.test(block))
        continue;
      body.set(block);
      llvm::append_range(worklist, predecessors[block]);
    }
    loops.push_back(body);
  }
  return loops;
}

namespace {
/// Shortest ways through a function, by instructions. What lanes do behind a
/// branch that none of them may pass is on the way.
class ShortestWays {
public:
  ShortestWays(ArrayRef<AssemblyBlock> blocks, const AssemblySyntax &syntax)
      : blocks(blocks), successors(getSuccessors(blocks, syntax)) {
    for (auto [index, block] : enumerate(blocks)) {
      bool skips = !block.instructions.empty() &&
                   syntax.skipsLanes(block.instructions.back());
      if (skips && index + 1 < blocks.size())
        successors[index] = {unsigned(index + 1)};
      if (successors[index].empty())
        successors[index] = {getEnd()};
    }
  }

  /// Behind the last block.
  unsigned getEnd() const { return blocks.size(); }

  /// The blocks of the shortest way from `from` to `to`, which it does not
  /// count, through `allowed` alone; nothing where there is none. From a block
  /// to itself goes once around.
  std::optional<BitVector> find(unsigned from, unsigned to,
                                const BitVector &allowed) const {
    constexpr size_t kFar = std::numeric_limits<size_t>::max();
    std::vector<size_t> distance(blocks.size() + 1, kFar);
    std::vector<unsigned> previous(blocks.size() + 1);
    using Entry = std::pair<size_t, unsigned>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
    auto leave = [&](size_t before, unsigned block) {
      size_t after = before + blocks[block].instructions.size() + 1;
      for (unsigned next : successors[block])
        if ((next == to || (next < blocks.size() && allowed.test(next))) &&
            after < distance[next]) {
          distance[next] = after;
          previous[next] = block;
          queue.push({after, next});
        }
    };
    leave(0, from);
    while (!queue.empty()) {
      auto [before, block] = queue.top();
      queue.pop();
      if (block == to)
        break;
      if (before == distance[block])
        leave(before, block);
    }
    if (distance[to] == kFar)
      return std::nullopt;
    BitVector way(blocks.size());
    for (unsigned block = previous[to]; block != from; block = previous[block])
      way.set(block);
    way.set(from);
    return way;
  }

private:
  ArrayRef<AssemblyBlock> blocks;
  Successors successors;
};
} // namespace

void mlir::evoformer::countFunction(StringRef body,
                                    const AssemblySyntax &syntax,
                                    KernelReport &report) {
  SmallVector<AssemblyBlock> blocks = parseBlocks(body, syntax);
  auto count = [&](const BitVector &chosen) {
    InstructionCounts counts;
    for (unsigned i : chosen.set_bits())
      for (const AssemblyInstruction &instruction : blocks[i].instructions)
        syntax.count(instruction, counts);
    return counts;
  };
  report.whole = count(BitVector(blocks.size(), true));

  // With matrix instructions about, a loop without any (for a rare case, say)
  // is neither hot nor does it make the one around it less so.
  std::vector<BitVector> loops = findLoops(getSuccessors(blocks, syntax));
  auto hasMatrix = [&](const BitVector &loop) {
    return count(loop).get(InstructionClass::Matrix) > 0;
  };
  if (any_of(loops, hasMatrix))
    erase_if(loops, std::not_fn(hasMatrix));
  // Of several loops with as much work the first: what repeats it for a rare
  // case comes later.
  auto weigh = [](const InstructionCounts &counts) {
    int64_t matrix = counts.getMatrixWork();
    return std::make_pair(matrix, matrix ? 0 : counts.getTotal());
  };
  const BitVector *hottest = nullptr;
  for (const BitVector &loop : loops) {
    bool innermost = none_of(loops, [&](const BitVector &other) {
      BitVector outside = other;
      outside.reset(loop);
      return other != loop && outside.none();
    });
    if (!innermost)
      continue;
    InstructionCounts counts = count(loop);
    if (!report.hotLoop || weigh(counts) > weigh(*report.hotLoop)) {
      report.hotLoop = counts;
      hottest = &loop;
    }
  }
  if (!hottest)
    return;

  // The loop's first block in the order of jumps is the one that all others are
  // reached through.
  ShortestWays ways(blocks, syntax);
  BitVector all(blocks.size(), true);
  for (unsigned header : hottest->set_bits()) {
    std::optional<BitVector> pass = ways.find(header, header, *hottest);
    std::optional<BitVector> before = ways.find(0, header, all);
    if (!pass || !before || before->anyCommon(*hottest))
      continue;
    report.steadyPass = count(*pass);
    if (std::optional<BitVector> after =
            ways.find(header, ways.getEnd(), all)) {
      BitVector outside = *before;
      outside |= *after;
      outside.reset(*hottest);
      report.outside = count(outside);
    }
    break;
  }
}
