# REQUIRES: python-library, torch
# RUN: env XLA_FLAGS=--xla_force_host_platform_device_count=4 %torch-pytest %s
"""evoformer.attention on four devices, which XLA makes of the processor, against the
function written out on one in f64."""

import re

import evoformer
import jax
import jax.numpy as jnp
import jax_reference as reference
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec as P
from jax_cases import B, D, H, N, SHAPES, compare, draw, gradients, with_function


def mesh():
    return jax.make_mesh((2, 2), ("x", "y"),
                         axis_types=(jax.sharding.AxisType.Auto,) * 2)


def collectives(compiled):
    """What a program exchanges between devices, and how often."""
    found = re.findall(r" (all-gather|all-reduce|all-to-all|collective-permute|"
                       r"reduce-scatter)[-.\w]*\(", compiled.as_text())
    return {name: found.count(name) for name in found}


ROWS, BATCH, BOTH = P(None, "y"), P("x"), P("x", "y")
HEADS = P(None, None, None, "x")
QUERIES = P(None, None, "x")

# How q, k, v, pair, gate and mask are spread at first, how the output is, and what
# is exchanged for the gradients: sums of those of the pair bias alone, or of keys
# and values.
SPREAD = {
    "b": ([BATCH] * 6, BATCH, {}),
    "n": ([ROWS, ROWS, ROWS, P(), ROWS, ROWS], ROWS, {"all-reduce": 1}),
    "b and n": ([BOTH, BOTH, BOTH, BATCH, BOTH, BOTH], BOTH, {"all-reduce": 1}),
    "h": ([HEADS, HEADS, HEADS, QUERIES, HEADS, P()], HEADS, {}),
    "n and h": ([P(None, "y", None, "x")] * 3 + [QUERIES, P(None, "y", None, "x"),
                ROWS], P(None, "y", None, "x"), {"all-reduce": 1}),
    "queries": ([QUERIES, P(), P(), P(None, None, None, "x"), QUERIES, P()],
                QUERIES, {"all-reduce": 1}),
    "one operand": ([ROWS, P(), P(), P(), P(), P()], ROWS, {"all-reduce": 1})}

EIGHT = [(B, N, 8, H, D)] * 3 + [(B, 1, H, 8, 8), (B, N, 8, H, D),
                                 (B, N, 1, 1, 8, bool)]


def both(function):
    return lambda *arrays: (function(*arrays), *gradients(function)(*arrays))


def place(arrays, specs):
    return [jax.device_put(a, NamedSharding(mesh(), s))
            for a, s in zip(arrays, specs, strict=True)]


@pytest.mark.parametrize("shardy", [True, False], ids=["shardy", "gspmd"])
@pytest.mark.parametrize("how", SPREAD)
def test_spread_by_itself(how, shardy):
    """Nothing is gathered: each device computes what it has of the output."""
    specs, of_output, exchanged = SPREAD[how]
    arrays = draw(*EIGHT)
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", shardy)
    try:
        placed = place(arrays, specs)
        compiled = jax.jit(both(with_function(evoformer.attention))).lower(
            *placed).compile()
        found = compiled(*placed)
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)
    assert found[0].sharding.is_equivalent_to(NamedSharding(mesh(), of_output), 5)
    if shardy:
        assert collectives(compiled) == exchanged
    reference.compare(lambda *_: found, both(with_function(reference.attention)),
                      arrays)


@pytest.mark.parametrize("how", ["b and n", "n and h", "queries"])
def test_spread_gradient_of_lse(how):
    arrays = draw(*EIGHT)
    def transform(function):
        return jax.jit(jax.grad(lambda *a: jnp.sin(function(*a)).sum(), (0, 1, 3)))
    def ours(q, k, v, pair, gate, mask):
        return evoformer.attention(q, k, v, [mask, pair], gate, return_lse=True)[1]
    def theirs(q, k, v, pair, gate, mask):
        return reference.lse(q, k, [mask, pair])
    found = transform(ours)(*place(arrays, SPREAD[how][0]))
    reference.compare(lambda *_: found, transform(theirs), arrays)


def test_spread_keys_are_gathered():
    arrays = draw(*EIGHT)
    placed = place(arrays, [QUERIES] * 3 + [P(), QUERIES, P()])
    function = jax.jit(with_function(evoformer.attention))
    assert set(collectives(function.lower(*placed).compile())) == {"all-gather"}
    found = function(*placed)
    reference.compare(lambda *_: found, with_function(reference.attention), arrays)


@pytest.mark.parametrize("spec", [HEADS, P(None, None, None, ("x", "y"))], ids=str)
def test_spread_grouped_heads(spec):
    """Four heads of queries on two of keys: along two devices the groups stay whole,
    along four they cannot."""
    shapes = [(1, 2, 8, 4, D), (1, 2, 8, 2, D), (1, 2, 8, 2, D), (1, 1, 4, 8, 8)]
    arrays = draw(*shapes)
    def loss(q, k, v, pair):
        return (evoformer.attention(q, k, v, [pair]) ** 2).sum()
    function = jax.jit(jax.grad(loss, (0, 1, 2, 3)))
    placed = place(arrays, [spec, HEADS, HEADS, P()])
    for one, other in zip(function(*placed), function(*arrays), strict=True):
        assert (one == other).all()
    exchanged = collectives(function.lower(*placed).compile())
    assert ("all-gather" in exchanged) == (spec != HEADS)


def test_spread_unevenly():
    """Three rows on two devices are computed whole on each."""
    q, pair = draw((1, 3, 8, 2, D), (1, 1, 2, 8, 8))
    def function(q, pair):
        q = jax.lax.with_sharding_constraint(q, NamedSharding(mesh(), ROWS))
        return evoformer.attention(q, q, q, [pair])
    assert (jax.jit(function)(q, pair) == evoformer.attention(q, q, q, [pair])).all()


def test_spread_outside_of_jit():
    q, = draw((B, N, 8, H, D))
    placed, = place([q], [BOTH])
    out = evoformer.attention(placed, placed, placed)
    assert out.sharding.is_equivalent_to(placed.sharding, 5)
    assert (out == evoformer.attention(q, q, q)).all()


def test_explicit_axes():
    """Of such a mesh, JAX knows at each operation how its result is spread: inside of
    shard_map alone."""
    explicit = jax.make_mesh((2, 2), ("x", "y"),
                             axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    q, pair = draw((B, N, 8, H, D), (1, 1, H, 8, 8))
    def function(q, pair):
        return evoformer.attention(q, q, q, [pair])
    def loss(function):
        return lambda q, pair: (function(q, pair) ** 2).sum()
    expected = jax.jit(jax.grad(loss(function), (0, 1)))(q, pair)
    with jax.set_mesh(explicit):
        spread = jax.device_put(q, NamedSharding(explicit, BOTH))
        whole = jax.device_put(pair, NamedSharding(explicit, P()))
        for call in (function, jax.jit(function)):
            with pytest.raises(ValueError, match="query is spread as .* along explicit "
                               "axes of a mesh; accepted are automatic ones"):
                call(spread, whole)
        sharded = jax.shard_map(function, in_specs=(BOTH, P()), out_specs=BOTH)
        found = jax.jit(jax.grad(loss(sharded), (0, 1)))(spread, whole)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_spread_under_vmap_and_scan():
    arrays = draw(*[(2, *shape) for shape in EIGHT])
    placed = place(arrays, [P(None, *s) for s in SPREAD["n"][0]])
    def transform(f):
        def loss(*arrays):
            first = jax.vmap(f)(*arrays)
            return jax.lax.scan(lambda q, rest: (q + f(q, *rest), None), first[0],
                                tuple(a for a in arrays[1:]))[0]
        return jax.jit(gradients(loss))
    found = transform(with_function(evoformer.attention))(*placed)
    reference.compare(lambda *_: found,
                      transform(with_function(reference.attention)), arrays)


SPECS = (P("x", "y"),) * 3 + (P("x"), P("x", "y"), P("x", "y"))


def test_shard_map():
    """b and n of each shard; the gradient of the pair bias, which shards along n
    share, is their sum."""
    arrays = draw(*SHAPES)
    def transform(f):
        return jax.jit(jax.shard_map(f, mesh=mesh(), in_specs=SPECS,
                                     out_specs=P("x", "y")))
    ours, plain = (with_function(f) for f in (evoformer.attention,
                                              reference.attention))
    reference.compare(transform(ours), plain, arrays)
    reference.compare(jax.jit(gradients(transform(ours))), gradients(plain), arrays)


def test_placed_elsewhere():
    """On another device than the default one."""
    arrays = [jax.device_put(a, jax.devices()[3]) for a in draw(*SHAPES)]
    out = with_function(evoformer.attention)(*arrays)
    assert out.devices() == {jax.devices()[3]}
    compare(lambda f: f, arrays)


def test_refuses_other_devices():
    q, = draw((1, 2, 5, 2, 8))
    here, there = (jax.device_put(q, d) for d in jax.devices()[:2])
    with pytest.raises(ValueError, match="key is on TFRT_CPU_1, query is on "
                                         "TFRT_CPU_0; all operands must be"):
        evoformer.attention(here, there, here)
