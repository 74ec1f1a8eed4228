//===- PlanTest.cpp - Decoding launch plans -------------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPlans.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mlir::evoformer::runtime;

namespace {
std::string problem(StringRef text) {
  Expected<Plan> plan = parsePlan(text, ".");
  return plan ? "" : toString(plan.takeError());
}

std::string bodyProblem(StringRef body, StringRef args = "[]") {
  return problem(programText(args, body));
}

#define EXPECT_CONTAINS(TEXT, PART)                                            \
  EXPECT_NE((TEXT).find(PART), std::string::npos) << (TEXT)
} // namespace

TEST(Plan, ReadsKernelsAndFunctions) {
  Expected<Plan> plan = parsePlan(iotaText("ptx", "abc", 77), ".");
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  ASSERT_EQ(plan->kernels.size(), 1u);
  EXPECT_EQ(plan->kernels[0].object->contents, "abc");
  EXPECT_EQ(plan->kernels[0].ldsBytes, 77u);
  ASSERT_NE(plan->lookup("f"), nullptr);
  EXPECT_EQ(plan->lookup("g"), nullptr);
  EXPECT_EQ(plan->lookup("f")->body.size(), 4u);
}

TEST(Plan, RefusesDeepNesting) {
  Expected<Plan> plan = parsePlan(std::string(1 << 20, '['), ".");
  ASSERT_FALSE(bool(plan));
  EXPECT_EQ(toString(plan.takeError()),
            "launch plan: no valid JSON: nested too deeply");
}

TEST(Plan, RefusesGarbage) {
  std::string good = iotaText("ptx", "abc");
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(problem(StringRef(good).take_front(length)), "") << length;
  EXPECT_CONTAINS(problem("\x7f"
                          "ELF"),
                  "no valid JSON");
  EXPECT_CONTAINS(problem("[]"), "no object");
  EXPECT_CONTAINS(problem("{\"version\": 2}"), "version 2");
  EXPECT_CONTAINS(problem(std::string(100000, '[')), "nested too deeply");
}

TEST(Plan, NamesTheOpAtFault) {
  EXPECT_CONTAINS(bodyProblem("[]"), "does not end with func.return");
  EXPECT_CONTAINS(bodyProblem(R"([{"op": "func.call"}])"),
                  "function 'f', op 0: unknown op 'func.call'");
  EXPECT_CONTAINS(bodyProblem(R"([{"op": "arith.addi", "type": "index",
                      "operands": ["%0", "%1"], "results": ["%2"]}])"),
                  "%0 is used before its definition");
  EXPECT_CONTAINS(bodyProblem(R"([{"op": "arith.constant", "type": "index",
                      "value": 1.5, "results": ["%0"]}])"),
                  "no integer");
  EXPECT_CONTAINS(bodyProblem(R"([{"op": "arith.constant", "type": "index",
                      "value": 1, "results": ["%99999999"]}])"),
                  "is no value");
  EXPECT_CONTAINS(bodyProblem(R"([
      {"op": "arith.constant", "type": "index", "value": 1, "results": ["%0"]},
      {"op": "arith.constant", "type": "index", "value": 1, "results": ["%0"]}
      ])"),
                  "defined twice");
  EXPECT_CONTAINS(bodyProblem(R"([
      {"op": "arith.constant", "type": "i32", "value": 1, "results": ["%0"]},
      {"op": "arith.addi", "type": "index", "operands": ["%0", "%0"],
       "results": ["%1"]}])"),
                  "another type");
  EXPECT_CONTAINS(bodyProblem(R"([
      {"op": "arith.constant", "type": "index", "value": 1, "results": ["%0"]},
      {"op": "memref.dim", "operands": ["%0", "%0"], "results": ["%1"]}])"),
                  "wrong kind");
  EXPECT_CONTAINS(bodyProblem(R"([{"op": "evo_tile.launch", "kernel": "k",
                                  "space": [], "operands": []}])"),
                  "no kernel 'k'");
}

TEST(Plan, ValuesOfARegionStayInIt) {
  EXPECT_CONTAINS(bodyProblem(R"([
      {"op": "arith.constant", "type": "i1", "value": 1, "results": ["%0"]},
      {"op": "scf.if", "operands": ["%0"], "then": [
        {"op": "arith.constant", "type": "i1", "value": 1, "results": ["%1"]},
        {"op": "scf.yield"}], "else": [{"op": "scf.yield"}]},
      {"op": "scf.if", "operands": ["%1"], "then": [{"op": "scf.yield"}],
       "else": [{"op": "scf.yield"}]},
      {"op": "func.return"}])"),
                  "%1 is used before its definition");
}

TEST(Plan, LaunchesMustFitTheirKernels) {
  std::string text = iotaText("ptx", "abc");
  StringRef bytes = "[8, 8, 8, 8, 8, 4, 8]";
  text.replace(text.find(bytes), bytes.size(), "[8, 8, 8, 8, 8, 8, 8]");
  EXPECT_CONTAINS(problem(text), "its arguments are not those of kernel");
}

TEST(Plan, NamesAMissingObjectFile) {
  EXPECT_CONTAINS(problem(R"({"version": 1, "objects": [{"format": "ptx",
      "target": "sm_80", "file": "does-not-exist.ptx"}]})"),
                  "does-not-exist.ptx");
}
