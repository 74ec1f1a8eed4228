"""Attention op by op in JAX, in any type, and the bound that results keep."""

import jax
import jax.numpy as jnp
import numpy as np


def _logits(query, key, biases, scale):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    logits = jnp.einsum("bnihd,bnjhd->bnhij", query * scale, key)
    for bias in biases:
        if bias.dtype == jnp.bool_:
            logits = jnp.where(bias, logits, -jnp.inf)
        else:
            logits = logits + bias.astype(logits.dtype)
    alive = (logits > -jnp.inf).any(-1, keepdims=True)
    return jnp.where(alive, logits, 0), alive


def attention(query, key, value, biases=(), gate=None, scale=None):
    """In the default order of dimensions; a query without keys has out 0."""
    logits, alive = _logits(query, key, biases, scale)
    weights = jnp.where(alive, jax.nn.softmax(logits, -1), 0)
    out = jnp.einsum("bnhij,bnjhd->bnihd", weights, value)
    return out if gate is None else out * jax.nn.sigmoid(gate)


def lse(query, key, biases=(), scale=None):
    """Of a query without keys -inf. In f32 at least, as the library's."""
    logits, alive = _logits(query, key, biases, scale)
    total = jax.nn.logsumexp(logits.astype(jnp.promote_types(logits.dtype, jnp.float32)),
                             -1)
    return jnp.where(alive[..., 0], total, -jnp.inf)


def exactly(function, arrays):
    """The leaves of the result in f64 of what the arrays hold."""
    with jax.enable_x64(True):
        wide = [np.asarray(a) for a in arrays]
        wide = [jnp.asarray(a if a.dtype == np.bool_ else a.astype(np.float64))
                for a in wide]
        return [np.asarray(leaf) for leaf in jax.tree.leaves(function(*wide))]


def check(found, exact, eager):
    """As near as twice what JAX's own roundings cost, and a few units in the last
    place of the largest element, or of 1: the tests' operands are normal numbers,
    and gradients are differences of terms of that size."""
    assert found.shape == exact.shape and found.dtype == eager.dtype
    values, usual = (np.asarray(a).astype(np.float64) for a in (found, eager))
    assert np.isfinite(values).all()
    def error(array):
        return np.abs(array - exact).max() if exact.size else 0
    size = max(np.abs(exact).max(), 1) if exact.size else 0
    allowed = 2 * error(usual) + 4 * float(jnp.finfo(found.dtype).eps) * size
    assert error(values) <= allowed, (error(values), error(usual), size)


def compare(ours, theirs, arrays):
    """Every leaf of what `ours` gives, against `theirs` in f64. Both take the
    arrays."""
    with jax.default_matmul_precision("highest"):
        usual = jax.tree.leaves(theirs(*arrays))
    found = jax.tree.leaves(ours(*arrays))
    for one, exact, eager in zip(found, exactly(theirs, arrays), usual,
                                 strict=True):
        check(one, exact, eager)
