//===- CycleModelTest.cpp - Cycles of counted listings --------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/CycleModel.h"
#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Target/KernelReport.h"
#include "Evoformer/Target/Targets.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir;
using namespace mlir::evoformer;
using Class = InstructionClass;

static KernelReport countAMD(const std::string &lines) {
  KernelReport report;
  report.name = "k";
  report.subgroupSize = 64;
  countAMDInstructions("\nk:\n" + lines + ".Lfunc_end0:\n", report);
  return report;
}

namespace {
class CycleModel : public ::testing::Test {
protected:
  CycleModel() { context.loadDialect<tile::TileDialect>(); }

  /// The units' cycles of a listing on a chip.
  std::map<std::string, double> model(StringRef chip,
                                      const InstructionCounts &counts) {
    FailureOr<tile::TargetAttr> target =
        tile::getTarget(UnknownLoc::get(&context), chip);
    EXPECT_TRUE(succeeded(target));
    UnitCycles cycles = modelCycles(counts, *target);
    bound = cycles.getBound().first.str();
    std::map<std::string, double> units;
    for (auto [unit, busy] : cycles.units)
      units[unit.str()] = busy;
    return units;
  }

  MLIRContext context;
  std::string bound;
};
} // namespace

TEST_F(CycleModel, MatrixBesideVector) {
  InstructionCounts counts =
      countAMD("\tv_mfma_f32_32x32x8_bf16_1k a[0:15], v[0:1], v[2:3], a[0:15]\n"
               "\tv_exp_f32_e32 v0, v1\n"
               "\tv_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]\n"
               "\tv_mul_lo_u32 v0, v1, v2\n"
               "\tds_read_b128 v[0:3], v4\n"
               "\tds_bpermute_b32 v0, v1, v2\n"
               "\tbuffer_load_dword v0, v1, s[0:3], 0 offen\n"
               "\ts_add_u32 s0, s1, s2\n")
          .whole;
  std::map<std::string, double> units = model("gfx942", counts);
  // A pass of eight, of one of four SIMDs.
  EXPECT_EQ(units["matrix"], 32 / 4.0);
  // An issue, an exponential, one plain, a product of integers.
  EXPECT_EQ(units["vector"], (4 + 16 + 4 + 16) / 4.0);
  // 16 and 4 bytes of each lane.
  EXPECT_EQ(units["lds"], 64 * 20 / 128.0);
  EXPECT_EQ(units["cache"], 4);
  EXPECT_EQ(units["scalar"], 1);
  EXPECT_EQ(bound, "vector");
  // Twice the rate of exponentials.
  EXPECT_EQ(model("gfx950", counts)["vector"], (4 + 8 + 4 + 16) / 4.0);
}

TEST_F(CycleModel, TranscendentalBesideVector) {
  InstructionCounts counts =
      countAMD("\tv_wmma_f32_16x16x16_bf16 v[0:7], v[8:15], v[16:23], v[0:7]\n"
               "\tv_exp_f32_e32 v0, v1\n"
               "\tv_dual_mul_f32 v0, v1, v2 :: v_dual_add_f32 v3, v4, v5\n")
          .whole;
  std::map<std::string, double> units = model("gfx1100", counts);
  EXPECT_EQ(units["vector and matrix"], (32 + 1 + 1 + 1) / 2.0);
  EXPECT_EQ(units["transcendental"], 4 / 2.0);
  // The row of another name and half the cycles.
  EXPECT_EQ(model("gfx1201", counts)["vector and matrix"],
            (16 + 1 + 1 + 1) / 2.0);
}

TEST_F(CycleModel, OneIssue) {
  KernelReport report;
  report.name = "k";
  countPTXInstructions(
      ".visible .entry k(\n)\n{\n"
      "\tmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1};\n"
      "\tex2.approx.ftz.f32 %f1, %f2;\n\tadd.f32 %f1, %f2, %f3;\n"
      "\tmad.lo.s32 %r1, %r2, %r3, %r4;\n\tret;\n}\n",
      report);
  std::map<std::string, double> units = model("sm_90", report.whole);
  EXPECT_EQ(units["matrix"], 8 / 4.0);
  EXPECT_EQ(units["transcendental"], 8 / 4.0);
  EXPECT_EQ(units["vector"], (1 + 2) / 4.0);
  EXPECT_EQ(units["issue"], 5 / 4.0);
}

TEST_F(CycleModel, ProductsOfGroups) {
  KernelReport report;
  report.name = "k";
  // Braces of inline assembly do not end the function.
  countPTXInstructions(
      ".visible .entry k(\n)\n{\n\t{\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%r1}, %rd1, "
      "%rd2;\n"
      "}\n\tadd.f32 %f1, %f2, %f3;\n\tret;\n}\n"
      "                                        // -- End function\n"
      "\tadd.f32 %f1, %f2, %f3;\n",
      report);
  EXPECT_EQ(report.whole.getTotal(), 3);
  // Four times the eight columns of each subgroup's instruction.
  EXPECT_EQ(model("sm_90", report.whole)["matrix"], 4 * 4 / 4.0);
}

TEST_F(CycleModel, NoRates) {
  InstructionCounts counts = countAMD("\tv_add_f32_e32 v0, v1, v2\n").whole;
  EXPECT_TRUE(model("cpu", counts).empty());
  EXPECT_EQ(bound, "none");
}

TEST(SteadyPass, LeavesOutWhatIsRare) {
  KernelReport report = countAMD("\ts_load_dword s0, s[0:1], 0x0\n"
                                 "\tv_mov_b32_e32 v0, 0\n"
                                 ".LBB0_1:\n"
                                 "\tv_mfma_f32_32x32x8_bf16_1k a, b, c\n"
                                 "\tv_exp_f32_e32 v0, v1\n"
                                 // Lanes that have work do it.
                                 "\ts_cbranch_execz .LBB0_2\n"
                                 "\tds_write_b128 v0, v[0:3]\n"
                                 ".LBB0_2:\n"
                                 // A row that overflows.
                                 "\ts_cbranch_scc1 .LBB0_5\n"
                                 ".LBB0_3:\n"
                                 "\tv_add_f32_e32 v0, v1, v2\n"
                                 "\ts_cbranch_vccnz .LBB0_1\n"
                                 "\tglobal_store_dword v0, v1, s[0:1]\n"
                                 "\ts_endpgm\n"
                                 ".LBB0_5:\n"
                                 "\tv_max_f32_e32 v0, v1, v2\n"
                                 "\tv_max_f32_e32 v0, v1, v2\n"
                                 "\ts_branch .LBB0_3\n");
  ASSERT_TRUE(report.hotLoop && report.steadyPass && report.outside);
  EXPECT_EQ(report.hotLoop->get(Class::Vector), 3);
  EXPECT_EQ(report.steadyPass->get(Class::Vector), 1);
  EXPECT_EQ(report.steadyPass->get(Class::LDSWrite), 1);
  EXPECT_EQ(report.steadyPass->get(Class::Matrix), 1);
  EXPECT_EQ(report.getPassLogits(), 64);
  EXPECT_EQ(report.outside->get(Class::Vector), 1);
  EXPECT_EQ(report.outside->get(Class::GlobalWrite), 1);
  EXPECT_EQ(report.outside->get(Class::Matrix), 0);
}
