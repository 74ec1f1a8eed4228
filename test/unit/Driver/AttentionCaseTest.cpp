//===- AttentionCaseTest.cpp - Cases and their covers ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Driver/AttentionCase.h"
#include "gtest/gtest.h"
#include <cmath>
#include <set>

using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::cantFail;
using llvm::StringRef;

namespace {
std::string problem(StringRef text) {
  auto parsed = parseAttentionCase(text);
  return parsed ? "" : toString(parsed.takeError());
}
} // namespace

TEST(AttentionCase, TextRoundTrips) {
  for (StringRef size : {"small", "quick", "full"})
    for (const AttentionCase &entry : cantFail(makeCover(size)))
      EXPECT_EQ(cantFail(parseAttentionCase(entry.str())).str(), entry.str());
}

TEST(AttentionCase, RefusesNonsense) {
  EXPECT_EQ(problem("D=8 bias=bnk:i1:normal bias=bhqk:bf16:huge:kqhnb"), "");
  for (StringRef text :
       {"D", "D=", "D=x", "D=-1", "colour=red", "type=i8", "type=f64",
        "bias=bnk", "bias=xyz:i1:normal", "bias=bnk:i1:odd", "order=bnshq",
        "memory=dbnsh", "zero=d", "static=some", "lse=2",
        "bias=bnk:i1:normal:bnhq", "Sq=99999999999"})
    EXPECT_NE(problem(text), "") << text.str();
  EXPECT_NE(toString(makeCover("huge").takeError()), "");
}

TEST(AttentionCase, CoversHoldAllPairs) {
  std::vector<AttentionCase> cover = cantFail(makeCover("full"));
  std::set<std::pair<int64_t, int64_t>> lengths, depths;
  std::set<std::pair<ElementType, std::string>> layouts;
  for (const AttentionCase &entry : cover) {
    lengths.insert({entry.queries, entry.keys});
    depths.insert({entry.depth, entry.queries});
    layouts.insert({entry.type, entry.order});
  }
  EXPECT_EQ(lengths.size(), 17u * 17u);
  EXPECT_EQ(depths.size(), 17u * 17u);
  EXPECT_EQ(layouts.size(), 3u * 4u);
  std::vector<AttentionCase> again = cantFail(makeCover("full"));
  ASSERT_EQ(cover.size(), again.size());
  for (size_t i = 0; i < cover.size(); ++i)
    EXPECT_EQ(cover[i].str(), again[i].str());
}

TEST(AttentionCase, LaysOutOperands) {
  AttentionCase entry = cantFail(parseAttentionCase(
      "B=2 N=3 H=5 Sq=7 Sk=11 D=8 memory=bnhsd pad=2 offset=1 zero=n "
      "bias=bhqk:f32:normal:bnqkh"));
  std::vector<CaseOperand> operands = getOperands(entry);
  ASSERT_EQ(operands.size(), 5u);
  // b, n, s, h, d of a head-major query with rows of 8 + 2.
  EXPECT_EQ(operands[0].layout.strides,
            (llvm::SmallVector<int64_t, 6>{1050, 350, 10, 70, 1}));
  EXPECT_EQ(operands[0].layout.offset, 1);
  EXPECT_EQ(operands[1].layout.strides[1], 0);
  EXPECT_EQ(operands[3].layout.sizes,
            (llvm::SmallVector<int64_t, 6>{2, 1, 5, 7, 11}));
  EXPECT_EQ(operands[3].layout.strides,
            (llvm::SmallVector<int64_t, 6>{385, 385, 1, 55, 5}));
  EXPECT_TRUE(operands[4].isOutput);
}

TEST(AttentionCase, DroppedKeysHoldNaN) {
  AttentionCase entry =
      cantFail(parseAttentionCase("Sq=2 Sk=50 D=4 bias=bnk:i1:normal nan=1"));
  std::vector<HostArray> arrays;
  for (const CaseOperand &operand : getOperands(entry))
    arrays.emplace_back(operand.layout);
  fillInputs(entry, arrays);
  int dropped = 0;
  for (int64_t j = 0; j < 50; ++j) {
    bool kept = arrays[3].read({0, 0, 0, 0, j}) != 0;
    dropped += !kept;
    EXPECT_EQ(std::isnan(arrays[1].read({0, 0, j, 0, 2})), !kept);
  }
  EXPECT_GT(dropped, 0);
  EXPECT_LT(dropped, 50);
}
