//===- TileToCPU.h - From tiles to the CPU ----------------------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_TILETOCPU_TILETOCPU_H
#define EVOFORMER_CONVERSION_TILETOCPU_TILETOCPU_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
class OpPassManager;
namespace evoformer {

#define GEN_PASS_DECL
#include "Evoformer/Conversion/TileToCPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Evoformer/Conversion/TileToCPU/Passes.h.inc"

/// Adds the interface implementations that the pipeline below relies on.
void registerTileToCPUExtensions(DialectRegistry &registry);

/// From a module of `evo_tile.kernel`s, at any level from tiles to pipelined,
/// to the LLVM dialect. A kernel becomes an LLVM function of the same name
/// with the kernel ABI: arguments with memrefs expanded, extents, begin, end.
void buildTileToCPULLVMPipeline(OpPassManager &pm);

/// Registers that pipeline as `evo-tile-to-cpu-llvm`.
void registerTileToCPUPipelines();

} // namespace evoformer
} // namespace mlir

#endif // EVOFORMER_CONVERSION_TILETOCPU_TILETOCPU_H
