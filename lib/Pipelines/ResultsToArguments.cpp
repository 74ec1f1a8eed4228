//===- ResultsToArguments.cpp - Callers own the memory --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Pipelines/Pipelines.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_RESULTSTOARGUMENTS
#include "Evoformer/Pipelines/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;

namespace {
struct ResultsToArguments
    : evoformer::impl::ResultsToArgumentsBase<ResultsToArguments> {
protected:
  void runOnOperation() override {
    // Upstream keeps the results of public functions; here the signature is
    // meant to change.
    SmallVector<func::FuncOp> exported;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        exported.push_back(function);
    for (func::FuncOp function : exported)
      function.setPrivate();
    LogicalResult dropped =
        bufferization::dropEquivalentBufferResults(getOperation());
    for (func::FuncOp function : exported)
      function.setPublic();
    if (failed(dropped))
      return signalPassFailure();

    bufferization::BufferResultsToOutParamsOpts options;
    options.hoistStaticAllocs = options.hoistDynamicAllocs = true;
    options.modifyPublicFunctions = true;
    if (failed(bufferization::promoteBufferResultsToOutParams(getOperation(),
                                                              options)))
      signalPassFailure();
  }
};
} // namespace
