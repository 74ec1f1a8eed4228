//===- AttentionOpTest.cpp - Accessors and cost of an attention -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
struct Attention : testing::Test {
  Attention() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<EvoformerDialect, func::FuncDialect>();
  }
  AttentionOp parse(StringRef source) {
    module = parseSourceString<ModuleOp>(source, &context);
    AttentionOp found;
    if (module)
      module->walk([&](AttentionOp op) { found = op; });
    return found;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

static constexpr StringLiteral kGated = R"(
  func.func @f(%q: memref<2x3x5x7x8xf16>, %k: memref<2x3x11x5x8xf16>,
               %v: memref<2x3x11x5x4xf16>, %m: memref<11x1x1x3x2xi1>,
               %p: memref<1x1x5x7x11xf32>, %g: memref<2x3x7x5x4xf16>,
               %o: memref<2x3x7x5x4xf32>, %l: memref<2x3x5x7xf32>) {
    evoformer.attention
        query(%q as bnhsd : memref<2x3x5x7x8xf16>)
        key(%k : memref<2x3x11x5x8xf16>)
        value(%v : memref<2x3x11x5x4xf16>)
        bias(%m as kqhnb : memref<11x1x1x3x2xi1>)
        bias(%p : memref<1x1x5x7x11xf32>)
        gate(%g : memref<2x3x7x5x4xf16>)
        outs(%o : memref<2x3x7x5x4xf32>)
        lse(%l : memref<2x3x5x7xf32>)
    return
  })";

TEST_F(Attention, Sizes) {
  AttentionOp op = parse(kGated);
  ASSERT_TRUE(op);
  AttentionSizes sizes = op.getSizes();
  EXPECT_TRUE(sizes.isStatic());
  int64_t expected[] = {2, 3, 7, 11, 5, 5, 8, 4, 0, 0, 0};
  for (auto [size, value] : llvm::zip_equal(kAllAttentionSizes, expected))
    EXPECT_EQ(sizes[size], value) << stringifyAttentionSize(size).str();
  EXPECT_FLOAT_EQ(op.getScaleValue(), 0.35355339f);
}

TEST_F(Attention, Biases) {
  AttentionOp op = parse(kGated);
  ASSERT_TRUE(op);
  EXPECT_EQ(op.getBiasBroadcast(0),
            (std::array<bool, 5>{false, false, true, true, false}));
  EXPECT_EQ(op.getBiasBroadcast(1),
            (std::array<bool, 5>{true, true, false, false, false}));
  EXPECT_TRUE(op.isMask(0));
  EXPECT_FALSE(op.isMask(1));
  EXPECT_TRUE(op.isQueryIndependent(0));
  EXPECT_FALSE(op.isQueryIndependent(1));
  EXPECT_EQ(op.getOperandName(op->getOpOperand(4)), "bias #1");
  EXPECT_EQ(op.getOperandName(op->getOpOperand(7)), "lse");
}

// 2 * 3 * 5 * 7 = 210 queries, 2310 logits, 840 elements of the output.
TEST_F(Attention, Cost) {
  AttentionOp op = parse(kGated);
  ASSERT_TRUE(op);
  std::optional<AttentionCost> cost = op.getCost();
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->logits, 2310);
  EXPECT_EQ(cost->matrixFlops, 2 * 2310 * 12);
  EXPECT_EQ(cost->vectorFlops, 2310 * 5 + 840 * 2);
  EXPECT_EQ(cost->exponentials, 2310 + 840);
  // query 1680, key 2640, value 1320, mask 66, pair 385, gate 840 elements.
  EXPECT_EQ(cost->bytesRead, 2 * (1680 + 2640 + 1320 + 840) + 66 + 4 * 385);
  EXPECT_EQ(cost->bytesWritten, 4 * 840 + 4 * 210);
  EXPECT_EQ(cost->intensity(), cost->flops() / cost->bytes());
}

// Of sequences whose lengths only the device knows, the most that there may be:
// all queries with the most keys of one, or all keys with the most queries.
TEST_F(Attention, RaggedCost) {
  AttentionOp op = parse(R"(
  func.func @f(%q: memref<1x2x10x3x8xf32>, %k: memref<1x1x12x3x8xf32>,
               %qs: memref<4xi32>, %ks: memref<4xi32>,
               %o: memref<1x2x10x3x8xf32>, %most: index) {
    evoformer.attention
        query(%q : memref<1x2x10x3x8xf32>)
        key(%k : memref<1x1x12x3x8xf32>)
        value(%k : memref<1x1x12x3x8xf32>)
        ragged(queries %qs : memref<4xi32>, keys %ks : memref<4xi32>,
               most %most, %most)
        outs(%o : memref<1x2x10x3x8xf32>)
    return
  })");
  ASSERT_TRUE(op);
  EXPECT_EQ(family::getSharedKeyDims(op), (std::array<bool, 2>{false, true}));
  AttentionSizes sizes = op.getSizes();
  EXPECT_EQ(sizes.batch, 3);
  EXPECT_EQ(sizes.rows, 2);
  auto countLogits = [&](int64_t queries, int64_t keys) {
    sizes.queries = queries;
    sizes.keys = keys;
    return op.getCost(sizes).logits;
  };
  EXPECT_EQ(countLogits(1, 2), 2 * 3 * (3 * 1 * 2));
  EXPECT_EQ(countLogits(10, 5), 2 * 3 * (10 * 5));
  EXPECT_EQ(countLogits(4, 12), 2 * 3 * (12 * 4));
  // No sequence has more than all of them.
  EXPECT_EQ(countLogits(1 << 30, 1 << 30), 2 * 3 * (10 * 12));
  // Keys and values that rows share are read once.
  EXPECT_EQ(op.getCost(sizes).bytesRead,
            4.0 * (2 * 10 * 3 * 8 + 2 * 12 * 3 * 8 + 2 * 4));
}

// What one operand does not know another may.
TEST_F(Attention, DynamicSizes) {
  AttentionOp op = parse(R"(
    func.func @f(%q: memref<?x3x?x5x8xf32>, %k: memref<2x?x?x5x8xf32>,
                 %b: memref<1x1x1x1x?xf32>, %o: memref<?x3x?x5x8xf32>) {
      evoformer.attention
          query(%q : memref<?x3x?x5x8xf32>)
          key(%k : memref<2x?x?x5x8xf32>)
          value(%k : memref<2x?x?x5x8xf32>)
          bias(%b : memref<1x1x1x1x?xf32>)
          outs(%o : memref<?x3x?x5x8xf32>)
          scale(-0.0)
      return
    })");
  ASSERT_TRUE(op);
  AttentionSizes sizes = op.getSizes();
  EXPECT_EQ(sizes.batch, 2);
  EXPECT_EQ(sizes.rows, 3);
  EXPECT_TRUE(ShapedType::isDynamic(sizes.queries));
  EXPECT_TRUE(ShapedType::isDynamic(sizes.keys));
  EXPECT_FALSE(op.getCost());
  EXPECT_EQ(op.getScaleValue(), 0);

  OpBuilder builder(op);
  AttentionMixedSizes mixed = op.getMixedSizes(builder, op.getLoc());
  EXPECT_EQ(getConstantIntValue(mixed.batch), 2);
  EXPECT_EQ(getConstantIntValue(mixed.rows), 3);
  auto queries = cast<Value>(mixed.queries).getDefiningOp<memref::DimOp>();
  auto keys = cast<Value>(mixed.keys).getDefiningOp<memref::DimOp>();
  ASSERT_TRUE(queries && keys);
  EXPECT_EQ(queries.getSource(), op.getQuery());
  EXPECT_EQ(keys.getSource(), op.getKey());
  EXPECT_EQ(queries.getConstantIndex(), 2);
  EXPECT_EQ(keys.getConstantIndex(), 2);

  sizes.queries = 0;
  sizes.keys = 4;
  AttentionCost cost = op.getCost(sizes);
  EXPECT_EQ(cost.flops(), 0);
  EXPECT_EQ(cost.bytesRead, 4.0 * (2 * 2 * 3 * 4 * 5 * 8 + 4));
}

// The builder makes results of the destinations' types on tensors, none on
// memrefs.
TEST_F(Attention, Builder) {
  AttentionOp op = parse(kGated);
  ASSERT_TRUE(op);
  OpBuilder builder(op);
  auto same = AttentionOp::create(builder, op.getLoc(), op.getQuery(),
                                  op.getKey(), op.getValue(), op.getBiases(),
                                  op.getGate(), op.getOutput(), op.getLse());
  same.copyFacts(op);
  EXPECT_EQ(same->getNumResults(), 0u);
  EXPECT_TRUE(succeeded(verify(same)));
  EXPECT_EQ(same.getQueryOrder().getLetters(), "bnhsd");
  EXPECT_FALSE(same.getOutputResult());
}
