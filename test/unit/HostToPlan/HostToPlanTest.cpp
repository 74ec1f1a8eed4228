//===- HostToPlanTest.cpp - From host functions to a launch plan ----------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Conversion/HostToPlan/CPUCode.h"
#include "Evoformer/Pipelines/InitAll.h"
#include "Evoformer/Runtime/Session.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::evoformer;
using llvm::cantFail;
using llvm::toString;

namespace {
class HostToPlan : public testing::Test {
protected:
  HostToPlan() {
    DialectRegistry registry;
    mlir::registerAllDialects(registry);
    evoformer::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// The plan of `text`, or the diagnostics.
  llvm::Expected<runtime::Plan> compile(StringRef text) {
    std::string problems;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      problems += diagnostic.str() + "\n";
      return success();
    });
    auto fail = [&] { return llvm::createStringError("MLIR: " + problems); };
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    if (!module)
      return fail();
    FailureOr<PlanCode> code = compileKernelsForCPU(*module);
    if (failed(code))
      return fail();
    FailureOr<llvm::json::Value> json = emitLaunchPlan(*module, *code);
    if (failed(json))
      return fail();
    // Through text, as a file would go.
    return runtime::parsePlan(llvm::formatv("{0}", *json).str(), ".");
  }

  std::string problem(StringRef text) {
    llvm::Expected<runtime::Plan> plan = compile(text);
    return plan ? "" : toString(plan.takeError());
  }

  MLIRContext context;
};

#define EXPECT_CONTAINS(TEXT, PART)                                            \
  EXPECT_NE((TEXT).find(PART), std::string::npos) << (TEXT)

/// y[i] = factor * x[i] in tiles of 16, through an intermediate and a view.
const char scaleText[] = R"(
evo_tile.kernel @scale(%x: memref<?xf32, strided<[?], offset: ?>>,
                       %y: memref<?xf32>, %factor: f32) {
  %i = evo_tile.work_item_id 0
  %c16 = arith.constant 16 : index
  %at = arith.muli %i, %c16 : index
  %t = evo_tile.load %x[%at] : memref<?xf32, strided<[?], offset: ?>>
      -> tensor<16xf32>
  %f = tensor.splat %factor : tensor<16xf32>
  %s = arith.mulf %t, %f : tensor<16xf32>
  evo_tile.store %s, %y[%at] : tensor<16xf32>, memref<?xf32>
  evo_tile.return
}
func.func @f(%x: memref<?x2xf32> {evoformer.name = "input"}, %y: memref<?xf32>,
             %double: i1) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %n = memref.dim %x, %c0 : memref<?x2xf32>
  %m = memref.dim %y, %c0 : memref<?xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "x and y differ in length"
  %column = memref.subview %x[0, 1] [%n, 1] [1, 1]
      : memref<?x2xf32> to memref<?xf32, strided<[2], offset: 1>>
  %any = memref.cast %column : memref<?xf32, strided<[2], offset: 1>>
      to memref<?xf32, strided<[?], offset: ?>>
  %tmp = memref.alloc(%n) : memref<?xf32>
  %chosen = scf.if %double -> f32 {
    scf.yield %two : f32
  } else {
    scf.yield %one : f32
  }
  // One more in each of 16 / 5 trips, and then as many less.
  %c5 = arith.constant 5 : index
  %four = arith.constant 4.0 : f32
  %more = scf.for %i = %c0 to %c16 step %c5 iter_args(%sum = %chosen) -> f32 {
    %next = arith.addf %sum, %one : f32
    scf.yield %next : f32
  }
  %factor = arith.subf %more, %four : f32
  %tiles = arith.ceildivsi %n, %c16 : index
  evo_tile.launch @scale space(%tiles) args(%any, %tmp, %factor
      : memref<?xf32, strided<[?], offset: ?>>, memref<?xf32>, f32)
  %again = memref.cast %tmp : memref<?xf32>
      to memref<?xf32, strided<[?], offset: ?>>
  evo_tile.launch @scale space(%tiles) args(%again, %y, %factor
      : memref<?xf32, strided<[?], offset: ?>>, memref<?xf32>, f32)
  memref.dealloc %tmp : memref<?xf32>
  return
}
)";
} // namespace

TEST_F(HostToPlan, RunsWhatItWrites) {
  llvm::Expected<runtime::Plan> plan = compile(scaleText);
  ASSERT_TRUE(bool(plan)) << toString(plan.takeError());
  const runtime::PlanFunction &function = plan->functions[0];
  EXPECT_EQ(function.arguments[0].name, "input");
  std::unique_ptr<runtime::Device> device =
      cantFail(runtime::createCPUDevice(2));
  runtime::Session session(*plan, *device);
  for (int64_t size : {0, 1, 16, 100}) {
    std::vector<float> x(2 * size), y(size);
    for (int64_t i = 0; i < 2 * size; ++i)
      x[i] = i;
    auto bytes = [](std::vector<float> &values) {
      return MutableArrayRef<char>(reinterpret_cast<char *>(values.data()),
                                   values.size() * sizeof(float));
    };
    auto xBuffer = cantFail(runtime::DeviceBuffer::create(
        *device, "x", x.size() * sizeof(float), 256));
    auto yBuffer = cantFail(runtime::DeviceBuffer::create(
        *device, "y", y.size() * sizeof(float), 256));
    cantFail(xBuffer.write(bytes(x)));
    runtime::HostValue arguments[3];
    arguments[0].memref = {
        xBuffer.getAddress(), xBuffer.getAddress(), 0, {size, 2}, {2, 1}};
    arguments[1].memref = {
        yBuffer.getAddress(), yBuffer.getAddress(), 0, {size}, {1}};
    arguments[2].bits = 1;
    auto workspace = cantFail(
        runtime::SessionWorkspace::create(session, function, arguments, 256));
    auto results = session.run(function, arguments, workspace.prepare());
    ASSERT_TRUE(bool(results)) << toString(results.takeError());
    cantFail(yBuffer.read(bytes(y)));
    for (int64_t i = 0; i < size; ++i)
      EXPECT_EQ(y[i], 4 * (2 * i + 1));
    EXPECT_EQ(toString(yBuffer.checkGuards()), "");
    EXPECT_EQ(toString(workspace.checkGuards()), "");

    arguments[1].memref.sizes[0] = size + 1;
    EXPECT_EQ(
        toString(
            session.run(function, arguments, workspace.prepare()).takeError()),
        "function 'f': x and y differ in length");
  }
}

TEST_F(HostToPlan, RefusesOtherOps) {
  EXPECT_CONTAINS(problem(R"(
      func.func @f(%n: index) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        }
        return
      })"),
                  "'scf.parallel' op cannot be part of a host program");
  EXPECT_CONTAINS(problem(R"(
      func.func @f(%n: memref<*xf32>) {
        return
      })"),
                  "not 'memref<*xf32>'");
  EXPECT_CONTAINS(problem(R"(
      func.func @f(%n: memref<4xf32, 3>) {
        return
      })"),
                  "in the default memory space, not 'memref<4xf32, 3>'");
  EXPECT_CONTAINS(problem(R"(
      func.func @f(%n: memref<4xi4>) {
        return
      })"),
                  "not 'memref<4xi4>'");
  EXPECT_CONTAINS(problem(R"(
      func.func @f(%c: i1) {
        cf.cond_br %c, ^a, ^b
      ^a:
        return
      ^b:
        return
      })"),
                  "a host function is one block");
  EXPECT_CONTAINS(problem(R"(
      func.func @f(%a: vector<4xf32>) {
        return
      })"),
                  "not 'vector<4xf32>'");
}

TEST_F(HostToPlan, SaysWhatAPlanCannotHold) {
  const std::pair<StringRef, StringRef> cases[] = {
      {"func.func @f(%x: i128) { return }",
       "a launch plan holds integers up to 64 bits, index, f32, f64 and "
       "memrefs, not 'i128'"},
      {"func.func @f(%x: memref<*xf32>) { return }",
       "a launch plan holds integers up to 64 bits, index, f32, f64 and "
       "memrefs, not 'memref<*xf32>'"},
      {"func.func @f(%x: memref<?xf32, affine_map<(d0) -> (d0 floordiv 2)>>) "
       "{ return }",
       "a launch plan holds strided memrefs, not"},
      {"func.func @f(%x: memref<?xcomplex<f32>>) { return }",
       "a launch plan holds memrefs of i1, i8, i16, i32, i64, f16, bf16, f32 "
       "or f64 in the default memory space, not"},
      {"func.func @f(%x: memref<?xf32, 3>) { return }",
       "in the default memory space, not"},
      {"func.func @f(%c: i1) {\n cf.cond_br %c, ^a, ^a\n^a:\n return\n}",
       "a launch plan needs structured control flow: a host function is one "
       "block"},
      {"func.func @f(%x: memref<4xf32>, %i: index) {\n"
       "%v = memref.load %x[%i] : memref<4xf32>\n return }",
       "cannot be part of a host program; it may hold scalar arith, memref "
       "views and allocations, scf.if, scf.for, cf.assert and "
       "evo_tile.launch: run "
       "convert-linalg-to-tile for linalg and copies, inline for calls, or "
       "compile the host by upstream's passes"},
      {"func.func @f(%i: i32) {\n scf.for %j = %i to %i step %i : i32 {\n }\n"
       " return }",
       "a launch plan counts loops in index, not"},
      {"func.func @f(%i: index) {\n scf.for unsigned %j = %i to %i step %i {\n"
       " }\n return }",
       "a launch plan compares a loop's bounds with signs"},
      {"func.func @f(%x: memref<*xf32>) { return }", "memrefs, not"},
      // Wider numbers than 64 bits must not be taken apart.
      {"func.func @f() {\n %c = arith.constant "
       "170141183460469231731687303715884105727 : i128\n return }",
       "a launch plan holds integers up to 64 bits"},
      {"func.func @f() {\n %c = arith.constant 1.0 : f128\n return }",
       "a launch plan holds integers up to 64 bits"},
      {"func.func @f() {\n %c = arith.constant dense<1> : vector<4xi32>\n "
       "return }",
       "a launch plan holds integers up to 64 bits"},
      {"func.func @f(%x: memref<4xf32>) {\n"
       "%y = memref.cast %x : memref<4xf32> to memref<*xf32>\n"
       "%z = memref.cast %y : memref<*xf32> to memref<4xf32>\n return }",
       "a launch plan holds"},
      {"func.func @f() {\n %m = memref.alloc() : memref<4xf32, strided<[2]>>\n"
       " return }",
       "a launch plan allocates memrefs without a layout"},
      {"func.func @f(%x: memref<*xf32>) {\n"
       "%z = memref.cast %x : memref<*xf32> to memref<4xf32>\n return }",
       "not 'memref<*xf32>'"},
      {"func.func @f(%x: memref<4xi32>) {\n"
       "%y = arith.index_cast %x : memref<4xi32> to memref<4xindex>\n"
       "return }",
       "a launch plan holds arith on scalars"},
      {"func.func private @k(%x: i32)\n"
       "func.func @f(%n: index, %x: i32) {\n"
       "evo_tile.launch @k space(%n) args(%x : i32)\n return }",
       "there is no code of kernel @k"},
      {"func.func private @k(%x: i32)\n"
       "func.func @f(%n: index, %x: vector<4xf32>) {\n return }",
       "a launch plan holds integers up to 64 bits"},
      {"func.func private @k(%x: i32)\n"
       "func.func @f(%n: index, %x: i32, %y: i64) {\n"
       "evo_tile.launch @k space(%n) args(%x : i32)\n"
       "evo_tile.launch @k space(%n) args(%y : i64)\n return }",
       "kernel @k is launched with another signature elsewhere"},
  };
  for (auto [text, message] : cases) {
    std::string found = problem(text);
    EXPECT_NE(found.find(message), std::string::npos)
        << text.str() << "\n  " << found;
  }
}
