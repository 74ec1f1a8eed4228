//===- embedding.cpp - A compiler of somebody else's ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers dialects and passes, lowers an op once by the pipeline's function
// and once by its textual name, and asks it for gradients as automatic
// differentiation does: by the interface alone.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Pipelines/InitAll.h"
#include "Evoformer/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include <cstdio>

using namespace mlir;

static constexpr StringLiteral kSource = R"(
  func.func @attention(%x: tensor<?x?x?x4x32xbf16>, %out: tensor<?x?x?x4x32xbf16>)
      -> tensor<?x?x?x4x32xbf16> {
    %0 = evoformer.attention
        query(%x : tensor<?x?x?x4x32xbf16>) key(%x : tensor<?x?x?x4x32xbf16>)
        value(%x : tensor<?x?x?x4x32xbf16>) outs(%out : tensor<?x?x?x4x32xbf16>)
    return %0 : tensor<?x?x?x4x32xbf16>
  })";

static int lower(ModuleOp module,
                 llvm::function_ref<LogicalResult(PassManager &)> fill) {
  PassManager pm(module.getContext());
  if (failed(fill(pm)) || failed(pm.run(module)))
    return -1;
  int ops = 0, kernels = 0;
  module.walk([&](evoformer::AttentionFamilyOpInterface) { ++ops; });
  module.walk([&](gpu::GPUFuncOp) { ++kernels; });
  std::printf("%d attentions, %d kernels\n", ops, kernels);
  return kernels;
}

/// Makes the function return what its gradients with respect to the first two
/// operands of an op are, given its own results as those of the output.
static LogicalResult differentiate(ModuleOp module) {
  evoformer::DifferentiableAttentionOpInterface forward;
  module.walk(
      [&](evoformer::DifferentiableAttentionOpInterface op) { forward = op; });
  IRRewriter rewriter(module.getContext());
  FailureOr<Operation *> ready = forward.ensureStatistics(rewriter);
  if (failed(ready))
    return failure();
  forward = cast<evoformer::DifferentiableAttentionOpInterface>(*ready);
  rewriter.setInsertionPointAfter(forward);
  FailureOr<SmallVector<Value>> gradients =
      forward.buildGradients(rewriter, forward->getResult(0), {0, 1});
  if (failed(gradients))
    return failure();
  auto function = forward->getParentOfType<func::FuncOp>();
  function.getBody().front().getTerminator()->setOperands(*gradients);
  function.setType(rewriter.getFunctionType(function.getArgumentTypes(),
                                            TypeRange(ValueRange(*gradients))));
  return success();
}

int main() {
  DialectRegistry registry;
  evoformer::registerAllDialects(registry);
  evoformer::registerAllPasses();
  registry.insert<func::FuncDialect>();
  MLIRContext context(registry);

  auto parse = [&] { return parseSourceString<ModuleOp>(kSource, &context); };
  OwningOpRef<ModuleOp> first = parse(), second = parse(), third = parse();
  if (!first || !second || !third || failed(differentiate(*third)))
    return 1;
  auto byFunction = [](PassManager &pm) {
    evoformer::LowerOptions options;
    options.target = "gfx942";
    options.stopAfter = evoformer::Level::Lanes;
    evoformer::buildLowerPipeline(pm, options);
    return success();
  };
  int direct = lower(*first, byFunction);
  int byName = lower(*second, [](PassManager &pm) {
    return parsePassPipeline("evoformer-lower{target=sm_80 stop-after=lanes}",
                             pm);
  });
  int gradients = lower(*third, byFunction);
  return direct > 0 && byName > 0 && gradients > direct ? 0 : 1;
}
