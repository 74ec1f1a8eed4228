//===- ExecutionTest.cpp - Control flow, memory and lane exchange ---------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

using namespace mlir::evoformer::sim;

namespace {

const char *threadIdNVIDIA = "  %t = nvvm.read.ptx.sreg.tid.x : i32\n";
const char *threadIdAMD = "  %t = rocdl.workitem.id.x : i32\n";

/// Stores %r (i32) of each thread of each workgroup.
std::string storeResult(bool isAMD) {
  return std::string(isAMD ? "  %bid = rocdl.workgroup.id.x : i32\n"
                             "  %dim = rocdl.workgroup.dim.x : i32\n"
                           : "  %bid = nvvm.read.ptx.sreg.ctaid.x : i32\n"
                             "  %dim = nvvm.read.ptx.sreg.ntid.x : i32\n") +
         "  %base = llvm.mul %bid, %dim : i32\n"
         "  %gid = llvm.add %base, %t : i32\n"
         "  %po = llvm.getelementptr %out[%gid] : (!llvm.ptr<1>, i32) -> "
         "!llvm.ptr<1>, i32\n"
         "  llvm.store %r, %po : i32, !llvm.ptr<1>\n"
         "  llvm.return";
}

std::vector<int32_t> run(llvm::StringRef chip, const std::string &body,
                         unsigned block, unsigned grid = 1,
                         llvm::StringRef globals = "", uint64_t seed = 0,
                         CopyLanding landing = CopyLanding::AtWait,
                         std::vector<int32_t> *input = nullptr) {
  bool isAMD = chip.starts_with("gfx");
  TestKernel kernel(chip, "%out: !llvm.ptr<1>, %in: !llvm.ptr<1>",
                    (isAMD ? threadIdAMD : threadIdNVIDIA) + body +
                        storeResult(isAMD),
                    globals);
  kernel.launch.block = {block, 1, 1};
  kernel.launch.grid = {grid, 1, 1};
  kernel.launch.seed = seed;
  kernel.launch.landing = landing;
  std::vector<int32_t> out(size_t(block) * grid, -1), none(1);
  kernel.add(out, true);
  kernel.add(input ? *input : none);
  kernel.runClean();
  return out;
}

TEST(Execution, ThreadsAndWorkgroups) {
  auto out = run("sm_80", R"(
  %k = llvm.mlir.constant(1000 : i32) : i32
  %b = nvvm.read.ptx.sreg.ctaid.x : i32
  %g = nvvm.read.ptx.sreg.nctaid.x : i32
  %bk = llvm.mul %b, %k : i32
  %s = llvm.add %bk, %t : i32
  %r = llvm.add %s, %g : i32
)",
                 96, 5);
  for (unsigned k = 0; k < out.size(); ++k)
    EXPECT_EQ(out[k], int(k / 96 * 1000 + k % 96 + 5));
}

/// Lanes leave a loop after different numbers of iterations, with a branch
/// inside: Collatz steps of the lane number.
TEST(Execution, DivergentLoop) {
  auto out = run("gfx942", R"(
  %one = llvm.mlir.constant(1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %three = llvm.mlir.constant(3 : i32) : i32
  %n0 = llvm.add %t, %one : i32
  llvm.br ^head(%n0, %zero : i32, i32)
^head(%n: i32, %steps: i32):
  %done = llvm.icmp "eq" %n, %one : i32
  llvm.cond_br %done, ^exit(%steps : i32), ^body
^body:
  %steps1 = llvm.add %steps, %one : i32
  %bit = llvm.and %n, %one : i32
  %odd = llvm.icmp "ne" %bit, %zero : i32
  llvm.cond_br %odd, ^up, ^down
^up:
  %n3 = llvm.mul %n, %three : i32
  %n31 = llvm.add %n3, %one : i32
  llvm.br ^head(%n31, %steps1 : i32, i32)
^down:
  %half = llvm.lshr %n, %one : i32
  llvm.br ^head(%half, %steps1 : i32, i32)
^exit(%r: i32):
  llvm.br ^store
^store:
)",
                 64);
  for (unsigned lane = 0; lane < 64; ++lane) {
    unsigned n = lane + 1, steps = 0;
    for (; n != 1; ++steps)
      n = n & 1 ? 3 * n + 1 : n / 2;
    EXPECT_EQ(out[lane], int(steps)) << lane;
  }
}

/// Block arguments move all at once: Fibonacci by swapping.
TEST(Execution, ParallelBlockArguments) {
  auto out = run("sm_80", R"(
  %one = llvm.mlir.constant(1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.br ^head(%zero, %one, %t : i32, i32, i32)
^head(%a: i32, %b: i32, %left: i32):
  %more = llvm.icmp "ne" %left, %zero : i32
  llvm.cond_br %more, ^body, ^exit
^body:
  %next = llvm.add %a, %b : i32
  %left1 = llvm.sub %left, %one : i32
  llvm.br ^head(%b, %next, %left1 : i32, i32, i32)
^exit:
  %r = llvm.add %a, %zero : i32
)",
                 32);
  int a = 0, b = 1;
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[lane], a);
    int next = a + b;
    a = b;
    b = next;
  }
}

/// Lanes that diverged meet again before an exchange.
TEST(Execution, ReconvergesBeforeShuffle) {
  auto out = run("sm_80", R"(
  %c5 = llvm.mlir.constant(5 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %all = llvm.mlir.constant(-1 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %low = llvm.icmp "ult" %t, %c5 : i32
  llvm.cond_br %low, ^left, ^right
^left:
  %x = llvm.add %t, %c5 : i32
  llvm.br ^join(%x : i32)
^right:
  %y = llvm.mul %t, %c5 : i32
  llvm.br ^join(%y : i32)
^join(%v: i32):
  %r = nvvm.shfl.sync bfly %all, %v, %one, %clamp : i32 -> i32
)",
                 32);
  for (int lane = 0; lane < 32; ++lane) {
    int from = lane ^ 1;
    EXPECT_EQ(out[lane], from < 5 ? from + 5 : from * 5);
  }
}

const char *ldsWords =
    "llvm.mlir.global internal @lds() {addr_space = 3 : i32} : "
    "!llvm.array<256 x i32>";

/// Reverses a workgroup's values through LDS, under many interleavings.
TEST(Execution, LDSAndBarrier) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    auto out = run("gfx1100", R"(
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %last = llvm.mlir.constant(255 : i32) : i32
  %pw = llvm.getelementptr %p[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %t, %pw : i32, !llvm.ptr<3>
  llvm.fence syncscope("workgroup") release
  rocdl.s.waitcnt 64519
  rocdl.s.barrier
  llvm.fence syncscope("workgroup") acquire
  %u = llvm.sub %last, %t : i32
  %pr = llvm.getelementptr %p[%u] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %r = llvm.load %pr : !llvm.ptr<3> -> i32
)",
                   256, 3, ldsWords, seed);
    for (unsigned k = 0; k < out.size(); ++k)
      ASSERT_EQ(out[k], int(255 - k % 256));
  }
}

TEST(Execution, DynamicLDS) {
  TestKernel kernel("sm_80", "%out: !llvm.ptr<1>", R"(
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %p = llvm.mlir.addressof @dyn : !llvm.ptr<3>
  %g = llvm.addrspacecast %p : !llvm.ptr<3> to !llvm.ptr
  %pw = llvm.getelementptr %g[%t] : (!llvm.ptr, i32) -> !llvm.ptr, i32
  llvm.store %t, %pw : i32, !llvm.ptr
  nvvm.barrier0
  %v = llvm.load %pw : !llvm.ptr -> i32
  %po = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %v, %po : i32, !llvm.ptr<1>
  llvm.return)",
                    "llvm.mlir.global external @dyn() {addr_space = 3 : i32, "
                    "alignment = 16 : i64} : !llvm.array<0 x i8>");
  std::vector<int32_t> out(64, -1);
  kernel.add(out, true);
  kernel.launch.block = {64, 1, 1};
  kernel.launch.dynamicLDSBytes = 256;
  LaunchResult result = kernel.runClean();
  for (int k = 0; k < 64; ++k)
    EXPECT_EQ(out[k], k);
  EXPECT_EQ(result.counters.ldsBytes, 512u);
  EXPECT_EQ(result.counters.barriers, 2u);
}

/// xor by 1, 2, 8, 16 and 32 with the instructions of wave64.
TEST(Execution, ExchangesOfCDNA) {
  auto xorBy = [](const char *op, int by) {
    auto out =
        run("gfx942", std::string("  %f = llvm.bitcast %t : i32 to i32\n") + op,
            64);
    for (int lane = 0; lane < 64; ++lane)
      EXPECT_EQ(out[lane], lane ^ by) << op << lane;
  };
  xorBy("%r = rocdl.update.dpp %f, %f with 177, 15, 15, true : i32\n", 1);
  xorBy("%r = rocdl.update.dpp %f, %f with 78, 15, 15, true : i32\n", 2);
  xorBy("%r = rocdl.update.dpp %f, %f with 296, 15, 15, true : i32\n", 8);
  xorBy("%o = llvm.mlir.constant(16415 : i32) : i32\n"
        "%r = rocdl.ds_swizzle %f, %o : (i32, i32) -> i32\n",
        16);
  xorBy("%c128 = llvm.mlir.constant(128 : i32) : i32\n"
        "%c2 = llvm.mlir.constant(2 : i32) : i32\n"
        "%a = llvm.shl %t, %c2 : i32\n"
        "%x = llvm.xor %a, %c128 : i32\n"
        "%r = rocdl.ds_bpermute %x, %f : (i32, i32) -> i32\n",
        32);
}

TEST(Execution, ShiftsAndMirrorsOfDPP) {
  auto check = [](int ctrl, bool bound, auto expected) {
    auto out = run("gfx942",
                   "  %old = llvm.mlir.constant(-7 : i32) : i32\n"
                   "  %r = rocdl.update.dpp %old, %t with " +
                       std::to_string(ctrl) + ", 15, 15, " +
                       (bound ? "true" : "false") + " : i32\n",
                   64);
    for (int lane = 0; lane < 64; ++lane)
      EXPECT_EQ(out[lane], expected(lane)) << ctrl << " " << lane;
  };
  check(0x101, false, [](int l) { return l % 16 == 15 ? -7 : l + 1; });
  check(0x112, true, [](int l) { return l % 16 < 2 ? 0 : l - 2; });
  check(0x140, true, [](int l) { return l / 16 * 16 + 15 - l % 16; });
  check(0x141, true, [](int l) { return l / 8 * 8 + 7 - l % 8; });
  check(0x142, false, [](int l) { return l < 16 ? -7 : l / 16 * 16 - 1; });
  check(0x143, false, [](int l) { return l < 32 ? -7 : 31; });
}

TEST(Execution, ExchangesOfRDNA) {
  auto out = run("gfx1100", R"(
  %lo = llvm.mlir.constant(1985229328 : i32) : i32
  %hi = llvm.mlir.constant(-19088744 : i32) : i32
  %x = rocdl.permlanex16 %t, %t, %lo, %hi, true, false : i32, i32
  %r = rocdl.update.dpp %x, %x with 356, 15, 15, true : i32
)",
                 32);
  // The selectors 0x76543210 and 0xfedcba98 keep the lane within the row.
  for (int lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane], lane ^ 16 ^ 4);
}

TEST(Execution, PermlaneSwap) {
  auto out = run("gfx950", R"(
  %k = llvm.mlir.constant(100 : i32) : i32
  %u = llvm.add %t, %k : i32
  %s = rocdl.permlane32.swap %t, %u, false, false : (i32, i32) -> !llvm.struct<(i32, i32)>
  %a = llvm.extractvalue %s[0] : !llvm.struct<(i32, i32)>
  %b = llvm.extractvalue %s[1] : !llvm.struct<(i32, i32)>
  %m = llvm.mlir.constant(1000 : i32) : i32
  %bm = llvm.mul %b, %m : i32
  %r = llvm.add %a, %bm : i32
)",
                 64);
  for (int lane = 0; lane < 64; ++lane) {
    int a = lane < 32 ? lane : lane - 32 + 100;
    int b = lane < 32 ? lane + 32 : lane + 100;
    EXPECT_EQ(out[lane], a + 1000 * b);
  }
}

TEST(Execution, SumsThatCarryOut) {
  auto out = run("gfx942", R"(
  %up = llvm.mlir.constant(26 : i32) : i32
  %down = llvm.mlir.constant(27 : i32) : i32
  %x = llvm.shl %t, %up : i32
  %s = "llvm.intr.uadd.with.overflow"(%x, %x) : (i32, i32) -> !llvm.struct<(i32, i1)>
  %sum = llvm.extractvalue %s[0] : !llvm.struct<(i32, i1)>
  %over = llvm.extractvalue %s[1] : !llvm.struct<(i32, i1)>
  %low = llvm.lshr %sum, %down : i32
  %hundred = llvm.mlir.constant(100 : i32) : i32
  %more = llvm.add %low, %hundred : i32
  %r = llvm.select %over, %more, %low : i1, i32
)",
                 64);
  for (int lane = 0; lane < 64; ++lane)
    EXPECT_EQ(out[lane], lane < 32 ? lane : lane - 32 + 100);
}

TEST(Execution, LaneNumberByMbcnt) {
  auto out = run("gfx942", R"(
  %ones = llvm.mlir.constant(-1 : i32) : i32
  %zero = llvm.mlir.constant(0 : i32) : i32
  %lo = rocdl.mbcnt.lo %ones, %zero : (i32, i32) -> i32
  %r = rocdl.mbcnt.hi %ones, %lo : (i32, i32) -> i32
)",
                 128);
  for (int k = 0; k < 128; ++k)
    EXPECT_EQ(out[k], k % 64);
}

TEST(Execution, ShuffleKinds) {
  auto check = [](const char *kind, int by, int clamp, auto expected) {
    auto out = run("sm_80",
                   "  %all = llvm.mlir.constant(-1 : i32) : i32\n"
                   "  %by = llvm.mlir.constant(" +
                       std::to_string(by) +
                       " : i32) : i32\n  %c = llvm.mlir.constant(" +
                       std::to_string(clamp) + " : i32) : i32\n" +
                       "  %r = nvvm.shfl.sync " + kind +
                       " %all, %t, %by, %c : i32 -> i32\n",
                   32);
    for (int lane = 0; lane < 32; ++lane)
      EXPECT_EQ(out[lane], expected(lane)) << kind << lane;
  };
  check("bfly", 4, 31, [](int l) { return l ^ 4; });
  check("up", 3, 0, [](int l) { return l < 3 ? l : l - 3; });
  check("down", 3, 31, [](int l) { return l > 28 ? l : l + 3; });
  check("idx", 7, 31, [](int) { return 7; });
  // Segments of 8 lanes: the segment mask is 0x18.
  check("idx", 2, 0x1800 | 31, [](int l) { return l / 8 * 8 + 2; });
  check("down", 3, 0x1800 | 31, [](int l) { return l % 8 > 4 ? l : l + 3; });
}

/// Two groups of copies; the first is awaited first. Both landings are right.
TEST(Execution, AsynchronousCopies) {
  std::vector<int32_t> input(256);
  for (int k = 0; k < 256; ++k)
    input[k] = 3 * k + 1;
  for (CopyLanding landing : {CopyLanding::AtWait, CopyLanding::AtIssue}) {
    auto out = run("sm_80", R"(
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %c4 = llvm.mlir.constant(4 : i32) : i32
  %c31 = llvm.mlir.constant(31 : i32) : i32
  %c128 = llvm.mlir.constant(128 : i32) : i32
  %i = llvm.mul %t, %c4 : i32
  %j = llvm.add %i, %c128 : i32
  %d0 = llvm.getelementptr %p[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %d1 = llvm.getelementptr %p[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %s0 = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %s1 = llvm.getelementptr %in[%j] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  nvvm.cp.async.shared.global %d0, %s0, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.commit.group
  %size = llvm.mlir.constant(8 : i32) : i32
  nvvm.cp.async.shared.global %d1, %s1, 16, cache = cg, %size : !llvm.ptr<3>, !llvm.ptr<1>, i32
  nvvm.cp.async.commit.group
  nvvm.cp.async.wait.group 1
  nvvm.barrier0
  %q = llvm.sub %c31, %t : i32
  %l0 = llvm.getelementptr %p[%q] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %v0 = llvm.load %l0 : !llvm.ptr<3> -> i32
  nvvm.cp.async.wait.group 0
  nvvm.barrier0
  %u = llvm.add %q, %c128 : i32
  %l1 = llvm.getelementptr %p[%u] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %v1 = llvm.load %l1 : !llvm.ptr<3> -> i32
  %k = llvm.mlir.constant(10000 : i32) : i32
  %v1k = llvm.mul %v1, %k : i32
  %r = llvm.add %v0, %v1k : i32
)",
                   32, 1, ldsWords, 0, landing, &input);
    for (int lane = 0; lane < 32; ++lane) {
      int q = 31 - lane;
      // Only the first 8 bytes of each second copy are read.
      int second = q % 4 < 2 ? input[128 + q] : 0;
      EXPECT_EQ(out[lane], input[q] + 10000 * second);
    }
  }
}

TEST(Execution, MatrixLoads) {
  for (bool transposed : {false, true}) {
    auto out = run(
        "sm_80",
        std::string(R"(
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %i = llvm.mlir.constant(0 : i32) : i32
  %c2 = llvm.mlir.constant(2 : i32) : i32
  %c16 = llvm.mlir.constant(65536 : i32) : i32
  %lo = llvm.mul %t, %c2 : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %hi = llvm.add %lo, %one : i32
  %his = llvm.mul %hi, %c16 : i32
  %pair = llvm.or %his, %lo : i32
  %pw = llvm.getelementptr %p[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  llvm.store %pair, %pw : i32, !llvm.ptr<3>
  nvvm.barrier0
  %c7 = llvm.mlir.constant(7 : i32) : i32
  %row = llvm.and %t, %c7 : i32
  %pr = llvm.getelementptr %p[%row] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<8xi16>
  %r = nvvm.ldmatrix %pr {num = 1 : i32, layout = #nvvm.mma_layout<)") +
            (transposed ? "col" : "row") +
            R"(>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> i32
)",
        32, 1, ldsWords);
    for (int lane = 0; lane < 32; ++lane) {
      int a = lane / 4, b = lane % 4 * 2;
      int low = transposed ? b * 8 + a : a * 8 + b;
      int high = transposed ? (b + 1) * 8 + a : a * 8 + b + 1;
      EXPECT_EQ(out[lane], high << 16 | low);
    }
  }
}

/// Loads through a buffer resource give 0 behind its end, stores are dropped.
TEST(Execution, BufferResources) {
  std::vector<int32_t> input(64);
  for (int k = 0; k < 64; ++k)
    input[k] = k + 1;
  TestKernel kernel("gfx942", "%out: !llvm.ptr<1>, %in: !llvm.ptr<1>", R"(
  %t = rocdl.workitem.id.x : i32
  %stride = llvm.mlir.constant(0 : i16) : i16
  %size = llvm.mlir.constant(200 : i64) : i64
  %flags = llvm.mlir.constant(159744 : i32) : i32
  %b = rocdl.make.buffer.rsrc %in, %stride, %size, %flags : !llvm.ptr<1> to <7>
  %p = llvm.getelementptr %b[%t] : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i32
  %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<7> -> vector<2xi32>
  %ob = rocdl.make.buffer.rsrc %out, %stride, %size, %flags : !llvm.ptr<1> to <8>
  %c2 = llvm.mlir.constant(2 : i32) : i32
  %o = llvm.shl %t, %c2 : i32
  %z = llvm.mlir.constant(0 : i32) : i32
  %zi = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %v0 = llvm.extractelement %v[%zi : i32] : vector<2xi32>
  %v1 = llvm.extractelement %v[%one : i32] : vector<2xi32>
  %r = llvm.add %v0, %v1 : i32
  rocdl.raw.ptr.buffer.store %r, %ob, %o, %z, %z : i32
  llvm.return)");
  std::vector<int32_t> out(64, -5);
  kernel.add(out, true);
  kernel.launch.buffers[0].mustBeWritten = false;
  kernel.add(input);
  kernel.runClean();
  for (int lane = 0; lane < 64; ++lane) {
    int a = lane < 50 ? lane + 1 : 0, b = lane + 1 < 50 ? lane + 2 : 0;
    EXPECT_EQ(out[lane], lane < 50 ? a + b : -5);
  }
}

TEST(Execution, PrivateMemory) {
  auto out = run("gfx942", R"(
  %n = llvm.mlir.constant(4 : i32) : i32
  %c3 = llvm.mlir.constant(3 : i32) : i32
  %a = llvm.alloca %n x i32 : (i32) -> !llvm.ptr<5>
  %i = llvm.and %t, %c3 : i32
  %p = llvm.getelementptr %a[%i] : (!llvm.ptr<5>, i32) -> !llvm.ptr<5>, i32
  llvm.store %t, %p : i32, !llvm.ptr<5>
  %r = llvm.load %p : !llvm.ptr<5> -> i32
)",
                 64);
  for (int lane = 0; lane < 64; ++lane)
    EXPECT_EQ(out[lane], lane);
}

} // namespace
