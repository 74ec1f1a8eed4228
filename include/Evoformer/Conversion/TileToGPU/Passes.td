//===- Passes.td - Tiles to lanes --------------------------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_TILETOGPU_PASSES_TD
#define EVOFORMER_CONVERSION_TILETOGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToGPU : Pass<"convert-tile-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Distribute tiles over the lanes of a GPU";
  let description = [{
    Every `evo_tile.kernel` with a target becomes a `gpu.func` in the module
    `@kernels`; a tile becomes the register vectors that one lane holds of it,
    as its layout says. Loads, stores, reductions and layout conversions follow
    from the layout's LaneMap, products become the intrinsic named in the
    target's table. Workgroup memory becomes one global in address space 3.

    ```mlir
    %s = arith.addf %x, %y : tensor<32x32xf32, #frag_c>
    ```
    becomes, on 64 lanes,
    ```mlir
    %s = arith.addf %x, %y : vector<16xf32>
    ```

    Kernels for the CPU are left alone. The function takes the kernel's
    arguments and then the extents of its space; its grid is one-dimensional.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::vector::VectorDialect",
                           "::mlir::amdgpu::AMDGPUDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif
