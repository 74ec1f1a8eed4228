//===- LentMemory.h - Buffers where results will be -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_RUNTIME_LENTMEMORY_H
#define EVOFORMER_LIB_RUNTIME_LENTMEMORY_H

#include "Evoformer/Runtime/Interpreter.h"

namespace mlir::evoformer::runtime {

/// Follows a run that launches nothing and finds which of the function's own
/// buffers may lie in memory of results: those that are released before
/// anything is launched that takes the result. Nothing else of a run depends on
/// where buffers lie.
class LentMemory {
public:
  /// Results that are overwritten and leave no gaps.
  LentMemory(const PlanFunction &function, llvm::ArrayRef<HostValue> arguments);

  bool isEmpty() const { return lenders.empty(); }

  /// What happens in the run, if it succeeds.
  void allocate(uint64_t address, uint64_t bytes);
  void release(uint64_t address);
  /// A launch that takes these memrefs.
  void launch(llvm::ArrayRef<const MemRefDescriptor *> memrefs);

  /// Places of buffers, at least `marginBytes` apart.
  LentBuffers place(uint64_t marginBytes) const;

private:
  struct Lender {
    MemoryRange range;
    /// Where memrefs of the same memory begin.
    uint64_t aligned;
    /// The number of the first launch that takes it.
    std::optional<unsigned> firstLaunch;
  };
  /// A buffer that launches from `begin` on and before `end` may use.
  struct Life {
    uint64_t bytes;
    unsigned begin, end;
  };

  llvm::SmallVector<Lender> lenders;
  /// By the number of the request.
  llvm::SmallVector<Life> lives;
  /// Requests that are not released, by address.
  std::map<uint64_t, unsigned> live;
  unsigned numLaunches = 0;
};

} // namespace mlir::evoformer::runtime

#endif // EVOFORMER_LIB_RUNTIME_LENTMEMORY_H
