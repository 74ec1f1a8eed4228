"""Putting the drop-ins where models look for other packages' kernels."""

import importlib
import importlib.util
import sys
import types


def _table():
    from . import dropins
    return {
        ("deepspeed.ops.deepspeed4science", "DS4Sci_EvoformerAttention"):
            dropins.DS4Sci_EvoformerAttention,
        ("cuequivariance_torch", "triangle_attention"):
            dropins.triangle_attention,
        ("cuequivariance_torch.primitives.triangle", "triangle_attention"):
            dropins.triangle_attention,
        ("trifast", "triangle_attention"): dropins.trifast_triangle_attention,
        ("trifast.torch", "triangle_attention"):
            dropins.trifast_triangle_attention,
        ("protenix.model.tri_attention", "TriAttentionFunction"):
            dropins.TriAttentionFunction,
    }


class Patch:
    """What `patch` replaced; `undo()` or the end of a `with` brings it back."""

    def __init__(self):
        self._undo = []
        self.replaced = []

    def _set(self, module, name, value):
        missing = object()
        old = getattr(module, name, missing)
        self._undo.append((lambda: delattr(module, name)) if old is missing else
                          (lambda: setattr(module, name, old)))
        setattr(module, name, value)
        self.replaced.append(f"{module.__name__}.{name}")

    def _add_module(self, name):
        """A module that is not installed, and the packages around it."""
        parent = None
        parts = name.split(".")
        for i in range(1, len(parts) + 1):
            here = ".".join(parts[:i])
            module = sys.modules.get(here)
            if module is None:
                module = types.ModuleType(here)
                module.__path__ = []
                module.__spec__ = importlib.util.spec_from_loader(here, None)
                sys.modules[here] = module
                self._undo.append(lambda here=here: sys.modules.pop(here, None))
            if parent is not None and not hasattr(parent, parts[i - 1]):
                setattr(parent, parts[i - 1], module)
            parent = module
        return parent

    def undo(self):
        while self._undo:
            self._undo.pop()()
        self.replaced = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.undo()


def _import(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def patch(packages=("deepspeed", "cuequivariance_torch", "trifast", "protenix"),
          stand_in=False):
    """Makes models that call these packages' attention call this one: OpenFold
    (DeepSpeed's kernel), Boltz (cuEquivariance's, trifast's), Protenix.

    Functions are replaced in their packages, and wherever a module that is
    imported by now holds them under any name. `stand_in` also makes packages that
    are not installed importable, with their attention alone, so that a model can
    be told to use that kernel.

    Returns a Patch: `replaced` lists what was replaced, `undo()` brings it back;
    it is a context manager.
    """
    result = Patch()
    for (module_name, name), replacement in _table().items():
        if module_name.split(".")[0] not in packages:
            continue
        module = _import(module_name)
        if module is None:
            installed = importlib.util.find_spec(module_name.split(".")[0]) if (
                module_name.split(".")[0] not in sys.modules) else True
            if not stand_in or (installed and not _is_stand_in(module_name)):
                continue
            module = result._add_module(module_name)
            result._set(module, name, replacement)
            continue
        original = getattr(module, name, None)
        if original is None or original is replacement:
            continue
        result._set(module, name, replacement)
        for other in list(sys.modules.values()):
            if not isinstance(other, types.ModuleType) or other is module:
                continue
            for held, value in list(vars(other).items()):
                if value is original:
                    result._set(other, held, replacement)
    return result


def _is_stand_in(name):
    module = sys.modules.get(name.split(".")[0])
    return module is not None and getattr(module, "__file__", None) is None
