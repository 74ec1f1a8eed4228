# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""The weights on demand, beside those that torch writes out."""

import evoformer
import numpy as np
import pytest
import torch
from torch_cases import device, one_thread  # noqa: F401
from torch_reference import normal


def state_on(device):
    return torch.tensor((1234567890123456789, 42), dtype=torch.int64, device=device)


def written_out(query, key, bias, seen):
    """Softmax of [b, n, s, h, d] in float64."""
    key = key.double().repeat_interleave(query.shape[3] // key.shape[3], 3)
    logits = torch.einsum("bnihd,bnjhd->bnhij", query.double(), key)
    logits = logits * query.shape[-1] ** -0.5 + bias.double()
    return logits.masked_fill(~seen, -torch.inf).softmax(-1).nan_to_num(0)


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_agrees_with_torch(device, kind):
    """Biases, a mask, grouped heads, causal; and what dropout drops is negative."""
    query, key = (normal(2, 3, size, heads, 32, seed=size, kind=kind, device=device)
                  for size, heads in ((37, 4), (53, 2)))
    bias = normal(1, 1, 4, 37, 53, seed=5, kind=kind, device=device)
    mask = torch.arange(53, device=device) % 5 != 2
    seen = mask & torch.ones(37, 53, dtype=torch.bool, device=device).tril(53 - 37)
    wanted = written_out(query, key, bias, seen)
    weights = evoformer.attention_weights(query, key, [mask, bias], causal=True)
    assert weights.shape == wanted.shape and weights.dtype == kind
    assert (weights.double() - wanted).abs().max() < 4 * torch.finfo(kind).eps
    dropped = evoformer.attention_weights(
        query, key, [mask, bias], causal=True, dropout_p=0.25,
        dropout_state=state_on(device))
    assert torch.equal(dropped.abs(), weights)
    assert 0.2 < (dropped < 0).sum() / (weights > 0).sum() < 0.3
    # What is left is what values are summed by.
    value = normal(2, 3, 53, 2, 16, seed=7, kind=kind, device=device)
    out = evoformer.attention(query, key, value, [mask, bias], causal=True, dropout_p=0.25,
                              dropout_state=state_on(device))
    found = torch.einsum("bnhij,bnjhd->bnihd", dropped.double().clamp(min=0) / 0.75,
                         value.double().repeat_interleave(2, 3))
    assert (found - out.double()).abs().max() < 20 * torch.finfo(kind).eps


def test_layouts_and_lengths(device):
    """Dimensions are those of biases; rows end where lengths say."""
    query = normal(2, 4, 20, 16, device=device)
    key = normal(2, 4, 30, 16, seed=1, device=device)
    lengths = torch.tensor([30, 11], dtype=torch.int32, device=device)
    weights = evoformer.attention_weights(query, key, layout="bhsd", key_lengths=lengths)
    assert weights.shape == (2, 4, 20, 30)
    for b, length in enumerate((30, 11)):
        own = evoformer.attention_weights(query[b:b + 1], key[b:b + 1, :, :length],
                                          layout="bhsd")
        torch.testing.assert_close(weights[b, ..., :length], own[0], rtol=1e-5, atol=1e-6)
        assert not weights[b, ..., length:].any()


def test_packed(device):
    query = normal(40, 2, 16, device=device)
    key = normal(50, 2, 16, seed=1, device=device)
    starts = [torch.tensor(t, dtype=torch.int32, device=device)
              for t in ((0, 9, 9, 40), (0, 20, 31, 50))]
    weights = evoformer.attention_weights(query, key, layout="shd", cu_seqlens=starts,
                                          max_seqlen=(31, 20))
    assert weights.shape == (3, 2, 31, 20)
    for b in range(3):
        i, j = (slice(t[b], t[b + 1]) for t in starts)
        own = evoformer.attention_weights(query[i], key[j], layout="shd")
        there = weights[b, :, :own.shape[1], :own.shape[2]]
        torch.testing.assert_close(there, own, rtol=1e-5, atol=1e-6)
        assert weights[b].count_nonzero() == own.count_nonzero()


def test_retention(device):
    query, key = (normal(1, 1, 20, 2, 16, seed=seed, device=device) for seed in (1, 2))
    logits = torch.einsum("bnihd,bnjhd->bnhij", query.double(), key.double())
    wanted = logits / logits.abs().sum(-1, keepdim=True).clamp(min=1)
    weights = evoformer.attention_weights(query, key, scale=1.0, weights="retention")
    assert (weights.double() - wanted).abs().max() < 1e-6


def test_compiled(device):
    query = normal(1, 2, 20, 2, 16, device=device)

    def function(x):
        return evoformer.attention_weights(x, x, causal=True) * 2

    torch.testing.assert_close(torch.compile(function, backend="eager")(query),
                               function(query), rtol=0, atol=0)


def test_has_no_gradient(device):
    query = normal(1, 2, 20, 2, 16, device=device).requires_grad_()
    assert not evoformer.attention_weights(query, query).requires_grad


def test_refusals():
    x = torch.ones(1, 1, 4, 1, 8)
    state = torch.zeros(2, dtype=torch.int64)
    with pytest.raises(TypeError, match="query is a list; accepted is a torch.Tensor, a jax.A"):
        evoformer.attention_weights([1.0], x)
    with pytest.raises(TypeError, match="key is a Tensor; accepted is a numpy.ndarray, as"):
        evoformer.attention_weights(np.ones((1, 1, 4, 1, 8), np.float32), x)
    with pytest.raises(ValueError, match="dropout_p is 0.5 with weights that are no softmax"):
        evoformer.attention_weights(x, x, dropout_p=0.5, dropout_state=state,
                                    weights="linear")
    with pytest.raises(ValueError, match="dropout_p is 0.5 without dropout_state"):
        evoformer.attention_weights(x, x, dropout_p=0.5)
    with pytest.raises(ValueError, match="key has size 9"):
        evoformer.attention_weights(x, torch.ones(1, 1, 4, 1, 9))
    for other, message in ((torch.ones(4, 8), "key has rank 2"),
                           (torch.ones(1, 1, 4, 1, 0), "key has size 0")):
        with pytest.raises(ValueError, match=message):
            evoformer.attention_weights(x, other)
    with pytest.raises(ValueError, match="layout 'xyz': accepted"):
        evoformer.attention_weights(x, x, layout="xyz")
    with pytest.raises(NotImplementedError):
        torch.func.jvp(lambda q: evoformer.attention_weights(q, x), (x,), (x,))


def test_meta():
    x = torch.ones(1, 1, 4, 2, 8, device="meta")
    weights = evoformer.attention_weights(x, x)
    assert weights.is_meta and weights.shape == (1, 1, 2, 4, 4)
    with pytest.raises(ValueError, match="key has size 9"):
        evoformer.attention_weights(x, torch.ones(1, 1, 4, 2, 9, device="meta"))
