//===- DimOrderTest.cpp - Dimension orders --------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Evoformer/IR/Evoformer.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer;

namespace {
struct DimOrder : testing::Test {
  DimOrder() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<EvoformerDialect>();
  }
  DimOrderAttr get(StringRef letters) {
    return DimOrderAttr::get(&context, letters);
  }
  MLIRContext context;
};
} // namespace

using Dims = SmallVector<int64_t, 5>;

TEST_F(DimOrder, PositionsAndPermutation) {
  DimOrderAttr order = get("hdbns");
  EXPECT_TRUE(order.isSequenceOrder());
  EXPECT_FALSE(order.isIdentity());
  EXPECT_EQ(order.getPosition('b'), 2);
  EXPECT_EQ(order.getPositions(), (Dims{2, 3, 4, 0, 1}));
  EXPECT_EQ(order.getPermutation(), (Dims{3, 4, 0, 1, 2}));
}

TEST_F(DimOrder, Defaults) {
  EXPECT_TRUE(DimOrderAttr::getSequence(&context).isIdentity());
  EXPECT_TRUE(DimOrderAttr::getBias(&context).isIdentity());
  EXPECT_FALSE(DimOrderAttr::getBias(&context).isSequenceOrder());
  EXPECT_EQ(get("kqhnb").getPositions(), (Dims{4, 3, 2, 1, 0}));
}

TEST_F(DimOrder, Verifies) {
  for (StringRef letters : {"", "bnsh", "bnshh", "bnshdx", "bnshq", "BNSHD"}) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    EXPECT_FALSE(DimOrderAttr::getChecked(
        [&] { return emitError(UnknownLoc::get(&context)); }, &context,
        letters));
    EXPECT_NE(message.find("is no dimension order"), std::string::npos);
  }
}

// With a cycle, so that a permutation and its inverse differ: the operand is
// `as dbnsh`, and its dimension p is dimension permutation[p] of the source.
TEST_F(DimOrder, FoldsTransposes) {
  int64_t cycle[] = {4, 0, 1, 2, 3};
  EXPECT_EQ(get("dbnsh").foldTranspose(cycle), get("bnshd"));
  EXPECT_EQ(get("bnhqk").foldTranspose(cycle), get("nhqkb"));
}
