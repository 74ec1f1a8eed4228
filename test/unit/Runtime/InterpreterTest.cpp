//===- InterpreterTest.cpp - Running host programs ------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Runtime/Interpreter.h"
#include "TestPlans.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mlir::evoformer::runtime;

namespace {
Error noLaunch(unsigned, uint64_t, ArrayRef<LaunchArgument>) {
  return createStringError("no launch is expected");
}

/// A program's results, or its error as text.
struct Outcome {
  std::vector<HostValue> results;
  std::string problem;
};
Outcome runText(StringRef text, ArrayRef<HostValue> arguments) {
  Expected<Plan> plan = parsePlan(text, ".");
  if (!plan)
    return {{}, toString(plan.takeError())};
  Workspace workspace = Workspace::unlimited();
  auto results =
      interpret(*plan, plan->functions[0], arguments, workspace, noLaunch);
  if (!results)
    return {{}, toString(results.takeError())};
  return {std::move(*results), ""};
}

/// An op on one or two scalars of type `type`; its result's bits, or the error.
std::string scalar(StringRef op, StringRef type, ArrayRef<int64_t> operands,
                   StringRef resultType = "", StringRef extra = "") {
  if (resultType.empty())
    resultType = type;
  std::vector<HostValue> values;
  std::string args, uses;
  for (int64_t bits : operands) {
    std::string id = "\"%" + std::to_string(values.size()) + "\"";
    values.emplace_back();
    values.back().bits = bits;
    args += (args.empty() ? "" : ", ") + std::string("{\"name\": \"x\", ") +
            "\"value\": " + id + ", \"type\": \"" + type.str() + "\"}";
    uses += (uses.empty() ? "" : ", ") + id;
  }
  std::string body = "[{\"op\": \"" + op.str() + "\", \"type\": \"" +
                     type.str() + "\", \"resultType\": \"" + resultType.str() +
                     "\"" + extra.str() + ", \"operands\": [" + uses +
                     "], \"results\": [\"%9\"]}, {\"op\": \"func.return\", "
                     "\"operands\": [\"%9\"]}]";
  Outcome outcome = runText(
      programText("[" + args + "]", body, "[\"" + resultType.str() + "\"]"),
      values);
  return outcome.problem.empty() ? std::to_string(outcome.results[0].bits)
                                 : outcome.problem;
}

MemRefDescriptor matrix(int64_t rows, int64_t columns) {
  return {4096, 4096, 0, {rows, columns}, {columns, 1}};
}

const char matrixArgument[] =
    R"([{"name": "x", "value": "%0", "type": {"memref": "f32",
        "shape": [null, null], "strides": [null, 1], "offset": 0}}])";
const std::string anyMatrix = R"({"memref": "f32", "shape": [null, null],
                                  "strides": [null, null], "offset": null})";

#define EXPECT_CONTAINS(TEXT, PART)                                            \
  EXPECT_NE((TEXT).find(PART), std::string::npos) << (TEXT)
} // namespace

TEST(Interpreter, IntegerArithmetic) {
  EXPECT_EQ(scalar("arith.addi", "i64", {INT64_MAX, 1}),
            std::to_string(INT64_MIN));
  EXPECT_EQ(scalar("arith.muli", "i32", {1 << 20, 1 << 12}), "0");
  EXPECT_EQ(scalar("arith.ceildivsi", "index", {7, 2}), "4");
  EXPECT_EQ(scalar("arith.ceildivsi", "index", {-7, 2}), "-3");
  EXPECT_EQ(scalar("arith.ceildivsi", "index", {-7, -2}), "4");
  EXPECT_EQ(scalar("arith.floordivsi", "index", {-7, 2}), "-4");
  EXPECT_EQ(scalar("arith.floordivsi", "index", {-7, -2}), "3");
  EXPECT_EQ(scalar("arith.divsi", "index", {-7, 2}), "-3");
  EXPECT_EQ(scalar("arith.remsi", "index", {-7, 2}), "-1");
  EXPECT_EQ(scalar("arith.remsi", "i64", {INT64_MIN, -1}), "0");
  EXPECT_EQ(scalar("arith.divui", "i8", {-1, 2}), "127");
  EXPECT_EQ(scalar("arith.minui", "i32", {-1, 3}), "3");
  EXPECT_EQ(scalar("arith.maxui", "i32", {-1, 3}), "-1");
  EXPECT_EQ(scalar("arith.shrui", "i32", {-1, 28}), "15");
  EXPECT_EQ(scalar("arith.shrsi", "i32", {-16, 2}), "-4");
  EXPECT_EQ(scalar("arith.shli", "i8", {3, 6}), "-64");
  EXPECT_CONTAINS(scalar("arith.divsi", "index", {1, 0}), "division by zero");
  EXPECT_CONTAINS(scalar("arith.ceildivui", "index", {1, 0}),
                  "division by zero");
  EXPECT_CONTAINS(scalar("arith.divsi", "i64", {INT64_MIN, -1}), "overflow");
  EXPECT_CONTAINS(scalar("arith.divsi", "i32", {INT32_MIN, -1}), "overflow");
  EXPECT_CONTAINS(scalar("arith.shli", "i32", {1, 32}),
                  "arith.shli: shift by the width or more");
}

TEST(Interpreter, Comparisons) {
  auto compare = [](int predicate, StringRef type, int64_t a, int64_t b) {
    return scalar(type == "f32" ? "arith.cmpf" : "arith.cmpi", type, {a, b},
                  "i1", ", \"predicate\": " + std::to_string(predicate));
  };
  // eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge on (-1, 1).
  const char *expected[] = {"0", "-1", "-1", "-1", "0",
                            "0", "0",  "0",  "-1", "-1"};
  for (int predicate = 0; predicate < 10; ++predicate)
    EXPECT_EQ(compare(predicate, "i32", -1, 1), expected[predicate])
        << predicate;
  // olt (4) and ult (11) with a NaN; uno (14), ord (7).
  int64_t one = 0x3f800000, two = 0x40000000, nan = 0x7fc00000;
  EXPECT_EQ(compare(4, "f32", one, two), "-1");
  EXPECT_EQ(compare(4, "f32", one, nan), "0");
  EXPECT_EQ(compare(11, "f32", one, nan), "-1");
  EXPECT_EQ(compare(11, "f32", two, one), "0");
  EXPECT_EQ(compare(14, "f32", one, nan), "-1");
  EXPECT_EQ(compare(7, "f32", one, nan), "0");
  EXPECT_EQ(scalar("arith.divf", "f32", {one, two}),
            std::to_string(0x3f000000));
  EXPECT_EQ(scalar("arith.minimumf", "f32", {one, two}), std::to_string(one));
  EXPECT_EQ(scalar("arith.maximumf", "f32", {one, two}), std::to_string(two));
  EXPECT_EQ(scalar("arith.maximumf", "f32", {one, nan}), std::to_string(nan));
}

TEST(Interpreter, CastsRoundOnce) {
  EXPECT_EQ(scalar("arith.trunci", "i64", {0x1ff}, "i8"), "-1");
  EXPECT_EQ(scalar("arith.extui", "i8", {-1}, "i32"), "255");
  EXPECT_EQ(scalar("arith.index_castui", "i32", {-1}, "index"), "4294967295");
  EXPECT_EQ(scalar("arith.index_cast", "i32", {-1}, "index"), "-1");
  EXPECT_EQ(scalar("arith.sitofp", "i64", {3}, "f32"),
            std::to_string(0x40400000));
  // Through f64 this would be a tie and round down to even.
  EXPECT_EQ(
      scalar("arith.sitofp", "i64", {(1ll << 60) + (1ll << 36) + 1}, "f32"),
      std::to_string(0x5d800001));
  EXPECT_EQ(scalar("arith.fptosi", "f32", {0x40400000}, "i32"), "3");
  EXPECT_CONTAINS(scalar("arith.fptosi", "f32", {0x7fc00000}, "i32"),
                  "arith.fptosi: the value does not fit");
}

TEST(Interpreter, Views) {
  std::string body = R"([
    {"op": "memref.subview", "operands": ["%0"], "offsets": [1, 2],
     "sizes": [2, 3], "strides": [1, 2], "droppedDims": [], "type": )" +
                     anyMatrix + R"(, "results": ["%1"]},
    {"op": "memref.transpose", "operands": ["%1"], "permutation": [1, 0],
     "type": )" + anyMatrix +
                     R"(, "results": ["%2"]},
    {"op": "memref.extract_strided_metadata", "operands": ["%2"],
     "results": ["%3", "%4", "%5", "%6", "%7", "%8"]},
    {"op": "memref.reinterpret_cast", "operands": ["%3"], "offsets": ["%4"],
     "sizes": ["%6", 1], "strides": ["%8", 0], "type": )" +
                     anyMatrix + R"(, "results": ["%9"]},
    {"op": "func.return", "operands": ["%2", "%9"]}])";
  HostValue value;
  value.memref = matrix(4, 10);
  Outcome outcome =
      runText(programText(matrixArgument, body,
                          "[" + anyMatrix + "," + anyMatrix + "]"),
              value);
  ASSERT_EQ(outcome.problem, "");
  const MemRefDescriptor &transposed = outcome.results[0].memref;
  EXPECT_EQ(transposed.offset, 12);
  EXPECT_EQ(transposed.sizes, (SmallVector<int64_t, 6>{3, 2}));
  EXPECT_EQ(transposed.strides, (SmallVector<int64_t, 6>{2, 10}));
  const MemRefDescriptor &recast = outcome.results[1].memref;
  EXPECT_EQ(recast.offset, 12);
  EXPECT_EQ(recast.sizes, (SmallVector<int64_t, 6>{2, 1}));
  EXPECT_EQ(recast.strides, (SmallVector<int64_t, 6>{10, 0}));
}

TEST(Interpreter, SubViewsStayInside) {
  std::string body = R"([
    {"op": "memref.subview", "operands": ["%0"], "offsets": [3, 0],
     "sizes": [2, 1], "strides": [1, 1], "droppedDims": [], "type": )" +
                     anyMatrix + R"(, "results": ["%1"]},
    {"op": "func.return"}])";
  HostValue value;
  value.memref = matrix(5, 10);
  EXPECT_EQ(runText(programText(matrixArgument, body), value).problem, "");
  value.memref = matrix(4, 10);
  EXPECT_CONTAINS(runText(programText(matrixArgument, body), value).problem,
                  "memref.subview takes 2 elements from 3");
}

TEST(Interpreter, ArgumentsMustFit) {
  HostValue value;
  value.memref = matrix(4, 10);
  value.memref.strides[1] = 2;
  std::string text = programText(matrixArgument, R"([{"op": "func.return"}])");
  EXPECT_EQ(runText(text, value).problem,
            "argument 'x': stride 2 of dimension 1 where 1 is expected");
  // The stride of a dimension of size 1 does not matter.
  value.memref.sizes[1] = 1;
  EXPECT_EQ(runText(text, value).problem, "");
  value.memref.sizes[0] = -1;
  EXPECT_EQ(runText(text, value).problem,
            "argument 'x': size -1 of dimension 0 is negative");
  EXPECT_EQ(runText(text, {}).problem, "function 'f' takes 1 arguments, not 0");
}

TEST(Interpreter, BranchesAndAssertions) {
  std::string text = programText(
      R"([{"name": "c", "value": "%0", "type": "i1"}])",
      R"([{"op": "scf.if", "operands": ["%0"], "resultTypes": ["index"],
           "results": ["%9"],
           "then": [{"op": "arith.constant", "type": "index", "value": 5,
                     "results": ["%1"]},
                    {"op": "scf.yield", "operands": ["%1"]}],
           "else": [{"op": "arith.constant", "type": "index", "value": 6,
                     "results": ["%2"]},
                    {"op": "scf.yield", "operands": ["%2"]}]},
          {"op": "cf.assert", "operands": ["%0"], "message": "c must hold"},
          {"op": "func.return", "operands": ["%9"]}])",
      R"(["index"])");
  HostValue value;
  value.bits = 1;
  Outcome outcome = runText(text, value);
  ASSERT_EQ(outcome.problem, "");
  EXPECT_EQ(outcome.results[0].bits, 5);
  value.bits = 0;
  EXPECT_EQ(runText(text, value).problem, "function 'f': c must hold");
}

/// The sum of the counters from `begin` to `end`.
static std::string loopText(int64_t begin, int64_t end, int64_t step) {
  auto constant = [](int64_t value, const char *name) {
    return R"({"op": "arith.constant", "type": "index", "value": )" +
           std::to_string(value) + R"(, "results": [")" + name + R"("]},)";
  };
  return programText("[]",
                     "[" + constant(begin, "%0") + constant(end, "%1") +
                         constant(step, "%2") + constant(0, "%3") +
                         R"({"op": "scf.for",
           "operands": ["%0", "%1", "%2", "%3"], "arguments": ["%4", "%5"],
           "resultTypes": ["index"], "results": ["%7"],
           "body": [{"op": "arith.addi", "operands": ["%4", "%5"],
                     "type": "index", "results": ["%6"]},
                    {"op": "scf.yield", "operands": ["%6"]}]},
          {"op": "func.return", "operands": ["%7"]}])",
                     R"(["index"])");
}

TEST(Interpreter, Loops) {
  auto sum = [](int64_t begin, int64_t end, int64_t step) {
    Outcome outcome = runText(loopText(begin, end, step), {});
    EXPECT_EQ(outcome.problem, "");
    return outcome.problem.empty() ? outcome.results[0].bits : -1;
  };
  EXPECT_EQ(sum(2, 9, 3), 2 + 5 + 8);
  EXPECT_EQ(sum(2, 8, 3), 2 + 5);
  EXPECT_EQ(sum(-4, 1, 2), -4 - 2 + 0);
  EXPECT_EQ(sum(3, 3, 1), 0);
  EXPECT_EQ(sum(INT64_MAX - 1, INT64_MAX, 5), INT64_MAX - 1);
  EXPECT_EQ(sum(5, INT64_MIN, 1), 0);
  EXPECT_EQ(runText(loopText(0, 4, 0), {}).problem,
            "function 'f': scf.for with a step of 0, which is not positive");
  EXPECT_EQ(runText(loopText(INT64_MIN, INT64_MAX, 1), {}).problem,
            "function 'f': all loops of a run together have at most 1048576 "
            "trips");
}

TEST(Workspace, FirstFitAndHighWater) {
  Workspace workspace(1 << 20, 1024);
  uint64_t a = cantFail(workspace.allocate(1));
  uint64_t b = cantFail(workspace.allocate(300));
  EXPECT_EQ(a, 1u << 20);
  EXPECT_EQ(b, a + 256);
  EXPECT_EQ(workspace.getHighWater(), 768u);
  cantFail(workspace.release(a));
  EXPECT_EQ(cantFail(workspace.allocate(256)), a);
  EXPECT_EQ(toString(workspace.allocate(257).takeError()),
            "workspace of 1024 bytes is too small for a further buffer of 257 "
            "(768 in use)");
  EXPECT_EQ(toString(workspace.allocate(UINT64_MAX).takeError()),
            "workspace of 1024 bytes is too small for a buffer of "
            "18446744073709551615");
  EXPECT_EQ(toString(workspace.release(a + 8)),
            "memref.dealloc of something that memref.alloc did not return");
}

TEST(Workspace, GuardedBuffersAreApartAndNotReused) {
  Workspace workspace = Workspace::unlimited(1);
  uint64_t a = cantFail(workspace.allocate(4));
  cantFail(workspace.release(a));
  uint64_t b = cantFail(workspace.allocate(4));
  EXPECT_EQ(b, a + 3 * 256);
  ASSERT_EQ(workspace.getLive().size(), 1u);
  EXPECT_EQ(workspace.getLive()[0].address, b);
  EXPECT_EQ(workspace.getLive()[0].bytes, 4u);
  ASSERT_EQ(workspace.getGuardZones().size(), 4u);
  EXPECT_EQ(workspace.getGuardZones()[0].address, a - 256);
  EXPECT_EQ(workspace.getGuardZones()[1].address, a + 4);
  EXPECT_EQ(workspace.getGuardZones()[1].bytes, 508u);
}

TEST(Interpreter, DimensionsMustExist) {
  std::string text = programText(
      R"([{"name": "x", "value": "%0", "type": {"memref": "f32",
           "shape": [null, null], "strides": [null, 1], "offset": 0}},
          {"name": "d", "value": "%1", "type": "index"}])",
      R"([{"op": "memref.dim", "operands": ["%0", "%1"], "results": ["%2"]},
          {"op": "func.return", "operands": ["%2"]}])",
      R"(["index"])");
  HostValue values[2];
  values[0].memref = matrix(4, 10);
  values[1].bits = 1;
  EXPECT_EQ(runText(text, values).results[0].bits, 10);
  for (int64_t dim : {2, -1}) {
    values[1].bits = dim;
    EXPECT_CONTAINS(runText(text, values).problem,
                    "memref.dim of dimension " + std::to_string(dim) +
                        " of a memref of rank 2");
  }
}

TEST(Interpreter, SizesMustBePossible) {
  std::string text =
      programText(R"([{"name": "n", "value": "%0", "type": "index"}])",
                  R"([{"op": "memref.alloc", "operands": [], "sizes": ["%0", 4],
           "type": {"memref": "f32", "shape": [null, 4], "strides": [4, 1],
                    "offset": 0}, "results": ["%1"]},
          {"op": "func.return"}])");
  HostValue value;
  for (int64_t size : {int64_t(-1), INT64_MAX}) {
    value.bits = size;
    EXPECT_CONTAINS(runText(text, value).problem,
                    "memref.alloc of an impossible size");
  }
}

TEST(Interpreter, SpacesMustBePossible) {
  std::string text = iotaText("ptx", "abc");
  auto replace = [&](StringRef from, StringRef to) {
    ASSERT_NE(text.find(from), std::string::npos) << from.str();
    text.replace(text.find(from), from.size(), to);
  };
  // Three extents: the first argument's size, and twice its stride.
  replace("[8, 8, 8, 8, 8, 4, 8]", "[8, 8, 8, 8, 8, 4, 8, 8, 8]");
  replace(
      R"({"op": "memref.dim", "operands": ["%0", "%2"], "results": ["%3"]})",
      R"({"op": "memref.extract_strided_metadata", "operands": ["%0"],
              "results": ["%4", "%5", "%3", "%6"]})");
  replace(R"("space": ["%3"])", R"("space": ["%3", "%6", "%6"])");
  HostValue values[2];
  auto problem = [&](int64_t size, int64_t stride) {
    values[0].memref = {64, 64, 0, {size}, {stride}};
    return runText(text, values).problem;
  };
  EXPECT_CONTAINS(problem(1, 1), "no launch is expected");
  EXPECT_EQ(problem(0, 1), "");
  EXPECT_CONTAINS(problem(1, -1),
                  "the space of kernel 'iota' has a negative extent");
  EXPECT_CONTAINS(problem(1 << 20, int64_t(1) << 40),
                  "the space of kernel 'iota' has too many work items");
}

TEST(Interpreter, QueriesTheWorkspaceWithoutLaunching) {
  std::string text = iotaText("ptx", "abc");
  StringRef before = "{\"op\": \"func.return\"}";
  text.replace(text.find(before), before.size(),
               R"({"op": "memref.alloc", "operands": [], "sizes": ["%3", 2],
                   "type": {"memref": "f32", "shape": [null, 2],
                            "strides": [2, 1], "offset": 0},
                   "results": ["%4"]}, {"op": "func.return"})");
  Expected<Plan> plan = parsePlan(text, ".");
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  HostValue values[2];
  values[0].memref = {64, 64, 0, {100}, {1}};
  Expected<uint64_t> bytes = queryWorkspace(*plan, plan->functions[0], values);
  ASSERT_TRUE(bool(bytes)) << toString(bytes.takeError());
  EXPECT_EQ(*bytes, 1024u);
}
