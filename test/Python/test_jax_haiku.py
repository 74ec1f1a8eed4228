# REQUIRES: python-library, models
# RUN: %models-pytest %s
"""A Haiku module of triangle attention in AlphaFold 3's order of operations (its
supplement, algorithms 13 and 14), by jax.nn: it runs unchanged under one line."""

import evoformer
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import draw, weighted


class TriangleAttention(hk.Module):
    def __init__(self, heads, starting, name="triangle_attention"):
        super().__init__(name)
        self.heads, self.starting = heads, starting

    def __call__(self, pair, mask):
        if not self.starting:
            pair, mask = pair.swapaxes(0, 1), mask.swapaxes(0, 1)
        n, _, channels = pair.shape
        depth = channels // self.heads
        act = hk.LayerNorm(-1, True, True, name="act_norm")(pair)
        def project(name):
            return hk.Linear(channels, False, name=name)(act).reshape(
                n, n, self.heads, depth)
        q, k, v = (project(name) for name in ("q_projection", "k_projection",
                                              "v_projection"))
        bias = hk.Linear(self.heads, False, name="pair_bias_projection")(act)
        out = jax.nn.dot_product_attention(q, k, v, bias.transpose(2, 0, 1)[None],
                                           mask[:, None, None, :])
        gate = hk.Linear(channels, False, name="gating_query")(act)
        out = out.reshape(n, n, channels) * jax.nn.sigmoid(gate)
        out = hk.Linear(channels, False, name="output_projection")(out)
        return out if self.starting else out.swapaxes(0, 1)


@pytest.mark.parametrize("starting", [True, False])
@pytest.mark.parametrize("remat", [False, True])
def test_module(starting, remat):
    """Also where a stack of them is rolled and recomputed, as models do."""
    def forward(pair, mask):
        def block(act):
            return act + TriangleAttention(2, starting)(act, mask)
        if not remat:
            return block(pair)
        return hk.experimental.layer_stack(2)(hk.remat(block))(pair)
    module = hk.without_apply_rng(hk.transform(forward))
    pair, mask = draw((11, 11, 16), (11, 11, bool))
    weights = module.init(jax.random.key(0), pair, mask)

    def run():
        def loss(weights, pair):
            out = module.apply(weights, pair, mask)
            return weighted(lambda: out)(), out
        function = jax.jit(jax.grad(loss, (0, 1), has_aux=True))
        text = function.lower(weights, pair).as_text()
        return (jax.tree.leaves(function(weights, pair)),
                text.count("custom_call @evoformer_attention"))
    with jax.default_matmul_precision("highest"):
        expected, calls = run()
        assert calls == 0
        with evoformer.patch(["jax"]):
            found, calls = run()
    assert calls >= 2
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4,
                                   atol=1e-4 * float(jnp.abs(other).max()))
