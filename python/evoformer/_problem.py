"""From operands to a compiled call: checks, shapes, and what to compile.

Everything here happens once for each combination of shapes, strides and types;
the callers keep the result."""

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Optional

from . import _keys, _runtime, _score

# Sizes, and strides in elements.
View = tuple[tuple[int, ...], tuple[int, ...]]

TYPES = ("f16", "bf16", "f32")
BIAS_LETTERS = "bnhqk"


class Meta(NamedTuple):
    """An operand: sizes, strides in elements, and the type as MLIR says it
    (`f32`, `i1`, …) or, if it is another, as its framework does."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    type: str


class Lengths(NamedTuple):
    """How many keys and queries rows have, or where those of sequences start that lie
    one behind the other: of operands what a framework has, or their Metas; None where
    there are none. And the most queries and keys that such a sequence has, None: all
    there are. Beside them what else the device reads, the state of dropout: a seed and
    an offset."""
    keys: Any = None
    queries: Any = None
    query_starts: Any = None
    key_starts: Any = None
    most_queries: Optional[int] = None
    most_keys: Optional[int] = None
    dropout: Any = None

    def present(self) -> tuple[Any, ...]:
        return tuple(one for one in (*self[:4], self.dropout) if one is not None)

    def named(self) -> dict[str, Any]:
        """Those arrays that there are, in the order of the C interface."""
        names = ("key_lengths", "query_lengths", "cu_seqlens_q", "cu_seqlens_k",
                 "dropout_state")
        arrays = (*self[:4], self.dropout)
        return {name: one for name, one in zip(names, arrays) if one is not None}

    def map(self, function: Callable[[Any], Any]) -> "Lengths":
        """With other arrays."""
        keys, queries, query_starts, key_starts, dropout = (
            function(one) if one is not None else None
            for one in (*self[:4], self.dropout))
        return self._replace(keys=keys, queries=queries, query_starts=query_starts,
                             key_starts=key_starts, dropout=dropout)

    @property
    def ragged(self) -> bool:
        return self.query_starts is not None or self.key_starts is not None


NO_LENGTHS = Lengths()


def name_biases(count: int, captures: int = 0) -> list[str]:
    """What errors call biases, of which the last ones are what a score captures."""
    return [*(f"biases[{i}]" for i in range(count - captures)),
            *(f"captures[{i}]" for i in range(captures))]


def name_operands(query: Any, key: Any, value: Any, biases: Sequence[Any], gate: Any,
                  lengths: Lengths = NO_LENGTHS, captures: int = 0) -> dict[str, Any]:
    """Those that there are, by what errors call them."""
    operands = {"query": query, "key": key, "value": value}
    operands |= zip(name_biases(len(biases), captures), biases)
    if gate is not None:
        operands["gate"] = gate
    return operands | lengths.named()


def are_groups(heads: int, key_heads: int) -> bool:
    """Whether heads of queries may share those of keys and values, in groups of one
    size (Ainslie et al., "GQA", 2023)."""
    return heads == key_heads or (key_heads != 0 and heads != 0 and
                                  heads % key_heads == 0)


def _text(meta: Meta) -> str:
    return f"{'x'.join(map(str, meta.shape)) or 'scalar'} {meta.type}"


def dense(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of a dense array in row-major order."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


class Layout:
    """The order of dimensions of query, key, value, gate and output: letters of
    `bnshd`; b, n and h may be left out and then have size 1. Biases have the
    same ones left out of `bnhqk`, lse of `bnhq`."""

    def __init__(self, letters: str, ragged: bool = False) -> None:
        """`ragged`: the sequence is the b of biases, whatever letters there are."""
        if not isinstance(letters, str):
            raise TypeError(f"layout is a {type(letters).__name__}; accepted are "
                            "the letters of 'bnshd'")
        if (sorted(set(letters)) != sorted(letters) or
                not set("sd") <= set(letters) <= set("bnshd")):
            raise ValueError(
                f"layout {letters!r}: accepted are the letters of 'bnshd' in "
                "any order, each at most once, with 's' and 'd' among them")
        self.letters = letters
        self.bias = "".join(c for c in BIAS_LETTERS
                            if c in letters or c in "qk" or (ragged and c == "b"))
        self.statistic = "".join(c for c in "bnhq" if c in letters or c == "q")
        self.rows = "".join(c for c in "bn" if c in letters)

    def statistic_order(self) -> list[int]:
        """Which dimensions of a statistic are those of a sequence without depth."""
        return [self.statistic.index("q" if c == "s" else c)
                for c in self.letters if c != "d"]

    def spread(self, meta: Meta, wanted: str = "bnshd",
               letters: Optional[str] = None) -> View:
        """Sizes and strides in the order `wanted`; what is left out is 1."""
        at = {c: i for i, c in enumerate(letters or self.letters)}
        return (tuple(meta.shape[at[c]] if c in at else 1 for c in wanted),
                tuple(meta.strides[at[c]] if c in at else 0 for c in wanted))


def layout_or_default(layout: Optional[str], rank: int) -> str:
    """The layout, or `bnshd` without what a smaller rank leaves out, from the left."""
    if layout is not None:
        return layout
    if not 3 <= rank <= 5:
        raise ValueError(f"query has rank {rank}; accepted is 3 to 5")
    return "bnshd"[5 - rank:]


def _call(where: _runtime.Device, description: str,
          views: "Sequence[View | int]") -> _runtime.Call:
    program = where.compile(_runtime.describe(description),
                            _runtime.schedule_shape(description, views))
    return _runtime.Call(program, where, views)


class Attention:
    """One attention: checked operands, result shapes, and compiled calls.

    `shape` is the output's and `type` the operands'. `copies` are positions
    among query, key, value and gate of those whose last dimension is not
    contiguous in memory: the kernels read rows, so that the caller passes
    contiguous ones instead. `differentiable` has the numbers of the biases whose
    gradient may be asked for: where others are expanded (stride 0), they are
    read as what they were before. `output_type` is that of the output and its
    gradient, the operands' if it is None.
    """

    def __init__(self, query: Meta, key: Meta, value: Meta,
                 biases: Sequence[Meta] = (), gate: Optional[Meta] = None,
                 scale: Optional[float] = None, layout: Optional[str] = None,
                 differentiable: Collection[int] = (),
                 keys: _keys.Keys = _keys.ALL,
                 lengths: Lengths = NO_LENGTHS,
                 output_type: Optional[str] = None) -> None:
        rank = len(query.shape)
        self._dropout = _check_dropout(keys.dropout_p, lengths.dropout)
        lengths = lengths._replace(dropout=None)
        self.layout = Layout(layout_or_default(layout, rank), lengths.ragged)
        self._check_sequences(query, key, value, gate)
        self.scale = _check_scale(scale)
        _keys.check(keys)
        self.keys = keys
        # Of the biases the last ones, which the score reads and nobody adds.
        self.first_capture = len(biases) - keys.captures
        # Of captures that are tables, how many entries these have.
        self._tables = {self.first_capture + number: entries for number, entries in
                        (_score.find_tables(keys.score) if keys.score else {}).items()}
        self._bias_names = name_biases(len(biases), keys.captures)
        self.type = query.type
        self._output_type = output_type or query.type
        self.gate_type = gate.type if gate is not None else None
        self.copies = tuple(
            i for i, meta in enumerate((query, key, value, gate))
            if meta is not None and self.needs_copy(meta.shape, meta.strides))
        views = [self.layout.spread(self._as_passed(meta))
                 for meta in (query, key, value)]
        (b, n, sq, h, d), (sk, dv) = views[0][0], (views[2][0][2],
                                                   views[2][0][4])
        # As memory has them; ragged sequences have a b each, and others elsewhere.
        self.memory = {"b": b, "n": n, "h": h, "q": sq, "k": sk, "s": sq, "d": dv}
        self.sizes = {"b": b, "n": n, "h": h, "q": sq, "k": sk, "d": d, "e": dv}
        self.ragged = lengths.ragged
        if self.ragged:
            self.sizes |= self._check_ragged(lengths)
        # How many heads of queries share one of keys and values.
        self.group_size = h // views[1][0][3] if h else 1
        # Where they have one for all.
        self.shared = "".join(c for c, own, all_ in zip("bn", views[1][0], (b, n))
                              if own == 1 != all_)
        # How many logits there are, and where rows have lengths at most.
        self.logits = n * h * count_pairs(keys, self.sizes, self.memory)
        self._views = views
        self._gate_view = (self.layout.spread(self._as_passed(gate))
                           if gate is not None else None)
        self._biases = [self._check_bias(i, bias, i in differentiable)
                        for i, bias in enumerate(biases)]
        self.num_biases = len(biases)
        self._lengths = {name: self._check_lengths(name, meta)
                         for name, meta in lengths.named().items()
                         if not self.ragged}
        self._starts = ([(meta.shape, meta.strides)
                         for meta in lengths.present()] if self.ragged else [])
        self.shape = tuple(self.memory[c] for c in self.layout.letters)
        self.lse_shape = tuple(self.memory[c] for c in self.layout.statistic)
        self.stats_shape = (2, *self.lse_shape)
        self.weights_shape = tuple(self.sizes[c] for c in self.layout.bias)

    # Checks ------------------------------------------------------------------

    def _check_sequences(self, query: Meta, key: Meta, value: Meta,
                         gate: Optional[Meta]) -> None:
        letters = self.layout.letters
        named = [("query", query), ("key", key), ("value", value)]
        if gate is not None:
            named.append(("gate", gate))
        for name, meta in named:
            if len(meta.shape) != len(letters):
                raise ValueError(
                    f"{name} has rank {len(meta.shape)} ({_text(meta)}); layout "
                    f"{letters!r} takes rank {len(letters)}")
        if query.type not in TYPES:
            given = "int32" if query.type == "i32" else query.type
            raise TypeError(f"query has type {given}; accepted are "
                            f"{', '.join(TYPES)}")
        for name, meta in named[1:]:
            accepted = ((query.type, "f32") if name == "gate" else
                        (query.type,))
            if meta.type not in accepted:
                raise TypeError(f"{name} has type {meta.type}; with a query of "
                                f"{query.type} accepted is "
                                f"{' or '.join(dict.fromkeys(accepted))}")
        sizes = [dict(zip(letters, meta.shape)) for _, meta in named]
        for (name, meta), own, model, free in zip(
                named[1:], sizes[1:], (sizes[0], sizes[1], sizes[0]),
                ("s", "d", "")):
            for letter in letters:
                wanted = model[letter]
                if letter == "h" and name == "key":
                    self._check_heads(named, wanted, own[letter])
                    continue
                if letter == "h" and name == "value":
                    wanted = sizes[1][letter]
                if name == "gate" and letter == "d":
                    wanted = sizes[2]["d"]
                # All b, and all n, may share the only one of keys and values.
                possible = [wanted]
                if name == "key" and letter in "bn":
                    possible = list(dict.fromkeys((wanted, 1)))
                if name == "value" and letter in "bn":
                    possible = [sizes[1][letter]]
                if letter != free and own[letter] not in possible:
                    raise ValueError(
                        f"{name} has size {own[letter]} of dimension "
                        f"'{letter}' where {' or '.join(map(str, possible))} is "
                        f"expected: layout {letters!r}, " +
                        ", ".join(f"{n} {_text(m)}" for n, m in named))
        for name, own in zip(("query", "value"), (sizes[0], sizes[2])):
            if not 1 <= own["d"] <= 256:
                raise ValueError(f"{name} has a head dimension of {own['d']}; "
                                 "accepted are 1 to 256")

    def _check_heads(self, named: Sequence[tuple[str, Meta]], heads: int,
                     key_heads: int) -> None:
        if not are_groups(heads, key_heads):
            raise ValueError(
                f"key has size {key_heads} of dimension 'h'; accepted is {heads}, "
                "the query's, or what divides it: layout "
                f"{self.layout.letters!r}, " +
                ", ".join(f"{n} {_text(m)}" for n, m in named))

    def _check_bias(self, number: int, bias: Meta, differentiable: bool
                    ) -> tuple[str, str, tuple[int, ...], tuple[int, ...]]:
        """(letters that it has, type, sizes, strides)."""
        letters = self.layout.bias
        is_capture = number >= self.first_capture
        name = self._bias_names[number]
        full = [self.sizes[c] for c in letters]
        if number in self._tables:
            full = [self.sizes[c] if c in "bh" else 1 for c in letters[:-1]]
            full.append(self._tables[number])
        missing = len(letters) - len(bias.shape)
        accepted = (f"{len(letters)} dimensions {letters!r}, each of size 1 or "
                    f"that of {tuple(full)}")
        if missing < 0:
            raise ValueError(f"{name} has rank {len(bias.shape)} "
                             f"({_text(bias)}); accepted are {accepted}")
        floats = tuple(dict.fromkeys((self.type, "f32")))
        if self.keys.weights and not is_capture and bias.type != "i1":
            raise TypeError(f"{name} has type {bias.type}; with weights that are no softmax "
                            "accepted is bool: what is added to a score stands in score")
        if number in self._tables:
            other: Optional[str] = None
        else:
            other = "i32" if is_capture else "i1"
        if bias.type not in floats and bias.type != other:
            accepted_types = (" and ".join(floats) if other is None else
                              ", ".join(floats) + " and int32" if is_capture else
                              ", ".join(floats) + " and bool")
            raise TypeError(
                f"{name} has type {bias.type}; with operands of "
                f"{self.type} accepted are {accepted_types}")
        shape = (1,) * missing + tuple(bias.shape)
        strides = (0,) * missing + tuple(bias.strides)
        for size, whole in zip(shape, full):
            if size not in (1, whole):
                raise ValueError(f"{name} has shape "
                                 f"{tuple(bias.shape)}; accepted are {accepted}")
        if not differentiable:
            shape = tuple(size if stride else min(size, 1)
                          for size, stride in zip(shape, strides))
        meta = Meta(shape, strides, bias.type)
        sizes, strides = self.layout.spread(meta, BIAS_LETTERS, letters)
        has = "".join(c for c, size in zip(BIAS_LETTERS, sizes)
                      if size != 1 and not (c == "k" and number in self._tables))
        return has, bias.type, sizes, strides

    def _check_lengths(self, name: str, meta: Meta) -> tuple[str, View]:
        """(letters that they have, sizes and strides)."""
        letters = self.layout.rows
        full = tuple(self.sizes[c] for c in letters)
        missing = len(letters) - len(meta.shape)
        shape = (1,) * missing + tuple(meta.shape)
        accepted = (f"{len(letters)} dimensions {letters!r}, each of size 1 or that of "
                    f"{full}" if letters else "none, a single number")
        if meta.type != "i32":
            raise TypeError(f"{name} has type {meta.type}; accepted is int32")
        if missing < 0 or any(size not in (1, whole)
                              for size, whole in zip(shape, full)):
            raise ValueError(f"{name} has shape {tuple(meta.shape)}; accepted are "
                             f"{accepted}")
        strides = (0,) * missing + tuple(meta.strides)
        # An expanded one is read as what it was before.
        shape = tuple(size if stride else min(size, 1)
                      for size, stride in zip(shape, strides))
        view = self.layout.spread(Meta(shape, strides, ""), "bn", letters or "-")
        return "".join(c for c, size in zip("bn", view[0]) if size != 1), view

    def _check_ragged(self, lengths: Lengths) -> dict[str, int]:
        """The sizes of the logits of sequences that lie one behind the other."""
        if lengths.keys is not None or lengths.queries is not None:
            raise ValueError("cu_seqlens and key_lengths or query_lengths given; "
                             "accepted is one of them")
        if self.memory["b"] != 1:
            raise ValueError(
                f"query has size {self.memory['b']} of dimension 'b'; with cu_seqlens "
                "accepted is 1: sequences lie one behind the other along 's'")
        if lengths.query_starts is None or lengths.key_starts is None:
            raise ValueError(f"{', '.join(lengths.named())} given alone; accepted are "
                             "cu_seqlens_q and cu_seqlens_k, or neither")
        counts = []
        for name, meta in lengths.named().items():
            if meta.type != "i32":
                raise TypeError(f"{name} has type {meta.type}; accepted is int32")
            if len(meta.shape) != 1 or meta.shape[0] < 1 or meta.strides[0] < 0:
                raise ValueError(
                    f"{name} has shape {tuple(meta.shape)}; accepted are cumulative "
                    "lengths (sequences + 1,)")
            counts.append(meta.shape[0])
        if counts[0] != counts[1]:
            raise ValueError(f"cu_seqlens_q has {counts[0]} numbers, cu_seqlens_k "
                             f"{counts[1]}; accepted is as many for both")
        sizes = {"b": counts[0] - 1}
        for name, letter, most in (("max_seqlen_q", "q", lengths.most_queries),
                                   ("max_seqlen_k", "k", lengths.most_keys)):
            try:
                sizes[letter] = (self.memory[letter] if most is None else
                                 operator.index(most))
            except TypeError:
                raise TypeError(f"{name} is a {type(most).__name__}; accepted is a "
                                "whole number") from None
            if not 0 <= sizes[letter] < 2 ** 31:
                raise ValueError(f"{name} is {most}; accepted are 0 to {2 ** 31 - 1}")
        return sizes

    def needs_copy(self, shape: Sequence[int], strides: Sequence[int]) -> bool:
        """Whether kernels cannot read it where it lies: the depth must be
        contiguous, and no stride negative."""
        at = self.layout.letters.index("d")
        return (shape[at] > 1 and strides[at] != 1 or
                any(stride < 0 for stride in strides))

    def _as_passed(self, meta: Meta) -> Meta:
        if self.needs_copy(meta.shape, meta.strides):
            # A contiguous copy, with the depth innermost.
            return self.depth_last(meta.shape, meta.type)
        return meta

    def depth_last(self, shape: Sequence[int], type_: str) -> Meta:
        """A dense tensor of this shape whose depth has stride 1."""
        letters = self.layout.letters
        order = sorted(range(len(letters)), key=lambda i: letters[i] == "d")
        packed = dense([shape[i] for i in order])
        strides = [0] * len(shape)
        for i, stride in zip(order, packed):
            strides[i] = stride
        return Meta(tuple(shape), tuple(strides), type_)

    # What is compiled --------------------------------------------------------

    def _words(self, output_type: str) -> list[str]:
        words = [f"type={self.type}", f"depth={self.sizes['d']}",
                 f"value_depth={self.sizes['e']}", f"out={output_type}"]
        if self.sizes["h"]:
            words.append(f"heads={self.sizes['h']}")
        if self.group_size != 1:
            words.append(f"group_size={self.group_size}")
        if self.shared:
            words.append(f"shared={self.shared}")
        words += [f"{'capture' if number >= self.first_capture else 'bias'}={has}:{type_}"
                  + (f":{self._tables[number]}" if number in self._tables else "")
                  for number, (has, type_, _, _) in enumerate(self._biases)]
        if self.gate_type:
            words.append(f"gate={self.gate_type}")
        if self.scale is not None:
            words.append(f"scale={self.scale!r}")
        words += [f"keys_{end}={bound}"
                  for end, bound in zip(("from", "to"), self.keys[:2]) if bound]
        if self.keys.score:
            words.append(f"score={self.keys.score}")
        words += [f"{name}={has}" for name, (has, _) in self._lengths.items()]
        words += ["ragged"] * self.ragged
        if self._dropout:
            words.append(f"dropout={self.keys.dropout_p!r}")
        if self.keys.weights:
            words.append(f"weights={self.keys.weights}")
        return words

    def describe_weights(self) -> str:
        """The words of the pass that makes weights from stats."""
        return " ".join([*self._words(self.type), "pass=weights"])

    def describe(self, lse: bool = False, stats: bool = False,
                 gradients: Optional[Sequence[str]] = None) -> str:
        """The words of evoformerDescribeAttention. With `gradients`, names of
        operands, those of the backward pass."""
        words = self._words(self._output_type)
        if gradients is None:
            words += ["lse"] * lse + ["stats"] * stats
        else:
            words += ["pass=backward",
                      "grad=" + ",".join(map(self._gradient_word, gradients))]
            # Then nothing of a pair bias's gradient is summed.
            words += [f"{word}=1" for word, letter in (("batch", "b"),
                                                       ("rows", "n"))
                      if self.sizes[letter] == 1]
        return " ".join(words)

    def _gradient_word(self, name: str) -> str:
        """What the C interface calls an operand, whose captures are no biases."""
        if not name.startswith("bias") or int(name[4:]) < self.first_capture:
            return name
        return f"capture{int(name[4:]) - self.first_capture}"

    def output(self) -> Meta:
        """The output's layout in memory."""
        return self.depth_last(self.shape, self._output_type)

    def _inputs(self) -> list[View]:
        views = list(self._views)
        views += [(sizes, strides) for _, _, sizes, strides in self._biases]
        if self._gate_view:
            views.append(self._gate_view)
        views += [view for _, view in self._lengths.values()] + self._starts
        if self._dropout is not None:
            views.append(self._dropout)
        return views

    def _numbers(self) -> "list[View | int]":
        """What calls are given behind their arrays."""
        return [self.sizes["q"], self.sizes["k"]] if self.ragged else []

    def _statistic_view(self) -> View:
        sizes = tuple(self.memory[c] for c in "bnhq")
        return sizes, dense(sizes)

    def _stats_view(self) -> View:
        sizes = (2, *self._statistic_view()[0])
        return sizes, dense(sizes)

    def forward_views(self, lse: bool = False, stats: bool = False
                      ) -> "list[View | int]":
        """Of query, key, value, biases, gate, lengths of keys and queries or starts of
        both, out, lse, stats; then numbers."""
        views = self._inputs() + [self.layout.spread(self.output())]
        views += [self._statistic_view()] * lse
        return [*views, *[self._stats_view()] * stats, *self._numbers()]

    def weights_view(self) -> View:
        sizes = tuple(self.sizes[c] for c in BIAS_LETTERS)
        return sizes, dense(sizes)

    def weights_views(self) -> "list[View | int]":
        """Of query, key, biases, lengths of keys and queries or starts of both, stats,
        weights; then numbers."""
        query, key, _, *others = self._inputs()
        return [query, key, *others, self._stats_view(), self.weights_view(),
                *self._numbers()]

    def backward_views(self, output_gradient: Meta, gradients: Sequence[str]
                       ) -> "list[View | int]":
        """Of query, key, value, biases, gate, lengths, out, stats, the output's
        gradient (a Meta) and then `gradients`, in that order; then numbers."""
        views = self._inputs() + [self.layout.spread(self.output()),
                                  self._stats_view(),
                                  self.layout.spread(output_gradient)]
        return [*views, *(self.gradient_view(name) for name in gradients),
                *self._numbers()]

    def forward(self, where: _runtime.Device, lse: bool = False,
                stats: bool = False) -> _runtime.Call:
        """A call that takes the arrays of `forward_views`."""
        return _call(where, self.describe(lse, stats),
                     self.forward_views(lse, stats))

    def weights(self, where: _runtime.Device) -> _runtime.Call:
        """A call that takes the arrays of `weights_views`."""
        return _call(where, self.describe_weights(), self.weights_views())

    def backward(self, where: _runtime.Device, output_gradient: Meta,
                 gradients: Sequence[str]) -> _runtime.Call:
        """A call that takes the arrays of `backward_views`."""
        return _call(where, self.describe(gradients=gradients),
                     self.backward_views(output_gradient, gradients))

    def gradient_names(self) -> list[str]:
        """All operands that have a gradient, in the order of the call."""
        names = ["query", "key", "value"]
        names += [f"bias{i}"
                  for i, bias in enumerate(self._biases)
                  if bias[1] not in ("i1", "i32")]
        return names + ["gate"] * (self.gate_type is not None)

    def gradient_view(self, name: str) -> View:
        if name.startswith("bias"):
            sizes = self._biases[int(name[4:])][2]
            return sizes, dense(sizes)
        views = dict(zip(("query", "key", "value"), self._views))
        if self._gate_view is not None:
            views["gate"] = self._gate_view
        sizes = views[name][0]
        letters = self.layout.letters
        shape = tuple(sizes["bnshd".index(c)] for c in letters)
        return self.layout.spread(self.depth_last(shape, ""))


def count_pairs(keys: _keys.Keys, sizes: dict[str, int], memory: dict[str, int]) -> int:
    """How many queries see how many keys, in all b of `sizes`; of sequences that lie
    one behind the other in `memory`, whose lengths only the device knows, at most."""
    # None has more than all of them.
    queries, num_keys = min(sizes["q"], memory["q"]), min(sizes["k"], memory["k"])
    pairs = _keys.count_pairs(keys, queries, num_keys)
    return min(sizes["b"] * pairs, memory["q"] * num_keys * memory["b"],
               memory["k"] * queries * memory["b"])


def _check_dropout(probability: float, state: Optional[Meta]) -> Optional[View]:
    """What the state's sizes and strides are, where weights are dropped."""
    if not probability:
        return None
    if state is None:
        raise ValueError(f"dropout_p is {probability} without dropout_state; accepted "
                         "are both, the state a seed and an offset in int64, (2,)")
    if state.type not in ("int64", "torch.int64"):
        raise TypeError(f"dropout_state has type {state.type}; accepted is int64")
    if state.shape != (2,) or state.strides[0] < 0:
        raise ValueError(f"dropout_state has shape {state.shape}; accepted is (2,), a "
                         "seed and an offset")
    return state.shape, state.strides


def renamed(names: Mapping[str, str], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose errors name operands as callers of another one have them."""
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except (TypeError, ValueError) as problem:
            operand, _, what = str(problem).partition(" ")
            if type(problem) not in (TypeError, ValueError) or operand not in names:
                raise
            raise type(problem)(f"{names[operand]} {what}") from None
    return call


def to_number(name: str, value: Any, accepted: str = "a number") -> float:
    """The argument of this name as Python's own float."""
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is a {type(value).__name__}; accepted is {accepted}"
                        ) from None


def _check_scale(scale: Any) -> Optional[float]:
    if scale is None:
        return None
    number = to_number("scale", scale)
    if not math.isfinite(number) or abs(number) > 3.4028234663852886e38:
        raise ValueError(f"scale is {scale}; accepted is a finite float32")
    return number
