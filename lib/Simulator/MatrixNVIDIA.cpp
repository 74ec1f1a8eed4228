//===- MatrixNVIDIA.cpp - Lane layouts of NVIDIA's mma.sync ---------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written from the PTX ISA, not from the compiler's tables: the simulator is
// there to find errors in those.
//
//===----------------------------------------------------------------------===//

#include "Matrix.h"

using namespace mlir::evoformer::sim;

/// Accumulators of all m16n8 shapes in f32. PTX ISA, 'Matrix Fragments for
/// mma.m16n8k16 with floating point type', .f32 C and D:
///   row = groupID      for c0, c1;  groupID + 8 for c2, c3
///   col = threadID_in_group * 2 + (i & 1)
static void addAccumulator(MatrixShape &s) {
  s.dElements = 4;
  for (unsigned e = 0; e < 4; ++e)
    for (unsigned lane = 0; lane < 32; ++lane)
      s.d.push_back({uint16_t(lane / 4 + (e >= 2 ? 8 : 0)),
                     uint16_t(lane % 4 * 2 + (e & 1))});
}

static MatrixShape makeShape(std::string name, unsigned k, MatrixInput input) {
  MatrixShape s;
  s.name = std::move(name);
  s.m = 16;
  s.n = 8;
  s.k = k;
  s.lanes = 32;
  s.input = input;
  addAccumulator(s);
  return s;
}

/// f16 and bf16, two elements per register. PTX ISA, 'Matrix Fragments for
/// mma.m16n8k8' and 'Matrix Fragments for mma.m16n8k16 with floating point
/// type':
///   A: row = groupID for a0, a1, a4, a5; groupID + 8 for a2, a3, a6, a7
///      col = threadID_in_group * 2 + (i & 1), + 8 for i >= 4
///   B: row = threadID_in_group * 2 + (i & 1), + 8 for i >= 2; col = groupID
static MatrixShape makeHalf(std::string name, unsigned k, MatrixInput input) {
  MatrixShape s = makeShape(std::move(name), k, input);
  s.aElements = k / 2;
  s.bElements = k / 4;
  for (unsigned e = 0; e < s.aElements; ++e)
    for (unsigned lane = 0; lane < 32; ++lane)
      s.a.push_back({uint16_t(lane / 4 + (e & 2 ? 8 : 0)),
                     uint16_t(lane % 4 * 2 + (e & 1) + (e >= 4 ? 8 : 0))});
  for (unsigned e = 0; e < s.bElements; ++e)
    for (unsigned lane = 0; lane < 32; ++lane)
      s.b.push_back({uint16_t(lane % 4 * 2 + (e & 1) + (e >= 2 ? 8 : 0)),
                     uint16_t(lane / 4)});
  return s;
}

/// tf32, one element per register. PTX ISA, 'Matrix Fragments for
/// mma.m16n8k4' and 'mma.m16n8k8' with .tf32:
///   A: row = groupID for a0, a2; groupID + 8 for a1, a3
///      col = threadID_in_group, + 4 for a2, a3
///   B: row = threadID_in_group, + 4 for b1; col = groupID
static MatrixShape makeTF32(std::string name, unsigned k) {
  MatrixShape s = makeShape(std::move(name), k, MatrixInput::TF32);
  s.aElements = k / 2;
  s.bElements = k / 4;
  for (unsigned e = 0; e < s.aElements; ++e)
    for (unsigned lane = 0; lane < 32; ++lane)
      s.a.push_back({uint16_t(lane / 4 + (e & 1 ? 8 : 0)),
                     uint16_t(lane % 4 + (e >= 2 ? 4 : 0))});
  for (unsigned e = 0; e < s.bElements; ++e)
    for (unsigned lane = 0; lane < 32; ++lane)
      s.b.push_back(
          {uint16_t(lane % 4 + (e >= 1 ? 4 : 0)), uint16_t(lane / 4)});
  return s;
}

void mlir::evoformer::sim::addNVIDIAShapes(std::vector<MatrixShape> &shapes) {
  const std::string mma = "llvm.nvvm.mma.";
  shapes.push_back(
      makeHalf(mma + "m16n8k16.row.col.f32.f32", 16, MatrixInput::F16));
  shapes.push_back(
      makeHalf(mma + "m16n8k8.row.col.f32.f32", 8, MatrixInput::F16));
  shapes.push_back(
      makeHalf(mma + "m16n8k16.row.col.bf16", 16, MatrixInput::BF16));
  shapes.push_back(
      makeHalf(mma + "m16n8k8.row.col.bf16", 8, MatrixInput::BF16));
  shapes.push_back(makeTF32(mma + "m16n8k8.row.col.tf32", 8));
  shapes.push_back(makeTF32(mma + "m16n8k4.row.col.tf32", 4));
}
