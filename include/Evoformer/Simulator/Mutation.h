//===- Mutation.h - Breaks a lowered kernel on purpose ----------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How much the simulator's silence is worth is measured by mutants: kernels
// with one small defect, of which nearly all must be reported, by a finding or
// by a wrong number.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_SIMULATOR_MUTATION_H
#define EVOFORMER_SIMULATOR_MUTATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir {
class Operation;

namespace evoformer::sim {

/// One defect: `kind` applied to the operation that a walk over the kernel
/// meets at position `index`.
struct Mutation {
  llvm::StringRef kind;
  unsigned index = 0;
};

/// All defects that can be made in a kernel of `module`, in program order. Code
/// that nothing depends on has none.
std::vector<Mutation> listMutations(mlir::Operation *module,
                                    llvm::StringRef kernel);

/// Makes the defect in place; returns the operation as it was, with its
/// location.
std::string applyMutation(mlir::Operation *module, llvm::StringRef kernel,
                          const Mutation &mutation);

/// A defect of one of several kernels.
struct Mutant {
  unsigned kernel = 0;
  Mutation mutation;
};

/// Draws `count` of the defects of several kernels (all, if there are fewer).
/// Kinds take turns, because those with many places would crowd out the
/// others; the place is drawn from those of all kernels.
std::vector<Mutant>
drawMutants(llvm::ArrayRef<std::vector<Mutation>> mutationsOfKernels,
            unsigned count, uint64_t seed);

enum class MutantOutcome {
  Found,    // the simulator has a finding
  Wrong,    // a number is wrong
  Differs,  // a number has other bits, but is as near as it need be
  Refused,  // does not run: says nothing
  Survived, // nobody noticed
};

/// What became of the mutants, by kind.
class MutantTable {
public:
  void add(llvm::StringRef kind, llvm::StringRef what, MutantOutcome outcome);
  /// A table with a sum in the last row; below it those that are not reported,
  /// or, if `verbose`, all.
  void print(llvm::raw_ostream &os, bool verbose) const;

private:
  std::vector<std::pair<MutantOutcome, std::string>> list;
  using Row = std::array<unsigned, 5>;
  llvm::MapVector<llvm::StringRef, Row> rows;
};

} // namespace evoformer::sim
} // namespace mlir

#endif // EVOFORMER_SIMULATOR_MUTATION_H
