//===- SetTarget.cpp - The chip of kernels over tiles ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Pipelines/Pipelines.h"
#include "Evoformer/Target/Targets.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_SETTARGET
#include "Evoformer/Pipelines/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;
using namespace mlir::evoformer;

namespace {
class SetTarget : public evoformer::impl::SetTargetBase<SetTarget> {
public:
  using SetTargetBase::SetTargetBase;

protected:
  void runOnOperation() override {
    FailureOr<tile::TargetAttr> chip = tile::findTarget(getOperation(), target);
    if (failed(chip))
      return signalPassFailure();
    if (!*chip)
      return;
    chip =
        tile::adaptTarget(getOperation().getLoc(), *chip, f32Products, boxes);
    if (failed(chip))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<tile::KernelOp>())
      if (!kernel.getTarget())
        kernel.setTargetAttr(*chip);
  }
};
} // namespace
