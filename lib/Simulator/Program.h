//===- Program.h - The decoded form of a kernel -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is decoded once into an array of instructions over a register file.
// A register is a contiguous array over the lanes of a subgroup; a vector of n
// elements is n such arrays in a row, so an elementwise operation is one loop
// over n * lanes elements. Nothing here knows MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_SIMULATOR_PROGRAM_H
#define EVOFORMER_LIB_SIMULATOR_PROGRAM_H

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::evoformer::sim {

struct Wave;
struct Inst;

/// Executes one instruction and returns the next, or null when the subgroup
/// stops (at a barrier, at its end, or pre-empted).
using Handler = const Inst *(*)(Wave &, const Inst *);

/// Storage of one element. Pointers are I64 (global, generic) or I32 (LDS,
/// private).
enum class Kind : uint8_t { I1, I8, I16, I32, I64, F16, BF16, F32, F64 };

inline unsigned sizeOf(Kind kind) {
  switch (kind) {
  case Kind::I1:
  case Kind::I8:
    return 1;
  case Kind::I16:
  case Kind::F16:
  case Kind::BF16:
    return 2;
  case Kind::I32:
  case Kind::F32:
    return 4;
  case Kind::I64:
  case Kind::F64:
    return 8;
  }
  return 8;
}

enum class MatrixInput : uint8_t { F16, BF16, F32, TF32 };

/// Register operands are byte offsets into the register file.
struct Inst {
  Handler fn = nullptr;
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  /// Elements over all lanes for elementwise handlers, elements per lane for
  /// memory and cross-lane handlers.
  uint32_t n = 0;
  uint32_t imm = 0;
  int64_t imm64 = 0;
  int64_t imm2 = 0;
  /// Index into Program::sites.
  uint32_t site = 0;
};

/// Where an instruction comes from, to be rendered only for a finding.
struct Site {
  std::string operation;
  const void *location = nullptr;
};

/// The values that a branch hands to its target block.
struct Copy {
  uint32_t dst, src;
  /// Elements over all lanes and their size.
  uint32_t n;
  uint8_t size;
};
struct Edge {
  uint32_t block = 0;
  std::vector<Copy> copies;
  /// Copies that must run first because another copy overwrites their source.
  std::vector<Copy> saves;
};

/// Operations of one class in a block, added per execution.
struct BlockCounts {
  uint32_t matrix = 0, transcendental = 0, arithmetic = 0, crossLane = 0;
  uint32_t instructions = 0;
  uint64_t multiplyAdds = 0;
};

struct CodeBlock {
  uint32_t first = 0;
  BlockCounts counts;
};

/// Element e of a matrix operand lies, for lane l, at offset + l * laneStride.
struct MatrixElement {
  uint32_t offset, laneStride;
};
struct MatrixShape;
struct MatrixCall {
  const MatrixShape *shape = nullptr;
  std::vector<MatrixElement> a, b, c, d;
  /// Elements of A and B below the smallest normal number count as 0.
  bool flushesSubnormals = false;
};

/// A matrix in LDS, as a descriptor tells of it.
struct GroupMatrix {
  /// Register of the descriptor, and what is added to it.
  uint32_t descriptor = 0;
  int64_t step = 0;
  /// Consecutive bytes go along the contracted dimension.
  bool alongDepth = true;
};

/// What one of four subgroups does of D = A * B + D, with A of 64 x 16 and B of
/// 16 x n: 16 rows.
struct GroupMatrixCall {
  MatrixInput input = MatrixInput::BF16;
  unsigned n = 0;
  /// Whether D counts as it is; otherwise it is 0.
  bool accumulates = true;
  /// Registers of D, replaced.
  std::vector<uint32_t> sums;
  /// Registers of A; none where it lies in LDS.
  std::vector<uint32_t> rows;
  GroupMatrix sharedRows, columns;
};

struct SwitchTable {
  std::vector<std::pair<uint64_t, uint32_t>> cases;
  uint32_t defaultEdge = 0;
};

/// A buffer resource: where its parts lie in the register file.
struct Resource {
  uint32_t base, numRecords, offset;
  /// Scalar offset added to `offset`; UINT32_MAX if there is none.
  uint32_t scalarOffset = UINT32_MAX;
};

struct Argument {
  uint32_t dst;
  uint8_t size;
};

struct Program {
  std::string name;
  unsigned lanes = 0;
  std::vector<Inst> code;
  std::vector<CodeBlock> blocks;
  std::vector<Edge> edges;
  std::vector<SwitchTable> switches;
  std::vector<MatrixCall> matrices;
  std::vector<GroupMatrixCall> groupMatrices;
  std::vector<Resource> resources;
  std::vector<uint32_t> table;
  std::vector<Site> sites;
  std::vector<Argument> args;
  /// The register file starts as this image: the constants.
  std::vector<uint8_t> image;
  uint32_t registerBytes = 0;
  uint32_t staticLDSBytes = 0, maxLDSBytes = 0;
  uint32_t ldsBanks = 32;
  std::optional<std::array<uint32_t, 3>> requiredBlock;
  bool usesDynamicLDS = false;
  uint32_t dynamicLDSOffset = 0;
  uint32_t privateBytes = 0;
};

} // namespace mlir::evoformer::sim

#endif // EVOFORMER_LIB_SIMULATOR_PROGRAM_H
