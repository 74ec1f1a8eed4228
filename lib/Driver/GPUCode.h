//===- GPUCode.h - Kernels for GPUs in a launch plan ------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_LIB_DRIVER_GPUCODE_H
#define EVOFORMER_LIB_DRIVER_GPUCODE_H

#include "Evoformer/Conversion/HostToPlan/HostToPlan.h"
#include "Evoformer/Driver/Compile.h"

namespace mlir::evoformer {

/// The code of every gpu.module in the LLVM dialect: serialized, or as it is
/// for the simulator.
FailureOr<PlanCode> collectGPUCode(ModuleOp module,
                                   const CompileOptions &options);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_DRIVER_GPUCODE_H
