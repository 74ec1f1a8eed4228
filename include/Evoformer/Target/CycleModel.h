//===- CycleModel.h - How long final code keeps units busy ------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound on time from counted instructions and a target's rates: what
// memory answers late, and what waits for it, is not in it
// (docs/rationale/modelled-cycles.md).
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TARGET_CYCLEMODEL_H
#define EVOFORMER_TARGET_CYCLEMODEL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <utility>
#include <vector>

namespace mlir::evoformer {
struct InstructionCounts;

namespace tile {
class TargetAttr;
} // namespace tile

/// Cycles of a processor for which some instructions of one subgroup keep each
/// unit busy; of units that a processor has several of, their part.
struct UnitCycles {
  std::vector<std::pair<llvm::StringRef, double>> units;

  /// The unit that is busy longest.
  std::pair<llvm::StringRef, double> getBound() const;
  /// `cycles`, `unit`, and each unit's cycles.
  llvm::json::Object toJSON() const;
};

/// Empty where the target has no rates.
UnitCycles modelCycles(const InstructionCounts &counts,
                       tile::TargetAttr target);

} // namespace mlir::evoformer

#endif // EVOFORMER_TARGET_CYCLEMODEL_H
