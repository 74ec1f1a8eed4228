# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""The functions of evoformer.jax against what they stand for, written out, and how
they are put in its place."""

import importlib.util
import types

import evoformer
import evoformer.jax
import jax
import jax.numpy as jnp
import jax_reference as reference
import numpy as np
import pytest
from jax_cases import draw, weighted


def with_gradients(function, count):
    """Of the first arrays."""
    def run(*arrays):
        return (function(*arrays),
                *jax.grad(weighted(function), tuple(range(count)))(*arrays))
    return run


# jax.nn.dot_product_attention -------------------------------------------------


def written_out(query, key, value, bias, mask, *, scale=None, is_causal=False,
                query_seq_lengths=None, key_value_seq_lengths=None,
                local_window_size=None):
    """By its documentation, in the type of the operands."""
    b, t, n, h = query.shape
    s, k = key.shape[1:3]
    key, value = (jnp.repeat(a, n // k, 2) for a in (key, value))
    logits = jnp.einsum("btnh,bsnh->bnts", query, key)
    logits = logits * (h ** -0.5 if scale is None else scale) + bias
    i, j = np.arange(t)[:, None], np.arange(s)
    keep = mask
    if is_causal:
        keep = keep & (j <= i)
    if local_window_size is not None:
        left, right = local_window_size
        keep = keep & (j >= i - left) & (j <= i + right)
    if key_value_seq_lengths is not None:
        keep = keep & (j < np.asarray(key_value_seq_lengths)[:, None, None, None])
    weights = jax.nn.softmax(jnp.where(keep, logits, -1e30), -1)
    out = jnp.einsum("bnts,bsnh->btnh", weights, value)
    if query_seq_lengths is not None:
        out = jnp.where((np.arange(t) < np.asarray(query_seq_lengths)[:, None]
                         )[:, :, None, None], out, 0)
    return out


CASES = {
    "plain": {}, "scale": {"scale": 0.7}, "causal": {"is_causal": True},
    "window": {"is_causal": True, "local_window_size": (3, 1)},
    "lengths": {"query_seq_lengths": jnp.array([4, 7], jnp.int32),
                "key_value_seq_lengths": jnp.array([9, 5], jnp.int32)}}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("heads", [4, 2], ids=["heads", "groups"])
def test_dot_product_attention(case, heads):
    """Also rows whose keys are all dropped, and the function itself in f32."""
    arrays = draw((2, 7, 4, 8), (2, 9, heads, 8), (2, 9, heads, 8), (1, 4, 7, 9),
                  (2, 1, 7, 9, bool))
    arrays[4] = arrays[4].at[0, 0, 2].set(False)
    options = CASES[case]
    def bound(function):
        return lambda *a: function(*a, **options)
    ours = bound(evoformer.jax.dot_product_attention)
    reference.compare(jax.jit(with_gradients(ours, 4)),
                      with_gradients(bound(written_out), 4), arrays)
    with jax.default_matmul_precision("highest"):
        theirs = bound(jax.nn.dot_product_attention)(*arrays)
    np.testing.assert_allclose(ours(*arrays), theirs, rtol=1e-5, atol=2e-6)


def test_dot_product_attention_forms():
    """Without b, without masks, in bf16, of NumPy arrays, with a window alone."""
    q, k = draw((7, 4, 8), (9, 4, 8))
    function = evoformer.jax.dot_product_attention
    whole = function(q[None], k[None], k[None])
    assert (function(q, k, k)[None] == whole).all()
    assert (function(*map(np.asarray, (q, k, k)), implementation="xla")
            == whole[0]).all()
    half = [a.astype(jnp.bfloat16) for a in (q, k, k)]
    out = function(*half, bias=jnp.zeros((1, 1, 1, 9), jnp.float16))
    assert out.dtype == jnp.bfloat16 and out.shape == (7, 4, 8)
    no_bias, no_mask = jnp.zeros((1, 1, 1, 9)), jnp.ones((1, 1, 1, 9), bool)
    reference.compare(
        lambda q, k: function(q, k, k, local_window_size=2),
        lambda q, k: written_out(q, k, k, no_bias.astype(q.dtype), no_mask,
                                 local_window_size=(2, 2)),
        [q[None], k[None]])


def test_dot_product_attention_refuses():
    q, = draw((2, 7, 4, 8))
    function = evoformer.jax.dot_product_attention
    for error, text, options in (
            (ValueError, "query has rank 5", {"query": q[None]}),
            (ValueError, "implementation is 'fast'", {"implementation": "fast"}),
            (TypeError, "mask has type float32; accepted is bool",
             {"mask": jnp.ones((1, 1, 7, 7))}),
            (ValueError, r"key_value_seq_lengths has shape \(3,\)",
             {"key_value_seq_lengths": jnp.ones(3, jnp.int32)}),
            (ValueError, "query_seq_lengths has shape .* and type float32",
             {"query_seq_lengths": jnp.ones(2)}),
            (ValueError, r"biases\[0\] has shape", {"bias": jnp.ones((1, 4, 7, 3))})):
        with pytest.raises(error, match=text):
            function(**{"query": q, "key": q, "value": q, **options})


# cuequivariance_jax.triangle_attention ----------------------------------------


def triangle(q, k, v, bias, mask, scale):
    logits = scale * jnp.einsum("bnhid,bnhjd->bnhij", q, k) + bias
    logits = jnp.where(mask, logits, -1e9)
    out = jnp.einsum("bnhij,bnhjd->bnhid", jax.nn.softmax(logits, -1), v)
    largest = logits.max(-1, keepdims=True)
    rest = jax.nn.logsumexp(logits - largest, -1, keepdims=True)
    return out, rest, largest


@pytest.mark.parametrize("kind", [jnp.float32, jnp.bfloat16], ids=str)
def test_triangle_attention(kind):
    """With a row that is dropped."""
    q, k, v, bias = draw((2, 3, 2, 5, 8), (2, 3, 2, 7, 8), (2, 3, 2, 7, 8),
                         (2, 1, 2, 5, 7), kind=kind)
    mask = draw((2, 3, 1, 1, 7, bool))[0].at[1, 1].set(False)
    function = evoformer.jax.triangle_attention
    def first(function):
        return lambda q, k, v, bias: function(q, k, v, bias, mask, 0.4)[0]
    reference.compare(jax.jit(with_gradients(first(function), 4)),
                      with_gradients(first(triangle), 4), [q, k, v, bias])
    found = function(q, k, v, bias, mask, 0.4)
    exact = triangle(*(a.astype(jnp.float32) for a in (q, k, v, bias)), mask, 0.4)
    for one, true in zip(found[1:], exact[1:], strict=True):
        assert one.shape == (2, 3, 2, 5, 1) and one.dtype == jnp.float32
        np.testing.assert_allclose(one, true, rtol=1e-2 if kind != jnp.float32
                                   else 1e-5, atol=1e-5)
    whole = jnp.ones((2, 3, 1, 1, 7), bool)
    assert (function(q, k, v, bias, None, 0.4)[0]
            == function(q, k, v, bias, whole, 0.4)[0]).all()


def test_triangle_attention_costs_no_logits():
    """Where the maximum is not used."""
    q, bias = draw((1, 64, 2, 64, 8), (1, 1, 2, 64, 64))
    text = jax.jit(lambda q, bias: evoformer.jax.triangle_attention(
        q, q, q, bias, None, 1.0)[0]).lower(q, bias).compile().as_text()
    assert "f32[1,64,2,64,64]" not in text and "evoformer_attention" in text


def test_triangle_attention_refuses():
    q, bias = draw((1, 3, 2, 5, 8), (1, 1, 2, 5, 5))
    function = evoformer.jax.triangle_attention
    with pytest.raises(TypeError, match="k is a ndarray"):
        function(q, np.ones(q.shape), q, bias, None, 1.0)
    with pytest.raises(ValueError, match="bias has rank 4"):
        function(q, q, q, bias[0], None, 1.0)


# A model ----------------------------------------------------------------------


class TriangleAttention:
    """Triangle attention in AlphaFold 3's order of operations (its supplement,
    algorithms 13 and 14), by jax.nn."""

    def __init__(self, channels, heads, depth, starting):
        self.heads, self.depth, self.starting = heads, depth, starting
        self.channels = channels

    def init(self, key):
        keys = iter(jax.random.split(key, 5))
        def matrix(*shape):
            return jax.random.normal(next(keys), shape) * shape[0] ** -0.5
        c, h, d = self.channels, self.heads, self.depth
        return {"scale": jnp.ones(c), "offset": jnp.zeros(c),
                "qkv": matrix(c, 3 * h * d), "pair": matrix(c, h),
                "gate": matrix(c, h * d), "out": matrix(h * d, c)}

    def __call__(self, weights, pair, mask):
        if not self.starting:
            pair, mask = pair.swapaxes(0, 1), mask.swapaxes(0, 1)
        n = pair.shape[0]
        act = jax.nn.standardize(pair) * weights["scale"] + weights["offset"]
        q, k, v = jnp.split((act @ weights["qkv"]).reshape(
            n, n, 3 * self.heads, self.depth), 3, 2)
        bias = (act @ weights["pair"]).transpose(2, 0, 1)[None]
        out = jax.nn.dot_product_attention(q, k, v, bias, mask[:, None, None, :])
        out = out.reshape(n, n, -1) * jax.nn.sigmoid(act @ weights["gate"])
        out = out @ weights["out"]
        return out if self.starting else out.swapaxes(0, 1)


@pytest.mark.parametrize("starting", [True, False])
def test_model(starting):
    """It runs unchanged under one line, with the gradients of its parameters; and
    takes what it took before when that is undone."""
    module = TriangleAttention(16, 2, 8, starting)
    weights = module.init(jax.random.key(0))
    pair, mask = draw((11, 11, 16), (11, 11, bool))
    mask = mask.at[3].set(False)
    original = jax.nn.dot_product_attention
    def run():
        def loss(weights, pair):
            out = module(weights, pair, mask)
            return weighted(lambda: out)(), out
        function = jax.jit(jax.grad(loss, (0, 1), has_aux=True))
        lowered = function.lower(weights, pair).as_text()
        return jax.tree.leaves(function(weights, pair)), lowered.count(
            "custom_call @evoformer_attention")
    with jax.default_matmul_precision("highest"):
        expected, calls = run()
        assert calls == 0
        with evoformer.patch(["jax"]) as patched:
            assert "jax.nn.dot_product_attention" in patched.replaced
            found, calls = run()
            assert calls == 2
    assert jax.nn.dot_product_attention is original
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4,
                                   atol=1e-4 * float(jnp.abs(other).max()))


def test_patch_stand_in():
    if importlib.util.find_spec("cuequivariance_jax"):
        pytest.skip("the package is installed")
    with evoformer.patch(["cuequivariance_jax"], stand_in=True):
        import cuequivariance_jax
        assert isinstance(cuequivariance_jax, types.ModuleType)
        assert (cuequivariance_jax.triangle_attention
                is evoformer.jax.triangle_attention)
    assert not importlib.util.find_spec("cuequivariance_jax")
