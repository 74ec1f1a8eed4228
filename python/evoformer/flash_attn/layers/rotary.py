"""FlashAttention's rotary embeddings, which are not there yet: what models import;
each raises NotImplementedError when it is called."""

from typing import Any, NoReturn

from .._missing import refuse_call

_REASON = "queries and keys are rotated before the attention, by the caller"


def apply_rotary_emb(*_: Any, **__: Any) -> NoReturn:
    refuse_call("layers.rotary.apply_rotary_emb", _REASON)


apply_rotary_emb_func = apply_rotary_emb


def apply_rotary_emb_torch(*_: Any, **__: Any) -> NoReturn:
    refuse_call("layers.rotary.apply_rotary_emb_torch", _REASON)


def apply_rotary_emb_qkv_(*_: Any, **__: Any) -> NoReturn:
    refuse_call("layers.rotary.apply_rotary_emb_qkv_", _REASON)


def apply_rotary_emb_kv_(*_: Any, **__: Any) -> NoReturn:
    refuse_call("layers.rotary.apply_rotary_emb_kv_", _REASON)


class RotaryEmbedding:
    def __init__(self, *_: Any, **__: Any) -> None:
        refuse_call("layers.rotary.RotaryEmbedding", _REASON)
