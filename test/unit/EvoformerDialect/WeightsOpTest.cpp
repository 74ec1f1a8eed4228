//===- WeightsOpTest.cpp - Sizes and cost of weights ----------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer;

// There are no values, whose depth is no unknown size then.
TEST(Weights, Cost) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<EvoformerDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(R"(
  func.func @f(%q: memref<2x3x7x5x8xf16>, %k: memref<2x3x11x5x8xf16>,
               %p: memref<1x1x5x7x11xf16>, %t: memref<2x2x3x5x7xf32>,
               %w: memref<2x3x5x7x11xf16>) {
    evoformer.attention_weights
        query(%q : memref<2x3x7x5x8xf16>)
        key(%k : memref<2x3x11x5x8xf16>)
        bias(%p : memref<1x1x5x7x11xf16>)
        stats(%t : memref<2x2x3x5x7xf32>)
        outs(%w : memref<2x3x5x7x11xf16>)
    return
  })",
                                            &context);
  ASSERT_TRUE(module);
  module->walk([&](AttentionWeightsOp op) {
    EXPECT_EQ(op.getSizes().valueDepth, 0);
    std::optional<AttentionCost> cost = op.getCost();
    ASSERT_TRUE(cost);
    EXPECT_EQ(cost->logits, 2310);
    EXPECT_EQ(cost->matrixFlops, 2.0 * 2310 * 8);
    EXPECT_EQ(cost->vectorFlops, 3.0 * 2310);
    EXPECT_EQ(cost->exponentials, 2310);
    EXPECT_EQ(cost->bytesRead, 2.0 * (1680 + 2640 + 385) + 4 * 420);
    EXPECT_EQ(cost->bytesWritten, 2.0 * 2310);
  });
}
