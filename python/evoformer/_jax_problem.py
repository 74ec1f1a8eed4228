"""What JAX's programs hold of an attention: operands of rank 5 and a Signature.

Inside of JAX, query, key, value, gate and output have the five dimensions `bnshd`
in the order of the signature's letters, biases are [b, n, h, sq, sk], lengths [b, n], lse is
[b, n, h, sq] and stats [2, b, n, h, sq]. Cumulative lengths are [sequences + 1]."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Optional

import jax
import jax.numpy as jnp

from . import _keys, _problem

_NAMES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "i1",
          "int32": "i32"}


def meta(array: Any) -> _problem.Meta:
    """JAX's arrays are dense, in row-major order. `array` may be traced, or have
    a shape and dtype alone."""
    return _problem.Meta(tuple(array.shape), _problem.dense(array.shape),
                         _NAMES.get(array.dtype.name, array.dtype.name))


@dataclasses.dataclass(frozen=True)
class Signature:
    """What is known of an attention besides its operands' shapes and types. The
    operands are query, key, value, biases, with `gated` the gate, and those of
    `lengths`, which are some of Lengths.named(); with cumulative ones `most` are the
    most queries and keys of a sequence."""
    letters: str
    biases: int
    gated: bool
    scale: Optional[float]
    keys: _keys.Keys = _keys.ALL
    lengths: tuple[str, ...] = ()
    most: tuple[Optional[int], Optional[int]] = (None, None)

    def problem(self, operands: Sequence[Any]) -> _problem.Attention:
        query, key, value, *rest = map(meta, operands)
        lengths = dict(zip(self.lengths, rest[len(rest) - len(self.lengths):]))
        keys, queries, query_starts, key_starts = map(lengths.get, (
            "key_lengths", "query_lengths", "cu_seqlens_q", "cu_seqlens_k"))
        return _problem.Attention(
            query, key, value, rest[:self.biases],
            rest[self.biases] if self.gated else None, self.scale, self.letters,
            [i for i, b in enumerate(rest[:self.biases]) if b.type != "i1"],
            self.keys,
            _problem.Lengths(keys, queries, query_starts, key_starts, *self.most))

    @property
    def ragged(self) -> bool:
        return "cu_seqlens_q" in self.lengths

    def names(self) -> list[str]:
        """The operands, as gradients are called."""
        return (["query", "key", "value"] +
                [f"bias{i}" for i in range(self.biases)] + ["gate"] * self.gated +
                list(self.lengths))

    def is_sequence(self, name: str) -> bool:
        """Whether the dimensions are those of `letters`."""
        return not name.startswith("bias") and name not in self.lengths

    def dimensions(self, name: str) -> str:
        """The letters of an operand's dimensions; e: of cumulative lengths."""
        if self.is_sequence(name):
            return self.letters
        if name.startswith("bias"):
            return "bnhqk"
        return "bn" if name.endswith("_lengths") else "e"

    def axis(self, name: str, letter: str) -> int:
        """Where an operand has the dimension b, n or h."""
        return self.dimensions(name).index(letter)

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
