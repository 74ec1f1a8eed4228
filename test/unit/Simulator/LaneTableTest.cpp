//===- LaneTableTest.cpp - The simulator's layouts, written out -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the simulator says of a matrix operation's operands against the tables
// that Tile/Inputs/<instruction>.lanes writes out, element by element.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Simulator/Matrix.h"
#include "../LaneTables.h"
#include "Evoformer/Target/Targets.h"

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::sim;

/// The operation of an intrinsic that may carry suffixes of overloaded types.
/// gfx12's have the names of gfx11's.
static const MatrixShape *findShape(StringRef intrinsic, StringRef chip) {
  const MatrixShape *shape = nullptr;
  while (!intrinsic.empty() && !(shape = findMatrixShape(intrinsic)))
    intrinsic = intrinsic.rsplit('.').first;
  if (shape && shape->replicated && chip.starts_with("gfx12"))
    return findMatrixShape(intrinsic.str() + "#gfx12");
  return shape;
}

static void compare(const LaneTable &table, unsigned rows, unsigned columns,
                    unsigned lanes, const std::vector<MatrixPlace> &places) {
  EXPECT_EQ(table.rows, rows);
  EXPECT_EQ(table.columns, columns);
  ASSERT_EQ(table.lanes.size(), lanes);
  ASSERT_EQ(table.lanes[0].size() * lanes, places.size());
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned e = 0; e < table.lanes[lane].size(); ++e) {
      MatrixPlace place = places[e * lanes + lane];
      EXPECT_EQ(table.lanes[lane][e],
                (std::pair<int64_t, int64_t>(place.row, place.column)))
          << "lane " << lane << ", element " << e;
    }
}

/// Every row of every chip that is built in, but for plain arithmetic.
TEST(LaneTable, SimulatorAgrees) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  LaneTables tables = readLaneTables();
  unsigned found = 0;
  for (StringRef chip : tile::getKnownChips()) {
    SCOPED_TRACE(chip.str());
    FailureOr<tile::TargetAttr> target =
        tile::getTarget(UnknownLoc::get(&context), chip);
    ASSERT_TRUE(succeeded(target));
    for (auto instr : target->getMatrix().getAsRange<tile::MatrixInstrAttr>()) {
      if (instr.getIntrinsic() == "llvm.fma.f32")
        continue;
      std::string name = instr.getName().str();
      SCOPED_TRACE(name);
      const MatrixShape *shape = findShape(instr.getIntrinsic(), chip);
      ASSERT_TRUE(shape);
      EXPECT_TRUE(chip.starts_with(shape->chips));
      compare(tables[{name, "A"}], shape->m, shape->k, shape->lanes, shape->a);
      compare(tables[{name, "B"}], shape->k, shape->n, shape->lanes, shape->b);
      compare(tables[{name, "C"}], shape->m, shape->n, shape->lanes, shape->d);
      ++found;
    }
  }
  EXPECT_GT(found, 0u);
}
