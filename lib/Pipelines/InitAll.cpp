//===- InitAll.cpp - Registration of everything in this project -----------===//

#include "Evoformer/Pipelines/InitAll.h"

#include "mlir/IR/DialectRegistry.h"

void mlir::evoformer::registerAllDialects(DialectRegistry &registry) {}

void mlir::evoformer::registerAllPasses() {}
