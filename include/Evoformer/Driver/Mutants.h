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

/// Draws defects of all kernels that the cases launch. A defect is reported if
/// a case with the kernel's program fails, by a finding or against the
/// reference, under one of a few interleavings. Prints a table and the
/// survivors, or with `verbose` all. Fails if an unbroken case does.
llvm::Error checkMutants(MLIRContext &context,
                         llvm::ArrayRef<AttentionCase> cases,
                         const CompileOptions &compileOptions,
                         const sim::MutantDraw &draw, bool verbose,
                         llvm::raw_ostream &os);

} // namespace mlir::evoformer

#endif // EVOFORMER_DRIVER_MUTANTS_H
