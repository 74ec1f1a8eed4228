"""How XLA spreads an attention over devices by itself: along b, n, h and queries
nothing is exchanged, forward; gradients of what several devices read are summed.
Keys and depths are whole on each device."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Optional

import jax
import jax.numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ._jax_problem import Signature

# For each dimension of an array what it is: b, n, q(ueries), h(eads), k(eys), g for
# the heads of keys, d and e for depths; y, u, v and w for sequences, their most queries
# and keys, and their ends; None where it has nothing to do with them.
Roles = tuple[Optional[str], ...]


def spreadable(signature: Signature) -> str:
    """What may be spread: queries where all see the same keys, whichever they are, and
    no rows that lie one behind the other; nothing whose numbers count."""
    keys = signature.keys
    bounded = keys.first or keys.end or keys.score or keys.dropout_p
    if signature.ragged:
        letters = "nh"
    else:
        letters = "bnh" if bounded or "query_lengths" in signature.lengths else "bnqh"
    return "".join(c for c in letters if c not in signature.counted)


def operand_roles(signature: Signature, name: str, array: Any) -> Roles:
    """Of an operand, or the output where `name` is out."""
    if name == "dropout_state":
        return (None,)
    if name in signature.tables:
        return tuple(c if size != 1 and c != "k" else None
                     for c, size in zip("bnhqk", array.shape))
    if not signature.is_sequence(name) and name != "out":
        letters = signature.dimensions(name)
        # Sizes of a sequence are no sizes of memory.
        own = dict(zip("bqke", "yuvw")) if signature.ragged else {}
        return tuple(own.get(letter, letter) if size != 1 else None
                     for letter, size in zip(letters, array.shape))
    of_keys = name in ("key", "value")
    own = {"s": "k" if of_keys else "q", "h": "g" if of_keys else "h",
           "d": "d" if name in ("query", "key") else "e"}
    # All b, and all n, may share the only one of keys.
    shared = [letter for letter in "bn" if of_keys and
              array.shape[signature.letters.index(letter)] == 1]
    return tuple(None if letter in shared else own.get(letter, letter)
                 for letter in signature.letters)


LSE: Roles = tuple("bnhq")
STATS: Roles = (None, *LSE)


class _Spread:
    """The mesh's axes along which each of b, n, q and h is spread."""

    def __init__(self, mesh: Mesh, arrays: Sequence[Any], roles: Sequence[Roles],
                 spreadable: str) -> None:
        self.mesh = mesh
        self.axes: dict[str, tuple[str, ...]] = {}
        sizes: dict[Optional[str], int] = {}
        for array, own in zip(arrays, roles):
            sizes |= dict(zip(own, array.shape))
        for array, own in zip(arrays, roles):
            # Without a mesh to name its axes XLA knows one of its own.
            spec = getattr(array.sharding, "spec", ())
            for letter, entry in zip(own, spec):
                names = ((entry,) if isinstance(entry, str) else
                         entry if isinstance(entry, tuple) else ())
                used = [name for taken in self.axes.values() for name in taken]
                if (letter is None or letter not in spreadable or not names or
                        letter in self.axes or set(names) & set(used)):
                    continue
                count = math.prod(mesh.shape[name] for name in names)
                whole = math.gcd(sizes[letter],
                                 sizes["g"] if letter == "h" else 0)
                if whole % count == 0:
                    self.axes[letter] = names

    def sharding(self, roles: Roles) -> NamedSharding:
        # Heads of keys go with those of queries.
        return NamedSharding(self.mesh, PartitionSpec(*[
            self.axes.get("h" if role == "g" else role or "") for role in roles]))

    def missing(self, roles: Roles) -> tuple[str, ...]:
        """The axes over which a gradient with these dimensions is a sum."""
        own = {"h" if role == "g" else role for role in roles}
        return tuple(name for letter, names in self.axes.items()
                     if letter not in own for name in names)


def _sum(array: Any, axes: tuple[str, ...]) -> Any:
    """Over devices, in f32."""
    if not axes:
        return array
    return jax.lax.psum(array.astype(jnp.float32), axes).astype(array.dtype)


def _rule(inputs: Sequence[Roles], results: Sequence[Roles],
          sizes: dict[Optional[str], int], spreadable: str
          ) -> tuple[str, dict[str, Any]]:
    """For Shardy: https://openxla.org/shardy/sharding_representation."""
    names = iter(range(1000))
    grouped = sizes["h"] != sizes["g"]

    def factor(role: Optional[str]) -> str:
        if role is None:
            return f"x{next(names)}"
        if role in "hg":
            # A group of heads of queries shares one of keys.
            return "g" if role == "g" or not grouped else "(g r)"
        return role

    text = " -> ".join(", ".join(" ".join(map(factor, roles)) for roles in side)
                       for side in (inputs, results))
    # In the order in which they come, as Shardy asks for.
    words = dict.fromkeys(re.findall(r"\w+", text))
    whole = tuple(word for word in words if word in "bnqdekryuvw" and
                  word not in spreadable)
    options: dict[str, Any] = {"need_replication_factors": whole}
    if grouped:
        options["r"] = sizes["h"] // sizes["g"] if sizes["g"] else 1
    return text, options


def partitioned(function: Callable[..., Sequence[Any]], arrays: Sequence[Any],
                inputs: Sequence[Roles], results: Sequence[Roles], spreadable: str
                ) -> list[Any]:
    """What `function` gives of the arrays, spread as XLA finds best along the
    letters of `spreadable`. It runs on each device's part; results without a
    dimension that is spread are partial sums."""
    call = custom_partitioning(lambda *parts: tuple(function(*parts)))
    sizes: dict[Optional[str], int] = {}
    for array, roles in zip(arrays, inputs):
        sizes |= dict(zip(roles, array.shape))

    def spread(mesh: Mesh, given: Sequence[Any], made: Sequence[Any]) -> _Spread:
        # The query and the output, or its own gradients.
        return _Spread(mesh, [*given, *made], [*inputs, *results], spreadable)

    def partition(mesh: Mesh, given: Sequence[Any], made: Sequence[Any]) -> Any:
        found = spread(mesh, given, made)

        def run(*parts: Any) -> tuple[Any, ...]:
            return tuple(_sum(array, found.missing(roles))
                         for array, roles in zip(function(*parts), results))

        return (mesh, run, tuple(map(found.sharding, results)),
                tuple(map(found.sharding, inputs)))

    def infer(mesh: Mesh, given: Sequence[Any], made: Sequence[Any]) -> Any:
        found = _Spread(mesh, given, inputs, spreadable)
        return tuple(map(found.sharding, results))

    call.def_partition(partition, infer_sharding_from_operands=infer,
                       sharding_rule=lambda *_: _rule(inputs, results, sizes, spreadable))
    return list(call(*arrays))
