//===- DropCastFlags.cpp - Flags that LLVM's casts cannot hold ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/TileToCPU/TileToCPU.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_DROPCASTFLAGSPASS
#include "Evoformer/Conversion/TileToCPU/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;

namespace {
class DropCastFlags
    : public evoformer::impl::DropCastFlagsPassBase<DropCastFlags> {
protected:
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto narrow = dyn_cast<arith::TruncFOp>(op))
        narrow.removeFastmathAttr();
      else if (auto widen = dyn_cast<arith::ExtFOp>(op))
        widen.removeFastmathAttr();
    });
  }
};
} // namespace
