//===- SessionTest.cpp - Launch plans on the CPU --------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Session.h"
#include "TestPlans.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mlir::evoformer::runtime;

namespace {
/// x[i] = start + i for i in [begin, end).
const char iotaIR[] = R"(
define void @iota(ptr %allocated, ptr %x, i64 %offset, i64 %size, i64 %stride,
                  i32 %start, i64 %extent, i64 %begin, i64 %end) {
entry:
  br label %head
head:
  %i = phi i64 [%begin, %entry], [%next, %body]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %done
body:
  %scaled = mul i64 %i, %stride
  %at = add i64 %offset, %scaled
  %where = getelementptr i64, ptr %x, i64 %at
  %wide = sext i32 %start to i64
  %value = add i64 %wide, %i
  store i64 %value, ptr %where
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}
)";

/// Rounds the numbers in x to bf16, one of which lives from block to block.
const char roundIR[] = R"(
define void @iota(ptr %allocated, ptr %x, i64 %offset, i64 %size, i64 %stride,
                  i32 %start, i64 %extent, i64 %begin, i64 %end) {
entry:
  br label %head
head:
  %i = phi i64 [%begin, %entry], [%next, %after]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %done
body:
  %scaled = mul i64 %i, %stride
  %where = getelementptr i64, ptr %x, i64 %scaled
  %second = getelementptr i32, ptr %where, i64 1
  %value = load float, ptr %where
  %rounded = fptrunc float %value to bfloat
  %odd = trunc i64 %i to i1
  br i1 %odd, label %other, label %after
other:
  store i32 -1, ptr %second
  br label %after
after:
  store bfloat %rounded, ptr %where
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}
)";

std::string loadProblem(StringRef text) {
  Expected<Plan> plan = parsePlan(text, ".");
  if (!plan)
    return toString(plan.takeError());
  std::unique_ptr<Device> device = cantFail(createCPUDevice(1));
  auto kernel = device->load(plan->kernels[0]);
  return kernel ? "" : toString(kernel.takeError());
}

#define EXPECT_CONTAINS(TEXT, PART)                                            \
  EXPECT_NE((TEXT).find(PART), std::string::npos) << (TEXT)
} // namespace

TEST(Session, RunsOnTheCPU) {
  Expected<Plan> plan = parsePlan(iotaText("llvm", iotaIR), ".");
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  for (unsigned threads : {1u, 3u}) {
    std::unique_ptr<Device> device = cantFail(createCPUDevice(threads));
    Session session(*plan, *device);
    for (int64_t size : {0, 1, 7, 1000}) {
      DeviceBuffer buffer =
          cantFail(DeviceBuffer::create(*device, "x", size * 16, 64));
      HostValue arguments[2];
      uint64_t address = buffer.getAddress();
      arguments[0].memref = {address, address, 0, {size}, {2}};
      arguments[1].bits = -5;
      SessionWorkspace workspace = cantFail(
          SessionWorkspace::create(session, plan->functions[0], arguments, 0));
      auto results =
          session.run(plan->functions[0], arguments, workspace.prepare());
      ASSERT_TRUE(bool(results)) << toString(results.takeError());
      std::vector<int64_t> data(2 * size);
      cantFail(buffer.read(
          {reinterpret_cast<char *>(data.data()), data.size() * 8}));
      for (int64_t i = 0; i < size; ++i) {
        EXPECT_EQ(data[2 * i], i - 5);
        EXPECT_EQ(data[2 * i + 1], -1) << "the gaps stay as they were";
      }
      EXPECT_FALSE(errorToBool(buffer.checkGuards()));
    }
  }
}

TEST(Session, RoundsToBF16) {
  Expected<Plan> plan = parsePlan(iotaText("llvm", roundIR), ".");
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  // Bits of an f32 and of the bf16: exact, below, at and above the middle, up
  // to infinity, infinite, NaN without a bit in the upper half's mantissa.
  const uint32_t cases[][2] = {
      {0, 0},
      {0x3f800000, 0x3f80},
      {0x3f807fff, 0x3f80},
      {0x3f808000, 0x3f80},
      {0x3f818000, 0x3f82},
      {0x3f808001, 0x3f81},
      {0xbf80c000, 0xbf81},
      {0x7f7fffff, 0x7f80},
      {0xff800000, 0xff80},
      {0x7f800001, 0x7fc0},
  };
  std::unique_ptr<Device> device = cantFail(createCPUDevice(1));
  Session session(*plan, *device);
  std::vector<uint32_t> data;
  for (auto &[bits, rounded] : cases)
    data.insert(data.end(), {bits, 0});
  int64_t size = std::size(cases);
  DeviceBuffer buffer =
      cantFail(DeviceBuffer::create(*device, "x", size * 8, 64));
  cantFail(buffer.write({reinterpret_cast<char *>(data.data()), 8ul * size}));
  uint64_t address = buffer.getAddress();
  HostValue arguments[2];
  arguments[0].memref = {address, address, 0, {size}, {1}};
  Workspace none(0, 0);
  cantFail(session.run(plan->functions[0], arguments, none).takeError());
  cantFail(buffer.read({reinterpret_cast<char *>(data.data()), 8ul * size}));
  for (int64_t i = 0; i < size; ++i)
    EXPECT_EQ(data[2 * i] & 0xffff, cases[i][1]) << std::hex << cases[i][0];
}

TEST(Session, FindsWritesIntoGuards) {
  Expected<Plan> plan = parsePlan(iotaText("llvm", iotaIR), ".");
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  std::unique_ptr<Device> device = cantFail(createCPUDevice(1));
  Session session(*plan, *device);
  auto problem = [&](int64_t offset, int64_t size) {
    DeviceBuffer buffer = cantFail(DeviceBuffer::create(*device, "x", 80, 256));
    uint64_t address = buffer.getAddress();
    HostValue arguments[2];
    arguments[0].memref = {address, address, offset, {size}, {1}};
    Workspace none(0, 0);
    cantFail(session.run(plan->functions[0], arguments, none).takeError());
    return toString(buffer.checkGuards());
  };
  EXPECT_EQ(problem(0, 10), "");
  EXPECT_EQ(problem(0, 11),
            "the guard zone after 'x' was written to, first at byte 0 of 256");
  EXPECT_EQ(
      problem(-1, 10),
      "the guard zone before 'x' was written to, first at byte 248 of 256");
}

TEST(Session, RefusesBadKernels) {
  EXPECT_CONTAINS(loadProblem(iotaText("ptx", "x")),
                  "the CPU runs LLVM IR, not 'ptx'");
  EXPECT_CONTAINS(loadProblem(iotaText("llvm", "garbage")),
                  "its LLVM IR is malformed");
  // It can be read, but a value is used where it is not defined.
  EXPECT_CONTAINS(
      loadProblem(iotaText("llvm", "define void @iota(i64 %a, i64 %b) {\n"
                                   "  %c = add i64 %d, 1\n"
                                   "  %d = add i64 %a, 1\n  ret void\n}\n")),
      "its LLVM IR is malformed: ");
  EXPECT_CONTAINS(loadProblem(iotaText("llvm", "")),
                  "its module has no kernel function 'iota'");
  EXPECT_CONTAINS(
      loadProblem(iotaText("llvm", "define void @iota(i64 %a, i64 %b) {\n"
                                   "  ret void\n}\n")),
      "takes 2 parameters where 7 arguments and a range are expected");
}

TEST(CPUDevice, SaysWhenMemoryIsOut) {
  std::unique_ptr<Device> device = cantFail(createCPUDevice(1));
  EXPECT_CONTAINS(toString(device->allocate(uint64_t(1) << 62).takeError()),
                  "out of memory: cannot allocate 4611686018427387904 bytes");
  EXPECT_EQ(toString(device->release(12345)),
            "release of an address that is no buffer's");
  EXPECT_EQ(
      toString(DeviceBuffer::create(*device, "x", UINT64_MAX, 0).takeError()),
      "buffer 'x' is impossibly large");
}
