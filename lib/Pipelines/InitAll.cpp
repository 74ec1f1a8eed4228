//===- InitAll.cpp - Registration of everything in this project -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Pipelines/InitAll.h"

#include "Evoformer/Conversion/EvoformerToTile/Passes.h"
#include "Evoformer/Conversion/GPUToLLVM/GPUToLLVM.h"
#include "Evoformer/Conversion/LinalgToEvoformer/Passes.h"
#include "Evoformer/Conversion/LinalgToTile/Passes.h"
#include "Evoformer/Conversion/TileToCPU/TileToCPU.h"
#include "Evoformer/Conversion/TileToGPU/Passes.h"
#include "Evoformer/Dialect/Evoformer/Transforms/Interfaces.h"
#include "Evoformer/Dialect/Evoformer/Transforms/Passes.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Dialect/Tile/Transforms/Passes.h"
#include "Evoformer/Pipelines/Pipelines.h"
#include "Evoformer/Target/SerializePasses.h"
#include "mlir/IR/DialectRegistry.h"

void mlir::evoformer::registerAllDialects(DialectRegistry &registry) {
  registerEvoformer(registry);
  registerTileToCPUExtensions(registry);
  registry.insert<tile::TileDialect>();
}

void mlir::evoformer::registerAllPasses() {
  registerEvoformerPasses();
  registerEvoformerPipelinePasses();
  registerPipelines();
  registerTileToCPUPasses();
  registerTileToCPUPipelines();
  tile::registerEvoTilePasses();
  registerConvertGPULanesToLLVM();
  tile::registerEvoTileToGPUPasses();
  registerEvoformerToTilePasses();
  registerLinalgToEvoformerPasses();
  tile::registerLinalgToTilePasses();
  registerEvoformerSerialize();
}
