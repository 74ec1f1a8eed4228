//===- KernelReportTest.cpp - Counting instructions of listings -----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Target/KernelReport.h"
#include "gtest/gtest.h"

using namespace mlir::evoformer;
using Class = InstructionClass;

static InstructionCounts countAMD(const char *lines) {
  KernelReport report;
  report.name = "k";
  countAMDInstructions(std::string("\nk:\n") + lines + ".Lfunc_end0:\n",
                       report);
  return report.whole;
}

TEST(AMDInstructions, Classes) {
  InstructionCounts counts =
      countAMD("\tv_mfma_f32_32x32x8_bf16 v[0:15], a, b\n"
               "\tv_wmma_f32_16x16x16_bf16 v[0:7], a, b\n"
               "\tv_exp_f32_e32 v0, v1 ; a comment\n"
               "\tv_pk_fma_f32 v[0:1], a, b, c\n"
               "\tv_dual_mul_f32 v0, v1, v2 :: v_dual_add_f32 v3, v4, v5\n"
               "\tv_add_f32_e32 v0, v1, v2\n"
               "\tv_permlanex16_b32 v0, v1, s0, s1\n"
               "\tds_bpermute_b32 v0, v1, v2\n"
               "\ts_add_u32 s0, s1, s2\n"
               "\ts_load_dwordx4 s[0:3], s[4:5], 0x0\n"
               "\ts_barrier\n"
               "\ts_endpgm\n");
  EXPECT_EQ(counts.get(Class::Matrix), 2);
  EXPECT_EQ(counts.get(Class::Transcendental), 1);
  EXPECT_EQ(counts.get(Class::Packed), 2);
  EXPECT_EQ(counts.get(Class::Vector), 1);
  EXPECT_EQ(counts.get(Class::Exchange), 2);
  EXPECT_EQ(counts.get(Class::Scalar), 1);
  EXPECT_EQ(counts.get(Class::ScalarMemory), 1);
  EXPECT_EQ(counts.get(Class::Barrier), 1);
  EXPECT_EQ(counts.get(Class::Branch), 1);
  EXPECT_EQ(counts.getTotal(), 12);
}

TEST(AMDInstructions, Widths) {
  InstructionCounts counts =
      countAMD("\tds_read_b128 v[0:3], v4\n"
               "\tds_read2_b32 v[0:1], v4 offset1:1\n"
               "\tds_load_b64 v[0:1], v4\n"
               "\tds_read_b64_tr_b16 v[0:1], v4 offset:512\n"
               "\tds_read_u16_d16_hi v0, v4\n"
               "\tds_write_b8 v4, v0\n"
               "\tglobal_load_dwordx4 v[0:3], v[4:5], off\n"
               "\tbuffer_load_b128 v[0:3], v4, s[0:3], 0 offen\n"
               "\tglobal_load_ushort v0, v[4:5], off\n"
               "\tglobal_store_short v[4:5], v0, off\n"
               "\tbuffer_load_dword v4, s[0:3], 0 offen lds\n"
               "\tscratch_load_dwordx2 v[0:1], off, s32\n");
  EXPECT_EQ(counts.byWidth[unsigned(Class::LDSRead)],
            (std::map<unsigned, int64_t>{{2, 1}, {8, 3}, {16, 1}}));
  EXPECT_EQ(counts.byWidth[unsigned(Class::LDSWrite)],
            (std::map<unsigned, int64_t>{{1, 1}}));
  EXPECT_EQ(counts.byWidth[unsigned(Class::GlobalRead)],
            (std::map<unsigned, int64_t>{{2, 1}, {16, 2}}));
  EXPECT_EQ(counts.byWidth[unsigned(Class::GlobalWrite)],
            (std::map<unsigned, int64_t>{{2, 1}}));
  EXPECT_EQ(counts.byWidth[unsigned(Class::AsyncCopy)],
            (std::map<unsigned, int64_t>{{4, 1}}));
  EXPECT_EQ(counts.byWidth[unsigned(Class::ScratchRead)],
            (std::map<unsigned, int64_t>{{8, 1}}));
  EXPECT_EQ(counts.getNarrowAccesses(), 4);
}

// The steady loop's rare block lies behind the function's end and jumps back:
// it belongs to the loop, and is no loop of its own.
/// gfx12 counts loads, and reads of workgroup memory, apart.
TEST(AMDInstructions, DrainingWaits) {
  EXPECT_EQ(countAMD("\ts_waitcnt vmcnt(0) lgkmcnt(1)\n"
                     "\ts_wait_loadcnt 0x0\n"
                     "\ts_wait_loadcnt_dscnt 0x2\n")
                .drainingWaits,
            3);
  EXPECT_EQ(countAMD("\ts_waitcnt lgkmcnt(0)\n"
                     "\ts_wait_loadcnt 0x1\n"
                     "\ts_wait_loadcnt_dscnt 0x100\n"
                     "\ts_wait_dscnt 0x0\n")
                .drainingWaits,
            0);
}

TEST(HotLoop, FollowsJumps) {
  KernelReport report;
  report.name = "k";
  countAMDInstructions("\nk:\n"
                       "\tv_mov_b32_e32 v0, 0\n"
                       ".LBB0_1:\n"
                       "\tv_mfma_f32_32x32x8_bf16 v[0:15], a, b, v[0:15]\n"
                       "\ts_waitcnt vmcnt(0)\n"
                       "\tglobal_load_dword v0, v[4:5], off\n"
                       "\ts_cbranch_vccnz .LBB0_4\n"
                       ".LBB0_2:\n"
                       "\tv_exp_f32_e32 v0, v1\n"
                       "\ts_cbranch_scc1 .LBB0_1\n"
                       "\tv_mul_f32_e32 v0, v1, v2\n"
                       ".LBB0_3:\n"
                       "\tv_add_f32_e32 v0, v1, v2\n"
                       "\ts_cbranch_scc1 .LBB0_3\n"
                       "\ts_endpgm\n"
                       ".LBB0_4:\n"
                       "\tv_pk_mul_f32 v[0:1], v[2:3], v[4:5]\n"
                       "\ts_branch .LBB0_2\n"
                       ".Lfunc_end0:\n",
                       report);
  ASSERT_TRUE(report.hotLoop);
  EXPECT_EQ(report.hotLoop->get(Class::Matrix), 1);
  EXPECT_EQ(report.hotLoop->get(Class::Transcendental), 1);
  EXPECT_EQ(report.hotLoop->get(Class::Packed), 1);
  EXPECT_EQ(report.hotLoop->get(Class::Vector), 0);
  EXPECT_EQ(report.hotLoop->drainingWaits, 1);
  EXPECT_EQ(report.hotLoop->getTotal(), 8);
  EXPECT_EQ(report.whole.getTotal(), 13);
}

TEST(HotLoop, IsInnermostAndLongest) {
  KernelReport report;
  report.name = "k";
  countAMDInstructions("\nk:\n"
                       ".LBB0_1:\n"
                       "\tv_add_f32_e32 v0, v1, v2\n"
                       ".LBB0_2:\n"
                       "\tv_mul_f32_e32 v0, v1, v2\n"
                       "\tv_mul_f32_e32 v0, v1, v2\n"
                       "\ts_cbranch_scc1 .LBB0_2\n"
                       ".LBB0_3:\n"
                       "\tv_exp_f32_e32 v0, v1\n"
                       "\ts_cbranch_scc1 .LBB0_3\n"
                       "\ts_cbranch_scc1 .LBB0_1\n"
                       "\ts_endpgm\n"
                       ".Lfunc_end0:\n",
                       report);
  ASSERT_TRUE(report.hotLoop);
  EXPECT_EQ(report.hotLoop->getTotal(), 3);
  EXPECT_EQ(report.hotLoop->get(Class::Vector), 2);
}

TEST(HotLoop, IsAbsentInStraightCode) {
  KernelReport report;
  report.name = "k";
  countAMDInstructions("\nk:\n\ts_cbranch_scc1 .LBB0_1\n\ts_nop 0\n"
                       ".LBB0_1:\n\ts_endpgm\n.Lfunc_end0:\n",
                       report);
  EXPECT_FALSE(report.hotLoop);
  EXPECT_EQ(report.whole.getTotal(), 3);
}

TEST(PTXInstructions, ClassesWidthsAndLoop) {
  KernelReport report;
  report.name = "k";
  countPTXInstructions(
      "\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n.reqntid 128\n{\n"
      "\t.reg .b32 %r<4>;\n"
      "\tld.param.b64 %rd1, [k_param_0];\n"
      "$L__BB0_1:                  // =>This Inner Loop Header: Depth=1\n"
      "\tcp.async.cg.shared.global [%rd1], [%rd2], 16;\n"
      "\tcp.async.commit_group;\n"
      "\tcp.async.wait_group 0;\n"
      "\tbar.sync 0;\n"
      "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, "
      "[%rd1];\n"
      "\tld.shared.v2.b16 {%rs1, %rs2}, [%rd1];\n"
      "\tmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32\n"
      "\t\t{%r1, %r2, %r3, %r4},\n\t\t{%r5, %r6};\n"
      "\tex2.approx.ftz.f32 %f1, %f2;\n"
      "\tshfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;\n"
      "\t@%p1 ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];\n"
      "\tst.global.b16 [%rd1], %rs1;\n"
      "\tfma.rn.f32 %f1, %f2, %f3, %f4;\n"
      "\tmov.b32 %r1, %r2;\n"
      "\t@%p1 bra \t$L__BB0_1;\n"
      "\tret;\n}\n",
      report);
  ASSERT_TRUE(report.hotLoop);
  const InstructionCounts &loop = *report.hotLoop;
  EXPECT_EQ(loop.get(Class::Matrix), 1);
  EXPECT_EQ(loop.get(Class::Transcendental), 1);
  EXPECT_EQ(loop.get(Class::Exchange), 1);
  EXPECT_EQ(loop.get(Class::Vector), 1);
  EXPECT_EQ(loop.get(Class::Barrier), 1);
  EXPECT_EQ(loop.get(Class::Branch), 1);
  EXPECT_EQ(loop.get(Class::ScalarMemory), 0);
  EXPECT_EQ(loop.drainingWaits, 1);
  EXPECT_EQ(loop.byWidth[unsigned(Class::LDSRead)],
            (std::map<unsigned, int64_t>{{4, 1}, {16, 1}}));
  EXPECT_EQ(loop.byWidth[unsigned(Class::GlobalRead)],
            (std::map<unsigned, int64_t>{{16, 1}}));
  EXPECT_EQ(loop.byWidth[unsigned(Class::AsyncCopy)],
            (std::map<unsigned, int64_t>{{16, 1}}));
  EXPECT_EQ(loop.getNarrowAccesses(), 1);
  EXPECT_EQ(report.whole.get(Class::ScalarMemory), 1);
}

TEST(Findings, NameWhatIsWrong) {
  KernelReport report;
  EXPECT_TRUE(report.getFindings().empty());
  report.scratchBytes = 8;
  report.spilledRegisters = 2;
  report.idealMatrix = 16;
  report.hotLoop.emplace();
  report.hotLoop->byClass[unsigned(Class::Matrix)] = 20;
  report.hotLoop->byClass[unsigned(Class::GlobalRead)] = 1;
  report.hotLoop->byWidth[unsigned(Class::GlobalRead)][2] = 1;
  report.hotLoop->drainingWaits = 1;
  EXPECT_EQ(report.getFindings(),
            (std::vector<std::string>{
                "8 bytes of scratch a lane", "2 registers spilled",
                "1 accesses of at most 2 bytes in the hot loop",
                "1 waits in the hot loop drain all outstanding loads",
                "the hot loop holds 20 matrix instructions, no multiple of the "
                "ideal 16"}));
  // A loop of one stage waits for what it has just issued.
  report.stages = 1;
  EXPECT_EQ(report.getFindings().size(), 4u);
  report.stages = 2;
  EXPECT_EQ(report.getFindings().size(), 5u);
  // An unrolled loop holds a multiple.
  report.hotLoop->byClass[unsigned(Class::Matrix)] = 32;
  EXPECT_EQ(report.getFindings().size(), 4u);
}
