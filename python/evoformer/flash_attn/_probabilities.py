"""Probabilities and what dropout dropped of them, where a caller asks for both."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def _get_block_size_n(device: Any, head_dim: int, is_dropout: bool, is_causal: bool) -> int:
    """Of how many keys the largest weight is what FlashAttention's third result is
    relative to: of all of them."""
    return 2 ** 31 - 1


@torch.no_grad()
def find(call: Callable[..., Tensor], **dropout: Any) -> Tensor:
    """[..., sq, sk]: the softmax over the largest of its row, negative where it is dropped.
    `call` gives attention_weights."""
    weights = call(**dropout)
    if not weights.shape[-1]:
        return weights
    largest = weights.abs().amax(-1, keepdim=True)
    return weights / torch.where(largest == 0, 1, largest)
