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
    mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    spread = [jax.device_put(a, NamedSharding(mesh, P(None, None, "x")))
              for a in arrays]
    assert jnp.array_equal(function(*spread), function(*arrays))


KEY_LENGTHS = jnp.asarray([[9, 3, 0, 12], [5, 9, -1, 1]], jnp.int32)
QUERY_LENGTHS = jnp.asarray([[4], [9]], jnp.int32)


def seen(keys, queries):
    """What rows of these lengths see, causally from their last query and key."""
    keys, queries = (jnp.clip(t, 0, S)[..., None, None, None] for t in (keys, queries))
    i, j = jnp.arange(S)[:, None], jnp.arange(S)
    return (i < queries) & (j < keys) & (j <= i + keys - queries)


def ends_early(keys, queries, **options):
    return lambda *operands: evoformer.attention(
        *operands, key_lengths=keys, query_lengths=queries, causal=True, **options)


def ends_written_out(keys, queries):
    return lambda query, key, value, biases, gate: reference.attention(
        query, key, value, [*biases, seen(keys, queries)], gate)


def test_lengths():
    """Outside of jit, under it, and with gradients: also as arguments of a program."""
    arrays = draw(*SHAPES)
    ours = with_function(ends_early(KEY_LENGTHS, QUERY_LENGTHS))
    theirs = with_function(ends_written_out(KEY_LENGTHS, QUERY_LENGTHS))
    reference.compare(jax.jit(ours), theirs, arrays)
    reference.compare(jax.jit(gradients(ours)), gradients(theirs), arrays)
    late = jax.jit(lambda keys, queries, *t: with_function(ends_early(keys, queries))(*t))
    assert jnp.array_equal(late(KEY_LENGTHS, QUERY_LENGTHS, *arrays), ours(*arrays))
    shorter = KEY_LENGTHS - 2
    assert jnp.array_equal(
        late(shorter, QUERY_LENGTHS, *arrays),
        with_function(ends_early(shorter, QUERY_LENGTHS))(*arrays))


def test_lengths_of_vmap():
    """Mapped ones, and ones that all share; gradients too."""
    arrays = draw(*SHAPES[:3])
    stacked = [jnp.stack([a, a]) for a in arrays]
    both = jnp.stack([KEY_LENGTHS, KEY_LENGTHS - 2])

    def call(keys, *t):
        return evoformer.attention(*t, key_lengths=keys, query_lengths=QUERY_LENGTHS)

    for function in (call, lambda keys, *t: jax.grad(
            lambda *own: (call(keys, *own) ** 2).sum(), 2)(*t)):
        for lengths, found in ((both, jax.vmap(function)(both, *stacked)),
                               ([KEY_LENGTHS] * 2,
                                jax.vmap(function, (None, 0, 0, 0))(KEY_LENGTHS, *stacked))):
            for one, own in zip(found, lengths):
                assert jnp.allclose(one, function(own, *arrays), atol=1e-5)


def test_queries_with_lengths_are_not_spread(partitioner):
    """A part of them would count from another place."""
    arrays = draw(*[(*shape[:2], 8, *shape[3:]) for shape in SHAPES[:3]])
    function = jax.jit(lambda *t: evoformer.attention(*t, query_lengths=QUERY_LENGTHS))
    mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    for spec in (P(None, None, "x"), P("x")):
        spread = [jax.device_put(a, NamedSharding(mesh, spec)) for a in arrays]
        assert jnp.array_equal(function(*spread), function(*arrays))


STARTS_OF_QUERIES, STARTS_OF_KEYS = [1, 6, 6, 14], [0, 4, 9, 15]


def packed(*operands, most=(8, 6)):
    return evoformer.attention(
        *operands, causal=True, max_seqlen=most,
        cu_seqlens=(jnp.asarray(STARTS_OF_QUERIES), jnp.asarray(STARTS_OF_KEYS)))


def packed_written_out(query, key, value, biases, gate):
    """Each sequence alone; what is of none is 0."""
    parts = [jnp.zeros_like(query[:, :, :1])]
    pair, = biases
    for b, (q, q_end, k, k_end) in enumerate(zip(
            STARTS_OF_QUERIES, STARTS_OF_QUERIES[1:], STARTS_OF_KEYS, STARTS_OF_KEYS[1:])):
        i, j = np.arange(q_end - q)[:, None], np.arange(k_end - k)
        mask = jnp.asarray(j <= i + (k_end - k) - (q_end - q))[None, None, None]
        own = pair[b:b + 1, :, :, :q_end - q, :k_end - k]
        parts.append(reference.attention(
            query[:, :, q:q_end], key[:, :, k:k_end], value[:, :, k:k_end],
            [own, mask], gate[:, :, q:q_end]))
    parts.append(jnp.zeros_like(query[:, :, STARTS_OF_QUERIES[-1]:]))
    return jnp.concatenate(parts, axis=2)


def test_ragged():
    """Sequences of other lengths, one of them empty, and rows of none."""
    arrays = draw((1, 2, 17, 2, 8), (1, 2, 15, 2, 8), (1, 2, 15, 2, 8), (3, 1, 2, 8, 6),
                  (1, 2, 17, 2, 8))

    def with_lists(function):
        return lambda q, k, v, pair, gate: function(q, k, v, [pair], gate)

    ours, theirs = with_lists(packed), with_lists(packed_written_out)
    reference.compare(jax.jit(ours), theirs, arrays)
    reference.compare(jax.jit(gradients(ours)), gradients(theirs), arrays)
    assert jnp.array_equal(ours(*arrays), jax.jit(ours)(*arrays))
    _, lse = evoformer.attention(
        *arrays[:3], cu_seqlens=jnp.asarray(STARTS_OF_KEYS), max_seqlen=6, return_lse=True)
    assert jnp.all(jnp.isneginf(lse[..., 15:])) and jnp.all(jnp.isfinite(lse[..., :15]))
    stacked = [jnp.stack([a, a]) for a in arrays]
    for one in jax.vmap(ours)(*stacked):
        assert jnp.allclose(one, ours(*arrays), atol=1e-6)


def test_shared_keys():
    """Keys and values of size 1 of n and of b, which all rows and batches share."""
    query, gate = draw(SHAPES[0], SHAPES[0])
    for shape in ((2, 1, S, 2, 8), (1, 4, S, 1, 8), (1, 1, S, 2, 8)):
        key, value = draw(shape, shape)

        def theirs(q, k, v, gate):
            k, v = (jnp.broadcast_to(t, q.shape) for t in (k, v))
            return reference.attention(q, k, v, [], gate)

        def ours(q, k, v, gate):
            return evoformer.attention(q, k, v, [], gate)
        arrays = [query, key, value, gate]
        reference.compare(jax.jit(gradients(ours, (0, 1, 2, 3))),
                          gradients(theirs, (0, 1, 2, 3)), arrays)
        stacked = [jnp.stack([a, a]) for a in arrays]
        for one in jax.vmap(ours)(*stacked):
            assert jnp.allclose(one, ours(*arrays), atol=1e-6)


def test_nothing():
    """No queries, no keys, no sequences, no calls: gradients are 0, and no element NaN."""
    some, none = draw((1, 2, 7, 2, 8), (1, 2, 0, 2, 8))
    lengths = jnp.asarray([[3, 0]], jnp.int32)
    for query, key, options in (
            (none, some, dict(causal=True)), (none, some, dict(key_lengths=lengths)),
            (some, none, dict(key_lengths=lengths)), (none, none, dict(window=(3, 0))),
            (none, some, dict(cu_seqlens=(jnp.asarray([0, 0, 0]), jnp.asarray([0, 3, 7])),
                              max_seqlen=(4, 4), causal=True)),
            (some, some, dict(cu_seqlens=jnp.asarray([0]))),
            (some, some, dict(cu_seqlens=jnp.asarray([0, 3, 7]), max_seqlen=0))):
        def loss(*t):
            return evoformer.attention(*t, **options).sum()
        for one, operand in zip(jax.jit(jax.grad(loss, (0, 1, 2)))(query, key, key),
                                (query, key, key)):
            assert one.shape == operand.shape and not one.any()
    # What vmap makes of a dimension of size 0.
    for function in (lambda n: evoformer.attention(some, some, some, key_lengths=n),
                     lambda n: jax.grad(lambda q: evoformer.attention(
                         q, some, some, key_lengths=n).sum())(some)):
        found = jax.vmap(function)(jnp.zeros((0, 1, 2), jnp.int32))
        assert found.shape == (0, *some.shape)


def test_what_is_traced():
    """Numbers that a program is made for, and values that it has only when it runs."""
    query, key, value = draw(*SHAPES[:3])
    one = tuple(t[:1] for t in (query, key, value))
    starts = jnp.asarray([0, 3, 7])
    for given, options, text in (
            (4, lambda n: dict(window=(n, 0)), "window is .*accepted is a pair"),
            (True, lambda n: dict(causal=n), "causal is .*accepted are True and False"),
            (4, lambda n: dict(cu_seqlens=starts, max_seqlen=n),
             "max_seqlen_q is a .*Tracer; accepted is a whole number"),
            (starts, lambda n: dict(cu_seqlens=n, check_lengths=True),
             "cu_seqlens_q has no values yet, which check_lengths reads"),
            (jnp.ones((1, 1)), lambda n: dict(query_lengths=n),
             "query_lengths has type f32; accepted is int32"),
            (jnp.zeros((2,), jnp.int16), lambda n: dict(cu_seqlens=n),
             "cu_seqlens_q has type int16; accepted is int32")):
        with pytest.raises(TypeError, match=text):
            jax.jit(lambda n: evoformer.attention(*one, **options(n)))(given)
    for options, text in (
            (lambda n: dict(cu_seqlens=n[None]),
             r"cu_seqlens_q has shape \(1, 3\); accepted are cumulative lengths"),
            (lambda n: dict(cu_seqlens=n[:0]),
             r"cu_seqlens_q has shape \(0,\); accepted are cumulative lengths"),
            (lambda n: dict(cu_seqlens=(n, n[:2])),
             "cu_seqlens_q has 3 numbers, cu_seqlens_k 2; accepted is as many"),
            (lambda n: dict(cu_seqlens=n, key_lengths=n[None]),
             "cu_seqlens and key_lengths or query_lengths given; accepted is one")):
        with pytest.raises(ValueError, match=text):
            jax.jit(lambda n: evoformer.attention(*one, **options(n)))(starts)


def test_bad_lengths():
    arrays = draw(*SHAPES[:3])
    for options, error, text in (
            (dict(key_lengths=np.ones((1, 1), np.int32)), TypeError,
             "key_lengths is a ndarray; accepted is a jax.Array"),
            (dict(key_lengths=jnp.ones((1, 1))), TypeError,
             "key_lengths has type f32; accepted is int32"),
            (dict(key_lengths=jnp.ones((3, 1), jnp.int32)), ValueError,
             r"key_lengths has shape \(3, 1\); accepted are"),
            (dict(cu_seqlens=jnp.zeros((2,), jnp.int32)), ValueError,
             "with cu_seqlens accepted is 1")):
        with pytest.raises(error, match=text):
            evoformer.attention(*arrays, **options)
    with pytest.raises(NotImplementedError, match="cu_seqlens_q is mapped by vmap; "
                       "accepted are cumulative lengths that all calls share"):
        jax.vmap(lambda starts: evoformer.attention(
            *(t[:1] for t in arrays), cu_seqlens=starts))(jnp.zeros((2, 2), jnp.int32))
