//===- Mutants.h - Measures how many defects are reported -------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TOOLS_EVOFORMER_SIM_MUTANTS_H
#define EVOFORMER_TOOLS_EVOFORMER_SIM_MUTANTS_H

#include "Evoformer/Simulator/Mutation.h"
#include "Evoformer/Simulator/Simulator.h"

struct MutantOptions {
  mlir::evoformer::sim::MutantDraw draw;
  /// Outputs may differ by this, relative to the larger of 1 and the unbroken
  /// kernel's, and are arrays of f32; 0: they must have the same bits.
  double tolerance = 0;
  /// List all defects, not only the survivors.
  bool verbose = false;
};

/// Draws defects of the launch's kernel, runs each, and prints per kind how
/// many were reported: by a finding or by an output that differs from the
/// unbroken kernel's. Survivors are listed. The memories of the launch are left
/// changed.
llvm::Error runMutants(mlir::Operation *module,
                       const mlir::evoformer::sim::Options &options,
                       mlir::evoformer::sim::Launch launch,
                       const MutantOptions &mutants, llvm::raw_ostream &os);

#endif // EVOFORMER_TOOLS_EVOFORMER_SIM_MUTANTS_H
