# REQUIRES: python-library, torch
# RUN: env XLA_FLAGS=--xla_force_host_platform_device_count=2 %torch-pytest %s
"""Scores of one's own, tables, weights that are no softmax, and dropout in JAX's
programs: against the same written out in f64, and against what NumPy's kernels drop."""

import evoformer
import jax
import jax.numpy as jnp
import jax_reference as reference
import numpy as np
import pytest
from evoformer import score as s
from jax.sharding import NamedSharding, PartitionSpec as P
from jax_cases import B, H, N, S, draw, gradients

SEQUENCE = (B, N, S, H, 8)
SEED, OFFSET = 2 ** 40 + 12345, 2 ** 33 + 7
# The halves of a seed and an offset.
STATE = jnp.asarray([SEED % 2 ** 32, SEED >> 32, OFFSET % 2 ** 32, OFFSET >> 32], jnp.uint32)


def logits(query, key):
    return jnp.einsum("bnihd,bnjhd->bnhij", query * query.shape[-1] ** -0.5, key)


def weighted(weights, value):
    return jnp.einsum("bnhij,bnjhd->bnihd", weights, value)


def soften(x):
    alive = (x > -jnp.inf).any(-1, keepdims=True)
    return jnp.where(alive, jax.nn.softmax(jnp.where(alive, x, 0), -1), 0)


def alibi(x, b, n, h, i, j, sq, sk, slope, pair):
    return 5 * s.tanh(x * 0.2) - slope * abs(i - j) + pair * 0.5


def softcapped(query, key, value, slope, pair, causal=True):
    return evoformer.attention(query, key, value, score=alibi, captures=[slope, pair],
                               causal=causal)


def softcapped_written_out(query, key, value, slope, pair):
    i, j = jnp.arange(S)[:, None], jnp.arange(S)
    x = 5 * jnp.tanh(logits(query, key) * 0.2) - slope * abs(i - j) + pair * 0.5
    return weighted(soften(jnp.where(j <= i, x, -jnp.inf)), value)


SOFTCAPPED = [SEQUENCE, SEQUENCE, SEQUENCE, (H, 1, 1), (B, 1, 1, S, S)]


def test_scores():
    """Outside of jit, under it, with gradients of captures, and mapped."""
    arrays = draw(*SOFTCAPPED)
    reference.compare(jax.jit(softcapped), softcapped_written_out, arrays)
    reference.compare(jax.jit(gradients(softcapped)), gradients(softcapped_written_out),
                      arrays)
    stacked = [jnp.stack([a, a * 0.5]) for a in arrays]
    for number, one in enumerate(jax.vmap(softcapped)(*stacked)):
        own = [a[number] for a in stacked]
        assert jnp.array_equal(one, softcapped(*own))
    mapped = jax.vmap(gradients(softcapped), (0, None, None, None, None))
    for one, own in zip(mapped(stacked[0], *arrays[1:])[3], stacked[0]):
        wanted = gradients(softcapped)(own, *arrays[1:])[3]
        assert one.shape == wanted.shape and jnp.allclose(one, wanted, atol=1e-4)


def test_tables():
    """At places and at int32 numbers of each pair; tables have gradients."""
    at = jnp.asarray(np.random.default_rng(3).integers(-2, 9, (S, S)), jnp.int32)
    inside = jnp.clip(at, 0, 6)
    places = jnp.clip(jnp.arange(S)[:, None] - jnp.arange(S) + 4, 0, 8)

    def ours(query, key, value, near, table):
        return evoformer.attention(
            query, key, value, captures=[near, table, at],
            score=lambda x, b, n, h, i, j, sq, sk, near, t, at: x + near[i - j + 4] + t[at])

    def theirs(query, key, value, near, table):
        x = logits(query, key) + near[..., 0, places] + table[..., 0, inside]
        return weighted(soften(x), value)
    arrays = draw(SEQUENCE, SEQUENCE, SEQUENCE, (H, 1, 9), (B, 1, H, 1, 7))
    reference.compare(jax.jit(ours), theirs, arrays)
    reference.compare(jax.jit(gradients(ours)), gradients(theirs), arrays)
    stacked = [jnp.stack([a, a * 0.5]) for a in arrays]
    for number, one in enumerate(jax.vmap(gradients(ours))(*stacked)[4]):
        wanted = gradients(ours)(*(a[number] for a in stacked))[4]
        assert jnp.allclose(one, wanted, atol=1e-4)


def test_weights():
    """Retention and weights that are logits, with gradients of the mask."""
    arrays = draw(SEQUENCE, SEQUENCE, SEQUENCE, (H, S, S))

    def retention(query, key, value, mask):
        return evoformer.retention(query, key, value, mask, layout="bnshd", least=0.5)

    def retention_written_out(query, key, value, mask):
        x = jnp.einsum("bnihd,bnjhd->bnhij", query, key) * mask
        divisor = jnp.maximum(jnp.abs(x).sum(-1, keepdims=True), 0.5)
        return weighted(x / jax.lax.stop_gradient(divisor), value)

    def linear(query, key, value, mask):
        return evoformer.attention(
            query, key, value, weights="linear", captures=[mask], window=(3, 0),
            score=lambda x, b, n, h, i, j, sq, sk, mask: x * mask)

    def linear_written_out(query, key, value, mask):
        i, j = jnp.arange(S)[:, None], jnp.arange(S)
        seen = (j <= i) & (j >= i - 3)
        return weighted(jnp.where(seen, logits(query, key) * mask, 0), value)
    for ours, theirs in ((retention, retention_written_out), (linear, linear_written_out)):
        reference.compare(jax.jit(ours), theirs, arrays)
        reference.compare(jax.jit(gradients(ours, (0, 1, 2, 3))),
                          gradients(theirs, (0, 1, 2, 3)), arrays)
    with pytest.raises(ValueError, match="return_lse is given with weights"):
        evoformer.attention(*arrays[:3], weights="linear", return_lse=True)


def weights_of(query, key, pair, mask):
    return evoformer.attention_weights(query, key, [mask, pair], causal=True)


def test_attention_weights():
    """What attention adds values up by: under jit, mapped, without gradients."""
    def written_out(query, key, pair, mask):
        i, j = jnp.arange(S)[:, None], jnp.arange(S)
        return soften(jnp.where((j <= i) & mask, logits(query, key) + pair, -jnp.inf))
    for kind in (jnp.float32, jnp.bfloat16):
        arrays = [*draw(SEQUENCE, SEQUENCE, (1, 1, H, S, S), kind=kind),
                  *draw((B, N, 1, 1, S, bool))]
        reference.compare(jax.jit(weights_of), written_out, arrays)
    stacked = [jnp.stack([arrays[0], arrays[0] * 0.5]), *arrays[1:]]
    found = jax.vmap(weights_of, (0, None, None, None))(*stacked)
    for number, one in enumerate(found):
        assert jnp.array_equal(one, weights_of(stacked[0][number], *arrays[1:]))
    assert not jax.grad(lambda *t: weights_of(*t).sum().astype(jnp.float32))(*arrays).any()
    # Lengths, dropout, whose weights are negative, and sequences behind each other.
    query, = draw(SEQUENCE)
    lengths = jnp.full((B, N), S, jnp.int32).at[1, 0].set(4)
    def of_state(state, **options):
        return evoformer.attention_weights(query, query, key_lengths=lengths,
                                           dropout_p=0.25, dropout_state=state, **options)
    kept = jax.jit(of_state)(STATE)
    plain = evoformer.attention_weights(query, query, key_lengths=lengths)
    assert not kept[1, 0, :, :, 4:].any() and jnp.array_equal(jnp.abs(kept), plain)
    assert 0.15 < float((kept < 0).sum() / (plain > 0).sum()) < 0.35
    starts = jnp.asarray([0, 4, 4, 9], jnp.int32)
    packed = jax.jit(lambda q: evoformer.attention_weights(
        q, q, layout="shd", cu_seqlens=starts, max_seqlen=5))(query[0, 0])
    assert packed.shape == (3, H, 5, 5) and not packed[1].any()
    assert jnp.allclose(packed[0, :, :4, :4], evoformer.attention_weights(
        query[0, 0, :4], query[0, 0, :4], layout="shd"), atol=1e-6)
    with pytest.raises(ValueError, match="key has size 9"):
        evoformer.attention_weights(query, jnp.ones((*SEQUENCE[:-1], 9)))


@pytest.mark.parametrize("shardy", [True, False], ids=["shardy", "gspmd"])
def test_attention_weights_of_several_devices(shardy):
    """Rows and heads stay where they are."""
    arrays = [*draw(SEQUENCE, SEQUENCE, (1, 1, H, S, S)), *draw((B, N, 1, 1, S, bool))]
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", shardy)
    try:
        mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        for specs in ([P(None, "x"), P(None, "x"), P(), P(None, "x")],
                      [P(None, None, None, "x")] * 2 + [P(None, None, "x"), P()]):
            spread = [jax.device_put(a, NamedSharding(mesh, spec))
                      for a, spec in zip(arrays, specs)]
            compiled = jax.jit(weights_of).lower(*spread).compile()
            assert "all-gather" not in compiled.as_text()
            assert jnp.array_equal(compiled(*spread), weights_of(*arrays))
        # Sequences of other numbers of queries and keys, with a bias of both.
        query, key = draw((6, H, 8), (S, H, 8))
        starts = [jnp.asarray(ends, jnp.int32) for ends in ([0, 2, 6], [0, 7, S])]
        pair, = draw((1, H, 4, 7))
        def packed(query, key, pair):
            return evoformer.attention_weights(query, key, [pair], layout="shd",
                                               cu_seqlens=starts, max_seqlen=(4, 7))
        own = [jax.device_put(a, NamedSharding(mesh, P(None, "x"))) for a in (query, key, pair)]
        assert jnp.array_equal(jax.jit(packed)(*own), packed(query, key, pair))
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)


def factors(p, state=STATE, shape=(B, N, H)):
    """What weights are multiplied by, read off NumPy's kernels."""
    b, n, h = shape
    none = np.zeros((b, n, S, h, 8), np.float32)
    eye = np.broadcast_to(np.eye(S, dtype=np.float32)[None, None, :, None], (b, n, S, h, S))
    found = evoformer.attention(none, none, np.ascontiguousarray(eye), dropout_p=p,
                                dropout_state=np.asarray(state).view(np.int64))
    return jnp.asarray(np.einsum("bnihj->bnhij", found) * S)


def dropped(query, key, value, state=STATE, p=0.4, **options):
    return evoformer.attention(query, key, value, dropout_p=p, dropout_state=state, **options)


def test_dropout():
    """What is dropped is what others drop; gradients drop the same."""
    kept = factors(0.4)
    assert 0.3 < (kept == 0).mean() < 0.5

    def theirs(query, key, value):
        return weighted(soften(logits(query, key)) * kept, value)
    arrays = draw(SEQUENCE, SEQUENCE, SEQUENCE)
    reference.compare(jax.jit(dropped), theirs, arrays)
    reference.compare(jax.jit(gradients(dropped, (0, 1, 2))), gradients(theirs, (0, 1, 2)),
                      arrays)
    lengths = jnp.asarray([[9, 3, 0, 12], [5, 9, 1, 1]], jnp.int32)
    cleared = jax.jit(lambda *t: dropped(*t, key_lengths=lengths))(*arrays)
    assert jnp.all(cleared[0, 2] == 0) and jnp.array_equal(cleared[0, 0], dropped(*arrays)[0, 0])
    # Of packed sequences, whose state follows their cumulative lengths.
    packed = [a[:1] for a in arrays]
    starts = jnp.asarray([0, 4, 7], jnp.int32)
    def loss(*t):
        return (dropped(*t, cu_seqlens=starts, max_seqlen=4) ** 2).sum()
    for one in jax.jit(jax.grad(loss, (0, 1, 2)))(*packed):
        assert jnp.isfinite(one).all() and not one[:, :, 7:].any() and one[:, :, :7].any()


def test_states():
    """Keys of jax.random, which programs split as always, and int64 where there is any."""
    arrays = draw(SEQUENCE, SEQUENCE, SEQUENCE)
    keys = jax.random.split(jax.random.key(3))
    out = dropped(*arrays, keys[0])
    assert jnp.array_equal(jax.jit(dropped)(*arrays, keys[0]), out)
    assert not jnp.array_equal(dropped(*arrays, keys[1]), out)
    with jax.enable_x64(True):
        wide = jnp.asarray([SEED, OFFSET], jnp.int64)
        assert jnp.array_equal(dropped(*arrays, wide), dropped(*arrays))

    def step(carry, key):
        return carry + dropped(*arrays, key).sum(), None
    total = jax.lax.scan(step, 0.0, keys)[0]
    assert jnp.allclose(total, sum(dropped(*arrays, key).sum() for key in keys), rtol=1e-4)


def test_dropout_of_vmap():
    """Each call as it is alone, with the one state of all or one of its own."""
    arrays = draw(SEQUENCE, SEQUENCE, SEQUENCE)
    stacked = [jnp.stack([a, a * 0.5]) for a in arrays]
    keys = jax.random.split(jax.random.key(3))
    for function in (dropped, lambda *t: jax.grad(lambda q: (dropped(q, *t[1:]) ** 2).sum())(
            t[0])):
        for axis, state in ((None, STATE), (0, keys)):
            found = jax.vmap(function, (0, 0, 0, axis))(*stacked, state)
            for number, one in enumerate(found):
                own = state if axis is None else state[number]
                assert jnp.allclose(one, function(*(a[number] for a in stacked), own),
                                    atol=1e-6)


def count_heads(x, b, n, h, i, j, sq, sk):
    return x + h * 0.5 - n


@pytest.mark.parametrize("shardy", [True, False], ids=["shardy", "gspmd"])
def test_what_counts_is_not_spread(shardy):
    """Rows and heads whose numbers a score or dropout sees stay whole; others do not."""
    arrays = draw(*[SEQUENCE] * 3)
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", shardy)
    try:
        mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        for call in (dropped, lambda *t: evoformer.attention(*t, score=count_heads)):
            function = jax.jit(jax.value_and_grad(lambda *t: (call(*t) ** 2).sum(), (0, 1, 2)))
            wanted = jax.tree.leaves(function(*arrays))
            for spec in (P("x"), P(None, "x"), P(None, None, None, "x")):
                spread = [jax.device_put(a, NamedSharding(mesh, spec)) for a in arrays]
                for one, other in zip(jax.tree.leaves(function(*spread)), wanted):
                    assert jnp.allclose(one, other, rtol=1e-5, atol=1e-5)
        # Each mapped call has the numbers that it has alone.
        stacked = [jnp.stack([a, a]) for a in arrays]
        for one in jax.vmap(lambda *t: evoformer.attention(*t, score=count_heads))(*stacked):
            assert jnp.array_equal(one, evoformer.attention(*arrays, score=count_heads))
        # b is what neither a score nor its captures count.
        text = jax.jit(softcapped).lower(*(jax.device_put(
            a, NamedSharding(mesh, P("x") if a.shape[0] == B and a.ndim == 5 else P()))
            for a in draw(*SOFTCAPPED))).compile().as_text()
        assert "all-gather" not in text
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)


def test_refused():
    arrays = draw(*[SEQUENCE] * 3)
    for state, error, text in (
            (None, ValueError, "dropout_p is 0.4 without dropout_state; accepted are both: a "
             "key of jax.random"),
            (np.zeros(2, np.int64), TypeError, "dropout_state is a ndarray; accepted are a key"),
            (jnp.zeros(2), TypeError, "dropout_state has type float32; accepted are a key"),
            (STATE[:2], ValueError, r"dropout_state has shape \(2,\); accepted are a key"),
            (jax.random.split(jax.random.key(0)), ValueError,
             r"dropout_state has \(2,\) keys; accepted is one")):
        with pytest.raises(error, match=text):
            dropped(*arrays, state)
    with pytest.raises(TypeError, match=r"captures\[0\] has type int16; .* and int32"):
        evoformer.attention(*arrays, captures=[jnp.zeros((S, S), jnp.int16)],
                            score=lambda x, b, n, h, i, j, sq, sk, c: x + c)
