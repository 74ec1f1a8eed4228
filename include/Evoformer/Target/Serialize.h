//===- Serialize.h - From the LLVM dialect to machine code ------*- C++ -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the result of `convert-gpu-lanes-to-llvm` into code, in this process
// and without a vendor's toolkit: ISA text and HSACO for AMD, PTX for NVIDIA.
// Only a cubin asks for a tool, NVIDIA's ptxas.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_TARGET_SERIALIZE_H
#define EVOFORMER_TARGET_SERIALIZE_H

#include "Evoformer/Dialect/Tile/IR/Tile.h"
#include "Evoformer/Target/KernelReport.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include <string>

namespace mlir {
class DialectRegistry;
class Pass;
} // namespace mlir

namespace mlir::evoformer {

struct SerializeOptions {
  /// Whether the object (HSACO, cubin) is wanted besides the assembly.
  bool object = true;
  /// The chip of a cubin where it is not the target itself: PTX of one chip
  /// runs on later ones. Empty: the target's.
  std::string objectChip;
  /// LLVM's optimization level, 0 to 3.
  unsigned optimization = 3;
};

/// The code of one gpu.module.
struct CompiledKernels {
  std::string name;
  std::string chip;
  /// "isa" or "ptx", and that text.
  std::string assemblyFormat, assembly;
  /// "hsaco" or "cubin", and its bytes; both empty where not asked for.
  std::string objectFormat, object;
  /// The chip that the object is for.
  std::string objectChip;
  /// One entry a kernel, in the order of the module.
  std::vector<KernelReport> kernels;
};

/// Compiles a module with an `evo_tile.target`. The module itself is not
/// changed. Failures are diagnosed at the module's location.
FailureOr<CompiledKernels> serializeKernels(gpu::GPUModuleOp module,
                                            const SerializeOptions &options);

/// Adds the object to code that was serialized without one. To be called by one
/// thread, while no other generates code: linking resets LLVM's options.
LogicalResult addObject(CompiledKernels &code, tile::TargetAttr target,
                        const SerializeOptions &options, Location loc);

/// Prints the reports on all kernels, as text or as a JSON array.
void printReports(ArrayRef<CompiledKernels> modules, bool asJSON,
                  raw_ostream &os);

/// A pass that compiles every gpu.module, as far as the tools go that are
/// there, and prints the reports.
std::unique_ptr<Pass> createKernelReport(raw_ostream &os, bool asJSON);

/// Where ptxas is: $CUDA_PATH/bin, the PATH, the toolkit's default folder.
/// Empty where it is not.
std::string findPtxas();

/// What a context must know before `serializeKernels`.
void registerSerialization(DialectRegistry &registry);

} // namespace mlir::evoformer

#endif // EVOFORMER_TARGET_SERIALIZE_H
