//===- MemoryTest.cpp - Accesses that nothing orders, and buffers ---------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

using namespace mlir::evoformer::sim;

namespace {

/// Runs a kernel of thread number %t, buffer %out of one word a thread of the
/// launch, and LDS %p with the thread's word %pw; the texts of its findings.
std::vector<std::string> findings(llvm::StringRef chip, const std::string &body,
                                  unsigned block, unsigned grid = 1,
                                  uint64_t seed = 0) {
  bool isAMD = chip.starts_with("gfx");
  TestKernel kernel(chip, "%out: !llvm.ptr<1>",
                    std::string(
                        isAMD ? "  %t = rocdl.workitem.id.x : i32\n"
                                "  %b = rocdl.workgroup.id.x : i32\n"
                              : "  %t = nvvm.read.ptx.sreg.tid.x : i32\n"
                                "  %b = nvvm.read.ptx.sreg.ctaid.x : i32\n") +
                        R"(
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %pw = llvm.getelementptr %p[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %po = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %last = llvm.mlir.constant()" +
                        std::to_string(block - 1) + R"( : i32) : i32
  %u = llvm.sub %last, %t : i32
  %pu = llvm.getelementptr %out[%u] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
)" + body + "\n  llvm.return",
                    "llvm.mlir.global internal @lds() {addr_space = 3 : i32} : "
                    "!llvm.array<256 x i32>");
  std::vector<int32_t> out(size_t(block) * grid);
  kernel.add(out, true);
  kernel.launch.buffers[0].mustBeWritten = false;
  kernel.launch.block = {block, 1, 1};
  kernel.launch.grid = {grid, 1, 1};
  kernel.launch.seed = seed;
  std::vector<std::string> texts;
  for (const Finding &f : kernel.run().findings)
    texts.push_back(f.text);
  return texts;
}

void expectOne(const std::vector<std::string> &texts, llvm::StringRef words) {
  ASSERT_EQ(texts.size(), 1u) << (texts.empty() ? "" : texts.back());
  EXPECT_NE(texts[0].find(words.str()), std::string::npos) << texts[0];
}

/// Who reads and who overwrites may both be found.
void expectAll(const std::vector<std::string> &texts, llvm::StringRef words) {
  bool found = false;
  for (const std::string &text : texts) {
    EXPECT_EQ(text.find("race on global memory"), 0u) << text;
    found |= text.find(words.str()) != std::string::npos;
  }
  EXPECT_TRUE(found) << (texts.empty() ? "" : texts[0]);
}

/// Subgroups of one workgroup need a barrier in global memory, too.
TEST(Race, SubgroupsOnGlobalMemory) {
  auto readsBack = [](const char *barrier) {
    return std::string("llvm.store %t, %po : i32, !llvm.ptr<1>\n") + barrier +
           "\n%v = llvm.load %pu : !llvm.ptr<1> -> i32";
  };
  for (uint64_t seed = 1; seed < 4; ++seed)
    expectAll(findings("gfx942", readsBack(""), 128, 1, seed),
              "since the last barrier");
  expectAll(findings("gfx942", readsBack(""), 128),
            "race on global memory: reads what subgroup 0 wrote since the last "
            "barrier; operation 'llvm.load'");
  EXPECT_TRUE(findings("gfx942", readsBack("rocdl.barrier"), 128).empty());
  EXPECT_TRUE(findings("gfx942", readsBack(""), 64).empty());
  auto overwrites = [](const char *barrier) {
    return std::string("%v = llvm.load %pu : !llvm.ptr<1> -> i32\n") + barrier +
           "\nllvm.store %t, %po : i32, !llvm.ptr<1>";
  };
  expectAll(findings("sm_80", overwrites(""), 64),
            "overwrites what subgroup 0 read since the last barrier");
  EXPECT_TRUE(findings("sm_80", overwrites("nvvm.barrier0"), 64).empty());
}

/// An atomic update and a plain access race, in either order; atomic updates
/// among themselves do not.
TEST(Race, AtomicUpdatesOfGlobalMemory) {
  auto body = [](int atomicGroup, const char *plain) {
    return "%g = llvm.mlir.constant(" + std::to_string(atomicGroup) +
           " : i32) : i32\n"
           "%isAtomic = llvm.icmp \"eq\" %b, %g : i32\n"
           "llvm.cond_br %isAtomic, ^atomic, ^plain\n"
           "^atomic:\n"
           "%a = llvm.atomicrmw add %out, %one monotonic : !llvm.ptr<1>, i32\n"
           "llvm.br ^end\n"
           "^plain:\n" +
           plain + "\nllvm.br ^end\n^end:";
  };
  const char *store = "llvm.store %t, %out : i32, !llvm.ptr<1>",
             *load = "%v = llvm.load %out : !llvm.ptr<1> -> i32",
             *atomic = "%c = llvm.atomicrmw add %out, %one monotonic : "
                       "!llvm.ptr<1>, i32";
  for (int group = 0; group < 2; ++group) {
    expectOne(findings("gfx942", body(group, store), 1, 2),
              "race on global memory: overwrites what workgroup 0 wrote");
    expectOne(findings("gfx942", body(group, load), 1, 2),
              group == 0 ? "reads what workgroup 0 wrote"
                         : "overwrites what workgroup 0 read");
    EXPECT_TRUE(findings("gfx942", body(group, atomic), 1, 2).empty());
  }
  // The own update hides none of another workgroup.
  expectAll(findings("gfx942", std::string(atomic) + "\n" + load, 1, 2),
            "reads what several workgroups wrote");
}

TEST(Race, AtomicUpdatesOfLDS) {
  const std::string init =
      "llvm.store %t, %pw : i32, !llvm.ptr<3>\nrocdl.barrier\n";
  const std::string atomic =
      "%a = llvm.atomicrmw add %p, %one monotonic : !llvm.ptr<3>, i32\n";
  const std::string load = "%v = llvm.load %p : !llvm.ptr<3> -> i32\n";
  EXPECT_TRUE(findings("gfx942", init + atomic, 128).empty());
  EXPECT_TRUE(findings("gfx942", init + atomic + load, 64).empty());
  EXPECT_TRUE(findings("gfx942", init + atomic + "rocdl.barrier\n" + load, 128)
                  .empty());
  auto texts = findings("gfx942", init + atomic + load, 128);
  ASSERT_FALSE(texts.empty());
  EXPECT_NE(texts[0].find("race on LDS"), std::string::npos) << texts[0];
}

/// A barrier of gfx12 is as bare as s_barrier.
TEST(Race, HalvesOfBarriers) {
  auto body = [](const char *release, const char *acquire) {
    return "llvm.store %t, %pw : i32, !llvm.ptr<3>\n" + std::string(release) +
           "\nrocdl.s.barrier.signal id = -1\nrocdl.s.barrier.wait id = -1\n" +
           acquire +
           "\n%pr = llvm.getelementptr %p[%u] : (!llvm.ptr<3>, i32) -> "
           "!llvm.ptr<3>, i32\n%v = llvm.load %pr : !llvm.ptr<3> -> i32";
  };
  const char *release = "llvm.fence syncscope(\"workgroup\") release\n"
                        "rocdl.s.wait.dscnt 0",
             *acquire = "llvm.fence syncscope(\"workgroup\") acquire";
  expectOne(findings("gfx1201", body("", acquire), 64), "access not awaited");
  expectOne(findings("gfx1201", body(release, ""), 64), "access not fenced");
  EXPECT_TRUE(findings("gfx1201", body(release, acquire), 64).empty());
}

/// The arrival of a copy is no access of its own after a bare barrier.
TEST(Race, CopyAwaitedBehindBareBarrier) {
  EXPECT_TRUE(findings("gfx942", R"(
  rocdl.global.load.lds %po, %p, 4, 0, 0
  rocdl.s.barrier
  rocdl.s.waitcnt 3952
  rocdl.s.barrier
  llvm.fence syncscope("workgroup") acquire
  %v = llvm.load %pw : !llvm.ptr<3> -> i32)",
                       64)
                  .empty());
}

TEST(Buffer, Misaligned) {
  auto body = [](int offset) {
    return R"(
  %z = llvm.mlir.constant(0 : i16) : i16
  %n = llvm.mlir.constant(256 : i64) : i64
  %f = llvm.mlir.constant(159744 : i32) : i32
  %r = rocdl.make.buffer.rsrc %out, %z, %n, %f : !llvm.ptr<1> to !llvm.ptr<7>
  %q = llvm.getelementptr %r[)" +
           std::to_string(offset) + R"(] : (!llvm.ptr<7>) -> !llvm.ptr<7>, i8
  %v = llvm.load %q {alignment = 4 : i64} : !llvm.ptr<7> -> i32)";
  };
  expectOne(findings("gfx942", body(2), 64),
            "misaligned: the operation promises an alignment of 4");
  EXPECT_TRUE(findings("gfx942", body(4), 64).empty());
  // Out of range nothing is accessed.
  EXPECT_TRUE(findings("gfx942", body(258), 64).empty());
}

/// CDNA takes the scalar offset off the number of records; what is beyond reads
/// as zero.
TEST(Buffer, ScalarOffset) {
  auto loaded = [](llvm::StringRef chip, int scalar) {
    TestKernel kernel(chip, "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>",
                      R"(
  %z = llvm.mlir.constant(0 : i16) : i16
  %n = llvm.mlir.constant(16 : i64) : i64
  %f = llvm.mlir.constant(159744 : i32) : i32
  %r = rocdl.make.buffer.rsrc %in, %z, %n, %f : !llvm.ptr<1> to !llvm.ptr<8>
  %o = llvm.mlir.constant(8 : i32) : i32
  %a = llvm.mlir.constant(0 : i32) : i32
  %s = llvm.mlir.constant()" +
                          std::to_string(scalar) +
                          R"( : i32) : i32
  %v = llvm.call_intrinsic "llvm.amdgcn.raw.ptr.buffer.load.i32"(%r, %o, %s, %a) : (!llvm.ptr<8>, i32, i32, i32) -> i32
  llvm.store %v, %out : i32, !llvm.ptr<1>
  llvm.return)");
    std::vector<int32_t> in = {1, 2, 3, 4, 5, 6, 7, 8}, out(1);
    kernel.add(in);
    kernel.add(out, true);
    kernel.launch.block = {1, 1, 1};
    kernel.runClean();
    return out[0];
  };
  EXPECT_EQ(loaded("gfx942", 4), 4);
  EXPECT_EQ(loaded("gfx942", 8), 0);
  EXPECT_EQ(loaded("gfx1100", 8), 5);
}

/// All lanes in one bank take as many cycles as there are lanes.
TEST(LDS, HighestBankConflict) {
  TestKernel kernel("sm_80", "", R"(
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %c5 = llvm.mlir.constant(5 : i32) : i32
  %i = llvm.shl %t, %c5 : i32
  %pi = llvm.getelementptr %p[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %t, %pi : i32, !llvm.ptr<3>
  llvm.return)",
                    "llvm.mlir.global internal @lds() {addr_space = 3 : i32} : "
                    "!llvm.array<1024 x i32>");
  kernel.launch.bankConflictDegree = 32;
  LaunchResult result = kernel.run();
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_NE(result.findings[0].text.find("degree 32"), std::string::npos);
  EXPECT_EQ(result.counters.ldsCycles, 32u);
}

/// Lanes 32 words apart meet in one bank of 32, and in two of 64.
TEST(LDS, BanksOfTheChip) {
  auto cycles = [](llvm::StringRef chip) {
    TestKernel kernel(chip, "", R"(
  %t = rocdl.workitem.id.x : i32
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %c5 = llvm.mlir.constant(5 : i32) : i32
  %i = llvm.shl %t, %c5 : i32
  %pi = llvm.getelementptr %p[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %t, %pi : i32, !llvm.ptr<3>
  llvm.return)",
                      "llvm.mlir.global internal @lds() {addr_space = 3 : i32} "
                      ": !llvm.array<2048 x i32>");
    LaunchResult result = kernel.run();
    EXPECT_TRUE(result.findings.empty());
    return std::pair(result.counters.ldsCycles, result.counters.ldsIdealCycles);
  };
  EXPECT_EQ(cycles("gfx942"), std::pair(uint64_t(64), uint64_t(2)));
  EXPECT_EQ(cycles("gfx950"), std::pair(uint64_t(32), uint64_t(1)));
}

} // namespace
