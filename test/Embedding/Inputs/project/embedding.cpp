//===- embedding.cpp - A compiler of somebody else's ----------------------===//
//
// Registers dialects and passes, builds an op in C++, lowers it once by the
// pipeline's function and once by its textual name.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Pipelines/InitAll.h"
#include "Evoformer/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
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

static int lower(MLIRContext &context,
                 llvm::function_ref<LogicalResult(PassManager &)> fill) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kSource, &context);
  PassManager pm(&context);
  if (!module || failed(fill(pm)) || failed(pm.run(*module)))
    return -1;
  int ops = 0, kernels = 0;
  module->walk([&](evoformer::AttentionOp) { ++ops; });
  module->walk([&](gpu::GPUFuncOp) { ++kernels; });
  std::printf("%d attentions, %d kernels\n", ops, kernels);
  return kernels;
}

int main() {
  DialectRegistry registry;
  evoformer::registerAllDialects(registry);
  evoformer::registerAllPasses();
  registry.insert<func::FuncDialect>();
  MLIRContext context(registry);

  int direct = lower(context, [](PassManager &pm) {
    evoformer::LowerOptions options;
    options.target = "gfx942";
    options.stopAfter = evoformer::Level::Lanes;
    evoformer::buildLowerPipeline(pm, options);
    return success();
  });
  int byName = lower(context, [](PassManager &pm) {
    return parsePassPipeline("evoformer-lower{target=sm_80 stop-after=lanes}",
                             pm);
  });
  return direct > 0 && byName > 0 ? 0 : 1;
}
