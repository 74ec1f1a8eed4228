//===- Passes.td - From linalg to attention ----------------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_CONVERSION_LINALGTOEVOFORMER_PASSES_TD
#define EVOFORMER_CONVERSION_LINALGTOEVOFORMER_PASSES_TD

include "mlir/Pass/PassBase.td"

def RaiseAttention : Pass<"evoformer-raise-attention"> {
  let summary = "Recognise attention that is written in linalg ops on tensors";
  let description = [{
    A product of queries and keys, a scale, biases and masks, a softmax, a
    product with values and a sigmoid gate become one `evoformer.attention`,
    whatever ops they are made of: named ones, `linalg.generic`, `linalg.softmax`,
    arith and math on tensors, fused or not. Transposes and reshapes around them
    become dimension orders and views.

    What is raised computes the same as the op for all finite inputs, in the
    arithmetic of real numbers; roundings to a type no narrower than that of
    query, key and value are left out. What looks like attention and is not raised
    stays as it was, and a remark of the category `evoformer-raise-attention`
    says why. docs/raising.md says what exactly is accepted and lists the remarks.

    ```mlir
    %s = linalg.batch_matmul_transpose_b .. %q, %k ..
    %p = linalg.softmax dimension(2) ins(%s : ..) ..
    %o = linalg.batch_matmul ins(%p, %v : ..) ..
    ```
    becomes
    ```mlir
    %o = evoformer.attention query(%q1 as bnhsd : ..) key(%k1 as bnhsd : ..)
        value(%v1 as bnhsd : ..) outs(%e as bnhsd : ..) scale(1.0)
    ```
  }];
  let options = [
    Option<"rowsWithoutKeys", "rows-without-keys", "std::string",
           /*default=*/"\"same\"",
           "rows whose logits are all minus infinity, NaN in most programs and 0 "
           "of the op: 'same' raises only what makes them 0 or has none for "
           "finite inputs; 'zero' lets them become 0">,
    Option<"dropBelow", "drop-below", "double",
           /*default=*/"-std::numeric_limits<double>::infinity()",
           "constants up to this that a select puts in place of logits stand for "
           "minus infinity">,
    Option<"roundWeights", "round-weights", "bool", /*default=*/"false",
           "round weights to the type of query, key and value also where the "
           "program keeps them in f32; by default such operands are widened">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::evoformer::EvoformerDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // EVOFORMER_CONVERSION_LINALGTOEVOFORMER_PASSES_TD
