//===- LaunchModel.h - How long a launch should take ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TUNING_LAUNCHMODEL_H
#define EVOFORMER_TUNING_LAUNCHMODEL_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Driver/CaseRunner.h"
#include "Evoformer/Driver/ScheduleTable.h"

namespace mlir::evoformer {

/// Modelled cycles of a launch on a device with as many processors as the
/// target says, or 256, from the report on its kernel
/// (docs/rationale/modelled-cycles.md): for ranking. 0 of kernels without a
/// loop of products, nothing where such a loop does not show its logits.
std::optional<double> modelLaunch(const CaseLaunch &launch,
                                  const ProblemShape &shape,
                                  tile::TargetAttr target);

} // namespace mlir::evoformer

#endif // EVOFORMER_TUNING_LAUNCHMODEL_H
