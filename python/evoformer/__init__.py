"""Attention with additive biases and a gate, as AlphaFold-class models use it,
compiled for the device at hand. See docs/python.md."""

from typing import Any as _Any

from ._attention import attention, attention_vjp
from ._attention_weights import attention_weights
from ._library import EvoformerError
from ._explain import explain
from ._import_hook import register as _register
from ._numpy import Gradients
from ._patch import patch
from ._runtime import Device, Program, chips, device
from ._version import __version__
from ._weights import retention

_register()

__all__ = ["attention", "attention_vjp", "attention_weights", "chips", "device",
           "Device", "EvoformerError", "explain", "Gradients", "patch", "Program",
           "retention", "__version__"]


def __getattr__(name: str) -> _Any:
    # Modules that need torch or take long to import.
    if name in ("distributed", "dropins", "flash_attn", "jax", "nn", "score"):
        import importlib
        return importlib.import_module("evoformer." + name)
    if name == "scaled_dot_product_attention":
        from ._sdpa import scaled_dot_product_attention
        return scaled_dot_product_attention
    if name == "flex_attention":
        from ._flex import flex_attention
        return flex_attention
    raise AttributeError(f"module 'evoformer' has no attribute '{name}'")
