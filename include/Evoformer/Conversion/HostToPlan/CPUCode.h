//===- CPUCode.h - A plan's kernels for the CPU -----------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_HOSTTOPLAN_CPUCODE_H
#define EVOFORMER_CONVERSION_HOSTTOPLAN_CPUCODE_H

#include "Evoformer/Conversion/HostToPlan/HostToPlan.h"

namespace mlir::evoformer {

/// The module without its host functions; each kernel says how many extents its
/// space has.
OwningOpRef<ModuleOp> copyKernels(ModuleOp module);

/// Compiles the module's kernels, at any level from tiles to pipelined, to LLVM
/// IR for the CPU. The module stays as it is.
FailureOr<PlanCode> compileKernelsForCPU(ModuleOp module);

} // namespace mlir::evoformer

#endif // EVOFORMER_CONVERSION_HOSTTOPLAN_CPUCODE_H
