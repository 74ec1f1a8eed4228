//===- PlanMessagesTest.cpp - What is wrong with a launch plan ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every message of the decoder, by a plan that has that one mistake.
//
//===----------------------------------------------------------------------===//

#include "TestPlans.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace mlir::evoformer::runtime;

static std::string problem(StringRef text) {
  Expected<Plan> plan = parsePlan(text, ".");
  return plan ? "(none)" : toString(plan.takeError());
}

/// Arguments %0 (memref<?x4xf32>), %1 (index), %2 (i1), %3 (f32), %4 (i32).
static constexpr StringLiteral kArguments = R"([
  {"name": "m", "value": "%0", "type": {"memref": "f32", "shape": [null, 4],
   "strides": [4, 1], "offset": 0}},
  {"name": "n", "value": "%1", "type": "index"},
  {"name": "b", "value": "%2", "type": "i1"},
  {"name": "x", "value": "%3", "type": "f32"},
  {"name": "i", "value": "%4", "type": "i32"}])";
static constexpr StringLiteral kMatrix =
    R"({"memref": "f32", "shape": [null, 4], "strides": [4, 1], "offset": 0})";
static constexpr StringLiteral kRow =
    R"({"memref": "f32", "shape": [4], "strides": [1], "offset": 0})";

namespace {
struct Case {
  /// One op; a return follows.
  std::string op;
  StringRef message;
};
} // namespace

static std::string view(StringRef op, StringRef type, StringRef rest) {
  return ("{\"op\": \"memref." + op + "\", \"operands\": [\"%0\"], \"type\": " +
          type + rest + ", \"results\": [\"%9\"]}")
      .str();
}

static std::string deepIfs(int depth) {
  std::string text = R"({"op": "scf.yield"})";
  for (int i = 0; i < depth; ++i)
    text =
        R"({"op": "scf.if", "operands": ["%2"], "else": [{"op": "scf.yield"}], "then": [)" +
        text + (i ? R"(, {"op": "scf.yield"}]})" : "]}");
  return text;
}

TEST(PlanMessages, OfOps) {
  const Case cases[] = {
      {R"({"op": "arith.addi", "type": "index", "operands": ["%1"], "results": ["%9"]})",
       "takes 2 operands, has 1"},
      {R"({"op": "arith.addi", "type": "index", "operands": ["%1", "%1"]})",
       "has 0 results, not 1"},
      {R"({"op": "arith.addi", "type": "index", "operands": [1, "%1"]})",
       "an operand is no value"},
      {R"({"op": "arith.addi", "type": "index", "operands": ["%1", "%1"], "results": [9]})",
       "a result is no value"},
      {R"({"op": "arith.addi", "type": "index", "operands": ["%1", "%1"], "results": ["9"]})",
       "'9' is no value"},
      {R"({"op": "arith.addi", "type": "index", "operands": ["%1", "%1"], "results": ["%1"]})",
       "%1 is defined twice"},
      {R"({"op": "arith.addi", "type": "f32", "operands": ["%3", "%3"], "results": ["%9"]})",
       "takes integers"},
      {R"({"op": "arith.addf", "type": "index", "operands": ["%1", "%1"], "results": ["%9"]})",
       "takes floats"},
      {R"({"op": "arith.addi", "type": "i32", "operands": ["%1", "%1"], "results": ["%9"]})",
       "%1 has another type than the op says"},
      {R"({"op": "arith.addi", "operands": ["%1", "%1"], "results": ["%9"]})",
       "no type 'type'"},
      {R"({"op": "arith.addi", "type": "i65", "operands": ["%1", "%1"], "results": ["%9"]})",
       "unknown type 'i65'"},
      {R"({"op": "arith.addi", "type": {"memref": "f31", "shape": [], "strides": []}, "operands": [], "results": ["%9"]})",
       "unknown element type 'f31'"},
      {R"({"op": "memref.alloc", "type": {"memref": "f32", "shape": [4], "strides": []}, "results": ["%9"]})",
       "a memref type's shape and strides differ in length"},
      {R"({"op": "memref.alloc", "type": {"memref": "f32", "shape": [-4], "strides": [1]}, "sizes": [4], "results": ["%9"]})",
       "negative size in a memref type"},
      {("{\"op\": \"arith.trunci\", \"type\": \"i32\", \"resultType\": " +
        kRow + ", \"operands\": [\"%4\"], \"results\": [\"%9\"]}")
           .str(),
       "takes scalars"},
      {("{\"op\": \"arith.constant\", \"type\": " + kRow +
        ", \"value\": 1, \"results\": [\"%9\"]}")
           .str(),
       "is a scalar"},
      {R"({"op": "arith.constant", "type": "f32", "value": 1, "results": ["%9"]})",
       "no integer 'bits'"},
      {R"({"op": "arith.constant", "type": "i32", "value": "1", "results": ["%9"]})",
       "'value' is no integer"},
      {R"({"op": "arith.negf", "type": "i32", "operands": ["%4"], "results": ["%9"]})",
       "takes a float"},
      {R"({"op": "arith.cmpi", "type": "f32", "predicate": 1, "operands": ["%3", "%3"], "results": ["%9"]})",
       "takes operands of another kind"},
      {R"({"op": "arith.cmpi", "type": "i32", "predicate": 10, "operands": ["%4", "%4"], "results": ["%9"]})",
       "unknown predicate 10"},
      {R"({"op": "arith.select", "type": "i32", "operands": ["%1", "%4", "%4"], "results": ["%9"]})",
       "%1 has another type than the op says"},
      {R"({"op": "cf.assert", "operands": ["%1"], "message": "m"})",
       "%1 has another type than the op says"},
      {R"({"op": "cf.assert", "operands": ["%2"]})", "no string 'message'"},
      {R"({"op": "memref.alloc", "type": "f32", "results": ["%9"]})",
       "yields a memref"},
      {("{\"op\": \"memref.alloc\", \"type\": " + kMatrix +
        ", \"sizes\": [4], \"results\": [\"%9\"]}")
           .str(),
       "'sizes' holds 1 entries, not 2"},
      {("{\"op\": \"memref.alloc\", \"type\": " + kMatrix +
        ", \"sizes\": [\"%4\", 4], \"results\": [\"%9\"]}")
           .str(),
       "%4 is no index"},
      {("{\"op\": \"memref.alloc\", \"type\": " + kMatrix +
        ", \"results\": [\"%9\"]}")
           .str(),
       "no list 'sizes'"},
      {R"({"op": "memref.dim", "operands": ["%1", "%1"], "results": ["%9"]})",
       "%1 has the wrong kind of type"},
      {R"({"op": "memref.dim", "operands": ["%0", "%4"], "results": ["%9"]})",
       "%4 is no index"},
      {view("cast", R"("f32")", ""),
       "yields a memref of its operand's element type"},
      {view("cast", kRow, ""), "changes the rank"},
      {view(
           "subview", kRow,
           R"(, "droppedDims": [2], "offsets": [0, 0], "sizes": [1, 4], "strides": [1, 1])"),
       "drops a dimension that does not exist"},
      {view(
           "subview", kRow,
           R"(, "droppedDims": [], "offsets": [0, 0], "sizes": [1, 4], "strides": [1, 1])"),
       "drops another number of dimensions than it says"},
      {view(
           "subview", kRow,
           R"(, "droppedDims": [0], "offsets": [0], "sizes": [1, 4], "strides": [1, 1])"),
       "'offsets' holds 1 entries, not 2"},
      {view("reinterpret_cast", kRow,
            R"(, "offsets": [0], "sizes": [4, 4], "strides": [1])"),
       "'sizes' holds 2 entries, not 1"},
      {view("transpose", kMatrix, R"(, "permutation": [0, 0])"),
       "its permutation is none"},
      {view("transpose", kMatrix, R"(, "permutation": [0])"),
       "its permutation has another rank"},
      {R"({"op": "func.return"})",
       "a terminator stands before the end of its region"},
      {R"({"op": "scf.if", "operands": ["%2"], "then": [], "else": []})",
       "a region does not end with scf.yield"},
      {R"({"op": "scf.if", "operands": ["%2"], "resultTypes": ["i32"], "then": [{"op": "scf.yield"}], "else": [{"op": "scf.yield"}], "results": ["%9"]})",
       "takes 1 operands, has 0"},
      {R"({"op": "scf.if", "operands": ["%2"], "then": [7], "else": []})",
       "it is no object"},
      {R"({"op": "scf.for", "operands": ["%2"], "arguments": ["%9"], "body": []})",
       "takes 3 operands, has 1"},
      {R"({"op": "scf.for", "operands": ["%1", "%1", "%1"], "arguments": [9], "body": []})",
       "an argument is no value"},
      {R"({"op": "scf.for", "operands": ["%1", "%1", "%1"], "arguments": ["%8", "%9"], "body": []})",
       "has 2 arguments, not 1"},
      {R"({"op": "scf.for", "operands": ["%1", "%1", "%1"], "arguments": ["%8"], "body": []})",
       "a region does not end with scf.yield"},
      {R"({"op": "scf.for", "operands": ["%1", "%1", "%2"], "arguments": ["%8"], "body": []})",
       "%2 is no index"},
      {deepIfs(202), "regions are nested too deeply"},
      {R"({"op": "evo_tile.launch", "kernel": "k", "space": []})",
       "there is no kernel 'k'"},
      {R"({"noop": 1})", "no string 'op'"},
  };
  for (const Case &entry : cases) {
    std::string text = problem(programText(
        kArguments, "[" + entry.op + ", {\"op\": \"func.return\"}]"));
    EXPECT_NE(text.find(entry.message), std::string::npos)
        << entry.op << "\n  " << text << "\n  " << entry.message.str();
    EXPECT_NE(text.find("function 'f', op "), std::string::npos) << text;
  }
  // The arguments themselves are right.
  EXPECT_EQ(problem(programText(kArguments, R"([{"op": "func.return"}])")),
            "(none)");
}

TEST(PlanMessages, OfFunctions) {
  StringRef body = R"([{"op": "func.return"}])";
  const std::pair<StringRef, StringRef> cases[] = {
      {R"([7])", "an argument is no object"},
      {R"([{"name": "x", "type": "f32"}])", "an argument has no 'value'"},
      {R"([{"name": "x", "value": "%0"}])", "no type 'type'"},
      {R"([{"value": "%0", "type": "f32"}])", "no string 'name'"},
      {R"([{"name": "x", "value": "%0", "type": "f32"},
           {"name": "y", "value": "%0", "type": "f32"}])",
       "%0 is defined twice"},
  };
  for (auto [args, message] : cases) {
    std::string text = problem(programText(args, body));
    EXPECT_NE(text.find(message), std::string::npos)
        << args.str() << "\n  " << text;
  }
}

/// The plan with one piece of text replaced.
static std::string replaced(StringRef from, StringRef to) {
  std::string text = iotaText("ptx", "abc");
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from.str();
  text.replace(at, from.size(), to);
  return problem(text);
}

TEST(PlanMessages, OfKernelsAndObjects) {
  const std::array<StringRef, 3> cases[] = {
      {"\"object\": 0", "\"object\": 1", "kernel 0: its object does not exist"},
      {"\"threads\": 64", "\"threads\": 4096",
       "its ldsBytes or threads are out of range"},
      {"\"threads\": 64", "\"threads\": 0",
       "its ldsBytes or threads are out of range"},
      {"\"threads\": 64", "\"threads\": 64, \"startsEarly\": 1",
       "its startsEarly is not true or false"},
      {"[8, 8, 8, 8, 8, 4, 8]", "[8, 8, 3, 8, 8, 4, 8]",
       "an argument takes 1, 2, 4 or 8 bytes"},
      {"\"threads\": 64", "\"threads\": 64, \"tensorMaps\": [{\"slot\": 4}]",
       "kernel 0: a tensor map is not one of its arguments"},
      {"\"text\": \"abc\"", "\"base64\": \"?\"", "its base64 is malformed"},
      {"\"text\": \"abc\"", "\"other\": \"\"", "no string 'file'"},
      {"\"version\": 1", "\"version\": 2",
       "version 2 is not supported; this is 1"},
      {"\"version\": 1", "\"version\": \"1\"", "'version' is no integer"},
      {"\"kernels\": [", "\"kernels\": [7, ", "it is no object"},
      {"\"functions\": [", "\"functions\": 7, \"other\": [",
       "no list 'functions'"},
  };
  for (auto [from, to, message] : cases) {
    std::string text = replaced(from, to);
    EXPECT_NE(text.find(message), std::string::npos)
        << to.str() << "\n  " << text;
  }
  std::string kernel =
      R"({"name": "iota", "symbol": "iota", "object": 0, "threads": 64, )"
      R"("ldsBytes": 0, "argumentBytes": []}, )";
  std::string text = replaced("\"kernels\": [", "\"kernels\": [" + kernel);
  EXPECT_NE(text.find("'iota' exists twice"), std::string::npos) << text;
}
