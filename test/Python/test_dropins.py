# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Other packages' functions against what they compute, written out, layouts and
the meaning of masks included; and how they are put in their place."""

import importlib.util
import sys
import types
import warnings

import evoformer
import pytest
import torch
import torch_reference as reference
from evoformer import dropins

KINDS = [torch.float32, torch.bfloat16]


def normal(generator, *shape, kind=torch.float32):
    return torch.randn(shape, generator=generator).to(kind).requires_grad_()


def compare(function, written_out, tensors, others=(), constants=None):
    """Result and gradients of `function` against `written_out` in f64; the bound
    follows from `written_out` in the tensors' own type."""
    generator = torch.Generator().manual_seed(9)
    leaves = [t for t in tensors if t.requires_grad]
    def run(f, given):
        out = f(*given, *others)
        weight = torch.randn(out.shape, generator=generator.manual_seed(9))
        wanted = [t for t in given if t.requires_grad]
        return [out, *torch.autograd.grad((out * weight.to(out.dtype)).sum(),
                                          wanted)]
    found, eager = run(function, tensors), run(written_out, tensors)
    doubles = [t.detach().double().requires_grad_(t.requires_grad)
               for t in tensors]
    exact = run(written_out, doubles)
    assert len(found) == 1 + len(leaves)
    for one, true, usual in zip(found, exact, eager, strict=True):
        reference.check(one.detach(), true.detach(), usual.detach())


def ds4sci(q, k, v, mask, pair):
    logits = torch.einsum("bnihd,bnjhd->bnhij", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("bnhij,bnjhd->bnihd", (logits + mask + pair).softmax(-1), v)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_ds4sci(kind):
    g = torch.Generator().manual_seed(0)
    q, k, v = (normal(g, 2, 3, 13, 2, 16, kind=kind) for _ in range(3))
    mask = normal(g, 2, 3, 1, 1, 13, kind=kind)
    pair = normal(g, 2, 1, 2, 13, 13, kind=kind)
    biases = []
    compare(lambda q, k, v, m, p: dropins.DS4Sci_EvoformerAttention(
        q, k, v, [m, p]), ds4sci, [q, k, v, mask, pair])
    compare(lambda q, k, v: dropins.DS4Sci_EvoformerAttention(q, k, v, biases),
            lambda q, k, v: ds4sci(q, k, v, 0, 0), [q, k, v])
    assert biases == []
    compare(lambda q, k, v, p: dropins.DS4Sci_EvoformerAttention(
        q, k, v, [None, p]), lambda q, k, v, p: ds4sci(q, k, v, 0, p),
            [q, k, v, pair])
    with pytest.raises(ValueError, match=r"biases\[0\] has shape"):
        dropins.DS4Sci_EvoformerAttention(q, k, v, [pair])
    with pytest.raises(ValueError, match="3 biases"):
        dropins.DS4Sci_EvoformerAttention(q, k, v, [mask, pair, pair])


def test_ds4sci_large_mask():
    """-1e9 drops a key; on all keys of a row it cancels."""
    g = torch.Generator().manual_seed(1)
    q, k, v = (normal(g, 1, 3, 13, 2, 16) for _ in range(3))
    mask = torch.where(torch.rand(1, 3, 1, 1, 13, generator=g) < 0.3, -1e9, 0.0)
    mask[:, 1] = -1e9
    exact = ds4sci(q.double(), k.double(), v.double(), mask.double() * 0 +
                   torch.where((mask < 0).all(-1, keepdim=True), 0,
                               mask.double()), 0)
    found = dropins.DS4Sci_EvoformerAttention(q, k, v, [mask])
    torch.testing.assert_close(found, exact.float(), rtol=1e-5, atol=1e-5)


def filled(logits, keep, value, product):
    """Softmax with a large number taken from the logits of dropped keys: where all
    are, it swallows the differences, and the gradients are those of equal weights."""
    dead = ~keep.any(-1, keepdim=True)
    logits = torch.where(dead, logits - logits.detach(),
                         logits.masked_fill(~keep, -torch.inf))
    return torch.einsum(product, logits.softmax(-1), value)


def masked(generator, *shape):
    """Some keys dropped, and all of one row."""
    keep = torch.rand(shape, generator=generator) < 0.7
    keep[:, 1] = False
    return keep


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_triton(kind):
    g = torch.Generator().manual_seed(2)
    q, k, v = (normal(g, 1, 3, 13, 2, 16, kind=kind) for _ in range(3))
    pair = normal(g, 1, 1, 2, 13, 13)
    keep = masked(g, 1, 3, 1, 1, 13)
    def written_out(q, k, v, pair, keep):
        # transpose, not reshape: heads before positions.
        q, k, v = (t.transpose(2, 3) for t in (q, k, v))
        logits = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + pair.to(q.dtype)
        return filled(logits, keep, v, "bnhij,bnhjd->bnihd")
    compare(lambda q, k, v, pair, keep: dropins.EvoformerAttention.apply(
        q, k, v, keep, pair), written_out, [q, k, v, pair], [keep])
    out = dropins.EvoformerAttention.apply(q, k, v, keep, pair)
    torch.testing.assert_close(out[:, 1], v[:, 1].float().mean(1, keepdim=True).to(
        kind).expand_as(out[:, 1]), rtol=1e-2, atol=1e-2)
    plain = evoformer.attention(q, k, v)
    assert torch.equal(dropins.EvoformerAttention.apply(q, k, v, None, None), plain)
    assert torch.equal(dropins.EvoformerAttention.apply(
        q, k, v, None, pair, False, True, 16 ** -0.5), plain)
    # OpenFold3's: numbers that are added.
    numbers = torch.where(keep, 0.0, -1e9).to(kind)
    some = keep.any(-1)[0, :, 0, 0]
    assert torch.equal(dropins.EvoformerAttention.apply(q, k, v, numbers, pair)[:, some],
                       out[:, some])


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_cuequivariance(kind):
    g = torch.Generator().manual_seed(3)
    q = normal(g, 2, 3, 4, 11, 16, kind=kind)
    k, v = (normal(g, 2, 3, 4, 13, 16, kind=kind) for _ in range(2))
    bias = normal(g, 2, 1, 4, 11, 13)
    keep = masked(g, 2, 3, 1, 1, 13)
    def written_out(q, k, v, bias, keep, scale=None):
        scale = q.shape[-1] ** -0.5 if scale is None else scale
        logits = scale * (q @ k.transpose(-1, -2)) + bias.to(q.dtype)
        return filled(logits, keep, v, "bnhij,bnhjd->bnhid")
    compare(dropins.triangle_attention, written_out, [q, k, v, bias], [keep])
    compare(dropins.triangle_attention, written_out, [q, k, v, bias],
            [keep, 0.5])
    compare(dropins.triangle_attention,
            lambda *t: written_out(*t, torch.ones_like(keep)), [q, k, v, bias])


def test_cuequivariance_without_batch():
    """The result is of rank 5, as there: callers take its first."""
    g = torch.Generator().manual_seed(3)
    q, k, v = (normal(g, 3, 2, 11, 16) for _ in range(3))
    bias, keep = normal(g, 1, 2, 11, 11), masked(g, 1, 3, 1, 1, 11)
    lengths = keep.sum(-1, keepdim=True, dtype=torch.int32)
    for others in (dict(mask=keep[0]), dict(kv_lengths=lengths), {}):
        for aux in (False, True):
            found = dropins.triangle_attention(q, k, v, bias, return_aux=aux, **others)
            whole = dropins.triangle_attention(
                q[None], k[None], v[None], bias[None], return_aux=aux,
                **{name: t.view(1, 3, 1, 1, -1) for name, t in others.items()})
            for one, other in zip(found if aux else [found],
                                  whole if aux else [whole], strict=True):
                assert torch.equal(one, other)
            assert other.shape == (1, 3, 2, 11, 16)[:4 if aux else 5]


def test_cuequivariance_without_keys():
    q, k = torch.randn(2, 3, 4, 5, 16), torch.randn(2, 3, 4, 0, 16)
    bias = torch.randn(2, 1, 4, 5, 0)
    mask = torch.ones(2, 3, 1, 1, 0, dtype=torch.bool)
    lengths = torch.zeros(2, 3, 1, 1, 1, dtype=torch.int32)
    for others in (dict(mask=mask), dict(kv_lengths=lengths), {}):
        out, lse, largest = dropins.triangle_attention(q, k, k, bias, return_aux=True,
                                                       **others)
        assert out.shape == q.shape and lse.shape == largest.shape == q.shape[:-1]
        assert not any(t.any() for t in (out, lse, largest))


def test_mask_to_kv_lengths():
    keep = torch.arange(5) < torch.tensor([5, 0, 2])[:, None, None, None]
    lengths = dropins.mask_to_kv_lengths(keep.float())
    assert lengths.dtype == torch.int32 and lengths.shape == (1, 3, 1, 1, 1)
    assert lengths.flatten().tolist() == [5, 0, 2]
    assert torch.equal(dropins.mask_to_kv_lengths(keep[None]), lengths)
    with pytest.raises(ValueError, match="keeps a key behind one that it drops"):
        dropins.mask_to_kv_lengths(~keep)
    for shape in ((3, 1, 5), (1, 1, 3, 2, 1, 5)):
        with pytest.raises(ValueError, match="mask has shape"):
            dropins.mask_to_kv_lengths(torch.ones(shape))


def test_rows_without_keys_elsewhere():
    """NaN in dropped keys of other rows does not reach any gradient."""
    g = torch.Generator().manual_seed(3)
    q, k, v = (normal(g, 1, 3, 2, 11, 16) for _ in range(3))
    bias, keep = normal(g, 1, 1, 2, 11, 11), masked(g, 1, 3, 1, 1, 11)
    leaves = [q, k, v, bias]
    def run():
        return torch.autograd.grad(dropins.triangle_attention(
            *leaves, keep).square().sum(), leaves)
    expected = run()
    with torch.no_grad():
        k[0, 0, :, ~keep[0, 0, 0, 0]] = torch.nan
    for one, other in zip(run(), expected, strict=True):
        assert torch.equal(one, other)


def test_triton_mask_of_numbers():
    """0 and 1 are added, which drops nothing: hardly what was meant."""
    q = torch.randn(1, 3, 11, 2, 16)
    keep = masked(torch.Generator().manual_seed(3), 1, 3, 1, 1, 11)
    with pytest.warns(UserWarning, match="res_mask holds the numbers 0 and 1"):
        dropins.EvoformerAttention.apply(q, q, q, keep.float(), None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mask in (keep, torch.zeros(keep.shape), torch.where(keep, 0.0, -1e9)):
            dropins.EvoformerAttention.apply(q, q, q, mask, None)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_compiled(kind):
    """In one graph, with rows without keys."""
    g = torch.Generator().manual_seed(3)
    q, k, v = (normal(g, 1, 3, 2, 11, 16, kind=kind) for _ in range(3))
    bias, keep = normal(g, 1, 1, 2, 11, 11), masked(g, 1, 3, 1, 1, 11)
    function = torch.compile(dropins.triangle_attention, fullgraph=True,
                             backend="aot_eager")
    results = [[out, *torch.autograd.grad(out.float().square().sum(), [q, k, v, bias])]
               for out in (f(q, k, v, bias, keep)
                           for f in (function, dropins.triangle_attention))]
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


def test_cuequivariance_lengths():
    """kv_lengths: a mask of the first keys, and 0 where there is none."""
    g = torch.Generator().manual_seed(4)
    q, k, v = (normal(g, 1, 3, 2, 11, 16) for _ in range(3))
    bias = normal(g, 1, 1, 2, 11, 11)
    lengths = torch.tensor([11, 0, 5], dtype=torch.int32).view(1, 3, 1, 1, 1)
    keep = torch.arange(11) < lengths
    found = dropins.triangle_attention(q, k, v, bias, kv_lengths=lengths,
                                       return_aux=True)
    expected = dropins.triangle_attention(q, k, v, bias, keep, return_aux=True)
    for one, other in zip(found, expected, strict=True):
        assert torch.equal(one[:, ::2], other[:, ::2])
        assert (one[:, 1] == 0).all() and (other[:, 1] != 0).any()
    with pytest.raises(ValueError, match="accepted is one of them"):
        dropins.triangle_attention(q, k, v, bias, keep, kv_lengths=lengths)
    more = dropins.triangle_attention(q, k, v, bias, kv_lengths=lengths * 3)
    assert torch.equal(more[:, 0], found[0][:, 0])


def test_cuequivariance_aux():
    g = torch.Generator().manual_seed(4)
    q, k, v = (normal(g, 1, 3, 2, 11, 16) for _ in range(3))
    bias, keep = normal(g, 1, 1, 2, 11, 11), masked(g, 1, 3, 1, 1, 11)
    out, lse, largest = dropins.triangle_attention(q, k, v, bias, keep,
                                                   return_aux=True)
    logits = (q @ k.transpose(-1, -2) / 4 + bias).masked_fill(~keep, -1e9)
    assert torch.equal(out, dropins.triangle_attention(q, k, v, bias, keep))
    torch.testing.assert_close(lse, logits.logsumexp(-1))
    torch.testing.assert_close(largest, logits.amax(-1))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_trifast(kind):
    g = torch.Generator().manual_seed(5)
    q, k, v = (normal(g, 2, 3, 11, 11, 16, kind=kind) for _ in range(3))
    b = normal(g, 2, 3, 11, 11, kind=kind)
    drop = ~masked(g, 2, 11, 11)
    def written_out(q, k, v, b, drop):
        logits = torch.einsum("bhijd,bhikd->bhijk", q * q.shape[-1] ** -0.5, k)
        logits = logits + b[:, :, None]
        return filled(logits, ~drop[:, None, :, None, :], v,
                      "bhijk,bhikd->bhijd")
    compare(dropins.trifast_triangle_attention, written_out, [q, k, v, b], [drop])


def test_protenix():
    g = torch.Generator().manual_seed(6)
    q, k, v = (normal(g, 1, 3, 11, 2, 16) for _ in range(3))
    mask, pair = normal(g, 1, 3, 1, 1, 11), normal(g, 1, 1, 2, 11, 11)
    compare(dropins.TriAttentionFunction.apply,
            lambda q, k, v, m, p: ds4sci(q * 4, k, v, m, p), [q, k, v, mask, pair])


def stand_in(monkeypatch, name, **attributes):
    """A module of this name, and the packages around it."""
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        here = ".".join(parts[:i])
        if here not in sys.modules:
            module = types.ModuleType(here)
            module.__path__ = []
            module.__file__ = here + ".py"
            monkeypatch.setitem(sys.modules, here, module)
    for key, value in attributes.items():
        setattr(sys.modules[name], key, value)
    return sys.modules[name]


def test_patch(monkeypatch):
    """Modules with the call signatures of OpenFold's, Boltz's and Protenix's."""
    def original(*_, **__):
        raise AssertionError("the other package's kernel ran")
    def other_original(*_, **__):
        raise AssertionError("the other package's kernel ran")
    class Original:
        apply = staticmethod(original)
    stand_in(monkeypatch, "deepspeed.ops.deepspeed4science",
             DS4Sci_EvoformerAttention=original)
    primitives = stand_in(monkeypatch, "openfold.model.primitives",
                          DS4Sci_EvoformerAttention=original)
    stand_in(monkeypatch, "cuequivariance_torch.primitives.triangle",
             triangle_attention=other_original)
    stand_in(monkeypatch, "protenix.model.tri_attention.op",
             TriAttentionFunction=Original)
    g = torch.Generator().manual_seed(7)
    q, k, v = (normal(g, 1, 3, 11, 2, 16) for _ in range(3))
    pair = normal(g, 1, 1, 2, 11, 11)

    def openfold(q, k, v, biases):
        return primitives.DS4Sci_EvoformerAttention(q, k, v, biases)
    def boltz(q, k, v, bias, mask, scale):
        from cuequivariance_torch.primitives.triangle import triangle_attention
        return triangle_attention(q, k, v, bias, mask=mask, scale=scale)
    def protenix(q, k, v, b1, b2):
        from protenix.model.tri_attention.op import TriAttentionFunction
        return TriAttentionFunction.apply(q, k, v, b1, b2)

    expected = evoformer.attention(q, k, v, [pair])
    with evoformer.patch() as patched:
        assert "openfold.model.primitives.DS4Sci_EvoformerAttention" in (
            patched.replaced)
        assert torch.equal(openfold(q, k, v, [None, pair]), expected)
        heads = [t.transpose(2, 3) for t in (q, k, v)]
        keep = torch.ones(1, 3, 1, 1, 11, dtype=torch.bool)
        assert torch.equal(boltz(*heads, pair, keep, 0.25),
                           expected.transpose(2, 3))
        assert torch.allclose(protenix(q / 4, k, v, None, pair), expected,
                              rtol=1e-5, atol=1e-6)
    for call in (lambda: openfold(q, k, v, [None, pair]),
                 lambda: protenix(q, k, v, None, pair)):
        with pytest.raises(AssertionError, match="other package"):
            call()


def test_patch_of_what_is_not_installed():
    names = ("cuequivariance_torch", "trifast")
    if any(importlib.util.find_spec(name) for name in names):
        pytest.skip("one of the packages is installed")
    assert evoformer.patch(names).replaced == []
    with evoformer.patch(names, stand_in=True):
        from cuequivariance_torch import triangle_attention
        from cuequivariance_torch.primitives.triangle import (
            triangle_attention as same)
        assert triangle_attention is same is dropins.triangle_attention
        # As OpenFold3 does.
        assert importlib.util.find_spec("cuequivariance_torch")
        from cuequivariance_ops_torch.triangle_attention import (
            CUEQ_TRIATTN_FALLBACK_THRESHOLD as least)
        assert least == 0
    assert not any(importlib.util.find_spec(name) for name in names)


def test_patch_without_deepspeed():
    """OpenFold and OpenFold3 import more of it than attention, and ask whether it
    is set up."""
    if importlib.util.find_spec("deepspeed"):
        pytest.skip("DeepSpeed is installed")
    with evoformer.patch(["deepspeed"], stand_in=True):
        assert importlib.util.find_spec("deepspeed.ops.deepspeed4science")
        import deepspeed
        from deepspeed.ops.deepspeed4science import DS4Sci_EvoformerAttention
        from deepspeed.runtime.activation_checkpointing.checkpointing import (
            non_reentrant_checkpoint)
        from deepspeed.utils import zero_to_fp32
        assert DS4Sci_EvoformerAttention is dropins.DS4Sci_EvoformerAttention
        for asked in (deepspeed.comm, deepspeed.comm.comm, deepspeed.utils):
            assert not asked.is_initialized()
        assert not deepspeed.checkpointing.is_configured()
        for checkpoint in (deepspeed.checkpointing.checkpoint, non_reentrant_checkpoint):
            x = torch.ones(2, requires_grad=True)
            checkpoint(torch.square, x).sum().backward()
            assert x.grad.tolist() == [2, 2]
        with pytest.raises(AttributeError, match="stands in for a package .* no 'zero'"):
            deepspeed.zero
        assert not hasattr(zero_to_fp32, "get_model_state_file")
    assert importlib.util.find_spec("deepspeed") is None
    # A model that was imported meanwhile holds it, and still asks.
    assert not deepspeed.comm.comm.is_initialized()
    assert not deepspeed.checkpointing.is_configured()


def test_patch_of_half_of_a_package(monkeypatch):
    """cuEquivariance's Python half alone: what OpenFold3 asks the other half for."""
    if importlib.util.find_spec("cuequivariance_ops_torch"):
        pytest.skip("the other half is installed")
    def original():
        raise AssertionError("the other package's kernel ran")
    real = stand_in(monkeypatch, "cuequivariance_torch", triangle_attention=original)
    with evoformer.patch(["cuequivariance_torch"], stand_in=True):
        from cuequivariance_ops_torch.triangle_attention import (
            CUEQ_TRIATTN_FALLBACK_THRESHOLD as least)
        assert least == 0
        assert real.triangle_attention is dropins.triangle_attention
    assert real.triangle_attention is original


def test_bad_operands():
    q, b = torch.randn(1, 2, 2, 5, 8), torch.randn(1, 1, 2, 5, 5)
    keep = torch.ones(1, 2, 1, 1, 5, dtype=torch.bool)
    for call, error, text in (
            (lambda: dropins.triangle_attention(q, q, q, None), TypeError,
             "bias is a NoneType"),
            (lambda: dropins.triangle_attention(q[0, 0, 0], q, q, b), ValueError,
             "q has rank 2; accepted is 3 or 4 or 5"),
            (lambda: dropins.triangle_attention(
                q, q, q, b, kv_lengths=torch.tensor([5, 5], dtype=torch.int32)),
             ValueError, r"kv_lengths has shape \(2,\); accepted is \(1, 2, 1, 1, 1\)"),
            (lambda: dropins.triangle_attention(
                q, q, q, b, kv_lengths=torch.full((1, 2, 1, 1, 1), 5)), ValueError,
             "kv_lengths has type torch.int64; accepted is torch.int32"),
            (lambda: dropins.triangle_attention(
                q, q, q, b, kv_lengths=torch.empty(
                    (1, 2, 1, 1, 1), dtype=torch.int32, device="meta")), ValueError,
             "kv_lengths is on meta, q on cpu"),
            (lambda: dropins.triangle_attention(q, q, q, b[..., :3]), ValueError,
             r"bias has shape \(1, 1, 2, 5, 3\); accepted is \(1, 1, 2, 5, 5\), any"),
            (lambda: dropins.triangle_attention(q, q, q, b, keep[..., :3]), ValueError,
             "mask has shape"),
            (lambda: evoformer.patch("deepspeed"), ValueError,
             "packages is 'deepspeed'; accepted are lists of deepspeed, cueq"),
            (lambda: evoformer.patch(["xformers"]), ValueError,
             r"packages is \['xformers'\]"),
            (lambda: dropins.trifast_triangle_attention(q, q, q, b, None), TypeError,
             "mask is a NoneType"),
            (lambda: dropins.trifast_triangle_attention(q, q, q, b, keep), ValueError,
             "b has rank 5; accepted is 4"),
            (lambda: dropins.DS4Sci_EvoformerAttention(q[0], q, q, []), ValueError,
             "Q has rank 4; accepted is 5"),
            (lambda: dropins.DS4Sci_EvoformerAttention(q, q, q, None), TypeError,
             "biases is a NoneType; accepted is a list"),
            (lambda: dropins.EvoformerAttention.apply(None, q, q, None, None),
             TypeError, "Q is a NoneType"),
            (lambda: dropins.triangle_attention(q, q, q, b, [True]), TypeError,
             "mask is a list"),
            (lambda: dropins.EvoformerAttention.apply(q, q, q, [1], None),
             TypeError, "res_mask is a list"),
            (lambda: dropins.EvoformerAttention.apply(q, q, q, None, 1.0),
             TypeError, "pair_bias is a float"),
            (lambda: dropins.DS4Sci_EvoformerAttention(q, q, q, [1]),
             TypeError, r"biases\[0\] is a int"),
            (lambda: dropins.TriAttentionFunction.apply(q, q, q, None, [1]),
             TypeError, "Bias2 is a list")):
        with pytest.raises(error, match=text):
            call()


def test_explain():
    g = torch.Generator().manual_seed(8)
    q = torch.randn(1, 3, 11, 2, 16, generator=g)
    shown = evoformer.explain(q, q, q, [torch.randn(1, 1, 2, 11, 11)])
    assert shown.operations == 4 * 3 * 2 * 11 * 11 * 16
    assert shown.bytes == 4 * (4 * q.numel() + 2 * 11 * 11)
    # What runs: the bias and the lengths decide.
    assert shown.kernels[-1]["name"].startswith("attention")
    assert all(k["work_items"] > 0 for k in shown.kernels)
    assert "workspace" in str(shown)
    assert all(kernel["name"] in str(shown) for kernel in shown.kernels)
    same = evoformer.explain(*(q.numpy(),) * 3, [torch.randn(1, 1, 2, 11, 11).numpy()])
    assert str(same) == str(shown)
