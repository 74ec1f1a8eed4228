"""Which keys a query sees: causal attention, sliding windows, and bounds as text."""

import functools
import operator
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy as np


class Keys(NamedTuple):
    """The first key and the one behind the last, as words of the C interface have them
    (evoformer-c/Compile.h); empty where there is no such bound. And what makes logits
    of the scores of those that a query sees: likewise, and how many of the biases, the
    last ones, it captures instead of adding them. And with which probability weights
    are dropped, and how they are made of logits; empty: by softmax."""
    first: str = ""
    end: str = ""
    score: str = ""
    captures: int = 0
    dropout_p: float = 0.0
    weights: str = ""


ALL = Keys()

# Query i sees itself at most, counted from the first query and key: torch's meaning.
CAUSAL_FROM_FIRST = (None, "i+1")

# Numbers in bounds are at most this. Sequences are shorter.
_LARGEST = 2 ** 30

WINDOW = ("accepted is a pair (left, right) of numbers of keys, each 0 or more, or "
          "-1 or None for all")
_BOUND = ("accepted are sums of i or i/c*c, sq, sk and numbers up to 2^30, like "
          "'i/32*32+sk-sq-48', where i, sq and sk have the coefficients 0 or 1, -1 to "
          "1 and -1 to 1")


def resolve(causal: bool, window: Optional[Sequence[Optional[int]]],
            keys: Optional[Sequence[Optional[str]]]) -> Keys:
    """The bounds that arguments of `attention` stand for. What a bound says is
    checked later, by `parse`."""
    if causal is False and window is None and keys is None:
        return ALL
    if not isinstance(causal, (bool, np.bool_)):
        raise TypeError(f"causal is {causal!r}; accepted are True and False")
    if keys is not None:
        if causal or window is not None:
            raise ValueError("keys is given with causal or window; accepted is one "
                             "or the other")
        return _texts(keys)
    left, right = (-1, -1) if window is None else _sides(window)
    if causal:
        right = 0
    # The last query is beside the last key.
    return Keys(f"i+sk-sq-{left}" if 0 <= left < _LARGEST else "",
                f"i+sk-sq+{right + 1}" if 0 <= right < _LARGEST else "")


def _sides(window: Any) -> tuple[int, int]:
    if not isinstance(window, (tuple, list)):
        raise TypeError(f"window is a {type(window).__name__}; {WINDOW}")
    if len(window) != 2:
        raise ValueError(f"window is {tuple(window)}, of {len(window)} numbers; "
                         f"{WINDOW}")
    return _side(window, window[0]), _side(window, window[1])


def _side(window: Any, given: Any) -> int:
    if given is None:
        return -1
    if isinstance(given, (float, str, bool)):
        raise TypeError(f"window is {tuple(window)}; {WINDOW}")
    try:
        side = operator.index(given)
    except TypeError:  # No integer, or a traced one that has no value yet.
        raise TypeError(f"window is {tuple(window)}; {WINDOW}") from None
    if side < -1:
        raise ValueError(f"window is {tuple(window)}; {WINDOW}")
    return side


def _texts(keys: Any) -> Keys:
    if (not isinstance(keys, (tuple, list)) or len(keys) != 2 or
            not all(bound is None or isinstance(bound, str) for bound in keys)):
        raise TypeError(f"keys is {keys!r}; accepted is a pair of texts, the first "
                        "key and the one behind the last, either None for all")
    first, end = ("" if bound is None else bound.replace(" ", "") for bound in keys)
    return Keys(first, end)


class Bound(NamedTuple):
    """coefficient * (i // granule) * granule + queries * sq + keys * sk + constant"""
    coefficient: int
    granule: int
    queries: int
    keys: int
    constant: int

    def at(self, query: Any, queries: int, keys: int) -> Any:
        """Of one query, or of an array of them."""
        return (self.coefficient * (query // self.granule) * self.granule +
                self.queries * queries + self.keys * keys + self.constant)


_TERM = re.compile(r"([+-]?)(?:(sq)|(sk)|i/([0-9]{1,10})\*([0-9]{1,10})|(i)|([0-9]{1,10}))")


@functools.lru_cache(maxsize=None)
def parse(text: str) -> Bound:
    """As the compiler reads it (KeyBound::parse)."""
    counts = {"i": 0, "sq": 0, "sk": 0, "1": 0}
    granule, at = 1, 0
    while at < len(text) or not at:
        term = _TERM.match(text, at)
        if (term is None or at and not term[1] or term[4] != term[5] or
                int(term[7] or 0) > _LARGEST):
            raise ValueError(f"keys has the bound {text!r}; {_BOUND}")
        sign = -1 if term[1] == "-" else 1
        name = term[2] or term[3] or ("1" if term[7] else "i")
        if name == "i":
            divisor = int(term[4] or 1)
            if counts["i"] and granule != divisor:
                raise ValueError(f"keys has the bound {text!r}; {_BOUND}")
            granule = divisor
        counts[name] += sign * int(term[7] or 1)
        at = term.end()
    if (counts["i"] not in (0, 1) or abs(counts["sq"]) > 1 or abs(counts["sk"]) > 1 or
            abs(counts["1"]) > _LARGEST or not 1 <= granule <= _LARGEST):
        raise ValueError(f"keys has the bound {text!r}; {_BOUND}")
    return Bound(counts["i"], granule if counts["i"] else 1, counts["sq"], counts["sk"], counts["1"])


def check(keys: Keys) -> None:
    for text in keys[:2]:
        if text:
            parse(text)


def count_pairs(keys: Keys, queries: int, num_keys: int) -> int:
    """How many pairs of a query and a key it sees there are."""
    if keys[:2] == ALL[:2]:
        return queries * num_keys
    queries, num_keys = int(queries), int(num_keys)
    index = np.arange(queries)
    first, end = np.zeros_like(index), np.full_like(index, num_keys)
    if keys[0]:
        first = np.maximum(first, parse(keys[0]).at(index, queries, num_keys))
    if keys[1]:
        end = np.minimum(end, parse(keys[1]).at(index, queries, num_keys))
    return int(np.maximum(end - first, 0).sum())


def count_seen(keys: Keys, queries: int, num_keys: int) -> int:
    """How many keys there are from the first to the last that any query sees."""
    if not queries:
        return 0
    if keys[:2] == ALL[:2]:
        return num_keys
    # Bounds do not fall with the query.
    first = max(parse(keys[0]).at(0, queries, num_keys), 0) if keys[0] else 0
    end = num_keys
    if keys[1]:
        end = min(parse(keys[1]).at(queries - 1, queries, num_keys), num_keys)
    return max(end - first, 0)
