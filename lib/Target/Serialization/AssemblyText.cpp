//===- AssemblyText.cpp - Functions, blocks and loops of a listing --------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

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
  }
  return blocks;
}

void mlir::evoformer::addInstruction(InstructionCounts &counts,
                                     InstructionClass kind, unsigned width) {
  ++counts.byClass[unsigned(kind)];
  if (width)
    ++counts.byWidth[unsigned(kind)][width];
}

namespace {
/// A range of blocks that ends in a jump to its first.
struct Loop {
  size_t first, last;
};
} // namespace

/// The loops of a listing: code generators lay a loop out in one piece.
static SmallVector<Loop> findLoops(ArrayRef<AssemblyBlock> blocks,
                                   const AssemblySyntax &syntax) {
  StringMap<size_t> positions;
  for (auto [index, block] : enumerate(blocks))
    positions[block.label] = index;
  SmallVector<Loop> loops;
  for (auto [index, block] : enumerate(blocks)) {
    for (const AssemblyInstruction &instruction : block.instructions) {
      StringRef target = syntax.getBranch(instruction);
      auto position = positions.find(target);
      if (target.empty() || position == positions.end() ||
          position->second > index)
        continue;
      auto *known = find_if(
          loops, [&](Loop loop) { return loop.first == position->second; });
      if (known == loops.end())
        loops.push_back({position->second, index});
      else
        known->last = std::max(known->last, index);
    }
  }
  return loops;
}

void mlir::evoformer::countFunction(StringRef body,
                                    const AssemblySyntax &syntax,
                                    KernelReport &report) {
  SmallVector<AssemblyBlock> blocks = parseBlocks(body, syntax);
  auto countRange = [&](size_t first, size_t last) {
    InstructionCounts counts;
    for (size_t i = first; i <= last; ++i)
      for (const AssemblyInstruction &instruction : blocks[i].instructions)
        syntax.count(instruction, counts);
    return counts;
  };
  report.whole = countRange(0, blocks.size() - 1);

  SmallVector<Loop> loops = findLoops(blocks, syntax);
  auto weigh = [](const InstructionCounts &counts) {
    return std::make_pair(counts.get(InstructionClass::Matrix),
                          counts.getTotal());
  };
  for (Loop loop : loops) {
    bool innermost = none_of(loops, [&](Loop other) {
      return other.first >= loop.first && other.last <= loop.last &&
             (other.first != loop.first || other.last != loop.last);
    });
    if (!innermost)
      continue;
    InstructionCounts counts = countRange(loop.first, loop.last);
    if (!report.hotLoop || weigh(counts) > weigh(*report.hotLoop))
      report.hotLoop = counts;
  }
}
