"""Sequences packed one behind the other: [total, h, d] and cumulative lengths."""

import functools
from typing import Any, Optional

from torch import Tensor

from .._attention import attention
from .._attention_weights import attention_weights
from ._dense import (Result, check, check_heads, check_scale, drop, refuse, scores,
                     sides, unpack)
from ._probabilities import find


def flash_attn_varlen_func(
        q: Tensor, k: Tensor, v: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor,
        max_seqlen_q: int, max_seqlen_k: int, dropout_p: float = 0.0,
        softmax_scale: Optional[float] = None, causal: bool = False,
        window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
        alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
        return_attn_probs: bool = False, block_table: Optional[Tensor] = None
) -> Result:
    """FlashAttention's `flash_attn_varlen_func`: `flash_attn_func` of each sequence.

    q: [total of queries, h, d], k, v: [total of keys, hk, d]. cu_seqlens_q,
    cu_seqlens_k: (sequences + 1,) in int32, where each sequence starts and the last
    one ends, read on the device; max_seqlen_q, max_seqlen_k: the most positions that
    one has. causal, window_size and alibi_slopes, (h,) or (sequences, h), are of each
    sequence's own lengths.

    Returns out [total of queries, h, d]; with return_attn_probs (out, lse, None), lse
    [h, total of queries] in float32 without gradient, and with dropout_p in the place
    of None the softmax [sequences, h, max_seqlen_q, max_seqlen_k] of q's type over the
    largest of each row, negative where a weight was dropped. Rows of no sequence have
    out 0, lse -inf and gradients 0.

    Raises NotImplementedError for block_table; TypeError and ValueError for operands
    that do not fit.
    """
    refuse(block_table=block_table)
    check(3, q=q, k=k, v=v)
    check_heads(q, k, v)
    check(1, cu_seqlens_q=cu_seqlens_q, cu_seqlens_k=cu_seqlens_k)
    options: dict[str, Any] = {
        "scale": check_scale(softmax_scale), "layout": "shd", "causal": bool(causal),
        "window": sides(window_size), "cu_seqlens": (cu_seqlens_q, cu_seqlens_k),
        "max_seqlen": (max_seqlen_q, max_seqlen_k),
        **scores(q, softcap, alibi_slopes, len(cu_seqlens_q) - 1)}
    if not return_attn_probs:
        return attention(q, k, v, dropout_p=dropout_p, **options)
    dropout = drop(dropout_p, q)
    out, lse = attention(q, k, v, return_lse=True, **options, **dropout)
    return out, lse.detach(), find(functools.partial(attention_weights, q, k, **options),
                                   **dropout) if dropout_p else None


def flash_attn_varlen_kvpacked_func(
        q: Tensor, kv: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor,
        max_seqlen_q: int, max_seqlen_k: int, dropout_p: float = 0.0,
        softmax_scale: Optional[float] = None, causal: bool = False,
        window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
        alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
        return_attn_probs: bool = False) -> Result:
    """`flash_attn_varlen_func` of kv [total of keys, 2, hk, d]."""
    k, v = unpack(kv, "kv", 2, rank=4)
    return flash_attn_varlen_func(
        q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p,
        softmax_scale, causal, window_size, softcap, alibi_slopes, deterministic,
        return_attn_probs)


def flash_attn_varlen_qkvpacked_func(
        qkv: Tensor, cu_seqlens: Tensor, max_seqlen: int, dropout_p: float = 0.0,
        softmax_scale: Optional[float] = None, causal: bool = False,
        window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
        alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
        return_attn_probs: bool = False) -> Result:
    """`flash_attn_varlen_func` of qkv [total, 3, h, d]."""
    q, k, v = unpack(qkv, "qkv", 3, rank=4)
    return flash_attn_varlen_func(
        q, k, v, cu_seqlens, cu_seqlens, max_seqlen, max_seqlen, dropout_p,
        softmax_scale, causal, window_size, softcap, alibi_slopes, deterministic,
        return_attn_probs)
