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

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <optional>
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

/// The same for the operation at hand, without a word.
void applyMutation(mlir::Operation *op, llvm::StringRef kind);

/// What becomes of the values that a defect changes.
struct MutationTrace {
  /// A place where a value of the broken kernel may be another one.
  struct Probe {
    std::string operation;
    /// The probes of the values that it is made of.
    std::vector<unsigned> sources;
    /// It writes memory or decides where to go.
    bool isEnd = false;
  };

  /// A copy of the module whose kernel makes both values, with and without the
  /// defect, of all that depends on it but memory and branches, where it goes
  /// by those without. Where they differ it divides by zero; the finding's
  /// location names the probe.
  mlir::OwningOpRef<mlir::Operation *> module;
  std::vector<Probe> probes;
  /// The one that counts how often the operation runs that the defect breaks.
  std::optional<unsigned> runProbe;
  static std::optional<unsigned> getProbe(llvm::StringRef location);

  /// Where the values differ in the end and what makes them equal again, given
  /// how often each probe saw a difference.
  std::string explain(llvm::ArrayRef<uint64_t> counts) const;
};

MutationTrace traceMutation(mlir::Operation *module, llvm::StringRef kernel,
                            const Mutation &mutation);

/// A copy of the module whose kernel divides by zero at the start of each
/// block.
struct BlockTrace {
  struct Block {
    /// The first and the last operation.
    std::string first, last;
    /// The number of defects that can be made in it.
    unsigned mutations = 0;
  };

  mlir::OwningOpRef<mlir::Operation *> module;
  /// Probes of a MutationTrace have the numbers of the blocks.
  std::vector<Block> blocks;
};

BlockTrace traceBlocks(mlir::Operation *module, llvm::StringRef kernel);

/// A defect of one of several kernels.
struct Mutant {
  unsigned kernel = 0;
  Mutation mutation;
  /// The place in the draw.
  unsigned number = 0;
};

/// Which defects to make.
struct MutantDraw {
  unsigned count = 0;
  uint64_t seed = 0;
  /// Of those drawn, only these numbers; empty: all.
  std::vector<unsigned> only;
  /// Where to keep each one's module, before (NUMBER.mlir) and after
  /// (NUMBER.broken.mlir), or empty.
  std::string folder;
};

/// Draws `count` of the defects of several kernels (all, if there are fewer).
/// Kinds take turns, because those with many places would crowd out the
/// others; the place is drawn from those of all kernels.
std::vector<Mutant>
drawMutants(llvm::ArrayRef<std::vector<Mutation>> mutationsOfKernels,
            const MutantDraw &draw);

/// A copy of `module` with the defect; `what` says what was broken.
llvm::Expected<mlir::OwningOpRef<mlir::Operation *>>
makeMutant(mlir::Operation *module, llvm::StringRef kernel,
           const Mutant &mutant, const MutantDraw &draw, std::string &what);

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
  void add(const Mutant &mutant, llvm::StringRef what, MutantOutcome outcome);
  /// A table with a sum in the last row; below it those that are not reported,
  /// or, if `verbose`, all.
  void print(llvm::raw_ostream &os, bool verbose) const;

private:
  struct Entry {
    unsigned number;
    MutantOutcome outcome;
    std::string what;
  };
  std::vector<Entry> list;
  using Row = std::array<unsigned, 5>;
  llvm::MapVector<llvm::StringRef, Row> rows;
};

} // namespace evoformer::sim
} // namespace mlir

#endif // EVOFORMER_SIMULATOR_MUTATION_H
