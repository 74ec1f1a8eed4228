"""What the tests of JAX's transformations share: operands, and functions of them."""

import evoformer
import jax
import jax.numpy as jnp
import jax_reference as reference
import numpy as np

B, N, S, H, D = 2, 4, 9, 2, 8
ALL = (0, 1, 2, 3, 4)


def draw(*shapes, kind=jnp.float32, seed=0):
    """Arrays of normal numbers, and of booleans where a shape ends in `bool`."""
    generator = np.random.default_rng(seed)
    return [jnp.asarray(generator.random(shape[:-1]) < 0.8) if shape[-1] is bool
            else jnp.asarray(generator.standard_normal(shape), kind)
            for shape in shapes]


SEQUENCE, PAIR, MASK = (B, N, S, H, D), (B, 1, H, S, S), (B, N, 1, 1, S, bool)
SHAPES = [SEQUENCE, SEQUENCE, SEQUENCE, PAIR, SEQUENCE, MASK]


def with_function(function):
    """(q, k, v, pair, gate, mask) to the output."""
    return lambda q, k, v, pair, gate, mask: function(q, k, v, [mask, pair], gate)


def weighted(function):
    """A number, so that every element of the output has another gradient."""
    def loss(*arrays):
        out = function(*arrays)
        weight = jnp.cos(jnp.arange(out.size, dtype=jnp.float32)).reshape(out.shape)
        return (out * weight.astype(out.dtype)).sum()
    return loss


def gradients(function, numbers=ALL):
    return jax.grad(weighted(function), numbers)


def compare(transform, arrays):
    reference.compare(transform(with_function(evoformer.attention)),
                      transform(with_function(reference.attention)), arrays)
