//===- Passes.td - From lanes to the LLVM dialect ----------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_GPUTOLLVM_PASSES_TD
#define EVOFORMER_CONVERSION_GPUTOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertGPULanesToLLVM
    : Pass<"convert-gpu-lanes-to-llvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower one lane's program to the LLVM dialect of its target";
  let description = [{
    The last conversion: a `gpu.module` with an `evo_tile.target` whose
    functions hold vector, arith, math, memref, scf, cf and gpu ops becomes one
    in the LLVM dialect plus `rocdl` or `nvvm`. What differs between vendors is
    a row of lowering facts, chosen by the target's triple.

    * `math.exp2`, `math.log2`, `math.rsqrt` and quotients with `arcp` or `afn`
      on f32 (f16 and bf16 through f32) become the chip's approximate
      instructions, applied per element. AMD's `v_exp_f32` and NVIDIA's
      `ex2.approx.ftz` take denormal inputs as 0 and return 0 where the result
      is below 2^-126; `v_log_f32` and `lg2.approx.ftz` return -inf for a
      denormal input. On f64 these ops are an error.
    * `arith.truncf` to bf16 on chips without such an instruction becomes
      integer arithmetic (see `roundingmode`; `nnan` drops the care for NaN).
    * Workgroup attributions become a static variable, or, above the target's
      `max_lds_static`, a piece of the dynamic LDS of the launch; the kernel
      then carries `evo_tile.dynamic_lds_bytes`.
    * `known_block_size` becomes the workgroup size that the code generator
      may rely on.

    ```mlir
    gpu.module @m attributes {evo_tile.target = #gfx942} {
      gpu.func @k(%x: memref<?xf32>) kernel
          attributes {known_block_size = array<i32: 64, 1, 1>} {
        %i = gpu.thread_id x
        %a = memref.load %x[%i] : memref<?xf32>
        %b = math.exp2 %a : f32
        memref.store %b, %x[%i] : memref<?xf32>
        gpu.return
      }
    }
    ```
    becomes
    ```mlir
      llvm.func @k(%arg0: !llvm.ptr, …) attributes {rocdl.kernel, …} {
        %0 = rocdl.workitem.id.x : i32
        …
        %b = llvm.call_intrinsic "llvm.amdgcn.exp2.f32"(%a) : (f32) -> f32
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::amdgpu::AMDGPUDialect",
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::ROCDL::ROCDLDialect", "::mlir::vector::VectorDialect"];
}

#endif
