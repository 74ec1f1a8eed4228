"""The operations of JAX's programs, attention, its gradients and its weights, and what
JAX's transformations make of them. Each stands for a call that XLA may spread over
devices, of an operation on what a device has.

vmap folds its dimension into b or n before anything else, so that a bias that is
not mapped stays one array, forward and backward, and the gradient of a mapped call
is summed by the kernels."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Optional

import jax
import jax.numpy as jnp
from jax._src import dispatch
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _jax_call
from ._jax_handlers import PLATFORMS
from ._jax_partition import LSE, STATS, operand_roles, partitioned, spreadable
from ._jax_problem import Signature

def _primitive(name: str) -> Primitive:
    primitive = Primitive(name)
    primitive.multiple_results = True
    return primitive


attention_p = _primitive("evoformer_attention")
backward_p = _primitive("evoformer_attention_backward")
weights_p = _primitive("evoformer_attention_weights")
_local_attention_p = _primitive("evoformer_local_attention")
_local_backward_p = _primitive("evoformer_local_attention_backward")
_local_weights_p = _primitive("evoformer_local_attention_weights")


# Shapes -----------------------------------------------------------------------


def _varying_axes(array: Any) -> frozenset[Any]:
    """The axes of the mesh of shard_map over which an array varies. JAX 0.11 moved
    them."""
    aval: Any = jax.typeof(array)
    axes = aval.mat.varying if hasattr(aval, "mat") else aval.vma
    return frozenset(axes)


def _vary(arrays: Sequence[Any]) -> list[Any]:
    """Inside shard_map all operands vary over the same axes of the mesh; the
    gradient of one that does not is summed over them."""
    axes = [_varying_axes(array) for array in arrays]
    union = axes[0].union(*axes)
    lax: Any = jax.lax

    def cast(array: Any, missing: tuple[Any, ...]) -> Any:
        # JAX 0.8 to 0.10 call it pvary.
        return (lax.pcast(array, missing, to="varying") if hasattr(lax, "pcast")
                else lax.pvary(array, missing))
    return [a if own == union else cast(a, tuple(union - own))
            for a, own in zip(arrays, axes)]


def _avals(shapes: Sequence[jax.ShapeDtypeStruct], model: Any) -> list[Any]:
    """Abstract values of these shapes, in the same mesh as `model`."""
    return [model.update(shape=s.shape, dtype=s.dtype, weak_type=False,
                         sharding=_unsharded(model, len(s.shape)))
            for s in shapes]


def _unsharded(model: Any, rank: int) -> Any:
    spec = jax.sharding.PartitionSpec(*[None] * rank)
    return model.sharding.update(spec=spec)


def _attention_shapes(*operands: Any, signature: Signature, lse: bool, stats: bool
                      ) -> list[Any]:
    return _avals(signature.shapes(operands, lse, stats), operands[0])


def _backward_shapes(*arrays: Any, signature: Signature, gradients: tuple[str, ...]
                     ) -> list[Any]:
    by_name = dict(zip(signature.names(), arrays))
    return _avals([jax.ShapeDtypeStruct(by_name[name].shape, by_name[name].dtype)
                   for name in gradients], arrays[0])


def _weights_shapes(*arrays: Any, signature: Signature) -> list[Any]:
    return _avals(signature.weights_shapes(arrays), arrays[0])


# Outside of jit, and lowering -------------------------------------------------


@functools.lru_cache(maxsize=None)
def _jitted(primitive: Primitive, parameters: tuple[tuple[str, Any], ...]
            ) -> Callable[..., Any]:
    return jax.jit(lambda *arrays: primitive.bind(*arrays, **dict(parameters)))


def _run(primitive: Primitive, *arrays: Any, **parameters: Any) -> Any:
    # Where jit is disabled it would come back here.
    with jax.disable_jit(False):
        return _jitted(primitive, tuple(sorted(parameters.items())))(*arrays)


def _unsupported(context: Any, *_: Any, **__: Any) -> NoReturn:
    platforms = context.module_context.platforms
    raise TypeError(f"evoformer.attention in a program for {', '.join(platforms)}; "
                    f"accepted are {', '.join(PLATFORMS)}")


def _spread_attention(*operands: Any, signature: Signature, lse: bool, stats: bool
                      ) -> list[Any]:
    run = functools.partial(_local_attention_p.bind, signature=signature, lse=lse,
                            stats=stats)
    inputs = [operand_roles(signature, name, operand)
              for name, operand in zip(signature.names(), operands)]
    results = [operand_roles(signature, "out", None)] + [LSE] * lse + [STATS] * stats
    return partitioned(run, operands, inputs, results, spreadable(signature))


def _spread_backward(*arrays: Any, signature: Signature, gradients: tuple[str, ...]
                     ) -> list[Any]:
    run = functools.partial(_local_backward_p.bind, signature=signature,
                            gradients=gradients)
    roles = {name: operand_roles(signature, name, array)
             for name, array in zip(signature.names(), arrays)}
    out = operand_roles(signature, "out", None)
    return partitioned(run, arrays, [*roles.values(), out, STATS, out],
                       [roles[name] for name in gradients], spreadable(signature))


def _spread_weights(*arrays: Any, signature: Signature) -> list[Any]:
    run = functools.partial(_local_weights_p.bind, signature=signature)
    inputs = [operand_roles(signature, name, array)
              for name, array in zip(signature.names(), arrays)]
    # They have the dimensions of a bias.
    result = operand_roles(signature, "bias", signature.weights_shapes(arrays)[0])
    return partitioned(run, arrays, [*inputs, STATS], [result], spreadable(signature))


for _outer, _local, _shapes, _spread, _call in (
        (attention_p, _local_attention_p, _attention_shapes, _spread_attention,
         _jax_call.forward),
        (backward_p, _local_backward_p, _backward_shapes, _spread_backward,
         _jax_call.backward),
        (weights_p, _local_weights_p, _weights_shapes, _spread_weights,
         _jax_call.weights)):
    for _either in (_outer, _local):
        _either.def_abstract_eval(_shapes)
    _outer.def_impl(functools.partial(_run, _outer))
    mlir.register_lowering(_outer, mlir.lower_fun(_spread, multiple_results=True))
    # As custom_partitioning itself: whether there are several decides.
    dispatch.prim_requires_devices_during_lowering.add(_outer)
    mlir.register_lowering(_local, _unsupported)
    for _platform in PLATFORMS:
        mlir.register_lowering(
            _local, mlir.lower_fun(functools.partial(_call, platform=_platform),
                                   multiple_results=True),
            platform=_platform)


# vmap -------------------------------------------------------------------------


class _Fold:
    """Folds vmap's dimension, of `count`, into b or n: into one of size 1, where
    no bias has to be repeated, otherwise into b."""

    def __init__(self, signature: Signature, arrays: Sequence[Any],
                 dims: Sequence[Optional[int]]) -> None:
        self.signature = signature
        self.count: int = next(a.shape[d] for a, d in zip(arrays, dims)
                               if d is not None)
        query = [s for i, s in enumerate(arrays[0].shape) if i != dims[0]]
        sizes = dict(zip(signature.letters, query))
        possible = [letter for letter in ("n" if signature.ragged else "bn")
                    if letter not in signature.counted]
        # A table is one for all n.
        if signature.tables and "n" in possible:
            possible.remove("n")
        if possible == ["b", "n"] and sizes["b"] != 1 and sizes["n"] == 1:
            possible = ["n"]
        # Empty where there is none that may grow.
        self.letter = possible[0] if possible else ""
        for name, mapped in zip(signature.names(), dims):
            if name.startswith("cu_seqlens") and mapped is not None:
                raise NotImplementedError(
                    f"{name} is mapped by vmap; accepted are cumulative lengths that "
                    "all calls share")
        self.size = sizes.get(self.letter, 1)

    def fold(self, array: Any, mapped: Optional[int], axis: int, whole: bool) -> Any:
        """The array with the mapped dimension as the slower part of its dimension
        `axis`. What is not mapped and has size 1 there stays so unless `whole`."""
        if mapped is None:
            if array.shape[axis] == 1 and not whole:
                return array
            array = jnp.broadcast_to(array, (self.count, *array.shape))
            mapped = 0
        array = jnp.moveaxis(array, mapped, axis)
        shape = array.shape
        if shape[axis + 1] != self.size:
            array = jnp.broadcast_to(
                array, (*shape[:axis + 1], self.size, *shape[axis + 2:]))
        return array.reshape(*shape[:axis], self.count * self.size,
                             *shape[axis + 2:])

    def operands(self, arrays: Sequence[Any], dims: Sequence[Optional[int]],
                 whole: Sequence[str] = ()) -> list[Any]:
        """Sequences are folded in any case, biases where they are mapped or named
        in `whole`."""
        names = self.signature.names()
        return [array if name.startswith("cu_seqlens") else
                self.fold(array, mapped, self.signature.axis(name, self.letter),
                          self.signature.is_sequence(name) or name in whole)
                for name, array, mapped in zip(names, arrays, dims)]

    def unfold(self, array: Any, axis: int, size: int) -> Any:
        """The mapped dimension, taken off `axis`, in front; `size` is left there:
        1 where all of it was repeated."""
        shape = array.shape
        array = array.reshape(*shape[:axis], self.count, self.size, *shape[axis + 1:])
        if size != self.size:
            array = array.sum(axis + 1, keepdims=True)
        return jnp.moveaxis(array, axis, 0)


def _one_by_one(primitive: Primitive, arrays: Sequence[Any], dims: Sequence[Optional[int]],
                **parameters: Any) -> tuple[list[Any], list[int]]:
    """A call for each of what vmap maps, where it matters which b and n there are."""
    mapped = [i for i, dim in enumerate(dims) if dim is not None]

    def run(parts: Sequence[Any]) -> tuple[Any, ...]:
        own = list(arrays)
        for i, part in zip(mapped, parts):
            own[i] = part
        return tuple(primitive.bind(*_vary(own), **parameters))
    results = jax.lax.map(run, tuple(jnp.moveaxis(arrays[i], dims[i], 0) for i in mapped))
    return list(results), [0] * len(results)


def _batch_attention(arrays: Sequence[Any], dims: Sequence[Optional[int]], *,
                     signature: Signature, lse: bool, stats: bool
                     ) -> tuple[list[Any], list[int]]:
    fold = _Fold(signature, arrays, dims)
    if not fold.letter:
        return _one_by_one(attention_p, arrays, dims, signature=signature, lse=lse,
                           stats=stats)
    results = attention_p.bind(*_vary(fold.operands(arrays, dims)),
                               signature=signature, lse=lse, stats=stats)
    at = "bn".index(fold.letter)
    axes = ([signature.axis("query", fold.letter)] + [at] * lse + [1 + at] * stats)
    return ([fold.unfold(array, axis, fold.size)
             for array, axis in zip(results, axes)], [0] * len(results))


def _batch_backward(arrays: Sequence[Any], dims: Sequence[Optional[int]], *,
                    signature: Signature, gradients: tuple[str, ...]
                    ) -> tuple[list[Any], list[int]]:
    fold = _Fold(signature, arrays, dims)
    if not fold.letter:
        return _one_by_one(backward_p, arrays, dims, signature=signature,
                           gradients=gradients)
    # Each mapped call has gradients of its own, of shared biases too.
    operands = fold.operands(arrays[:-3], dims[:-3], whole=gradients)
    axis = signature.axis("query", fold.letter)
    axes = (axis, 1 + "bn".index(fold.letter), axis)
    rest = [fold.fold(array, mapped, axis, True)
            for array, mapped, axis in zip(arrays[-3:], dims[-3:], axes)]
    results = backward_p.bind(*_vary([*operands, *rest]), signature=signature,
                              gradients=gradients)
    given = dict(zip(signature.names(), zip(arrays, dims)))
    found = []
    for name, array in zip(gradients, results):
        model, mapped = given[name]
        axis = signature.axis(name, fold.letter)
        size = [s for i, s in enumerate(model.shape) if i != mapped][axis]
        found.append(fold.unfold(array, axis, size))
    return found, [0] * len(found)


def _batch_weights(arrays: Sequence[Any], dims: Sequence[Optional[int]], *,
                   signature: Signature) -> tuple[list[Any], list[int]]:
    fold = _Fold(signature, arrays, dims)
    if not fold.letter:
        return _one_by_one(weights_p, arrays, dims, signature=signature)
    axis = "bn".index(fold.letter)
    stats = fold.fold(arrays[-1], dims[-1], 1 + axis, True)
    found, = weights_p.bind(*_vary([*fold.operands(arrays[:-1], dims[:-1]), stats]),
                            signature=signature)
    return [fold.unfold(found, axis, fold.size)], [0]


_batchers: Any = batching.primitive_batchers
_batchers[attention_p] = _batch_attention
_batchers[backward_p] = _batch_backward
_batchers[weights_p] = _batch_weights


# Derivatives ------------------------------------------------------------------


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class _Wanted:
    """The operands whose gradient is asked for."""
    names: tuple[str, ...]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _differentiable(signature: Signature, lse: bool, stats: bool,
                    operands: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(attention_p.bind(*operands, signature=signature, lse=lse,
                                  stats=stats))


def _differentiable_forward(signature: Signature, lse: bool, stats: bool,
                            given: tuple[Any, ...]
                            ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    operands = tuple(g.value for g in given)
    wanted = _Wanted(tuple(name for name, g in zip(signature.names(), given)
                           if g.perturbed and jnp.issubdtype(g.value.dtype, jnp.floating)))
    results = attention_p.bind(*operands, signature=signature, lse=lse, stats=True)
    return (tuple(results if stats else results[:-1]),
            (operands, results[0], results[1] if lse else None, results[-1], wanted))


def _differentiable_backward(signature: Signature, lse: bool, stats: bool,
                             kept: tuple[Any, ...], cotangents: tuple[Any, ...]
                             ) -> tuple[tuple[Any, ...]]:
    operands, out, lse_value, statistics, wanted = kept
    found: dict[str, Any] = {}
    if not isinstance(cotangents[0], jax.custom_derivatives.SymbolicZero):
        arrays = _vary([*operands, out, statistics, cotangents[0]])
        found = dict(zip(wanted.names, backward_p.bind(
            *arrays, signature=signature, gradients=wanted.names)))
    # Of stats, which are for the gradient, there is none.
    if lse and not isinstance(cotangents[1], jax.custom_derivatives.SymbolicZero):
        more = _through_lse(signature, operands, lse_value, statistics, cotangents[1],
                            wanted.names)
        found |= {name: found[name] + one if name in found else one
                  for name, one in more.items()}
    return (tuple(found.get(name) for name in signature.names()),)


def _through_lse(signature: Signature, operands: Sequence[Any], lse: Any,
                 statistics: Any, cotangent: Any, wanted: Sequence[str]
                 ) -> dict[str, Any]:
    """The gradients that lse has: those of values of 0 whose output times its gradient
    is -cotangent (docs/rationale/gradient-of-lse.md)."""
    names = tuple(name for name in wanted if name not in ("value", "gate"))
    if not names:
        return {}
    given = dict(zip(signature.names(), operands))
    given["value"] = jnp.zeros_like(given["value"][..., :1])
    given.pop("gate", None)
    # lse is constant where no key is seen.
    delta = -jnp.where(lse == -jnp.inf, 0, cotangent)
    order = ["bnhs".index(letter) for letter in signature.letters[:-1]]
    delta = delta.transpose(order)[..., None]
    arrays = _vary([*given.values(), delta, statistics, jnp.ones_like(delta)])
    plain = dataclasses.replace(signature, gated=False, output_type="f32")
    return dict(zip(names, backward_p.bind(*arrays, signature=plain, gradients=names)))


_differentiable.defvjp(_differentiable_forward, _differentiable_backward,
                       symbolic_zeros=True)


def _differentiate(primals: Sequence[Any], tangents: Sequence[Any], *,
                   signature: Signature, lse: bool, stats: bool
                   ) -> tuple[Any, Any]:
    """By reverse mode alone: what JAX makes of a custom_vjp."""
    active = [i for i, t in enumerate(tangents) if type(t) is not ad.Zero]

    def function(*chosen: Any) -> tuple[Any, ...]:
        operands = list(primals)
        for i, value in zip(active, chosen):
            operands[i] = value
        return _differentiable(signature, lse, stats, tuple(operands))

    results: tuple[Any, Any] = jax.jvp(function, [primals[i] for i in active],
                                       [tangents[i] for i in active])
    return results


def _differentiate_twice(*_: Any, **__: Any) -> NoReturn:
    raise NotImplementedError("evoformer.attention has first derivatives only, in "
                              "reverse mode: no gradients of gradients")


ad.primitive_jvps[attention_p] = _differentiate
ad.primitive_jvps[backward_p] = _differentiate_twice


def attention(operands: Sequence[Any], signature: Signature, lse: bool) -> list[Any]:
    """The output and, with `lse`, that."""
    results: list[Any] = attention_p.bind(*_vary(operands), signature=signature,
                                          lse=lse, stats=False)
    return results


def attention_weights(operands: Sequence[Any], signature: Signature) -> Any:
    """The weights, without gradient, by the statistics of a forward call."""
    operands = _vary([jax.lax.stop_gradient(operand) for operand in operands])
    _, stats = attention_p.bind(*operands, signature=signature, lse=False, stats=True)
    weights, = weights_p.bind(*operands, stats, signature=signature)
    return weights
