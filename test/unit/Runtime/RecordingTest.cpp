//===- RecordingTest.cpp - Tests of recorded launches ---------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Recording.h"
#include "TestPlans.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mlir::evoformer::runtime;

/// The bits of all arguments of all launches.
static std::vector<std::vector<uint64_t>> replay(Recording &recording,
                                                 ArrayRef<uint64_t> addresses,
                                                 uint64_t workspace = 0) {
  std::vector<std::vector<uint64_t>> launches;
  cantFail(recording.replay(
      addresses, workspace,
      [&](unsigned, uint64_t, ArrayRef<LaunchArgument> arguments) {
        launches.emplace_back();
        for (const LaunchArgument &argument : arguments)
          launches.back().push_back(argument.bits);
        return Error::success();
      }));
  return launches;
}

TEST(Recording, FillsInAddresses) {
  Plan plan = cantFail(parsePlan(iotaText("ptx", "iota"), "."));
  const PlanFunction &function = plan.functions[0];
  EXPECT_EQ(Recording::getAddressMask(function), 0u);
  HostValue arguments[2];
  // A stride below 0 and a scalar that look like addresses of no argument.
  arguments[0].memref = {16, 16, 8, {9}, {-1}};
  arguments[1].bits = 7;
  Recording recording = cantFail(Recording::create(plan, function, arguments));
  EXPECT_EQ(recording.getWorkspaceBytes(), 0u);
  ASSERT_EQ(recording.getKernels().size(), 1u);
  for (uint64_t address : {0ull, 4096ull, 0x7fffffffffffull}) {
    auto launches = replay(recording, {address, 0});
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches[0], (std::vector<uint64_t>{address, address, 8, 9,
                                                  uint64_t(-1), 7, 9}));
  }
}

TEST(Recording, ReportsWhatTheProgramRefuses) {
  Plan plan = cantFail(parsePlan(iotaText("ptx", "iota"), "."));
  HostValue arguments[2];
  arguments[0].memref = {0, 0, 0, {-9}, {1}};
  EXPECT_NE(
      toString(
          Recording::create(plan, plan.functions[0], arguments).takeError())
          .find("negative"),
      std::string::npos);
}

/// A program that takes an address and does something with it.
static std::optional<uint64_t> getMask(StringRef use) {
  std::string body = (R"([{"op": "memref.extract_aligned_pointer_as_index",
            "operands": ["%0"], "results": ["%1"]},
           {"op": "arith.constant", "type": "index", "value": 16,
            "results": ["%2"]},
           {"op": "arith.constant", "type": "index", "value": 12,
            "results": ["%3"]},)" +
                      use + R"(, {"op": "func.return"}])")
                         .str();
  Plan plan = cantFail(parsePlan(
      programText(R"([{"name": "x", "value": "%0", "type": {"memref": "f32",
                   "shape": [null], "strides": [null], "offset": 0}}])",
                  body),
      "."));
  return Recording::getAddressMask(plan.functions[0]);
}

TEST(Recording, KnowsWhichBitsOfAnAddressMatter) {
  auto binary = [](StringRef op, StringRef by) {
    return getMask((R"({"op": ")" + op + R"(", "type": "index",
                       "operands": ["%1", ")" +
                    by + R"("], "results": ["%4"]})")
                       .str());
  };
  EXPECT_EQ(binary("arith.remui", "%2"), 15u);
  EXPECT_EQ(binary("arith.andi", "%2"), 31u);
  EXPECT_EQ(binary("arith.andi", "%3"), 15u);
  EXPECT_EQ(binary("arith.remui", "%3"), std::nullopt);
  EXPECT_EQ(binary("arith.addi", "%2"), std::nullopt);
  EXPECT_EQ(binary("arith.remui", "%1"), std::nullopt);
}
