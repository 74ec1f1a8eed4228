//===- InitAllTest.cpp - Registration for embedding compilers -------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Pipelines/InitAll.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;

// An embedding compiler may register the project beside itself, and twice.
TEST(InitAll, RegistersTwiceAndLoads) {
  DialectRegistry registry;
  evoformer::registerAllDialects(registry);
  evoformer::registerAllDialects(registry);
  evoformer::registerAllPasses();
  evoformer::registerAllPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  EXPECT_FALSE(context.getLoadedDialects().empty());
}
