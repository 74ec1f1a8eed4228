"""Registers torch.ops.evoformer as soon as torch is there: programs that torch saved
(torch.export.load) name the operator before anything of this package is called."""

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Optional


def _register() -> None:
    from . import _torch  # noqa: F401


class _Loader(importlib.abc.Loader):
    """torch's own, and the operator's registration behind it."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec
                      ) -> Optional[types.ModuleType]:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        # As without this one, for whoever asks for torch's files.
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _register()


class _Finder(importlib.abc.MetaPathFinder):
    """Finds torch once, by what else finds modules."""

    def find_spec(self, name: str, path: Optional[Sequence[str]],
                  target: Optional[types.ModuleType] = None
                  ) -> Optional[importlib.machinery.ModuleSpec]:
        if name != "torch":
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _Loader(spec.loader)
                return spec
        return None


def when_torch_is_there() -> None:
    """Now, or when it is imported."""
    if "torch" in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _Finder())
