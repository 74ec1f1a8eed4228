//===- EvoformerOps.td - Operations of the dialect ---------*- tablegen -*-===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Biased gated attention.
//
//===----------------------------------------------------------------------===//

#ifndef EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMEROPS_TD
#define EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMEROPS_TD

include "Evoformer/Dialect/Evoformer/IR/GradientOps.td"
include "Evoformer/Dialect/Evoformer/IR/WeightsOp.td"

def Evoformer_AttentionOp : Evoformer_FamilyOp<"attention", [
    DeclareOpInterfaceMethods<Evoformer_DifferentiableInterface>
  ]> {
  let summary = "Attention with additive biases and a gate";
  let description = [{
    Attention of every query position `i` over the key positions `j` of the
    same batch `b`, row `n` and head `h`, or of the head g(h) of the keys:

    ```
    logit[b,n,h,i,j] = scale * sum_d query[b,n,i,h,d] * key[b,n,j,g(h),d]
                     + sum_t bias_t[b,n,h,i,j]
    lse[b,n,h,i]     = log sum_j exp(logit[b,n,h,i,j])
    out[b,n,i,h,e]   = sigmoid(gate[b,n,i,h,e])
                     * sum_j exp(logit[b,n,h,i,j] - lse[b,n,h,i]) * value[b,n,j,g(h),e]
    g(h)             = floor(h / group_size)
    ```

    without the sigmoid's factor if there is no gate.

    #### Operands

    | operand | dimensions | element type |
    |---|---|---|
    | `query` | [B, N, Sq, H, D] | T: f16, bf16 or f32 |
    | `key` | [B, N, Sk, Hk, D] | T |
    | `value` | [B, N, Sk, Hk, Dv] | T |
    | `biases`, any number | [B, N, H, Sq, Sk], each static 1 broadcasts | T, f32 or i1 |
    | `captures` of a score, any number | [B, N, H, Sq, Sk], each static 1 broadcasts | T, f32 or i32 |
    | those that are tables of E entries | [B, 1, H, 1, E], B and H broadcast | T or f32 |
    | `gate`, optional | [B, N, Sq, H, Dv] | T or f32 |
    | `lengths(keys, queries)`, either optional | [B, N], each static 1 broadcasts | i32 |
    | `ragged(queries, keys, …)`, optional | [B + 1] | i32 |
    | `dropout(p, …)`, optional | [2] | i64 |
    | those of the bounds of `keys(…)`, any number | numbers | index |
    | `output` | [B, N, Sq, H, Dv] | T or f32 |
    | `lse`, optional | [B, N, H, Sq] | f32 |
    | `stats`, optional | [2, B, N, H, Sq] | f32 |

    Either all are ranked tensors or all are strided memrefs. D and Dv are
    static, from 1 to 256; the other sizes are static or dynamic, 0 included.
    Two sizes of the same name must be equal (statically known ones are
    verified, the others by `-generate-runtime-verification`); a dimension of a
    bias whose size is a static 1 is read at index 0 for every index of that
    dimension.

    The table gives the default order of the dimensions. Every operand of rank
    5 may have its dimensions in any other order, named by its letters:
    `bnshd` permuted for query, key, value, gate and output, `bnhqk` permuted
    for a bias. A transposed operand is thus read where it lies.

    `output`, `lse` and `stats` are destinations: on tensors each has a result
    of the same type, on memrefs they are written. What they held before is
    never read, but stays between ragged sequences. On memrefs a destination overlaps neither an input nor another
    destination.

    On memrefs the depth of query, key, value and gate has stride 1; their
    other strides, and all strides of biases, are arbitrary, 0 included. The
    elements of an i1 bias take one byte each in memory.

    `group_size` heads of the query share a head of key and value: H =
    group_size * Hk (multi-query and grouped-query attention, Ainslie et al.,
    "GQA", 2023). The default is 1. Key and value may have a static 1 of B or N
    alike: then all b, or all n, of the query share it.

    `scale` is any finite f32; the default is D^(-1/2) rounded to f32.

    #### Clauses

    The text has the clauses in this order, each at most once but for `bias` and
    `capture`; `query`, `key`, `value` and `outs` are always there:

    ```
    query(…) key(…) value(…) bias(…)… capture(…)… gate(…)
    lengths(keys …, queries …) ragged(queries …, keys …, most …, …) dropout(p, …)
    outs(…) lse(…) stats(…)
    scale(…) group_size(…) keys(from …, to …) weights(…) score(…) {…}
    ```

    Attributes that are none of the op's own follow. Of `lengths` and `keys` one part
    is enough, `ragged` has all of its own.

    #### Lengths

    With `lengths(keys %j, queries %i)` row n of batch b has the first `j[b,n]` of the
    Sk keys and the first `i[b,n]` of the Sq queries; without either, all of them.
    Numbers beyond Sk or Sq count as these, negative ones as 0. Work on tiles behind
    the end of a row is not done, and what any operand holds there counts nowhere:
    no NaN is seen. Behind a row's last query `output` and `stats` are 0 and `lse` is
    -inf.

    #### Ragged sequences

    With `ragged(queries %i, keys %j, most %p, %r)` there are B sequences that lie one
    behind the other in operands whose b is a static 1: query, gate, output, lse and
    stats have Tq queries in the place of Sq, key and value Tk keys in that of Sk.
    Sequence b has the queries from `i[b]` to before `i[b+1]` and the keys from `j[b]`
    to before `j[b+1]`, and sees no other's. p and r are numbers of type index: no
    sequence has more queries or keys. They are Sq and Sk of biases, whose b is the
    sequence; those of `keys` are the sequence's own.

    The cumulative lengths are read on the device. Whatever they are, nothing outside
    of the operands is read or written: each counts as 0 if it is negative and as Tq
    or Tk if it is more; where one is less than the one before it the sequence is
    empty; and of more than p queries or r keys the first p and r count. Sequences that
    share queries, or keys whose gradient is asked for, are undefined there. What is of
    no sequence stays in `output`, `lse` and `stats` what it was, and so it does in the
    gradients of sequences; a bias's gradient is 0 there, and where there are no queries
    at all (Tq = 0) it stays what it was, too.

    #### Ranges of keys

    With `keys(from #lo, to #hi)` query `i` sees the keys `j` with lo(i) <= j <
    hi(i) alone; either bound may be absent. The others are dropped, and work
    on tiles that no query sees is not done. A bound is a map (i)[sq, sk] of the
    query's index and the numbers Sq and Sk, of a row with lengths its own, that
    does not fall with i: a sum of

    * i, or (i floordiv c) * c with a constant c, or neither,
    * sq and sk with the coefficients -1, 0 or 1,
    * operands of type index, further symbols of the map, with the coefficients -1, 0
      or 1,
    * a constant from -2^30 to 2^30.

    Operands are numbers that are known when the program runs, so that a window may
    change without a new program:

    ```mlir
    keys(from affine_map<(i)[sq, sk, w] -> (i - w)>[%w], to affine_map<(i)[sq, sk] -> (i + 1)>)
    ```

    Any number is accepted: those of 2^30 or more in size, and a bound's sums of that
    size, count as 2^30 - 1 with their sign. They have no gradient. A canonicalization makes
    constant operands a part of the map where the bound stays the same, and takes away what
    cancels or is not read.

    Bounds may lie outside of the keys there are. With the last key of the last
    query, as FlashAttention has it, causal attention is `to (i + sk - sq + 1)`;
    with the first key of the first, as torch has it, `to (i + 1)`. A window of
    `left` keys before and `right` keys behind is `from (i + sk - sq - left), to (i
    + sk - sq + right + 1)`. AlphaFold 3's atom attention (32 queries with 128
    keys around them) is `from ((i floordiv 32) * 32 - 48), to ((i floordiv 32) *
    32 + 80)`.

    #### Scores

    With a region `score` the logit is what this makes of the scaled score, plus
    biases:

    ```
    logit[b,n,h,i,j] = score(scale * sum_d query * key, b, n, h, i, j, sq, sk, captures[b,n,h,i,j])
                     + sum_t bias_t[b,n,h,i,j]
    ```

    The region is a straight line of at most 64 ops of arith and math on f32, i32
    and i1; it sees nothing of what is around it. Its arguments are always x: f32,
    the scaled score; b, n, h, i and j: i32, where the pair is, counted from 0 (of
    ragged sequences b is the sequence, and i and j count in it); sq and sk: i32, how
    many queries and keys the row has; then one f32 for each `capture`, in their
    order: what that holds for the pair, an i32 where it is of i32. A capture whose
    argument is a vector<Exf32>, with E from 1 to 64, is a table, of which
    `evoformer.lookup` gives the entry of an index, held within the table: buckets of
    distances, diagonals (i - j), or what a capture of i32 holds for the pair. Accepted
    beside that are arith's `constant`, `addf`,
    `subf`, `mulf`, `divf`, `negf`, `maximumf`, `minimumf`, `maxnumf`, `minnumf`,
    `cmpf`, `cmpi`, `select`, `sitofp`, `fptosi`, `addi`, `subi`, `muli`, `andi`,
    `ori`, `xori`, `divsi` and `remsi` by positive constants, `minsi` and `maxsi`, and
    math's `absf`, `exp`, `exp2`, `log`, `log2`, `sqrt`, `rsqrt`, `tanh` and `fma`.
    `exp` and `log` are computed in base 2, functions are right to a few units in the
    last place of f32.

    A score of -inf drops the key. What it gives for dropped keys counts nowhere.

    The gradient is that of the region, by reverse mode: `select`, `maximumf` and
    their like hand it to the operand that they chose (of equal ones to the first),
    that of `absf` is 0 at 0, integers and conditions have none.
    A canonicalization moves a factor of x into the scale.

    #### Dropout

    With `dropout(p, %state)` each weight is kept with the probability 1 - p and then
    divided by it, or is 0:

    ```
    keep[b,n,h,i,j] = draw(state, (b N + n) H + h, i, j) >= t       t = round(p * 2^16)
    out[b,n,i,h,e]  = sigmoid(gate) * sum_j keep * exp(logit - lse) / (1 - t / 2^16) * value
    ```

    p is from 0 to before 1, t at most 2^16 - 1; lse and stats are those of all
    weights. `state` holds two numbers that the device reads, a seed and an offset:
    draws of the same state are the same in the op and its gradients, on every
    target, whatever the schedule, and those of different states are independent.
    What a draw is `evo_tile.random` says, with (b N + n) H + h for its stream, i for
    its row and j for its column (of ragged sequences b is the sequence, N is 1, and i and
    j count in it). A canonicalization removes `dropout` where t is 0.

    #### Weights

    `weights(...)` says how the weights of a row are made of its logits, which `softmax`
    is where nothing is said:

    ```
    weights(softmax)              weight = exp(logit - lse)
    weights(linear)               weight = logit
    weights(retention<min = M>)   weight = logit / max(M, sum_j abs(logit))
    ```

    `retention` is RetNet's parallel form, with a decay of any [H, Sq, Sk] or smaller that
    the score multiplies by; its divisor is no function of the logits for the gradient
    (RetNet detaches it), and where it is 0 so are the weights. M is from 0 on. Dropped keys
    have weights of 0 and count in no sum. Biases are masks of i1: what is added to a score
    stands in its region. There is no `lse`, which is of exponentials. Logits are rounded to
    the type of `value` for their product with it: those beyond f16 are infinite there.
    `dropout` is of weights, whatever they are.

    #### Dropped keys

    An i1 bias means 'keep where true'. Key `j` is dropped for query `i` if an
    i1 bias is false there, another bias is -inf there, or `keys` leaves it out. The weight of a
    dropped key is exactly 0: a NaN in its row of `key` is ignored (a NaN or +inf
    that a further bias of the query has there need not be); its row of
    `value` is multiplied by 0, so a NaN or an infinity there makes the output
    NaN. If no key is left, or Sk = 0, then the sum over the keys is 0, whatever
    `value` holds, so that `out` = 0, `lse` = -inf and `stats` = 0. B, N, H or
    Sq = 0 is nothing to do.

    #### Large masks

    A float bias may hold large finite values that stand for minus infinity
    (-1e9, the lowest finite number of a type). Where they do not depend on the
    query the result is that of exact arithmetic: where all keys of a row carry
    them, they cancel. To this end let c_j be the sum of those biases whose
    query dimension broadcasts, in f64, and m0 the maximum of c_j over the keys
    that those biases keep, but for +inf; 0 without such a bias or key:

    ```
    m0[b,n,h] = max_j sum over t with a broadcast q of bias_t[b,n,h,0,j]
    ```

    The others are added to the scores in f32: on all keys of one query -1e9
    leaves few digits of its scores, as in a framework's f32. Sums of up to ten
    lowest finite numbers do not overflow, so that only -inf drops a key.
    Scores, and scores times `scale`, are f32 too: where they reach 2^127 in size,
    rows are NaN, and an lse beyond f32 is its last finite number. Weights are rounded to the
    type of `value`, which an output of f32 shows.

    #### Statistics

    What the gradient needs of a query is, relative to m0, a reference r, in units of
    u, and the binary logarithm of the sum of the weights relative to that, none of
    which overflows. r is the logit of a kept key, or where scores know the places of
    keys a number that has the weights add up to 1 or more. Two numbers, because a
    large one leaves no digits for the logarithm. u is 16 for queries of f32 and 16 * ln(2) for other
    types (in such units no finite bias overflows):

    ```
    stats[0,b,n,h,i] = (r[b,n,h,i] - m0[b,n,h]) / u
    stats[1,b,n,h,i] = log2 sum_j exp(logit[b,n,h,i,j] - m0[b,n,h]
                                      - u * stats[0,b,n,h,i])
    lse[b,n,h,i]     = m0[b,n,h] + u * stats[0,b,n,h,i] + ln(2) * stats[1,b,n,h,i]
    ```

    with the logits as f32 holds them in units of u: the weights that the
    gradient recomputes from `stats` are those of this op.

    Where `weights` is not softmax stats[1] is what a row is divided by, 1 for `linear`, and
    stats[0] is 0, in rows that keep no key, too. A row that is divided by less than 2^-126
    has output 0.

    #### Examples

    ```mlir
    // Triangle attention: a key mask shared by heads and queries, and a pair
    // bias shared by rows.
    %0 = evoformer.attention
        query(%q : tensor<1x384x384x4x32xbf16>)
        key(%k : tensor<1x384x384x4x32xbf16>)
        value(%v : tensor<1x384x384x4x32xbf16>)
        bias(%mask : tensor<1x384x1x1x384xi1>)
        bias(%pair : tensor<1x1x4x384x384xbf16>)
        outs(%out : tensor<1x384x384x4x32xbf16>)

    // Head-major operands of dynamic sizes, a gate, a scale, the lse.
    evoformer.attention
        query(%q as bnhsd : memref<?x?x4x?x32xf16>)
        key(%k as bnhsd : memref<?x?x4x?x32xf16>)
        value(%v as bnhsd : memref<?x?x4x?x32xf16>)
        gate(%g : memref<?x?x?x4x32xf16>)
        outs(%out : memref<?x?x?x4x32xf16>)
        lse(%lse : memref<?x?x4x?xf32>)
        scale(0.25)

    // Rows of their own lengths.
    evoformer.attention
        query(%q : memref<?x?x?x4x32xf16>)
        key(%k : memref<?x?x?x4x32xf16>)
        value(%v : memref<?x?x?x4x32xf16>)
        lengths(keys %j : memref<?x?xi32>, queries %i : memref<?x1xi32>)
        outs(%out : memref<?x?x?x4x32xf16>)

    // Causal, with eight heads of queries for one of keys.
    %1 = evoformer.attention
        query(%q : tensor<1x1x?x32x128xbf16>)
        key(%k : tensor<1x1x?x4x128xbf16>)
        value(%v : tensor<1x1x?x4x128xbf16>)
        outs(%out : tensor<1x1x?x32x128xbf16>)
        group_size(8)
        keys(to affine_map<(i)[sq, sk] -> (i + sk - sq + 1)>)

    // The same of sequences that lie one behind the other.
    %2 = evoformer.attention
        query(%q : tensor<1x1x?x32x128xbf16>)
        key(%k : tensor<1x1x?x4x128xbf16>)
        value(%v : tensor<1x1x?x4x128xbf16>)
        ragged(queries %i : tensor<?xi32>, keys %j : tensor<?xi32>, most %p, %r)
        outs(%out : tensor<1x1x?x32x128xbf16>)
        group_size(8)
        keys(to affine_map<(i)[sq, sk] -> (i + sk - sq + 1)>)

    // A softcap of 30, then ALiBi with a slope for each head.
    %3 = evoformer.attention
        query(%q : tensor<1x1x?x32x128xbf16>)
        key(%k : tensor<1x1x?x32x128xbf16>)
        value(%v : tensor<1x1x?x32x128xbf16>)
        capture(%slopes : tensor<1x1x32x1x1xf32>)
        outs(%out : tensor<1x1x?x32x128xbf16>)
        score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
              %sk: i32, %slope: f32) {
          %c30 = arith.constant 30.0 : f32
          %share = arith.divf %x, %c30 : f32
          %tanh = math.tanh %share : f32
          %capped = arith.mulf %tanh, %c30 : f32
          %end = arith.addi %i, %sk : i32
          %place = arith.subi %end, %sq : i32
          %ahead = arith.subi %place, %j : i32
          %signed = arith.sitofp %ahead : i32 to f32
          %distance = math.absf %signed : f32
          %term = arith.mulf %slope, %distance : f32
          %y = arith.subf %capped, %term : f32
          evoformer.yield %y : f32
        }

    // Retention with a decay for each head and pair.
    %4 = evoformer.attention
        query(%q : tensor<1x1x?x8x192xbf16>)
        key(%k : tensor<1x1x?x8x192xbf16>)
        value(%v : tensor<1x1x?x8x128xbf16>)
        capture(%decay : tensor<1x1x8x?x?xf32>)
        outs(%out : tensor<1x1x?x8x128xbf16>)
        weights(retention<min = 1.0>)
        score(%x: f32, %b: i32, %n: i32, %h: i32, %i: i32, %j: i32, %sq: i32,
              %sk: i32, %decay_ij: f32) {
          %y = arith.mulf %x, %decay_ij : f32
          evoformer.yield %y : f32
        }
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
    Optional<Evoformer_Shaped>:$lse,
    Optional<Evoformer_Shaped>:$stats,
    Evoformer_SequenceOrder:$query_order,
    Evoformer_SequenceOrder:$key_order,
    Evoformer_SequenceOrder:$value_order,
    Evoformer_BiasOrders:$bias_orders,
    Evoformer_BiasOrders:$capture_orders,
    Evoformer_SequenceOrder:$gate_order,
    Evoformer_SequenceOrder:$output_order,
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

  let builders = [
    /// Default orders and scale; the results, if any, have the types of the
    /// destinations. `gate`, `lse`, `stats` and lengths may be null; `ragged`
    /// has where queries and keys start and the most of both, or nothing. With
    /// `hasScore` there is an empty region for the score. The maps of the bounds of
    /// keys, `keys_from` and `keys_to`, are to be set.
    OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key,
                   "::mlir::Value":$value, "::mlir::ValueRange":$biases,
                   "::mlir::Value":$gate, "::mlir::Value":$output,
                   CArg<"::mlir::Value", "{}">:$lse,
                   CArg<"::mlir::Value", "{}">:$stats,
                   CArg<"::mlir::FloatAttr", "{}">:$scale,
                   CArg<"::mlir::Value", "{}">:$keyLengths,
                   CArg<"::mlir::Value", "{}">:$queryLengths,
                   CArg<"::mlir::ValueRange", "{}">:$ragged,
                   CArg<"bool", "false">:$hasScore,
                   CArg<"::mlir::ValueRange", "{}">:$captures,
                   CArg<"::mlir::Value", "{}">:$dropout,
                   CArg<"::mlir::ValueRange", "{}">:$keysFromOperands,
                   CArg<"::mlir::ValueRange", "{}">:$keysToOperands)>
  ];

  let extraClassDeclaration = familyClassDeclaration # [{
    /// The order of bias `index`, never null; `getQueryOrder()`,
    /// `getKeyOrder()`, `getValueOrder()`, `getGateOrder()` and
    /// `getOutputOrder()` are never null either.
    DimOrderAttr getBiasOrder(unsigned index);

    /// The orders of all biases, or captures, one each (`bias_orders` and
    /// `capture_orders` may be empty).
    ::llvm::SmallVector<DimOrderAttr> getAllBiasOrders();
    ::llvm::SmallVector<DimOrderAttr> getAllCaptureOrders();

    /// Takes what is no operand, but for the scale, from another op with as
    /// many biases and captures: orders, the size of groups, the range of keys, the score,
    /// the probability of dropout, how weights are made.
    void copyFacts(AttentionOp other);

    /// Starts of queries and keys and the most of both, or nothing.
    ::llvm::SmallVector<::mlir::Value> getRagged();

    /// The results by name; null on memrefs or if there is none.
    ::mlir::Value getOutputResult();
    ::mlir::Value getLseResult();
    ::mlir::Value getStatsResult();
  }];
}

def Evoformer_LookupOp : Op<Evoformer_Dialect, "lookup", [Pure]> {
  let summary = "An entry of a table that a score captures";
  let description = [{
    The entry of the table with this index, which is held within what there is: of
    one below 0 the first, of one beyond the last.

    ```mlir
    %d = arith.subi %i, %j : i32
    %bias = evoformer.lookup %table[%d] : vector<32xf32>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$table, I32:$index);
  let results = (outs F32:$result);
  let assemblyFormat = "$table `[` $index `]` attr-dict `:` type($table)";
}

def Evoformer_YieldOp : Op<Evoformer_Dialect, "yield", [
    Pure, Terminator,
    ParentOneOf<["AttentionOp", "AttentionBackwardOp", "AttentionGradientOp",
                 "AttentionWeightsOp"]>
  ]> {
  let summary = "What a score region gives";
  let description = [{
    The score of a pair; in `evoformer.attention_gradient` also its derivative by
    the region's first argument, or by the capture whose gradient is asked for: of a
    table the derivative by what is looked up, and the number of that entry.
  }];
  let arguments = (ins Variadic<F32>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // EVOFORMER_DIALECT_EVOFORMER_IR_EVOFORMEROPS_TD
