//===- FragTest.cpp - Tiles covered by atoms ------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/Targets.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace mlir::evoformer::tile;
using Index = SmallVector<int64_t>;

namespace {

struct Frag : testing::Test {
  Frag() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<TileDialect>();
  }

  MatrixInstrAttr instruction(StringRef chip, unsigned row = 0) {
    auto target = getTarget(UnknownLoc::get(&context), chip);
    return cast<MatrixInstrAttr>(target->getMatrix()[row]);
  }
  FragAttr get(MatrixInstrAttr instr, OperandRole role, ArrayRef<int64_t> dims,
               ArrayRef<int64_t> subgroups = {},
               ArrayRef<SmallVector<int64_t>> order = {}) {
    SmallVector<Attribute> orders;
    for (ArrayRef<int64_t> digits : order)
      orders.push_back(DenseI64ArrayAttr::get(&context, digits));
    return FragAttr::get(&context, instr, role, dims,
                         DenseI64ArrayAttr::get(&context, subgroups),
                         ArrayAttr::get(&context, orders));
  }
  /// The map, or the error instead of it.
  std::pair<LaneMap, std::string> map(FragAttr frag, ArrayRef<int64_t> shape) {
    std::string error;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
      error = diag.str();
      return success();
    });
    auto result = frag.getLaneMap(
        shape, [&] { return emitError(UnknownLoc::get(&context)); });
    EXPECT_EQ(failed(result), !error.empty());
    return {succeeded(result) ? *result : LaneMap(2), error};
  }
  /// Every element of the tile is held by some subgroup, lane and register.
  static bool covers(const LaneMap &map, ArrayRef<int64_t> shape) {
    std::set<std::vector<int64_t>> held;
    for (int64_t s = 0; s < map.getNumSubgroups(); ++s)
      for (int64_t l = 0; l < map.getNumLanes(); ++l)
        for (int64_t r = 0; r < map.getNumRegisters(); ++r) {
          Index index = map.at(s, l, r);
          bool inside = true;
          for (auto [i, size] : llvm::zip(index, shape))
            inside &= i < size;
          if (inside)
            held.insert(std::vector<int64_t>(index.begin(), index.end()));
        }
    int64_t elements = 1;
    for (int64_t size : shape)
      elements *= size;
    return (int64_t)held.size() == elements;
  }

  MLIRContext context;
};

TEST_F(Frag, EveryRowCoversOddTiles) {
  // Padded atoms, whole atoms, several rows, either orientation.
  for (StringRef chip : getKnownChips()) {
    auto target = getTarget(UnknownLoc::get(&context), chip);
    for (auto instr : target->getMatrix().getAsRange<MatrixInstrAttr>())
      for (OperandRole role : {OperandRole::A, OperandRole::B, OperandRole::C})
        for (Index shape : {Index{1, 1}, Index{16, 24}, Index{48, 20},
                            Index{64, 64}, Index{33, 65}})
          for (bool swapped : {false, true}) {
            FragAttr frag = get(instr, role,
                                swapped ? ArrayRef<int64_t>{1, 0}
                                        : ArrayRef<int64_t>{0, 1});
            auto [lanes, error] = map(frag, shape);
            EXPECT_EQ(error, "");
            EXPECT_TRUE(covers(lanes, shape))
                << instr.getName().str() << " " << shape[0] << "x" << shape[1];
            EXPECT_EQ(lanes.getNumLanes(), target->getSubgroupSize());
          }
  }
}

TEST_F(Frag, PadsToWholeAtoms) {
  auto [lanes, error] =
      map(get(instruction("gfx942"), OperandRole::C, {0, 1}), {24, 40});
  EXPECT_EQ(error, "");
  EXPECT_EQ(lanes.getBox(), (Index{32, 64}));
  EXPECT_EQ(lanes.getVectorSize(), 16);
  EXPECT_EQ(lanes.getNumVectors(), 2);
}

TEST_F(Frag, AnyCountOfAtoms) {
  // D = 48 is three atoms of 16.
  auto [lanes, error] =
      map(get(instruction("gfx942", 3), OperandRole::B, {0, 1}), {48, 16});
  EXPECT_EQ(error, "");
  EXPECT_EQ(lanes.getBox(), (Index{48, 16}));
  EXPECT_EQ(lanes.getNumVectors(), 3);
}

TEST_F(Frag, SubgroupsSplitAndReplicate) {
  MatrixInstrAttr instr = instruction("sm_80");
  auto [split, error] =
      map(get(instr, OperandRole::C, {0, 1}, {2, 0, 2, 1}), {64, 32});
  EXPECT_EQ(error, "");
  EXPECT_EQ(split.getNumSubgroups(), 4);
  EXPECT_EQ(split.subgroupOffset(1), (Index{32, 0}));
  EXPECT_EQ(split.subgroupOffset(2), (Index{0, 16}));
  EXPECT_EQ(split.getNumRegisters(), 32 * 16 / 32);
  auto [repeated, none] =
      map(get(instr, OperandRole::C, {0, 1}, {4, -1}), {16, 8});
  EXPECT_EQ(none, "");
  EXPECT_EQ(repeated.subgroupOffset(3), (Index{0, 0}));
}

TEST_F(Frag, LeadingDimensionsAreBatches) {
  FragAttr frag = get(instruction("gfx1100"), OperandRole::C, {1, 2}, {2, 0});
  auto [lanes, error] = map(frag, {6, 16, 32});
  EXPECT_EQ(error, "");
  EXPECT_EQ(lanes.getBox(), (Index{6, 16, 32}));
  // Two subgroups, each three batches of two atoms of 8 registers.
  EXPECT_EQ(lanes.getNumRegisters(), 3 * 2 * 8);
  EXPECT_EQ(lanes.subgroupOffset(1), (Index{3, 0, 0}));
  EXPECT_TRUE(covers(lanes, {6, 16, 32}));
}

TEST_F(Frag, OrderMakesALanesKeysContiguous) {
  // mma.sync: a lane's 2 adjacent columns in each of 8 atoms become 16.
  MatrixInstrAttr instr = instruction("sm_80");
  auto [plain, none] = map(get(instr, OperandRole::C, {0, 1}), {16, 64});
  EXPECT_EQ(none, "");
  FragAttr ordered =
      get(instr, OperandRole::C, {0, 1}, {}, {{}, {2, 1, 4, 16, 8, 2}});
  auto [lanes, error] = map(ordered, {16, 64});
  EXPECT_EQ(error, "");
  EXPECT_TRUE(covers(lanes, {16, 64}));
  std::set<int64_t> columns;
  for (int64_t r = 0; r < lanes.getNumRegisters(); ++r)
    columns.insert(lanes.at(0, 1, r)[1]);
  EXPECT_EQ(columns.size(), 16u);
  EXPECT_EQ(*columns.begin(), 16);
  EXPECT_EQ(*columns.rbegin(), 31);
  EXPECT_EQ(plain.at(0, 1, 0), (Index{0, 2}));
}

TEST_F(Frag, RefusesWhatItCannotCover) {
  MatrixInstrAttr instr = instruction("sm_80");
  EXPECT_EQ(map(get(instr, OperandRole::C, {0, 2}), {16, 8}).second,
            "'dims' names dimension 2 of a tile of rank 2");
  EXPECT_EQ(map(get(instr, OperandRole::C, {0, 1}, {2, 3}), {16, 8}).second,
            "'subgroups' names dimension 3 of a tile of rank 2");
  EXPECT_EQ(
      map(get(instr, OperandRole::C, {0, 1}, {}, {{3, 1}}), {16, 8}).second,
      "'order' does not cut the atoms at digits");
}

TEST_F(Frag, SliceDropsADimension) {
  FragAttr frag = get(instruction("gfx942"), OperandRole::C, {0, 1}, {2, 1});
  auto slice = SliceAttr::get(&context, 0, 64, frag);
  auto none = [&] { return emitError(UnknownLoc::get(&context)); };
  FailureOr<LaneMap> lanes = slice.getLaneMap({64}, none);
  ASSERT_TRUE(succeeded(lanes));
  auto [parent, error] = map(frag, {64, 64});
  EXPECT_EQ(*lanes, parent.dropDim(0));
  EXPECT_EQ(lanes->getBox(), (Index{64}));
}

} // namespace
