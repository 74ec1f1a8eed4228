"""Scores of one's own, triangle attention with softcap and ALiBi beside FlexAttention,
and causal attention with dropout beside torch's scaled_dot_product_attention: times of
both passes.

    python -m evoformer.bench.scores
"""

import torch
import torch.nn.functional as F

import evoformer
from evoformer import score

from . import beside

# Rows, length, heads and depth of triangle attention; batches, length, heads and depth
# of causal attention.
TRIANGLE = {"cuda": (384, 384, 4, 32), "cpu": (2, 24, 2, 8)}
CAUSAL = {"cuda": (2, 4096, 16, 64), "cpu": (1, 40, 2, 16)}
CAP, P = 30.0, 0.1


def flex(modify):
    """FlexAttention of (N, S, H, D) whose score is modified and has a pair bias added."""
    import torch._functorch.config
    from torch.nn.attention.flex_attention import flex_attention
    torch._functorch.config.donated_buffer = False

    def run(q, k, v, pair):
        def change(x, b, h, i, j):
            return modify(x, h, i, j) + pair[h, i, j]
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        return flex_attention(q, k, v, score_mod=change).transpose(1, 2)
    return torch.compile(run, dynamic=False, fullgraph=True)


def triangles(sizes, device):
    """(what, by what, how) for queries, keys, values and a pair bias."""
    heads = sizes[2]
    slopes = torch.tensor([2.0 ** (-8 * (h + 1) / heads) for h in range(heads)],
                          device=device)

    def ours(change=None, captures=()):
        options = {"score": change, "captures": captures} if change else {}
        return lambda q, k, v, pair: evoformer.attention(
            q, k, v, biases=[pair], layout="nshd", **options)

    def alibi(x, b, n, h, i, j, sq, sk, slope):
        return x - slope * abs(i - j)
    yield "pair bias", "evoformer", ours()
    yield "softcap", "evoformer", ours(lambda x, *_: CAP * score.tanh(x / CAP))
    yield ("softcap, fast_tanh", "evoformer",
           ours(lambda x, *_: CAP * score.fast_tanh(x / CAP)))
    yield "ALiBi", "evoformer", ours(alibi, [slopes.reshape(heads, 1, 1)])
    if device != "cpu":
        yield "pair bias", "flex", flex(lambda x, h, i, j: x)
        yield "softcap", "flex", flex(lambda x, h, i, j: CAP * torch.tanh(x / CAP))
        yield "ALiBi", "flex", flex(lambda x, h, i, j: x - slopes[h] * abs(i - j))


def causals(device):
    """The same for queries, keys and values. Dropped weights are each library's own:
    the results of two have only means in common."""
    state = torch.tensor([3, 4], device=device)

    def ours(**options):
        return lambda q, k, v: evoformer.attention(q, k, v, layout="bshd", causal=True,
                                                   **options)

    def flash(p):
        def run(q, k, v):
            q, k, v = (t.transpose(1, 2) for t in (q, k, v))
            with torch.nn.attention.sdpa_kernel(
                    torch.nn.attention.SDPBackend.FLASH_ATTENTION):
                out = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=p)
            return out.transpose(1, 2)
        return run
    yield "causal", "evoformer", ours()
    yield "causal, dropout", "evoformer", ours(dropout_p=P, dropout_state=state)
    yield ("causal, softcap", "evoformer",
           ours(score=lambda x, *_: CAP * score.tanh(x / CAP)))
    if device != "cpu":
        yield "causal", "sdpa flash", flash(0.0)
        yield "causal, dropout of its own", "sdpa flash", flash(P)


def problems(device):
    """(title, operands, gradient, what, by, function), see beside.report."""
    torch.manual_seed(0)

    def normal(*sizes):
        return torch.randn(sizes, device=device).to(beside.TYPE)
    rows, length, heads, depth = sizes = TRIANGLE[device]
    *operands, gradient = (normal(*sizes) for _ in range(4))
    operands.append(normal(heads, length, length))
    for candidate in triangles(sizes, device):
        yield (f"N {rows}, S {length}, H {heads}, D {depth}", operands, gradient,
               *candidate)
    batch, length, heads, depth = sizes = CAUSAL[device]
    *operands, gradient = (normal(*sizes) for _ in range(4))
    for candidate in causals(device):
        yield (f"B {batch}, H {heads}, S {length}, D {depth}", operands, gradient,
               *candidate)


def main():
    options = beside.parse("scores", "Times of attention with scores of one's own and "
                                     "with dropout.")
    beside.report(options, "score", problems(options.device))


if __name__ == "__main__":
    main()
