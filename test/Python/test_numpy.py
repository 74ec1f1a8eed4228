# REQUIRES: python-library
# RUN: %pytest %s
"""Attention of NumPy arrays against the f64 reference, and what it refuses."""

import attention as reference
import evoformer
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


class Case:
    """Operands in the default order of dimensions."""

    def __init__(self, kind="f32", b=1, n=2, sq=19, sk=19, h=2, d=16, dv=None,
                 seed=0):
        self.draw = np.random.default_rng(seed)
        self.kind = TYPES[kind]
        dv = dv or d
        self.query = self.normal(b, n, sq, h, d)
        self.key, self.value = self.normal(b, n, sk, h, d), self.normal(
            b, n, sk, h, dv)
        self.gate = self.normal(b, n, sq, h, dv)
        self.mask = self.draw.random((b, n, 1, 1, sk)) < 0.8
        self.pair = self.normal(b, 1, h, sq, sk)

    def normal(self, *shape):
        return self.draw.standard_normal(shape).astype(self.kind)

    @property
    def qkv(self):
        return self.query, self.key, self.value

    def check(self, out, biases=(), gate=None, scale=None):
        exact, lse = reference.reference(*self.qkv, biases, gate, scale)
        eager = reference.eager(*self.qkv, biases, gate, scale)
        assert out.dtype == self.kind
        assert reference.within_bounds(out, exact, eager)
        return lse


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("gated", [False, True])
def test_agrees_with_reference(kind, gated):
    case = Case(kind, dv=24)
    gate = case.gate if gated else None
    biases = [case.mask, case.pair]
    out, lse = evoformer.attention(*case.qkv, biases, gate, return_lse=True)
    exact_lse = case.check(out, biases, gate)
    np.testing.assert_allclose(lse, exact_lse, rtol=1e-5, atol=1e-5)
    assert lse.dtype == np.float32


def test_scale_and_lengths():
    case = Case(sq=7, sk=33)
    out = evoformer.attention(*case.qkv, scale=0.75)
    case.check(out, scale=np.float32(0.75))


@pytest.mark.parametrize("layout", ["bnhsd", "sbnhd", "hbsdn", "dhsnb"])
def test_layouts(layout):
    """The order of dimensions changes no bit of the result."""
    case = Case()
    order = ["bnshd".index(c) for c in layout]
    expected = evoformer.attention(*case.qkv, [case.mask, case.pair], case.gate)
    q, k, v, g = (np.ascontiguousarray(a.transpose(order))
                  for a in (*case.qkv, case.gate))
    out = evoformer.attention(q, k, v, [case.mask, case.pair], g, layout=layout)
    np.testing.assert_array_equal(out, expected.transpose(order))


def test_ranks():
    """Dimensions that are left out have size 1."""
    case = Case(b=1, n=1)
    expected = evoformer.attention(*case.qkv, [case.mask, case.pair])
    short = evoformer.attention(*(a[0, 0] for a in case.qkv),
                                [case.mask[0, 0], case.pair[0, 0]])
    np.testing.assert_array_equal(short, expected[0, 0])
    one_head = evoformer.attention(*(a[0, 0, :, 0] for a in case.qkv),
                                   [case.pair[0, 0, 0]], layout="sd")
    expected = evoformer.attention(*(a[:, :, :, :1] for a in case.qkv),
                                   [case.pair[:, :, :1]])
    np.testing.assert_array_equal(one_head, expected[0, 0, :, 0])


def test_strides():
    """Views are read where they lie; a depth that is not contiguous, negative
    strides and unaligned bytes by copies."""
    case = Case()
    expected = evoformer.attention(*case.qkv, [case.mask, case.pair])
    wide = np.zeros((*case.query.shape[:3], 5, 40), np.float32)
    view = wide[:, :, :, 1:5:2, 3:19]
    view[...] = case.query
    apart = np.zeros((*case.key.shape, 2), np.float32)[..., 0]
    apart[...] = case.key
    backwards = np.ascontiguousarray(case.value[:, :, ::-1])[:, :, ::-1]
    shifted = np.zeros(case.pair.nbytes + 1, np.uint8)[1:].view(
        np.float32).reshape(case.pair.shape)
    shifted[...] = case.pair
    out = evoformer.attention(view, apart, backwards, [case.mask, shifted])
    np.testing.assert_array_equal(out, expected)


def test_expanded_bias():
    case = Case(b=2)
    pair = np.broadcast_to(case.pair, (2, 2, 2, 19, 19))
    mask = np.broadcast_to(case.mask, (2, 2, 2, 19, 19))
    out = evoformer.attention(*case.qkv, [mask, pair])
    case.check(out, [mask, pair])


@pytest.mark.parametrize("sizes", [dict(b=0), dict(n=0), dict(sq=0),
                                   dict(sk=0), dict(h=0)])
def test_empty(sizes):
    case = Case(**sizes)
    out, lse = evoformer.attention(*case.qkv, [case.mask], return_lse=True)
    assert out.shape == case.query.shape
    assert not out.any() and np.isneginf(lse).all()


def test_masked_rows():
    case = Case()
    mask = np.zeros_like(case.mask)
    out, lse = evoformer.attention(*case.qkv, [mask], return_lse=True)
    assert not out.any() and np.isneginf(lse).all()


def gradients_of(case, biases, gate, weight):
    """Gradients of sum(out * weight) by central differences in f64."""
    def loss(arrays):
        q, k, v = arrays["query"], arrays["key"], arrays["value"]
        given = [arrays.get(f"bias{i}", bias) for i, bias in enumerate(biases)]
        out, _ = reference.reference(q, k, v, given, arrays.get("gate"))
        return (out * weight).sum()

    arrays = {name: getattr(case, name).astype(np.float64)
              for name in ("query", "key", "value")}
    if gate is not None:
        arrays["gate"] = gate.astype(np.float64)
    for i, bias in enumerate(biases):
        if bias.dtype != np.bool_:
            arrays[f"bias{i}"] = bias.astype(np.float64)
    step, result = 1e-5, {}
    for name, array in arrays.items():
        gradient = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            kept = array[index]
            array[index] = kept + step
            above = loss(arrays)
            array[index] = kept - step
            gradient[index] = (above - loss(arrays)) / (2 * step)
            array[index] = kept
        result[name] = gradient
    return result


@pytest.mark.parametrize("kind,bound", [("f32", 2e-5), ("bf16", 3e-2)])
def test_gradients(kind, bound):
    """bf16's bound: a few roundings of 2^-8 each."""
    case = Case(kind, n=2, sq=3, sk=4, h=1, d=3)
    biases = [case.mask, case.pair, case.normal(1, 2, 1, 1, 4)]
    out, vjp = evoformer.attention_vjp(*case.qkv, biases, case.gate)
    weight = case.normal(*out.shape)
    result = vjp(weight)
    exact = gradients_of(case, biases, case.gate, weight.astype(np.float64))
    assert result.biases[0] is None
    found = {"query": result.query, "key": result.key, "value": result.value,
             "bias1": result.biases[1], "bias2": result.biases[2],
             "gate": result.gate}
    assert found.keys() == exact.keys()
    for name, gradient in found.items():
        assert gradient.shape == exact[name].shape and gradient.dtype == case.kind
        error = np.abs(gradient.astype(np.float64) - exact[name]).max()
        assert error <= bound * np.abs(exact[name]).max(), name
    again = vjp(np.asfortranarray(weight))
    for first, second in zip(found.values(), (
            again.query, again.key, again.value, *again.biases[1:], again.gate)):
        np.testing.assert_array_equal(first, second)


@settings(max_examples=25, deadline=None)
@given(sq=st.integers(1, 40), sk=st.integers(1, 40), n=st.integers(1, 3),
       broadcast=st.sampled_from(["", "n", "h", "q", "nh", "nhq", "nhqk"]))
def test_any_length(sq, sk, n, broadcast):
    case = Case(n=n, sq=sq, sk=sk, seed=sq * 41 + sk)
    shape = [1 if c in broadcast else size
             for c, size in zip("bnhqk", (1, n, 2, sq, sk))]
    bias = case.normal(*shape)
    out = evoformer.attention(*case.qkv, [bias])
    case.check(out, [bias])


REFUSED = [
    (dict(query=np.zeros((1, 2, 19, 2, 16))), TypeError, "query has type float64"),
    (dict(query=np.zeros((1, 2, 19, 2, 16), int)), TypeError, "int64"),
    (dict(key=np.zeros((1, 2, 19, 2, 16), np.float16)), TypeError,
     "key has type f16; with a query of f32 accepted is f32"),
    (dict(key=np.zeros((1, 2, 19, 2, 8), np.float32)), ValueError,
     "key has size 8 of dimension 'd' where 16 is expected"),
    (dict(value=np.zeros((1, 2, 18, 2, 16), np.float32)), ValueError,
     "value has size 18 of dimension 's' where 19"),
    (dict(value=np.zeros((1, 2, 19, 2, 257), np.float32)), ValueError,
     "value has a head dimension of 257; accepted are 1 to 256"),
    (dict(query=np.zeros((2, 19), np.float32)), ValueError, "rank 2"),
    (dict(gate=np.zeros((1, 2, 19, 2, 8), np.float32)), ValueError,
     "gate has size 8 of dimension 'd' where 16"),
    (dict(biases=[np.zeros((1, 3, 1, 1, 19), np.float32)]), ValueError,
     r"biases\[0\] has shape \(1, 3, 1, 1, 19\); accepted are 5 dimensions"),
    (dict(biases=[np.zeros(19, np.uint8)]), TypeError,
     r"biases\[0\] has type uint8; with operands of f32 accepted are"),
    (dict(biases=[np.zeros((1,) * 6, np.float32)]), ValueError, "rank 6"),
    (dict(layout="bnsdx"), ValueError, "layout 'bnsdx'"),
    (dict(layout="bnshh"), ValueError, "layout 'bnshh'"),
    (dict(layout=""), ValueError, "layout '': accepted are the letters"),
    (dict(scale=float("inf")), ValueError, "scale is inf"),
    (dict(scale="x"), TypeError, "scale is a str; accepted is a number"),
    (dict(scale=1j), TypeError, "scale is a complex; accepted is a number"),
    (dict(query=None), TypeError, "query is a NoneType; accepted is a torch.Tensor, a jax"),
    (dict(value=[1.0]), TypeError, "value is a list; accepted is a numpy.ndarray, as query"),
    (dict(query=np.zeros((3, 4), np.float32)), ValueError,
     "query has rank 2; accepted is 3 to 5"),
]


@pytest.mark.parametrize("change,kind,text", REFUSED)
def test_refuses(change, kind, text):
    case = Case()
    arguments = dict(query=case.query, key=case.key, value=case.value)
    with pytest.raises(kind, match=text):
        evoformer.attention(**{**arguments, **change})


def test_refuses_wrong_gradient():
    case = Case()
    _, vjp = evoformer.attention_vjp(*case.qkv)
    with pytest.raises(ValueError, match="the output's gradient has shape"):
        vjp(case.query[:, :1])
    with pytest.raises(ValueError, match="type float64"):
        vjp(case.query.astype(np.float64))


@pytest.mark.parametrize("kind", TYPES)
def test_weights(kind):
    """The weights on demand: those of softmax over what is seen, zeros elsewhere; they
    add values up to what attention gives."""
    case = Case(kind, sk=23, seed=3)
    biases = [case.mask, case.pair]
    weights = evoformer.attention_weights(case.query, case.key, biases, causal=True)
    assert weights.shape == (1, 2, 2, 19, 23) and weights.dtype == case.kind
    query, key = case.query.astype(np.float64), case.key.astype(np.float64)
    logits = np.einsum("bnihd,bnjhd->bnhij", query, key) / 4 + case.pair.astype(np.float64)
    seen = np.tril(np.ones((19, 23), bool), 23 - 19) & case.mask
    logits = np.where(seen, logits, -np.inf)
    wanted = np.exp(logits - logits.max(-1, keepdims=True))
    wanted /= wanted.sum(-1, keepdims=True)
    eps = ml_dtypes.finfo(case.kind).eps
    assert np.abs(weights.astype(np.float64) - wanted).max() < 4 * eps
    assert not weights[~np.broadcast_to(seen, weights.shape)].any()
    out = evoformer.attention(*case.qkv, biases, causal=True)
    found = np.einsum("bnhij,bnjhd->bnihd", weights.astype(np.float64),
                      case.value.astype(np.float64))
    assert np.abs(found - out.astype(np.float64)).max() < 20 * eps


def test_weights_of_lengths_and_dropout():
    """Rows end where lengths say, sequences lie behind each other, and what dropout drops
    is negative."""
    case = Case(b=2, n=1, sk=30)
    lengths = np.array([[30], [11]], np.int32)
    weights = evoformer.attention_weights(case.query, case.key, key_lengths=lengths)
    for b, length in enumerate(lengths[:, 0]):
        own = evoformer.attention_weights(case.query[b:b + 1], case.key[b:b + 1, :, :length])
        np.testing.assert_allclose(weights[b, ..., :length], own[0], rtol=1e-5, atol=1e-6)
        assert not weights[b, ..., length:].any()
    dropped = evoformer.attention_weights(
        case.query, case.key, key_lengths=lengths, dropout_p=0.25,
        dropout_state=np.array([1234567890123456789, 42], np.int64))
    np.testing.assert_array_equal(np.abs(dropped), weights)
    assert 0.15 < (dropped < 0).sum() / (weights > 0).sum() < 0.35
    starts = np.array([0, 9, 9, 19], np.int32)
    packed = evoformer.attention_weights(case.query[0, 0], case.query[0, 0], layout="shd",
                                         cu_seqlens=starts, max_seqlen=10)
    assert packed.shape == (3, 2, 10, 10)
    own = evoformer.attention_weights(case.query[0, 0, :9], case.query[0, 0, :9],
                                      layout="shd")
    np.testing.assert_allclose(packed[0, :, :9, :9], own, rtol=1e-5, atol=1e-6)
    assert not packed[1].any() and not packed[0, :, 9:].any()
