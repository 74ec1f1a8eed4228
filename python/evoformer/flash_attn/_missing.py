"""Functions that models import and that are not there yet: they raise when they are
called."""

from typing import Any, NoReturn

from torch import Tensor


def refuse_call(name: str, reason: str) -> NoReturn:
    raise NotImplementedError(f"evoformer.flash_attn has no {name} yet: {reason}")


def flash_attn_with_kvcache(q: Tensor, k_cache: Tensor, v_cache: Tensor, *_: Any,
                            **__: Any) -> NoReturn:
    """FlashAttention's; raises NotImplementedError."""
    refuse_call("flash_attn_with_kvcache", "it writes to a cache of keys and values")
