//===- Workspace.cpp - Where a host program's buffers come from -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Workspace.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::evoformer::runtime {

Workspace::Workspace(uint64_t base, uint64_t capacity, uint64_t guardBytes)
    : base(base), capacity(capacity),
      guardBytes(alignTo(guardBytes, bufferAlignment)) {}

Workspace Workspace::unlimited(uint64_t guardBytes) {
  // Far from null and from every real address.
  return Workspace(uint64_t(1) << 60, uint64_t(1) << 60, guardBytes);
}

void Workspace::reset() {
  live.clear();
  liveElsewhere.clear();
  guardZones.clear();
  lent = LentBuffers();
  highWater = numRequests = 0;
}

void Workspace::borrow(LentBuffers buffers) {
  lent = std::move(buffers);
  numRequests = 0;
}

Expected<uint64_t> Workspace::allocate(uint64_t bytes) {
  if (auto found = lent.addresses.find(numRequests++);
      found != lent.addresses.end()) {
    liveElsewhere[found->second] = bytes;
    return found->second;
  }
  // An empty buffer, too, has an address of its own.
  if (bytes > capacity)
    return createStringError("workspace of " + Twine(capacity) +
                             " bytes is too small for a buffer of " +
                             Twine(bytes));
  uint64_t need =
      alignTo(std::max<uint64_t>(bytes, 1), bufferAlignment) + 2 * guardBytes;
  // With guards, everything below the high water is used up.
  uint64_t at = guardBytes ? highWater : 0;
  if (!guardBytes) {
    for (auto [offset, occupied] : live) {
      if (offset - at >= need)
        break;
      at = offset + occupied.size;
    }
  }
  if (need > capacity || at > capacity - need)
    return createStringError("workspace of " + Twine(capacity) +
                             " bytes is too small for a further buffer of " +
                             Twine(bytes) + " (" + Twine(at) + " in use)");
  live[at] = {need, bytes};
  if (guardBytes) {
    // The zone behind starts right after the last byte.
    uint64_t front = base + at, end = front + guardBytes + bytes;
    guardZones.push_back({front, guardBytes});
    guardZones.push_back({end, base + at + need - end});
  }
  highWater = std::max(highWater, at + need);
  return base + at + guardBytes;
}

SmallVector<MemoryRange> Workspace::getLive() const {
  SmallVector<MemoryRange> buffers;
  for (auto [offset, occupied] : live)
    buffers.push_back({base + offset + guardBytes, occupied.bytes});
  return buffers;
}

SmallVector<MemoryRange> Workspace::getLive(MemoryRange lender) const {
  SmallVector<MemoryRange> buffers;
  for (auto [address, bytes] : liveElsewhere)
    if (address - lender.address < lender.bytes)
      buffers.push_back({address, bytes});
  return buffers;
}

Error Workspace::release(uint64_t address) {
  if (liveElsewhere.erase(address))
    return Error::success();
  if (address < base + guardBytes || !live.erase(address - base - guardBytes))
    return createStringError(
        "memref.dealloc of something that memref.alloc did not return");
  return Error::success();
}

} // namespace mlir::evoformer::runtime
