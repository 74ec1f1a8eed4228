//===- Memory.h - Checked access to the address spaces ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_SIMULATOR_MEMORY_H
#define EVOFORMER_LIB_SIMULATOR_MEMORY_H

#include "Machine.h"

namespace mlir::evoformer::sim {

/// The value of a speculative read is dropped: only its bounds matter.
enum class Access { Read, Speculative, Write, Atomic };

/// Each returns the host address of `size` bytes after checking and recording
/// the access, or null if the access is out of bounds (a finding is made).
uint8_t *globalAddress(Wave &w, const Inst *i, unsigned lane, uint64_t address,
                       unsigned size, Access access);
uint8_t *ldsAddress(Wave &w, const Inst *i, unsigned lane, uint64_t offset,
                    unsigned size, Access access);
uint8_t *privateAddress(Wave &w, const Inst *i, unsigned lane, uint64_t offset,
                        unsigned size, Access access);
/// Chooses by the aperture bits.
uint8_t *genericAddress(Wave &w, const Inst *i, unsigned lane, uint64_t address,
                        unsigned size, Access access);

void checkAlignment(Wave &w, const Inst *i, unsigned lane, uint64_t address,
                    unsigned alignment);

/// Starts a copy of `size` bytes to LDS: checks it, marks the bytes as in
/// flight, and adds it to `group`. `source` null writes zeros.
void issueCopy(Wave &w, const Inst *i, unsigned lane, uint32_t lds,
               unsigned size, const uint8_t *source, unsigned sourceSize,
               CopyGroup &group);
void landCopies(Wave &w, const CopyGroup &group);

/// Adds the cycles of one LDS operation: `size` bytes per lane at `offsets`.
void countBanks(Wave &w, const Inst *i, const uint32_t *offsets, unsigned size);

/// Ends a memory operation: the place where the scheduler may switch.
inline const Inst *memoryDone(Wave &w, const Inst *i) {
  if (w.quantum && --w.quantum == 0) {
    w.next = i + 1;
    return nullptr;
  }
  return i + 1;
}

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_LIB_SIMULATOR_MEMORY_H
