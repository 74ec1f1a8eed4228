//===- TargetFacts.h - What follows from a target's entries -----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_TARGETFACTS_H
#define EVOFORMER_DIALECT_TILE_IR_TARGETFACTS_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::evoformer::tile {

/// Whether a lane's registers are so many that subgroups on the same SIMD share
/// them: one that takes more than half of them is alone there.
inline bool hasManyRegisters(TargetAttr target) {
  constexpr int64_t kMany = 512;
  return target.getRegisters() >= kMany;
}

/// Whether an engine copies tiles to LDS past registers, whatever layout a
/// buffer has there.
inline bool copiesPastRegisters(TargetAttr target) {
  CopyEngineAttr engine = target.getCopyEngine();
  return engine && engine.getKind() == CopyEngineKind::PerLane;
}

/// Whether a workgroup of so many subgroups has a processor for itself: with it
/// all lanes are there that hide each other's waits.
inline bool isAlone(TargetAttr target, int64_t subgroups) {
  return target.getRegistersPerProcessor() > 0 &&
         subgroups * target.getSubgroupSize() >= target.getLatencyLanes();
}

/// Whether instructions read matrices of such elements from LDS, along their
/// rows and across them.
inline bool readsMatrices(TargetAttr target, Type element) {
  constexpr unsigned kBits = 16;
  return target.hasLdmatrix() && element.getIntOrFloatBitWidth() == kBits;
}

/// Whether code of the target has instructions that one chip alone runs, of
/// which NVIDIA's names end in a letter ("CUDA C++ Programming Guide",
/// "Architecture-Specific Features").
inline bool isForOneChipAlone(TargetAttr target) {
  return !target.getCodeChip().empty() &&
         !llvm::isDigit(target.getCodeChip().back());
}

} // namespace mlir::evoformer::tile

#endif // EVOFORMER_DIALECT_TILE_IR_TARGETFACTS_H
