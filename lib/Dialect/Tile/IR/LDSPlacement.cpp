//===- LDSPlacement.cpp - Where buffers of workgroup memory lie -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/LDSPlacement.h"

#include "Evoformer/Dialect/Tile/IR/Limits.h"
#include "Evoformer/Dialect/Tile/IR/LoopCounts.h"
#include "Evoformer/Dialect/Tile/IR/SharedLayout.h"
#include "Evoformer/Dialect/Tile/IR/TargetFacts.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

/// What reads or writes `memory` or a view of it.
static void addUsers(Value memory, SmallVectorImpl<Operation *> &users) {
  for (Operation *user : memory.getUsers()) {
    // Views, and transposes, which are not among them.
    if (user->getNumResults() == 1 &&
        isa<MemRefType>(user->getResult(0).getType()))
      addUsers(user->getResult(0), users);
    else
      users.push_back(user);
  }
}

SmallVector<LDSBuffer> mlir::evoformer::tile::getLDSBuffers(KernelOp kernel) {
  SmallVector<LDSBuffer> buffers;
  kernel.walk([&](AllocLDSOp alloc) {
    auto type = cast<MemRefType>(alloc.getType());
    LDSBuffer &buffer = buffers.emplace_back();
    buffer.bytes = getLDSBytes(type);
    buffer.period = getSwizzle(type).getPeriod();
    addUsers(alloc, buffer.users);
    if (llvm::any_of(buffer.users, llvm::IsaPred<BoxCopyOp>))
      buffer.period = std::max(buffer.period, kBoxAlignment);
    buffer.alloc = alloc;
  });
  return buffers;
}

namespace {
/// The ops of a block from the first to the last that a buffer is used in.
struct Lifetime {
  Operation *first = nullptr, *last = nullptr;
  /// A loop is among those that use it.
  bool hasLoop = false;
};

/// Two buffers of which one is used by loops that come after those of the
/// other.
struct Succession {
  Lifetime earlier, later;
  /// The second is the earlier one.
  bool isSwapped;
};
} // namespace

/// Whether an op is a loop, or branches between some.
static bool hasLoop(Operation *op) {
  return isa<LoopLikeOpInterface>(op) ||
         (isa<scf::IfOp>(op) &&
          llvm::any_of(op->getRegions(), [](Region &region) {
            return llvm::any_of(region.getOps(), [](Operation &inner) {
              return isa<LoopLikeOpInterface>(inner);
            });
          }));
}

/// Nothing where a user lies outside of `block`.
static std::optional<Lifetime> findLifetime(const LDSBuffer &buffer,
                                            Block *block) {
  Lifetime life;
  for (Operation *user : buffer.users) {
    Operation *op = block->findAncestorOpInBlock(*user);
    if (!op)
      return std::nullopt;
    life.hasLoop |= hasLoop(op);
    if (!life.first || op->isBeforeInBlock(life.first))
      life.first = op;
    if (!life.last || life.last->isBeforeInBlock(op))
      life.last = op;
  }
  return life;
}

/// Whether the kernel's workgroups have a processor for themselves each.
static bool isInAlone(const LDSBuffer &buffer) {
  auto kernel = buffer.users.front()->getParentOfType<KernelOp>();
  return kernel && kernel.getTarget() && kernel.getSchedule() &&
         isAlone(*kernel.getTarget(), kernel.getSchedule()->getNumSubgroups());
}

static std::optional<Succession> findSuccession(const LDSBuffer &a,
                                                const LDSBuffer &b) {
  if (a.users.empty() || b.users.empty())
    return std::nullopt;
  // The innermost block around all users of both.
  Block *block = a.users.front()->getBlock();
  std::optional<Lifetime> ofA, ofB;
  while (true) {
    ofA = findLifetime(a, block);
    ofB = findLifetime(b, block);
    if (ofA && ofB)
      break;
    Operation *parent = block->getParentOp();
    if (isa<KernelOp>(parent))
      return std::nullopt;
    block = parent->getBlock();
  }
  // What is no loop is worth a barrier only where the loop of a workgroup that
  // has the processor for itself may take all of its memory.
  if (!(ofA->hasLoop && ofB->hasLoop) &&
      (!(ofA->hasLoop || ofB->hasLoop) || !isInAlone(a)))
    return std::nullopt;
  if (ofA->last->isBeforeInBlock(ofB->first))
    return Succession{*ofA, *ofB, /*isSwapped=*/false};
  if (ofB->last->isBeforeInBlock(ofA->first))
    return Succession{*ofB, *ofA, /*isSwapped=*/true};
  return std::nullopt;
}

LDSPlacement mlir::evoformer::tile::placeLDS(ArrayRef<LDSBuffer> buffers) {
  LDSPlacement placement;
  placement.offsets.assign(buffers.size(), 0);
  // Those of longer periods first: each then starts at a multiple of its own
  // without gaps.
  auto order = llvm::to_vector(llvm::seq<size_t>(0, buffers.size()));
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-buffers[a].period, a) < std::pair(-buffers[b].period, b);
  });
  ArrayRef<size_t> all(order);
  for (auto [count, index] : llvm::enumerate(all)) {
    const LDSBuffer &buffer = buffers[index];
    ArrayRef<size_t> placed = all.take_front(count);
    SmallVector<std::optional<Succession>> successions =
        llvm::map_to_vector(placed, [&](size_t other) {
          return findSuccession(buffers[other], buffer);
        });
    auto overlaps = [&](size_t other, int64_t offset) {
      int64_t start = placement.offsets[other];
      return offset < start + buffers[other].bytes &&
             start < offset + buffer.bytes;
    };
    // The lowest address at which it meets only what it may share.
    SmallVector<int64_t> candidates = {0};
    for (size_t other : placed)
      candidates.push_back(
          llvm::alignTo(placement.offsets[other] + buffers[other].bytes,
                        std::max<int64_t>(buffer.period, 1)));
    llvm::sort(candidates);
    int64_t offset = *llvm::find_if(candidates, [&](int64_t candidate) {
      return llvm::none_of(llvm::zip_equal(placed, successions),
                           [&](auto pair) {
                             auto [other, succession] = pair;
                             return !succession && overlaps(other, candidate);
                           });
    });
    placement.offsets[index] = offset;
    placement.bytes = std::max(placement.bytes, offset + buffer.bytes);
    for (auto [other, succession] : llvm::zip_equal(placed, successions)) {
      if (!succession || !overlaps(other, offset))
        continue;
      auto [earlier, later] = succession->isSwapped ? std::pair(index, other)
                                                    : std::pair(other, index);
      placement.takeovers[succession->later.first].push_back({earlier, later});
      // The earlier loop comes after the later one where both run again.
      if (mayRunAgain(succession->earlier.first))
        placement.takeovers[succession->earlier.first].push_back(
            {later, earlier});
    }
  }
  return placement;
}
