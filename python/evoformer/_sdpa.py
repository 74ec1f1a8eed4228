"""torch's scaled_dot_product_attention by its signature."""

import math
from collections.abc import Sequence
from typing import Any, Optional

import torch
from torch import Tensor

from ._attention import _proxy, attention
from ._keys import CAUSAL_FROM_FIRST
from ._problem import renamed


def scaled_dot_product_attention(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Optional[Tensor] = None,
        dropout_p: float = 0.0, is_causal: bool = False, scale: Optional[float] = None,
        enable_gqa: bool = False) -> Tensor:
    """`torch.nn.functional.scaled_dot_product_attention`:

        softmax(scale * query key^T + attn_mask) value

    query: [..., h, sq, d]; key: [..., h, sk, d]; value: [..., h, sk, dv]. Dimensions
    in front broadcast; h may be missing, with enable_gqa key and value may have
    fewer heads, a number that divides the query's. attn_mask: what broadcasts to
    [..., h, sq, sk], bool (True takes part) or of the query's type or float32.
    is_causal: query i sees the keys j <= i, counted from the first ones also where
    there are more keys than queries. scale: default 1 / sqrt(d).

    A query without keys gives 0, with gradients of 0.

    dropout_p: the probability with which each weight is dropped, others are divided by
    1 - dropout_p; from 0 to before 1, and as in torch whether training or not. Random
    numbers are those of the device's default generator.

    Raises as torch does RuntimeError for attn_mask with is_causal; TypeError and
    ValueError for operands that do not fit.
    """
    proxy = _proxy(query, key, value, attn_mask)
    if proxy is not None:
        # One call in the traced graph.
        traced: Tensor = proxy.tracer.create_proxy(
            "call_function", scaled_dot_product_attention,
            (query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa), {})
        return traced
    if not isinstance(is_causal, (bool, torch.SymBool, Tensor)):
        raise TypeError(f"is_causal is {is_causal!r}; accepted are True and False")
    if is_causal and attn_mask is not None:
        raise RuntimeError("attn_mask is given and is_causal is True; accepted is one "
                           "of them")
    _check(query, key, value, attn_mask)
    query, key, value, front = _broadcast(query, key, value, enable_gqa)
    biases = []
    if attn_mask is not None:
        biases.append(_fold(attn_mask, (*front, query.shape[-2], key.shape[-2])))
    with_names = renamed({"biases[0]": "attn_mask"}, attention)
    out: Any = with_names(
        query, key, value, biases, scale=scale, layout="bnhsd", dropout_p=dropout_p,
        keys=CAUSAL_FROM_FIRST if is_causal else None)
    return out.reshape(*front, *out.shape[-2:])  # type: ignore[no-any-return]


def _check(query: Any, key: Any, value: Any, attn_mask: Any) -> None:
    named = {"query": query, "key": key, "value": value}
    if attn_mask is not None:
        named["attn_mask"] = attn_mask
    for name, tensor in named.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} is a {type(tensor).__name__}; accepted is a "
                            "torch.Tensor")
        if name != "attn_mask" and tensor.dim() < 2:
            raise ValueError(f"{name} has rank {tensor.dim()}; accepted is 2 or more")


def _broadcast(query: Tensor, key: Tensor, value: Tensor, grouped: bool
               ) -> tuple[Tensor, Tensor, Tensor, list[int]]:
    """Of rank 5, in the order of 'bnhsd', and the output's sizes in front of the
    last two. With `grouped` heads are left to the kernels."""
    tensors = [query, key, value]
    rank = max(3, *(t.dim() for t in tensors))
    shapes = [(1,) * (rank - t.dim()) + tuple(t.shape) for t in tensors]
    ends = [rank - 3 if grouped else rank - 2] * 3
    try:
        common = torch.broadcast_shapes(*(s[:end] for s, end in zip(shapes, ends)))
    except RuntimeError:
        raise ValueError(
            f"query has shape {tuple(query.shape)}, key {tuple(key.shape)}, value "
            f"{tuple(value.shape)}; accepted are sizes in front of the last two that "
            "broadcast" + (" and, with enable_gqa, numbers of heads" if grouped else
                           " (enable_gqa=True for key and value of fewer heads)")
        ) from None
    folded = []
    for tensor, shape, end in zip(tensors, shapes, ends):
        tensor = tensor.expand(*common, *shape[end:])
        missing = 5 - rank
        if missing >= 0:
            tensor = tensor[(None,) * missing]
        else:
            tensor = tensor.reshape(math.prod(tensor.shape[:rank - 4]),
                                    *tensor.shape[rank - 4:])
        folded.append(tensor)
    front = [*common] if not grouped else [*common, shapes[0][-3]]
    if max(t.dim() for t in tensors) == 2:
        front = []
    return folded[0], folded[1], folded[2], front


def _fold(mask: Tensor, whole: Sequence[int]) -> Tensor:
    """As a bias: with the dimensions in front folded as the operands' are."""
    if (mask.dim() > len(whole) or
            any(size not in (1, full) for size, full in
                zip(reversed(mask.shape), reversed(whole)))):
        raise ValueError(f"attn_mask has shape {tuple(mask.shape)}; accepted is what "
                         f"broadcasts to {tuple(whole)}")
    if len(whole) <= 5:
        return mask
    mask = mask[(None,) * max(2 - mask.dim(), 0)]
    spread = mask.expand(*whole[:-2], *mask.shape[-2:])
    return spread.reshape(math.prod(whole[:-4]), *spread.shape[-4:])
