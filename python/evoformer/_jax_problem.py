"""What JAX's programs hold of an attention: operands of rank 5 and a Signature.

Inside of JAX, query, key, value, gate and output have the five dimensions `bnshd`
in the order of the signature's letters, biases are [b, n, h, sq, sk], lengths [b, n], lse is
[b, n, h, sq] and stats [2, b, n, h, sq]. Cumulative lengths are [sequences + 1]. The
state of dropout is four uint32, the halves of a seed and an offset, lower ones first:
programs without 64-bit types have no int64."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, Optional

import jax
import jax.numpy as jnp

from . import _keys, _problem, _score

_NAMES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "i1",
          "int32": "i32"}


def meta(array: Any) -> _problem.Meta:
    """JAX's arrays are dense, in row-major order. `array` may be traced, or have
    a shape and dtype alone."""
    return _problem.Meta(tuple(array.shape), _problem.dense(array.shape),
                         _NAMES.get(array.dtype.name, array.dtype.name))


# As kernels read it.
STATE = _problem.Meta((2,), (1,), "int64")


@dataclasses.dataclass(frozen=True)
class Signature:
    """What is known of an attention besides its operands' shapes and types. The
    operands are query, key, value, biases, of which the last ones may be captures, with
    `gated` the gate, and those of `lengths`, which are some of Lengths.named(); with
    cumulative ones `most` are the most queries and keys of a sequence. Outputs, in the
    backward pass alone, may have a type other than the query's."""
    letters: str
    biases: int
    gated: bool
    scale: Optional[float]
    keys: _keys.Keys = _keys.ALL
    lengths: tuple[str, ...] = ()
    most: tuple[Optional[int], Optional[int]] = (None, None)
    output_type: Optional[str] = None

    def problem(self, operands: Sequence[Any]) -> _problem.Attention:
        query, key, value, *rest = map(meta, operands)
        lengths = dict(zip(self.lengths, rest[len(rest) - len(self.lengths):]))
        keys, queries, query_starts, key_starts = map(lengths.get, (
            "key_lengths", "query_lengths", "cu_seqlens_q", "cu_seqlens_k"))
        return _problem.Attention(
            query, key, value, rest[:self.biases],
            rest[self.biases] if self.gated else None, self.scale, self.letters,
            [i for i, b in enumerate(rest[:self.biases]) if b.type not in ("i1", "i32")],
            self.keys,
            _problem.Lengths(keys, queries, query_starts, key_starts, *self.most,
                             STATE if "dropout_state" in self.lengths else None),
            self.output_type)

    @property
    def ragged(self) -> bool:
        return "cu_seqlens_q" in self.lengths

    @property
    def tables(self) -> list[str]:
        """Those biases whose last dimension holds a table's entries."""
        first = self.biases - self.keys.captures
        return [f"bias{first + number}" for number in _score.find_tables(self.keys.score)]

    @property
    def counted(self) -> str:
        """Those of b, n and h whose numbers results depend on: kernels must see all."""
        if self.keys.dropout_p:
            return "bnh"
        return "".join(c for c in "bnh" if re.search(rf"%{c}\b", self.keys.score))

    def names(self) -> list[str]:
        """The operands, as gradients are called."""
        return (["query", "key", "value"] +
                [f"bias{i}" for i in range(self.biases)] + ["gate"] * self.gated +
                list(self.lengths))

    def is_sequence(self, name: str) -> bool:
        """Whether the dimensions are those of `letters`."""
        return not name.startswith("bias") and name not in self.lengths

    def dimensions(self, name: str) -> str:
        """The letters of an operand's dimensions; e: of cumulative lengths and of the
        state."""
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

    def weights_shapes(self, operands: Sequence[Any]) -> list[jax.ShapeDtypeStruct]:
        """[b, n, h, sq, sk] of the weights; with cumulative lengths sq and sk are the
        most of a sequence, and n or b counts these."""
        sizes, _ = self.problem(operands[:len(self.names())]).weights_view()
        return [jax.ShapeDtypeStruct(sizes, operands[0].dtype)]
