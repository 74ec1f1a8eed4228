//===- Pipelines.cpp - From attention to machine code ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Pipelines/Pipelines.h"

#include "Evoformer/Conversion/EvoformerToTile/Passes.h"
#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Conversion/LinalgToTile/Passes.h"
#include "Evoformer/Conversion/TileToCPU/TileToCPU.h"
#include "Evoformer/Conversion/TileToGPU/Passes.h"
#include "Evoformer/Dialect/Evoformer/Transforms/Passes.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::evoformer;

/// Arguments keep arbitrary strides; results become arguments.
static void addBufferization(OpPassManager &pm) {
  pm.addPass(createBufferizeHost());
  pm.addPass(createResultsToArguments());
}

/// Only on the host: there every op of a graph is still one op.
static void addSizeChecks(OpPassManager &pm) {
  std::unique_ptr<Pass> checks = createGenerateRuntimeVerificationPass();
  [[maybe_unused]] LogicalResult known = checks->initializeOptions(
      "verbose-level=0", [](const Twine &) { return failure(); });
  assert(succeeded(known) && "upstream's pass has lost an option");
  pm.addNestedPass<func::FuncOp>(std::move(checks));
}

static void addCleanup(OpPassManager &pm, bool topDown = true) {
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(topDown).setRegionSimplificationLevel(
      GreedySimplifyRegionLevel::Normal);
  pm.addPass(createCanonicalizerPass(config));
  pm.addPass(createCSEPass());
}

static void addSplit(OpPassManager &pm, const LowerOptions &options) {
  SplitBackwardOptions split;
  split.biasGradients = options.biasGradients;
  pm.addPass(createSplitBackward(split));
}

/// Who launches makes tensor maps: a launch plan's runtime does, of memrefs.
static bool makesTensorMaps(const LowerOptions &options) {
  return options.host == Host::Plan && options.abi == ABI::Descriptor;
}

static void addTiling(OpPassManager &pm, const LowerOptions &options) {
  ConvertEvoformerToTileOptions tiling;
  tiling.target = options.target;
  tiling.schedule = options.schedule;
  tiling.partialSumBytes = options.partialSumBytes;
  tiling.f32Products = options.f32Products;
  tiling.boxes = makesTensorMaps(options);
  pm.addPass(createConvertEvoformerToTile(tiling));
  // Hosts of many attentions repeat themselves: what is equal goes before a
  // pattern looks at it.
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  addCleanup(pm);
  pm.addPass(tile::createShareLaunches());
}

/// Memory that is the device's the host cannot compute on.
static bool makesLinalgKernels(const LowerOptions &options) {
  return options.linalgKernels || options.host == Host::GPU;
}

static void addLinalg(OpPassManager &pm, const LowerOptions &options) {
  if (makesLinalgKernels(options))
    pm.addPass(tile::createConvertLinalgToTile());
}

static void addLanes(OpPassManager &pm, const LowerOptions &options) {
  if (makesTensorMaps(options))
    pm.addPass(tile::createCopyBoxes());
  pm.addPass(tile::createSkipIdleSubgroups());
  pm.addPass(tile::createDeferLaneSums());
  pm.addPass(tile::createConvertTileToGPU());
  // Distribution leaves more unused than used. From the bottom that goes before
  // a pattern looks at it; from the top every erased user has a loop looked at
  // again, whose patterns compare all pairs of the registers that it carries.
  // Hosts are as they were.
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  addCleanup(kernels, /*topDown=*/false);
  kernels.addPass(tile::createCarryAddresses());
}

/// The kernels' part; host functions stay what a launch plan is made of.
static void addMachine(OpPassManager &pm) {
  pm.addNestedPass<gpu::GPUModuleOp>(createConvertGPULanesToLLVM());
}

/// What of descriptors nobody reads must be gone before, lest kernels are told.
static void addPointers(OpPassManager &pm) {
  pm.addNestedPass<gpu::GPUModuleOp>(createCanonicalizerPass());
  pm.addPass(tile::createPassPointers());
  addCleanup(pm);
}

void evoformer::buildLowerKernelsPipeline(OpPassManager &pm,
                                          const LowerOptions &options) {
  // The CPU runs tiles; the levels between are those of GPUs.
  bool isCPU = options.target == "cpu";
  bool runOnCPU = options.runOnCPU || isCPU;
  auto goesTo = [&](Level level) {
    bool exists =
        !runOnCPU || level <= (isCPU ? Level::Tiles : Level::Pipelined);
    return exists && options.stopAfter >= level;
  };
  if (goesTo(Level::Tiles)) {
    SetTargetOptions kernels;
    kernels.target = options.target;
    kernels.f32Products = options.f32Products;
    kernels.boxes = makesTensorMaps(options);
    pm.addPass(createSetTarget(kernels));
  }
  if (goesTo(Level::Fragments)) {
    pm.addPass(tile::createAssignLayouts());
    pm.addPass(tile::createRemoveLayoutConversions());
  }
  if (goesTo(Level::Staged))
    pm.addPass(tile::createPromoteToLDS());
  if (goesTo(Level::Pipelined)) {
    pm.addPass(tile::createSoftwarePipeline());
    pm.addPass(tile::createCarryDivisions());
    pm.addPass(tile::createSplitProducts());
    pm.addPass(tile::createShareOperands());
    pm.addPass(tile::createOverlapProducts());
  }
  if (goesTo(Level::Lanes))
    addLanes(pm, options);
  if (goesTo(Level::Machine)) {
    addMachine(pm);
    if (options.abi == ABI::Pointers)
      addPointers(pm);
    if (options.host == Host::GPU)
      pm.addPass(tile::createConvertTileLaunchToGPU());
  }
  if (options.runOnCPU || (isCPU && options.stopAfter == Level::Machine))
    buildTileToCPULLVMPipeline(pm);
}

/// From steps on buffers.
static void addTilesAndBelow(OpPassManager &pm, const LowerOptions &options) {
  if (options.stopAfter >= Level::Tiles)
    addTiling(pm, options);
  buildLowerKernelsPipeline(pm, options);
}

void evoformer::buildLowerBuffersPipeline(OpPassManager &pm,
                                          const LowerOptions &options) {
  if (options.stopAfter >= Level::Tiles) {
    addSplit(pm, options);
    addLinalg(pm, options);
  }
  addTilesAndBelow(pm, options);
}

void evoformer::buildLowerPipeline(OpPassManager &pm,
                                   const LowerOptions &options) {
  addSplit(pm, options);
  // Arithmetic on tensors has no memory of its own.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  addBufferization(pm);
  // Before the checks: what a linalg op checks is no part of a launch plan, and
  // its kernel stays within its memory.
  if (options.stopAfter >= Level::Tiles)
    addLinalg(pm, options);
  if (options.checkSizes)
    addSizeChecks(pm);
  addTilesAndBelow(pm, options);
}

void evoformer::registerPipelines() {
  PassPipelineRegistration<LowerOptions>(
      "evoformer-lower",
      "Attention on tensors or memrefs to machine code for a chip, or to any "
      "level between",
      buildLowerPipeline);
}
