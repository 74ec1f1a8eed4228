//===- Workspace.h - Where a host program's buffers come from ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_WORKSPACE_H
#define EVOFORMER_RUNTIME_WORKSPACE_H

#include "Evoformer/Runtime/Device.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace mlir::evoformer::runtime {

/// Every buffer starts at a multiple of this many bytes.
constexpr uint64_t bufferAlignment = 256;

/// Buffers of a run that lie in memory of results which nothing takes
/// meanwhile.
struct LentBuffers {
  /// That memory.
  llvm::SmallVector<MemoryRange, 4> lenders;
  /// By the number of the request.
  llvm::DenseMap<uint64_t, uint64_t> addresses;
};

/// Serves a host program's memref.alloc and memref.dealloc out of one range of
/// addresses, first fit. What it hands out depends on the requests alone, so a
/// dry run over an imaginary range tells how large the real one must be.
class Workspace {
public:
  /// `base` is a multiple of bufferAlignment. Around each buffer `guardBytes`
  /// (rounded up to bufferAlignment) stay unused; no range is then used twice,
  /// so that the guards keep what was in them before the run.
  Workspace(uint64_t base, uint64_t capacity, uint64_t guardBytes = 0);
  /// An imaginary range without a limit.
  static Workspace unlimited(uint64_t guardBytes = 0);

  /// Serves these of the requests to come elsewhere, without guards.
  void borrow(LentBuffers buffers);

  llvm::Expected<uint64_t> allocate(uint64_t bytes);
  llvm::Error release(uint64_t address);

  /// Bytes of the range that were in use at once, from its start.
  uint64_t getHighWater() const { return highWater; }
  /// Buffers that were not released.
  size_t getNumLive() const { return live.size() + liveElsewhere.size(); }
  /// Those buffers.
  llvm::SmallVector<MemoryRange> getLive() const;
  uint64_t getBase() const { return base; }
  uint64_t getGuardBytes() const { return guardBytes; }
  /// Where buffers may be that are elsewhere.
  llvm::ArrayRef<MemoryRange> getLenders() const { return lent.lenders; }
  /// Those in `lender` that were not released.
  llvm::SmallVector<MemoryRange> getLive(MemoryRange lender) const;
  /// The guards of all buffers since the start of the run.
  llvm::ArrayRef<MemoryRange> getGuardZones() const { return guardZones; }
  /// Sets back to the start of a run.
  void reset();

private:
  uint64_t base, capacity, guardBytes;
  uint64_t highWater = 0;
  struct Occupied {
    /// Guards included.
    uint64_t size;
    /// The buffer's own.
    uint64_t bytes;
  };
  /// By the offset.
  std::map<uint64_t, Occupied> live;
  /// The guards of the buffers handed out.
  llvm::SmallVector<MemoryRange> guardZones;
  LentBuffers lent;
  /// Bytes of the buffers that are elsewhere, by their address.
  std::map<uint64_t, uint64_t> liveElsewhere;
  uint64_t numRequests = 0;
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_WORKSPACE_H
