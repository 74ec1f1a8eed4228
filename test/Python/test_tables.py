# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Tables that a score captures and reads at an index: diagonals, T5's buckets, indices of
a tensor, with the gradients of tables, against the same written out in torch."""

import math

import evoformer
import numpy as np
import pytest
import torch
from evoformer import score as s
from torch_cases import device, one_thread  # noqa: F401
from torch_reference import compare, normal, run_with_gradients


def operands(kind, device, heads=2, sq=37, sk=53, depth=32):
    return [normal(2, heads, size, depth, seed=seed, kind=kind, device=device)
            for seed, size in enumerate((sq, sk, sk))]


def written_out(q, k, v, bias):
    logits = torch.einsum("bhid,bhjd->bhij", q * q.shape[3] ** -0.5, k) + bias
    return torch.einsum("bhij,bhjd->bhid", logits.softmax(-1), v)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float32], ids=str)
def test_diagonals(device, kind):
    """A table of relative places, whose ends count for all that are further away."""
    table = normal(2, 1, 31, seed=7, device=device)
    at = (torch.arange(37)[:, None] - torch.arange(53) + 15).clamp(0, 30).to(device)
    compare(lambda q, k, v, table: evoformer.attention(
                q, k, v, layout="bhsd", captures=[table],
                score=lambda x, b, n, h, i, j, sq, sk, t: x + t[i - j + 15]),
            lambda q, k, v, table: written_out(q, k, v, table[:, 0, at].to(q.dtype)),
            [*operands(kind, device), table])


def test_buckets(device):
    """T5's, in one direction: exact ones, and behind them as many for logarithms."""
    table = normal(2, 2, 1, 32, seed=7, device=device)

    def score(x, b, n, h, i, j, sq, sk, t):
        behind = s.maximum(i - j, 0)
        # Above 16 as many buckets for each factor.
        far = s.log(s.maximum(behind, 1) * (1 / 16)) * (16 / math.log(8)) + 16
        return x + t[s.where(behind < 16, behind, s.to_int(far))]
    behind = (torch.arange(37)[:, None] - torch.arange(53)).clamp(min=0)
    far = (behind.clamp(min=1).double() / 16).log() * (16 / math.log(8)) + 16
    at = torch.where(behind < 16, behind, far.long().clamp(16, 31)).to(device)
    compare(lambda q, k, v, table: evoformer.attention(
                q, k, v, layout="bhsd", captures=[table], score=score),
            lambda q, k, v, table: written_out(q, k, v, table[:, :, 0][:, :, at]),
            [*operands(torch.float32, device), table])


def test_indices_of_a_tensor(device):
    """int32 numbers of each pair, as a graph's distances; of an odd number of entries, and
    with a factor of the score beside it."""
    table = normal(2, 1, 13, seed=7, device=device)
    at = torch.randint(-3, 16, (37, 53), generator=torch.Generator().manual_seed(1),
                       dtype=torch.int32).to(device)
    inside = at.clamp(0, 12).long()
    tensors = operands(torch.float32, device)
    # An entry's gradient has a term for each pair that looks it up, hundreds of them.
    bias = (2 * table[:, 0, inside] ** 2).detach().double().requires_grad_()
    of_pairs = run_with_gradients(
        written_out, [*(t.detach().double().requires_grad_() for t in tensors), bias])[-1]
    terms = of_pairs * 4 * table[:, 0, inside].detach()
    magnitude = torch.zeros(2, 13, dtype=torch.float64, device=device).index_add_(
        1, inside.flatten(), terms.abs().flatten(1)).max().item()
    compare(lambda q, k, v, table: evoformer.attention(
                q, k, v, layout="bhsd", captures=[table, at],
                score=lambda x, b, n, h, i, j, sq, sk, t, at: x + 2 * t[at] * t[at]),
            lambda q, k, v, table: written_out(q, k, v, 2 * table[:, 0, inside] ** 2),
            [*tensors, table], magnitude=magnitude)


def test_numpy_and_bits():
    """Gradients of tables are equal in bits, of indices there are none."""
    random = np.random.default_rng(1)
    q, k, v = (random.normal(size=(2, 40, 2, 16)).astype(np.float32) for _ in range(3))
    table = random.normal(size=(2, 1, 9)).astype(np.float32)
    at = random.integers(0, 9, (40, 40), np.int32)

    def run():
        out, vjp = evoformer.attention_vjp(
            q, k, v, captures=[table, at], causal=True,
            score=lambda x, b, n, h, i, j, sq, sk, t, at: x + t[at])
        return out, vjp(np.ones_like(out))
    out, gradients = run()
    again, others = run()
    np.testing.assert_array_equal(out, again)
    np.testing.assert_array_equal(gradients.captures[0], others.captures[0])
    assert gradients.captures[1] is None and gradients.captures[0].shape == table.shape
