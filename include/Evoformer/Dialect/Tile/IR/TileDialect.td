//===- TileDialect.td - The evo_tile dialect ---------------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_TILE_IR_TILEDIALECT_TD
#define EVOFORMER_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/DialectBase.td"

def Tile_Dialect : Dialect {
  let name = "evo_tile";
  let cppNamespace = "::mlir::evoformer::tile";
  let summary = "Kernels over tiles: target-independent, then with layouts";
  let description = [{
    A kernel computes on tiles: ranked tensors of static shape. Elementwise
    work is `arith` and `math` on such tensors and loops are `scf`; this dialect
    adds what they lack: moving tiles from and to memory, matrix products,
    reductions, and, one level down, layouts as tensor encodings, workgroup
    memory (LDS) and asynchronous copies.

    Nothing here knows attention.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif
