//===- Registration.cpp - The dialect with all its interfaces -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "Evoformer/Dialect/Evoformer/Transforms/Interfaces.h"

using namespace mlir;

void evoformer::registerEvoformer(DialectRegistry &registry) {
  registry.insert<EvoformerDialect>();
  registerEvoformerBufferization(registry);
  registerEvoformerRuntimeVerification(registry);
  registerScoreAdjoints(registry);
}
