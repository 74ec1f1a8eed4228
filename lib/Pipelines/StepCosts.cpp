//===- StepCosts.cpp - What the steps of an attention cost ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Pipelines/StepCosts.h"

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::evoformer;

static StringRef getName(AttentionGradientOp op) {
  if (op.getQueryGrad())
    return "query_grad";
  return op.getKeyGrad() || op.getValueGrad() ? "key_value_grad" : "bias_grad";
}

FailureOr<std::vector<StepCost>>
evoformer::getStepCosts(ModuleOp module, StringRef biasGradients,
                        const AttentionSizes &sizes) {
  PassManager pm(module.getContext());
  SplitBackwardOptions split;
  split.biasGradients = biasGradients.str();
  pm.addPass(createSplitBackward(split));
  if (failed(pm.run(module)))
    return failure();
  std::vector<StepCost> steps;
  module.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](AttentionOp op) {
          steps.push_back({"attention", op.getCost(sizes)});
        })
        .Case([&](AttentionWeightsOp op) {
          steps.push_back({"weights", op.getCost(sizes)});
        })
        .Case([&](AttentionDeltaOp op) {
          steps.push_back({"delta", op.getCost(sizes)});
        })
        .Case([&](AttentionGradientOp op) {
          steps.push_back({getName(op).str(), op.getCost(sizes)});
        });
  });
  return steps;
}
