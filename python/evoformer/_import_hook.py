"""Registers what torch and XLA call by name as soon as torch or JAX is there:
programs that they saved (torch.export.load, jax.export, JAX's cache of compiled
programs) name it before anything of this package is called."""

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence
from typing import Optional

from ._library import EvoformerError


def _register_torch() -> None:
    from . import _torch  # noqa: F401


def _register_jax() -> None:
    from ._jax_handlers import register
    try:
        register()
    except (EvoformerError, AttributeError):
        pass  # No library, or a JAX without jax.ffi: the first call says so.


def _register_sharding() -> None:
    from . import _torch_sharding  # noqa: F401


_REGISTER = {"torch": _register_torch, "jax": _register_jax,
             "torch.distributed.tensor": _register_sharding}


class _Loader(importlib.abc.Loader):
    """The package's own, and the registration behind it."""

    def __init__(self, loader: importlib.abc.Loader,
                 register: Callable[[], None]) -> None:
        self._loader = loader
        self._register = register

    def create_module(self, spec: importlib.machinery.ModuleSpec
                      ) -> Optional[types.ModuleType]:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        # As without this one, for whoever asks for the package's files.
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._register()


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the packages, by what else finds modules."""

    def find_spec(self, name: str, path: Optional[Sequence[str]],
                  target: Optional[types.ModuleType] = None
                  ) -> Optional[importlib.machinery.ModuleSpec]:
        if name not in _REGISTER:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Loader(spec.loader, _REGISTER[name])
                return spec
        return None


def register() -> None:
    """Now, or when the package is imported."""
    missing = [name for name in _REGISTER if name not in sys.modules]
    for name, function in _REGISTER.items():
        if name not in missing:
            function()
    if missing:
        sys.meta_path.insert(0, _Finder())
