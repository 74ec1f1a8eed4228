//===- Matrix.h - Matrix operations and their lane layouts ------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_SIMULATOR_MATRIX_H
#define EVOFORMER_LIB_SIMULATOR_MATRIX_H

#include "Program.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::evoformer::sim {

/// Place of one element of an operand in its matrix.
struct MatrixPlace {
  uint16_t row, column;
};

/// D = A * B + C, with A of m x k, B of k x n. The element tables have one
/// entry per element and lane, element-major.
struct MatrixShape {
  std::string name;
  unsigned m, n, k;
  unsigned lanes;
  /// The chips that have it start so.
  std::string chips = "";
  MatrixInput input;
  unsigned aElements, bElements, dElements;
  std::vector<MatrixPlace> a, b, d;
  /// Lanes l and l + 16 hold the same elements of A and of B, and must agree.
  bool replicated = false;
};

/// The operation that an LLVM intrinsic names ("llvm.amdgcn.…",
/// "llvm.nvvm.…"), or null.
const MatrixShape *findMatrixShape(llvm::StringRef intrinsic);
/// mma.sync by shape and type, for the dialect operation.
const MatrixShape *findMMA(unsigned m, unsigned n, unsigned k,
                           MatrixInput input);

/// An element of A or B as the unit reads it.
float loadElement(MatrixInput input, const uint8_t *p);
bool areFinite(const float *elements, unsigned count);
/// Reports lanes of the subgroup that do not take part.
void checkAllLanes(Wave &w, const Inst *i);

void addAMDShapes(std::vector<MatrixShape> &shapes);
void addNVIDIAShapes(std::vector<MatrixShape> &shapes);

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_LIB_SIMULATOR_MATRIX_H
