//===- EvoformerDialect.td - The graph-level dialect -------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect in which a model states its attention.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMERDIALECT_TD
#define EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMERDIALECT_TD

include "mlir/IR/OpBase.td"

def Evoformer_Dialect : Dialect {
  let name = "evoformer";
  let cppNamespace = "::mlir::evoformer";
  let summary = "Biased gated attention on tensors and buffers";
  let description = [{
    The attention of AlphaFold-class models: attention over rows of a batch,
    with any number of broadcast additive biases and a sigmoid gate on the
    output. Ops are in destination style and exist on tensors (before
    bufferization) and on strided memrefs (after it).
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"
  ];
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMERDIALECT_TD
