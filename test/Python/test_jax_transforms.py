# REQUIRES: python-library, torch
# RUN: %torch-pytest %s
"""JAX's transformations of evoformer.attention against the function written out under
the same transformation in f64."""

import functools
import subprocess
import sys

import evoformer
import jax
import jax.numpy as jnp
import jax_reference as reference
import numpy as np
import pytest
from jax import export
from jax_cases import (B, D, H, N, S, SEQUENCE, SHAPES, compare, draw,
                       gradients, weighted, with_function)


@pytest.mark.parametrize("kind", [jnp.float32, jnp.bfloat16, jnp.float16], ids=str)
def test_jit(kind):
    arrays = draw(*SHAPES, kind=kind)
    compare(jax.jit, arrays)
    compare(lambda f: jax.jit(gradients(f)), arrays)


def test_outside_of_jit_is_the_same():
    arrays = draw(*SHAPES)
    function = with_function(evoformer.attention)
    assert (function(*arrays) == jax.jit(function)(*arrays)).all()
    with jax.disable_jit():
        assert (function(*arrays) == jax.jit(function)(*arrays)).all()
    for one, other in zip(gradients(function)(*arrays),
                          jax.jit(gradients(function))(*arrays), strict=True):
        assert (one == other).all()


def test_vjp_and_linearize():
    arrays = draw(*SHAPES)
    compare(lambda f: lambda *a: jax.vjp(lambda q, p: f(q, *a[1:3], p, *a[4:]),
                                         a[0], a[3])[1](a[1]), arrays)
    function = lambda q: with_function(evoformer.attention)(q, *arrays[1:])
    assert (jax.linearize(function, arrays[0])[0] == function(arrays[0])).all()


# What is mapped, of q, k, v, pair, gate, mask; and the sizes of b and n.
MAPPED = {
    "all": (0, 0, 0, 0, 0, 0), "shared pair": (0, 0, 0, None, 0, 0),
    "query alone": (0, None, None, None, None, None),
    "pair alone": (None, None, None, 0, None, None),
    "other axes": (2, 1, 5, 3, 4, 1)}


@pytest.mark.parametrize("mapped,sizes", [
    ("all", (1, 4)), ("shared pair", (2, 1)), ("shared pair", (2, 3)),
    ("query alone", (1, 4)), ("pair alone", (2, 3)), ("other axes", (2, 3))], ids=str)
def test_vmap(mapped, sizes):
    """Also where b and n are taken."""
    (b, n), axes = sizes, MAPPED[mapped]
    sequence = (b, n, S, H, D)
    shapes = [sequence, sequence, sequence, (b, 1, H, S, S), sequence,
              (b, n, 1, 1, S, bool)]
    arrays = draw(*[shape if axis is None else (*shape[:axis], 3, *shape[axis:])
                    for shape, axis in zip(shapes, axes)])
    compare(lambda f: jax.jit(jax.vmap(gradients(f), axes)), arrays)
    compare(lambda f: jax.jit(lambda *a: (
        jax.vmap(f, axes)(*a), gradients(jax.vmap(f, axes))(*a))), arrays)


def test_vmap_of_vmap():
    """Of a function of one row: [s, h, d] becomes [b, n, s, h, d]."""
    def transform(f):
        def row(q, k, v, pair, gate, mask):
            q, k, v, gate = (a[None, None] for a in (q, k, v, gate))
            return f(q, k, v, pair[None, None], gate, mask[None, None])[0, 0]
        inner = jax.vmap(row, (0, 0, 0, None, 0, 0))
        return jax.jit(gradients(jax.vmap(inner)))
    arrays = draw(*SHAPES)
    arrays[3] = arrays[3][:, 0]
    compare(transform, arrays)


def count_calls(function, *arrays):
    text = jax.jit(function).lower(*arrays).as_text()
    return text.count("custom_call @evoformer_attention")


def test_vmap_is_one_call():
    """The mapped dimension becomes rows; a shared bias is not repeated, and its
    gradient is summed by the kernels."""
    mapped = MAPPED["shared pair"]
    arrays = draw(*[(5, 1, 4, S, H, D)] * 3, (1, 1, H, S, S), (5, 1, 4, S, H, D),
                  (5, 1, 4, 1, 1, S, bool))
    function = jax.vmap(with_function(evoformer.attention), mapped)
    assert count_calls(function, *arrays) == 1
    text = jax.jit(gradients(function)).lower(*arrays).as_text()
    line = next(line for line in text.splitlines() if "pass=backward" in line)
    results = line.split("->")[-1]
    assert f"1x1x{H}x{S}x{S}xf32" in results
    assert f"5x1x{H}x{S}x{S}xf32" not in text


def test_scan_and_remat():
    def transform(f):
        def loss(q, *rest):
            def body(carry, _):
                return carry + jax.checkpoint(f)(carry, *rest), None
            return jax.lax.scan(body, q, length=3)[0]
        return jax.jit(gradients(loss))
    compare(transform, draw(*SHAPES))


def test_control_flow():
    arrays = draw(*SHAPES)
    compare(lambda f: jax.jit(lambda *a: jax.lax.cond(
        a[0].sum() > -1e9, lambda: f(*a), lambda: a[0])), arrays)
    compare(lambda f: jax.jit(lambda *a: jax.lax.fori_loop(
        0, 2, lambda _, q: f(q, *a[1:]), a[0])), arrays)
    stacked = [jnp.stack([a, a]) for a in arrays]
    compare(lambda f: lambda *a: jax.lax.map(lambda x: f(*x), a), stacked)


def test_only_what_is_asked_for():
    """A gradient that is not wanted is not computed."""
    arrays = draw(*SHAPES)
    text = jax.jit(gradients(with_function(evoformer.attention), (1, 3))).lower(
        *arrays).as_text()
    assert "grad=key,bias1\"" in text
    compare(lambda f: jax.jit(gradients(f, (1, 3))), arrays)


@pytest.mark.parametrize("kind", [jnp.float32, jnp.bfloat16], ids=str)
@pytest.mark.parametrize("parts", ["lse", "both"])
def test_lse(parts, kind):
    """Its gradient, alone and beside the output's, in rows without keys, too."""
    arrays = draw(*SHAPES, kind=kind)
    arrays[5] = arrays[5].at[0, 1].set(False)
    def transform(function):
        def loss(*arrays):
            out, lse = function(*arrays)
            lse = jnp.where(lse == -jnp.inf, 0, lse)
            return (weighted(lambda: lse)() +
                    (weighted(lambda: out)() if parts == "both" else 0))
        return jax.jit(jax.grad(loss, (0, 1, 3)))
    def ours(q, k, v, pair, gate, mask):
        return evoformer.attention(q, k, v, [mask, pair], gate, return_lse=True)
    def theirs(q, k, v, pair, gate, mask):
        return (reference.attention(q, k, v, [mask, pair], gate),
                reference.lse(q, k, [mask, pair]))
    reference.compare(transform(ours), transform(theirs), arrays)


def test_lse_under_transformations():
    """In any layout, of mapped calls one by one, and of the second use in scan."""
    q, k = draw((3, N, S, H, D), (3, N, S, H, D))
    def ours(q, k):
        return evoformer.attention(q, k, k, return_lse=True, layout="nshd")[1]
    def theirs(q, k):
        return reference.lse(q[None], k[None], [])[0]
    def transform(function):
        def loss(q, k):
            mapped = jax.vmap(function)(q, k)
            _, each = jax.lax.scan(lambda c, x: (c, function(*x)), 0, (q, 2 * k))
            return weighted(lambda: jnp.stack([mapped, each]))()
        return jax.jit(jax.grad(loss, (0, 1)))
    reference.compare(transform(ours), transform(theirs), [q, k])
    # Values have no part in it.
    assert not jax.grad(lambda v: evoformer.attention(
        q, k, v, return_lse=True)[1].sum())(k).any()


def test_lse_of_mapped_calls():
    q, k, v = draw(SEQUENCE, SEQUENCE, SEQUENCE)
    mapped = jax.vmap(lambda q: evoformer.attention(q, k, v, return_lse=True))
    outs, lses = mapped(jnp.stack([q, 2 * q]))
    for i, given in enumerate((q, 2 * q)):
        out, lse = evoformer.attention(given, k, v, return_lse=True)
        assert (outs[i] == out).all() and (lses[i] == lse).all()


def test_eval_shape_compiles_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOFORMER_CACHE_DIR", str(tmp_path))
    shapes = [jax.ShapeDtypeStruct((1, 2, 7, 3, 11), jnp.bfloat16)] * 3
    out, lse = jax.eval_shape(functools.partial(
        evoformer.attention, return_lse=True), *shapes)
    assert (out.shape, out.dtype) == ((1, 2, 7, 3, 11), jnp.bfloat16)
    assert (lse.shape, lse.dtype) == ((1, 2, 3, 7), jnp.float32)
    assert not list(tmp_path.iterdir())


def test_masked_rows():
    arrays = draw(*SHAPES)
    arrays[5] = arrays[5].at[0, 1].set(False)
    compare(lambda f: jax.jit(gradients(f)), arrays)
    out = jax.jit(with_function(evoformer.attention))(*arrays)
    assert not out[0, 1].any()


def test_empty():
    """Also where XLA's buffers have no address."""
    for shape, keys in (((0, 2, 5, 2, 8), 5), ((1, 2, 0, 2, 8), 5),
                        ((1, 2, 5, 2, 8), 0)):
        q = jnp.ones(shape)
        k = jnp.ones((*shape[:2], keys, *shape[3:]))
        out, of_q, of_k = jax.jit(lambda q, k: (
            evoformer.attention(q, k, k),
            *jax.grad(lambda q, k: evoformer.attention(q, k, k).sum(), (0, 1))(q, k))
        )(q, k)
        assert out.shape == shape and not (out.any() if keys == 0 else 0)
        assert not of_q.any() and of_k.shape == k.shape


@pytest.mark.parametrize("layout", ["bnhsd", "sbnhd", "hsd", "nshd"])
def test_layouts(layout):
    sizes = dict(zip("bnshd", SEQUENCE))
    q, k, v, gate = draw(*[[sizes[c] for c in layout]] * 4)
    pair, = draw((H, S, S), seed=1)
    def spread(array):
        order = [layout.index(c) for c in "bnshd" if c in layout]
        full = [sizes[c] if c in layout else 1 for c in "bnshd"]
        return array.transpose(order).reshape(full)
    def theirs(q, k, v, pair, gate):
        out = reference.attention(*map(spread, (q, k, v)), [pair], spread(gate))
        letters = [c for c in "bnshd" if c in layout]
        out = out.reshape([sizes[c] for c in letters])
        return out.transpose([letters.index(c) for c in layout])
    def ours(q, k, v, pair, gate):
        return evoformer.attention(q, k, v, [pair], gate, layout=layout)
    for transform in (jax.jit, lambda f: jax.jit(gradients(f))):
        reference.compare(transform(ours), transform(theirs), [q, k, v, pair, gate])


# Programs that are kept -------------------------------------------------------


def test_export():
    arrays = draw(*SHAPES)
    function = jax.jit(gradients(with_function(evoformer.attention)))
    check = export.DisabledSafetyCheck.custom_call("evoformer_attention")
    exported = export.export(function, disabled_checks=[check])(*arrays)
    for one, other in zip(exported.call(*arrays), function(*arrays), strict=True):
        assert (one == other).all()


def script(text, *arguments):
    """What it prints in a process of its own."""
    done = subprocess.run([sys.executable, "-c", text, *map(str, arguments)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_another_process(tmp_path):
    """A compiled program runs where evoformer is imported, before or after JAX, and
    nothing of it called."""
    script("""
import evoformer, jax, pickle, sys
import jax.numpy as jnp
from jax.experimental import serialize_executable
q = jnp.cos(jnp.arange(288.)).reshape(1, 2, 9, 2, 8)
compiled = jax.jit(jax.grad(lambda q: evoformer.attention(q, q, q).sum())).lower(
    q).compile()
pickle.dump((serialize_executable.serialize(compiled), q, compiled(q)),
            open(sys.argv[1], "wb"))
""", tmp_path / "program")
    for first, second in (("jax", "evoformer"), ("evoformer", "jax")):
        assert script(f"""
import {first}, {second}, pickle, sys
from jax.experimental import serialize_executable
program, given, expected = pickle.load(open(sys.argv[1], "rb"))
loaded = serialize_executable.deserialize_and_load(
    *program, execution_devices=jax.devices()[:1])
print((loaded(given) == expected).all(), "evoformer._jax_ops" in sys.modules)
""", tmp_path / "program") == "True False\n"


@pytest.mark.parametrize("platform,kind", [("cuda", "cuda"), ("rocm", "hip")])
def test_for_another_platform(platform, kind, monkeypatch):
    """A program for a GPU that is not here: its chip must be named."""
    if jax.default_backend() == "gpu":
        pytest.skip("the chip of a GPU that is here is known")
    q, = draw((1, 2, 16, 2, 32), kind=jnp.bfloat16)
    function = jax.jit(jax.grad(lambda q: evoformer.attention(q, q, q).sum()))
    def lower():
        return function.trace(q).lower(lowering_platforms=(platform,)).as_text()
    monkeypatch.delenv("EVOFORMER_TARGET", raising=False)
    with pytest.raises(evoformer.EvoformerError,
                       match=f"for {platform}, whose chip is not known.*sm_80"):
        lower()
    chip = {"cuda": "sm_80", "rocm": "gfx942"}[platform]
    monkeypatch.setenv("EVOFORMER_TARGET", chip)
    jax.clear_caches()
    text = lower()
    assert text.count(f'options = "target={chip} device={kind} ') == 2


# What is refused --------------------------------------------------------------


def refused(error, text, function, *arrays):
    for call in (function, jax.jit(function)):
        with pytest.raises(error, match=text):
            call(*arrays)


def test_refuses():
    q, = draw((1, 2, 5, 2, 8))
    attention = evoformer.attention
    refused(TypeError, "key has type bf16; with a query of f32",
            lambda q: attention(q, q.astype(jnp.bfloat16), q), q)
    refused(TypeError, "query has type int32",
            lambda q: attention(*[q.astype(jnp.int32)] * 3), q)
    refused(ValueError, r"biases\[0\] has shape \(3, 1\)",
            lambda q: attention(q, q, q, [jnp.ones((3, 1))]), q)
    refused(TypeError, "key is a ndarray",
            lambda q: attention(q, np.ones(q.shape, np.float32), q), q)
    refused(ValueError, "end in 'd'", lambda q: attention(q, q, q, layout="dbnsh"), q)
    with pytest.raises(TypeError, match="scale is traced; accepted is a number"):
        jax.jit(lambda q, scale: attention(q, q, q, scale=scale))(q, 1.0)
    with pytest.raises(TypeError, match="in a program for tpu; accepted are cpu, cuda"):
        jax.jit(lambda q: attention(q, q, q)).trace(q).lower(
            lowering_platforms=("tpu",))
    with pytest.raises(TypeError, match="query is traced"):
        jax.jit(lambda q: evoformer.explain(q, q, q))(q)


def test_refuses_other_derivatives():
    q, = draw((1, 2, 5, 2, 8))
    function = lambda q: evoformer.attention(q, q, q)
    refused(TypeError, "forward-mode",
            lambda q: jax.jvp(function, (q,), (q,)), q)
    twice = lambda q: jax.grad(lambda q: jax.grad(
        lambda q: function(q).sum())(q).sum())(q)
    refused(NotImplementedError, "first derivatives only", twice, q)


def test_refuses_sizes_that_are_not_known():
    shape = export.symbolic_shape("b")
    given = jax.ShapeDtypeStruct((*shape, 2, 5, 2, 8), jnp.float32)
    with pytest.raises(ValueError, match="query has shape .b, 2, 5, 2, 8.; accepted "
                                         "are sizes that are known"):
        export.export(jax.jit(lambda q: evoformer.attention(q, q, q)))(given)
