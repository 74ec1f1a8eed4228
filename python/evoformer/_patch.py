"""Putting the drop-ins where models look for other packages' kernels."""

import functools
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, Optional

# Our modules, by the package that each stands for: torch's, and JAX's.
_PEERS = {"deepspeed": "dropins.deepspeed",
          "cuequivariance_torch": "dropins.cuequivariance",
          "trifast": "dropins.trifast", "protenix": "dropins.protenix",
          "openfold3": "dropins.triton"}
# Replaced where they are named alone. OpenFold would import what a stand-in for
# flash_attn has not, and JAX's own function is more than other packages' kernels.
_PEERS_BY_NAME = {"flash_attn": "dropins.flash_attn", "jax": "jax.nn",
                  "cuequivariance_jax": "jax.cuequivariance"}

# An attribute of modules that only stand in.
_STAND_IN = "_evoformer_stand_in"


class Patch:
    """What `patch` replaced; `undo()` or the end of a `with` brings it back.
    `replaced` lists it, as `module.name`. A model that was imported while a module
    stood in keeps that one."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], Any]] = []
        self.replaced: list[str] = []

    def _set(self, module: types.ModuleType, name: str, value: Any) -> None:
        missing = object()
        old = getattr(module, name, missing)
        setattr(module, name, value)
        self.replaced.append(f"{module.__name__}.{name}")
        # A stand-in goes as a whole; models that were imported meanwhile hold it.
        if not _is_stand_in(module):
            self._undo.append((lambda: delattr(module, name)) if old is missing else
                              (lambda: setattr(module, name, old)))

    def _add_module(self, name: str) -> types.ModuleType:
        """A module that is not installed, and the packages around it."""
        parent: Optional[types.ModuleType] = None
        parts = name.split(".")
        for i in range(1, len(parts) + 1):
            here = ".".join(parts[:i])
            module = sys.modules.get(here) or _import(here)
            if module is None:
                module = _make_stand_in(here)
                sys.modules[here] = module
                self._undo.append(functools.partial(sys.modules.pop, here, None))
                if parent is not None and not hasattr(parent, parts[i - 1]):
                    setattr(parent, parts[i - 1], module)
                    if not _is_stand_in(parent):
                        self._undo.append(
                            functools.partial(delattr, parent, parts[i - 1]))
            parent = module
        assert parent is not None  # A name has a part.
        return parent

    def _replace(self, module: types.ModuleType, name: str, value: Any) -> None:
        """In the module, and wherever modules that are imported by now hold it."""
        original = getattr(module, name, value)
        if original is value:
            return
        self._set(module, name, value)
        if original is None:
            return  # as where there is no Triton
        for other in list(sys.modules.values()):
            if not isinstance(other, types.ModuleType) or other is module:
                continue
            for held, found in list(vars(other).items()):
                if found is original:
                    self._set(other, held, value)

    def undo(self) -> None:
        while self._undo:
            self._undo.pop()()
        self.replaced = []

    def __enter__(self) -> "Patch":
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()


def _import(name: str) -> Optional[types.ModuleType]:
    """The module, or None: packages that need what is not here raise more than
    ImportError."""
    try:
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001
        return None


def _make_stand_in(name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__path__ = []
    module.__spec__ = importlib.util.spec_from_loader(name, None)
    setattr(module, _STAND_IN, True)

    def missing(attribute: str) -> Any:
        raise AttributeError(
            f"module '{name}' stands in for a package that is not installed, with "
            f"its attention alone (evoformer.patch): it has no '{attribute}'")

    setattr(module, "__getattr__", missing)
    return module


def _is_stand_in(module: types.ModuleType) -> bool:
    return bool(getattr(module, _STAND_IN, False))


def patch(packages: Sequence[str] = tuple(_PEERS), stand_in: bool = False) -> Patch:
    """Makes models that call these packages' attention call this one: OpenFold
    (DeepSpeed's kernel, and Triton's in OpenFold3), Boltz (cuEquivariance's,
    trifast's), Protenix (its own, DeepSpeed's, cuEquivariance's).

    packages: any of deepspeed, cuequivariance_torch, trifast, protenix and openfold3;
    or, where they are named alone, flash_attn (for torch) and, for models in JAX, jax
    (its jax.nn.dot_product_attention) and cuequivariance_jax. Functions are replaced
    in their packages, and wherever a module that is imported by now holds them under
    any name. `stand_in` also makes modules that are not installed, or cannot be
    imported here, importable, with their attention and what models import beside it,
    so that a model can be told to use that kernel. Call it before the model's modules
    are imported then: they ask once whether a package is there.

    Returns a Patch: `replaced` lists what was replaced, `undo()` brings it back;
    it is a context manager. Raises ValueError for other packages.
    """
    peers = _PEERS | _PEERS_BY_NAME
    unknown = [name for name in packages if name not in peers]
    if isinstance(packages, str) or unknown:
        raise ValueError(f"packages is {packages!r}; accepted are lists of "
                         f"{', '.join(peers)}")
    result = Patch()
    for package in packages:
        try:
            peer = importlib.import_module(f"evoformer.{peers[package]}")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"patching {package} needs {error.name}, which is not installed",
                name=error.name) from None
        for (module_name, name), replacement in peer.REPLACES.items():
            module = _import(module_name)
            if module is not None and not _is_stand_in(module):
                result._replace(module, name, replacement)
            elif stand_in:
                result._set(result._add_module(module_name), name, replacement)
        for module_name, attributes in peer.BESIDES.items() if stand_in else ():
            module = _import(module_name)
            if module is None or _is_stand_in(module):
                module = result._add_module(module_name)
                for name, value in attributes.items():
                    result._set(module, name, value)
    return result
