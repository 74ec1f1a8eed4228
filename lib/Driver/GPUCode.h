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
#include "Evoformer/Target/Serialize.h"

namespace mlir::evoformer {

/// How a plan's device takes the module's code; an error where it takes none
/// for the module's target.
FailureOr<SerializeOptions> getSerializeOptions(gpu::GPUModuleOp module,
                                                const CompileOptions &options);

/// Adds the module's kernels and what they were compiled to.
LogicalResult appendCode(gpu::GPUModuleOp module, CompiledKernels compiled,
                         PlanCode &code);

/// The code of every gpu.module in the LLVM dialect: serialized, or as it is
/// for the simulator.
FailureOr<PlanCode> collectGPUCode(ModuleOp module,
                                   const CompileOptions &options);

} // namespace mlir::evoformer

#endif // EVOFORMER_LIB_DRIVER_GPUCODE_H
