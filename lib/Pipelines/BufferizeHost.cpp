//===- BufferizeHost.cpp - Memory for the host's tensors ------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Pipelines/Pipelines.h"

#include "HostTensors.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::evoformer {
#define GEN_PASS_DEF_BUFFERIZEHOST
#include "Evoformer/Pipelines/Passes.h.inc"
} // namespace mlir::evoformer

using namespace mlir;

/// Upstream's analysis looks at functions of one block only; of others it would
/// make memrefs without seeing which op still needs what another one
/// overwrites.
static LogicalResult checkBlocks(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (isa<evoformer::tile::KernelOp>(function) || function.isExternal() ||
        function.getFunctionBody().hasOneBlock())
      continue;
    auto hasTensors = [](TypeRange types) {
      return llvm::any_of(types, llvm::IsaPred<TensorType>);
    };
    WalkResult walk = function.walk([&](Operation *op) {
      return hasTensors(op->getOperandTypes()) ||
                     hasTensors(op->getResultTypes())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return function.emitError("'")
             << function.getName()
             << "' has several blocks: tensors become memrefs in functions of "
                "one block, whose control flow is scf's; run lift-cf-to-scf "
                "and canonicalize first";
  }
  return success();
}

namespace {
class BufferizeHost : public evoformer::impl::BufferizeHostBase<BufferizeHost> {
protected:
  void runOnOperation() override {
    if (failed(checkBlocks(getOperation())))
      return signalPassFailure();
    SmallVector<FunctionOpInterface> hosts;
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!isa<evoformer::tile::KernelOp>(function) && !function.isExternal())
        hosts.push_back(function);
    llvm::for_each(hosts, evoformer::leaveOperands);
    for (FunctionOpInterface host : hosts)
      if (host.isPublic())
        evoformer::keepInputs(host);
    llvm::for_each(hosts, evoformer::writeCarriedInPlace);
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
      return signalPassFailure();
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      if (!isa<evoformer::tile::KernelOp>(function))
        evoformer::uncarryMemory(function);
  }
};
} // namespace
