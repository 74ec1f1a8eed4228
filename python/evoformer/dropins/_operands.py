"""Checks of what drop-ins are given, by the names that their callers use."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor


def may_look(tensor: Tensor) -> bool:
    """Whether values of a tensor may decide something: it has some, and no program is
    recorded, which serves other values."""
    return not (tensor.is_meta or torch.compiler.is_compiling() or
                torch._C._is_tracing() or isinstance(tensor, FakeTensor))


def check_tensors(**tensors: Any) -> None:
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} is a {type(tensor).__name__}; accepted is a "
                            "torch.Tensor")


def check_optional(**tensors: Any) -> None:
    check_tensors(**{name: tensor for name, tensor in tensors.items()
                     if tensor is not None})


def check_rank(tensor: Tensor, name: str, *accepted: int) -> None:
    if tensor.dim() not in accepted:
        raise ValueError(f"{name} has rank {tensor.dim()}; accepted is "
                         f"{' or '.join(map(str, accepted))}")


def check_broadcasts(tensor: Tensor, name: str, shape: Sequence[int]) -> None:
    """A tensor of this shape, but for dimensions of size 1."""
    if (tensor.dim() != len(shape) or
            any(size not in (1, whole) for size, whole in zip(tensor.shape, shape))):
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}; accepted is "
                         f"{tuple(shape)}, any of them 1")


def as_bias(bias: Tensor, query: Tensor) -> Tensor:
    """Of a type that attention takes beside the query's."""
    return bias if bias.dtype in (query.dtype, torch.float32) else bias.to(query.dtype)
