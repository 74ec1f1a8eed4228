"""How attention may be spread over a mesh of devices: rules by which DTensors call
`torch.ops.evoformer` on their local parts, and what they refuse.

The rules of one dimension of a mesh, for the letter that is sharded along it:

  b, n, h   every operand that has the dimension is sharded along it, and so is its
            gradient; the gradient of one that has not (size 1) is a partial sum
  q         queries: query, gate, out and biases; gradients of key and value are
            partial sums
  k         keys, of the backward pass alone: `stats` and out know all of them, so that
            nothing else is asked of other devices. The query's gradient is a partial
            sum

What no rule takes torch moves first: with dropout, which depends on where a weight is,
everything, and what a score reads the number of. (torch's own `register_sharding` would
not see that `layout` is part of what a rule depends on, nor take an operator that returns
a list.)
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

import torch
from torch import Tensor
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard,
                                      distribute_tensor)
from torch.distributed.tensor._op_schema import (OpSchema, OpSpec, OpStrategy,
                                                 RuntimeSchemaInfo, TupleStrategy)
from torch.distributed.tensor._ops.utils import expand_to_full_mesh_op_strategy

from . import _problem
from ._torch import needed

_SEQUENCES = ("query", "key", "value", "gate", "out", "gradient")
_OF_KEYS = ("key", "value")


class Dimensions:
    """Where operands and results have the dimension of a letter of `bnhqk`."""

    def __init__(self, layout: str, ragged: bool = False) -> None:
        letters = _problem.Layout(layout, ragged)
        # Behind a point what is missing is missing on the left.
        self._letters = {"bias": letters.bias, "lse": letters.statistic,
                         "stats": "2" + letters.statistic,
                         "key_lengths": letters.rows, "query_lengths": letters.rows}
        for name in _SEQUENCES:
            own = "k" if name in _OF_KEYS else "q"
            self._letters[name] = letters.letters.replace("s", own)

    def find(self, name: str, letter: str, shape: Sequence[int]) -> Optional[int]:
        """The dimension; None where it has none or one of size 1 that serves all."""
        letters = self._letters.get(name, "")
        at = letters.find(letter) - (len(letters) - len(shape))
        return None if letter not in letters or at < 0 or shape[at] == 1 else at

    def text(self, name: str, dimension: int, rank: int) -> str:
        """The letter of a dimension as the layout has it."""
        letters = self._letters.get(name, "")
        at = dimension + len(letters) - rank
        return letters[at] if 0 <= at < len(letters) else str(dimension)


class _Call:
    """An operator's arguments, of which tensors have a shape."""

    def __init__(self, schema: OpSchema) -> None:
        names = [argument.name for argument in schema.op._schema.arguments]
        given: dict[str, Any] = dict(zip(names, schema.args_schema))
        self.layout: str = given["layout"]
        self.needs: Sequence[bool] = given.get("needs", ())
        self.lse, self.stats = given.get("lse"), given.get("stats")
        # Bounds, scores and dropout count from the first query and key that there are.
        self.counted = bool(given["keys_from"] or given["keys_to"] or given["score"] or
                            given["dropout_p"])
        # Those whose numbers a score does not read; dropout reads all.
        self.rows = "" if given["dropout_p"] else "".join(
            c for c in "bnh" if not re.search(rf"%{c}\b", given["score"]))
        self.ragged = given["cu_seqlens_q"] is not None
        self.lengths = [name for name in ("key_lengths", "query_lengths")
                        if given[name] is not None]
        # In the order in which torch finds them: (kind, shape).
        self.tensors: list[tuple[str, Sequence[int]]] = []
        for name, value in given.items():
            if isinstance(value, TupleStrategy):
                self.tensors += [("bias", one.shape) for one in value.children
                                 if isinstance(one, OpStrategy)]
            elif isinstance(value, OpStrategy):
                self.tensors.append((name, value.shape))
        self.dimensions = Dimensions(self.layout, self.ragged)
        shapes = dict(self.tensors)
        at = self.layout.find("h")
        self.heads = int(shapes["query"][at]) if at >= 0 else 1
        self.key_heads = int(shapes["key"][at]) if at >= 0 else 1

    def letters(self, backward: bool) -> Iterator[str]:
        """Those along which a mesh may cut without moving anything."""
        shapes = dict(self.tensors)
        letters = self.rows
        if not (self.ragged or self.counted):
            if "query_lengths" not in self.lengths:
                letters += "q"
                if backward and not self.lengths:
                    letters += "k"
        for letter in letters:
            name = "key" if letter == "k" else "query"
            # Nothing is cut where there is one: sums would have all of it many times.
            if self.dimensions.find(name, letter, shapes[name]) is not None:
                yield letter

    def inputs(self, letter: Optional[str]) -> list[Any]:
        return [self._place(name, letter, shape) for name, shape in self.tensors]

    def _place(self, name: str, letter: Optional[str], shape: Sequence[int]) -> Any:
        at = self.dimensions.find(name, letter, shape) if letter else None
        return Replicate() if at is None else Shard(at)

    def results(self, letter: Optional[str]) -> list[Any]:
        """Of the forward pass: out, lse, stats; those not asked for are empty."""
        shapes = dict(self.tensors)
        shape = shapes["query"]
        at = self.dimensions.find("query", letter, shape) if letter else None
        if at is None or letter is None:
            return [Replicate()] * 3
        statistic = self.dimensions._letters["lse"].index(letter)
        return [Shard(at), Shard(statistic) if self.lse else Replicate(),
                Shard(1 + statistic) if self.stats else Replicate()]

    def weights(self, letter: Optional[str]) -> list[Any]:
        """Of attention's weights, which have a bias's dimensions."""
        at = self.dimensions._letters["bias"].find(letter) if letter else -1
        return [Replicate() if at < 0 else Shard(at)]

    def gradients(self, letter: Optional[str]) -> list[Any]:
        """Of the backward pass, in the order of its results."""
        biases = [shape for name, shape in self.tensors if name == "bias"]
        shapes = dict(self.tensors)
        results = []
        for name in needed(self.needs, len(biases)):
            kind, shape = (("bias", biases[int(name[4:])]) if name.startswith("bias")
                           else (name, shapes[name]))
            place = self._place(kind, letter, shape)
            # What a gate's gradient sums, each device has whole.
            if letter and place == Replicate() and not (kind == "gate" and
                                                        letter == "k"):
                place = Partial()
            results.append(place)
        return results

    def fits(self, spec: OpSpec) -> bool:
        """Heads that share a key's are on one device with it."""
        if self.heads == self.key_heads or self.key_heads == 1:
            return True
        assert spec.input_specs is not None
        key = spec.input_specs[1]
        at = self.layout.index("h")
        parts: int = math.prod(
            size for size, place in zip(key.mesh.shape, key.placements)
            if place == Shard(at))
        return self.key_heads % parts == 0


# The placements of an operator's results, where a letter is sharded.
Results = Callable[[_Call, Optional[str]], list[Any]]


def _strategy(schema: OpSchema, results_of: Results) -> OpStrategy:
    call = _Call(schema)
    backward = results_of is _Call.gradients
    count = len(results_of(call, None))
    rules = [[*results_of(call, letter), *call.inputs(letter)]
             for letter in (None, *call.letters(backward))]
    found = expand_to_full_mesh_op_strategy(
        schema.get_mesh_from_args(), schema, rules, input_index=count)
    strategies = []
    for spec in found.strategies:
        if call.fits(spec):
            outputs = spec.output_specs
            # A list of one gradient is a list.
            if backward and not isinstance(outputs, tuple):
                outputs = (outputs,)
            strategies.append(OpSpec(outputs, spec.input_specs, spec.redistribute_cost))
    return OpStrategy(strategies)


def _register() -> None:
    propagator = DTensor._op_dispatcher.sharding_propagator
    operators = torch.ops.evoformer
    for operator, results in ((operators.attention.default, _Call.results),
                              (operators.attention_weights.default, _Call.weights),
                              (operators.attention_backward.default, _Call.gradients)):
        def strategy(schema: OpSchema, results: Results = results) -> OpStrategy:
            return _strategy(schema, results)
        # All arguments are part of what a rule depends on.
        propagator.register_op_strategy(
            operator, strategy, RuntimeSchemaInfo(static_argnum=0, needs_pytree=True))


# What is refused -------------------------------------------------------------

def check(tensors: dict[str, Tensor], layout: str) -> None:
    """Of `query`, `key`, …, `biases[0]`, … of a call with a DTensor among them."""
    sharded = {name: tensor for name, tensor in tensors.items()
               if isinstance(tensor, DTensor)}
    one = next(iter(sharded))
    mesh = sharded[one].device_mesh
    dimensions = Dimensions(layout, "cu_seqlens_q" in tensors)
    for name, tensor in tensors.items():
        if name not in sharded:
            raise TypeError(
                f"{name} is a {type(tensor).__name__} and {one} a DTensor; accepted are "
                "DTensors of one mesh (torch.distributed.tensor.distribute_tensor), or "
                "none")
        own = sharded[name]
        if own.device_mesh != mesh:
            raise ValueError(
                f"{name} is on {own.device_mesh}, {one} on {mesh}; accepted are "
                "operands on one mesh")
        kind = "bias" if name.startswith("biases") else name
        for place in own.placements:
            if (isinstance(place, Shard) and kind in _SEQUENCES and
                    dimensions.text(kind, place.dim % own.ndim, own.ndim) == "d"):
                raise ValueError(
                    f"{name} is sharded along 'd'; accepted are shards along b, n, h "
                    "and s: a product of a query and a key is computed on one device")
    _check_heads(sharded, layout)


def share(state: Tensor, tensors: dict[str, Tensor]) -> DTensor:
    """Dropout's state of the first process, on the mesh of a call's operands."""
    mesh = next(t for t in tensors.values() if isinstance(t, DTensor)).device_mesh
    return distribute_tensor(state, mesh, [Replicate()] * mesh.ndim)


def _check_heads(tensors: dict[str, DTensor], layout: str) -> None:
    """Heads that share a key's stay on one device."""
    at = layout.find("h")
    query, key = tensors["query"], tensors["key"]
    if at < 0 or query.ndim <= at or key.ndim <= at:
        return
    heads, key_heads = query.shape[at], key.shape[at]
    parts = {name: math.prod(size for size, place in zip(
        tensors[name].device_mesh.shape, tensors[name].placements)
        if place == Shard(at)) for name in ("query", "key", "value")}
    most = max(parts.values())
    if heads != key_heads and key_heads > 1 and key_heads % most:
        name = max(parts, key=lambda name: parts[name])
        raise ValueError(
            f"{name} is sharded along 'h' over {most} devices, and key has {key_heads} "
            f"heads that serve {heads} of the query; accepted are numbers of devices "
            "that divide both, or a key with one head")


_register()
