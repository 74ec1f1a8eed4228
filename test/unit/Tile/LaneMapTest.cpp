//===- LaneMapTest.cpp - Where a tile's elements live ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/LaneMap.h"

#include "gtest/gtest.h"

using namespace mlir::evoformer::tile;
using Index = llvm::SmallVector<int64_t>;
using Axes = llvm::SmallVector<LayoutAxis, 4>;

static LaneMap makeMap(int64_t rank, Axes registers, Axes lanes,
                       Axes subgroups = {}) {
  LaneMap map(rank);
  map.registers = std::move(registers);
  map.lanes = std::move(lanes);
  map.subgroups = std::move(subgroups);
  map.innerAxes = map.registers.size();
  return map;
}

/// 8 x 12 elements: three registers of columns, 4 x 2 lanes, two subgroups
/// along the columns.
static LaneMap example() {
  return makeMap(2, {{3, {0, 1}}}, {{4, {1, 0}}, {2, {4, 0}}},
                 {{2, {0, 3}}, {2, {0, 6}}});
}

TEST(LaneMap, CountsAndPositions) {
  LaneMap map = example();
  EXPECT_EQ(map.getNumRegisters(), 3);
  EXPECT_EQ(map.getNumLanes(), 8);
  EXPECT_EQ(map.getNumSubgroups(), 4);
  EXPECT_EQ(map.at(0, 0, 0), (Index{0, 0}));
  EXPECT_EQ(map.at(0, 5, 2), (Index{5, 2}));
  EXPECT_EQ(map.at(1, 0, 0), (Index{0, 3}));
  EXPECT_EQ(map.at(3, 7, 1), (Index{7, 10}));
  EXPECT_EQ(map.registerOffset(2), (Index{0, 2}));
  EXPECT_EQ(map.laneOffset(6), (Index{6, 0}));
  EXPECT_EQ(map.subgroupOffset(2), (Index{0, 6}));
}

TEST(LaneMap, BoxIsWhatAllPositionsCover) {
  EXPECT_EQ(example().getBox(), (Index{8, 12}));
  // Steps that overlap, and replication.
  EXPECT_EQ(makeMap(1, {{4, {2}}}, {{2, {1}}, {16, {0}}}).getBox(), (Index{8}));
  EXPECT_EQ(LaneMap(3).getBox(), (Index{1, 1, 1}));
}

TEST(LaneMap, VectorsAreTheInnerAxes) {
  LaneMap map = makeMap(1, {{4, {1}}, {3, {16}}}, {{4, {4}}});
  map.innerAxes = 1;
  EXPECT_EQ(map.getVectorSize(), 4);
  EXPECT_EQ(map.getNumVectors(), 3);
  EXPECT_EQ(map.getBox(), (Index{48}));
}

TEST(LaneMap, ContiguousRun) {
  EXPECT_EQ(example().contiguousRun(1), 3);
  EXPECT_EQ(example().contiguousRun(0), 1);
  // Digits that continue one another are one run, over an axis of one, too.
  EXPECT_EQ(makeMap(2, {{4, {0, 1}}, {1, {7, 7}}, {2, {0, 4}}, {2, {1, 0}}},
                    {{32, {2, 0}}})
                .contiguousRun(1),
            8);
  // A gap ends it.
  EXPECT_EQ(makeMap(1, {{4, {1}}, {4, {8}}}, {{2, {4}}}).contiguousRun(0), 4);
  EXPECT_EQ(makeMap(1, {{4, {2}}}, {{2, {1}}}).contiguousRun(0), 1);
  // A step that moves along another dimension at the same time is none.
  EXPECT_EQ(makeMap(2, {{4, {1, 1}}}, {}).contiguousRun(1), 1);
}

TEST(LaneMap, DropDimReplicates) {
  LaneMap rows = example().dropDim(1);
  EXPECT_EQ(rows.rank, 1);
  // Registers that held several columns hold one value; subgroups replicate.
  EXPECT_EQ(rows.getNumRegisters(), 1);
  EXPECT_EQ(rows.getNumLanes(), 8);
  EXPECT_EQ(rows.getNumSubgroups(), 4);
  EXPECT_EQ(rows.at(3, 5, 0), (Index{5}));
  LaneMap columns = example().dropDim(0);
  EXPECT_EQ(columns.getNumRegisters(), 3);
  for (int64_t lane = 0; lane < 8; ++lane)
    EXPECT_EQ(columns.at(1, lane, 2), (Index{5}));
}

TEST(LaneMap, DropDimKeepsReplicatedRegisters) {
  // An axis that was replicated before still counts registers.
  LaneMap map = makeMap(2, {{2, {0, 0}}, {2, {1, 0}}}, {{4, {0, 1}}});
  EXPECT_EQ(map.dropDim(0).getNumRegisters(), 2);
  EXPECT_EQ(map.dropDim(1).getNumRegisters(), 4);
}

TEST(LaneMap, PermuteDims) {
  LaneMap map = makeMap(3, {{2, {1, 0, 0}}}, {{4, {0, 1, 0}}, {8, {0, 0, 1}}});
  LaneMap turned = map.permuteDims({2, 0, 1});
  EXPECT_EQ(map.at(0, 4 * 5 + 3, 1), (Index{1, 3, 5}));
  EXPECT_EQ(turned.at(0, 4 * 5 + 3, 1), (Index{5, 1, 3}));
}

TEST(LaneMap, EqualityIgnoresHowAxesAreCut) {
  LaneMap whole = makeMap(1, {{8, {1}}}, {{4, {8}}});
  LaneMap cut =
      makeMap(1, {{2, {1}}, {4, {2}}}, {{2, {8}}, {1, {99}}, {2, {16}}});
  EXPECT_EQ(whole, cut);
  EXPECT_NE(whole, makeMap(1, {{4, {2}}, {2, {1}}}, {{4, {8}}}));
  EXPECT_NE(whole, makeMap(1, {{8, {1}}}, {{4, {9}}}));
  // Replicated subgroups are as good as none.
  LaneMap replicated = whole;
  replicated.subgroups = {{4, {0}}};
  EXPECT_EQ(whole, replicated);
  // The vectors are part of what a map says.
  LaneMap vectors = cut;
  vectors.innerAxes = 1;
  EXPECT_NE(whole, vectors);
}

TEST(LaneMap, PrintsItsAxes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  LaneMap map = makeMap(1, {{4, {1}}, {3, {16}}}, {{4, {4}}}, {{2, {48}}});
  map.innerAxes = 1;
  map.print(os);
  EXPECT_EQ(text, "registers = [[4, 1], [3, 16]], lanes = [[4, 4]], "
                  "subgroups = [[2, 48]], inner = 1");
}
