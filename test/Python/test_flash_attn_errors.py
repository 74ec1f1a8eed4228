# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""FlashAttention's functions by the rule of its own tests: errors of at most twice, of
some gradients three times, those of attention written out in the operands' type."""

import flash_attn_cases
import pytest
import torch
from evoformer import flash_attn
from flash_attn_cases import Call
from torch_cases import device, one_thread  # noqa: F401


@pytest.mark.parametrize("number", range(12))
def test_random(device, number):
    flash_attn_cases.run(number, device)


def call(causal, batch, size, heads, depth, kind=torch.float16):
    """Number 0's function is flash_attn_func."""
    result = Call(0)
    result.batch, result.heads, result.key_heads = batch, heads, heads
    result.most, result.depth, result.kind = [size, size], depth, kind
    result.lengths = [[size] * batch] * 2
    result.options = dict(causal=causal, deterministic=False, window_size=(-1, -1))
    return result


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("size, depth", [(1, 16), (2, 32), (5, 64), (17, 16), (128, 32)])
def test_large_scores(device, causal, size, depth):
    """Scores beyond what f16's exponentials hold, next to keys that are not there."""
    some = call(causal, 2, size, 5, depth)
    q, k, v, weight = some.draw(1, device)
    operands = (5 * q, 3 * k, 3 * v, weight)
    found = some.ours(*operands)
    eager, exact = (some.written_out(kind, *operands)
                    for kind in (some.kind, torch.float64))
    for index in (0, 2, 3, 4):
        error, usual = ((t[index].double() - exact[index]).abs().max().item()
                        for t in (found, eager))
        assert error <= ((5 * usual + 1e-3) if index else 2 * usual), index


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("size, depth", [(97, 64), (200, 128)])
def test_strides_of_the_gradient(device, causal, size, depth):
    """The output's gradient is another one's every second row, transposed."""
    some = call(causal, 3, size, 2, depth, torch.bfloat16)
    q, k, v, weight = some.draw(2, device)
    spread = torch.full((size, 6, 2, depth), torch.nan, dtype=some.kind, device=device)
    spread[:, ::2] = weight.unflatten(0, (3, -1)).transpose(0, 1)
    operands = [t.unflatten(0, (3, -1)).detach().requires_grad_() for t in (q, k, v)]
    out = flash_attn.flash_attn_func(*operands, causal=causal)
    found = torch.autograd.grad(out.transpose(0, 1), operands, spread[:, ::2])
    eager, exact = (some.written_out(kind, q, k, v, weight)
                    for kind in (some.kind, torch.float64))
    some.check([out.detach().flatten(0, 1), exact[1], *(t.flatten(0, 1) for t in found)],
               eager, exact)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("depth", [16, 64])
def test_single_keys(device, causal, depth):
    """Sequences of one key each, of many queries."""
    some = call(causal, 3, 256, 5, depth)
    some.name, some.is_varlen = "flash_attn_varlen_func", True
    some.most, some.lengths = [256, 3], [[76, 34, 146], [1, 1, 1]]
    q, k, v, weight = some.draw(3, device)
    out, _, *gradients = some.ours(3 * q, 3 * k, 3 * v, weight)
    exact = some.written_out(torch.float64, 3 * q, 3 * k, 3 * v, weight)
    torch.testing.assert_close(out.double(), exact[0], rtol=0, atol=0)
    for one, true in zip(gradients, exact[2:], strict=True):
        torch.testing.assert_close(one.double(), true, rtol=2e-3, atol=2e-3)
