//===- LaneTableTest.cpp - Matrix instructions against written-out tables -===//
//
// Inputs/<chip>.lanes says, for each operand of each matrix instruction, which
// element every lane holds in every register. The tables were written from the
// vendors' documents; nothing here computes them from the chip's rows.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/Targets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

#include <map>

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {

/// The elements (row, column) of one operand, by lane and register.
struct LaneTable {
  int64_t rows = 0, columns = 0;
  std::vector<std::vector<std::pair<int64_t, int64_t>>> lanes;
};
/// By instruction and operand.
using LaneTables = std::map<std::pair<std::string, std::string>, LaneTable>;

std::pair<int64_t, int64_t> readPair(StringRef text, char separator) {
  auto [first, second] = text.split(separator);
  std::pair<int64_t, int64_t> pair(-1, -1);
  EXPECT_FALSE(first.getAsInteger(10, pair.first)) << text.str();
  EXPECT_FALSE(second.getAsInteger(10, pair.second)) << text.str();
  return pair;
}

/// Reads lines `table A 16x8 32 lanes 4 registers: names..`, each followed by
/// one line per lane, `0: 0,0 0,1 ..`.
LaneTables readTables(StringRef chip) {
  LaneTables tables;
  std::string path = (LANE_TABLES "/" + chip + ".lanes").str();
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    ADD_FAILURE() << path << " does not exist: a chip needs its lane tables";
    return tables;
  }
  SmallVector<StringRef> lines, words;
  (*file)->getBuffer().split(lines, '\n', -1, false);
  for (size_t i = 0; i < lines.size();) {
    StringRef line = lines[i++];
    if (line.starts_with("#"))
      continue;
    words.clear();
    line.split(words, ' ', -1, false);
    if (words.size() < 8 || words[0] != "table") {
      ADD_FAILURE() << path << ": expected a table, got: " << line.str();
      return tables;
    }
    LaneTable table;
    std::tie(table.rows, table.columns) = readPair(words[2], 'x');
    size_t lanes = 0, registers = 0;
    EXPECT_FALSE(words[3].getAsInteger(10, lanes));
    EXPECT_FALSE(words[5].getAsInteger(10, registers));
    for (size_t lane = 0; lane < lanes && i < lines.size(); ++lane) {
      auto [number, elements] = lines[i++].trim().split(": ");
      EXPECT_EQ(number.str(), std::to_string(lane)) << path;
      SmallVector<StringRef> pairs;
      elements.split(pairs, ' ', -1, false);
      EXPECT_EQ(pairs.size(), registers) << path << ", lane " << lane;
      auto &row = table.lanes.emplace_back();
      for (StringRef pair : pairs)
        row.push_back(readPair(pair, ','));
    }
    EXPECT_EQ(table.lanes.size(), lanes) << path;
    for (StringRef name : ArrayRef(words).drop_front(7))
      EXPECT_TRUE(
          tables.try_emplace({name.str(), words[1].str()}, table).second)
          << path << ": two tables of " << name.str();
  }
  return tables;
}

void compare(MatrixInstrAttr instr, OperandRole role, const LaneTable &table) {
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
/// table has a row.
TEST(LaneTable, MatchesEveryRowOfEveryChip) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  int rows = 0;
  for (StringRef chip : getKnownChips()) {
    SCOPED_TRACE(chip.str());
    FailureOr<TargetAttr> target = getTarget(UnknownLoc::get(&context), chip);
    ASSERT_TRUE(succeeded(target));
    if (target->getMatrix().empty())
      continue;
    LaneTables tables = readTables(chip);
    for (auto instr : target->getMatrix().getAsRange<MatrixInstrAttr>()) {
      ++rows;
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
        tables.erase(table);
      }
    }
    for (const auto &[key, table] : tables)
      ADD_FAILURE() << "a table of " << key.first << ", but no such row";
  }
  // gfx942, gfx1100 and sm_80 at least.
  EXPECT_GE(rows, 12);
}

} // namespace
