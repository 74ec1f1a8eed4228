"""Attention of NumPy arrays, on the processor."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

from . import _keys, _problem, _runtime

if TYPE_CHECKING:
    from ._explain import Explanation

Array = npt.NDArray[Any]

_NAMES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "i1",
          "int32": "i32"}


class Gradients(NamedTuple):
    """Gradients by operand. A boolean bias has None, and so has a gate that is
    not there; `biases` and `captures` have one entry for each."""
    query: Any
    key: Any
    value: Any
    biases: tuple[Any, ...]
    gate: Any
    captures: tuple[Any, ...] = ()


def _usable(array: npt.ArrayLike) -> Array:
    """The array where it lies, or a copy if its bytes cannot be read so."""
    array = np.asarray(array)
    good = (array.flags.aligned and array.dtype.isnative and
            all(stride % array.itemsize == 0 for stride in array.strides))
    return array if good else np.ascontiguousarray(
        array, dtype=array.dtype.newbyteorder("="))


def _check_types(arrays: dict[str, object]) -> None:
    for name, array in arrays.items():
        if not isinstance(array, (np.ndarray, np.generic)):
            raise TypeError(
                f"{name} is a {type(array).__name__}; accepted is a " +
                ("torch.Tensor, a jax.Array or a numpy.ndarray" if name == "query" else
                 "numpy.ndarray, as query is one"))


def _upwards(array: Array) -> Array:
    """The array where it lies, or a copy where that is backwards."""
    return array.copy() if any(stride < 0 for stride in array.strides) else array


def _meta(array: Array) -> _problem.Meta:
    return _problem.Meta(
        array.shape, tuple(s // array.itemsize for s in array.strides),
        _NAMES.get(array.dtype.name, str(array.dtype)))


def _empty(meta: _problem.Meta, dtype: npt.DTypeLike) -> Array:
    """An uninitialised array with these strides, which are dense."""
    order = sorted(range(len(meta.shape)), key=lambda i: -meta.strides[i])
    array = np.empty([meta.shape[i] for i in order], dtype)
    return array.transpose(np.argsort(order))


def _allocate(size: int) -> tuple[object, int]:
    memory = np.empty(size, np.uint8)
    return memory, memory.ctypes.data


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


class _Prepared:
    """Checked operands and what the passes over them share."""

    def __init__(self, query: Any, key: Any, value: Any, biases: Sequence[Any],
                 gate: Any, scale: Optional[float], layout: Optional[str],
                 keys: _keys.Keys, lengths: _problem.Lengths) -> None:
        # Lengths may be what arrays are made of.
        _check_types(_problem.name_operands(query, key, value, biases, gate,
                                            captures=keys.captures))
        arrays = [_usable(a) for a in (query, key, value)]
        self.biases = [_usable(a) for a in biases]
        self.gate = _usable(gate) if gate is not None else None
        self.lengths = lengths.map(lambda array: _upwards(_usable(array)))
        self.differentiable = [i for i, a in enumerate(self.biases)
                               if a.dtype not in (np.bool_, np.int32)]
        query, key, value = arrays
        self.attention = _problem.Attention(
            _meta(query), _meta(key), _meta(value), [_meta(a) for a in self.biases],
            _meta(self.gate) if self.gate is not None else None, scale, layout,
            self.differentiable, keys, self.lengths.map(_meta))
        if self.gate is not None:
            arrays.append(self.gate)
        for i in self.attention.copies:
            arrays[i] = self.depth_last(arrays[i])
        if self.gate is not None:
            self.gate = arrays[3]
        self.inputs = [*arrays[:3], *self.biases, *arrays[3:],
                       *self.lengths.present()]
        self.dtype = arrays[0].dtype
        self.device = _runtime.device("cpu")

    def depth_last(self, array: Array) -> Array:
        meta = self.attention.depth_last(array.shape, "")
        copy = _empty(meta, array.dtype)
        copy[...] = array
        return copy

    def forward(self, lse: bool, stats: bool) -> list[Array]:
        attention = self.attention
        results = [_empty(attention.output(), self.dtype)]
        shapes = [attention.lse_shape] * lse
        shapes += [attention.stats_shape] * stats
        results += [np.empty(shape, np.float32) for shape in shapes]
        if attention.ragged:
            # What is of no sequence is not written.
            results[0][...] = 0
            for statistic in results[1:]:
                statistic[...] = -np.inf
        call = attention.forward(self.device, lse, stats)
        call.run([_address(a) for a in self.inputs + results], _allocate)
        return results

    def weights(self, stats: Array) -> Array:
        """The weights, from what a forward call without a gate has stored."""
        query, key, _, *others = self.inputs
        weights = np.empty(self.attention.weights_shape, self.dtype)
        self.attention.weights(self.device).run(
            [_address(a) for a in (query, key, *others, stats, weights)], _allocate)
        return weights

    def backward(self, out: Array, stats: Array, gradient: Any) -> Gradients:
        attention = self.attention
        gradient = _usable(gradient)
        if gradient.shape != out.shape or gradient.dtype != out.dtype:
            raise ValueError(
                f"the output's gradient has shape {gradient.shape} and type "
                f"{gradient.dtype}; accepted are {out.shape} and {out.dtype}")
        meta = _meta(gradient)
        if attention.needs_copy(meta.shape, meta.strides):
            gradient = self.depth_last(gradient)
        names = attention.gradient_names()
        results: dict[str, Array] = {}
        for name in names:
            if name.startswith("bias"):
                bias = self.biases[int(name[4:])]
                results[name] = np.empty(bias.shape, bias.dtype)
            else:
                array = {"query": self.inputs[0], "key": self.inputs[1],
                         "value": self.inputs[2], "gate": self.gate}[name]
                assert array is not None
                results[name] = _empty(
                    attention.depth_last(array.shape, ""), array.dtype)
            if attention.ragged:
                results[name][...] = 0
        call = attention.backward(self.device, _meta(gradient), names)
        arrays = self.inputs + [out, stats, gradient] + list(results.values())
        call.run([_address(a) for a in arrays], _allocate)
        pairs = tuple(results.get(f"bias{i}") for i in range(len(self.biases)))
        first = attention.first_capture
        return Gradients(results["query"], results["key"], results["value"],
                         pairs[:first], results.get("gate"), pairs[first:])


def attention(query: Any, key: Any, value: Any, biases: Sequence[Any] = (),
              gate: Any = None, scale: Optional[float] = None,
              layout: Optional[str] = None, return_lse: bool = False,
              keys: _keys.Keys = _keys.ALL,
              lengths: _problem.Lengths = _problem.NO_LENGTHS) -> Any:
    prepared = _Prepared(query, key, value, biases, gate, scale, layout, keys,
                         lengths)
    results = prepared.forward(return_lse, False)
    return tuple(results) if return_lse else results[0]


def attention_vjp(query: Any, key: Any, value: Any, biases: Sequence[Any] = (),
                  gate: Any = None, scale: Optional[float] = None,
                  layout: Optional[str] = None, keys: _keys.Keys = _keys.ALL,
                  lengths: _problem.Lengths = _problem.NO_LENGTHS
                  ) -> tuple[Array, Callable[[Any], Gradients]]:
    prepared = _Prepared(query, key, value, biases, gate, scale, layout, keys,
                         lengths)
    out, stats = prepared.forward(False, True)

    def gradients(output_gradient: Any) -> Gradients:
        """The Gradients of sum(out * output_gradient)."""
        return prepared.backward(out, stats, output_gradient)

    return out, gradients


def attention_weights(query: Any, key: Any, biases: Sequence[Any],
                      scale: Optional[float], layout: Optional[str], keys: _keys.Keys,
                      lengths: _problem.Lengths) -> Array:
    prepared = _Prepared(query, key, key, biases, None, scale, layout, keys, lengths)
    return prepared.weights(prepared.forward(False, True)[1])


def explain(query: Any, key: Any, value: Any, biases: Sequence[Any] = (),
            gate: Any = None, scale: Optional[float] = None,
            layout: Optional[str] = None, keys: _keys.Keys = _keys.ALL,
            lengths: _problem.Lengths = _problem.NO_LENGTHS) -> "Explanation":
    from ._explain import Explanation
    prepared = _Prepared(query, key, value, biases, gate, scale, layout, keys,
                         lengths)
    call = prepared.attention.forward(prepared.device)
    return Explanation(prepared.attention, prepared.device, call,
                       [0] * (len(prepared.inputs) + 1))
