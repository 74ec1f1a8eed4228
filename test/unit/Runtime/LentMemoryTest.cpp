//===- LentMemoryTest.cpp - Buffers where results will be -----------------===//
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

namespace {
const char allocate[] = R"({"op": "memref.alloc", "operands": [],
    "sizes": ["%1"], "type": {"memref": "i64", "shape": [null], "strides": [1],
    "offset": 0}, "results": ["%%d"]})";
const char launch[] = R"({"op": "evo_tile.launch", "kernel": "iota",
    "space": ["%1"], "operands": ["%%d", "%2"]})";
const char release[] = R"({"op": "memref.dealloc", "operands": ["%%d"],
    "results": []})";

/// f(x, n, start): `steps` are of buffers of n elements, by the number of their
/// value, or of x, which is number 0.
Plan makePlan(ArrayRef<std::pair<StringRef, int>> steps,
              bool isOverwritten = true) {
  std::string body = "[";
  for (auto [step, number] : steps) {
    auto [before, after] = step.split("%%d");
    body += (before + "%" + Twine(number) + after + ", ").str();
  }
  body += "{\"op\": \"func.return\"}]";
  std::string text = iotaText("ptx", "iota");
  size_t args = text.find("\"args\""), end = text.find("]}]}", args);
  text.replace(args, end - args + 1,
               std::string(R"("args": [{"name": "x", "value": "%0",)") +
                   (isOverwritten ? R"("overwritten": true,)" : "") +
                   R"("type": {"memref": "i64", "shape": [null],
                       "strides": [null], "offset": null}},
                      {"name": "n", "value": "%1", "type": "index"},
                      {"name": "start", "value": "%2", "type": "i32"}],
                     "body": )" +
                   body);
  return cantFail(parsePlan(text, "."));
}

/// The addresses that launches take, and the workspace of the run.
struct Outcome {
  std::vector<uint64_t> addresses;
  uint64_t workspaceBytes = 0;
};
Outcome run(const Plan &plan, MemRefDescriptor x, int64_t n,
            uint64_t guardBytes = 0) {
  HostValue values[3];
  values[0].memref = std::move(x);
  values[1].bits = n;
  Outcome result;
  Workspace workspace = Workspace::unlimited(guardBytes);
  cantFail(interpret(plan, plan.functions[0], values, workspace,
                     [&](unsigned, uint64_t, ArrayRef<LaunchArgument> taken) {
                       result.addresses.push_back(taken[1].bits);
                       return Error::success();
                     }));
  EXPECT_EQ(workspace.getNumLive(), 0u);
  result.workspaceBytes = workspace.getHighWater();
  EXPECT_EQ(
      cantFail(queryWorkspace(plan, plan.functions[0], values, guardBytes)),
      result.workspaceBytes);
  return result;
}

constexpr uint64_t kWorkspace = uint64_t(1) << 60;
constexpr uint64_t kResult = 1 << 20;
MemRefDescriptor result(int64_t size, int64_t stride = 1, int64_t offset = 0) {
  return {kResult, kResult, offset, {size}, {stride}};
}
using Addresses = std::vector<uint64_t>;
} // namespace

TEST(LentMemory, HoldsWhatIsReleasedBeforeTheResult) {
  Plan plan = makePlan({{allocate, 3}, {launch, 3}, {release, 3}, {launch, 0}});
  Outcome lent = run(plan, result(132), 100);
  EXPECT_EQ(lent.addresses, (Addresses{kResult, kResult}));
  EXPECT_EQ(lent.workspaceBytes, 0u);
  // 800 bytes have no room wherever it begins.
  EXPECT_EQ(run(plan, result(131), 100).addresses[0], kWorkspace);
  // The result has gaps, which belong to somebody else.
  EXPECT_EQ(run(plan, result(300, 2), 100).addresses[0], kWorkspace);
  // It begins in the middle; buffers begin at multiples of 256 bytes.
  EXPECT_EQ(run(plan, result(132, 1, 1), 100).addresses[0], kResult + 256);
}

TEST(LentMemory, IsOfResultsThatNothingTakesMeanwhile) {
  auto first = [](ArrayRef<std::pair<StringRef, int>> steps,
                  bool isOverwritten = true) {
    return run(makePlan(steps, isOverwritten), result(200), 100).addresses[0];
  };
  EXPECT_EQ(first({{allocate, 3}, {launch, 3}, {launch, 0}, {release, 3}}),
            kWorkspace);
  EXPECT_EQ(first({{allocate, 3}, {launch, 3}, {release, 3}, {launch, 0}},
                  /*isOverwritten=*/false),
            kWorkspace);
  // Never written by this run.
  EXPECT_EQ(first({{allocate, 3}, {launch, 3}, {release, 3}}), kWorkspace);
  // Written before.
  EXPECT_EQ(run(makePlan({{launch, 0},
                          {allocate, 3},
                          {launch, 3},
                          {release, 3},
                          {launch, 0}}),
                result(200), 100)
                .addresses[1],
            kWorkspace);
}

TEST(LentMemory, HoldsSeveralBuffers) {
  Plan together = makePlan({{allocate, 3},
                            {allocate, 4},
                            {launch, 3},
                            {launch, 4},
                            {release, 3},
                            {release, 4},
                            {launch, 0}});
  // The second 800 bytes end at 1824, or 255 later.
  EXPECT_EQ(run(together, result(260), 100).addresses,
            (Addresses{kResult, kResult + 1024, kResult}));
  EXPECT_EQ(run(together, result(259), 100).addresses[1], kWorkspace);
  EXPECT_EQ(run(together, result(400), 100, /*guardBytes=*/256).addresses[1],
            kResult + 1280);

  // One after the other at one place, unless guards keep them apart.
  Plan turns = makePlan({{allocate, 3},
                         {launch, 3},
                         {release, 3},
                         {allocate, 4},
                         {launch, 4},
                         {release, 4},
                         {launch, 0}});
  EXPECT_EQ(run(turns, result(132), 100).addresses,
            (Addresses{kResult, kResult, kResult}));
  Outcome apart = run(turns, result(400), 100, /*guardBytes=*/256);
  EXPECT_EQ(apart.addresses, (Addresses{kResult, kResult + 1280, kResult}));
  EXPECT_EQ(apart.workspaceBytes, 0u);
}

TEST(LentMemory, IsRecordedAsThePlaceInTheResult) {
  Plan plan = makePlan({{allocate, 3}, {launch, 3}, {release, 3}, {launch, 0}});
  const PlanFunction &function = plan.functions[0];
  // A recording serves every address.
  EXPECT_EQ(Recording::getAddressMask(function), 0u);
  HostValue values[3];
  values[0].memref = {0, 0, 3, {132}, {1}};
  values[1].bits = 100;
  Recording recording = cantFail(Recording::create(plan, function, values));
  EXPECT_EQ(recording.getWorkspaceBytes(), 0u);
  for (uint64_t address : {4096, 4096 + 8, 4096 + 232, 4096 + 240}) {
    Addresses addresses;
    cantFail(recording.replay(
        {address, 0, 0}, /*workspace=*/0,
        [&](unsigned, uint64_t, ArrayRef<LaunchArgument> taken) {
          addresses.push_back(taken[1].bits);
          return Error::success();
        }));
    // The third element of the result is its first.
    uint64_t place = address + 24 <= 4096 + 256 ? 4096 + 256 : 4096 + 512;
    EXPECT_EQ(addresses, (Addresses{place, address}));
  }
}

TEST(LentMemory, IsSaidByThePlan) {
  std::string text = programText(
      R"([{"name": "x", "value": "%0", "type": "index", "overwritten": true}])",
      R"([{"op": "func.return"}])");
  EXPECT_NE(toString(parsePlan(text, ".").takeError())
                .find("'overwritten' is true, of a memref"),
            std::string::npos);
}
