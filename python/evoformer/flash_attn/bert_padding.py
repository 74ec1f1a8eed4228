"""FlashAttention's helpers for batches of several lengths: which positions of [b, s, ...]
there are, packed one behind the other as the varlen functions read them, and back."""

from typing import Optional

import torch
from torch import Tensor


def index_first_axis(input: Tensor, indices: Tensor) -> Tensor:
    """The rows of `input` that `indices` names, in its order."""
    return input[indices]


def index_put_first_axis(values: Tensor, indices: Tensor, first_axis_dim: int) -> Tensor:
    """`first_axis_dim` rows, those of `indices` from `values`, which come in its order,
    others 0."""
    return values.new_zeros(first_axis_dim, *values.shape[1:]).index_put((indices,), values)


def _accumulate(lengths: Tensor) -> Tensor:
    return torch.nn.functional.pad(lengths.cumsum(0, dtype=torch.int32), (1, 0))


def _most(lengths: Tensor) -> int:
    return int(lengths.max()) if lengths.numel() else 0


def _check(hidden_states: Tensor, **masks: Optional[Tensor]) -> None:
    for name, mask in masks.items():
        if mask is not None and mask.shape != hidden_states.shape[:2]:
            raise ValueError(f"{name} has shape {tuple(mask.shape)}; accepted is "
                             f"{tuple(hidden_states.shape[:2])}, the first two dimensions "
                             "of hidden_states")


def unpad_input(hidden_states: Tensor, attention_mask: Tensor,
                unused_mask: Optional[Tensor] = None
                ) -> tuple[Tensor, Tensor, Tensor, int, Tensor]:
    """FlashAttention's: of hidden_states [b, s, ...] the positions where attention_mask
    or unused_mask, [b, s] of bool or 0 and 1, not both 1, hold, as [total, ...].

    Returns these; their indices in b * s; cu_seqlens (b + 1,) in int32; the most that a
    row has; and how many positions of each row attention_mask has, in int32. What a row
    has at most is read by the host."""
    _check(hidden_states, attention_mask=attention_mask, unused_mask=unused_mask)
    mask = attention_mask if unused_mask is None else attention_mask + unused_mask
    lengths = mask.sum(-1, dtype=torch.int32)
    indices = mask.flatten().nonzero().flatten()
    return (index_first_axis(hidden_states.flatten(0, 1), indices), indices,
            _accumulate(lengths), _most(lengths),
            attention_mask.sum(-1, dtype=torch.int32))


def unpad_input_for_concatenated_sequences(
        hidden_states: Tensor, attention_mask_in_length: Tensor
) -> tuple[Tensor, Tensor, Tensor, int]:
    """FlashAttention's: rows of hidden_states [b, s, ...] begin with several sequences,
    whose lengths are the numbers of attention_mask_in_length [b, s] that are not 0.

    Returns their positions [total, ...], the indices of these in b * s, cu_seqlens
    (sequences + 1,) in int32, and the most that a sequence has."""
    _check(hidden_states, attention_mask_in_length=attention_mask_in_length)
    lengths = attention_mask_in_length.flatten()
    lengths = lengths[lengths != 0]
    places = torch.arange(hidden_states.shape[1], device=hidden_states.device)
    mask = places < attention_mask_in_length.sum(-1, keepdim=True)
    indices = mask.flatten().nonzero().flatten()
    return (index_first_axis(hidden_states.flatten(0, 1), indices), indices,
            _accumulate(lengths), _most(lengths))


def pad_input(hidden_states: Tensor, indices: Tensor, batch: int, seqlen: int) -> Tensor:
    """FlashAttention's: hidden_states [total, ...] where `indices` names them in
    [batch, seqlen, ...], others 0."""
    return index_put_first_axis(hidden_states, indices, batch * seqlen).unflatten(
        0, (batch, seqlen))
