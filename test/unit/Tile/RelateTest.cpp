//===- RelateTest.cpp - What it takes to go from one layout to another ----===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The golden table of what a product's result feeds to the next product: which
// orientation needs no memory decides how attention is cut for a chip.
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/Targets.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer::tile;

namespace {

struct Relate : testing::Test {
  Relate() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<TileDialect>();
  }

  MatrixInstrAttr find(TargetAttr target, StringRef name) {
    for (auto instr : target.getMatrix().getAsRange<MatrixInstrAttr>())
      if (instr.getName() == name)
        return instr;
    ADD_FAILURE() << "no " << name.str();
    return {};
  }
  MatrixInstrAttr builtIn(StringRef chip, StringRef name) {
    return find(*getTarget(UnknownLoc::get(&context), chip), name);
  }
  /// A row for a chip that is not built in.
  MatrixInstrAttr fromText(int subgroup, StringRef text) {
    std::string module =
        ("module attributes {evo_tile.target = #evo_tile.target<chip = \"x\", "
         "triple = \"amdgcn-amd-amdhsa\", features = \"\", subgroup_size = " +
         Twine(subgroup) +
         ", max_workgroup = 1024, registers = 512, lds_bytes = 65536, "
         "lds_banks = 32, matrix = [#evo_tile.matrix_instr<" +
         text + ">]>} {}")
            .str();
    FailureOr<TargetAttr> target = parseTarget(&context, module, "x");
    if (failed(target))
      return {};
    return cast<MatrixInstrAttr>(target->getMatrix()[0]);
  }

  /// The layout of a 64x64 tile as an operand; `dims` as in the attribute,
  /// `order` for dimension 0 (both operands of a product share it).
  LaneMap layout(MatrixInstrAttr instr, OperandRole role,
                 std::array<int64_t, 2> dims, ArrayRef<int64_t> order = {}) {
    SmallVector<Attribute> orders{DenseI64ArrayAttr::get(&context, order),
                                  DenseI64ArrayAttr::get(&context, {})};
    auto frag = FragAttr::get(&context, instr, role, ArrayRef<int64_t>(dims),
                              DenseI64ArrayAttr::get(&context, {}),
                              ArrayAttr::get(&context, orders));
    auto map = frag.getLaneMap(
        {64, 64}, [&] { return emitError(UnknownLoc::get(&context)); });
    EXPECT_TRUE(succeeded(map)) << instr.getName().str();
    return succeeded(map) ? *map : LaneMap(2);
  }

  static std::string word(const LaneMap &from, const LaneMap &to) {
    int64_t mask = 0;
    switch (LaneMap::relate(from, to, {64, 64}, &mask)) {
    case LayoutRelation::Same:
    case LayoutRelation::RegisterRename:
      return "registers";
    case LayoutRelation::LaneExchange:
      return mask & (mask - 1) ? "exchange" : "xor " + std::to_string(mask);
    case LayoutRelation::Shared:
      return "LDS";
    }
    return "?";
  }

  /// What the result X of a product feeds: X as A, X as B, X^T as A, X^T as B.
  /// X = [row, column] lies as C does; X^T is the same registers with the
  /// dimensions swapped. Permuted: with an order of X's rows that both products
  /// share.
  std::vector<std::string> row(MatrixInstrAttr instr,
                               ArrayRef<int64_t> order = {}) {
    if (!instr)
      return {};
    LaneMap c = layout(instr, OperandRole::C, {0, 1}, order);
    return {word(c, layout(instr, OperandRole::A, {0, 1}, order)),
            word(c, layout(instr, OperandRole::B, {0, 1}, order)),
            word(c, layout(instr, OperandRole::A, {1, 0}, order)),
            word(c, layout(instr, OperandRole::B, {1, 0}, order))};
  }

  MLIRContext context;
};
} // namespace

using Row = std::vector<std::string>;

TEST_F(Relate, MfmaKeepsRowsInRegisters) {
  Row wanted{"exchange", "registers", "registers", "exchange"};
  for (StringRef name : {"mfma_f32_32x32x8_bf16", "mfma_f32_32x32x8_f16",
                         "mfma_f32_16x16x16_bf16", "mfma_f32_16x16x16_f16"})
    EXPECT_EQ(row(builtIn("gfx942", name)), wanted) << name.str();
}

TEST_F(Relate, DeeperMfmaNeedsAnOrderOfK) {
  // gfx950 has the operands of two of the above atoms in one: 8 k a lane.
  MatrixInstrAttr m16 = fromText(64, R"(
    name = "mfma_f32_16x16x32_bf16", m = 16, n = 16, k = 32,
    a_type = bf16, b_type = bf16, c_type = f32,
    a = <registers = [[8, 0, 1]], lanes = [[16, 1, 0], [4, 0, 8]], subgroups = []>,
    b = <registers = [[8, 1, 0]], lanes = [[16, 0, 1], [4, 8, 0]], subgroups = []>,
    c = <registers = [[4, 1, 0]], lanes = [[16, 0, 1], [4, 4, 0]], subgroups = []>,
    intrinsic = "llvm.amdgcn.mfma.f32.16x16x32.bf16",
    a_regs = [vector<8xbf16>], b_regs = [vector<8xbf16>], c_regs = [vector<4xf32>],
    cycles = 16)");
  EXPECT_EQ(row(m16), (Row{"exchange", "exchange", "exchange", "exchange"}));
  // A lane's 8 k: 4 rows of one atom of C, then 4 of the next.
  LaneMap c = layout(m16, OperandRole::C, {0, 1});
  SmallVector<int64_t> order{4, 1, 2, 16, 4, 4, 2, 32};
  EXPECT_EQ(word(c, layout(m16, OperandRole::B, {0, 1}, order)), "registers");
  EXPECT_EQ(word(c, layout(m16, OperandRole::A, {1, 0}, order)), "registers");

  MatrixInstrAttr m32 = fromText(64, R"(
    name = "mfma_f32_32x32x16_bf16", m = 32, n = 32, k = 16,
    a_type = bf16, b_type = bf16, c_type = f32,
    a = <registers = [[8, 0, 1]], lanes = [[32, 1, 0], [2, 0, 8]], subgroups = []>,
    b = <registers = [[8, 1, 0]], lanes = [[32, 0, 1], [2, 8, 0]], subgroups = []>,
    c = <registers = [[4, 1, 0], [4, 8, 0]], lanes = [[32, 0, 1], [2, 4, 0]], subgroups = []>,
    intrinsic = "llvm.amdgcn.mfma.f32.32x32x16.bf16",
    a_regs = [vector<8xbf16>], b_regs = [vector<8xbf16>], c_regs = [vector<16xf32>],
    cycles = 32)");
  c = layout(m32, OperandRole::C, {0, 1});
  order = {4, 1, 2, 8, 2, 4, 4, 16};
  EXPECT_EQ(word(c, layout(m32, OperandRole::B, {0, 1}, order)), "registers");
  EXPECT_EQ(word(c, layout(m32, OperandRole::A, {1, 0}, order)), "registers");
}

TEST_F(Relate, WmmaOfGfx12KeepsRowsInRegisters) {
  MatrixInstrAttr wmma = fromText(32, R"(
    name = "wmma_gfx12", m = 16, n = 16, k = 16,
    a_type = bf16, b_type = bf16, c_type = f32,
    a = <registers = [[8, 0, 1]], lanes = [[16, 1, 0], [2, 0, 8]], subgroups = []>,
    b = <registers = [[8, 1, 0]], lanes = [[16, 0, 1], [2, 8, 0]], subgroups = []>,
    c = <registers = [[8, 1, 0]], lanes = [[16, 0, 1], [2, 8, 0]], subgroups = []>,
    intrinsic = "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v8bf16",
    a_regs = [vector<8xbf16>], b_regs = [vector<8xbf16>], c_regs = [vector<8xf32>],
    cycles = 16)");
  EXPECT_EQ(row(wmma), (Row{"exchange", "registers", "registers", "exchange"}));
}

TEST_F(Relate, WmmaOfGfx11NeedsOneExchangeOfHalves) {
  Row wanted{"exchange", "xor 16", "xor 16", "exchange"};
  EXPECT_EQ(row(builtIn("gfx1100", "wmma_f32_16x16x16_bf16")), wanted);
  EXPECT_EQ(row(builtIn("gfx1100", "wmma_f32_16x16x16_f16")), wanted);
}

TEST_F(Relate, MmaSyncKeepsColumnsInRegisters) {
  Row wanted{"registers", "exchange", "exchange", "registers"};
  EXPECT_EQ(row(builtIn("sm_80", "mma_m16n8k16_bf16")), wanted);
  EXPECT_EQ(row(builtIn("sm_80", "mma_m16n8k16_f16")), wanted);
}

TEST_F(Relate, SharedOrderChangesNothing) {
  // Keys contiguous per lane: whatever the order, if both products share it.
  SmallVector<int64_t> order{4, 1, 2, 32, 2, 16, 4, 4};
  MatrixInstrAttr mfma = builtIn("gfx942", "mfma_f32_16x16x16_bf16");
  LaneMap c = layout(mfma, OperandRole::C, {0, 1}, order);
  EXPECT_EQ(word(c, layout(mfma, OperandRole::B, {0, 1}, order)), "registers");
  // And one that they do not share needs an exchange.
  EXPECT_EQ(word(c, layout(mfma, OperandRole::B, {0, 1})), "exchange");
}

//===----------------------------------------------------------------------===//
// Relations that no matrix instruction gives
//===----------------------------------------------------------------------===//

static LaneMap makeMap(SmallVector<LayoutAxis, 4> registers,
                       SmallVector<LayoutAxis, 4> lanes,
                       SmallVector<LayoutAxis, 4> subgroups = {}) {
  LaneMap map(1);
  map.registers = std::move(registers);
  map.lanes = std::move(lanes);
  map.subgroups = std::move(subgroups);
  map.innerAxes = map.registers.size();
  return map;
}

TEST(LaneMapRelate, SameAndRename) {
  LaneMap map = makeMap({{2, {1}}, {2, {8}}}, {{4, {2}}});
  EXPECT_EQ(LaneMap::relate(map, map, {16}), LayoutRelation::Same);
  LaneMap swapped = makeMap({{2, {8}}, {2, {1}}}, {{4, {2}}});
  EXPECT_EQ(LaneMap::relate(map, swapped, {16}),
            LayoutRelation::RegisterRename);
  // Another cut into vectors is a renaming, too.
  LaneMap vectors = map;
  vectors.innerAxes = 1;
  EXPECT_EQ(LaneMap::relate(map, vectors, {16}),
            LayoutRelation::RegisterRename);
}

TEST(LaneMapRelate, ReplicationCostsNothingOnlyOneWay) {
  // All lanes hold everything: each has what it needs, but under a register
  // number of its own, which is an exchange without other lanes.
  LaneMap all = makeMap({{8, {1}}}, {{4, {0}}});
  LaneMap spread = makeMap({{2, {1}}}, {{4, {2}}});
  int64_t mask = -1;
  EXPECT_EQ(LaneMap::relate(all, spread, {8}, &mask),
            LayoutRelation::LaneExchange);
  EXPECT_EQ(mask, 0);
  EXPECT_EQ(LaneMap::relate(spread, all, {8}, &mask),
            LayoutRelation::LaneExchange);
  EXPECT_EQ(mask, 3);
}

TEST(LaneMapRelate, OtherSubgroupsAreReachedThroughLDS) {
  LaneMap rows = makeMap({{2, {1}}}, {{4, {2}}}, {{2, {8}}});
  LaneMap interleaved = makeMap({{2, {1}}}, {{4, {4}}}, {{2, {2}}});
  EXPECT_EQ(LaneMap::relate(rows, interleaved, {16}), LayoutRelation::Shared);
  LaneMap replicated = makeMap({{4, {1}}}, {{4, {4}}}, {{2, {0}}});
  EXPECT_EQ(LaneMap::relate(rows, replicated, {16}), LayoutRelation::Shared);
  // As is a subgroup of another size.
  EXPECT_EQ(LaneMap::relate(makeMap({{2, {1}}}, {{8, {2}}}),
                            makeMap({{4, {1}}}, {{4, {4}}}), {16}),
            LayoutRelation::Shared);
}

TEST(LaneMapRelate, PaddingMayBeHeldByNobody) {
  // 12 elements: one layout covers 12, the other 16.
  LaneMap exact = makeMap({{3, {1}}}, {{4, {3}}});
  LaneMap padded = makeMap({{4, {1}}}, {{4, {4}}});
  EXPECT_EQ(LaneMap::relate(exact, padded, {12}), LayoutRelation::LaneExchange);
  auto sources = LaneMap::findSources(exact, padded, {12});
  ASSERT_TRUE(sources.has_value());
  // Lane 3 of the padded layout holds elements 12 to 15 only.
  for (int reg = 0; reg < 4; ++reg)
    EXPECT_EQ((*sources)[reg * 4 + 3], std::pair(-1, -1));
  EXPECT_EQ((*sources)[3 * 4 + 0], std::pair(1, 0));
  // Of a tile of 16 elements the first layout misses four.
  EXPECT_FALSE(LaneMap::findSources(exact, padded, {16}).has_value());
}

TEST(LaneMapRelate, PrefersNearLanes) {
  // Lanes 0-3 and 4-7 hold the same: every lane reads its own half.
  LaneMap twice = makeMap({{2, {1}}}, {{4, {2}}, {2, {0}}});
  LaneMap turned = makeMap({{2, {1}}}, {{2, {4}}, {2, {2}}, {2, {0}}});
  int64_t mask = 0;
  EXPECT_EQ(LaneMap::relate(twice, turned, {8}, &mask),
            LayoutRelation::LaneExchange);
  EXPECT_EQ(mask, 3);
}
