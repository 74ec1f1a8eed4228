//===- LaneTableTest.cpp - The simulator's layouts, written out -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the simulator says of a matrix operation's operands against the tables
// that Tile/Inputs/<chip>.lanes writes out, element by element.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Simulator/Matrix.h"
#include "../LaneTables.h"

using namespace mlir::evoformer;
using namespace mlir::evoformer::sim;

/// The rows of the compiler's tables that the simulator executes.
static const std::pair<const char *, const char *> intrinsics[] = {
    {"mfma_f32_32x32x8_f16", "llvm.amdgcn.mfma.f32.32x32x8f16"},
    {"mfma_f32_32x32x8_bf16", "llvm.amdgcn.mfma.f32.32x32x8bf16.1k"},
    {"mfma_f32_16x16x16_f16", "llvm.amdgcn.mfma.f32.16x16x16f16"},
    {"mfma_f32_16x16x16_bf16", "llvm.amdgcn.mfma.f32.16x16x16bf16.1k"},
    {"mfma_f32_32x32x2_f32", "llvm.amdgcn.mfma.f32.32x32x2f32"},
    {"mfma_f32_16x16x4_f32", "llvm.amdgcn.mfma.f32.16x16x4f32"},
    {"wmma_f32_16x16x16_f16", "llvm.amdgcn.wmma.f32.16x16x16.f16"},
    {"wmma_f32_16x16x16_bf16", "llvm.amdgcn.wmma.f32.16x16x16.bf16"},
    {"mma_m16n8k16_f16", "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"},
    {"mma_m16n8k16_bf16", "llvm.nvvm.mma.m16n8k16.row.col.bf16"},
};

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

TEST(LaneTable, SimulatorAgrees) {
  unsigned found = 0;
  for (const char *chip : {"gfx942", "gfx1100", "sm_80"}) {
    LaneTables tables = readLaneTables(chip);
    for (auto [name, intrinsic] : intrinsics) {
      if (!tables.count({name, "A"}))
        continue;
      ++found;
      SCOPED_TRACE(name);
      const MatrixShape *shape = findMatrixShape(intrinsic);
      ASSERT_TRUE(shape);
      compare(tables[{name, "A"}], shape->m, shape->k, shape->lanes, shape->a);
      compare(tables[{name, "B"}], shape->k, shape->n, shape->lanes, shape->b);
      compare(tables[{name, "C"}], shape->m, shape->n, shape->lanes, shape->d);
    }
    // A row that no matrix operation stands for is plain arithmetic.
    for (const auto &entry : tables) {
      const std::string &name = entry.first.first;
      EXPECT_TRUE(llvm::StringRef(name).starts_with("fma_") ||
                  llvm::any_of(intrinsics,
                               [&](auto &row) { return row.first == name; }))
          << "the simulator does not know " << name;
    }
  }
  EXPECT_EQ(found, std::size(intrinsics));
}
