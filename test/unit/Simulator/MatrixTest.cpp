//===- MatrixTest.cpp - Each matrix operation against a plain product -----===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tests say where an element of a matrix lies (lane and position), the
// inverse of what the simulator writes down. Values are small integers, so
// every product and sum is exact.
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"
#include <functional>

using namespace mlir::evoformer::sim;

namespace {

struct Place {
  unsigned lane, element;
};
using Locate = std::function<Place(unsigned, unsigned)>;

uint16_t toBF16(int v) {
  float f = float(v);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return uint16_t(bits >> 16);
}
uint16_t toHalf(int v) {
  // Integers of up to 11 bits.
  if (v == 0)
    return 0;
  unsigned magnitude = std::abs(v), exponent = 31 - __builtin_clz(magnitude);
  return uint16_t((v < 0 ? 0x8000 : 0) | (exponent + 15) << 10 |
                  ((magnitude << (10 - exponent)) & 0x3ff));
}

struct Case {
  unsigned m, n, k, lanes;
  unsigned aElements, bElements, dElements;
  Locate a, b, d;
  /// "f16", "bf16" or "f32".
  std::string type;
  /// Lanes 16..31 repeat lanes 0..15 for A and B.
  bool replicated = false;
  /// Bits of a word of A and B that the unit does not read.
  uint32_t ignored = 0;
};

int valueA(unsigned i, unsigned k) { return int((i * 7 + k * 3) % 11) - 5; }
int valueB(unsigned k, unsigned j) { return int((k * 5 + j * 2) % 13) - 6; }
int valueC(unsigned i, unsigned j) { return int((i * 3 + j * 11) % 17) - 8; }

std::vector<uint8_t> encode(const Case &c, unsigned rows, unsigned columns,
                            unsigned elements, const Locate &locate,
                            int (*value)(unsigned, unsigned)) {
  unsigned size = c.type == "f32" ? 4 : 2;
  std::vector<uint8_t> bytes(c.lanes * elements * size, 0xff);
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned q = 0; q < columns; ++q)
      for (unsigned copy = 0; copy < (c.replicated ? 2u : 1u); ++copy) {
        Place p = locate(r, q);
        uint8_t *to =
            &bytes[((p.lane + 16 * copy) * elements + p.element) * size];
        int v = value(r, q);
        if (size == 4) {
          float f = float(v);
          uint32_t word;
          std::memcpy(&word, &f, 4);
          word |= c.ignored;
          std::memcpy(to, &word, 4);
        } else {
          uint16_t h = c.type == "f16" ? toHalf(v) : toBF16(v);
          std::memcpy(to, &h, 2);
        }
      }
  return bytes;
}

/// `body` maps %va, %vb, %vc (vectors of i32, or of f32 for C) to %vd.
void check(const Case &c, llvm::StringRef chip, llvm::StringRef body) {
  unsigned size = c.type == "f32" ? 4 : 2;
  unsigned aWords = c.aElements * size / 4, bWords = c.bElements * size / 4;
  auto words = [](unsigned n, const char *element) {
    return n == 1 ? std::string(element)
                  : "vector<" + std::to_string(n) + "x" + element + ">";
  };
  auto load = [&](const char *name, unsigned n, const char *element) {
    std::string s = name, type = words(n, element);
    return "  %p" + s + " = llvm.getelementptr %" + s +
           "[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, " + type + "\n  %v" +
           s + " = llvm.load %p" + s +
           " {alignment = 4 : i64} : !llvm.ptr<1> -> " + type + "\n";
  };
  std::string full =
      std::string(chip.starts_with("gfx")
                      ? "  %t = rocdl.workitem.id.x : i32\n"
                      : "  %t = nvvm.read.ptx.sreg.tid.x : i32\n") +
      load("a", aWords, "i32") + load("b", bWords, "i32") +
      load("c", c.dElements, "f32") + body.str() +
      "  %pd = llvm.getelementptr %d[%t] : (!llvm.ptr<1>, i32) -> "
      "!llvm.ptr<1>, " +
      words(c.dElements, "f32") +
      "\n  llvm.store %vd, %pd {alignment = 4 : i64} : " +
      words(c.dElements, "f32") + ", !llvm.ptr<1>\n  llvm.return";
  TestKernel kernel(chip,
                    "%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, "
                    "%d: !llvm.ptr<1>",
                    full);
  auto a = encode(c, c.m, c.k, c.aElements, c.a, valueA);
  auto b = encode(c, c.k, c.n, c.bElements, c.b, valueB);
  std::vector<float> acc(c.lanes * c.dElements), d(acc.size(), -999.0f);
  for (unsigned i = 0; i < c.m; ++i)
    for (unsigned j = 0; j < c.n; ++j) {
      Place p = c.d(i, j);
      acc[p.lane * c.dElements + p.element] = float(valueC(i, j));
    }
  kernel.add(a);
  kernel.add(b);
  kernel.add(acc);
  kernel.add(d, true);
  LaunchResult result = kernel.runClean();
  EXPECT_EQ(result.counters.matrix, 1u);
  for (unsigned i = 0; i < c.m; ++i)
    for (unsigned j = 0; j < c.n; ++j) {
      int expected = valueC(i, j);
      for (unsigned k = 0; k < c.k; ++k)
        expected += valueA(i, k) * valueB(k, j);
      Place p = c.d(i, j);
      ASSERT_EQ(d[p.lane * c.dElements + p.element], float(expected))
          << chip.str() << " " << c.type << " " << i << ", " << j;
    }
}

//===----------------------------------------------------------------------===//
// AMD, mfma
//===----------------------------------------------------------------------===//

Case mfma(unsigned m, unsigned k, const char *type) {
  // Lanes are grouped by rows of A (columns of B); each group holds a run of
  // k. An accumulator's lane group holds runs of four rows.
  unsigned groups = 64 / m, run = k / groups;
  Case c{m, m, k, 64, run, run, m * m / 64, {}, {}, {}, type};
  c.a = [=](unsigned i, unsigned kk) {
    return Place{kk / run * m + i, kk % run};
  };
  c.b = [=](unsigned kk, unsigned j) {
    return Place{kk / run * m + j, kk % run};
  };
  c.d = [=](unsigned i, unsigned j) {
    unsigned block = i / (4 * groups), group = i / 4 % groups;
    return Place{group * m + j, block * 4 + i % 4};
  };
  return c;
}

void checkMFMA(unsigned m, unsigned k, const char *type, std::string element,
               std::string intrinsic, llvm::StringRef chip = "gfx942") {
  Case c = mfma(m, k, type);
  std::string vector =
      c.aElements == 1
          ? element
          : "vector<" + std::to_string(c.aElements) + "x" + element + ">";
  std::string words =
      type == std::string("f32")
          ? "i32"
          : "vector<" + std::to_string(c.aElements / 2) + "xi32>";
  std::string d = "vector<" + std::to_string(c.dElements) + "xf32>";
  check(c, chip,
        "  %x = llvm.bitcast %va : " + words + " to " + vector +
            "\n  %y = llvm.bitcast %vb : " + words + " to " + vector +
            "\n  %z = llvm.mlir.constant(0 : i32) : i32\n"
            "  %vd = llvm.call_intrinsic \"" +
            intrinsic + "\"(%x, %y, %vc, %z, %z, %z) : (" + vector + ", " +
            vector + ", " + d + ", i32, i32, i32) -> " + d + "\n");
}

TEST(Matrix, MFMA) {
  checkMFMA(32, 8, "f16", "f16", "llvm.amdgcn.mfma.f32.32x32x8f16");
  checkMFMA(16, 16, "f16", "f16", "llvm.amdgcn.mfma.f32.16x16x16f16");
  checkMFMA(32, 8, "bf16", "i16", "llvm.amdgcn.mfma.f32.32x32x8bf16.1k");
  checkMFMA(16, 16, "bf16", "i16", "llvm.amdgcn.mfma.f32.16x16x16bf16.1k");
  checkMFMA(32, 2, "f32", "f32", "llvm.amdgcn.mfma.f32.32x32x2f32");
  checkMFMA(16, 4, "f32", "f32", "llvm.amdgcn.mfma.f32.16x16x4f32");
}

/// MI200 takes 16-bit operands below the smallest normal number for 0, and so
/// does a target that says so.
TEST(Matrix, FlushedOperands) {
  auto product = [](llvm::StringRef chip, int bits, bool saysSo = false) {
    TestKernel kernel(chip, "%d: !llvm.ptr<1>",
                      "  %x = llvm.mlir.constant(dense<" +
                          std::to_string(bits) +
                          R"(> : vector<4xi16>) : vector<4xi16>
  %h = llvm.bitcast %x : vector<4xi16> to vector<4xf16>
  %one = llvm.mlir.constant(dense<1.0> : vector<4xf16>) : vector<4xf16>
  %c = llvm.mlir.constant(dense<0.0> : vector<16xf32>) : vector<16xf32>
  %z = llvm.mlir.constant(0 : i32) : i32
  %v = llvm.call_intrinsic "llvm.amdgcn.mfma.f32.32x32x8f16"(%h, %one, %c, %z, %z, %z) : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
  %e = llvm.extractelement %v[%z : i32] : vector<16xf32>
  llvm.store %e, %d : f32, !llvm.ptr<1>
  llvm.return)");
    if (saysSo)
      kernel.text.insert(kernel.text.find('{'),
                         "attributes {any.target = {chip = \"" + chip.str() +
                             "\", flushes_subnormals}} ");
    std::vector<float> d(1);
    kernel.add(d, true);
    kernel.runClean();
    return d[0];
  };
  EXPECT_EQ(product("gfx90a", 0x400), 8 * 0x1p-14f);
  EXPECT_EQ(product("gfx90a", 0x3ff), 0);
  EXPECT_EQ(product("gfx942", 0x3ff), 8 * 0x3ffp-24f);
  EXPECT_EQ(product("gfx942", 0x400, /*saysSo=*/true), 8 * 0x1p-14f);
  EXPECT_EQ(product("gfx942", 0x3ff, /*saysSo=*/true), 0);
}

TEST(Matrix, MFMADoubleK) {
  checkMFMA(32, 16, "f16", "f16", "llvm.amdgcn.mfma.f32.32x32x16.f16",
            "gfx950");
  checkMFMA(16, 32, "bf16", "bf16", "llvm.amdgcn.mfma.f32.16x16x32.bf16",
            "gfx950");
}

/// The operation of the rocdl dialect is the same instruction.
TEST(Matrix, MFMADialect) {
  check(mfma(32, 8, "f16"), "gfx942", R"(
  %x = llvm.bitcast %va : vector<2xi32> to vector<4xf16>
  %y = llvm.bitcast %vb : vector<2xi32> to vector<4xf16>
  %z = llvm.mlir.constant(0 : i32) : i32
  %vd = rocdl.mfma.f32.32x32x8f16 %x, %y, %vc, %z, %z, %z : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
)");
}

//===----------------------------------------------------------------------===//
// AMD, wmma
//===----------------------------------------------------------------------===//

Case wmma11(const char *type) {
  Case c{16, 16, 16, 32, 16, 16, 8, {}, {}, {}, type, true};
  c.a = [](unsigned i, unsigned k) { return Place{i, k}; };
  c.b = [](unsigned k, unsigned j) { return Place{j, k}; };
  // Even rows in the lower half of the lanes, odd rows in the upper.
  c.d = [](unsigned i, unsigned j) { return Place{16 * (i % 2) + j, i / 2}; };
  return c;
}

TEST(Matrix, WMMA) {
  check(wmma11("f16"), "gfx1100", R"(
  %x = llvm.bitcast %va : vector<8xi32> to vector<16xf16>
  %y = llvm.bitcast %vb : vector<8xi32> to vector<16xf16>
  %vd = llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.f16"(%x, %y, %vc) : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
)");
  check(wmma11("bf16"), "gfx1100", R"(
  %x = llvm.bitcast %va : vector<8xi32> to vector<16xi16>
  %y = llvm.bitcast %vb : vector<8xi32> to vector<16xi16>
  %vd = llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16"(%x, %y, %vc) : (vector<16xi16>, vector<16xi16>, vector<8xf32>) -> vector<8xf32>
)");
  check(wmma11("f16"), "gfx1100", R"(
  %x = llvm.bitcast %va : vector<8xi32> to vector<16xf16>
  %y = llvm.bitcast %vb : vector<8xi32> to vector<16xf16>
  %vd = rocdl.wmma.f32.16x16x16.f16 %x, %y, %vc : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
)");
}

TEST(Matrix, WMMA12) {
  Case c{16, 16, 16, 32, 8, 8, 8, {}, {}, {}, "bf16"};
  c.a = [](unsigned i, unsigned k) { return Place{k / 8 * 16 + i, k % 8}; };
  c.b = [](unsigned k, unsigned j) { return Place{k / 8 * 16 + j, k % 8}; };
  c.d = [](unsigned i, unsigned j) { return Place{i / 8 * 16 + j, i % 8}; };
  check(c, "gfx1201", R"(
  %x = llvm.bitcast %va : vector<4xi32> to vector<8xi16>
  %y = llvm.bitcast %vb : vector<4xi32> to vector<8xi16>
  %vd = llvm.call_intrinsic "llvm.amdgcn.wmma.f32.16x16x16.bf16.v8f32.v8i16"(%x, %y, %vc) : (vector<8xi16>, vector<8xi16>, vector<8xf32>) -> vector<8xf32>
)");
}

//===----------------------------------------------------------------------===//
// NVIDIA, mma.sync
//===----------------------------------------------------------------------===//

/// 16-bit inputs: quarters of A of 8x8 elements in the order top left, bottom
/// left, top right, bottom right; a lane holds two neighbours of a row.
Case mma(unsigned k, const char *type) {
  Case c{16, 8, k, 32, k / 2, k / 4, 4, {}, {}, {}, type};
  c.a = [](unsigned i, unsigned kk) {
    return Place{i % 8 * 4 + kk % 8 / 2, kk / 8 * 4 + i / 8 * 2 + kk % 2};
  };
  c.b = [](unsigned kk, unsigned j) {
    return Place{j * 4 + kk % 8 / 2, kk / 8 * 2 + kk % 2};
  };
  c.d = [](unsigned i, unsigned j) {
    return Place{i % 8 * 4 + j / 2, i / 8 * 2 + j % 2};
  };
  return c;
}
Case mmaTF32(unsigned k) {
  Case c = mma(k, "f32");
  c.ignored = 0x1fff;
  c.a = [](unsigned i, unsigned kk) {
    return Place{i % 8 * 4 + kk % 4, kk / 4 * 2 + i / 8};
  };
  c.b = [](unsigned kk, unsigned j) { return Place{j * 4 + kk % 4, kk / 4}; };
  return c;
}

/// Registers of `element` from the words that were loaded.
void checkMMA(const Case &c, std::string intrinsic, std::string element) {
  unsigned size = c.type == "f32" ? 4 : 2;
  std::string body, operands, types;
  auto take = [&](const char *from, unsigned count, std::string source,
                  std::string target) {
    for (unsigned r = 0; r < count; ++r) {
      std::string name = "%" + std::string(from) + "r" + std::to_string(r);
      std::string word = name + "w";
      if (count == 1) {
        word = "%v" + std::string(from);
      } else {
        body += "  " + name + "i = llvm.mlir.constant(" + std::to_string(r) +
                " : i32) : i32\n  " + word + " = llvm.extractelement %v" +
                from + "[" + name + "i : i32] : vector<" +
                std::to_string(count) + "x" + source + ">\n";
      }
      if (source != target) {
        body += "  " + name + " = llvm.bitcast " + word + " : " + source +
                " to " + target + "\n";
        word = name;
      }
      operands += (operands.empty() ? "" : ", ") + word;
      types += (types.empty() ? "" : ", ") + target;
    }
  };
  take("a", c.aElements * size / 4, "i32", element);
  take("b", c.bElements * size / 4, "i32", element);
  take("c", 4, "f32", "f32");
  body += "  %s = llvm.call_intrinsic \"" + intrinsic + "\"(" + operands +
          ") : (" + types +
          ") -> !llvm.struct<(f32, f32, f32, f32)>\n"
          "  %u = llvm.mlir.undef : vector<4xf32>\n";
  std::string last = "%u";
  for (unsigned r = 0; r < 4; ++r) {
    std::string n = std::to_string(r);
    std::string next = r == 3 ? "%vd" : "%d" + n;
    body += "  %e" + n + " = llvm.extractvalue %s[" + n +
            "] : !llvm.struct<(f32, f32, f32, f32)>\n  %n" + n +
            " = llvm.mlir.constant(" + n + " : i32) : i32\n  " + next +
            " = llvm.insertelement %e" + n + ", " + last + "[%n" + n +
            " : i32] : vector<4xf32>\n";
    last = next;
  }
  check(c, "sm_80", body);
}

TEST(Matrix, MMA) {
  checkMMA(mma(16, "f16"), "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
           "vector<2xf16>");
  checkMMA(mma(8, "f16"), "llvm.nvvm.mma.m16n8k8.row.col.f32.f32",
           "vector<2xf16>");
  checkMMA(mma(16, "bf16"), "llvm.nvvm.mma.m16n8k16.row.col.bf16", "i32");
  checkMMA(mma(8, "bf16"), "llvm.nvvm.mma.m16n8k8.row.col.bf16", "i32");
  checkMMA(mmaTF32(8), "llvm.nvvm.mma.m16n8k8.row.col.tf32", "i32");
  checkMMA(mmaTF32(4), "llvm.nvvm.mma.m16n8k4.row.col.tf32", "i32");
}

} // namespace
