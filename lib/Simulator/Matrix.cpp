//===- Matrix.cpp - Executes matrix operations ----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Matrix.h"
#include "Float.h"
#include "Handlers.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::evoformer::sim;

static const std::vector<MatrixShape> &allShapes() {
  static const std::vector<MatrixShape> shapes = [] {
    std::vector<MatrixShape> s;
    addAMDShapes(s);
    addNVIDIAShapes(s);
    return s;
  }();
  return shapes;
}

const MatrixShape *
mlir::evoformer::sim::findMatrixShape(llvm::StringRef intrinsic) {
  for (const MatrixShape &s : allShapes())
    if (s.name == intrinsic)
      return &s;
  return nullptr;
}

const MatrixShape *mlir::evoformer::sim::findMMA(unsigned m, unsigned n,
                                                 unsigned k,
                                                 MatrixInput input) {
  for (const MatrixShape &s : allShapes())
    if (llvm::StringRef(s.name).starts_with("llvm.nvvm.mma.") && s.m == m &&
        s.n == n && s.k == k && s.input == input)
      return &s;
  return nullptr;
}

float mlir::evoformer::sim::loadElement(MatrixInput input, const uint8_t *p) {
  uint16_t half;
  uint32_t word;
  switch (input) {
  case MatrixInput::F16:
    std::memcpy(&half, p, 2);
    return halfToFloat(half);
  case MatrixInput::BF16:
    std::memcpy(&half, p, 2);
    return bf16ToFloat(half);
  case MatrixInput::F32:
    std::memcpy(&word, p, 4);
    return bitsTo<float>(word);
  case MatrixInput::TF32:
    // The unit reads the upper 19 bits.
    std::memcpy(&word, p, 4);
    return bitsTo<float>(word & 0xffffe000);
  }
  return 0;
}

static float smallestNormal(MatrixInput input) {
  return input == MatrixInput::F16 ? 0x1p-14f
                                   : std::numeric_limits<float>::min();
}

/// Fills `to` (rows of `width` elements) with an operand.
static void gatherOperand(Wave &w, const MatrixCall &call,
                          const std::vector<MatrixElement> &elements,
                          const std::vector<MatrixPlace> &places, float *to,
                          unsigned width) {
  const MatrixShape &s = *call.shape;
  const float least = call.flushesSubnormals ? smallestNormal(s.input) : 0;
  const MatrixPlace *place = places.data();
  for (const MatrixElement &e : elements) {
    const uint8_t *p = w.regs + e.offset;
    for (unsigned lane = 0; lane < s.lanes;
         ++lane, ++place, p += e.laneStride) {
      const float v = loadElement(s.input, p);
      to[place->row * width + place->column] = std::abs(v) < least ? 0 : v;
    }
  }
}

static void checkReplicated(Wave &w, const Inst *i,
                            const std::vector<MatrixElement> &elements,
                            const char *operand) {
  for (const MatrixElement &e : elements)
    for (unsigned lane = 0; lane < 16; ++lane) {
      const uint8_t *p = w.regs + e.offset + lane * e.laneStride;
      if (std::memcmp(p, p + 16 * e.laneStride, 2) != 0)
        report(w, i, FindingKind::OperandNotReplicated, lane + 16, 0, [&] {
          return std::string("lanes ") + std::to_string(lane) + " and " +
                 std::to_string(lane + 16) + " hold different elements of " +
                 operand;
        });
    }
}

bool mlir::evoformer::sim::areFinite(const float *elements, unsigned count) {
  return std::all_of(elements, elements + count,
                     [](float v) { return std::isfinite(v); });
}

void mlir::evoformer::sim::checkAllLanes(Wave &w, const Inst *i) {
  if (w.mask != w.full)
    report(w, i, FindingKind::DivergentOperation,
           __builtin_ctzll(~w.mask & w.full), 0, [] {
             return std::string("a matrix operation needs all lanes of the "
                                "subgroup");
           });
}

/// imm2: whether to report what is not finite though all operands are.
static const Inst *matrixProduct(Wave &w, const Inst *i) {
  const MatrixCall &call = w.program->matrices[i->imm];
  const MatrixShape &s = *call.shape;
  checkAllLanes(w, i);
  if (s.replicated) {
    checkReplicated(w, i, call.a, "A");
    checkReplicated(w, i, call.b, "B");
  }
  float a[32 * 32], b[32 * 32], d[32 * 32];
  gatherOperand(w, call, call.a, s.a, a, s.k);
  gatherOperand(w, call, call.b, s.b, b, s.n);
  const MatrixPlace *place = s.d.data();
  for (const MatrixElement &e : call.c)
    for (unsigned lane = 0; lane < s.lanes; ++lane, ++place)
      d[place->row * s.n + place->column] = w.reg<float>(e.offset)[lane];

  const bool wasFinite = i->imm2 && areFinite(a, s.m * s.k) &&
                         areFinite(b, s.k * s.n) && areFinite(d, s.m * s.n);
  // Products of 16-bit operands are exact in f32; sums are rounded to nearest
  // in ascending order of k. How the units round inside is not documented.
  const bool exactProducts =
      s.input == MatrixInput::F16 || s.input == MatrixInput::BF16;
  for (unsigned row = 0; row < s.m; ++row) {
    float *__restrict out = d + row * s.n;
    for (unsigned k = 0; k < s.k; ++k) {
      const float x = a[row * s.k + k];
      const float *__restrict y = b + k * s.n;
      if (exactProducts)
        for (unsigned column = 0; column < s.n; ++column)
          out[column] += x * y[column];
      else
        for (unsigned column = 0; column < s.n; ++column)
          out[column] = std::fma(x, y[column], out[column]);
    }
  }
  place = s.d.data();
  for (const MatrixElement &e : call.d)
    for (unsigned lane = 0; lane < s.lanes; ++lane, ++place) {
      const float v = d[place->row * s.n + place->column];
      w.reg<float>(e.offset)[lane] = v;
      if (wasFinite && !std::isfinite(v))
        report(w, i, FindingKind::NonFinite, lane, 0, [] {
          return std::string("the product is not finite, but its operands are");
        });
    }
  return i + 1;
}

Handler mlir::evoformer::sim::matrixHandler() { return matrixProduct; }
