//===- Candidates.h - Schedules that are worth a try ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TUNING_CANDIDATES_H
#define EVOFORMER_TUNING_CANDIDATES_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Driver/ScheduleTable.h"

namespace mlir::evoformer {

/// The kernels that have schedules of their own and are tuned.
llvm::ArrayRef<llvm::StringRef> getTunedKernels();

/// Schedules of a kernel, `q=64,k=32,subgroups=4x1,…`, that the target's
/// subgroups, instructions and copies suggest for the shape. Whether one fits
/// registers and workgroup memory says compiling it. None on the CPU.
std::vector<std::string> listCandidates(llvm::StringRef kernel,
                                        tile::TargetAttr target,
                                        Type elementType,
                                        const ProblemShape &shape);

} // namespace mlir::evoformer

#endif // EVOFORMER_TUNING_CANDIDATES_H
