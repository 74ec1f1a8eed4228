//===- GradientOps.td - The gradient of an attention -------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The backward pass as a whole and the steps that it is split into.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_GRADIENTOPS_TD
#define EVOFORMER_DIALECT_EVOFORMER_IR_GRADIENTOPS_TD

include "Evoformer/Dialect/Evoformer/IR/AttentionFamily.td"

def Evoformer_AttentionBackwardOp
    : Evoformer_OperandOrdersOp<"attention_backward"> {
  let summary = "The gradient of an attention";
  let description = [{
    The gradients of `sum(out * output_grad)`, where `out` is what
    `evoformer.attention` makes of the same operands:

    ```
    p[b,n,h,i,j]  = exp(logit[b,n,h,i,j] - lse[b,n,h,i])  from stats
    dw            = output_grad * sigmoid(gate)
    ds[b,n,h,i,j] = p * (<dw[b,n,i,h,:], value[b,n,j,h,:]> - delta[b,n,h,i])
    delta         = sum_e output * output_grad

    query_grad    = scale * sum_j ds * key      key_grad  = scale * sum_i ds * query
    value_grad    = sum_i p * dw                gate_grad = output_grad * output * (1 - sigmoid(gate))
    bias_grad[t]  = the sum of ds over every dimension in which bias t broadcasts
    ```

    #### Operands

    query, key, value, biases and gate are those of the forward op, `output` and
    `stats` what it computed. `output_grad` has the output's sizes, the input
    type or f32, and its depth has stride 1 on memrefs, as that of `output`.

    The destinations are all optional, each with a result on tensors: a gradient
    that is absent costs nothing, and a canonicalization drops those that nobody
    uses. `bias_grad[t]` belongs to bias `t`, whose sizes and static ones it has;
    an i1 bias has no gradient. A gradient has the type of its operand or f32.

    `keys(from, to)`, with its operands, is that of the forward op: a key that a query
    does not see is one that it drops. So are lengths: behind the end of a row gradients are 0.
    So is `ragged`.

    So are `score` and what it captures: the sums for query and key are of ds times the
    derivative of the score by its first argument. Captures are counted behind the
    biases: with t biases `bias_grad[t]` is that of the first capture, the sum of ds
    times the derivative by it over every dimension in which it broadcasts.

    So is `dropout`, with the same state: `value_grad` sums the weights that `out`
    does, and in `ds` the product <dw, value> is divided by 1 - t / 2^16 where the
    weight is kept, and is 0 elsewhere.

    So is `weights`. Where those are not softmax, with r = stats[1], 1 for `linear`:

    ```
    p[b,n,h,i,j]  = logit / r          ds[b,n,h,i,j] = <dw, value> / r
    ```

    and both are 0 where r is.

    Where heads of queries share one of keys (`group_size`), or all b or n do, the
    gradients of key and value are the sums of those of all that share them.

    A dropped key gets no gradient, and neither does anything of a query without
    keys: zeros, whatever `value` holds.

    The clauses have the order of those of `evoformer.attention`; in the place of its
    destinations stand

    ```
    output(…) stats(…) output_grad(…)
    query_grad(…) key_grad(…) value_grad(…) bias_grad[t](…)… gate_grad(…)
    ```

    ```mlir
    %query_grad, %pair_grad = evoformer.attention_backward
        query(%q : tensor<1x384x384x4x32xbf16>)
        key(%k : tensor<1x384x384x4x32xbf16>)
        value(%v : tensor<1x384x384x4x32xbf16>)
        bias(%mask : tensor<1x384x1x1x384xi1>)
        bias(%pair : tensor<1x1x4x384x384xbf16>)
        output(%out : tensor<1x384x384x4x32xbf16>)
        stats(%stats : tensor<2x1x384x4x384xf32>)
        output_grad(%dout : tensor<1x384x384x4x32xbf16>)
        query_grad(%dq : tensor<1x384x384x4x32xbf16>)
        bias_grad[1](%dpair : tensor<1x1x4x384x384xf32>)
    ```
  }];
  let arguments = (ins
    Evoformer_Shaped:$query,
    Evoformer_Shaped:$key,
    Evoformer_Shaped:$value,
    Variadic<Evoformer_Shaped>:$biases,
    Variadic<Evoformer_Shaped>:$captures,
    Optional<Evoformer_Shaped>:$gate,
    Optional<Evoformer_Shaped>:$key_lengths,
    Optional<Evoformer_Shaped>:$query_lengths,
    Optional<Evoformer_Shaped>:$query_starts,
    Optional<Evoformer_Shaped>:$key_starts,
    Optional<Index>:$most_queries,
    Optional<Index>:$most_keys,
    Optional<Evoformer_Shaped>:$dropout,
    Variadic<Index>:$keys_from_operands,
    Variadic<Index>:$keys_to_operands,
    Evoformer_Shaped:$output,
    Evoformer_Shaped:$stats,
    Evoformer_Shaped:$output_grad,
    Optional<Evoformer_Shaped>:$query_grad,
    Optional<Evoformer_Shaped>:$key_grad,
    Optional<Evoformer_Shaped>:$value_grad,
    Variadic<Evoformer_Shaped>:$bias_grads,
    Optional<Evoformer_Shaped>:$gate_grad,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$bias_gradients,
    DefaultValuedAttr<Evoformer_Orders, "{}">:$operand_orders,
    OptionalAttr<F32Attr>:$scale,
    Evoformer_GroupSize:$group_size,
    Evoformer_KeyBound:$keys_from,
    Evoformer_KeyBound:$keys_to,
    Evoformer_DropoutP:$dropout_p,
    Evoformer_Weights:$weights
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region Evoformer_ScoreRegion:$score_regions);
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Evoformer_AttentionDeltaOp : Evoformer_OperandOrdersOp<"attention_delta"> {
  let summary = "What the gradient of an attention reads of its output";
  let description = [{
    The first step of the gradient, in one read of the output and its gradient:

    ```
    delta[b,n,h,i]           = sum_e output[b,n,i,h,e] * output_grad[b,n,i,h,e]
    weighted_grad[b,n,i,h,e] = output_grad[b,n,i,h,e] * sigmoid(gate[b,n,i,h,e])
    gate_grad[b,n,i,h,e]     = output_grad * output * (1 - sigmoid(gate))
    ```

    `output` is what the gate has been applied to, which is why delta needs no
    gate. `weighted_grad` is the gradient of the weighted sum of values;
    without a gate it is `output_grad` in another type.

    The order of the clauses:

    ```
    gate(…) lengths(queries …) ragged(queries …, most …) output(…) output_grad(…)
    delta(…) weighted_grad(…) gate_grad(…)
    ```
  }];
  let arguments = (ins
    Optional<Evoformer_Shaped>:$gate,
    Optional<Evoformer_Shaped>:$query_lengths,
    Optional<Evoformer_Shaped>:$query_starts,
    Optional<Index>:$most_queries,
    Evoformer_Shaped:$output,
    Evoformer_Shaped:$output_grad,
    Optional<Evoformer_Shaped>:$delta,
    Optional<Evoformer_Shaped>:$weighted_grad,
    Optional<Evoformer_Shaped>:$gate_grad,
    DefaultValuedAttr<Evoformer_Orders, "{}">:$operand_orders
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
}

def Evoformer_AttentionGradientOp
    : Evoformer_OperandOrdersOp<"attention_gradient"> {
  let summary = "Gradients from one recomputation of the logits";
  let description = [{
    A step of `evoformer.attention_backward`: the gradients that are asked for
    come from one computation of the logits and of `ds`. `weighted_grad` is the
    gradient of the weighted sum of values (before the gate), of the input
    type; `delta` is that of `evoformer.attention_delta`, which only the gradient
    of the value does without, and weights that are not softmax.

    Which gradients are asked for together is how the backward pass is split:
    the query's, those of key and value, or a bias's; and with the query's those
    of biases in which nothing is summed, since they are `ds` itself, and that of
    one other bias that has queries and keys.

    The region of a score gives two numbers here, the score and its derivative by
    the first argument, which `evoformer-split-backward` has made of it; where the
    gradient of a capture is asked for, alone, the derivative by that.

    The clauses have the order of those of `evoformer.attention`; there is no gate, and
    in the place of its destinations stand

    ```
    weighted_grad(…) stats(…) delta(…)
    query_grad(…) key_grad(…) value_grad(…) bias_grad[t](…)…
    ```
  }];
  let arguments = (ins
    Evoformer_Shaped:$query,
    Evoformer_Shaped:$key,
    Evoformer_Shaped:$value,
    Variadic<Evoformer_Shaped>:$biases,
    Variadic<Evoformer_Shaped>:$captures,
    Optional<Evoformer_Shaped>:$key_lengths,
    Optional<Evoformer_Shaped>:$query_lengths,
    Optional<Evoformer_Shaped>:$query_starts,
    Optional<Evoformer_Shaped>:$key_starts,
    Optional<Index>:$most_queries,
    Optional<Index>:$most_keys,
    Optional<Evoformer_Shaped>:$dropout,
    Variadic<Index>:$keys_from_operands,
    Variadic<Index>:$keys_to_operands,
    Evoformer_Shaped:$weighted_grad,
    Evoformer_Shaped:$stats,
    Optional<Evoformer_Shaped>:$delta,
    Optional<Evoformer_Shaped>:$query_grad,
    Optional<Evoformer_Shaped>:$key_grad,
    Optional<Evoformer_Shaped>:$value_grad,
    Variadic<Evoformer_Shaped>:$bias_grads,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$bias_gradients,
    DefaultValuedAttr<Evoformer_Orders, "{}">:$operand_orders,
    OptionalAttr<F32Attr>:$scale,
    Evoformer_GroupSize:$group_size,
    Evoformer_KeyBound:$keys_from,
    Evoformer_KeyBound:$keys_to,
    Evoformer_DropoutP:$dropout_p,
    Evoformer_Weights:$weights
  );
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region Evoformer_ScoreRegion:$score_regions);
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_GRADIENTOPS_TD
