//===- FindingTest.cpp - Broken kernels and what is said about them -------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

using namespace mlir::evoformer::sim;

namespace {

const char *ldsWords =
    "llvm.mlir.global internal @lds() {addr_space = 3 : i32} : "
    "!llvm.array<256 x i32>";

struct Broken {
  Broken(llvm::StringRef chip, const std::string &body, unsigned block,
         unsigned grid = 1)
      : kernel(chip, "%out: !llvm.ptr<1>",
               std::string(chip.starts_with("gfx")
                               ? "  %t = rocdl.workitem.id.x : i32\n"
                               : "  %t = nvvm.read.ptx.sreg.tid.x : i32\n") +
                   body + "\n  llvm.return",
               ldsWords),
        out(block * grid, 0) {
    kernel.add(out, true);
    kernel.launch.buffers[0].mustBeWritten = false;
    kernel.launch.block = {block, 1, 1};
    kernel.launch.grid = {grid, 1, 1};
  }

  /// The only kind of finding must be `kind`; its text must hold `words`.
  void expect(FindingKind kind, llvm::StringRef words = "") {
    LaunchResult result = kernel.run();
    ASSERT_FALSE(result.findings.empty()) << "no finding";
    for (const Finding &f : result.findings) {
      EXPECT_EQ(f.kind, kind) << f.text;
      EXPECT_EQ(f.kernel, "k");
      EXPECT_NE(f.location.find("test.mlir"), std::string::npos) << f.text;
    }
    EXPECT_NE(result.findings.front().text.find(words.str()), std::string::npos)
        << result.findings.front().text;
  }

  TestKernel kernel;
  std::vector<int32_t> out;
};

const std::string store = R"(
  %po = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %v, %po : i32, !llvm.ptr<1>
)";
const std::string lds = R"(
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %one = llvm.mlir.constant(1 : i32) : i32
  %pw = llvm.getelementptr %p[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
)";

TEST(Finding, OutOfBounds) {
  Broken b("sm_80", R"(
  %one = llvm.mlir.constant(1 : i32) : i32
  %u = llvm.add %t, %one : i32
  %p = llvm.getelementptr %out[%u] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %t, %p : i32, !llvm.ptr<1>
)",
           32);
  b.expect(FindingKind::OutOfBounds,
           "writes 4 bytes at offset 128 of 'buffer 0', which has 128 bytes; "
           "operation 'llvm.store'");
}

/// Of all lanes of all workgroups one strays.
TEST(Finding, SaysWhere) {
  Broken b("sm_80", R"(
  %b = nvvm.read.ptx.sreg.ctaid.x : i32
  %c2 = llvm.mlir.constant(2 : i32) : i32
  %c37 = llvm.mlir.constant(37 : i32) : i32
  %c1000 = llvm.mlir.constant(1000 : i32) : i32
  %c64 = llvm.mlir.constant(64 : i32) : i32
  %first = llvm.mul %b, %c64 : i32
  %i = llvm.add %first, %t : i32
  %isB = llvm.icmp "eq" %b, %c2 : i32
  %isT = llvm.icmp "eq" %t, %c37 : i32
  %strays = llvm.and %isB, %isT : i1
  %j = llvm.select %strays, %c1000, %i : i1, i32
  %p = llvm.getelementptr %out[%j] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %t, %p : i32, !llvm.ptr<1>
)",
           64, /*grid=*/3);
  LaunchResult result = b.kernel.run();
  ASSERT_EQ(result.findings.size(), 1u);
  const Finding &f = result.findings[0];
  EXPECT_EQ(f.kind, FindingKind::OutOfBounds);
  EXPECT_EQ(f.operation, "llvm.store");
  EXPECT_NE(f.location.find("test.mlir"), std::string::npos) << f.location;
  EXPECT_EQ(f.kernel, "k");
  EXPECT_EQ(f.workgroup, (std::array<uint32_t, 3>{2, 0, 0}));
  EXPECT_EQ(f.subgroup, 1u);
  EXPECT_EQ(f.lane, 5u);
  EXPECT_EQ(f.address, reinterpret_cast<uint64_t>(b.out.data() + 1000));
  EXPECT_EQ(f.count, 1u);
  EXPECT_NE(f.text.find("workgroup (2, 0, 0), subgroup 1, lane 5, address 0x"),
            std::string::npos)
      << f.text;
}

TEST(Finding, OutOfBoundsOfLDS) {
  Broken b("gfx942", lds + R"(
  %far = llvm.getelementptr %p[256] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
  llvm.store %t, %far : i32, !llvm.ptr<3>
)",
           64);
  b.expect(FindingKind::OutOfBounds, "offset 1024 of LDS, which has 1024");
}

TEST(Finding, Misaligned) {
  Broken b("sm_80", R"(
  %p = llvm.getelementptr %out[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
  %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<1> -> i32
)",
           2);
  b.expect(FindingKind::Misaligned, "the operation promises an alignment of 4");
}

TEST(Finding, UnwrittenLDS) {
  Broken b("gfx942",
           lds + "  %v = llvm.load %pw : !llvm.ptr<3> -> i32\n" + store, 64);
  b.expect(FindingKind::UnwrittenLDS, "reads LDS that nothing has written");
}

/// Without the barrier the neighbour in the next subgroup races.
TEST(Finding, RaceOnLDS) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Broken b("gfx1100", lds + R"(
  %last = llvm.mlir.constant(63 : i32) : i32
  %z = llvm.mlir.constant(0 : i32) : i32
  llvm.store %z, %pw : i32, !llvm.ptr<3>
  rocdl.barrier
  llvm.store %t, %pw : i32, !llvm.ptr<3>
  %u = llvm.sub %last, %t : i32
  %pr = llvm.getelementptr %p[%u] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %v = llvm.load %pr : !llvm.ptr<3> -> i32
)" + store,
             64);
    b.kernel.launch.seed = seed;
    b.expect(FindingKind::LDSRace, "accessed since the last barrier");
  }
}

/// Lanes that drop what they loaded read anywhere without harm; the same load
/// is a race as soon as one lane keeps a value.
TEST(Finding, DroppedValuesDoNotRace) {
  auto body = [](const char *limit) {
    return lds + R"(
  %z = llvm.mlir.constant(0 : i32) : i32
  %c32 = llvm.mlir.constant(32 : i32) : i32
  llvm.store %t, %pw : i32, !llvm.ptr<3>
  %limit = llvm.mlir.constant()" +
           limit + R"( : i32) : i32
  %own = llvm.icmp "ult" %t, %limit : i32
  %u = llvm.select %own, %t, %z : i1, i32
  %pr = llvm.getelementptr %p[%u] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %w = llvm.load %pr : !llvm.ptr<3> -> i32
  %v = llvm.select %own, %w, %c32 : i1, i32
)" + store;
  };
  Broken harmless("sm_80", body("40"), 64);
  EXPECT_TRUE(harmless.kernel.run().findings.empty());
  for (int k = 0; k < 64; ++k)
    EXPECT_EQ(harmless.out[k], k < 40 ? k : 32);
  std::string kept = body("40");
  kept.replace(kept.find("%v = llvm.select"), std::string::npos,
               "%v = llvm.add %w, %z : i32\n" + store);
  Broken race("sm_80", kept, 64);
  race.expect(FindingKind::LDSRace);
}

TEST(Finding, WriteAfterReadRace) {
  Broken b("sm_80", lds + R"(
  llvm.store %t, %pw : i32, !llvm.ptr<3>
  nvvm.barrier0
  %last = llvm.mlir.constant(63 : i32) : i32
  %u = llvm.sub %last, %t : i32
  %pr = llvm.getelementptr %p[%u] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %v = llvm.load %pr : !llvm.ptr<3> -> i32
  llvm.store %one, %pw : i32, !llvm.ptr<3>
)" + store,
           64);
  b.expect(FindingKind::LDSRace);
}

TEST(Finding, AccessNotAwaited) {
  Broken b("gfx942", lds + R"(
  llvm.store %t, %pw : i32, !llvm.ptr<3>
  rocdl.s.barrier
  llvm.fence syncscope("workgroup") acquire
  %v = llvm.load %pw : !llvm.ptr<3> -> i32
)" + store,
           128);
  b.expect(FindingKind::AccessNotAwaited,
           "LDS accesses of this subgroup are not fenced and then waited for "
           "before the barrier");
}

TEST(Finding, ReadAcrossRowsNotAwaited) {
  Broken b("gfx950", lds + R"(
  llvm.store %t, %pw : i32, !llvm.ptr<3>
  llvm.fence syncscope("workgroup") release
  rocdl.s.waitcnt 49279
  rocdl.s.barrier
  llvm.fence syncscope("workgroup") acquire
  %c63 = llvm.mlir.constant(63 : i32) : i32
  %l = llvm.and %t, %c63 : i32
  %pr = llvm.getelementptr %p[%l] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
  %r = llvm.call_intrinsic "llvm.amdgcn.ds.read.tr16.b64.v4i16"(%pr) : (!llvm.ptr<3>) -> vector<4xi16>
  rocdl.s.barrier
  %w = llvm.bitcast %r : vector<4xi16> to vector<2xi32>
  %z = llvm.mlir.constant(0 : i32) : i32
  %v = llvm.extractelement %w[%z : i32] : vector<2xi32>
)" + store,
           128);
  b.expect(FindingKind::AccessNotAwaited,
           "LDS accesses of this subgroup are not fenced and then waited for "
           "before the barrier");
}

/// The code generator may drop the wait that it makes of a fence, and without a
/// fence an access may move behind the wait.
TEST(Finding, AccessFencedOrAwaited) {
  auto body = [](const char *between) {
    return lds + "  llvm.store %t, %pw : i32, !llvm.ptr<3>\n" + between + R"(
  rocdl.s.barrier
  llvm.fence syncscope("workgroup") acquire
  %v = llvm.load %pw : !llvm.ptr<3> -> i32
)" + store;
  };
  const std::string fence = "llvm.fence syncscope(\"workgroup\") release\n",
                    wait = "rocdl.s.waitcnt 49279\n";
  Broken fenced("gfx942", body(fence.c_str()), 128);
  fenced.expect(FindingKind::AccessNotAwaited,
                "LDS accesses of this subgroup are fenced, but not waited for "
                "before the barrier");
  for (const std::string &between : {wait, wait + fence}) {
    Broken awaited("gfx942", body(between.c_str()), 128);
    awaited.expect(FindingKind::AccessNotAwaited);
  }
  Broken both("gfx942", body((fence + wait).c_str()), 128);
  EXPECT_TRUE(both.kernel.run().findings.empty());
}

const std::string copy = lds + R"(
  %pg = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  nvvm.cp.async.shared.global %pw, %pg, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
)";

TEST(Finding, CopyNotAwaited) {
  for (CopyLanding landing : {CopyLanding::AtWait, CopyLanding::AtIssue}) {
    Broken b("sm_80", copy + R"(
  nvvm.cp.async.wait.group 1
  nvvm.barrier0
  %v = llvm.load %pw : !llvm.ptr<3> -> i32
)" + store,
             32);
    b.kernel.launch.landing = landing;
    b.expect(FindingKind::CopyNotAwaited,
             "reads LDS bytes of an asynchronous copy that nothing has waited "
             "for");
  }
}

/// The same of loads, which another subgroup's store might overtake.
TEST(Finding, LoadNotAwaited) {
  Broken b("gfx942", lds + R"(
  llvm.store %t, %pw : i32, !llvm.ptr<3>
  rocdl.barrier
  %v = llvm.load %pw : !llvm.ptr<3> -> i32
  rocdl.s.barrier
)" + store,
           128);
  b.expect(FindingKind::AccessNotAwaited);
}

/// A bare barrier keeps no load behind it.
TEST(Finding, AccessNotFenced) {
  auto body = [](const char *fence) {
    return lds + R"(
  llvm.store %t, %pw : i32, !llvm.ptr<3>
  llvm.fence syncscope("workgroup") release
  rocdl.s.waitcnt 49279
  rocdl.s.barrier
)" + fence +
           R"(
  %v = llvm.load %pw : !llvm.ptr<3> -> i32
)" + store;
  };
  Broken missing("gfx942", body(""), 128);
  missing.expect(FindingKind::AccessNotFenced,
                 "accesses LDS after a bare barrier; without a fence that "
                 "acquires, nothing keeps the access behind it");
  Broken wrong("gfx942", body("llvm.fence syncscope(\"workgroup\") release"),
               128);
  wrong.expect(FindingKind::AccessNotFenced);
  Broken right("gfx942", body("llvm.fence syncscope(\"workgroup\") acquire"),
               128);
  EXPECT_TRUE(right.kernel.run().findings.empty());
}

/// One wgmma with eight columns in LDS, of 32 bytes each.
static std::string groupProduct(const std::string &beforeBarrier,
                                const std::string &behindBarrier,
                                const std::string &descriptor) {
  return lds + R"(
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.store %zero, %pw : i32, !llvm.ptr<3>
)" + beforeBarrier +
         "\n  nvvm.barrier0\n" + behindBarrier + R"(
  %start = llvm.ptrtoint %p : !llvm.ptr<3> to i32
  %four = llvm.mlir.constant(4 : i32) : i32
  %unit = llvm.lshr %start, %four : i32
  %wide = llvm.zext %unit : i32 to i64
)" + descriptor +
         R"(
  %s = llvm.inline_asm has_side_effects "{\0A.reg .pred add;\0Awgmma.fence.sync.aligned;\0Asetp.ne.b32 add, 0, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$4, $5, $6, $7}, $8, add, 1, 1, 0;\0Awgmma.commit_group.sync.aligned;\0Awgmma.wait_group.sync.aligned 0;\0A}", "=f,=f,=f,=f,r,r,r,r,l,~{memory}" %zero, %zero, %zero, %zero, %d : (i32, i32, i32, i32, i64) -> !llvm.struct<(f32, f32, f32, f32)>
  %s0 = llvm.extractvalue %s[0] : !llvm.struct<(f32, f32, f32, f32)>
  %v = llvm.bitcast %s0 : f32 to i32
)" + store;
}

/// Rows of 32 bytes, swizzled, eight of them 256 bytes apart.
const std::string descriptor = R"(
  %facts = llvm.mlir.constant(-4611685949707911168 : i64) : i64
  %d = llvm.or %wide, %facts : i64
)";
const std::string proxyFence =
    R"(llvm.inline_asm has_side_effects "fence.proxy.async.shared::cta;", "~{memory}" : () -> ())";

/// What lanes wrote is handed to the instruction before the barrier.
TEST(Finding, GroupProductNotFenced) {
  Broken right("sm_90", groupProduct(proxyFence, "", descriptor), 128);
  LaunchResult result = right.kernel.run();
  EXPECT_TRUE(result.findings.empty()) << result.findings.front().text;
  EXPECT_EQ(result.counters.matrix, 4u);
  Broken missing("sm_90", groupProduct("", "", descriptor), 128);
  missing.expect(FindingKind::AccessNotFenced,
                 "wrote; no proxy fence of its, and then a barrier, are "
                 "between");
  Broken late("sm_90", groupProduct("", proxyFence, descriptor), 128);
  late.expect(FindingKind::AccessNotFenced);
}

/// A descriptor that is none of the known ones, and one that lanes do not agree
/// on.
TEST(Finding, GroupProductDescriptors) {
  Broken plain("sm_90", groupProduct(proxyFence, "", R"(
  %facts = llvm.mlir.constant(68719476736 : i64) : i64
  %d = llvm.or %wide, %facts : i64
)"),
               128);
  plain.expect(FindingKind::Misaligned,
               "a matrix descriptor without a swizzle, or with a base "
               "offset");
  Broken differs("sm_90", groupProduct(proxyFence, "", R"(
  %facts = llvm.mlir.constant(-4611685949707911168 : i64) : i64
  %all = llvm.or %wide, %facts : i64
  %lane = llvm.zext %t : i32 to i64
  %unitless = llvm.mlir.constant(4 : i64) : i64
  %group = llvm.lshr %lane, %unitless : i64
  %d = llvm.add %all, %group : i64
)"),
                 128);
  differs.expect(FindingKind::DivergentOperation,
                 "a matrix descriptor differs between lanes");
}

/// Awaited by the issuing subgroup, but no barrier before others read.
TEST(Finding, CopyWithoutBarrier) {
  Broken b("sm_80", copy + R"(
  nvvm.cp.async.wait.group 0
  %c32 = llvm.mlir.constant(32 : i32) : i32
  %u = llvm.xor %t, %c32 : i32
  %pr = llvm.getelementptr %p[%u] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %low = llvm.icmp "ult" %u, %c32 : i32
  llvm.cond_br %low, ^read, ^end
^read:
  %v = llvm.load %pr : !llvm.ptr<3> -> i32
  %po = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %v, %po : i32, !llvm.ptr<1>
  llvm.br ^end
^end:
)",
           64);
  b.expect(FindingKind::CopyNotAwaited,
           "LDS bytes of an asynchronous copy that was waited for, but no "
           "barrier follows the wait");
}

/// Nor before the issuing subgroup itself reads.
TEST(Finding, OwnCopyWithoutBarrier) {
  auto body = [](const char *barrier) {
    return copy + "nvvm.cp.async.wait.group 0\n" + barrier +
           "%v = llvm.load %pw : !llvm.ptr<3> -> i32\n" + store;
  };
  Broken missing("sm_80", body(""), 32);
  missing.expect(FindingKind::CopyNotAwaited, "no barrier follows the wait");
  Broken right("sm_80", body("nvvm.barrier0\n"), 32);
  EXPECT_TRUE(right.kernel.run().findings.empty());
}

TEST(Finding, LoadToLDSNeedsWaitAndBarrier) {
  auto body = [](const char *wait) {
    return lds + R"(
  %pg = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  rocdl.global.load.lds %pg, %p, 4, 0, 0
)" + wait + R"(
  rocdl.barrier
  %v = llvm.load %pw : !llvm.ptr<3> -> i32
)" + store;
  };
  Broken missing("gfx942", body(""), 64);
  missing.expect(FindingKind::CopyNotAwaited);
  Broken lax("gfx942", body("rocdl.s.waitcnt 3953"), 64); // vmcnt(1)
  lax.expect(FindingKind::CopyNotAwaited);
  Broken right("gfx942", body("rocdl.s.waitcnt 3952"), 64); // vmcnt(0)
  for (int k = 0; k < 64; ++k)
    right.out[k] = k * k;
  EXPECT_TRUE(right.kernel.run().findings.empty());
  for (int k = 0; k < 64; ++k)
    EXPECT_EQ(right.out[k], k * k);
}

TEST(Finding, DivergentBarrier) {
  Broken b("sm_80", R"(
  %c7 = llvm.mlir.constant(7 : i32) : i32
  %low = llvm.icmp "ult" %t, %c7 : i32
  llvm.cond_br %low, ^a, ^b
^a:
  nvvm.barrier0
  llvm.br ^b
^b:
)",
           32);
  b.expect(FindingKind::DivergentBarrier,
           "the barrier is reached by some lanes of the subgroup only; this "
           "lane is elsewhere");
}

TEST(Finding, Deadlock) {
  Broken b("sm_80", R"(
  %c32 = llvm.mlir.constant(32 : i32) : i32
  %low = llvm.icmp "ult" %t, %c32 : i32
  llvm.cond_br %low, ^a, ^b
^a:
  %one = llvm.mlir.constant(1 : i32) : i32
  nvvm.barrier id = %one number_of_threads = %n
  llvm.br ^b
^b:
)",
           64);
  b.kernel.text.replace(b.kernel.text.find("  %one ="), 0,
                        "  %n = llvm.mlir.constant(64 : i32) : i32\n");
  b.expect(FindingKind::Deadlock, "the subgroup waits at barrier 1 for others");
}

TEST(Finding, EndlessLoop) {
  Broken b("sm_80", "  llvm.br ^a\n^a:\n  llvm.br ^a\n^b:\n", 32);
  b.kernel.launch.maxBlocksPerSubgroup = 1000;
  b.expect(FindingKind::Deadlock, "the subgroup does not end: it executed the "
                                  "largest number of blocks allowed");
}

TEST(Finding, DivergentMatrixOperation) {
  Broken b("gfx1100", R"(
  %z = llvm.mlir.zero : vector<16xf16>
  %c = llvm.mlir.zero : vector<8xf32>
  %d = llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.f16"(%z, %z, %c) : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
)",
           16);
  b.expect(FindingKind::DivergentOperation,
           "a matrix operation needs all lanes of the subgroup");
}

TEST(Finding, OperandNotReplicated) {
  Broken b("gfx1100", R"(
  %z = llvm.mlir.zero : vector<8xi32>
  %i = llvm.mlir.constant(3 : i32) : i32
  %x = llvm.insertelement %t, %z[%i : i32] : vector<8xi32>
  %a = llvm.bitcast %x : vector<8xi32> to vector<16xf16>
  %b = llvm.mlir.zero : vector<16xf16>
  %c = llvm.mlir.zero : vector<8xf32>
  %d = llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.f16"(%a, %b, %c) : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
)",
           32);
  b.expect(FindingKind::OperandNotReplicated,
           "lanes 0 and 16 hold different elements of");
}

TEST(Finding, RaceBetweenWorkgroups) {
  Broken b("sm_80", R"(
  %p = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %t, %p : i32, !llvm.ptr<1>
)",
           32, 2);
  b.expect(FindingKind::GlobalRace, "workgroup 0");
}

/// A read of what another workgroup writes later is a race as well, in
/// whichever order they run.
TEST(Finding, ReadBeforeWriteOfAnotherWorkgroup) {
  for (unsigned writer = 0; writer < 2; ++writer) {
    Broken b("sm_80",
             R"(
  %b = nvvm.read.ptx.sreg.ctaid.x : i32
  %w = llvm.mlir.constant()" +
                 std::to_string(writer) + R"( : i32) : i32
  %writes = llvm.icmp "eq" %b, %w : i32
  %p = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.cond_br %writes, ^write, ^read
^write:
  llvm.store %t, %p : i32, !llvm.ptr<1>
  llvm.return
^read:
  %v = llvm.load %p : !llvm.ptr<1> -> i32
)",
             32, 2);
    b.kernel.launch.threads = 1;
    b.expect(FindingKind::GlobalRace, "in this launch");
  }
}

TEST(Finding, UnwrittenOutput) {
  Broken b("sm_80", R"(
  %one = llvm.mlir.constant(1 : i32) : i32
  %u = llvm.shl %t, %one : i32
  %h = llvm.trunc %t : i32 to i16
  %p = llvm.getelementptr %out[%u] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i16
  llvm.store %h, %p : i16, !llvm.ptr<1>
)",
           32);
  b.kernel.launch.buffers[0].mustBeWritten = true;
  b.expect(FindingKind::UnwrittenOutput,
           "64 of 128 bytes of 'buffer 0' stay unwritten, the first at offset "
           "2");
}

TEST(Finding, DivisionByZero) {
  Broken b("sm_80", "  %v = llvm.udiv %t, %t : i32\n" + store, 32);
  b.expect(FindingKind::DivisionByZero, "lane 0");
}

TEST(Finding, UndefinedShift) {
  Broken b("gfx942", "  %v = llvm.lshr %t, %t : i32\n" + store, 64);
  b.expect(FindingKind::UndefinedShift,
           "shifts 32 bits by 32; operation 'llvm.lshr'");
}

/// What an earlier workgroup left in LDS is no value to rely on.
TEST(Finding, StaleLDS) {
  Broken b("sm_80", lds + R"(
  %b = nvvm.read.ptx.sreg.ctaid.x : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %first = llvm.icmp "eq" %b, %zero : i32
  llvm.cond_br %first, ^write, ^read
^write:
  llvm.store %t, %pw : i32, !llvm.ptr<3>
  llvm.br ^read
^read:
  %v = llvm.load %pw : !llvm.ptr<3> -> i32
  %c32 = llvm.mlir.constant(32 : i32) : i32
  %base = llvm.mul %b, %c32 : i32
  %g = llvm.add %base, %t : i32
  %po = llvm.getelementptr %out[%g] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %v, %po : i32, !llvm.ptr<1>
)",
           32, 2);
  b.kernel.launch.threads = 1;
  LaunchResult result = b.kernel.run();
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, FindingKind::UnwrittenLDS);
  EXPECT_EQ(result.findings[0].workgroup[0], 1u);
  EXPECT_EQ(b.out[5], 5);
  EXPECT_EQ(b.out[37], -1);
}

/// Lane l stores word stride * l.
TEST(Finding, BankConflict) {
  auto run = [](const char *stride, unsigned limit) {
    Broken b("sm_80",
             lds + "  %s = llvm.mlir.constant(" + stride + R"( : i32) : i32
  %i = llvm.mul %t, %s : i32
  %ps = llvm.getelementptr %p[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %t, %ps : i32, !llvm.ptr<3>
)",
             32);
    b.kernel.launch.bankConflictDegree = limit;
    return b.kernel.run();
  };
  LaunchResult result = run("4", 2);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, FindingKind::BankConflict);
  EXPECT_NE(result.findings[0].text.find(
                "degree 4: lanes 0 to 31 need so many words of one bank"),
            std::string::npos)
      << result.findings[0].text;
  EXPECT_EQ(result.counters.ldsCycles, 4u);
  EXPECT_EQ(result.counters.ldsIdealCycles, 1u);
  EXPECT_TRUE(run("4", 5).findings.empty());
  EXPECT_TRUE(run("4", 0).findings.empty());
  EXPECT_TRUE(run("1", 2).findings.empty());
  EXPECT_TRUE(run("7", 2).findings.empty());
  EXPECT_EQ(run("8", 2).counters.ldsCycles, 8u);
}

TEST(Finding, NonFinite) {
  auto run = [](const char *body, bool find = true) {
    Broken b("sm_80", std::string(R"(
  %big = llvm.mlir.constant(3.0e+38 : f32) : f32
  %zero = llvm.mlir.constant(0.0 : f32) : f32
  %none = llvm.mlir.constant(0xFF800000 : f32) : f32
  %f = llvm.uitofp %t : i32 to f32
)") + body + R"(
  %v = llvm.bitcast %r : f32 to i32
)" + store,
             32);
    b.kernel.launch.findNonFinite = find;
    return b.kernel.run().findings;
  };
  const char *overflow = "%r = llvm.fmul %f, %big : f32";
  std::vector<Finding> findings = run(overflow);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::NonFinite);
  EXPECT_EQ(findings[0].lane, 2u);
  EXPECT_EQ(findings[0].count, 30u);
  EXPECT_TRUE(run(overflow, false).empty());
  // -inf that was there before is none; its difference is NaN.
  EXPECT_TRUE(run("%r = llvm.fadd %none, %f : f32").empty());
  findings = run("%r = llvm.fsub %none, %none : f32");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].text.find("the result is NaN, but no operand is"),
            std::string::npos);
  EXPECT_EQ(run("%r = llvm.call_intrinsic \"llvm.nvvm.rcp.approx.ftz.f\"(%f) "
                ": (f32) -> f32")
                .size(),
            1u);
}

/// A copy that nobody awaits lands by the seed: late under seed 0, drawn copy
/// by copy under others. The finding is the same.
TEST(Finding, CopiesLandBySeed) {
  unsigned early = 0, late = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Broken b("sm_80", copy + R"(
  nvvm.barrier0
  %v = llvm.load %pw : !llvm.ptr<3> -> i32
)" + store,
             32);
    llvm::fill(b.out, 7);
    b.kernel.launch.seed = seed;
    b.expect(FindingKind::CopyNotAwaited);
    for (int32_t v : b.out) {
      // What was not written is all ones.
      ASSERT_TRUE(v == 7 || v == -1) << v;
      early += seed != 0 && v == 7;
      late += seed != 0 && v == -1;
      if (seed == 0)
        EXPECT_EQ(v, -1);
    }
  }
  EXPECT_GT(early, 0u);
  EXPECT_GT(late, 0u);
}

//===----------------------------------------------------------------------===//
// Inputs that cannot run
//===----------------------------------------------------------------------===//

std::string errorOf(const std::string &text, Launch launch,
                    const Options &options = {}) {
  auto simulator = Simulator::parse(text, "test.mlir", options);
  if (!simulator)
    return llvm::toString(simulator.takeError());
  auto result = (*simulator)->launch(launch);
  return result ? "" : llvm::toString(result.takeError());
}

void expectError(const std::string &text, const Launch &launch,
                 llvm::StringRef words, const Options &options = {}) {
  std::string error = errorOf(text, launch, options);
  EXPECT_NE(error.find(words.str()), std::string::npos) << error;
}

/// Assembly of the table: alone a barrier waits for nothing.
TEST(Finding, KnownAssembly) {
  auto body = [](const char *assembly) {
    return lds + "llvm.store %t, %pw : i32, !llvm.ptr<3>\n" +
           "llvm.inline_asm has_side_effects \"" + assembly +
           "\", \"\" : () -> ()\n" + store;
  };
  auto replaceV = [](std::string text) {
    return text.replace(text.rfind("%v"), 2, "%t");
  };
  Broken right("gfx942",
               replaceV(body("s_waitcnt lgkmcnt(0) ; all\\0A s_barrier")), 128);
  LaunchResult result = right.kernel.run();
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.counters.barriers, 2u);
  Broken bare("gfx942", replaceV(body("s_barrier")), 128);
  bare.expect(FindingKind::AccessNotAwaited);
}

/// Each lane must name the same place in LDS: the hardware adds its own.
TEST(Finding, DivergentLDSBase) {
  Broken b("gfx942", lds + R"(
  %pg = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  rocdl.global.load.lds %pg, %p2, 4, 0, 0
)",
           64);
  b.kernel.text.replace(
      b.kernel.text.find("  rocdl.global"), 0,
      "  %two = llvm.mlir.constant(2 : i32) : i32\n"
      "  %half = llvm.udiv %t, %two : i32\n"
      "  %p2 = llvm.getelementptr %p[%half] : (!llvm.ptr<3>, i32) -> "
      "!llvm.ptr<3>, i32\n");
  b.expect(FindingKind::DivergentOperation,
           "the LDS base of a load to LDS differs between lanes");
}

TEST(Finding, DivergentMatrixRead) {
  Broken b("sm_80", lds + R"(
  %v = nvvm.ldmatrix %p {num = 1 : i32, layout = #nvvm.mma_layout<row>, eltType = #nvvm.ld_st_matrix_elt_type<b16>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> i32
)",
           16);
  LaunchResult result = b.kernel.run();
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].kind, FindingKind::DivergentOperation);
  EXPECT_NE(
      result.findings[0].text.find("all lanes of the subgroup must take part"),
      std::string::npos)
      << result.findings[0].text;
}

TEST(Finding, Unreachable) {
  Broken b("sm_80", R"(
  %c7 = llvm.mlir.constant(7 : i32) : i32
  %low = llvm.icmp "ult" %t, %c7 : i32
  llvm.cond_br %low, ^a, ^b
^a:
  llvm.unreachable
^b:
)",
           32);
  b.expect(FindingKind::UnreachableExecuted,
           "control reaches llvm.unreachable");
}

/// Lanes 0 to 6 shuffle: with all as members the others are missing, with
/// themselves as members lane 0 reads lane 16, which is not there.
TEST(Finding, DivergentShuffle) {
  auto body = [](const char *members) {
    return std::string(R"(
  %c7 = llvm.mlir.constant(7 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %members = llvm.mlir.constant()") +
           members + R"( : i32) : i32
  %low = llvm.icmp "ult" %t, %c7 : i32
  llvm.cond_br %low, ^a, ^b
^a:
  %v = nvvm.shfl.sync bfly %members, %t, %c16, %clamp : i32 -> i32
  llvm.br ^b
^b:
)";
  };
  auto has = [](const LaunchResult &result, llvm::StringRef words) {
    return llvm::any_of(result.findings, [&](const Finding &finding) {
      return finding.kind == FindingKind::DivergentOperation &&
             finding.text.find(words.str()) != std::string::npos;
    });
  };
  Broken missing("sm_80", body("-1"), 32);
  EXPECT_TRUE(has(missing.kernel.run(),
                  "a lane of the member mask does not execute the operation"));
  Broken outside("sm_80", body("127"), 32);
  EXPECT_TRUE(has(outside.kernel.run(), "the source lane is inactive"));
  Broken stranger("sm_80", body("126"), 32);
  EXPECT_TRUE(has(stranger.kernel.run(),
                  "an executing lane is not in the member mask"));
}

TEST(Finding, AtomicOnUnwrittenLDS) {
  Broken b("gfx942", lds + R"(
  %v = llvm.atomicrmw add %pw, %t syncscope("workgroup") monotonic : !llvm.ptr<3>, i32
)" + store,
           64);
  b.expect(FindingKind::UnwrittenLDS, "updates LDS that nothing has written");
}

TEST(Finding, OutOfBoundsOfPrivateMemory) {
  Broken b("gfx942", R"(
  %one = llvm.mlir.constant(1 : i32) : i32
  %a = llvm.alloca %one x i32 : (i32) -> !llvm.ptr<5>
  %p = llvm.getelementptr %a[1] : (!llvm.ptr<5>) -> !llvm.ptr<5>, i32
  llvm.store %t, %p : i32, !llvm.ptr<5>
)",
           64);
  b.expect(FindingKind::OutOfBounds, "of private memory, which has 4 bytes");
}

/// A load of 4 bytes at offset 4 of a resource of 6.
TEST(Finding, StraddlesBufferResource) {
  Broken b("gfx942", R"(
  %stride = llvm.mlir.constant(0 : i16) : i16
  %records = llvm.mlir.constant(6 : i64) : i64
  %flags = llvm.mlir.constant(159744 : i32) : i32
  %four = llvm.mlir.constant(4 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %r = rocdl.make.buffer.rsrc %out, %stride, %records, %flags : !llvm.ptr<1> to !llvm.ptr<8>
  %v = rocdl.raw.ptr.buffer.load %r, %four, %zero, %zero : i32
)",
           64);
  b.expect(FindingKind::OutOfBounds,
           "a part of 4 bytes straddles the end of the buffer resource of 6 "
           "bytes");
}

TEST(Refusal, UnknownOperation) {
  TestKernel k("gfx942", "", R"(
  llvm.call_intrinsic "llvm.amdgcn.unheard.of"() : () -> ()
  llvm.return)");
  expectError(k.text, k.launch, "intrinsic llvm.amdgcn.unheard.of");
  TestKernel asmKernel("gfx942", "", R"(
  llvm.inline_asm has_side_effects "s_trap 2", "" : () -> ()
  llvm.return)");
  expectError(asmKernel.text, asmKernel.launch,
              "assembly outside of the table");
  TestKernel notLowered("sm_80", "", R"(
  %x = gpu.thread_id x
  llvm.return)");
  expectError(notLowered.text, notLowered.launch,
              "does not know operation 'gpu.thread_id'");
}

TEST(Refusal, Launch) {
  TestKernel k("sm_80", "%a: !llvm.ptr<1>, %n: i64", "  llvm.return");
  expectError(k.text, k.launch, "0 arguments given, 2 expected");
  k.launch.args = {0, 0};
  EXPECT_EQ(errorOf(k.text, k.launch), "");
  k.launch.block = {2048, 1, 1};
  expectError(k.text, k.launch, "at most 1024 threads");
  k.launch.block = {32, 1, 1};
  k.launch.grid = {1u << 20, 1u << 20, 1};
  expectError(k.text, k.launch, "more than 2^32 - 1 workgroups");
  k.launch.grid = {1, 1, 1};
  k.launch.kernel = "other";
  expectError(k.text, k.launch, "no kernel 'other' in the module; it has k");
}

TEST(Refusal, Module) {
  Launch launch;
  launch.kernel = "k";
  expectError("module {}", launch,
              "the module holds no kernel: an llvm.func with the attribute "
              "gpu.kernel, rocdl.kernel or nvvm.kernel is expected");
  expectError("module { llvm.func @k(", launch, "test.mlir:1");
  expectError(std::string("ML\xefR\0\1garbage", 12), launch, "");
  EXPECT_NE(errorOf(std::string("ML\xefR\0\1garbage", 12), launch), "");
  std::string bare = "module { llvm.func @k() attributes {gpu.kernel} "
                     "{ llvm.return } }";
  expectError(bare, launch,
              "the module names no chip that the simulator knows (gfx9*, "
              "gfx1*, sm_*)");
  Options options;
  options.chip = "gfx1100";
  EXPECT_EQ(errorOf(bare, launch, options), "");
  options.subgroupSize = 48;
  expectError(bare, launch, "subgroups have 32 or 64 lanes, not 48", options);
}

TEST(Refusal, Kernel) {
  Launch launch;
  launch.kernel = "k";
  Options options;
  options.chip = "gfx1100";
  expectError("module { llvm.func @k() attributes {gpu.kernel} }", launch,
              "kernel 'k' has no body", options);
  expectError("module { llvm.func @k(%v: vector<4xf32>) attributes "
              "{gpu.kernel} { llvm.return } }",
              launch, "argument 0 is not a scalar or a pointer", options);
  expectError("module {\n"
              "llvm.mlir.global internal @lds() {addr_space = 3 : i32} : "
              "!llvm.array<70000 x i32>\n"
              "llvm.func @k() attributes {gpu.kernel} {\n"
              "%p = llvm.mlir.addressof @lds : !llvm.ptr<3>\n"
              "llvm.return } }",
              launch, "more than 256 KiB of LDS", options);
}

TEST(Refusal, MatrixOperationOfAnotherWidth) {
  TestKernel k("gfx1100", "", R"(
  %a = llvm.mlir.zero : vector<4xf16>
  %c = llvm.mlir.zero : vector<16xf32>
  %z = llvm.mlir.constant(0 : i32) : i32
  %d = rocdl.mfma.f32.32x32x8f16 %a, %a, %c, %z, %z, %z : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  llvm.return)");
  expectError(k.text, k.launch, "it is an operation of gfx9, not of gfx1100");
}

} // namespace
