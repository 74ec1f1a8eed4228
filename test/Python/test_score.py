# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Scores of one's own: functions that are traced into kernels, with their gradients,
against the same written out in torch."""

import functools
import math

import evoformer
import numpy as np
import pytest
import torch
from evoformer import flash_attn
from evoformer import score as s
from torch_cases import device, one_thread  # noqa: F401
from torch_reference import compare, normal

KINDS = [torch.float16, torch.bfloat16, torch.float32]


def written_out(q, k, v, make, seen=None):
    """`make`: of scores and of indices that broadcast to them. [b, s, h, d]."""
    k, v = (t.repeat_interleave(q.shape[2] // k.shape[2], 2) for t in (k, v))
    scores = torch.einsum("bihd,bjhd->bhij", q * q.shape[3] ** -0.5, k)
    (_, sq, heads, _), sk = q.shape, k.shape[1]
    def index(size, *dims):
        return torch.arange(size, device=q.device).reshape(dims)
    # What becomes of integers.
    torch.set_default_dtype(scores.dtype)
    try:
        logits = make(scores, index(q.shape[0], -1, 1, 1, 1), 0,
                      index(heads, -1, 1, 1), index(sq, -1, 1), index(sk, -1), sq, sk)
    finally:
        torch.set_default_dtype(torch.float32)
    if seen is not None:
        logits = logits.masked_fill(~seen, -torch.inf)
    return torch.einsum("bhij,bjhd->bihd", logits.softmax(-1), v)


def operands(kind, device, heads=4, key_heads=2, sq=37, sk=53, depth=32):
    return [normal(2, sq, heads, depth, kind=kind, device=device),
            *(normal(2, sk, key_heads, depth, seed=seed, kind=kind, device=device)
              for seed in (1, 2))]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_softcap(device, kind, causal):
    tensors = operands(kind, device)
    i, j = torch.arange(37)[:, None], torch.arange(53)
    seen = (j <= i + 16).to(device) if causal else None
    compare(lambda q, k, v: flash_attn.flash_attn_func(q, k, v, softcap=2.5,
                                                       causal=causal),
            lambda q, k, v: written_out(q, k, v, lambda x, *_: 2.5 * torch.tanh(x / 2.5),
                                        seen), tensors)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("shape", [(4,), (2, 4)])
def test_alibi(device, kind, shape):
    """Slopes of heads, or of each batch's; with a softcap, that comes first."""
    tensors = operands(kind, device)
    slopes = torch.rand(shape, generator=torch.Generator().manual_seed(3)).to(device)
    def make(x, b, n, h, i, j, sq, sk):
        slope = slopes.expand(2, 4)[:, :, None, None].to(x.dtype)
        return 5 * torch.tanh(x / 5) - slope * (i + sk - sq - j).abs()
    compare(lambda q, k, v: flash_attn.flash_attn_func(q, k, v, softcap=5.0,
                                                       alibi_slopes=slopes),
            lambda q, k, v: written_out(q, k, v, make), tensors)


def test_packed_sequences(device):
    """Indices and lengths are of each sequence's own."""
    slopes = torch.rand(3, 4, generator=torch.Generator().manual_seed(3)).to(device)
    q, k, v = (normal(60, 4, 16, seed=seed, device=device) for seed in range(3))
    starts = torch.tensor([0, 11, 40, 60], dtype=torch.int32, device=device)
    ends = torch.tensor([0, 25, 31, 60], dtype=torch.int32, device=device)
    found = flash_attn.flash_attn_varlen_func(
        q, k, v, starts, ends, 29, 29, softcap=3.0, alibi_slopes=slopes)
    gradients = torch.autograd.grad(found.sum(), [q, k, v])
    for b in range(3):
        of_queries, of_keys = (slice(t[b], t[b + 1]) for t in (starts, ends))
        one = flash_attn.flash_attn_func(
            q[None, of_queries], k[None, of_keys], v[None, of_keys], softcap=3.0,
            alibi_slopes=slopes[b])
        torch.testing.assert_close(found[of_queries], one[0], rtol=1e-5, atol=1e-5)
        own = torch.autograd.grad(one.sum(), [q, k, v])
        for whole, part, rows in zip(gradients, own, (of_queries, of_keys, of_keys),
                                     strict=True):
            torch.testing.assert_close(whole[rows], part[rows], rtol=1e-4, atol=1e-5)


# Of scores and indices, for numbers of ours and for torch's.
SCORES = {
    "distance": lambda m: lambda x, b, n, h, i, j, sq, sk:
        x - 0.3 * m.log(1.0 + abs(1.0 * (i - j))),
    "buckets": lambda m: lambda x, b, n, h, i, j, sq, sk:
        x + 0.1 * (1.0 * ((i - j) // 7)) - 0.01 * (1.0 * ((j - i) % 5)),
    "gated": lambda m: lambda x, b, n, h, i, j, sq, sk:
        x * (1.0 + m.tanh(x * 0.5)) / (1.0 + 0.25 * (1.0 * h)),
    "where": lambda m: lambda x, b, n, h, i, j, sq, sk:
        m.where((i - j > 4) & (j != 3), x * x * 0.1, -x),
    "powers": lambda m: lambda x, b, n, h, i, j, sq, sk:
        m.sqrt(1.0 + x ** 2) + m.exp(x * -0.5) - m.exp2(x * 0.1),
}


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("name", SCORES)
def test_functions(device, kind, name):
    tensors = operands(kind, device, heads=2, key_heads=2)
    compare(lambda q, k, v: evoformer.attention(q, k, v, layout="bshd",
                                                score=SCORES[name](s)),
            lambda q, k, v: written_out(q, k, v, SCORES[name](torch)), tensors)


def test_torch_functions(device):
    """The same by torch's own functions."""
    q, k, v = operands(torch.float32, device)
    def run(m):
        return evoformer.attention(q, k, v, layout="bshd", score=SCORES["where"](m))
    assert torch.equal(run(s), run(torch))


def test_captures(device):
    """A matrix for each head, and a term for each key of a batch."""
    kind = torch.bfloat16
    tensors = operands(kind, device, sq=33, sk=50)
    matrix = normal(1, 4, 33, 50, seed=7, device=device).detach()
    term = normal(2, 1, 1, 50, seed=8, kind=kind, device=device).detach()
    def make(x, b, n, h, i, j, sq, sk, m=matrix, t=term):
        return x * m.to(x.dtype) + t.to(x.dtype)
    compare(lambda q, k, v: evoformer.attention(
                q, k, v, layout="bshd", captures=[matrix, term],
                score=lambda x, b, n, h, i, j, sq, sk, m, t: x * m + t),
            lambda q, k, v: written_out(q, k, v, make), tensors)


def test_methods(device):
    """What is called of a number is what torch's function of the name does."""
    q, k, v = operands(torch.float32, device)
    def by_methods(x, b, n, h, i, j, *_):
        kept = i.sub(j).gt(4).logical_and(j.ne(3))
        return x.mul(0.1).tanh().where(kept, x.abs().add(1.0).log().sigmoid())
    def by_functions(x, b, n, h, i, j, *_):
        return torch.where((i - j > 4) & (j != 3), torch.tanh(x * 0.1),
                           torch.sigmoid(torch.log(torch.abs(x) + 1.0)))
    found, wanted = (evoformer.attention(q, k, v, layout="bshd", score=score)
                     for score in (by_methods, by_functions))
    assert torch.equal(found, wanted)
    compiled = torch.compile(lambda q, k, v: evoformer.attention(
        q, k, v, layout="bshd", score=by_methods), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(q, k, v), wanted)


# By what a capture has of b, h, i and j: what is made of it.
CAPTURED = {
    "number": ((1, 1, 1, 1), lambda m, x, i, j, c: x * c),
    "slopes": ((1, 4, 1, 1), lambda m, x, i, j, c: x - c * abs(1.0 * (i - j))),
    "temperatures": ((2, 4, 1, 1), lambda m, x, i, j, c: x / (1.0 + c * c)),
    "matrix": ((1, 4, 37, 53), lambda m, x, i, j, c: x * m.tanh(c)),
    "pairs": ((2, 4, 37, 53), lambda m, x, i, j, c: m.tanh(x * c) * 2.0),
    "keys": ((2, 1, 1, 53), lambda m, x, i, j, c: x * m.exp(c * 0.25)),
    "queries": ((1, 4, 37, 1), lambda m, x, i, j, c: x * c + c),
    "where": ((1, 4, 1, 53), lambda m, x, i, j, c: m.where(i > j, x * c, x - c)),
}


@pytest.mark.parametrize("name", CAPTURED)
def test_gradients_of_captures(device, name):
    shape, make = CAPTURED[name]
    # In turns: what is compiled is much.
    kind = KINDS[list(CAPTURED).index(name) % len(KINDS)]
    tensors = [*operands(kind, device), normal(*shape, seed=5, kind=kind, device=device)]
    def ours(q, k, v, capture):
        return evoformer.attention(
            q, k, v, layout="bshd", captures=[capture], causal=True,
            score=lambda x, b, n, h, i, j, sq, sk, c: make(s, x, i, j, c))
    seen = (torch.arange(53) <= torch.arange(37)[:, None] + 16).to(device)
    def theirs(q, k, v, capture):
        return written_out(q, k, v, lambda x, b, n, h, i, j, sq, sk:
                           make(torch, x, i, j, capture), seen)
    compare(ours, theirs, tensors)
    out = ours(*tensors)
    once, again = (torch.autograd.grad(out, tensors[3], torch.ones_like(out),
                                       retain_graph=True)[0] for _ in range(2))
    assert torch.equal(once, again)


def test_drops_keys():
    """A logit of -inf; a query without keys gives 0."""
    q, k, v = operands(torch.float32, "cpu")
    def window(x, b, n, h, i, j, sq, sk):
        return s.where(j < i - 30, x, float("-inf"))
    found = evoformer.attention(q, k, v, layout="bshd", score=window)
    expected = evoformer.attention(q, k, v, layout="bshd", keys=(None, "i-30"))
    torch.testing.assert_close(found, expected)
    assert (found[:, :31] == 0).all() and (found[:, 31:] != 0).any()
    for one, other in zip(torch.autograd.grad(found.sum(), [q, k, v]),
                          torch.autograd.grad(expected.sum(), [q, k, v]), strict=True):
        torch.testing.assert_close(one, other)


def test_numpy():
    q, k, v = (np.random.default_rng(seed).normal(size=(1, 17, 2, 16)).astype("float32")
               for seed in range(3))
    slopes = np.asarray([0.5, 0.25], "float32").reshape(1, 2, 1, 1)
    def score(x, b, n, h, i, j, sq, sk, slope):
        return s.tanh(x) - slope * abs(i - j)
    found = evoformer.attention(q, k, v, layout="bshd", score=score, captures=[slopes])
    expected = evoformer.attention(*map(torch.from_numpy, (q, k, v)), layout="bshd",
                                   score=score, captures=[torch.from_numpy(slopes)])
    np.testing.assert_array_equal(found, expected.numpy())


def test_gradients_of_numpy():
    """Captures are counted apart from biases, and have what torch finds."""
    rng = np.random.default_rng(5)
    q, k, v, seed = (rng.normal(size=(1, 9, 2, 8)).astype("float32") for _ in range(4))
    bias, slope, matrix = (rng.normal(size=shape).astype("float32")
                           for shape in ((1, 2, 9, 9), (2, 1, 1), (9, 9)))
    def score(x, b, n, h, i, j, sq, sk, slope, matrix):
        return x * matrix - slope * abs(i - j)
    out, gradients = evoformer.attention_vjp(
        q, k, v, [bias], layout="bshd", score=score, captures=[slope, matrix])
    found = gradients(seed)
    tensors = [torch.tensor(x, requires_grad=True)
               for x in (q, k, v, bias, slope, matrix)]
    expected = evoformer.attention(*tensors[:3], tensors[3:4], layout="bshd", score=score,
                                   captures=tensors[4:])
    np.testing.assert_array_equal(out, expected.detach().numpy())
    wanted = torch.autograd.grad(expected, tensors, torch.from_numpy(seed))
    assert len(found.biases) == 1 and len(found.captures) == 2
    for one, other in zip((*found[:3], *found.biases, *found.captures), wanted,
                          strict=True):
        np.testing.assert_array_equal(one, other.numpy())


def test_operator(device):
    """Where torch sees an operator: lse has a gradient; shapes alone; a profile."""
    tensors = operands(torch.float32, device, key_heads=4)
    def score(x, *_):
        return 2.0 * s.tanh(x)
    compare(lambda q, k: evoformer.attention(q, k, tensors[2], layout="bshd",
                                             score=score, return_lse=True)[1],
            lambda q, k: (2 * torch.tanh(torch.einsum(
                "bihd,bjhd->bhij", q * q.shape[3] ** -0.5, k))).logsumexp(-1),
            tensors[:2])
    out, lse = evoformer.attention(*[t.to("meta") for t in tensors], layout="bshd",
                                   score=score, return_lse=True)
    assert out.shape == (2, 37, 4, 32) and lse.shape == (2, 4, 37)
    with torch.profiler.profile():
        profiled = evoformer.attention(*tensors, layout="bshd", score=score)
    assert torch.equal(profiled, evoformer.attention(*tensors, layout="bshd",
                                                     score=score))


def test_compile(device):
    """One graph, with gradients of captures; numbers that a score closes over are
    part of what is compiled, also where torch would make symbols of them."""
    tensors = [*operands(torch.float32, device, key_heads=4),
               normal(4, 1, 1, seed=5, device=device)]
    cap = 3.0
    def score(x, b, n, h, i, j, sq, sk, slope):
        return torch.where(i - j < 4, cap * s.tanh(x / cap), x) - slope * abs(i - j)
    def run(q, k, v, slope):
        return evoformer.attention(q, k, v, layout="bshd", score=score, captures=[slope])
    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    for cap in (3.0, 2.0, 1.0):
        found, wanted = compiled(*tensors), run(*tensors)
        assert torch.equal(found, wanted)
    for one, other in zip(torch.autograd.grad(found.sum(), tensors),
                          torch.autograd.grad(wanted.sum(), tensors), strict=True):
        assert torch.equal(one, other)
    def branch(x, *_):
        return x if x > 0 else -x
    for whole in (False, True):
        with pytest.raises(Exception, match="a branch on a number that is not known"):
            torch.compile(lambda q: evoformer.attention(q, q, q, layout="bshd",
                                                        score=branch),
                          fullgraph=whole, backend="aot_eager")(tensors[0])


def test_large_softcap(device):
    """The quick tanh would be off by more than a score is large."""
    tensors = operands(torch.bfloat16, device)
    compare(lambda q, k, v: flash_attn.flash_attn_func(q, k, v, softcap=1e6),
            lambda q, k, v: written_out(q, k, v, lambda x, *_: x), tensors)


def test_numbers_of_numpy(device):
    tensors = operands(torch.float32, device)
    found, wanted = (evoformer.attention(*tensors, layout="bshd",
                                         score=lambda x, *_, two=two: two * x + x * two)
                     for two in (np.float32(2), 2.0))
    assert torch.equal(found, wanted)


def refuse(score, message, captures=(), error=TypeError):
    q = torch.randn(1, 5, 2, 16)
    with pytest.raises(error) as caught:
        evoformer.attention(q, q, q, layout="bshd", score=score, captures=captures)
    assert message in str(caught.value), str(caught.value)
    return str(caught.value)


def test_refused():
    def branch(x, *_):
        if x > 0:
            return x
        return -x
    text = refuse(branch, "a branch on a number that is not known; accepted is")
    assert "(if x > 0:)" in text and "test_score.py" in text
    tensor = torch.ones(2)
    refuse(lambda x, *_: x * tensor, "Tensor; accepted are the arguments")
    for made in (lambda x, *_: tensor * x, lambda x, *_: torch.mul(tensor, x)):
        refuse(made, "a Tensor; accepted are the arguments")
    refuse(lambda x, *_: torch.add(x, 1, alpha=2), "torch.add with these arguments")
    refuse(lambda x, *_: torch.where(x > 0), "accepted are its 3 operands")
    refuse(lambda x, *_: 2 ** x, "a number that is not known")
    refuse(lambda x, *_: x + 10 ** 400, "a number beyond those of float32")
    assert "(if x > 0:)" in refuse(functools.partial(branch), "a branch on a number")
    assert "test_score.py:" in refuse(lambda *_: None, "score gives a NoneType")
    refuse(lambda x, *_: torch.sin(x), "torch.sin; accepted are abs, add, div, eq, exp")
    text = refuse(lambda x, *_: x.cos(), ".cos of a number; accepted are abs, add, div")
    assert "test_score.py" in text
    refuse(lambda x, *_: x + x.dtype, ".dtype of a number; accepted are abs, add, div")
    refuse(lambda x, *_: x + "a", "a str; accepted are the arguments")
    refuse(lambda x, *_: x % 2, "integers by a constant integer that is more than 0")
    refuse(lambda x, b, n, h, i, j, *_: x + i // j, "integers by a constant integer")
    refuse(lambda x, *_: x ** 0.5, "accepted are constant integers from 1 to 8")
    refuse(lambda x, *_: "a", "score gives a str (")
    refuse(lambda x, *_: tensor[x], "")
    refuse(lambda x, *_: x + 1e39, "the number 1e+39; accepted are those of float32")
    refuse(lambda x, *_: x + 2 ** 31 // 1 * (1 > 0) if False else _[0] + 2 ** 31,
           "accepted are those of 32 bits")
    refuse(lambda x, b, n, h: x, "score takes (x, b, n, h), which does not fit: too many "
           "positional arguments; accepted is a function of (score, b, n, h, i, j, sq, sk) "
           "alone, without captures")
    refuse(lambda x, b, n, h, i, j, sq, sk, more: x, "missing a required argument: 'more'")
    refuse(lambda x, b, n, h, i, j, *_: x + tensor[i - j],
           "a tensor at an index that is not known; accepted are captures")
    refuse(lambda x, b, n, h, i, *_: x + i[0], "an index of a number; accepted are those of")
    refuse(lambda x, b, n, h, i, j, sq, sk, c: x + c[i], "captures[0] has 65 entries along",
           [torch.ones(65)])
    refuse(lambda x, b, n, h, i, j, sq, sk, c: x + c[x], "captures[0] at a float; accepted",
           [torch.ones(5)])
    refuse(lambda x, b, n, h, i, j, sq, sk, c: x + c[i] * c,
           "captures[0] is read at an index and without one", [torch.ones(5)])
    refuse(lambda x, b, n, h, i, j, sq, sk, c: x + c[i], "captures[0] has shape (5, 5);",
           [torch.ones(5, 5)], ValueError)
    refuse(lambda x, b, n, h, i, j, sq, sk, c, at: x + c[at], "captures[1] has type torch.int64",
           [torch.ones(5), torch.ones(5, 5, dtype=torch.int64)])
    refuse(lambda x, *_: np.sin(x), "numpy.sin; accepted are absolute, add, divide")
    refuse(lambda x, *_: x + np.zeros(3), "a ndarray; accepted are the arguments")
    refuse(lambda x, *_: round(x), "a number that is not known")
    refuse(3, "score is a int; accepted is a function")
    def long(x, *_):
        for k in range(65):
            x = x + x
        return x
    refuse(long, "more than 64 operations")
    refuse(None, "captures is given without score", [tensor], ValueError)
    refuse(lambda x, *_: x, "captures is a Tensor; accepted is a list", tensor)
    refuse(lambda x, *c: x + c[-1], "captures[0] has shape (3,); accepted are",
           [torch.ones(3)], ValueError)
    refuse(lambda x, *c: x + c[-1], "captures[0] has type i1", [torch.ones(1) > 0])
    for wrong in (0.5, np.ones(1, np.float32), [1.0]):
        refuse(lambda x, *c: x + c[-1],
               f"captures[1] is a {type(wrong).__name__}; accepted is a torch.Tensor",
               [torch.ones(1), wrong])
    refuse(lambda x, *c: x + c[-1], "captures[0] is on meta, query on cpu",
           [torch.ones(1, device="meta")], ValueError)
    with pytest.raises(TypeError, match="outside of a score"):
        s.exp(1.0)


def test_not_yet():
    q = torch.randn(1, 5, 2, 16)
    with pytest.raises(NotImplementedError, match="inside of torch.fx.symbolic_trace"):
        torch.fx.symbolic_trace(lambda q: evoformer.attention(
            q, q, q, layout="bshd", score=lambda x, *_: x + 1.0))
    for cap in (-1.0, 1e-40, 1e39, math.inf):
        with pytest.raises(ValueError, match="softcap is .*; accepted are 0"):
            flash_attn.flash_attn_func(q, q, q, softcap=cap)
    with pytest.raises(ValueError, match=r"alibi_slopes has shape \(3,\)"):
        flash_attn.flash_attn_func(q, q, q, alibi_slopes=torch.ones(3))
    with pytest.raises(TypeError, match="alibi_slopes is a list"):
        flash_attn.flash_attn_func(q, q, q, alibi_slopes=[1.0, 2.0])
