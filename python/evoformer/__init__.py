"""Attention with additive biases and a gate, as AlphaFold-class models use it,
compiled for the device at hand. See docs/python.md."""

from typing import Any as _Any

from ._attention import attention, attention_vjp
from ._library import EvoformerError
from ._explain import explain
from ._numpy import Gradients
from ._patch import patch
from ._runtime import Device, Program, chips, device
from ._torch_hook import when_torch_is_there as _when_torch_is_there
from ._version import __version__

_when_torch_is_there()

__all__ = ["attention", "attention_vjp", "chips", "device", "Device",
           "EvoformerError", "explain", "Gradients", "patch", "Program", "__version__"]


def __getattr__(name: str) -> _Any:
    # Modules that need torch or take long to import.
    if name in ("dropins", "nn"):
        import importlib
        return importlib.import_module("evoformer." + name)
    raise AttributeError(f"module 'evoformer' has no attribute '{name}'")
