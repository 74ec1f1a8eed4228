//===- LDSPlacementTest.cpp - Where buffers of workgroup memory lie -------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Dialect/Tile/IR/LDSPlacement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {
/// A kernel in which barriers stand for uses of buffers.
struct Placement : testing::Test {
  Placement() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<TileDialect, arith::ArithDialect, scf::SCFDialect>();
  }

  /// Barriers by the number that each carries.
  void parse(StringRef body) {
    std::string text = ("evo_tile.kernel @k(%n: index) {\n"
                        "  %c0 = arith.constant 0 : index\n"
                        "  %c1 = arith.constant 1 : index\n" +
                        body + "\n  evo_tile.return\n}")
                           .str();
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    module->walk([&](BarrierOp op) {
      uses[op->getAttrOfType<IntegerAttr>("use").getInt()] = op;
    });
  }
  LDSBuffer buffer(int64_t bytes, std::vector<int64_t> users,
                   int64_t period = 1) {
    LDSBuffer result{bytes, period, {}};
    for (int64_t user : users)
      result.users.push_back(uses.at(user));
    return result;
  }
  static std::vector<int64_t> offsets(const LDSPlacement &placement) {
    return {placement.offsets.begin(), placement.offsets.end()};
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::map<int64_t, Operation *> uses;
};

using Offsets = std::vector<int64_t>;

constexpr StringLiteral kTwoLoops(R"(
  evo_tile.barrier {use = 0}
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.barrier {use = 1}
    evo_tile.barrier {use = 2}
  }
  evo_tile.barrier {use = 3}
  scf.for %i = %c0 to %n step %c1 {
    evo_tile.barrier {use = 4}
  }
)");
} // namespace

TEST_F(Placement, LoopsThatFollowShareMemory) {
  parse(kTwoLoops);
  // The second ring is filled before its loop.
  LDSPlacement placement = placeLDS({buffer(64, {0, 1}), buffer(96, {3, 4})});
  EXPECT_EQ(offsets(placement), (Offsets{0, 0}));
  EXPECT_EQ(placement.bytes, 96);
  ASSERT_EQ(placement.takeovers.size(), 1u);
  EXPECT_EQ(placement.takeovers.front().first, uses.at(3));
  EXPECT_EQ(placement.takeovers.front().second,
            (SmallVector<Takeover>{{0, 1}}));
}

TEST_F(Placement, BuffersOfOneLoopLieApart) {
  parse(kTwoLoops);
  LDSPlacement placement =
      placeLDS({buffer(64, {1}), buffer(32, {2}), buffer(48, {4})});
  EXPECT_EQ(offsets(placement), (Offsets{0, 64, 0}));
  EXPECT_EQ(placement.bytes, 96);
}

TEST_F(Placement, WhatBothLoopsUseLiesApart) {
  parse(kTwoLoops);
  LDSPlacement placement =
      placeLDS({buffer(64, {1, 4}), buffer(32, {2}), buffer(48, {4})});
  EXPECT_EQ(offsets(placement), (Offsets{0, 64, 64}));
  EXPECT_EQ(placement.bytes, 112);
}

TEST_F(Placement, WhatNoLoopUsesLiesApart) {
  parse(kTwoLoops);
  LDSPlacement placement = placeLDS({buffer(64, {0}), buffer(32, {4})});
  EXPECT_EQ(offsets(placement), (Offsets{0, 64}));
  EXPECT_TRUE(placement.takeovers.empty());
}

TEST_F(Placement, LongPeriodsComeFirstAndAligned) {
  parse(kTwoLoops);
  LDSPlacement placement =
      placeLDS({buffer(16, {1}), buffer(128, {2}, 128), buffer(160, {4}, 64)});
  // The first loop's buffers lie apart, the second's over both.
  EXPECT_EQ(offsets(placement), (Offsets{128, 0, 0}));
  EXPECT_EQ(placement.bytes, 160);
}

TEST_F(Placement, AnOuterLoopTakesMemoryOverTwice) {
  parse(R"(
  scf.for %o = %c0 to %n step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.barrier {use = 1}
    }
    scf.for %i = %c0 to %n step %c1 {
      evo_tile.barrier {use = 2}
    }
  }
)");
  LDSPlacement placement = placeLDS({buffer(64, {1}), buffer(32, {2})});
  EXPECT_EQ(offsets(placement), (Offsets{0, 0}));
  ASSERT_EQ(placement.takeovers.size(), 2u);
  EXPECT_EQ(placement.takeovers.begin()[0].first, uses.at(2)->getParentOp());
  EXPECT_EQ(placement.takeovers.begin()[0].second,
            (SmallVector<Takeover>{{0, 1}}));
  EXPECT_EQ(placement.takeovers.begin()[1].first, uses.at(1)->getParentOp());
  EXPECT_EQ(placement.takeovers.begin()[1].second,
            (SmallVector<Takeover>{{1, 0}}));
}
