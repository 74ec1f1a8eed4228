"""Attention of JAX arrays, traced or not: checks and orders of dimensions. What JAX
makes of it is in _jax_ops.py."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

import jax
import jax.numpy as jnp

from . import _jax_ops, _keys, _problem, _runtime
from ._jax_handlers import PLATFORMS
from ._jax_problem import STATE, Signature, meta

if TYPE_CHECKING:
    from ._explain import Explanation


def _axes(spec: Any) -> list[str]:
    """The mesh's axes that a PartitionSpec names."""
    return [axis for entry in spec if entry is not None
            for axis in ((entry,) if isinstance(entry, str) else tuple(entry))]


def _check(arrays: dict[str, Any], scale: Any) -> None:
    """What shapes and types do not show."""
    for name, array in arrays.items():
        if not isinstance(array, jax.Array):
            raise TypeError(f"{name} is a {type(array).__name__}; accepted is a "
                            "jax.Array, as query is one")
        sharding = jax.typeof(array).sharding
        if any(sharding.mesh.axis_types[sharding.mesh.axis_names.index(axis)]
               == jax.sharding.AxisType.Explicit for axis in _axes(sharding.spec)):
            raise ValueError(
                f"{name} is spread as {sharding.spec} along explicit axes of a mesh; "
                "accepted are automatic ones (AxisType.Auto), or the call inside of "
                "jax.shard_map")
        if not all(isinstance(size, int) for size in array.shape):
            raise ValueError(f"{name} has shape {array.shape}; accepted are sizes "
                             "that are known when the program is traced")
    if isinstance(scale, jax.core.Tracer):
        raise TypeError("scale is traced; accepted is a number (multiply the query "
                        "by what is computed, with scale=1)")
    # Traced ones have no place yet; jit sees to those.
    places = {name: frozenset(array.devices()) for name, array in arrays.items()
              if not isinstance(array, jax.core.Tracer)}
    model = next(iter(places), "")
    for name, place in places.items():
        if place != places[model]:
            raise ValueError(f"{name} is on {_list(place)}, {model} is on "
                             f"{_list(places[model])}; all operands must be on the "
                             "same devices")


def _list(place: frozenset[Any]) -> str:
    return ", ".join(sorted(map(str, place)))


def _expand(array: Any, letters: str, wanted: str) -> Any:
    """With dimensions of size 1 for letters that it lacks. `letters` are those
    that it has, in the order of `wanted`; missing ones are in front."""
    letters = letters[len(letters) - array.ndim:]
    sizes = dict(zip(letters, array.shape))
    return array.reshape([sizes.get(c, 1) for c in wanted])


_STATES = ("accepted are a key of jax.random, a seed and an offset in int64, (2,), and their "
           "halves in uint32, (4,), lower ones first")


def _make_state(state: Any) -> Any:
    """The halves of a seed and an offset."""
    if not isinstance(state, jax.Array):
        raise TypeError(f"dropout_state is a {type(state).__name__}; {_STATES}")
    if jnp.issubdtype(state.dtype, jax.dtypes.prng_key):
        if state.shape:
            raise ValueError(f"dropout_state has {state.shape} keys; accepted is one")
        return jax.random.bits(state, (4,), jnp.uint32)
    shapes = {"int64": (2,), "uint32": (4,)}
    if state.dtype.name not in shapes:
        raise TypeError(f"dropout_state has type {state.dtype}; {_STATES}")
    if state.shape != shapes[state.dtype.name]:
        raise ValueError(f"dropout_state has shape {state.shape}; {_STATES}")
    if state.dtype.name == "int64":
        state = jax.lax.bitcast_convert_type(state, jnp.uint32).reshape(4)
    return state


class _Checked:
    """Operands of rank 5."""

    def __init__(self, query: Any, key: Any, value: Any, biases: Sequence[Any],
                 gate: Any, scale: Optional[float], layout: Optional[str],
                 keys: _keys.Keys, lengths: _problem.Lengths) -> None:
        if keys.dropout_p:
            if lengths.dropout is None:
                raise ValueError(f"dropout_p is {keys.dropout_p} without dropout_state; "
                                 f"accepted are both: {_STATES.removeprefix('accepted are ')}")
            lengths = lengths._replace(dropout=_make_state(lengths.dropout))
        arrays = _problem.name_operands(query, key, value, biases, gate, lengths,
                                        keys.captures)
        _check(arrays, scale)
        layout = _problem.layout_or_default(layout, query.ndim)
        if "d" in layout and layout[-1] != "d":
            raise ValueError(f"layout {layout!r}: for JAX, whose arrays are dense, "
                             "accepted are those that end in 'd'")
        self.problem = _problem.Attention(
            meta(query), meta(key), meta(value), [meta(b) for b in biases],
            meta(gate) if gate is not None else None, scale, layout, keys=keys,
            lengths=lengths.map(meta)._replace(dropout=STATE if keys.dropout_p else None))
        letters = "".join(c for c in "bnh" if c not in layout) + layout
        ragged = self.problem.ragged
        self.signature = Signature(
            letters, len(biases), gate is not None, self.problem.scale, keys,
            tuple(lengths.named()),
            (self.problem.sizes["q"], self.problem.sizes["k"]) if ragged
            else (None, None))
        self.operands = [
            _expand(array, self.problem.layout.bias, "bnhqk")
            if name.startswith(("biases", "captures")) else
            _expand(array, self.problem.layout.rows, "bn")
            if name.endswith("_lengths") else
            array if name.startswith(("cu_seqlens", "dropout")) else
            _expand(array, layout, letters)
            for name, array in arrays.items()]


def attention(query: Any, key: Any, value: Any, biases: Sequence[Any], gate: Any,
              scale: Optional[float], layout: Optional[str], return_lse: bool,
              keys: _keys.Keys,
              lengths: _problem.Lengths = _problem.NO_LENGTHS) -> Any:
    checked = _Checked(query, key, value, biases, gate, scale, layout, keys, lengths)
    out, *rest = _jax_ops.attention(checked.operands, checked.signature, return_lse)
    out = out.reshape(checked.problem.shape)
    if not return_lse:
        return out
    return out, rest[0].reshape(checked.problem.lse_shape)


def attention_weights(query: Any, key: Any, biases: Sequence[Any],
                      scale: Optional[float], layout: Optional[str], keys: _keys.Keys,
                      lengths: _problem.Lengths) -> Any:
    checked = _Checked(query, key, key, biases, None, scale, layout, keys, lengths)
    weights = _jax_ops.attention_weights(checked.operands, checked.signature)
    return weights.reshape(checked.problem.weights_shape)


def _open_device(query: Any) -> _runtime.Device:
    if isinstance(query, jax.core.Tracer):
        raise TypeError("query is traced; evoformer.explain is called outside of jit")
    place = min(query.devices(), key=str)
    if place.platform not in ("cpu", "gpu", "cuda", "rocm"):
        raise TypeError(f"query is on {place}; accepted are processors and GPUs")
    if place.platform == "cpu":
        return _runtime.device("cpu")
    rocm = "rocm" in place.client.platform_version.lower()
    return _runtime.device(PLATFORMS["rocm" if rocm else "cuda"][1],
                           place.local_hardware_id or 0)


def explain(query: Any, key: Any, value: Any, biases: Sequence[Any], gate: Any,
            scale: Optional[float], layout: Optional[str], keys: _keys.Keys,
            lengths: _problem.Lengths) -> "Explanation":
    from ._explain import Explanation
    problem = _Checked(query, key, value, biases, gate, scale, layout, keys,
                       lengths).problem
    device = _open_device(query)
    call = problem.forward(device)
    return Explanation(problem, device, call, [0] * len(problem.forward_views()))
