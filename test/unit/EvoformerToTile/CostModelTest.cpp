//===- CostModelTest.cpp - What a kernel's loop takes of a chip -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Conversion/EvoformerToTile/Schedules/CostModel.h"

#include "Evoformer/Target/Targets.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::tile;

namespace {

struct Costs : testing::Test {
  Costs()
      : context(MLIRContext::Threading::DISABLED),
        loc(UnknownLoc::get(&context)) {
    context.loadDialect<TileDialect>();
  }
  AttentionFacts facts(int64_t depth, Type type) {
    AttentionFacts facts{type, depth, depth, /*scale=*/1};
    facts.biasBytes = 2;
    return facts;
  }
  AttentionFacts facts(int64_t depth) {
    return facts(depth, BFloat16Type::get(&context));
  }
  Machine machine(StringRef chip, Type type) {
    return findMachines(loc, *getTarget(loc, chip), type)->front();
  }
  Machine machine(StringRef chip) {
    return machine(chip, BFloat16Type::get(&context));
  }
  ScheduleCost forward(const Machine &chip, const AttentionFacts &attention,
                       int64_t stages, int64_t rows = 1) {
    AttentionSchedule schedule;
    schedule.blocks = {rows, 128, 64};
    schedule.subgroups = 4;
    schedule.stages = stages;
    return estimate(chip, attention,
                    getAttentionLoop(chip, attention, schedule));
  }
  ScheduleCost gradient(const Machine &chip, const AttentionFacts &attention,
                        GradientKind kind, int64_t stages) {
    return estimate(
        chip, attention,
        getGradientLoop(chip, kind, attention, {128, 64, 4, stages}));
  }

  MLIRContext context;
  Location loc;
};

TEST_F(Costs, OfTheCPUAreNone) {
  ScheduleCost cost = forward(machine("cpu"), facts(32), 1);
  EXPECT_EQ(cost.registers, 0);
  EXPECT_EQ(cost.ldsBytes, 0);
}

TEST_F(Costs, CountLDSOfEveryStageAndRow) {
  // 64 keys of 32 elements and 16 bytes, 32 depths of 64 values and 16 bytes.
  constexpr int64_t once = 64 * (64 + 16) + 32 * (128 + 16);
  for (StringRef chip : {"gfx1100", "sm_80"}) {
    EXPECT_EQ(forward(machine(chip), facts(32), 1).ldsBytes, once);
    EXPECT_EQ(forward(machine(chip), facts(32), 3).ldsBytes, 3 * once);
    EXPECT_EQ(forward(machine(chip), facts(32), 2, 2).ldsBytes, 4 * once);
  }
  // What is under way is in registers.
  EXPECT_EQ(forward(machine("gfx942"), facts(32), 3).ldsBytes, once);
  EXPECT_EQ(forward(machine("gfx942"), facts(32), 2, 2).ldsBytes, 2 * once);
}

TEST_F(Costs, CountWhatIsReadInTwoOrdersTwice) {
  Machine chip = machine("gfx942");
  constexpr int64_t rows = 64 * (64 + 16), columns = 32 * (128 + 16);
  auto lds = [&](GradientKind kind) {
    ScheduleCost cost = gradient(chip, facts(32), kind, 2);
    // At the least each lies there once.
    EXPECT_EQ(cost.leastLdsBytes, 2 * rows);
    return cost.ldsBytes;
  };
  EXPECT_EQ(lds(GradientKind::Bias), 2 * rows);
  EXPECT_EQ(lds(GradientKind::Weights), 2 * rows);
  EXPECT_EQ(lds(GradientKind::Query), 2 * rows + columns);
  EXPECT_EQ(lds(GradientKind::QueryBias), 2 * rows + columns);
  EXPECT_EQ(lds(GradientKind::KeyValue), 2 * rows + 2 * columns);
}

TEST_F(Costs, RowsWithinAWordTakeRegistersUnlessCopiesPassThem) {
  // 30 and 31 elements of 16 bits pad to the same atoms.
  auto more = [&](StringRef chip) {
    return forward(machine(chip), facts(31), 1).registers -
           forward(machine(chip), facts(30), 1).registers;
  };
  // Elements of 64 keys, and of as many values, over the lanes.
  EXPECT_EQ(more("gfx942"), 2 * (64 * 31 / 256 + 1));
  EXPECT_EQ(more("sm_80"), 0);
}

TEST_F(Costs, LoadsThatRunAheadTakeRegistersOfTheirOwn) {
  EXPECT_EQ(forward(machine("gfx1100"), facts(32), 1).aheadRegisters, 0);
  EXPECT_GT(forward(machine("gfx1100"), facts(32), 2).aheadRegisters, 0);
  // Copied past registers.
  EXPECT_EQ(forward(machine("sm_80"), facts(32), 2).aheadRegisters, 0);
}

TEST_F(Costs, GrowWithTheDepth) {
  for (StringRef chip : {"gfx942", "gfx1100", "sm_80"})
    for (GradientKind kind :
         {GradientKind::Query, GradientKind::KeyValue, GradientKind::Bias}) {
      int64_t last = 0;
      for (int64_t depth : {32, 64, 128, 256}) {
        int64_t now = gradient(machine(chip), facts(depth), kind, 1).registers;
        EXPECT_GT(now, last);
        last = now;
      }
    }
}

} // namespace
