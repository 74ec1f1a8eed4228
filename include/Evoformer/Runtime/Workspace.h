//===- Workspace.h - Where a host program's buffers come from ---*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_RUNTIME_WORKSPACE_H
#define EVOFORMER_RUNTIME_WORKSPACE_H

#include "Evoformer/Runtime/Device.h"
#include <map>

namespace mlir::evoformer::runtime {

/// Every buffer starts at a multiple of this many bytes.
constexpr uint64_t bufferAlignment = 256;

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

  llvm::Expected<uint64_t> allocate(uint64_t bytes);
  llvm::Error release(uint64_t address);

  /// Bytes of the range that were in use at once, from its start.
  uint64_t getHighWater() const { return highWater; }
  /// Buffers that were not released.
  size_t getNumLive() const { return live.size(); }
  /// Those buffers.
  llvm::SmallVector<MemoryRange> getLive() const;
  uint64_t getBase() const { return base; }
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
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_RUNTIME_WORKSPACE_H
