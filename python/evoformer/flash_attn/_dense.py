"""Sequences of one length: [b, s, h, d]."""

import functools
from typing import Any, Optional, Union

from torch import Tensor, float32

from .. import _keys
from .._attention import attention
from .._attention_weights import attention_weights
from .._problem import are_groups, to_number
from .._score import fast_tanh, tanh
from .._torch import draw_state
from ._probabilities import find

Result = Union[Tensor, tuple[Tensor, Tensor, Optional[Tensor]]]


def refuse(**options: Any) -> None:
    """Options that are not there: all but None, 0 and False."""
    for name, given in options.items():
        if isinstance(given, Tensor) or given:
            shown = "a tensor" if isinstance(given, Tensor) else repr(given)
            plain = "None" if name == "block_table" else "0.0"
            raise NotImplementedError(f"{name} is {shown}; accepted is {plain}: "
                                      "evoformer.flash_attn has no such option yet")


def drop(dropout_p: float, query: Tensor) -> dict[str, Any]:
    """Arguments of `attention`, for calls that are to drop the same."""
    state = draw_state(query.device) if dropout_p else None
    return {"dropout_p": dropout_p, "dropout_state": state}


def check(rank: int, **tensors: Any) -> None:
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} is a {type(tensor).__name__}; accepted is a "
                            "torch.Tensor")
        if tensor.dim() != rank:
            raise ValueError(f"{name} has rank {tensor.dim()}; accepted is {rank}")


def check_heads(q: Tensor, k: Tensor, v: Tensor) -> None:
    heads, of_keys = q.shape[-2], k.shape[-2]
    if not are_groups(heads, of_keys):
        raise ValueError(f"k has {of_keys} heads; accepted is {heads}, as q has, or what "
                         "divides it")
    if v.shape[-2] != of_keys:
        raise ValueError(f"v has {v.shape[-2]} heads; accepted is {of_keys}, as k has")


def check_scale(softmax_scale: Any) -> Optional[float]:
    if softmax_scale is None:
        return None
    return to_number("softmax_scale", softmax_scale, "a number, or None")


def sides(window_size: Any) -> tuple[Any, ...]:
    try:
        if isinstance(window_size, (str, dict, set)):
            raise TypeError
        both = tuple(window_size)
    except TypeError:
        raise TypeError(f"window_size is a {type(window_size).__name__}; "
                        f"{_keys.WINDOW}") from None
    if len(both) != 2:
        raise ValueError(f"window_size is {both}, of {len(both)} numbers; "
                         f"{_keys.WINDOW}")
    return both


def unpack(packed: Tensor, name: str, count: int, rank: int = 5) -> tuple[Tensor, ...]:
    """[..., count, h, d] as so many tensors."""
    check(rank, **{name: packed})
    if packed.shape[-3] != count:
        raise ValueError(f"{name} has shape {tuple(packed.shape)}; accepted is size "
                         f"{count} of the {'third' if rank == 5 else 'second'} dimension")
    return packed.unbind(-3)


def scores(query: Tensor, softcap: float, alibi_slopes: Optional[Tensor], batch: int
           ) -> dict[str, Any]:
    """What makes logits of scores, as arguments of `attention` whose biases are
    [b, h, sq, sk]."""
    heads = query.shape[-2]
    softcap = to_number("softcap", softcap)
    if not (softcap == 0 or 1e-30 <= softcap <= 1e30):
        raise ValueError(f"softcap is {softcap}; accepted are 0 for none and numbers from "
                         "1e-30 to 1e30")
    # The quicker one is off by 1e-7 of the cap, which weights of 16 bits do not show.
    exact = query.dtype == float32 or softcap > 1e3

    def cap(score: Any) -> Any:
        if not softcap:
            return score
        return (tanh if exact else fast_tanh)(score * (1 / softcap)) * softcap
    if alibi_slopes is None:
        if not softcap:
            return {}
        return {"score": lambda score, *_: cap(score)}
    if not isinstance(alibi_slopes, Tensor):
        raise TypeError(f"alibi_slopes is a {type(alibi_slopes).__name__}; accepted is a "
                        "torch.Tensor")
    shapes = ((heads,), (batch, heads))
    if tuple(alibi_slopes.shape) not in shapes or alibi_slopes.dtype != float32:
        raise ValueError(
            f"alibi_slopes has shape {tuple(alibi_slopes.shape)} and type "
            f"{alibi_slopes.dtype}; accepted are {shapes[0]} and {shapes[1]}, "
            "torch.float32")

    def score(score: Any, b: Any, n: Any, h: Any, i: Any, j: Any, sq: Any, sk: Any,
              slope: Any) -> Any:
        return cap(score) - slope * abs(i + sk - sq - j)
    slopes = alibi_slopes.detach().reshape(-1, heads, 1, 1)
    return {"score": score, "captures": [slopes]}


def flash_attn_func(
        q: Tensor, k: Tensor, v: Tensor, dropout_p: float = 0.0,
        softmax_scale: Optional[float] = None, causal: bool = False,
        window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
        alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
        return_attn_probs: bool = False) -> Result:
    """FlashAttention's `flash_attn_func`:

        softmax(softmax_scale * q k^T, over the keys that a query sees) v

    q: [b, sq, h, d], k: [b, sk, hk, d], v: [b, sk, hk, dv], hk divides h.
    softmax_scale: default 1 / sqrt(d). causal: query i sees the keys
    j <= i + sk - sq. window_size: (left, right), those from i + sk - sq - left to
    i + sk - sq + right; -1: all. softcap: scores s become softcap * tanh(s / softcap);
    0: they stay. dropout_p: each weight is dropped with this probability, others are
    divided by 1 - dropout_p; random numbers are those of the device's default generator.
    alibi_slopes: (h,) or (b, h) in float32, without gradient; slope * |i + sk - sq - j| is
    subtracted from scores. Results are deterministic in any case.

    Returns out [b, sq, h, dv]; with return_attn_probs (out, lse, None), lse
    [b, h, sq] in float32 without gradient, and with dropout_p in the place of None the
    softmax [b, h, sq, sk] of q's type over the largest of each row, negative where a
    weight was dropped: for tests, since it takes the memory that attention spares. A query
    without keys has out 0 and lse -inf.

    Raises TypeError and ValueError for operands that do not fit.
    """
    check(4, q=q, k=k, v=v)
    check_heads(q, k, v)
    for name, tensor in (("k", k), ("v", v)):
        if tensor.shape[0] != q.shape[0]:
            raise ValueError(f"{name} has size {tensor.shape[0]} of the first dimension; "
                             f"accepted is {q.shape[0]}, as q has")
    options: dict[str, Any] = {
        "scale": check_scale(softmax_scale), "layout": "bshd", "causal": bool(causal),
        "window": sides(window_size), **scores(q, softcap, alibi_slopes, q.shape[0])}
    if not return_attn_probs:
        return attention(q, k, v, dropout_p=dropout_p, **options)
    dropout = drop(dropout_p, q)
    out, lse = attention(q, k, v, return_lse=True, **options, **dropout)
    return out, lse.detach(), find(functools.partial(attention_weights, q, k, **options),
                                   **dropout) if dropout_p else None


def flash_attn_kvpacked_func(
        q: Tensor, kv: Tensor, dropout_p: float = 0.0,
        softmax_scale: Optional[float] = None, causal: bool = False,
        window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
        alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
        return_attn_probs: bool = False) -> Result:
    """`flash_attn_func` of kv [b, sk, 2, hk, d]."""
    k, v = unpack(kv, "kv", 2)
    return flash_attn_func(q, k, v, dropout_p, softmax_scale, causal, window_size,
                           softcap, alibi_slopes, deterministic, return_attn_probs)


def flash_attn_qkvpacked_func(
        qkv: Tensor, dropout_p: float = 0.0, softmax_scale: Optional[float] = None,
        causal: bool = False, window_size: tuple[int, int] = (-1, -1),
        softcap: float = 0.0, alibi_slopes: Optional[Tensor] = None,
        deterministic: bool = False, return_attn_probs: bool = False) -> Result:
    """`flash_attn_func` of qkv [b, s, 3, h, d]."""
    q, k, v = unpack(qkv, "qkv", 3)
    return flash_attn_func(q, k, v, dropout_p, softmax_scale, causal, window_size,
                           softcap, alibi_slopes, deterministic, return_attn_probs)
