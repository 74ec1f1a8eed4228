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
        # Protenix imports it from here when it is called, and without Triton
        # from the package, which has a form of its own then.
        ("protenix.model.tri_attention.op", "TriAttentionFunction"):
            dropins.TriAttentionFunction,
        ("protenix.model.tri_attention", "TriAttentionFunction"):
            dropins.TriAttentionFunction,
        ("openfold3.core.kernels.triton.evoformer", "TritonEvoformer"):
            dropins.EvoformerAttention.apply,
        ("openfold3.core.kernels.triton.evoformer", "TritonEvoformerDynamic"):
            dropins.EvoformerAttention.apply,
    }


# What models import besides from packages that only stand in: OpenFold3 asks for
# the number of tokens up to which cuEquivariance would use no kernel.
_BESIDES = {
    "cuequivariance_torch": (("cuequivariance_ops_torch.triangle_attention",
                              "CUEQ_TRIATTN_FALLBACK_THRESHOLD", 0),),
}


# An attribute of modules that only stand in.
_STAND_IN = "_evoformer_stand_in"


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
            module = sys.modules.get(here) or _import(here)
            if module is None:
                module = types.ModuleType(here)
                module.__path__ = []
                setattr(module, _STAND_IN, True)
                module.__spec__ = importlib.util.spec_from_loader(here, None)
                sys.modules[here] = module
                self._undo.append(lambda here=here: sys.modules.pop(here, None))
                if parent is not None and not hasattr(parent, parts[i - 1]):
                    setattr(parent, parts[i - 1], module)
                    self._undo.append(lambda parent=parent, part=parts[i - 1]:
                                      delattr(parent, part))
            parent = module
        return parent

    def _stand_in_for(self, module_name, name, value):
        if _import(module_name) is None:
            self._set(self._add_module(module_name), name, value)

    def undo(self):
        while self._undo:
            self._undo.pop()()
        self.replaced = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.undo()


def _import(name):
    """The module, or None: packages that need what is not here raise more than
    ImportError."""
    try:
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001
        return None


def patch(packages=("deepspeed", "cuequivariance_torch", "trifast", "protenix",
                    "openfold3"), stand_in=False):
    """Makes models that call these packages' attention call this one: OpenFold
    (DeepSpeed's kernel, and Triton's in OpenFold3), Boltz (cuEquivariance's,
    trifast's), Protenix (its own, DeepSpeed's, cuEquivariance's).

    Functions are replaced in their packages, and wherever a module that is
    imported by now holds them under any name. `stand_in` also makes modules that
    are not installed, or cannot be imported here, importable, with their attention
    alone, so that a model can be told to use that kernel.

    Returns a Patch: `replaced` lists what was replaced, `undo()` brings it back;
    it is a context manager.
    """
    result = Patch()
    for (module_name, name), replacement in _table().items():
        if module_name.split(".")[0] not in packages:
            continue
        module = _import(module_name)
        if module is None or _is_stand_in(module):
            if stand_in:
                result._set(result._add_module(module_name), name, replacement)
                for besides in _BESIDES.get(module_name, ()):
                    result._stand_in_for(*besides)
            continue
        original = getattr(module, name, replacement)
        if original is replacement:
            continue
        result._set(module, name, replacement)
        if original is None:
            continue  # as where there is no Triton
        for other in list(sys.modules.values()):
            if not isinstance(other, types.ModuleType) or other is module:
                continue
            for held, value in list(vars(other).items()):
                if value is original:
                    result._set(other, held, replacement)
    return result


def _is_stand_in(module):
    return getattr(module, _STAND_IN, False)
