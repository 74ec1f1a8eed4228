//===- Mutants.h - Measures how many defects are reported -------*- C++ -*-===//

#ifndef EVOFORMER_TOOLS_EVOFORMER_SIM_MUTANTS_H
#define EVOFORMER_TOOLS_EVOFORMER_SIM_MUTANTS_H

#include "Evoformer/Simulator/Simulator.h"

/// Draws `count` defects of the launch's kernel with `seed`, runs each, and
/// prints per kind how many were reported: by a finding, by an output that
/// differs from the unbroken kernel's, or by a refusal to run. Survivors are
/// listed. The memories of the launch are left changed.
llvm::Error runMutants(mlir::Operation *module,
                       const mlir::evoformer::sim::Options &options,
                       mlir::evoformer::sim::Launch launch, unsigned count,
                       uint64_t seed, llvm::raw_ostream &os);

#endif // EVOFORMER_TOOLS_EVOFORMER_SIM_MUTANTS_H
