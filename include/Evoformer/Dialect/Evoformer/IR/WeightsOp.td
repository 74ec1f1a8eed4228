//===- WeightsOp.td - The weights of an attention ----------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The weights, which the forward pass does not store, on demand.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_WEIGHTSOP_TD
#define EVOFORMER_DIALECT_EVOFORMER_IR_WEIGHTSOP_TD

include "Evoformer/Dialect/Evoformer/IR/AttentionFamily.td"

def Evoformer_AttentionWeightsOp
    : Evoformer_OperandOrdersOp<"attention_weights"> {
  let summary = "The weights of an attention";
  let description = [{
    The weights by which `evoformer.attention` of the same operands adds up values,
    made again from the `stats` that it stored. It holds no matrix of them; who
    wants to see one asks for it here:

    ```
    p[b,n,h,i,j]       = exp(logit[b,n,h,i,j] - lse[b,n,h,i])      from stats
    weights[b,n,h,i,j] = keep[b,n,h,i,j] ? p : -p
    ```

    The sign says what `dropout` dropped, with the same state: a weight that
    counts is p, one that is dropped -p, and neither is divided by 1 - t / 2^16.
    Without `dropout` all count. The weight of a key that the query does not see, or
    that a bias drops, is 0 (of either sign), and so are all of a query without keys.
    With `weights` that are not softmax they have signs of their own, so that
    there is no `dropout`.

    #### Operands

    query, key, biases, captures and all other clauses are those of the forward op,
    but there is no value and no gate. The destination is

    | operand | dimensions | element type |
    |---|---|---|
    | `output` | [B, N, H, Sq, Sk] | that of query, or f32 |

    with the letters of a bias, `bnhqk`, in any order. No dimension of it broadcasts.
    All of it is written: behind the ends of rows that have `lengths` there are zeros. Of
    `ragged` sequences B is their number, and Sq and Sk are the most queries and keys
    of one; where there are no queries at all (Tq = 0) it is zeros.

    The clauses have the order of those of `evoformer.attention`; in the place of its
    destinations stand

    ```
    stats(…) outs(…)
    ```

    ```mlir
    %weights = evoformer.attention_weights
        query(%q : tensor<1x384x384x4x32xbf16>)
        key(%k : tensor<1x384x384x4x32xbf16>)
        bias(%mask : tensor<1x384x1x1x384xi1>)
        bias(%pair : tensor<1x1x4x384x384xbf16>)
        dropout(1.500000e-01, %state : tensor<2xi64>)
        stats(%stats : tensor<2x1x384x4x384xf32>)
        outs(%init : tensor<1x384x4x384x384xbf16>)
    ```
  }];
  let arguments = (ins
    Evoformer_Shaped:$query,
    Evoformer_Shaped:$key,
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
    Evoformer_Shaped:$stats,
    Evoformer_Shaped:$output,
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

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_WEIGHTSOP_TD
