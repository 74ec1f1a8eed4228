# REQUIRES: python-library, models
# RUN: %models-pytest %s
"""The packages themselves, where they are installed: whether the drop-ins take what
their functions take. (test_models.py runs the models.)"""

import importlib
import inspect

import evoformer
import pytest
from evoformer import dropins

REAL = {
    "deepspeed.ops.deepspeed4science": (
        "DS4Sci_EvoformerAttention", dropins.DS4Sci_EvoformerAttention),
    "cuequivariance_torch": ("triangle_attention", dropins.triangle_attention),
    "trifast": ("triangle_attention", dropins.trifast_triangle_attention),
    "protenix.model.tri_attention.op": (
        "TriAttentionFunction", dropins.TriAttentionFunction),
    "openfold3.core.kernels.triton.evoformer": (
        "EvoformerAttention", dropins.EvoformerAttention),
}


@pytest.mark.parametrize("name", REAL)
def test_signature_of_the_real_package(name):
    """Parameters by name, order, kind and default, and the patched module."""
    try:
        module = importlib.import_module(name)
    except Exception as problem:  # Some ask for a GPU when they are imported.
        pytest.skip(f"cannot be imported here: {problem!r}")
    attribute, ours = REAL[name]
    theirs = getattr(module, attribute, None)
    if theirs is None:
        pytest.skip(f"{name} has no {attribute} here, it needs Triton")
    if isinstance(ours, type):
        ours, theirs = ours.apply, theirs.forward
    def parameters(function):
        return [(p.name, p.kind, p.default) for p in
                inspect.signature(function).parameters.values()
                if p.name != "ctx"]
    assert parameters(ours) == parameters(theirs)
    with evoformer.patch() as patched:
        assert any(one.startswith(name + ".") for one in patched.replaced)
