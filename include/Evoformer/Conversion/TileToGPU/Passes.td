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

def CarryAddresses
    : Pass<"evo-gpu-carry-addresses", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Carry addresses that grow from one iteration to the next";
  let description = [{
    For targets with `uniform_registers`. Where a loop computes the address of a view
    from its variable, by products of 64 bits, it carries the address instead and adds
    to it what it grows by. A lane's own offset in the view stays what it is, so that
    an address takes no registers of lanes: what is carried is the same for all lanes
    of a subgroup. That quotients of a workgroup's number are, too, is more than a code
    generator sees; the first address, and the loop's bounds, are therefore read from
    one lane. An address that
    may differ between lanes, or does not grow by the same in every iteration, is
    computed as before, and so are all in a loop that some lanes may not come to.

    ```mlir
    scf.for %i = %from to %to step %c1 {
      %row = memref.subview %x[%i, %at] [1, 64] [1, 1] : memref<?x?xf32>
          to memref<64xf32, strided<[1], offset: ?>>
      // The address of %row in bytes.
      %p = llvm.inttoptr %address : i64 to !llvm.ptr<1>
    }
    ```
    becomes
    ```mlir
    // The address of row %from, both its halves by gpu.shuffle idx; so are the bounds.
    scf.for %i = %from to %to step %c1 iter_args(%address = %first) {
      %p = llvm.inttoptr %address : i64 to !llvm.ptr<1>
      %next = arith.addi %address, %pitch : i64
      scf.yield %next
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ConvertTileLaunchToGPU
    : Pass<"convert-tile-launch-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Make launches upstream's, for its lowering of host programs";
  let description = [{
    Every `evo_tile.launch` of a kernel that `convert-gpu-lanes-to-llvm` lowered
    becomes a `gpu.launch_func`: the grid is the product of the space's extents,
    the block what the kernel asks for, and the arguments are the launch's, then
    the extents. Nothing is launched where an extent is 0. The descriptors of
    memrefs are upstream's already, so that `gpu-to-llvm` lowers the host program.

    In functions with launches, and those that pass memory to or get it from such
    ones by calls, memory is the device's: `memref.alloc` and `memref.dealloc` become
    `gpu.alloc` and `gpu.dealloc`, `memref.copy` becomes `gpu.memcpy`, and constant
    data is copied to the device where it is used. What is allocated and not freed in
    its block, as bufferization leaves it, is freed after its last use. Ops that would
    read or write memory on the host are refused. Callers from outside pass memory of
    the device. `gpu-async-region` gives the ops the order that `gpu-to-llvm` asks
    for.

    Modules of kernels get a `#nvvm.target` or `#rocdl.target`:
    `gpu-module-to-binary` serializes them, or `evoformer-serialize{embed}` does.

    ```mlir
    evo_tile.launch @k space(%n, %m) args(%x, %y : memref<?xf32>, memref<?xf32>)
    ```
    becomes, where both extents are known not to be 0,
    ```mlir
    %blocks = arith.muli %n, %m : index
    gpu.launch_func @kernels::@k blocks in (%blocks, %c1, %c1)
        threads in (%c256, %c1, %c1) dynamic_shared_memory_size %c65536_i32
        args(%x : memref<?xf32>, %y : memref<?xf32>, %n : index, %m : index)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::scf::SCFDialect"];
}

def PassPointers : Pass<"evo-tile-pass-pointers", "::mlir::ModuleOp"> {
  let summary = "Let lowered kernels take pointers and i32 instead of descriptors";
  let description = [{
    For hosts that know no memref descriptors: every kernel that
    `convert-gpu-lanes-to-llvm` lowered and that a launch names takes one pointer a
    memref, in their order, then as i32 what it has to be told: offsets, sizes and
    strides, scalars and the extents of its space, in the order in which the
    descriptors had them. What all launches know as one number, and what the kernel
    does not use, it is not told.

    A launch has the attribute `evo_tile.pointers` and passes addresses as index. Numbers that are negative
    or more than 2147483647 end the host program before the launch. Scalars of 64
    bits are refused.

    ```mlir
    llvm.func @k(%a: !llvm.ptr, %b: !llvm.ptr, %offset: i64, %size: i64, %stride: i64,
                 %extent: i64)
    evo_tile.launch @k space(%n) args(%x : memref<?xf32>)
    ```
    becomes
    ```mlir
    llvm.func @k(%b: !llvm.ptr, %size: i32, %extent: i32)
    %p = memref.extract_aligned_pointer_as_index %x : memref<?xf32> -> index
    evo_tile.launch @k space(%n) args(%p, %s, %e : index, i32, i32)
        {evo_tile.pointers}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif
