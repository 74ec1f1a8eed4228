//===- Passes.td - Passes between pipelines' levels --------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_PIPELINES_PASSES_TD
#define EVOFORMER_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ResultsToArguments
    : Pass<"evoformer-results-to-arguments", "::mlir::ModuleOp"> {
  let summary = "Let functions write results to arguments only";
  let description = [{
    After bufferization, so that a caller owns all memory: a returned memref that
    is an argument is no longer returned, and one that the function allocates
    becomes a further argument. Public functions included, unlike upstream's
    passes for either.

    ```mlir
    func.func @f(%out: memref<?xf32>) -> memref<?xf32> {
      ..
      return %out : memref<?xf32>
    }
    ```
    becomes
    ```mlir
    func.func @f(%out: memref<?xf32>) {
      ..
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

#endif // EVOFORMER_PIPELINES_PASSES_TD
