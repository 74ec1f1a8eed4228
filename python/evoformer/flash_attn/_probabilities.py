"""Probabilities and what dropout dropped of them, where a caller asks for both."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_MOST_COLUMNS = 256


def _get_block_size_n(device: Any, head_dim: int, is_dropout: bool, is_causal: bool) -> int:
    """Of how many keys the largest weight is what FlashAttention's third result is
    relative to: of all of them."""
    return 2 ** 31 - 1


@torch.no_grad()
def find(call: Callable[..., Tensor], keys: int, make_values: Callable[[Tensor], Tensor],
         **dropout: Any) -> Tensor:
    """[..., keys]: the softmax over the largest of its row, negative where it is dropped.
    Each column is what `call` gives for values that are 1 of its key and 0 of others, with
    dropout and without: `make_values` makes them of the numbers of some keys."""
    columns = []
    for first in range(0, max(keys, 1), _MOST_COLUMNS):
        numbers = torch.arange(first, max(min(first + _MOST_COLUMNS, keys), first + 1),
                               device=dropout["dropout_state"].device)
        values = make_values(numbers)
        softmax, kept = call(values), call(values, **dropout)
        columns.append(torch.where((kept == 0) & (softmax > 0), -softmax, softmax))
    found = torch.cat(columns, -1)[..., :keys]
    largest = found.abs().amax(-1, keepdim=True) if keys else found
    return found / torch.where(largest == 0, 1, largest)


def find_dense(call: Callable[..., Tensor], key: Tensor, **dropout: Any) -> Tensor:
    """[b, h, sq, sk] of key [b, sk, hk, d]; `call`: of values [b, sk, hk, some]."""
    batch, size, heads, _ = key.shape
    places = torch.arange(size, device=key.device)[:, None, None]
    return find(call, size, lambda numbers: (places == numbers).to(key.dtype).expand(
        batch, size, heads, len(numbers)), **dropout).transpose(1, 2)


def find_packed(call: Callable[..., Tensor], key: Tensor, query_starts: Tensor,
                key_starts: Tensor, most_queries: int, most_keys: int,
                **dropout: Any) -> Tensor:
    """[sequences, h, most_queries, most_keys] of key [total, hk, d]; 0 where a sequence
    has no such query or key. `call`: of values [total, hk, some]."""
    _, places = _find_places(key_starts, len(key))
    shown = find(call, most_keys, lambda numbers: (
        places[:, None, None] == numbers).to(key.dtype).expand(-1, key.shape[1], -1),
        **dropout)
    sequences, places = _find_places(query_starts, len(shown))
    count = len(query_starts) - 1
    there = (sequences < count) & (places < most_queries)
    result = shown.new_zeros(count, most_queries, *shown.shape[1:])
    result[sequences[there], places[there]] = shown[there]
    return result.transpose(1, 2)


def _find_places(starts: Tensor, total: int) -> tuple[Tensor, Tensor]:
    """The sequence of each position, as many as there are for none, and where it is in
    that."""
    positions = torch.arange(total, device=starts.device)
    sequences = torch.searchsorted(starts[1:].contiguous(), positions, right=True)
    return sequences, positions - starts[sequences.clamp(max=len(starts) - 1)]
