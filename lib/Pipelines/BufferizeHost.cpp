//===- BufferizeHost.cpp - Memory for the host's tensors ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Pipelines/Pipelines.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_BUFFERIZEHOST
#include "Evoformer/Pipelines/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;

namespace {
class BufferizeHost : public evoformer::impl::BufferizeHostBase<BufferizeHost> {
protected:
  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(
        bufferization::LayoutMapOption::InferLayoutMap);
    // A tile is a value of a kernel, not an array in memory.
    options.opFilter.denyOperation([](Operation *op) {
      return isa<evoformer::tile::KernelOp>(op) ||
             op->getParentOfType<evoformer::tile::KernelOp>();
    });
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options,
                                                        state)))
      signalPassFailure();
  }
};
} // namespace
