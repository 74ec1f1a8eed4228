//===- Passes.td - From tiles to the CPU -------------------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_TILETOCPU_PASSES_TD
#define EVOFORMER_CONVERSION_TILETOCPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToCPUPass : Pass<"convert-tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Kernels over tiles become functions over linalg on tensors";
  let description = [{
    Each `evo_tile.kernel` becomes a `func.func` of the same name that takes the
    kernel's arguments, the extents of the space of work items and a range
    [begin, end) of linear work items, which it runs in order. Each
    `evo_tile.launch` becomes a call over the whole space. Where a kernel's
    launches are elsewhere, `evo_tile.num_extents = N : i64` on it says how many
    extents its space has; else the ids that it uses do.

    Every level from tiles to pipelined is accepted and gives the same numbers:
    layouts are dropped, `convert_layout` is nothing, `alloc_lds` is memory of
    the work item, `async_copy` copies at once, waits and barriers are nothing.

    ```mlir
    evo_tile.kernel @neg(%x: memref<?xf32>, %y: memref<?xf32>) {
      %i = evo_tile.work_item_id 0
      %c16 = arith.constant 16 : index
      %at = arith.muli %i, %c16 : index
      %t = evo_tile.load %x[%at] : memref<?xf32> -> tensor<16xf32>
      %n = arith.negf %t : tensor<16xf32>
      evo_tile.store %n, %y[%at] : tensor<16xf32>, memref<?xf32>
      evo_tile.return
    }
    ```
    becomes, copies in and out left aside,
    ```mlir
    func.func @neg(%x: memref<?xf32>, %y: memref<?xf32>, %extent: index,
                   %begin: index, %end: index) {
      %one = arith.constant 1 : index
      scf.for %i = %begin to %end step %one {
        %t = bufferization.to_tensor %copy restrict writable : ..
        %n = linalg.generic .. ins(%t) { arith.negf }
      }
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def FuseTilesPass : Pass<"evo-cpu-fuse-tiles", "::mlir::func::FuncOp"> {
  let summary = "Merge elementwise loops over tiles";
  let description = [{
    An elementwise `linalg.generic` on tensors moves into its only user where
    that computes each element once, and an elementwise result takes the place
    of an operand that dies with it. What a loop carries is put where it came
    from.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PlaceBuffersPass : Pass<"evo-cpu-place-buffers", "::mlir::func::FuncOp"> {
  let summary = "Give all static buffers of a function a place in one block";
  let description = [{
    The `memref.alloc` ops of a function that was a kernel become views of one
    block of memory, allocated when it is entered and freed when it is left. A buffer of a loop's
    body is reused by every iteration, and buffers that are never needed at the
    same time share memory.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def VectorizeTilesPass : Pass<"evo-cpu-vectorize", "::mlir::func::FuncOp"> {
  let summary = "linalg on static buffers as loops over vectors";
  let description = [{
    Elementwise work runs along the contiguous dimension of its result, a
    reduction along that of its operand; a matrix product keeps a block of sums
    in registers; a transposed copy goes through squares of vectors. Sizes that
    no vector divides end in one narrower vector. What has another form becomes
    scalar loops.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", /*default=*/"256",
           "Bits of the processor's vector registers">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ExpandExp2Pass : Pass<"evo-cpu-expand-exp2", "::mlir::func::FuncOp"> {
  let summary = "math.exp2 of f32 by a polynomial";
  let description = [{
    Scalars and vectors alike. Within 1.5 units in the last place; -inf gives 0,
    NaN stays NaN, results below the normal numbers are rounded correctly.
  }];
  let options = [
    Option<"scaleBits", "scale-bits", "int64_t", /*default=*/"0",
           "Bits of the vectors that the processor multiplies by powers of two "
           "in one instruction; 0: none">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def DropCastFlagsPass : Pass<"evo-cpu-drop-cast-flags", "::mlir::func::FuncOp"> {
  let summary = "Drop fast-math flags of conversions between floats";
  let description = [{
    The conversion to LLVM would keep them as attributes of the arith dialect,
    which what reads the result need not know.
  }];
}

def MoveBF16AsWordsPass
    : Pass<"evo-cpu-move-bf16-as-words", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Load, store and choose bf16 as integers of 16 bits";
  let description = [{
    x86 processors with instructions for bf16 have vectors of it but no scalars;
    LLVM 22 cannot take apart a vector of nine that is carried into a loop, and
    ends the process. Integers have no such limit. What is no move, as a call,
    keeps bf16 behind a cast, and so do the function's arguments.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif
