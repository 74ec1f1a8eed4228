//===- StepCosts.h - What the steps of an attention cost --------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_PIPELINES_STEPCOSTS_H
#define EVOFORMER_PIPELINES_STEPCOSTS_H

#include "Evoformer/Dialect/Evoformer/IR/AttentionCost.h"
#include "Evoformer/Dialect/Evoformer/IR/AttentionSizes.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::evoformer {

/// What a step of an attention must do at least.
struct StepCost {
  /// `attention`, `delta`, `query_grad`, `key_value_grad` or `bias_grad`: also
  /// what the name of its main kernel holds.
  std::string name;
  AttentionCost cost;
};

/// The steps of the attentions of these sizes in `module`, in their order; it
/// is on the level of graphs or buffers. `biasGradients` is the option of
/// evoformer-split-backward, which this runs.
FailureOr<std::vector<StepCost>> getStepCosts(ModuleOp module,
                                              StringRef biasGradients,
                                              const AttentionSizes &sizes);

} // namespace mlir::evoformer

#endif // EVOFORMER_PIPELINES_STEPCOSTS_H
