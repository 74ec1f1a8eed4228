//===- InitAll.cpp - Registration of everything in this project -----------===//

#include "Evoformer/Pipelines/InitAll.h"

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/IR/DialectRegistry.h"

void mlir::evoformer::registerAllDialects(DialectRegistry &registry) {
  registry.insert<EvoformerDialect>();
}

void mlir::evoformer::registerAllPasses() {}
