//===- LentMemory.cpp - Buffers where results will be ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LentMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::evoformer::runtime {

/// Whether elements fill one range without gaps, in any order of dimensions.
static bool isDense(const MemRefDescriptor &memref) {
  SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [size, stride] : zip_equal(memref.sizes, memref.strides))
    if (size != 1)
      dims.push_back({stride, size});
  llvm::sort(dims);
  int64_t next = 1;
  for (auto [stride, size] : dims) {
    if (stride != next)
      return false;
    next = stride * size;
  }
  return true;
}

LentMemory::LentMemory(const PlanFunction &function,
                       ArrayRef<HostValue> arguments) {
  for (auto [argument, value] : zip_equal(function.arguments, arguments)) {
    const MemRefDescriptor &memref = value.memref;
    if (!argument.isOverwritten || memref.offset < 0 ||
        memref.sizes.size() != memref.strides.size())
      continue;
    std::optional<int64_t> bytes =
        getByteCount(argument.type.elementType, memref.sizes);
    if (!bytes || *bytes == 0 || !isDense(memref))
      continue;
    uint64_t address =
        memref.aligned + static_cast<uint64_t>(memref.offset) *
                             getByteSize(argument.type.elementType);
    lenders.push_back(
        {{address, static_cast<uint64_t>(*bytes)}, memref.aligned, {}});
  }
}

void LentMemory::allocate(uint64_t address, uint64_t bytes) {
  live[address] = lives.size();
  lives.push_back({bytes, numLaunches, UINT_MAX});
}

void LentMemory::release(uint64_t address) {
  auto found = live.find(address);
  if (found == live.end())
    return;
  lives[found->second].end = numLaunches;
  live.erase(found);
}

void LentMemory::launch(ArrayRef<const MemRefDescriptor *> memrefs) {
  for (Lender &lender : lenders) {
    uint64_t end = lender.range.address + lender.range.bytes;
    bool isTaken = any_of(memrefs, [&](const MemRefDescriptor *memref) {
      return memref->aligned >= lender.aligned && memref->aligned < end;
    });
    if (isTaken && !lender.firstLaunch)
      lender.firstLaunch = numLaunches;
  }
  ++numLaunches;
}

LentBuffers LentMemory::place(uint64_t marginBytes) const {
  struct Placed {
    uint64_t begin, end;
    const Life *life;
  };
  LentBuffers lent;
  std::vector<SmallVector<Placed>> placed(lenders.size());
  for (const Lender &lender : lenders)
    lent.lenders.push_back(lender.range);

  auto findPlace = [&](const Life &life, unsigned number) {
    // As much room whatever the address: a workspace may have to be known
    // before.
    const MemoryRange &range = lenders[number].range;
    uint64_t at = alignTo(range.address, bufferAlignment);
    uint64_t end =
        at + range.bytes - std::min(range.bytes, bufferAlignment - 1);
    // Sorted by address. With margins nothing is used twice.
    for (const Placed &other : placed[number]) {
      bool isApart =
          other.life->end <= life.begin || life.end <= other.life->begin;
      if (isApart && marginBytes == 0)
        continue;
      if (at <= other.begin && other.begin - at >= life.bytes + marginBytes)
        break;
      at = std::max(at, alignTo(other.end + marginBytes, bufferAlignment));
    }
    bool fits = at <= end && end - at >= life.bytes;
    return fits ? std::optional(at) : std::nullopt;
  };

  for (auto [request, life] : enumerate(lives)) {
    if (life.bytes == 0 || life.begin == life.end)
      continue;
    for (auto [number, lender] : enumerate(lenders)) {
      // What no launch takes stays as it is.
      if (!lender.firstLaunch || *lender.firstLaunch < life.end)
        continue;
      std::optional<uint64_t> at = findPlace(life, number);
      if (!at)
        continue;
      lent.addresses[request] = *at;
      placed[number].push_back({*at, *at + life.bytes, &life});
      llvm::sort(placed[number], [](const Placed &a, const Placed &b) {
        return a.begin < b.begin;
      });
      break;
    }
  }
  return lent;
}

} // namespace mlir::evoformer::runtime
