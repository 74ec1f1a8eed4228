# REQUIRES: python-library, torch
# RUN: env XLA_FLAGS=--xla_force_host_platform_device_count=2 %torch-pytest %s
"""Ranges of keys in JAX's programs, against the function written out in f64; and
that queries, whose places count, are not spread over devices."""

import evoformer
import jax
import jax.numpy as jnp
import jax_reference as reference
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec as P
from jax_cases import SHAPES, S, draw, gradients, with_function


def band(first, end):
    """What query i sees: i + first <= j < i + end."""
    i, j = np.arange(S)[:, None], np.arange(S)
    return jnp.asarray((i + first <= j) & (j < i + end))[None, None, None]


def causal(*operands):
    return evoformer.attention(*operands, causal=True, window=(4, 0))


def written_out(query, key, value, biases, gate):
    return reference.attention(query, key, value, [*biases, band(-4, 1)], gate)


def test_transforms():
    """Outside of jit, under it, and with gradients."""
    arrays = draw(*SHAPES)
    ours, theirs = with_function(causal), with_function(written_out)
    reference.compare(jax.jit(ours), theirs, arrays)
    reference.compare(jax.jit(gradients(ours)), gradients(theirs), arrays)
    assert jnp.array_equal(ours(*arrays), jax.jit(ours)(*arrays))
    stacked = [jnp.stack([a, a]) for a in arrays]
    for one in jax.vmap(ours)(*stacked):
        assert jnp.array_equal(one, ours(*arrays))


@pytest.fixture(params=[True, False], ids=["shardy", "gspmd"])
def partitioner(request):
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", request.param)
    yield
    jax.config.update("jax_use_shardy_partitioner", before)


def test_queries_are_not_spread(partitioner):
    """Whichever way they come: a part of them would count from another place."""
    arrays = draw(*[(*shape[:2], 8, *shape[3:]) for shape in SHAPES[:3]])
    function = jax.jit(lambda *t: evoformer.attention(*t, causal=True, window=(4, 0)))
    mesh = jax.make_mesh((2,), ("x",))
    spread = [jax.device_put(a, NamedSharding(mesh, P(None, None, "x")))
              for a in arrays]
    assert jnp.array_equal(function(*spread), function(*arrays))


@pytest.mark.parametrize("name", ["key_lengths", "query_lengths"])
def test_lengths_are_refused(name):
    arrays = draw(*SHAPES[:3])
    for function in (evoformer.attention, evoformer.explain):
        with pytest.raises(NotImplementedError,
                           match=f"{name}: JAX's calls take no lengths of rows; accepted"):
            function(*arrays, **{name: jnp.ones((1, 1), jnp.int32)})


def test_ragged_batches_are_refused():
    arrays = draw(*SHAPES[:3])
    starts = jnp.zeros((2,), jnp.int32)
    with pytest.raises(NotImplementedError, match="cu_seqlens_q: JAX's calls take no "
                       "ragged batches; accepted are padded rows and a boolean bias"):
        evoformer.attention(*arrays, cu_seqlens=starts, max_seqlen=3)
