//===- Passes.td - Passes on attention ---------------------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_TRANSFORMS_PASSES_TD
#define EVOFORMER_DIALECT_EVOFORMER_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitBackward : Pass<"evoformer-split-backward"> {
  let summary = "Split the gradient of an attention into its steps";
  let description = [{
    `evoformer.attention_backward` becomes, in this order and as far as a
    gradient needs them,

    * one `evoformer.attention_delta` that reads the output and its gradient
      once, for delta, the gate's gradient, and the gradient of the weighted sum
      of values where a gate or another element type makes that differ from the
      output's;
    * an `evoformer.attention_gradient` for the query, one for key and value, and
      one for each bias: each recomputes the logits, and none needs atomic
      additions, since a work item owns what it writes.

    The gradient of a bias in which nothing is summed (it has queries and keys,
    and the sizes are known to be 1 where it broadcasts) is that of the logits,
    which the query's step has at hand: there it saves a recomputation.
    `bias-gradients=apart` gives each bias a step of its own nevertheless;
    `with-query` also asks for one that is summed together with the query's where
    the number of keys is known.

    Intermediates are tensors or, on memrefs, allocated and freed around the
    steps. A gradient that is absent makes no op.

    ```mlir
    %dq, %dk, %dv, %dp = evoformer.attention_backward query(%q : ..) key(%k : ..)
        value(%v : ..) bias(%p : ..) output(%out : ..) stats(%stats : ..)
        output_grad(%dout : ..) query_grad(..) key_grad(..) value_grad(..)
        bias_grad[0](..)
    ```
    becomes
    ```mlir
    %delta = evoformer.attention_delta output(%out : ..) output_grad(%dout : ..)
        delta(%empty : ..)
    %dq = evoformer.attention_gradient query(%q : ..) key(%k : ..) value(%v : ..)
        bias(%p : ..) weighted_grad(%dout : ..) stats(%stats : ..)
        delta(%delta : ..) query_grad(..)
    %dk, %dv = evoformer.attention_gradient .. key_grad(..) value_grad(..)
    %dp = evoformer.attention_gradient .. bias_grad[0](..)
    ```
  }];
  let options = [
    Option<"biasGradients", "bias-gradients", "std::string",
           /*default=*/"\"auto\"",
           "where gradients of biases are computed: 'apart', each in a step of "
           "its own; 'with-query', with the query's where possible; 'auto', "
           "where that is expected to be faster">
  ];
  let dependentDialects = [
    "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // EVOFORMER_DIALECT_EVOFORMER_TRANSFORMS_PASSES_TD
