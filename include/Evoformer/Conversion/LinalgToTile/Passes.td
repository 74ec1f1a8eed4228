//===- Passes.td - Linalg to tiles -------------------------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_LINALGTOTILE_PASSES_TD
#define EVOFORMER_CONVERSION_LINALGTOTILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertLinalgToTile : Pass<"convert-linalg-to-tile", "::mlir::ModuleOp"> {
  let summary = "Make structured ops of host functions kernels over tiles";
  let description = [{
    Every linalg op on memrefs in a function, and every `memref.copy`, becomes a
    launch of an `evo_tile.kernel`, so that a program around attention runs where
    attention runs. Blocks of the two innermost parallel dimensions are a tile,
    the body's scalar ops are done on it, and reductions loop over blocks of the
    innermost reduced dimension. Products that are summed over one are
    `evo_tile.mma`. Equal ops share a kernel.

    What a work item reads of an operand lies within 4 GiB, since its offsets have 32
    bits on GPUs: known sizes are checked here, others when the program runs.

    Indexing maps hold dimensions and zeros; reductions are sums, `maxnumf` and
    `minnumf`; a body holds elementwise arith and math. What else there is, is an
    error. Exponentials and logarithms become those of base 2, `tanh` and `erf`
    upstream's approximations.

    ```mlir
    linalg.add ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
    ```
    becomes
    ```mlir
    evo_tile.kernel @f_add(%a: memref<?x?xf32>, ..) {
      ..
      %s = arith.addf %x, %y : tensor<16x64xf32>
      evo_tile.store %s, %c[%row, %column] : tensor<16x64xf32>, memref<?x?xf32>
      evo_tile.return
    }
    evo_tile.launch @f_add space(%rows, %columns) args(%a, %b, %c : ..)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::evoformer::tile::TileDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // EVOFORMER_CONVERSION_LINALGTOTILE_PASSES_TD
