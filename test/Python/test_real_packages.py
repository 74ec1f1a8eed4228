# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""The packages themselves, where they are installed: whether the drop-ins take what
their functions take, and are found by the models that call them."""

import importlib
import inspect

import evoformer
import pytest
import torch
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


def test_openfold3():
    """Its own module, told to use each of its kernels, against its plain way."""
    with evoformer.patch(stand_in=True):
        try:
            from openfold3.core.model.primitives import attention as theirs
        except Exception as problem:
            pytest.skip(f"cannot be imported here: {problem!r}")
        torch.manual_seed(0)
        module = theirs.Attention(16, 16, 16, 8, 2)
        for parameter in module.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
        x = torch.randn(1, 20, 20, 16)
        keep = torch.rand(1, 20, 1, 1, 20) < 0.8
        pair = torch.randn(1, 1, 2, 20, 20)
        mask = torch.where(keep, 0.0, -1e9)
        plain = module(x, x, [mask, pair])
        # DeepSpeed's is called in bf16: 8 bits, and sums of 8 terms of the output.
        for kernel, usable, bound in (
                ("triton_triangle_kernels", theirs.TRITON_AVAILABLE, 1e-5),
                ("cueq_triangle_kernels", theirs.cueq_is_installed, 1e-5),
                ("deepspeed_evo_attention", theirs.ds4s_is_installed, 2 ** -5)):
            if not usable:  # by its own rules: cuEquivariance's asks for a GPU
                continue
            found = module(x, x, [mask, pair], **{"use_" + kernel: True})
            assert (found - plain).abs().max() <= bound * plain.abs().max(), kernel
            # Not the plain way again.
            assert not torch.equal(found, plain)
