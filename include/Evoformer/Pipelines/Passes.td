//===- Passes.td - Passes between pipelines' levels --------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_PIPELINES_PASSES_TD
#define EVOFORMER_PIPELINES_PASSES_TD

include "Evoformer/Target/TargetOptions.td"
include "mlir/Pass/PassBase.td"

def BufferizeHost : Pass<"evoformer-bufferize-host", "::mlir::ModuleOp"> {
  let summary = "Turn the tensors of host functions into memrefs";
  let description = [{
    Upstream's one-shot bufferization over function boundaries (arguments may
    have any strides), except that tiles of `evo_tile.kernel` stay what they are:
    a module may hold kernels beside graphs, or kernels only.

    An argument of a public function is written to only where an op has it as its
    destination and does not read it, too. What a loop carries is written to one
    place: by a copy at the end of an iteration where nothing writes there itself.
    What an elementwise op reads and only names as its destination, as upstream's
    `convert-elementwise-to-linalg` makes it, it does not overwrite otherwise.

    ```mlir
    func.func @f(%x: tensor<?xf32>) -> tensor<?xf32>
    evo_tile.kernel @k(%x: memref<?xf32>) { .. tensor<16xf32> .. }
    ```
    becomes
    ```mlir
    func.func @f(%x: memref<?xf32, strided<[?], offset: ?>>) -> memref<?xf32, strided<[?], offset: ?>>
    evo_tile.kernel @k(%x: memref<?xf32>) { .. tensor<16xf32> .. }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

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

def SetTarget : Pass<"evoformer-set-target", "::mlir::ModuleOp"> {
  let summary = "Say which chip kernels are for";
  let description = [{
    Gives every `evo_tile.kernel` without a target that of the option or, without
    one, the module's `evo_tile.target`; where there is neither, kernels stay as
    they are. What attention becomes has a target already: this is for kernels
    that are written over tiles. Their schedule stays their own.

    ```mlir
    evo_tile.kernel @k(%x: memref<?xf32>)
        attributes {schedule = #evo_tile.schedule<..>} { .. }
    ```
    becomes
    ```mlir
    evo_tile.kernel @k(%x: memref<?xf32>)
        attributes {schedule = #evo_tile.schedule<..>,
                    target = #evo_tile.target<"gfx942", ..>} { .. }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"",
           "chip that kernels are for; default: the module's evo_tile.target">,
    F32ProductsOption<>,
    BoxesOption<>
  ];
  let dependentDialects = ["::mlir::evoformer::tile::TileDialect"];
}

#endif // EVOFORMER_PIPELINES_PASSES_TD
