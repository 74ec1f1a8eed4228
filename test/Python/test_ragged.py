# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Sequences that lie one behind the other, against attention of each of them alone in
f64, and FlashAttention's varlen functions."""

import evoformer
import numpy as np
import pytest
import torch
import torch_reference as reference
from evoformer import flash_attn
from torch_cases import device, one_thread  # noqa: F401
from torch_reference import compare, normal

# Cumulative lengths of queries and keys: empty sequences, sequences of one position,
# positions of no sequence.
PLACES = [((0, 5, 5, 38), (0, 20, 30, 47)), ((2, 3, 40), (0, 0, 47)), ((0, 40), (0, 47)),
          ((0, 1, 2, 3, 4), (1, 12, 12, 13, 40))]
# How many there are, and the most that one has.
TOTALS, MOST = (40, 47), (40, 47)


def seen_keys(sq, sk, causal, left):
    ahead = torch.arange(sk)[None] - torch.arange(sq)[:, None] - (sk - sq)
    return ((ahead <= 0) if causal else torch.ones_like(ahead, dtype=bool)) & (
        ahead >= -left if left >= 0 else torch.ones_like(ahead, dtype=bool))


def one_by_one(places, causal=False, left=-1):
    def function(q, k, v, *biases):
        out = torch.zeros(q.shape[0], q.shape[1], v.shape[2], dtype=q.dtype,
                          device=q.device)
        parts, at = [], 0
        for b, ((i, ii), (j, jj)) in enumerate(zip(*(zip(p, p[1:]) for p in places))):
            own = [t[j:jj].repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v)]
            seen = seen_keys(ii - i, jj - j, causal, left).to(q.device)
            some = [bias[b:b + 1 if bias.shape[0] > 1 else None, None, :, :ii - i, :jj - j]
                    if bias.shape[0] > 1 else bias[:, None, :, :ii - i, :jj - j]
                    for bias in biases]
            parts += [out[at:i], reference.attention(
                q[None, None, i:ii], own[0][None, None], own[1][None, None],
                [seen, *some], None, None)[0, 0] if ii > i else out[i:ii]]
            at = ii
        return torch.cat([*parts, out[at:]])
    return function


def starts(places, device="cpu"):
    return tuple(torch.tensor(p, dtype=torch.int32, device=device) for p in places)


def operands(kind, device, heads=4):
    q = normal(TOTALS[0], 4, 24, kind=kind, device=device)
    return [q, *(normal(TOTALS[1], heads, 24, seed=s, kind=kind, device=device)
                 for s in (1, 2))]


@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16], ids=str)
def test_agrees_with_reference(device, places, kind):
    """With a pair bias for each sequence and one for all."""
    count = len(places[0]) - 1
    biases = [normal(count, 4, *MOST, seed=3, kind=kind, device=device),
              normal(1, 1, *MOST, seed=4, device=device)]
    compare(lambda q, k, v, *b: evoformer.attention(
                q, k, v, b, causal=True, cu_seqlens=starts(places, device),
                max_seqlen=MOST),
            one_by_one(places, True), [*operands(kind, device), *biases])


@pytest.mark.parametrize("causal, left, heads", [(False, -1, 4), (True, 7, 2)])
@pytest.mark.parametrize("places", PLACES, ids=str)
def test_varlen(device, places, causal, left, heads):
    kind = torch.float16 if causal else torch.bfloat16
    options = dict(causal=causal, window_size=(left, -1))
    two = starts(places, device)
    compare(lambda q, k, v: flash_attn.flash_attn_varlen_func(
                q, k, v, *two, *MOST, **options),
            one_by_one(places, causal, left), operands(kind, device, heads))


def test_varlen_packed(device):
    places = (PLACES[0][0],) * 2
    one = starts(places, device)[0]
    qkv = normal(40, 3, 4, 16, kind=torch.bfloat16, device=device)
    compare(lambda t: flash_attn.flash_attn_varlen_qkvpacked_func(t, one, 38, causal=True),
            lambda t: one_by_one(places, True)(*t.unbind(1)), [qkv])
    kv = normal(40, 2, 2, 16, seed=1, kind=torch.bfloat16, device=device)
    q = normal(40, 4, 16, seed=2, kind=torch.bfloat16, device=device)
    compare(lambda q, t: flash_attn.flash_attn_varlen_kvpacked_func(q, t, one, one, 38, 38),
            lambda q, t: one_by_one(places)(q, *t.unbind(1)), [q, kv])


def test_between(device):
    """What is of no sequence gives 0, whatever it holds, and lse -inf."""
    places = ((3, 9, 20), (2, 30, 31))
    q, k, v = operands(torch.float32, device)
    with torch.no_grad():
        for tensor, (first, last) in ((q, (3, 20)), (k, (2, 31)), (v, (2, 31))):
            tensor[:first] = tensor[last:] = torch.nan
    out, lse, _ = flash_attn.flash_attn_varlen_func(
        q, k, v, *starts(places, device), *MOST, return_attn_probs=True)
    assert lse.shape == (4, 40)
    out.sum().backward()
    for tensor, (first, last) in ((out, (3, 20)), (q.grad, (3, 20)), (k.grad, (2, 31)),
                                  (v.grad, (2, 31))):
        assert tensor.isfinite().all()
        assert (tensor[:first] == 0).all() and (tensor[last:] == 0).all()
    assert (lse[:, :3] == -torch.inf).all() and lse[:, 3:20].isfinite().all()


def test_any_numbers(device):
    """Those that say nothing are held within what there is."""
    q, k, v = operands(torch.float32, device)
    for places in (((-7, 5, 1000), (0, 47, 2)), ((30, 10, 3), (90, 90, 90))):
        out = evoformer.attention(q, k, v, cu_seqlens=starts(places, device))
        assert out.isfinite().all()
    assert (out == 0).all()


def test_no_queries_at_all(device):
    """Biases of nothing have a gradient of 0."""
    q = torch.empty(0, 4, 16, device=device, requires_grad=True)
    k, v = (normal(9, 4, 16, seed=s, device=device) for s in (1, 2))
    bias = normal(2, 4, 5, 7, seed=3, device=device)
    out = evoformer.attention(q, k, v, [bias], max_seqlen=(5, 7),
                              cu_seqlens=starts(((0, 0, 0), (0, 3, 9)), device))
    # What memory that is taken next may hold.
    freed = [torch.full_like(bias, torch.nan) for _ in range(4)]
    del freed
    gradients = torch.autograd.grad(out.sum(), (q, k, v, bias))
    assert all((gradient == 0).all() for gradient in gradients)


def test_any_most(device):
    """Items are counted by the rows there are, where max_seqlen says more."""
    two = starts(PLACES[0], device)
    bias = normal(1, 4, 1, 1, seed=3, device=device)
    for causal in (False, True):
        def function(most, q, k, v, *biases):
            return evoformer.attention(q, k, v, biases, causal=causal, cu_seqlens=two,
                                       max_seqlen=most)
        given = [*operands(torch.float32, device), bias]
        weight = normal(*given[0].shape, seed=5, device=device).detach()
        found, expected = (
            torch.autograd.grad(function(most, *given), given, weight)
            for most in (2 ** 31 - 1, MOST))
        assert all(map(torch.equal, found, expected))
        assert torch.equal(function(2 ** 31 - 1, *given), function(MOST, *given))


def test_cost_of_any_most():
    q = torch.zeros(9, 2, 16)
    for keys in ({}, dict(causal=True)):
        found, expected = (
            evoformer.explain(q, q, q, cu_seqlens=torch.tensor([0, 4, 9]).int(),
                              max_seqlen=most, **keys)
            for most in (2 ** 31 - 1, 9))
        assert found.operations == expected.operations
        assert str(found) == str(expected)


def test_numpy():
    q, k, v = (t.detach().numpy() for t in operands(torch.float32, "cpu"))
    places = PLACES[0]
    cu = tuple(np.array(p, np.int32) for p in places)
    out, gradients = evoformer.attention_vjp(q, k, v, cu_seqlens=cu, max_seqlen=MOST)
    expected = one_by_one(places)(*map(torch.tensor, (q, k, v)))
    np.testing.assert_allclose(out, expected.numpy(), atol=1e-5)
    found = gradients(np.ones_like(out))
    tensors = [torch.tensor(a, requires_grad=True) for a in (q, k, v)]
    grads = torch.autograd.grad(one_by_one(places)(*tensors).sum(), tensors)
    for one, other in zip(found[:3], grads):
        np.testing.assert_allclose(one, other.numpy(), atol=1e-4)


def test_compile(device):
    tensors = operands(torch.float32, device)
    two = starts(PLACES[0], device)
    def function(q, k, v):
        return flash_attn.flash_attn_varlen_func(q, k, v, *two, *MOST, causal=True)
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    results = [[out, *torch.autograd.grad(out.square().sum(), tensors)]
               for out in (compiled(*tensors), function(*tensors))]
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


def test_bad_operands():
    q, k, v = operands(torch.float32, "cpu")
    cu = starts(PLACES[0])
    for options, error, text in (
            (dict(cu_seqlens=cu[0].long()), TypeError,
             "cu_seqlens_q has type torch.int64; accepted is int32"),
            (dict(cu_seqlens=cu[0][None]), ValueError,
             r"cu_seqlens_q has shape \(1, 4\); accepted are cumulative"),
            (dict(cu_seqlens=(cu[0], cu[1][:2])), ValueError,
             "cu_seqlens_q has 4 numbers, cu_seqlens_k 2; accepted is as many"),
            (dict(cu_seqlens=[0, 10, 20]), TypeError,
             "cu_seqlens is a list of numbers; accepted is an array in int32"),
            (dict(cu_seqlens=(0, 10)), TypeError, "cu_seqlens is a tuple of numbers"),
            (dict(cu_seqlens=(cu[0],)), ValueError, "cu_seqlens has 1 entries; accepted"),
            (dict(cu_seqlens=(cu[0], None)), ValueError, "cu_seqlens has a None"),
            (dict(cu_seqlens=cu, max_seqlen=(3, 2.5)), TypeError,
             "max_seqlen_k is a float; accepted is a whole number"),
            (dict(cu_seqlens=cu, max_seqlen=-1), ValueError, "max_seqlen_q is -1"),
            (dict(max_seqlen=5), ValueError, "max_seqlen given without cu_seqlens"),
            (dict(cu_seqlens=cu, key_lengths=cu[0]), ValueError,
             "cu_seqlens and key_lengths or query_lengths given"),
            (dict(cu_seqlens=cu, biases=[torch.zeros(2, 4, *MOST)], max_seqlen=MOST),
             ValueError, r"biases\[0\] has shape \(2, 4, 40, 47\); accepted are")):
        with pytest.raises(error, match=text):
            evoformer.attention(q, k, v, **options)
    with pytest.raises(ValueError, match="query has size 2 of dimension 'b'; with cu_seq"):
        evoformer.attention(*(torch.stack([t, t]) for t in (q, k, v)), layout="bshd",
                            cu_seqlens=cu)


def test_check_lengths(device):
    """What kernels hold within what there is, read on the host."""
    q, k, v = operands(torch.float32, device)

    def check(places, *most):
        return evoformer.attention(q, k, v, cu_seqlens=starts(places, device),
                                   max_seqlen=most or None, check_lengths=True)

    right = PLACES[0]
    assert torch.equal(check(right), evoformer.attention(
        q, k, v, cu_seqlens=starts(right, device)))
    size = q.shape[0]
    for places, most, text in (
            (((0, 9, 5), (0, 3, 9)), (), r"cu_seqlens_q\[2\] is 5, cu_seqlens_q\[1\] is 9; "
             "accepted are numbers that do not decrease"),
            (((-1, 3, 5), (0, 3, 9)), (), r"cu_seqlens_q\[0\] is -1; accepted are 0 to "
             f"{size}, the size of dimension 's' of query"),
            (((0, 3, 5), (0, 3, 999)), (), r"cu_seqlens_k\[2\] is 999; accepted are 0 to "),
            (((0, 3, 9), (0, 3, 4)), (5, 5), r"cu_seqlens_q\[1\] is 3, cu_seqlens_q\[2\] is "
             "9: sequence 1 has 6 positions; accepted are up to max_seqlen, 5")):
        with pytest.raises(ValueError, match=text):
            check(places, *most)
    with pytest.raises(TypeError, match="cu_seqlens_q has no values yet, which "
                       "check_lengths reads"):
        meta = [t.to("meta") for t in (q, k, v)]
        evoformer.attention(*meta, check_lengths=True,
                            cu_seqlens=starts(right, device)[0].to("meta"))
