//===- RefusalTest.cpp - Kernels that no decoder may stumble over ---------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The LLVM dialect verifies little of what it calls. Whatever passes its
// verifier is run or refused with a message.
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

using namespace mlir::evoformer::sim;

namespace {

/// What decoding a kernel of thread number %t and buffer %out says.
std::string errorOf(llvm::StringRef chip, const std::string &body,
                    llvm::StringRef globals = "") {
  TestKernel kernel(
      chip, "%out: !llvm.ptr<1>",
      std::string(chip.starts_with("gfx")
                      ? "  %t = rocdl.workitem.id.x : i32\n"
                      : "  %t = nvvm.read.ptx.sreg.tid.x : i32\n") +
          body + "\n  llvm.return",
      globals);
  auto simulator = Simulator::parse(kernel.text, "test.mlir");
  if (!simulator)
    return "no module: " + llvm::toString(simulator.takeError());
  return llvm::toString((*simulator)->check("k"));
}

void refuses(llvm::StringRef chip, const std::string &body,
             const std::string &words, llvm::StringRef globals = "") {
  std::string error = errorOf(chip, body, globals);
  EXPECT_NE(error.find(words), std::string::npos) << body << "\n" << error;
}

/// Assembly of PTX is run where all of it is known.
TEST(Refusal, AssemblyOfPTX) {
  auto refusesAssembly = [](const std::string &text, const std::string &words) {
    refuses(
        "sm_90",
        R"(
  %w = llvm.zext %t : i32 to i64
  %s = llvm.inline_asm has_side_effects ")" +
            text +
            R"(", "=f,=f,=f,=f,r,l,~{memory}" %t, %w : (i32, i64) -> !llvm.struct<(f32, f32, f32, f32)>)",
        words);
  };
  const std::string fence = "wgmma.fence.sync.aligned;",
                    none = "setp.ne.b32 none, 0, 0;",
                    opcode = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16."
                             "bf16 {$0, $1, $2, $3}, ",
                    rest = ", $5, none, 1, 1, 0;";
  refusesAssembly("mov.b32 $0, $4;",
                  "not among the instructions of assembly that are known");
  refusesAssembly("add.s64 x, $5;", "three operands are needed");
  refusesAssembly("add.s64 x, $5, y;", "operands are not known");
  refusesAssembly(none + opcode + "{$4, $4, $4, $4}" + rest,
                  "no wgmma.fence is before it");
  refusesAssembly(
      fence + "wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 {$0}, x;",
      "this shape or type is not known");
  refusesAssembly(fence + none + opcode + "{$4, $4, $4}" + rest,
                  "operands are not known");
  refusesAssembly(fence + opcode + "{$4, $4, $4, $4}, $5, 1, 1, 1, 0;",
                  "it adds to a register without a value");
  refusesAssembly(fence + none + opcode + "{$5, $5, $5, $5}" + rest,
                  "its rows are no registers of 32 bits");
  refusesAssembly(fence + none + opcode + "{$4, $4, $4, $4}" + rest,
                  "its last wgmma is not committed");
  refusesAssembly(fence + none + opcode + "{$4, $4, $4, $4}" + rest +
                      "wgmma.commit_group.sync.aligned;",
                  "no wgmma.wait_group of its block waits for it");
  refuses("sm_90",
          R"(llvm.inline_asm "fence.proxy.async.shared::cta;", "r" : () -> ())",
          "constraints without operands");
  refuses("sm_90", R"(%v = llvm.inline_asm "", "=f,7" %t : (i32) -> f32)",
          "an operand tied to no result of its type");
}

/// A kernel that may start early touches no memory before it waits.
TEST(Refusal, EarlyStarts) {
  const std::string wait =
      R"(llvm.inline_asm has_side_effects "griddepcontrol.wait;", "~{memory}" : () -> ())";
  const std::string access = R"(
  %p = llvm.inttoptr %t : i32 to !llvm.ptr<1>
  %v = llvm.load %p : !llvm.ptr<1> -> f32
)";
  const std::string words =
      "memory of the kernels before may be accessed before it";
  EXPECT_EQ(
      errorOf("sm_90", "%w = llvm.zext %t : i32 to i64\n" + wait + access), "");
  refuses("sm_90", access + wait, words);
  refuses("sm_90", "llvm.br ^bb1\n^bb1:\n" + wait + access, words);
}

/// Products that go on are waited for before anything could tell.
TEST(Refusal, AsyncProducts) {
  auto product = [](const std::string &before, const std::string &after) {
    return R"(
  %w = llvm.zext %t : i32 to i64
  %one = llvm.mlir.constant(1.0 : f32) : f32
)" + before +
           R"(
  %s = llvm.inline_asm has_side_effects "setp.ne.b32 add, 1, 0;wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$4, $4, $4, $4}, $5, add, 1, 1, 0;wgmma.commit_group.sync.aligned;", "=f,=f,=f,=f,r,l,0,1,2,3,~{memory}" %t, %w, %x, %x, %x, %x : (i32, i64, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %r = llvm.extractvalue %s[0] : !llvm.struct<(f32, f32, f32, f32)>
)" + after;
  };
  auto assembly = [](const std::string &name, const std::string &text) {
    return "%" + name + " = llvm.inline_asm has_side_effects \"" + text +
           "\", \"=f,0,~{memory}\" %" + name + "0 : (f32) -> f32\n";
  };
  std::string add = "%x0 = llvm.fadd %one, %one : f32\n",
              fence = assembly("x", "wgmma.fence.sync.aligned;"),
              take = "%y0 = llvm.fadd %r, %one : f32\n",
              wait = "%y = llvm.inline_asm has_side_effects "
                     "\"wgmma.wait_group.sync.aligned 0;\", "
                     "\"=f,0,~{memory}\" %r : (f32) -> f32\n",
              store = "%p = llvm.inttoptr %t : i32 to !llvm.ptr<3>\n"
                      "llvm.store %one, %p : f32, !llvm.ptr<3>\n";
  refuses("sm_90", product("%x = llvm.fadd %one, %one : f32", wait),
          "no wgmma.fence is before it");
  refuses("sm_90", product(add + fence, ""),
          "no wgmma.wait_group of its block waits for it");
  refuses("sm_90", product(add + fence, take + wait),
          "'llvm.fadd' reads its result, which no wgmma.wait_group gave");
  refuses("sm_90", product(add + fence, store + wait),
          "'llvm.store' may change what it reads before a wgmma.wait_group");
  refuses("sm_90",
          product("%f0 = llvm.fadd %one, %one : f32\n" +
                      assembly("f", "wgmma.fence.sync.aligned;") +
                      "%x = llvm.fadd %f, %one : f32\n",
                  wait),
          "'llvm.fadd' writes a register of it behind the last wgmma.fence");
  std::string late = wait;
  late.replace(late.find("aligned 0"), 9, "aligned 1");
  refuses("sm_90", product(add + fence, late),
          "no wgmma.wait_group of its block waits for it");
}

TEST(Refusal, IntrinsicsOfOtherTypes) {
  for (const char *body :
       {R"(%v = llvm.call_intrinsic "llvm.amdgcn.readlane"(%t) : (i32) -> i32)",
        R"(%v = llvm.call_intrinsic "llvm.amdgcn.readfirstlane"() : () -> i32)",
        R"(%v = llvm.call_intrinsic "llvm.smax.i32"(%t) : (i32) -> i32)",
        R"(%v = llvm.call_intrinsic "llvm.smax.i32"() : () -> i32)",
        R"(llvm.call_intrinsic "llvm.smax.i32"(%t, %t) : (i32, i32) -> ())",
        R"(llvm.call_intrinsic "llvm.amdgcn.workitem.id.x"() : () -> ())",
        R"(%v = llvm.call_intrinsic "llvm.amdgcn.s.barrier"() : () -> i32)",
        R"(%a = llvm.mlir.zero : vector<4096xf32>
              %v = llvm.call_intrinsic "llvm.fabs.f32"(%a) : (vector<4096xf32>) -> f32)",
        R"(%a = llvm.mlir.zero : vector<4096xf32>
              %b = llvm.mlir.zero : f32
              %v = llvm.call_intrinsic "llvm.maxnum.v4096f32"(%a, %b) : (vector<4096xf32>, f32) -> vector<4096xf32>)"})
    refuses("gfx942", body, "of these types");
}

TEST(Refusal, ResultsOfNothing) {
  refuses("gfx942", R"(%v = llvm.inline_asm "s_barrier", "=v" : () -> i32)",
          "it has no result");
  refuses("gfx942", "%v = llvm.mlir.undef : !llvm.struct<()>",
          "a type without elements");
}

TEST(Refusal, TypesWithoutSize) {
  for (const char *type :
       {"!llvm.void", "!llvm.func<void ()>", "!llvm.struct<\"s\", opaque>"})
    refuses("gfx942",
            "%p = llvm.getelementptr %out[1] : (!llvm.ptr<1>) -> "
            "!llvm.ptr<1>, " +
                std::string(type),
            "has no size");
}

TEST(Refusal, AbsurdSizes) {
  refuses("gfx942", "%v = llvm.mlir.undef : vector<67108864xi32>",
          "more than 65536 elements");
  refuses("gfx942", "%v = llvm.mlir.undef : !llvm.array<4294967296 x i32>",
          "more than 65536 elements");
  for (const char *count : {"1000000000", "4611686018427387904"})
    refuses("gfx942",
            "%n = llvm.mlir.constant(" + std::string(count) +
                " : i64) : i64\n"
                "%p = llvm.alloca %n x i64 : (i64) -> !llvm.ptr<5>",
            "more than 524288 bytes of private memory");
  std::string many;
  for (int k = 0; k < 10; ++k)
    many +=
        "%v" + std::to_string(k) + " = llvm.mlir.undef : vector<65536xi32>\n";
  refuses("gfx942", many, "the values of a subgroup exceed");
  auto lds = [](const char *type) {
    return "llvm.mlir.global internal @lds() {addr_space = 3 : i32} : " +
           std::string(type);
  };
  const std::string use = "%p = llvm.mlir.addressof @lds : !llvm.ptr<3>";
  refuses("gfx942", use, "more than 256 KiB of LDS",
          lds("!llvm.array<4294967296 x i8>"));
  refuses("gfx942", use, "an array of this size",
          lds("!llvm.array<1152921504606846976 x i64>"));
}

TEST(Refusal, ConstantsOfAnotherWidth) {
  refuses("gfx942",
          "%v = llvm.mlir.constant(dense<[1, 2]> : tensor<2xi32>) : "
          "vector<2xi64>",
          "the elements have another width than the type");
  // LLVM cuts a single integer.
  EXPECT_EQ(errorOf("gfx942", "%v = llvm.mlir.constant(-1 : i128) : i32"), "");
}

/// What one chip has is not there on another.
TEST(Refusal, OperationsOfOtherChips) {
  auto dpp = [](int control) {
    return "%v = rocdl.update.dpp %t, %t with " + std::to_string(control) +
           ", 15, 15, true : i32";
  };
  for (int control : {0x100, 0x110, 0x131, 0x13f, 0x144, 0x14f, 0x170, 0x1ff})
    for (const char *chip : {"gfx942", "gfx1100"})
      refuses(chip, dpp(control), "has no such DPP control");
  for (int control : {0x130, 0x138, 0x142, 0x143}) {
    refuses("gfx1100", dpp(control), "gfx1100 has no such DPP control");
    EXPECT_EQ(errorOf("gfx942", dpp(control)), "");
  }
  refuses("gfx942", dpp(0x161), "gfx942 has no such DPP control");
  EXPECT_EQ(errorOf("gfx1100", dpp(0x161)), "");

  auto wmma = [](const std::string &half) {
    return "%a = llvm.mlir.zero : " + half +
           "\n%c = llvm.mlir.zero : vector<8xf32>\n"
           "%d = llvm.call_intrinsic \"llvm.amdgcn.wmma.f32.16x16x16.f16\""
           "(%a, %a, %c) : (" +
           half + ", " + half + ", vector<8xf32>) -> vector<8xf32>";
  };
  refuses("gfx1100", wmma("vector<8xf16>"), "an operation of gfx12");
  refuses("gfx1201", wmma("vector<16xf16>"), "an operation of gfx11");
  const std::string doubled = R"(
  %a = llvm.mlir.zero : vector<8xf16>
  %c = llvm.mlir.zero : vector<4xf32>
  %z = llvm.mlir.constant(0 : i32) : i32
  %d = llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x32.f16"(%a, %a, %c, %z, %z, %z) : (vector<8xf16>, vector<8xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>)";
  refuses("gfx942", doubled, "an operation of gfx950");
  EXPECT_EQ(errorOf("gfx950", doubled), "");

  const char *lds = "llvm.mlir.global internal @lds() {addr_space = 3 : i32} "
                    ": !llvm.array<256 x i32>";
  auto copy = [](int size) {
    return "%p = llvm.mlir.addressof @lds : !llvm.ptr<3>\n"
           "rocdl.global.load.lds %out, %p, " +
           std::to_string(size) + ", 0, 0";
  };
  for (int size : {-4, 0, 1, 7, 16})
    refuses("gfx942", copy(size), "loads to LDS are of 4 bytes", lds);
  EXPECT_EQ(errorOf("gfx950", copy(16), lds), "");
}

TEST(Refusal, HalvesOfBarriersApart) {
  refuses("gfx1201", "rocdl.s.barrier.signal id = -1",
          "signal and wait of a barrier must be neighbours");
  refuses("gfx1201",
          "rocdl.s.barrier.signal id = -1\n"
          "llvm.store %t, %out : i32, !llvm.ptr<1>\n"
          "rocdl.s.barrier.wait id = -1",
          "signal and wait of a barrier must be neighbours");
  refuses("gfx1201", "rocdl.s.barrier.signal id = 1",
          "a barrier other than that of the workgroup");
}

TEST(Refusal, ExponentsOfAnotherType) {
  refuses("gfx942",
          "%f = llvm.mlir.constant(1.0 : f32) : f32\n"
          "%e = llvm.mlir.constant(1 : i16) : i16\n"
          "%v = llvm.intr.ldexp(%f, %e) : (f32, i16) -> f32",
          "an i32 for each element is expected");
  refuses("gfx942",
          "%f = llvm.mlir.constant(-1.0 : f32) : f32\n"
          "%v = llvm.fptosi %f : f32 to i1",
          "not for this type");
}

TEST(Refusal, BallotsOfTooFewBits) {
  auto ballot = [](const char *type) {
    return "%b = llvm.mlir.constant(true) : i1\n%v = rocdl.ballot %b : " +
           std::string(type);
  };
  refuses("gfx1100", ballot("i8"), "a bit for each lane is expected");
  refuses("gfx942", ballot("i32"), "a bit for each lane is expected");
  EXPECT_EQ(errorOf("gfx1100", ballot("i32")), "");
  EXPECT_EQ(errorOf("gfx942", ballot("i64")), "");
}

TEST(Refusal, ResourcesInMemory) {
  refuses("gfx942", "%v = llvm.load %out : !llvm.ptr<1> -> !llvm.ptr<7>",
          "buffer resources in memory");
  refuses("gfx942",
          "%r = llvm.mlir.zero : !llvm.ptr<7>\n"
          "llvm.store %r, %out : !llvm.ptr<7>, !llvm.ptr<1>",
          "buffer resources in memory");
}

TEST(Refusal, AtomicLoadsAndStores) {
  refuses("gfx942",
          "%v = llvm.load %out atomic monotonic {alignment = 4 : i64} : "
          "!llvm.ptr<1> -> i32",
          "atomic loads");
  refuses("gfx942",
          "llvm.store %t, %out atomic monotonic {alignment = 4 : i64} : i32, "
          "!llvm.ptr<1>",
          "atomic stores");
}

/// Launches that the chip or the kernel does not allow.
TEST(Refusal, WorkgroupsThatDoNotFit) {
  auto errorOfLaunch = [](TestKernel &kernel) {
    auto simulator = Simulator::parse(kernel.text, "test.mlir");
    if (!simulator)
      return llvm::toString(simulator.takeError());
    return llvm::toString((*simulator)->launch(kernel.launch).takeError());
  };
  TestKernel lds("gfx942", "", R"(
  %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
  llvm.return)",
                 "llvm.mlir.global internal @lds() {addr_space = 3 : i32} : "
                 "!llvm.array<70000 x i8>");
  EXPECT_EQ(errorOfLaunch(lds), "kernel 'k': 70000 bytes of LDS; a workgroup "
                                "has at most 65536");
  lds.text.replace(lds.text.find("gfx942"), 6, "gfx950");
  EXPECT_EQ(errorOfLaunch(lds), "");

  TestKernel sized("gfx942", "", "  llvm.return");
  sized.text.replace(sized.text.find("rocdl.kernel"), 12,
                     "rocdl.kernel, rocdl.reqd_work_group_size = "
                     "array<i32: 128, 1, 1>");
  EXPECT_EQ(errorOfLaunch(sized),
            "kernel 'k': it is for workgroups of 128 x 1 x 1 threads");
  sized.launch.block = {128, 1, 1};
  EXPECT_EQ(errorOfLaunch(sized), "");

  TestKernel some("sm_80", "", R"(
  %id = llvm.mlir.constant(1 : i32) : i32
  %n = llvm.mlir.constant(64 : i32) : i32
  nvvm.barrier id = %id number_of_threads = %n
  llvm.return)");
  some.launch.block = {128, 1, 1};
  EXPECT_NE(errorOfLaunch(some).find(
                "a barrier of 64 of the 128 "
                "threads is not modelled; each barrier takes the whole "
                "workgroup"),
            std::string::npos);
  some.launch.block = {64, 1, 1};
  EXPECT_EQ(errorOfLaunch(some), "");

  TestKernel large("sm_80", "%p: !llvm.ptr<1>", "  llvm.return");
  std::vector<char> data(1);
  large.add(data);
  large.launch.buffers[0].size = uint64_t(1) << 58;
  EXPECT_EQ(errorOfLaunch(large),
            "not enough memory to watch 288230376151711744 bytes of 'buffer "
            "0'");
}

} // namespace
