"""FlashAttention's helpers for packed sequences, which are not there yet: what
models import; each raises NotImplementedError when it is called."""

from typing import Any, NoReturn

from ._missing import refuse_call

_REASON = "it packs sequences of several lengths for the varlen functions"


def index_first_axis(*_: Any, **__: Any) -> NoReturn:
    refuse_call("bert_padding.index_first_axis", _REASON)


def index_put_first_axis(*_: Any, **__: Any) -> NoReturn:
    refuse_call("bert_padding.index_put_first_axis", _REASON)


def pad_input(*_: Any, **__: Any) -> NoReturn:
    refuse_call("bert_padding.pad_input", _REASON)


def unpad_input(*_: Any, **__: Any) -> NoReturn:
    refuse_call("bert_padding.unpad_input", _REASON)


def unpad_input_for_concatenated_sequences(*_: Any, **__: Any) -> NoReturn:
    refuse_call("bert_padding.unpad_input_for_concatenated_sequences", _REASON)
