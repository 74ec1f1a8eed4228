"""What JAX's programs hold of an attention: operands of rank 5 and a Signature.

Inside of JAX, query, key, value, gate and output have the five dimensions `bnshd`
in the order of the signature's letters, biases are [b, n, h, sq, sk], lse is
[b, n, h, sq] and stats [2, b, n, h, sq]."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Optional

import jax
import jax.numpy as jnp

from . import _keys, _problem

_NAMES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "i1"}


def meta(array: Any) -> _problem.Meta:
    """JAX's arrays are dense, in row-major order. `array` may be traced, or have
    a shape and dtype alone."""
    return _problem.Meta(tuple(array.shape), _problem.dense(array.shape),
                         _NAMES.get(array.dtype.name, array.dtype.name))


@dataclasses.dataclass(frozen=True)
class Signature:
    """What is known of an attention besides its operands' shapes and types. The
    operands are query, key, value, biases and, with `gated`, the gate."""
    letters: str
    biases: int
    gated: bool
    scale: Optional[float]
    keys: _keys.Keys = _keys.ALL

    def problem(self, operands: Sequence[Any]) -> _problem.Attention:
        query, key, value, *rest = map(meta, operands)
        return _problem.Attention(
            query, key, value, rest[:self.biases],
            rest[self.biases] if self.gated else None, self.scale, self.letters,
            [i for i, b in enumerate(rest[:self.biases]) if b.type != "i1"],
            self.keys)

    def names(self) -> list[str]:
        """The operands, as gradients are called."""
        return (["query", "key", "value"] +
                [f"bias{i}" for i in range(self.biases)] + ["gate"] * self.gated)

    def is_sequence(self, name: str) -> bool:
        """Whether the dimensions are those of `letters`, not a bias's."""
        return not name.startswith("bias")

    def axis(self, name: str, letter: str) -> int:
        """Where an operand has the dimension b, n or h."""
        return (self.letters if self.is_sequence(name) else "bnhqk").index(letter)

    def shapes(self, operands: Sequence[Any], lse: bool, stats: bool
               ) -> list[jax.ShapeDtypeStruct]:
        """Of the output, lse and stats."""
        problem = self.problem(operands)
        shapes = [jax.ShapeDtypeStruct(problem.shape, operands[0].dtype)]
        if lse:
            shapes.append(jax.ShapeDtypeStruct(problem.lse_shape, jnp.float32))
        if stats:
            shapes.append(jax.ShapeDtypeStruct(problem.stats_shape, jnp.float32))
        return shapes
