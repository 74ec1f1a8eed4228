//===- Registration.cpp - The dialect with all its interfaces -------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/Transforms/Interfaces.h"

using namespace mlir;

void evoformer::registerEvoformer(DialectRegistry &registry) {
  registry.insert<EvoformerDialect>();
  registerEvoformerBufferization(registry);
  registerEvoformerRuntimeVerification(registry);
}
