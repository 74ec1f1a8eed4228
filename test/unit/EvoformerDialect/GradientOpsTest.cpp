//===- GradientOpsTest.cpp - Differentiation and its cost -----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
struct Gradients : testing::Test {
  Gradients() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<EvoformerDialect, func::FuncDialect>();
  }
  AttentionOp parse(StringRef source) {
    module = parseSourceString<ModuleOp>(source, &context);
    AttentionOp found;
    if (module)
      module->walk([&](AttentionOp op) { found = op; });
    return found;
  }
  /// Errors while `body` runs.
  std::vector<std::string> collect(function_ref<void()> body) {
    std::vector<std::string> errors;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors.push_back(diagnostic.str());
      return success();
    });
    body();
    return errors;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

// Operands: query 0, key 1, value 2, mask 3, pair 4, gate 5, output 6.
static constexpr StringLiteral kForward = R"(
  func.func @f(%q: tensor<2x3x5x7x8xf16>, %k: tensor<2x3x?x5x8xf16>,
               %v: tensor<2x3x?x5x4xf16>, %m: tensor<2x3x1x1x?xi1>,
               %p: tensor<1x1x5x7x?xf32>, %g: tensor<2x3x7x5x4xf16>,
               %o: tensor<2x3x5x7x4xf32>) -> tensor<2x3x5x7x4xf32> {
    %0 = evoformer.attention
        query(%q as bnhsd : tensor<2x3x5x7x8xf16>)
        key(%k : tensor<2x3x?x5x8xf16>)
        value(%v : tensor<2x3x?x5x4xf16>)
        bias(%m : tensor<2x3x1x1x?xi1>)
        bias(%p : tensor<1x1x5x7x?xf32>)
        gate(%g : tensor<2x3x7x5x4xf16>)
        outs(%o as bnhsd : tensor<2x3x5x7x4xf32>)
        scale(0.5)
    return %0 : tensor<2x3x5x7x4xf32>
  })";

// What is in memory already cannot get a further result.
TEST_F(Gradients, MemoryNeedsStatistics) {
  AttentionOp op = parse(R"(
    func.func @f(%x: memref<2x3x7x5x8xf16>,
                 %o: memref<2x3x7x5x8xf16>) {
      evoformer.attention
          query(%x : memref<2x3x7x5x8xf16>)
          key(%x : memref<2x3x7x5x8xf16>)
          value(%x : memref<2x3x7x5x8xf16>)
          outs(%o : memref<2x3x7x5x8xf16>)
      return
    })");
  ASSERT_TRUE(op);
  IRRewriter rewriter(op.getContext());
  std::vector<std::string> errors =
      collect([&] { EXPECT_TRUE(failed(op.ensureStatistics(rewriter))); });
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("is on memrefs and has no stats: its gradient needs "
                           "them, and only on tensors can they be added"),
            std::string::npos)
      << errors[0];
}

TEST_F(Gradients, ThroughTheInterface) {
  AttentionOp op = parse(kForward);
  ASSERT_TRUE(op);
  IRRewriter rewriter(op.getContext());
  auto forward = cast<DifferentiableAttentionOpInterface>(op.getOperation());
  FailureOr<Operation *> ready = forward.ensureStatistics(rewriter);
  ASSERT_TRUE(succeeded(ready));
  op = cast<AttentionOp>(*ready);
  ASSERT_TRUE(op.getStatsResult());
  EXPECT_EQ(*op.ensureStatistics(rewriter), op.getOperation());

  rewriter.setInsertionPointAfter(op);
  // In any order.
  unsigned wanted[] = {4, 0, 5};
  FailureOr<SmallVector<Value>> gradients =
      op.buildGradients(rewriter, op.getOutput(), wanted);
  ASSERT_TRUE(succeeded(gradients));
  ASSERT_EQ(gradients->size(), 3u);
  for (auto [gradient, number] : llvm::zip_equal(*gradients, wanted))
    EXPECT_EQ(gradient.getType(), op->getOperand(number).getType());
  auto backward = (*gradients)[0].getDefiningOp<AttentionBackwardOp>();
  ASSERT_TRUE(backward);
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(backward->getNumResults(), 3u);
  EXPECT_EQ(backward.getStats(), op.getStatsResult());
  EXPECT_EQ(backward.getOutput(), op.getOutputResult());
  EXPECT_EQ(backward.getBiasGradients(), ArrayRef<int64_t>{1});
  EXPECT_EQ(backward.getScaleValue(), 0.5f);
  EXPECT_EQ(
      backward.getOperandOrder(backward.getQueryGradMutable()[0]).getLetters(),
      "bnhsd");
  EXPECT_EQ(backward.getOperandOrder(backward.getOutputMutable()).getLetters(),
            "bnhsd");
  EXPECT_TRUE(backward.getBiasBroadcast(0)[2]);
}

// Operands: query, key and value 0 to 2, those of bounds 3 to 5, output 6.
static constexpr StringLiteral kBounds = R"(
  func.func @f(%q: tensor<1x1x8x1x8xf16>, %o: tensor<1x1x8x1x8xf16>,
               %a: index, %b: index) -> tensor<1x1x8x1x8xf16> {
    %0 = evoformer.attention
        query(%q : tensor<1x1x8x1x8xf16>)
        key(%q : tensor<1x1x8x1x8xf16>)
        value(%q : tensor<1x1x8x1x8xf16>)
        outs(%o : tensor<1x1x8x1x8xf16>)
        keys(from affine_map<(i)[sq, sk, a, b] -> (i - a - b)>[%a, %b],
             to affine_map<(i)[sq, sk, b] -> (i + b)>[%b])
    return %0 : tensor<1x1x8x1x8xf16>
  })";

TEST_F(Gradients, OfOperandsOfBounds) {
  AttentionOp op = parse(kBounds);
  ASSERT_TRUE(op);
  // As much as if the bounds left out nothing.
  EXPECT_EQ(op.getCost()->logits, 64);
  EXPECT_EQ(op.getOperandName(op->getOpOperand(4)), "operand of keys(from) #1");
  IRRewriter rewriter(op.getContext());
  SmallVector<Value> from(op.getKeysFromOperands());
  SmallVector<Value> to(op.getKeysToOperands());
  op = cast<AttentionOp>(*op.ensureStatistics(rewriter));
  EXPECT_TRUE(llvm::equal(op.getKeysFromOperands(), from));
  EXPECT_TRUE(llvm::equal(op.getKeysToOperands(), to));
  rewriter.setInsertionPointAfter(op);
  std::vector<std::string> errors = collect([&] {
    EXPECT_TRUE(failed(op.buildGradients(rewriter, op.getOutput(), {5})));
  });
  EXPECT_EQ(errors, std::vector<std::string>{
                        "'evoformer.attention' op has no gradient with "
                        "respect to operand of keys(to) #0"});
  FailureOr<SmallVector<Value>> gradients =
      op.buildGradients(rewriter, op.getOutput(), {1});
  ASSERT_TRUE(succeeded(gradients));
  EXPECT_TRUE(succeeded(verify(*module)));
  auto backward = gradients->front().getDefiningOp<AttentionBackwardOp>();
  EXPECT_TRUE(llvm::equal(backward.getKeysFromOperands(), from));
  EXPECT_TRUE(llvm::equal(backward.getKeysToOperands(), to));
  EXPECT_EQ(backward.getKeysFromAttr(), op.getKeysFromAttr());
}

TEST_F(Gradients, WhatHasNone) {
  AttentionOp op = parse(kForward);
  ASSERT_TRUE(op);
  IRRewriter rewriter(op.getContext());
  auto build = [&](ArrayRef<unsigned> operands) {
    return collect([&] {
      rewriter.setInsertionPointAfter(op);
      EXPECT_TRUE(
          failed(op.buildGradients(rewriter, op.getOutput(), operands)));
    });
  };
  using Errors = std::vector<std::string>;
  EXPECT_EQ(build({0}), Errors{"'evoformer.attention' op must be on tensors "
                               "and have stats to be differentiated"});
  op = cast<AttentionOp>(*op.ensureStatistics(rewriter));
  EXPECT_EQ(build({3}), Errors{"'evoformer.attention' op has no gradient with "
                               "respect to bias #0"});
  EXPECT_EQ(build({6}), Errors{"'evoformer.attention' op has no gradient with "
                               "respect to output"});
  EXPECT_EQ(build({99}), Errors{"'evoformer.attention' op has no operand #99"});
}

// 210 queries, 2310 logits, 840 elements of the output; D = 8, Dv = 4.
TEST_F(Gradients, Cost) {
  module = parseSourceString<ModuleOp>(R"(
  func.func @f(%q: tensor<2x3x7x5x8xf16>, %k: tensor<2x3x11x5x8xf16>,
               %v: tensor<2x3x11x5x4xf16>, %p: tensor<1x1x5x7x11xf16>,
               %o: tensor<2x3x7x5x4xf16>, %s: tensor<2x3x5x7xf32>, %stats: tensor<2x2x3x5x7xf32>) {
    %0:4 = evoformer.attention_backward
        query(%q : tensor<2x3x7x5x8xf16>)
        key(%k : tensor<2x3x11x5x8xf16>)
        value(%v : tensor<2x3x11x5x4xf16>)
        bias(%p : tensor<1x1x5x7x11xf16>)
        output(%o : tensor<2x3x7x5x4xf16>)
        stats(%stats : tensor<2x2x3x5x7xf32>)
        output_grad(%o : tensor<2x3x7x5x4xf16>)
        query_grad(%q : tensor<2x3x7x5x8xf16>)
        key_grad(%k : tensor<2x3x11x5x8xf16>)
        value_grad(%v : tensor<2x3x11x5x4xf16>)
        bias_grad[0](%p : tensor<1x1x5x7x11xf16>)
    %1 = evoformer.attention_gradient
        query(%q : tensor<2x3x7x5x8xf16>)
        key(%k : tensor<2x3x11x5x8xf16>)
        value(%v : tensor<2x3x11x5x4xf16>)
        weighted_grad(%o : tensor<2x3x7x5x4xf16>)
        stats(%stats : tensor<2x2x3x5x7xf32>)
        delta(%s : tensor<2x3x5x7xf32>)
        value_grad(%v : tensor<2x3x11x5x4xf16>)
    %2 = evoformer.attention_delta
        output(%o : tensor<2x3x7x5x4xf16>)
        output_grad(%o : tensor<2x3x7x5x4xf16>)
        delta(%s : tensor<2x3x5x7xf32>)
    return
  })",
                                       &context);
  ASSERT_TRUE(module);
  module->walk([&](AttentionBackwardOp op) {
    std::optional<AttentionCost> cost = op.getCost();
    ASSERT_TRUE(cost);
    // The logits and dP; dQ, dK, dV.
    EXPECT_EQ(cost->matrixFlops, 2.0 * 2310 * (8 + 4 + 8 + 8 + 4));
    EXPECT_EQ(cost->vectorFlops, 2310.0 * 6 + 840 * 2);
    EXPECT_EQ(cost->exponentials, 2310);
    EXPECT_EQ(cost->bytesWritten, 2.0 * (1680 + 2640 + 1320 + 385));
  });
  module->walk([&](AttentionGradientOp op) {
    // dV needs the logits only.
    EXPECT_EQ(op.getCost()->matrixFlops, 2.0 * 2310 * (8 + 4));
    EXPECT_EQ(op.getCost()->vectorFlops, 2310.0 * 2);
  });
  module->walk([&](AttentionDeltaOp op) {
    // The depths of queries and keys, and Sk, are no sizes of this op.
    EXPECT_FALSE(op.getCost());
    AttentionSizes sizes = op.getSizes();
    sizes.keys = sizes.depth = 0;
    EXPECT_EQ(op.getCost(sizes).vectorFlops, 840.0 * 2);
    EXPECT_EQ(op.getCost(sizes).bytes(), 840.0 * 4 + 210 * 4);
  });
}
