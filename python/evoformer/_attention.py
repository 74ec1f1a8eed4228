"""The function of the package: chooses by the type of its arguments."""

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Optional, TypeVar, Union, overload

from . import _keys, _score, _weights
from ._problem import Lengths, to_number

if TYPE_CHECKING:
    from ._numpy import Gradients

# A NumPy array, torch tensor or JAX array: all operands and results are of one kind.
Array = TypeVar("Array")

# (left, right), and (the first key, the one behind the last).
Window = Sequence[Optional[int]]
Bounds = Sequence[Optional[str]]
# For queries and keys, or one for both.
Item = TypeVar("Item")
OneOrTwo = Union[Item, Sequence[Item]]
# score, b, n, h, i, j, sq, sk and what is captured to a logit.
Score = Callable[..., Any]


def _proxy(*operands: object) -> Any:
    """The first of them by which torch.fx traces symbolically."""
    fx = sys.modules.get("torch.fx")
    if fx is not None:
        for operand in operands:
            if isinstance(operand, fx.Proxy):
                return operand
    return None


def _backend(array: object) -> ModuleType:
    """The module that knows such arrays."""
    if _proxy(array) is not None:
        raise TypeError("query is a Proxy of torch.fx, which has no values; accepted "
                        "are arrays (evoformer.attention itself can be traced)")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        from . import _torch
        return _torch
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(array, jax.Array):
        from . import _jax
        return _jax
    from . import _numpy
    return _numpy


def _check_biases(biases: object) -> None:
    """A tensor would be taken apart along its first dimension."""
    if type(biases) not in (tuple, list) and not isinstance(biases, (tuple, list)):
        raise TypeError(f"biases is a {type(biases).__name__}; accepted is a list "
                        "or tuple of biases")


def _check_captures(captures: object, score: object) -> None:
    if not isinstance(captures, (tuple, list)):
        raise TypeError(f"captures is a {type(captures).__name__}; accepted is a list or "
                        "tuple of what score reads")
    if captures and score is None:
        raise ValueError("captures is given without score, which reads them; accepted "
                         "are both")


def _pair(name: str, given: Any) -> tuple[Any, Any]:
    """For queries and keys."""
    if not isinstance(given, (tuple, list)):
        return given, given
    if name == "cu_seqlens" and any(isinstance(one, (int, float)) for one in given):
        raise TypeError(f"cu_seqlens is a {type(given).__name__} of numbers; accepted is "
                        "an array in int32, of the kind and on the device of query, or a "
                        "pair of these")
    if len(given) != 2:
        raise ValueError(f"{name} has {len(given)} entries; accepted are one for queries "
                         "and one for keys, or one for both")
    return given[0], given[1]


def _lengths(key_lengths: Any, query_lengths: Any, cu_seqlens: Any, max_seqlen: Any
             ) -> Lengths:
    if cu_seqlens is None:
        if max_seqlen is not None:
            raise ValueError("max_seqlen given without cu_seqlens; accepted are both")
        return Lengths(key_lengths, query_lengths)
    starts = _pair("cu_seqlens", cu_seqlens)
    if any(one is None for one in starts):
        raise ValueError("cu_seqlens has a None; accepted are cumulative lengths of "
                         "both queries and keys")
    return Lengths(key_lengths, query_lengths, *starts, *_pair("max_seqlen", max_seqlen))


def _with_score(seen: _keys.Keys, biases: Sequence[Any], score: Optional[Score],
                captures: Sequence[Any]) -> tuple[_keys.Keys, Sequence[Any]]:
    """What is seen and read with a score, whose captures follow the biases."""
    if score is None:
        return seen, biases
    return (seen._replace(score=_score.trace(score, _score.describe_captures(captures)),
                          captures=len(captures)), (*biases, *captures))


def _dropout(probability: Any, state: Any, lengths: Lengths) -> tuple[float, Lengths]:
    """The probability, and the state beside what else the device reads."""
    probability = to_number("dropout_p", probability, "a number from 0 to before 1")
    # The number is an f32, of which 1 is none.
    if not 0 <= probability < 1 - 2 ** -25:
        raise ValueError(f"dropout_p is {probability}; accepted are 0 to before 1, in f32")
    if probability == 0:
        return 0.0, lengths
    return probability, lengths._replace(dropout=state)


@overload
def attention(query: Array, key: Array, value: Array, biases: Sequence[Array] = (),
              gate: Optional[Array] = None, scale: Optional[float] = None,
              layout: Optional[str] = None,
              return_lse: Literal[False] = False, *, causal: bool = False,
              window: Optional[Window] = None,
              keys: Optional[Bounds] = None,
              key_lengths: Optional[Array] = None,
              query_lengths: Optional[Array] = None,
              cu_seqlens: Optional[OneOrTwo[Array]] = None,
              max_seqlen: Optional[OneOrTwo[int]] = None,
              score: Optional[Score] = None, captures: Sequence[Array] = (),
              dropout_p: float = 0.0, dropout_state: Optional[Array] = None,
              weights: "_weights.Weights" = "softmax",
              check_lengths: bool = False) -> Array: ...


@overload
def attention(query: Array, key: Array, value: Array, biases: Sequence[Array] = (),
              gate: Optional[Array] = None, scale: Optional[float] = None,
              layout: Optional[str] = None, *,
              return_lse: Literal[True], causal: bool = False,
              window: Optional[Window] = None,
              keys: Optional[Bounds] = None,
              key_lengths: Optional[Array] = None,
              query_lengths: Optional[Array] = None,
              cu_seqlens: Optional[OneOrTwo[Array]] = None,
              max_seqlen: Optional[OneOrTwo[int]] = None,
              score: Optional[Score] = None, captures: Sequence[Array] = (),
              dropout_p: float = 0.0, dropout_state: Optional[Array] = None,
              weights: "_weights.Weights" = "softmax",
              check_lengths: bool = False) -> tuple[Array, Array]: ...


@overload
def attention(query: Array, key: Array, value: Array, biases: Sequence[Array] = (),
              gate: Optional[Array] = None, scale: Optional[float] = None,
              layout: Optional[str] = None,
              return_lse: bool = False, *, causal: bool = False,
              window: Optional[Window] = None,
              keys: Optional[Bounds] = None,
              key_lengths: Optional[Array] = None,
              query_lengths: Optional[Array] = None,
              cu_seqlens: Optional[OneOrTwo[Array]] = None,
              max_seqlen: Optional[OneOrTwo[int]] = None,
              score: Optional[Score] = None, captures: Sequence[Array] = (),
              dropout_p: float = 0.0, dropout_state: Optional[Array] = None,
              weights: "_weights.Weights" = "softmax",
              check_lengths: bool = False
              ) -> Union[Array, tuple[Array, Array]]: ...


def attention(query: Any, key: Any, value: Any, biases: Sequence[Any] = (),
              gate: Optional[Any] = None, scale: Optional[float] = None,
              layout: Optional[str] = None, return_lse: bool = False, *,
              causal: bool = False, window: Optional[Window] = None,
              keys: Optional[Bounds] = None, key_lengths: Optional[Any] = None,
              query_lengths: Optional[Any] = None,
              cu_seqlens: Optional[Any] = None,
              max_seqlen: Optional[Any] = None, score: Optional[Score] = None,
              captures: Sequence[Any] = (), dropout_p: float = 0.0,
              dropout_state: Optional[Any] = None,
              weights: "_weights.Weights" = "softmax",
              check_lengths: bool = False) -> Any:
    """Attention with additive biases and a gate:

        logit[b,n,h,i,j] = scale * <query[b,n,i,h,:], key[b,n,j,h,:]>
                           + the sum of the biases
        lse[b,n,h,i]     = log sum_j exp(logit[b,n,h,i,j])
        out[b,n,i,h,:]   = sigmoid(gate[b,n,i,h,:])
                           * sum_j exp(logit[b,n,h,i,j] - lse[b,n,h,i]) * value[b,n,j,h,:]

    (AlphaFold 2, supplement, algorithms 7, 13 and 14; AlphaFold 3, supplement,
    algorithm 24.)

    Arguments (NumPy arrays, torch tensors or JAX arrays, all of one kind and on
    one device):
      query:   [b, n, sq, h, d], float32, float16 or bfloat16; d up to 256
      key:     [b, n, sk, h, d], the query's type
      value:   [b, n, sk, h, dv], the query's type. Key and value may have fewer
               heads, a number that divides h: each serves h / heads successive
               heads of the query (grouped-query attention). Key and value may have
               size 1 of b or n alike, which all b or n of the query share
      biases:  any number, each [b, n, h, sq, sk] with any dimension of size 1,
               of the query's type, float32, or bool: True keeps the key. What
               is missing on the left has size 1
      gate:    [b, n, sq, h, dv], before the sigmoid; the query's type or float32
      scale:   a number; default 1 / sqrt(d)
      layout:  the order of the dimensions of query, key, value, gate and output,
               as letters of 'bnshd'. b, n and h may be left out, here and in the
               biases. Default: 'bnshd', 'nshd' or 'shd', by the query's rank
      return_lse: also return lse, [b, n, h, sq] in float32 (a gradient with torch
               and JAX)
      causal:  True: a query sees no key behind it; the last query is beside the
               last key
      window:  (left, right): how many keys before and behind its own place a query
               sees, the places as with causal; -1 or None for all. With causal
               the right one is 0
      keys:    instead of both: (first, end), query i sees the keys first <= j < end.
               Either is None or a text, a sum of i or i/c*c (i rounded down to a
               multiple of c), sq, sk (the numbers of queries and keys) and numbers.
               ("i/32*32-48", "i/32*32+80") is AlphaFold 3's local attention of atoms

      key_lengths, query_lengths: how many keys and queries row n of batch b has,
               [b, n] in int32, each dimension of size 1 or missing on the left: the
               first of those that there are. Numbers beyond sk or sq count as
               these, negative ones as 0. Read on the device: a new length costs
               nothing. The numbers sq and sk in keys, and the places of causal and
               window, are of the row's own
      cu_seqlens: instead: sequences lie one behind the other along 's', and b, if the
               layout has it, is 1. Cumulative lengths in int32, (sequences + 1,): those
               of queries and keys as a pair, or one array for both. Sequence b has the
               positions from cu_seqlens[b] to before cu_seqlens[b + 1] and sees no
               other's. Read on the device, and held within what there is. Biases have
               a first dimension for the sequence, whether the layout has 'b' or not:
               [sequences, n, h, max_seqlen of queries, of keys]. What is of no
               sequence has out 0, lse -inf and gradients 0
      max_seqlen: with cu_seqlens: no sequence has more positions; what one has beyond
               counts as of none. A pair, or one number for both; default: all there
               are, for which kernels have more idle work items
      score:   a function of (score, b, n, h, i, j, sq, sk, *captures) that gives the
               logit, before biases, of scale * <query, key> (a float32) and of where
               the pair is: the indices of batch (with cu_seqlens the sequence), row,
               head, query and key, and the row's numbers of queries and keys (int32).
               It is called once with numbers that record what is done with them:
               + - * /, // and % by constants, comparisons, & | ~, abs, and
               evoformer.score's where, maximum, minimum, exp, exp2, log, log2, sqrt,
               rsqrt, tanh and to_int (or torch's of these names, or score.tanh()), at most 64
               operations.
               Gradients follow from it. A logit of -inf drops the key
      dropout_p: with which probability, from 0 to before 1, each weight is 0 where
               values are summed; the others are divided by what is left of 1. It is
               taken to 2^-16. lse is that of all weights. For training alone
      dropout_state: a seed and an offset in int64, (2,), read on the device: equal ones
               drop the same weights, on any device. With torch the default is two
               numbers of the device's default generator; NumPy and JAX have none. With
               JAX a key of jax.random, too, or the halves of both in uint32, (4,),
               lower ones first
      weights: 'softmax', or how else the weights of a row are made of its logits x, which
               are 0 for dropped keys: 'linear' takes x; 'retention' or
               ('retention', least) x / max(least, sum_j |x|), with a least of 1 by
               default and a divisor that has no gradient (evoformer.retention). Then
               there is no lse, and biases are bool: score has what is added
      captures: what score reads beside: any number of arrays with the dimensions of
               biases, of the query's type or float32. They have gradients as biases do.
               int32 ones are integers for score. One that score reads at an index,
               as table[i - j + 15] or table[buckets], is a table of up to 64 entries in
               the place of keys, [b, 1, h, 1, entries] with any b and h of size 1 or
               missing: the index is held within it

    Returns out, in the layout and of the type of query, or (out, lse). A query
    without keys (all are dropped by False or a bias of -inf, or it sees none) has
    out 0 and lse -inf. Keys that no query of a tile sees are not read. Behind a
    row's last query out is 0 and lse -inf, gradients there and behind the last key
    are 0, and what operands hold there does not matter.

    Arrays are read where they lie, whatever their strides, but for a last
    dimension 'd' that is not contiguous: then of a copy.

    Raises TypeError or ValueError for operands that do not fit, with what was
    given and what is accepted, and EvoformerError for what the device cannot.
    """
    _check_biases(biases)
    lengths = _lengths(key_lengths, query_lengths, cu_seqlens, max_seqlen)
    _check_captures(captures, score)
    dropout_p, lengths = _dropout(dropout_p, dropout_state, lengths)
    made = _weights.word(weights)
    _weights.check_lse(made, return_lse)
    proxy = _proxy(query, key, value, gate, *biases, *lengths, *captures)
    if proxy is not None and score is not None:
        raise NotImplementedError("score inside of torch.fx.symbolic_trace; accepted are "
                                  "eager calls")
    if proxy is not None:
        # One call in the traced graph.
        return proxy.tracer.create_proxy(
            "call_function", attention,
            (query, key, value, list(biases), gate, scale, layout, return_lse),
            {"causal": causal, "window": window, "keys": keys,
             "key_lengths": key_lengths, "query_lengths": query_lengths,
             "cu_seqlens": cu_seqlens, "max_seqlen": max_seqlen,
             **({"check_lengths": True} if check_lengths else {}),
             **({"dropout_p": dropout_p, "dropout_state": dropout_state}
                if dropout_p else {}),
             **({"weights": weights} if made else {})})
    if check_lengths:
        from . import _check_lengths
        _check_lengths.check(query, key, layout, lengths._replace(dropout=None))
    seen, biases = _with_score(_keys.resolve(causal, window, keys), biases, score,
                               captures)
    return _backend(query).attention(
        query, key, value, biases, gate, scale, layout, return_lse,
        seen._replace(dropout_p=dropout_p, weights=made), lengths)


def attention_vjp(query: Any, key: Any, value: Any, biases: Sequence[Any] = (),
                  gate: Optional[Any] = None, scale: Optional[float] = None,
                  layout: Optional[str] = None, *, causal: bool = False,
                  window: Optional[Window] = None, keys: Optional[Bounds] = None,
                  key_lengths: Optional[Any] = None,
                  query_lengths: Optional[Any] = None,
                  cu_seqlens: Optional[Any] = None, max_seqlen: Optional[Any] = None,
                  score: Optional[Score] = None, captures: Sequence[Any] = (),
                  dropout_p: float = 0.0, dropout_state: Optional[Any] = None,
                  weights: "_weights.Weights" = "softmax"
                  ) -> tuple[Any, "Callable[[Any], Gradients]"]:
    """(out, gradients) of NumPy arrays, arguments as of `attention`:
    `gradients(output_gradient)` gives the Gradients of sum(out *
    output_gradient). torch and JAX differentiate `attention` itself."""
    from . import _numpy
    _check_biases(biases)
    _check_captures(captures, score)
    lengths = _lengths(key_lengths, query_lengths, cu_seqlens, max_seqlen)
    dropout_p, lengths = _dropout(dropout_p, dropout_state, lengths)
    seen, biases = _with_score(_keys.resolve(causal, window, keys), biases, score,
                               captures)
    return _numpy.attention_vjp(query, key, value, biases, gate, scale, layout,
                                seen._replace(dropout_p=dropout_p,
                                              weights=_weights.word(weights)), lengths)
