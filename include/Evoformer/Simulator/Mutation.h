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

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mlir {
class Operation;

namespace evoformer::sim {

/// One defect: `kind` applied to the operation that a walk over the kernel
/// meets at position `index`.
struct Mutation {
  llvm::StringRef kind;
  unsigned index = 0;
};

/// All defects that can be made in a kernel of `module`, in program order.
std::vector<Mutation> listMutations(mlir::Operation *module,
                                    llvm::StringRef kernel);

/// Makes the defect in place; returns the operation as it was, with its
/// location.
std::string applyMutation(mlir::Operation *module, llvm::StringRef kernel,
                          const Mutation &mutation);

} // namespace evoformer::sim
} // namespace mlir

#endif // EVOFORMER_SIMULATOR_MUTATION_H
