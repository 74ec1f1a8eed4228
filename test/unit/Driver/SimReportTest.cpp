//===- SimReportTest.cpp - The least that an attention needs --------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/SimReport.h"
#include "gtest/gtest.h"

using namespace mlir::evoformer;

static IdealCounts idealOf(llvm::StringRef text) {
  auto problem = parseAttentionCase(text);
  if (problem)
    return getIdealCounts(*problem);
  ADD_FAILURE() << toString(problem.takeError());
  return {};
}

TEST(SimReport, Ideal) {
  IdealCounts ideal =
      idealOf("B=2 N=3 H=5 Sq=7 Sk=11 D=16 Dv=24 type=f16 out=f32");
  const uint64_t rows = 2 * 3 * 5 * 7;
  EXPECT_EQ(ideal.multiplyAdds, rows * 11 * (16 + 24));
  EXPECT_EQ(ideal.transcendental, rows * 11 + rows);
  const uint64_t keys = 2 * 3 * 5 * 11;
  EXPECT_EQ(ideal.globalBytes,
            2 * (rows * 16 + keys * 16 + keys * 24) + 4 * rows * 24);
}

/// A bias counts as what it holds, not as what it is broadcast to.
TEST(SimReport, IdealWithBiasAndGate) {
  IdealCounts ideal = idealOf("B=1 N=4 H=2 Sq=8 Sk=16 D=32 type=bf16 "
                              "bias=bnk:i1:normal bias=bhqk:bf16:normal "
                              "gate=bf16 lse=1");
  const uint64_t rows = 4 * 2 * 8, keys = 4 * 2 * 16;
  EXPECT_EQ(ideal.transcendental, rows * 16 + rows + 2 * rows * 32);
  EXPECT_EQ(ideal.globalBytes, 2 * 32 * (3 * rows + 2 * keys) + 4 * 16 +
                                   2 * (2 * 8 * 16) + 4 * rows);
}
