//===- MatrixAMD.cpp - Lane layouts of AMD's matrix operations ------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written from the instruction set documents, not from the compiler's tables:
// the simulator is there to find errors in those.
//
//===----------------------------------------------------------------------===//

#include "Matrix.h"

using namespace mlir::evoformer::sim;

/// V_MFMA_F32_{MxNxK} with one block on 64 lanes. "AMD Instinct MI300
/// Instruction Set Architecture" (CDNA3), chapter 'Matrix Arithmetic
/// Instructions', dense layouts; the same chapter of the CDNA4 document for the
/// double-K forms:
///   A[i][k]: i = lane % M,  k = (K*M/64) * (lane / M) + element
///   B[k][j]: j = lane % N,  k likewise
///   D[i][j]: j = lane % N,  i = 4 * (64/N) * (element / 4)
///                               + 4 * (lane / N) + element % 4
static MatrixShape makeMFMA(std::string name, unsigned m, unsigned n,
                            unsigned k, MatrixInput input) {
  MatrixShape s;
  s.name = std::move(name);
  s.m = m;
  s.n = n;
  s.k = k;
  s.lanes = 64;
  s.chips = "gfx9";
  s.input = input;
  s.aElements = m * k / 64;
  s.bElements = k * n / 64;
  s.dElements = m * n / 64;
  for (unsigned e = 0; e < s.aElements; ++e)
    for (unsigned lane = 0; lane < 64; ++lane)
      s.a.push_back(
          {uint16_t(lane % m), uint16_t(s.aElements * (lane / m) + e)});
  for (unsigned e = 0; e < s.bElements; ++e)
    for (unsigned lane = 0; lane < 64; ++lane)
      s.b.push_back(
          {uint16_t(s.bElements * (lane / n) + e), uint16_t(lane % n)});
  for (unsigned e = 0; e < s.dElements; ++e)
    for (unsigned lane = 0; lane < 64; ++lane)
      s.d.push_back({uint16_t(4 * (64 / n) * (e / 4) + 4 * (lane / n) + e % 4),
                     uint16_t(lane % n)});
  return s;
}

/// V_WMMA_F32_16X16X16_* of gfx11, wave32. "RDNA3 Instruction Set
/// Architecture", section 7.9 'Wave Matrix Multiply Accumulate (WMMA)':
///   A: lane l and lane l + 16 both hold row l, element = column
///   B: lane l and lane l + 16 both hold column l, element = row
///   D: lane l holds column l % 16; element e is row 2 * e + l / 16
static MatrixShape makeWMMA11(std::string name, MatrixInput input) {
  MatrixShape s;
  s.name = std::move(name);
  s.m = s.n = s.k = 16;
  s.lanes = 32;
  s.chips = "gfx11";
  s.input = input;
  s.aElements = s.bElements = 16;
  s.dElements = 8;
  s.replicated = true;
  for (unsigned e = 0; e < 16; ++e)
    for (unsigned lane = 0; lane < 32; ++lane) {
      s.a.push_back({uint16_t(lane % 16), uint16_t(e)});
      s.b.push_back({uint16_t(e), uint16_t(lane % 16)});
    }
  for (unsigned e = 0; e < 8; ++e)
    for (unsigned lane = 0; lane < 32; ++lane)
      s.d.push_back({uint16_t(2 * e + lane / 16), uint16_t(lane % 16)});
  return s;
}

/// V_WMMA_F32_16X16X16_* of gfx12, wave32. "RDNA4 Instruction Set
/// Architecture", section 'Wave Matrix Multiply Accumulate (WMMA)': no
/// replication; lanes 16..31 hold the upper half of K, and of the rows of D.
static MatrixShape makeWMMA12(std::string name, MatrixInput input) {
  MatrixShape s;
  s.name = std::move(name);
  s.m = s.n = s.k = 16;
  s.lanes = 32;
  s.chips = "gfx12";
  s.input = input;
  s.aElements = s.bElements = s.dElements = 8;
  for (unsigned e = 0; e < 8; ++e)
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint16_t outer = lane % 16, inner = 8 * (lane / 16) + e;
      s.a.push_back({outer, inner});
      s.b.push_back({inner, outer});
      s.d.push_back({inner, outer});
    }
  return s;
}

void mlir::evoformer::sim::addAMDShapes(std::vector<MatrixShape> &shapes) {
  const std::string mfma = "llvm.amdgcn.mfma.f32.";
  const auto half = MatrixInput::F16, brain = MatrixInput::BF16;
  shapes.push_back(makeMFMA(mfma + "32x32x8f16", 32, 32, 8, half));
  shapes.push_back(makeMFMA(mfma + "16x16x16f16", 16, 16, 16, half));
  shapes.push_back(makeMFMA(mfma + "32x32x8bf16.1k", 32, 32, 8, brain));
  shapes.push_back(makeMFMA(mfma + "16x16x16bf16.1k", 16, 16, 16, brain));
  shapes.push_back(makeMFMA(mfma + "32x32x2f32", 32, 32, 2, MatrixInput::F32));
  shapes.push_back(makeMFMA(mfma + "16x16x4f32", 16, 16, 4, MatrixInput::F32));
  const size_t first950 = shapes.size();
  shapes.push_back(makeMFMA(mfma + "32x32x16.f16", 32, 32, 16, half));
  shapes.push_back(makeMFMA(mfma + "16x16x32.f16", 16, 16, 32, half));
  shapes.push_back(makeMFMA(mfma + "32x32x16.bf16", 32, 32, 16, brain));
  shapes.push_back(makeMFMA(mfma + "16x16x32.bf16", 16, 16, 32, brain));
  for (size_t k = first950; k < shapes.size(); ++k)
    shapes[k].chips = "gfx950";
  // The same intrinsic names serve gfx11 and gfx12; the number of elements per
  // lane tells them apart, so gfx12's carry a suffix here.
  const std::string wmma = "llvm.amdgcn.wmma.f32.16x16x16.";
  shapes.push_back(makeWMMA11(wmma + "f16", half));
  shapes.push_back(makeWMMA11(wmma + "bf16", brain));
  shapes.push_back(makeWMMA12(wmma + "f16#gfx12", half));
  shapes.push_back(makeWMMA12(wmma + "bf16#gfx12", brain));
}
