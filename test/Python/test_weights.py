# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Weights that are logits: RetNet's parallel retention and attention without a
normaliser, with decays that a score captures, against the same written out in torch."""

import evoformer
import numpy as np
import pytest
import torch
from torch_cases import device, one_thread  # noqa: F401
from torch_reference import compare, normal

KINDS = [torch.float16, torch.bfloat16, torch.float32]


def decays(heads, sq, sk, **options):
    """RetNet's, of one rate a head: gamma^(i - j), 0 for keys behind the query."""
    gamma = 1 - 2.0 ** (-5 - torch.arange(heads))
    behind = torch.arange(sq)[:, None] + sk - sq - torch.arange(sk)
    mask = gamma[:, None, None] ** behind.clamp(min=0) * (behind >= 0)
    return mask.to(**options).requires_grad_()


def written_out(q, k, v, mask, least, scale=1.0):
    """[b, h, s, d]; without `least` nothing divides."""
    x = torch.einsum("bhid,bhjd->bhij", q * scale, k) * mask.to(q.dtype)
    if least is not None:
        x = x / x.detach().abs().sum(-1, keepdim=True).clamp(min=least)
    return torch.einsum("bhij,bhjd->bhid", x, v)


def operands(kind, device, heads=2, sq=37, sk=53, depth=32, value_depth=None):
    sizes = [(sq, depth), (sk, depth), (sk, value_depth or depth)]
    return [normal(2, heads, *size, seed=seed, kind=kind, device=device)
            for seed, size in enumerate(sizes)]


@pytest.mark.parametrize("kind, depth, value_depth",
                         [(kind, 32, 48) for kind in KINDS] + [(torch.bfloat16, 192, 128)])
def test_retention(device, kind, depth, value_depth):
    """The parallel form, with the gradients of queries, keys, values and decays."""
    tensors = operands(kind, device, depth=depth, value_depth=value_depth)
    mask = decays(2, 37, 53, device=device)
    scale = depth ** -0.5
    compare(lambda *t: evoformer.retention(*t, scale=scale),
            lambda *t: written_out(*t, least=1.0, scale=scale), [*tensors, mask])


@pytest.mark.parametrize("least", [0.0, 100.0])
def test_least(device, least):
    tensors = operands(torch.float32, device)
    mask = decays(2, 37, 53, device=device)
    compare(lambda *t: evoformer.retention(*t, least=least),
            lambda *t: written_out(*t, least), [*tensors, mask])


def test_masks(device):
    """Without decays; bool drops pairs; a causal call does not look at what is behind."""
    q, k, v = operands(torch.bfloat16, device, sk=37)
    kept = torch.rand(2, 37, 37, generator=torch.Generator().manual_seed(1)).to(device) < 0.7
    compare(evoformer.retention, lambda *t: written_out(*t, torch.ones(1).to(device), 1.0),
            [q, k, v])
    compare(lambda *t: evoformer.retention(*t, kept),
            lambda *t: written_out(*t, kept.to(q.dtype), 1.0), [q, k, v])
    mask = decays(2, 37, 37, device=device).detach()
    behind = mask.masked_fill(mask == 0, torch.nan)
    out = evoformer.retention(q, k, v, behind, causal=True)
    torch.testing.assert_close(out, evoformer.retention(q, k, v, mask), rtol=0, atol=2e-2)


@pytest.mark.parametrize("kind", KINDS[1:], ids=str)
def test_linear(device, kind):
    """Decays of a cumulated logarithm, as products of what queries and keys have."""
    tensors = operands(kind, device, sk=37)
    rates = torch.rand(2, 2, 37, generator=torch.Generator().manual_seed(2)) * 0.1
    logs = rates.cumsum(-1).neg().to(device).requires_grad_()

    def ours(q, k, v, logs):
        return evoformer.attention(
            q, k, v, layout="bhsd", causal=True, weights="linear",
            score=lambda x, b, n, h, i, j, sq, sk, a, c: x * evoformer.score.exp(a - c),
            captures=[logs[..., :, None], logs[..., None, :]])

    def theirs(q, k, v, logs):
        seen = torch.ones(37, 37, device=q.device).tril()
        mask = (logs[..., :, None] - logs[..., None, :]).masked_fill(seen == 0, -torch.inf)
        return written_out(q, k, v, mask.exp(), None, q.shape[-1] ** -0.5)
    compare(ours, theirs, [*tensors, logs])


def test_dropout_is_of_weights(device):
    q, k, v = operands(torch.float32, device)
    state = torch.tensor([3, 4], device=device)
    eye = torch.eye(53, device=device).expand(2, 2, 53, 53)

    def drop(values):
        return evoformer.attention(q, k, values, layout="bhsd", weights="retention",
                                   dropout_p=0.25, dropout_state=state)
    x = torch.einsum("bhid,bhjd->bhij", q, k) * 32 ** -0.5
    whole = x / x.abs().sum(-1, keepdim=True).clamp(min=1)
    dropped = drop(eye)
    share = (dropped == 0).float().mean().item()
    assert abs(share - 0.25) < 0.03
    torch.testing.assert_close(dropped, torch.where(dropped == 0, 0, whole / 0.75))
    torch.testing.assert_close(drop(v), dropped @ v, rtol=1e-4, atol=1e-5)


def test_equal_bits_and_compile():
    """Two calls are equal in bits, and torch.compile sees the operator."""
    tensors = [*operands(torch.bfloat16, "cpu"), decays(2, 37, 53)]

    def run(function):
        out = function(*tensors)
        return [out, *torch.autograd.grad(out.float().square().sum(), tensors)]
    first = run(evoformer.retention)
    compiled = torch.compile(evoformer.retention, backend="aot_eager")
    for again in (run(evoformer.retention), run(compiled)):
        for one, other in zip(first, again):
            assert torch.equal(one, other)


def test_numpy():
    """The same from NumPy, with its gradients."""
    tensors = operands(torch.float32, "cpu")
    mask = decays(2, 37, 53)
    arrays = [t.detach().numpy() for t in (*tensors, mask)]
    out = evoformer.retention(*tensors, mask)
    gradients = torch.autograd.grad(out.sum(), [*tensors, mask])
    np.testing.assert_array_equal(evoformer.retention(*arrays), out.detach().numpy())
    result, vjp = evoformer.attention_vjp(
        *arrays[:3], layout="bhsd", scale=1.0, weights=("retention", 1.0),
        score=lambda x, b, n, h, i, j, sq, sk, m: x * m, captures=[arrays[3]])
    found = vjp(np.ones_like(result))
    for one, other in zip((found.query, found.key, found.value, found.captures[0]),
                          gradients):
        np.testing.assert_array_equal(one, other.numpy())


@pytest.mark.parametrize("weights, kind, message", [
    ("relu", ValueError, "weights is 'relu'; accepted are 'softmax', 'linear', 'retention'"),
    (("retention", -1), ValueError, "a finite number from 0 on"),
    (("retention", "one"), TypeError, "a finite number from 0 on"),
    (("linear", 1), ValueError, "weights is .*accepted are"),
    (3, TypeError, "weights is 3; accepted are")])
def test_what_weights_accept(weights, kind, message):
    with pytest.raises(kind, match=message):
        evoformer.attention(*operands(torch.float32, "cpu"), layout="bhsd", weights=weights)


def test_wrong_mask():
    q, k, v = operands(torch.float32, "cpu")
    for mask, kind, message in (
            (torch.rand(3, 5), ValueError, r"mask has shape \(3, 5\)"),
            (torch.ones(3, 5, dtype=torch.bool), ValueError, "mask has s"),
            (torch.ones(37, 53, dtype=torch.float64), TypeError, "mask has type")):
        with pytest.raises(kind, match=message):
            evoformer.retention(q, k, v, mask)


def test_what_has_no_meaning():
    q, k, v = operands(torch.float32, "cpu")
    with pytest.raises(ValueError, match="return_lse .* accepted is False"):
        evoformer.attention(q, k, v, layout="bhsd", weights="linear", return_lse=True)
    with pytest.raises(TypeError, match=r"biases\[0\] has type f32; .* accepted is bool"):
        evoformer.attention(q, k, v, [torch.zeros(37, 53)], layout="bhsd",
                            weights="linear")
    # softmax is what there is without a word.
    assert torch.equal(evoformer.attention(q, k, v, layout="bhsd", weights="softmax"),
                       evoformer.attention(q, k, v, layout="bhsd"))
