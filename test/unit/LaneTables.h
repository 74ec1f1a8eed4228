//===- LaneTables.h - Reads written-out lane tables -------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tile/Inputs/<instruction>.lanes says, for each operand of a matrix
// instruction, which element every lane holds in every register. All chips that
// have the instruction share the file. The tables were written from the
// vendors' documents, which they name; nothing here computes them.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TEST_UNIT_LANETABLES_H
#define EVOFORMER_TEST_UNIT_LANETABLES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

#include <map>

namespace mlir::evoformer {

/// The elements (row, column) of one operand, by lane and register.
struct LaneTable {
  int64_t rows = 0, columns = 0;
  std::vector<std::vector<std::pair<int64_t, int64_t>>> lanes;
};
/// By instruction and operand.
using LaneTables = std::map<std::pair<std::string, std::string>, LaneTable>;

inline std::pair<int64_t, int64_t> readPair(llvm::StringRef text,
                                            char separator) {
  auto [first, second] = text.split(separator);
  std::pair<int64_t, int64_t> pair(-1, -1);
  EXPECT_FALSE(first.getAsInteger(10, pair.first)) << text.str();
  EXPECT_FALSE(second.getAsInteger(10, pair.second)) << text.str();
  return pair;
}

/// Reads lines `table A 16x8 32 lanes 4 registers: names..`, each followed by
/// one line per lane, `0: 0,0 0,1 ..`.
inline void readLaneTables(const std::string &path, LaneTables &tables) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    ADD_FAILURE() << path << " cannot be read";
    return;
  }
  llvm::SmallVector<llvm::StringRef> lines, words;
  (*file)->getBuffer().split(lines, '\n', -1, false);
  for (size_t i = 0; i < lines.size();) {
    llvm::StringRef line = lines[i++];
    if (line.starts_with("#"))
      continue;
    words.clear();
    line.split(words, ' ', -1, false);
    if (words.size() < 8 || words[0] != "table") {
      ADD_FAILURE() << path << ": expected a table, got: " << line.str();
      return;
    }
    LaneTable table;
    std::tie(table.rows, table.columns) = readPair(words[2], 'x');
    size_t lanes = 0, registers = 0;
    EXPECT_FALSE(words[3].getAsInteger(10, lanes));
    EXPECT_FALSE(words[5].getAsInteger(10, registers));
    for (size_t lane = 0; lane < lanes && i < lines.size(); ++lane) {
      auto [number, elements] = lines[i++].trim().split(": ");
      EXPECT_EQ(number.str(), std::to_string(lane)) << path;
      llvm::SmallVector<llvm::StringRef> pairs;
      elements.split(pairs, ' ', -1, false);
      EXPECT_EQ(pairs.size(), registers) << path << ", lane " << lane;
      auto &row = table.lanes.emplace_back();
      for (llvm::StringRef pair : pairs)
        row.push_back(readPair(pair, ','));
    }
    EXPECT_EQ(table.lanes.size(), lanes) << path;
    for (llvm::StringRef name : llvm::ArrayRef(words).drop_front(7))
      EXPECT_TRUE(
          tables.try_emplace({name.str(), words[1].str()}, table).second)
          << path << ": two tables of " << name.str();
  }
}

/// The tables of all instructions.
inline LaneTables readLaneTables() {
  LaneTables tables;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator entry(LANE_TABLES, error), end;
       !error && entry != end; entry.increment(error))
    if (llvm::StringRef(entry->path()).ends_with(".lanes"))
      readLaneTables(entry->path(), tables);
  EXPECT_FALSE(error) << LANE_TABLES << ": " << error.message();
  return tables;
}

} // namespace mlir::evoformer

#endif // EVOFORMER_TEST_UNIT_LANETABLES_H
