"""Attention of JAX arrays: eager, differentiable, refused inside jit.

Arrays are read where they lie. On the processor results are handed over through
DLPack; on a GPU the kernels write into new arrays, and the call waits for them,
since XLA tells nobody its streams."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

import jax
import jax.numpy as jnp
import numpy as np

from . import _problem, _runtime

if TYPE_CHECKING:
    from ._explain import Explanation

_NAMES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "i1"}


def _meta(array: Any) -> _problem.Meta:
    """JAX's arrays are dense, in row-major order."""
    return _problem.Meta(tuple(array.shape), _problem.dense(array.shape),
                         _NAMES.get(array.dtype.name, array.dtype.name))


def _check(arrays: dict[str, Any]) -> Any:
    for name, array in arrays.items():
        if isinstance(array, jax.core.Tracer):
            raise TypeError(
                f"{name} is traced: evoformer.attention cannot run inside "
                "jax.jit, vmap or scan; call it eagerly, between jitted functions "
                "(jax.grad and jax.vjp of it work)")
        if not isinstance(array, jax.Array):
            raise TypeError(f"{name} is a {type(array).__name__}; accepted is a "
                            "jax.Array, as query is one")
    places = {name: next(iter(a.devices())) for name, a in arrays.items()
              if len(a.devices()) == 1}
    for name in arrays:
        if places.get(name) != places.get("query") or "query" not in places:
            raise ValueError(f"{name} is on {arrays[name].devices()}; all operands "
                             "must be on one device, query is on "
                             f"{arrays['query'].devices()}")
    return places["query"]


def _open_device(place: Any) -> _runtime.Device:
    if place.platform == "cpu":
        return _runtime.device("cpu")
    if place.platform in ("gpu", "cuda", "rocm"):
        version = place.client.platform_version.lower()
        kind = "hip" if "rocm" in version else "cuda"
        return _runtime.device(kind, place.local_hardware_id or 0)
    raise TypeError(f"query is on {place}; accepted are processors and GPUs")


class _Prepared:
    def __init__(self, query: Any, key: Any, value: Any, biases: Sequence[Any],
                 gate: Any, scale: Optional[float], layout: Optional[str]) -> None:
        arrays = {"query": query, "key": key, "value": value}
        arrays |= {f"biases[{i}]": b for i, b in enumerate(biases)}
        if gate is not None:
            arrays["gate"] = gate
        self.place = _check(arrays)
        layout = layout or _problem.default_layout(query.ndim)
        if "d" in layout and layout[-1] != "d":
            raise ValueError(f"layout {layout!r}: for JAX, whose arrays are dense, "
                             "accepted are those that end in 'd'")
        self.attention = _problem.Attention(
            _meta(query), _meta(key), _meta(value), [_meta(b) for b in biases],
            _meta(gate) if gate is not None else None, scale, layout,
            [i for i, b in enumerate(biases) if b.dtype != jnp.bool_])
        self.inputs = list(arrays.values())
        self.device = _open_device(self.place)
        self.biases = biases

    def run(self, call: _runtime.Call, inputs: Sequence[Any],
            shapes: Sequence[tuple[Any, Any]]) -> list[Any]:
        """New arrays of these (shape, dtype), written by the call."""
        if self.place.platform == "cpu":
            results: list[Any] = [np.empty(shape, dtype) for shape, dtype in shapes]
            # Views of the arrays' memory, which they keep alive.
            views = [np.asarray(a) for a in inputs]
            def allocate(size: int) -> tuple[object, int]:
                memory = np.empty(size, np.uint8)
                return memory, memory.ctypes.data
            call.run([a.__array_interface__["data"][0] for a in views + results],
                     allocate)
            return [_from_numpy(a) for a in results]
        with jax.default_device(self.place):
            results = [jnp.zeros(shape, dtype) for shape, dtype in shapes]
            def allocate(size: int) -> tuple[object, int]:
                memory = jax.block_until_ready(jnp.zeros(size, jnp.uint8))
                return memory, memory.unsafe_buffer_pointer()
            arrays = [jax.block_until_ready(a) for a in [*inputs, *results]]
            call.run([a.unsafe_buffer_pointer() for a in arrays], allocate,
                     wait=self.device)
        return results

    def forward(self, lse: bool, stats: bool) -> list[Any]:
        attention = self.attention
        shapes = [(attention.shape, self.inputs[0].dtype)]
        shapes += [(attention.lse_shape, np.float32)] * lse
        shapes += [(attention.stats_shape, np.float32)] * stats
        return self.run(attention.forward(self.device, lse, stats),
                        self.inputs, shapes)

    def backward(self, out: Any, stats: Any, gradient: Any) -> dict[str, Any]:
        attention = self.attention
        names = attention.gradient_names()
        models = {"query": self.inputs[0], "key": self.inputs[1],
                  "value": self.inputs[2], "gate": self.inputs[-1]}
        models |= {f"bias{i}": b for i, b in enumerate(self.biases)}
        call = attention.backward(self.device, _meta(gradient), names)
        results = self.run(call, [*self.inputs, out, stats, gradient],
                           [(models[n].shape, models[n].dtype) for n in names])
        return dict(zip(names, results))


def _from_numpy(array: Any) -> Any:
    if array.dtype == jnp.bfloat16:
        # NumPy's DLPack has no bfloat16.
        return jnp.asarray(array)
    return jax.dlpack.from_dlpack(array)


@functools.partial(jax.custom_vjp, nondiff_argnums=(5, 6, 7))
def _attention(query: Any, key: Any, value: Any, biases: Sequence[Any], gate: Any,
               scale: Optional[float], layout: Optional[str], lse: bool
               ) -> tuple[Any, ...]:
    prepared = _Prepared(query, key, value, biases, gate, scale, layout)
    return tuple(prepared.forward(lse, False))


def _attention_forward(query: Any, key: Any, value: Any, biases: Sequence[Any],
                       gate: Any, scale: Optional[float], layout: Optional[str],
                       lse: bool) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    prepared = _Prepared(query, key, value, biases, gate, scale, layout)
    results = prepared.forward(lse, True)
    return tuple(results[:-1]), (query, key, value, biases, gate, results[0],
                                 results[-1])


def _attention_backward(scale: Optional[float], layout: Optional[str], lse: bool,
                        kept: tuple[Any, ...], gradients: tuple[Any, ...]
                        ) -> tuple[Any, ...]:
    query, key, value, biases, gate, out, stats = kept
    prepared = _Prepared(query, key, value, biases, gate, scale, layout)
    _check({"query": query, "the output's gradient": gradients[0]})
    found = prepared.backward(out, stats, gradients[0])
    zero = [np.zeros(b.shape, jax.dtypes.float0) for b in biases]
    return (found["query"], found["key"], found["value"],
            tuple(found.get(f"bias{i}", z) for i, z in enumerate(zero)),
            found.get("gate"))


_attention.defvjp(_attention_forward, _attention_backward)


def attention(query: Any, key: Any, value: Any, biases: Sequence[Any], gate: Any,
              scale: Optional[float], layout: Optional[str], return_lse: bool) -> Any:
    results = _attention(query, key, value, tuple(biases), gate,
                         None if scale is None else float(scale), layout,
                         return_lse)
    return results if return_lse else results[0]


def explain(query: Any, key: Any, value: Any, biases: Sequence[Any], gate: Any,
            scale: Optional[float], layout: Optional[str]) -> "Explanation":
    from ._explain import Explanation
    prepared = _Prepared(query, key, value, tuple(biases), gate, scale, layout)
    call = prepared.attention.forward(prepared.device)
    return Explanation(prepared.attention, prepared.device, call,
                       [0] * (len(prepared.inputs) + 1))
