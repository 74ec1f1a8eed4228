"""Calls of libevoformer's handlers in XLA's programs.

All that a call needs is in its attributes and shapes, so that a program may be
saved, cached and run in another process: see evoformer-c/XLA.h. What a call needs
is found out when the program is lowered; the handler runs without Python."""

import math
import os
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import _problem, _runtime
from ._jax_handlers import PLATFORMS, TARGET, register
from ._jax_problem import Signature, meta
from ._library import EvoformerError


def _device(platform: str) -> _runtime.Device:
    """The first device of the platform. Of several, all are taken to be of one
    kind, as XLA takes them."""
    kind = PLATFORMS[platform][1]
    if kind == "cpu":
        return _runtime.device("cpu")
    return _runtime.device(kind, jax.local_devices(backend=platform)
                           [0].local_hardware_id or 0)


def _compile(platform: str, description: str,
             views: "Sequence[_problem.View | int]") -> tuple[str, int]:
    """The compiler's options and the bytes of workspace. Where the device is
    there, its kernels are compiled and loaded as well."""
    module = _runtime.describe(description)
    kind = PLATFORMS[platform][1]
    target = os.environ.get("EVOFORMER_TARGET") if kind != "cpu" else "cpu"
    device = None
    try:
        device = _device(platform)
        target = device.target
    except (RuntimeError, EvoformerError) as problem:
        if not target:
            raise EvoformerError(
                f"the program is for {platform}, whose chip is not known here "
                f"({problem}); set EVOFORMER_TARGET to compile for one of "
                f"{', '.join(_runtime.chips())}") from None
    assert target is not None
    options = _runtime.compile_options(
        kind, target, _runtime.schedule_shape(description, views))
    program = _runtime.Program(module, options)
    if device is not None:
        _runtime.Call(program, device, views).prepare([0] * len(views))
    return options, program.workspace_bytes(views)


def _call(platform: str, description: str, views: "Sequence[_problem.View | int]",
          dims: Sequence[Sequence[int]], operands: Sequence[Any],
          results: Sequence[jax.ShapeDtypeStruct]) -> list[Any]:
    register()
    options, workspace = _compile(platform, description, views)
    call = jax.ffi.ffi_call(
        TARGET, [*results, jax.ShapeDtypeStruct((workspace,), jnp.uint8)])
    attributes = {"dims": np.array([d for dim in dims for d in dim], np.int64)}
    numbers = [view for view in views if isinstance(view, int)]
    if numbers:
        attributes["numbers"] = np.array(numbers, np.int64)
    found = call(*operands, description=description, options=options, **attributes)
    return list(found[:-1])


def _clear(array: Any, axis: int, starts: Any, most: int, value: float) -> Any:
    """With `value` at positions that are of no sequence, which kernels leave as they
    are."""
    size = array.shape[axis]
    first = jnp.clip(starts[:-1], 0, size)
    length = jnp.clip(jnp.clip(starts[1:], 0, size) - first, 0, most)
    edges = jnp.zeros((size + 1,), jnp.int32).at[first].add(1)
    edges = edges.at[first + length].add(-1)
    inside = (jnp.cumsum(edges)[:-1] > 0).reshape(
        [-1 if i == axis else 1 for i in range(array.ndim)])
    return jnp.where(inside, array, jnp.asarray(value, array.dtype))


def _input_dims(signature: Signature) -> list[Sequence[int]]:
    """For each operand, where it has b, n, s, h, d or b, n, h, q, k."""
    sequence = [signature.letters.index(c) for c in "bnshd"]
    return [sequence if signature.is_sequence(name) else
            range(len(signature.dimensions(name))) for name in signature.names()]


def _find(signature: Signature, operands: Sequence[Any], name: str) -> Any:
    return operands[signature.names().index(name)]


def _join_state(signature: Signature, arrays: Sequence[Any]) -> list[Any]:
    """The arrays with the state of dropout in int64. Where programs have no 64-bit types,
    custom calls may have them all the same."""
    arrays = list(arrays)
    if "dropout_state" in signature.lengths:
        at = signature.names().index("dropout_state")
        arrays[at] = jax.lax.bitcast_convert_type(arrays[at].reshape(2, 2), jnp.int64)
    return arrays


def forward(*operands: Any, signature: Signature, lse: bool, stats: bool,
            platform: str) -> list[Any]:
    problem = signature.problem(operands)
    dims = _input_dims(signature)
    dims += [dims[0]] + [range(4)] * lse + [range(5)] * stats
    with jax.enable_x64(True):
        found = _call(platform, problem.describe(lse, stats),
                      problem.forward_views(lse, stats), dims,
                      _join_state(signature, operands),
                      signature.shapes(operands, lse, stats))
    if signature.ragged:
        place = _find(signature, operands, "cu_seqlens_q"), problem.sizes["q"]
        found[0] = _clear(found[0], signature.letters.index("s"), *place, 0)
        if lse:
            found[1] = _clear(found[1], 3, *place, -math.inf)
    return found


def backward(*arrays: Any, signature: Signature, gradients: tuple[str, ...],
             platform: str) -> list[Any]:
    """`arrays` are the operands, the output, stats, and the output's gradient."""
    operands = arrays[:-3]
    problem = signature.problem(operands)
    dims = _input_dims(signature)
    by_name = dict(zip(signature.names(), zip(operands, dims)))
    dims += [dims[0], range(5), dims[0]] + [by_name[name][1] for name in gradients]
    results = [jax.ShapeDtypeStruct(by_name[name][0].shape, by_name[name][0].dtype)
               for name in gradients]
    with jax.enable_x64(True):
        found = _call(platform, problem.describe(gradients=gradients),
                      problem.backward_views(meta(arrays[-1]), gradients), dims,
                      _join_state(signature, arrays), results)
    for i, name in enumerate(gradients):
        if signature.ragged and signature.is_sequence(name):
            side = "k" if name in ("key", "value") else "q"
            found[i] = _clear(found[i], signature.letters.index("s"),
                              _find(signature, operands, f"cu_seqlens_{side}"),
                              problem.sizes[side], 0)
    return found


def weights(*arrays: Any, signature: Signature, platform: str) -> list[Any]:
    """`arrays` are the operands, of which the value is not read, and stats."""
    problem = signature.problem(arrays[:-1])
    dims = [*_input_dims(signature), range(5), range(5)]
    value = signature.names().index("value")
    del dims[value]
    with jax.enable_x64(True):
        given = _join_state(signature, arrays)
        del given[value]
        return _call(platform, problem.describe_weights(), problem.weights_views(), dims,
                     given, signature.weights_shapes(arrays))
