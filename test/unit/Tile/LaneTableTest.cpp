//===- LaneTableTest.cpp - Matrix instructions against written-out tables -===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs/<instruction>.lanes says, for each operand of a matrix instruction,
// which element every lane holds in every register. The tables were written
// from the vendors' documents; nothing here computes them from the chips' rows.
//
//===----------------------------------------------------------------------===//

#include "../LaneTables.h"
#include "Evoformer/Target/Targets.h"

#include <set>

using namespace mlir;
using namespace mlir::evoformer::tile;
using mlir::evoformer::LaneTable;
using mlir::evoformer::LaneTables;
using mlir::evoformer::readLaneTables;

static void compare(MatrixInstrAttr instr, OperandRole role,
                    const LaneTable &table) {
  SCOPED_TRACE(instr.getName().str() + ", " + stringifyOperandRole(role).str());
  EXPECT_EQ(instr.getExtents(role), std::pair(table.rows, table.columns));
  LaneMap map = instr.getMap(role).toLaneMap();
  ASSERT_EQ(map.getNumLanes(), (int64_t)table.lanes.size());
  for (int64_t lane = 0; lane < map.getNumLanes(); ++lane) {
    ASSERT_EQ(map.getNumRegisters(), (int64_t)table.lanes[lane].size());
    for (int64_t reg = 0; reg < map.getNumRegisters(); ++reg) {
      auto [row, column] = table.lanes[lane][reg];
      ASSERT_EQ(map.at(0, lane, reg), (SmallVector<int64_t>{row, column}))
          << "lane " << lane << ", register " << reg;
    }
  }
}

/// Every row of every chip that is built in has its three tables, and every
/// table has a row of some chip.
TEST(LaneTable, MatchesEveryRowOfEveryChip) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  const LaneTables tables = readLaneTables();
  std::set<LaneTables::key_type> used;
  for (StringRef chip : getKnownChips()) {
    SCOPED_TRACE(chip.str());
    FailureOr<TargetAttr> target = getTarget(UnknownLoc::get(&context), chip);
    ASSERT_TRUE(succeeded(target));
    for (auto instr : target->getMatrix().getAsRange<MatrixInstrAttr>())
      for (OperandRole role :
           {OperandRole::A, OperandRole::B, OperandRole::C}) {
        auto table = tables.find(
            {instr.getName().str(), stringifyOperandRole(role).str()});
        if (table == tables.end()) {
          ADD_FAILURE() << "no table for operand "
                        << stringifyOperandRole(role).str() << " of "
                        << instr.getName().str();
          continue;
        }
        compare(instr, role, table->second);
        used.insert(table->first);
      }
  }
  for (const auto &[key, table] : tables)
    EXPECT_TRUE(used.count(key))
        << "a table of " << key.first << ", but no such row";
  EXPECT_FALSE(used.empty());
}
