"""In place of FlashAttention 2's functions."""

from typing import Any

from .. import flash_attn
from ..flash_attn import bert_padding, flash_attn_interface
from ..flash_attn.layers import rotary

_PRESENT = ("flash_attn_func", "flash_attn_kvpacked_func", "flash_attn_qkvpacked_func",
            "flash_attn_varlen_func", "flash_attn_varlen_kvpacked_func",
            "flash_attn_varlen_qkvpacked_func")
_INTERFACE = "flash_attn.flash_attn_interface"

# Where the package is installed, what is not there yet stays its own.
REPLACES: dict[tuple[str, str], Any] = {
    (module, name): getattr(flash_attn, name)
    for module in ("flash_attn", _INTERFACE) for name in _PRESENT}

_MISSING = {name: getattr(flash_attn, name)
            for name in flash_attn.__all__ if name not in _PRESENT}


def _functions(module: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items()
            if callable(value) and getattr(value, "__module__", "") == module.__name__}


BESIDES: dict[str, dict[str, Any]] = {
    # Models compare it: the version whose signatures these are.
    "flash_attn": {"__version__": "2.8.3", **_MISSING},
    _INTERFACE: {**_MISSING, "USE_TRITON_ROCM": flash_attn_interface.USE_TRITON_ROCM,
                 "_get_block_size_n": flash_attn_interface._get_block_size_n},
    "flash_attn.bert_padding": _functions(bert_padding),
    "flash_attn.layers": {},
    "flash_attn.layers.rotary": _functions(rotary),
}
