"""The handlers of libevoformer, which XLA finds by name (evoformer-c/XLA.h)."""

import functools
from typing import Any

import jax

from ._library import library

# By JAX's name of a platform: XLA's name, and our kind of device.
PLATFORMS = {"cpu": ("cpu", "cpu"), "cuda": ("CUDA", "cuda"), "rocm": ("ROCM", "hip")}

# What programs call; part of those that are saved.
TARGET = "evoformer_attention"


@functools.lru_cache(maxsize=None)
def register() -> None:
    """On all platforms: JAX hands them to plugins that come later."""
    def capsule(name: str) -> Any:
        return jax.ffi.pycapsule(getattr(library(), "evoformerXLA" + name))
    for platform, kind in PLATFORMS.values():
        stages = {"execute": capsule("Execute" + kind.upper())}
        if kind != "cpu":
            stages["initialize"] = capsule("Initialize" + kind.upper())
        jax.ffi.register_ffi_target(TARGET, stages, platform=platform)
