//===- Mutants.h - Breaks an attention's kernels on purpose -----*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many small defects of an attention's kernels are reported when its cases
// run in the simulator: what a check that passes is worth.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DRIVER_MUTANTS_H
#define EVOFORMER_DRIVER_MUTANTS_H

#include "Evoformer/Driver/AttentionCase.h"
#include "Evoformer/Driver/Compile.h"
#include "Evoformer/Simulator/Mutation.h"

namespace mlir::evoformer {

struct MutantOptions {
  sim::MutantDraw draw;
  /// Only of kernels whose names match this regular expression.
  std::string kernels = ".*";
  /// Make only this of so many parts of the defects that are drawn.
  unsigned part = 0, parts = 1;
  /// Of the simulator and the reference; 0: one a core.
  unsigned threads = 0;
  /// List all defects, not only the survivors.
  bool verbose = false;
  /// Follow the values that a defect changes which is not reported.
  bool explain = false;
  /// Make the defects, but run nothing.
  bool onlyLists = false;
  /// Make no defects, but list the blocks of kernels that no case enters, in
  /// which none can be reported.
  bool onlyUnreached = false;
};

/// Draws defects of the kernels that the cases launch. A defect is reported if
/// a case with the kernel's program fails, by a finding or against the
/// reference, under one of a few interleavings. Unbroken cases run once: of the
/// others only the broken kernel's launches, and all of a case where one leaves
/// other bits than the unbroken kernel. Prints a table and the survivors, or
/// all. Fails if an unbroken case does with a program of which a defect is
/// made.
llvm::Error checkMutants(MLIRContext &context,
                         llvm::ArrayRef<AttentionCase> cases,
                         const CompileOptions &compileOptions,
                         const MutantOptions &options, llvm::raw_ostream &os);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_MUTANTS_H
