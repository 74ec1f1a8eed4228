# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""Attention of JAX arrays outside of jit against the function written out, in one
process with torch. Its transformations are in test_jax_transforms.py."""

import evoformer
import jax
import jax.numpy as jnp
import jax_reference as reference
import numpy as np
import pytest
import torch  # noqa: F401  its libraries beside ours and jaxlib's

KINDS = [jnp.float32, jnp.bfloat16]
# GPUs multiply in f32 for what is compared with, too.
jax.config.update("jax_default_matmul_precision", "highest")


def operands(kind):
    draw = np.random.default_rng(0)
    def normal(*shape):
        return jnp.asarray(draw.standard_normal(shape), kind)
    q, k, v, gate = (normal(1, 2, 9, 2, 8) for _ in range(4))
    mask = jnp.asarray(draw.random((1, 2, 1, 1, 9)) < 0.8)
    return q, k, v, mask, normal(1, 1, 2, 9, 9), gate, normal(1, 2, 9, 2, 8)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_agrees_with_written_out(kind):
    def with_gradients(attention):
        def all_of(q, k, v, mask, pair, gate, weight):
            out, vjp = jax.vjp(lambda *a: attention(*a[:3], [mask, a[3]], a[4]),
                               q, k, v, pair, gate)
            return out, *vjp(weight.astype(out.dtype))
        return all_of
    reference.compare(with_gradients(evoformer.attention),
                      with_gradients(reference.attention), operands(kind))


def test_lse_and_layout():
    q, k, v, mask, pair, *_ = operands(jnp.float32)
    out, lse = evoformer.attention(q, k, v, [mask, pair], return_lse=True)
    heads = [jnp.swapaxes(a, 2, 3) for a in (q, k, v)]
    turned = evoformer.attention(*heads, [mask, pair], layout="bnhsd")
    assert (jnp.swapaxes(turned, 2, 3) == out).all()
    logits = jnp.einsum("bnihd,bnjhd->bnhij", q, k) * 8 ** -0.5 + pair
    expected = jax.nn.logsumexp(jnp.where(mask, logits, -jnp.inf), -1)
    np.testing.assert_allclose(lse, expected, rtol=1e-5, atol=1e-5)


def test_explain():
    q, k, v, mask, pair, gate, _ = operands(jnp.float32)
    found = evoformer.explain(q, k, v, [mask, pair], gate)
    assert found.kernels and "bias=nk:i1 bias=hqk:f32" in str(found)
