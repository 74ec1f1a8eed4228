"""The function of the package: chooses by the type of its arguments."""

import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Optional, TypeVar, Union, overload

from . import _keys
from ._problem import Lengths

if TYPE_CHECKING:
    from ._numpy import Gradients

# A NumPy array, torch tensor or JAX array: all operands and results are of one kind.
Array = TypeVar("Array")

# (left, right), and (the first key, the one behind the last).
Window = Sequence[Optional[int]]
Bounds = Sequence[Optional[str]]


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


@overload
def attention(query: Array, key: Array, value: Array, biases: Sequence[Array] = (),
              gate: Optional[Array] = None, scale: Optional[float] = None,
              layout: Optional[str] = None,
              return_lse: Literal[False] = False, *, causal: bool = False,
              window: Optional[Window] = None,
              keys: Optional[Bounds] = None,
              key_lengths: Optional[Array] = None,
              query_lengths: Optional[Array] = None) -> Array: ...


@overload
def attention(query: Array, key: Array, value: Array, biases: Sequence[Array] = (),
              gate: Optional[Array] = None, scale: Optional[float] = None,
              layout: Optional[str] = None, *,
              return_lse: Literal[True], causal: bool = False,
              window: Optional[Window] = None,
              keys: Optional[Bounds] = None,
              key_lengths: Optional[Array] = None,
              query_lengths: Optional[Array] = None) -> tuple[Array, Array]: ...


@overload
def attention(query: Array, key: Array, value: Array, biases: Sequence[Array] = (),
              gate: Optional[Array] = None, scale: Optional[float] = None,
              layout: Optional[str] = None,
              return_lse: bool = False, *, causal: bool = False,
              window: Optional[Window] = None,
              keys: Optional[Bounds] = None,
              key_lengths: Optional[Array] = None,
              query_lengths: Optional[Array] = None
              ) -> Union[Array, tuple[Array, Array]]: ...


def attention(query: Any, key: Any, value: Any, biases: Sequence[Any] = (),
              gate: Optional[Any] = None, scale: Optional[float] = None,
              layout: Optional[str] = None, return_lse: bool = False, *,
              causal: bool = False, window: Optional[Window] = None,
              keys: Optional[Bounds] = None, key_lengths: Optional[Any] = None,
              query_lengths: Optional[Any] = None) -> Any:
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
               heads of the query (grouped-query attention)
      biases:  any number, each [b, n, h, sq, sk] with any dimension of size 1,
               of the query's type, float32, or bool: True keeps the key. What
               is missing on the left has size 1
      gate:    [b, n, sq, h, dv], before the sigmoid; the query's type or float32
      scale:   a number; default 1 / sqrt(d)
      layout:  the order of the dimensions of query, key, value, gate and output,
               as letters of 'bnshd'. b, n and h may be left out, here and in the
               biases. Default: 'bnshd', 'nshd' or 'shd', by the query's rank
      return_lse: also return lse, [b, n, h, sq] in float32 (no gradient)
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
    lengths = Lengths(key_lengths, query_lengths)
    proxy = _proxy(query, key, value, gate, *biases, *lengths)
    if proxy is not None:
        # One call in the traced graph.
        return proxy.tracer.create_proxy(
            "call_function", attention,
            (query, key, value, list(biases), gate, scale, layout, return_lse),
            {"causal": causal, "window": window, "keys": keys, **lengths.named()})
    return _backend(query).attention(query, key, value, biases, gate, scale,
                                     layout, return_lse,
                                     _keys.resolve(causal, window, keys), lengths)


def attention_vjp(query: Any, key: Any, value: Any, biases: Sequence[Any] = (),
                  gate: Optional[Any] = None, scale: Optional[float] = None,
                  layout: Optional[str] = None, *, causal: bool = False,
                  window: Optional[Window] = None, keys: Optional[Bounds] = None,
                  key_lengths: Optional[Any] = None,
                  query_lengths: Optional[Any] = None
                  ) -> tuple[Any, "Callable[[Any], Gradients]"]:
    """(out, gradients) of NumPy arrays, arguments as of `attention`:
    `gradients(output_gradient)` gives the Gradients of sum(out *
    output_gradient). torch and JAX differentiate `attention` itself."""
    from . import _numpy
    _check_biases(biases)
    return _numpy.attention_vjp(query, key, value, biases, gate, scale, layout,
                                _keys.resolve(causal, window, keys),
                                Lengths(key_lengths, query_lengths))
