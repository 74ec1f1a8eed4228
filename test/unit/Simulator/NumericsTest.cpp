//===- NumericsTest.cpp - Single operations at their edges ----------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"
#include <cmath>
#include <limits>

using namespace mlir::evoformer::sim;

namespace {

/// What a kernel without arguments stores as %r of `type` in its first thread.
template <class T>
T value(llvm::StringRef chip, llvm::StringRef type, const std::string &body) {
  TestKernel kernel(chip, "%out: !llvm.ptr<1>",
                    body + "\n  llvm.store %r, %out : " + type.str() +
                        ", !llvm.ptr<1>\n  llvm.return");
  std::vector<T> out(1);
  kernel.add(out, true);
  kernel.launch.block = {1, 1, 1};
  kernel.runClean();
  return out[0];
}

std::string hex(llvm::StringRef name, const char *bits, const char *type) {
  return "  %" + name.str() + " = llvm.mlir.constant(" + bits + " : " + type +
         ") : " + type + "\n";
}

/// With a NaN the median is the smallest of the others.
TEST(Numerics, MedianWithNaN) {
  auto median = [](const char *a, const char *b, const char *c) {
    return value<float>(
        "gfx942", "f32",
        hex("a", a, "f32") + hex("b", b, "f32") + hex("c", c, "f32") +
            "  %r = llvm.call_intrinsic \"llvm.amdgcn.fmed3.f32\"(%a, %b, %c) "
            ": (f32, f32, f32) -> f32\n");
  };
  EXPECT_EQ(median("1.0", "5.0", "3.0"), 3);
  EXPECT_EQ(median("0x7FC00000", "5.0", "3.0"), 3);
  EXPECT_EQ(median("5.0", "0x7FC00000", "3.0"), 3);
  EXPECT_EQ(median("3.0", "5.0", "0x7FC00000"), 3);
}

TEST(Numerics, MultipliesOf24Bits) {
  auto product = [](const char *op, const char *a, const char *b) {
    return value<int32_t>("gfx942", "i32",
                          hex("a", a, "i32") + hex("b", b, "i32") +
                              "  %r = llvm.call_intrinsic \"llvm.amdgcn." + op +
                              ".i32\"(%a, %b) : (i32, i32) -> i32\n");
  };
  EXPECT_EQ(product("mul.u24", "16777219", "5"), 15);
  EXPECT_EQ(product("mul.u24", "-1", "1"), 0xffffff);
  EXPECT_EQ(product("mul.i24", "-1", "7"), -7);
  EXPECT_EQ(product("mul.i24", "16777215", "7"), -7);
}

TEST(Numerics, ReciprocalOfF64) {
  auto apply = [](const char *op, const char *a) {
    return value<double>("gfx942", "f64",
                         hex("a", a, "f64") +
                             "  %r = llvm.call_intrinsic \"llvm.amdgcn." + op +
                             ".f64\"(%a) : (f64) -> f64\n");
  };
  EXPECT_EQ(apply("rcp", "1.0e200"), 1 / 1e200);
  EXPECT_EQ(apply("rsq", "1.0e-200"), 1 / std::sqrt(1e-200));
}

/// Beyond 2^63, too, integers are rounded to bf16 once.
TEST(Numerics, LargeIntegerToBF16) {
  // 2^63 + 2^55 is halfway between neighbours; one more is above.
  EXPECT_EQ(value<uint16_t>("gfx942", "bf16",
                            hex("a", "-9187343239835811840", "i64") +
                                "  %r = llvm.uitofp %a : i64 to bf16\n"),
            0x5f00);
  EXPECT_EQ(value<uint16_t>("gfx942", "bf16",
                            hex("a", "-9187343239835811839", "i64") +
                                "  %r = llvm.uitofp %a : i64 to bf16\n"),
            0x5f01);
}

/// The units for exponentials and logarithms round correctly.
TEST(Numerics, ExponentialsAndLogarithms) {
  const unsigned count = 1024;
  std::vector<float> in(count), out(2 * count);
  for (unsigned k = 0; k < count; ++k)
    in[k] = 0.37f + 0.0917f * float(k);
  TestKernel kernel("gfx942", "%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", R"(
  %t = rocdl.workitem.id.x : i32
  %n = llvm.mlir.constant(1024 : i32) : i32
  %u = llvm.add %t, %n : i32
  %pi = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %pe = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %pl = llvm.getelementptr %out[%u] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %x = llvm.load %pi : !llvm.ptr<1> -> f32
  %e = llvm.call_intrinsic "llvm.amdgcn.exp2.f32"(%x) : (f32) -> f32
  %l = llvm.call_intrinsic "llvm.amdgcn.log.f32"(%x) : (f32) -> f32
  llvm.store %e, %pe : f32, !llvm.ptr<1>
  llvm.store %l, %pl : f32, !llvm.ptr<1>
  llvm.return)");
  kernel.add(in);
  kernel.add(out, true);
  kernel.launch.block = {count, 1, 1};
  kernel.runClean();
  for (unsigned k = 0; k < count; ++k) {
    EXPECT_EQ(out[k], float(std::exp2(double(in[k])))) << in[k];
    EXPECT_EQ(out[count + k], float(std::log2(double(in[k])))) << in[k];
  }
}

/// A product of matrices may hold what its factors do, whoever holds it; one
/// that overflows is found.
TEST(Numerics, NonFiniteProducts) {
  auto findings = [](llvm::StringRef chip, const std::string &body) {
    TestKernel kernel(chip, "%out: !llvm.ptr<1>", body + "\n  llvm.return");
    kernel.launch.findNonFinite = true;
    kernel.launch.args = {0};
    LaunchResult result = kernel.run();
    for (const Finding &finding : result.findings)
      EXPECT_NE(
          finding.text.find("the product is not finite, but its operands are"),
          std::string::npos)
          << finding.text;
    return result.findings.size();
  };
  auto mfma = [](const char *a) {
    return hex("a", a, "f32") + hex("b", "2.0", "f32") + hex("z", "0", "i32") +
           R"(
  %c = llvm.mlir.zero : vector<4xf32>
  %d = llvm.call_intrinsic "llvm.amdgcn.mfma.f32.16x16x4f32"(%a, %b, %c, %z, %z, %z) : (f32, f32, vector<4xf32>, i32, i32, i32) -> vector<4xf32>)";
  };
  EXPECT_EQ(findings("gfx942", mfma("1.0")), 0u);
  EXPECT_EQ(findings("gfx942", mfma("3.0e38")), 1u);
  EXPECT_EQ(findings("gfx942", mfma("0x7F800000")), 0u);
  // Two bf16 in a word: 0, the largest, NaN.
  auto mma = [](const char *a) {
    return hex("a", a, "i32") + hex("b", "2139062143", "i32") +
           hex("c", "0.0", "f32") + R"(
  %d = nvvm.mma.sync A[%a, %a, %a, %a] B[%b, %b] C[%c, %c, %c, %c]
    {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
     multiplicandAPtxType = #nvvm.mma_type<bf16>,
     multiplicandBPtxType = #nvvm.mma_type<bf16>,
     shape = #nvvm.shape<m = 16, n = 8, k = 16>}
    : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>)";
  };
  EXPECT_EQ(findings("sm_80", mma("0")), 0u);
  EXPECT_EQ(findings("sm_80", mma("2139062143")), 1u);
  EXPECT_EQ(findings("sm_80", mma("2143322048")), 0u);
}

} // namespace
