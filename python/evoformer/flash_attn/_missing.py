"""Functions that models import and that are not there yet: they raise when they are
called."""

from typing import Any, NoReturn, Optional

from torch import Tensor


def refuse_call(name: str, reason: str) -> NoReturn:
    raise NotImplementedError(f"evoformer.flash_attn has no {name} yet: {reason}")


_PACKED = ("sequences packed by cu_seqlens; accepted are sequences of one length "
           "(flash_attn_func), whose shorter ones a bool bias of evoformer.attention "
           "masks")


def flash_attn_varlen_func(
        q: Tensor, k: Tensor, v: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor,
        max_seqlen_q: int, max_seqlen_k: int, dropout_p: float = 0.0,
        softmax_scale: Optional[float] = None, causal: bool = False,
        window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
        alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
        return_attn_probs: bool = False, block_table: Optional[Tensor] = None
) -> NoReturn:
    """FlashAttention's; raises NotImplementedError."""
    refuse_call("flash_attn_varlen_func", _PACKED if block_table is None else
                "block_table, keys in pages")


def flash_attn_varlen_kvpacked_func(
        q: Tensor, kv: Tensor, cu_seqlens_q: Tensor, cu_seqlens_k: Tensor,
        max_seqlen_q: int, max_seqlen_k: int, dropout_p: float = 0.0,
        softmax_scale: Optional[float] = None, causal: bool = False,
        window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
        alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
        return_attn_probs: bool = False) -> NoReturn:
    """FlashAttention's; raises NotImplementedError."""
    refuse_call("flash_attn_varlen_kvpacked_func", _PACKED)


def flash_attn_varlen_qkvpacked_func(
        qkv: Tensor, cu_seqlens: Tensor, max_seqlen: int, dropout_p: float = 0.0,
        softmax_scale: Optional[float] = None, causal: bool = False,
        window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
        alibi_slopes: Optional[Tensor] = None, deterministic: bool = False,
        return_attn_probs: bool = False) -> NoReturn:
    """FlashAttention's; raises NotImplementedError."""
    refuse_call("flash_attn_varlen_qkvpacked_func", _PACKED)


def _get_block_size_n(*_: Any) -> NoReturn:
    # FlashAttention's own tests import it, to read what dropout dropped.
    refuse_call("_get_block_size_n", "it is of its kernels' dropout")


def flash_attn_with_kvcache(q: Tensor, k_cache: Tensor, v_cache: Tensor, *_: Any,
                            **__: Any) -> NoReturn:
    """FlashAttention's; raises NotImplementedError."""
    refuse_call("flash_attn_with_kvcache", "it writes to a cache of keys and values")
