"""What lengths say, read on the host where it is asked for: kernels hold any numbers
within what there is, which hides mistakes."""

from collections.abc import Sequence
from typing import Any, Optional

from . import _problem


def _numbers(name: str, array: Any) -> Any:
    try:
        return array.tolist()
    except AttributeError:
        raise TypeError(f"{name} is a {type(array).__name__}; accepted is an array in "
                        "int32") from None
    except Exception as problem:
        raise TypeError(f"{name} has no values yet, which check_lengths reads "
                        f"({type(problem).__name__}); accepted is a call outside of "
                        "compiled programs, or check_lengths=False") from problem


def _check(name: str, numbers: Any, most: int, letter: str, at: str = "") -> None:
    if isinstance(numbers, list):
        for i, one in enumerate(numbers):
            _check(name, one, most, letter, f"{at}, {i}" if at else str(i))
    elif not 0 <= numbers <= most:
        raise ValueError(f"{name}[{at}] is {numbers}; accepted are 0 to {most}, the size "
                         f"of dimension 's' of {letter}")


def _check_starts(name: str, numbers: Sequence[int], most: Optional[int]) -> None:
    for i, (start, end) in enumerate(zip(numbers, numbers[1:])):
        if end < start:
            raise ValueError(f"{name}[{i + 1}] is {end}, {name}[{i}] is {start}; accepted "
                             "are numbers that do not decrease")
        if most is not None and end - start > most:
            raise ValueError(
                f"{name}[{i}] is {start}, {name}[{i + 1}] is {end}: sequence {i} has "
                f"{end - start} positions; accepted are up to max_seqlen, {most}")


def check(query: Any, key: Any, layout: Optional[str], lengths: _problem.Lengths) -> None:
    """Raises where a length or cumulative length is below 0 or beyond what there is,
    and where cumulative ones decrease. Waits for the device."""
    if not all(hasattr(array, "shape") for array in (query, key)):
        return  # Refused with the other operands.
    letters = _problem.layout_or_default(layout, len(query.shape))
    if letters.count("s") != 1 or any(len(letters) != len(array.shape)
                                      for array in (query, key)):
        return  # Refused with the other operands.
    at = letters.index("s")
    most = {"query": int(query.shape[at]), "key": int(key.shape[at])}
    for name, array in lengths.named().items():
        of = "key" if name in ("key_lengths", "cu_seqlens_k") else "query"
        numbers = _numbers(name, array)
        _check(name, numbers, most[of], of)
        if name.startswith("cu_seqlens") and numbers and not isinstance(numbers[0], list):
            _check_starts(name, numbers,
                          lengths.most_keys if of == "key" else lengths.most_queries)
