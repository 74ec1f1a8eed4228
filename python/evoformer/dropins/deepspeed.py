"""In place of DeepSpeed's DS4Sci_EvoformerAttention."""

from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch.utils.checkpoint
from torch import Tensor

from .._attention import attention
from ._operands import as_bias, check_rank, check_tensors


def DS4Sci_EvoformerAttention(Q: Tensor, K: Tensor, V: Tensor,
                              biases: Sequence[Optional[Tensor]]) -> Tensor:
    """DeepSpeed's `deepspeed.ops.deepspeed4science.DS4Sci_EvoformerAttention`:

        softmax(Q K^T / sqrt(d) + biases[0] + biases[1]) V

    Q, K, V: [b, n, s, h, d]; biases: up to two tensors or None, [b, n, 1, 1, s]
    and [b, 1, h, s, s], added to the logits. Returns [b, n, s, h, d].

    Other than DeepSpeed's, it takes float32 and any s, leaves the list `biases` as
    it is, and gives equal bits in every run. -1e9 for every key of a row cancels,
    as in exact arithmetic.

    Raises TypeError for what is no tensor or no list, ValueError for shapes that do
    not fit.
    """
    check_tensors(Q=Q, K=K, V=V)
    check_rank(Q, "Q", 5)
    check_rank(K, "K", 5)
    if not isinstance(biases, (list, tuple)):
        raise TypeError(f"biases is a {type(biases).__name__}; accepted is a list "
                        "of up to two tensors or None")
    if len(biases) > 2:
        raise ValueError(f"{len(biases)} biases given; accepted are up to two")
    b, n, s, h, _ = Q.shape
    expected = ((b, n, 1, 1, K.shape[2]), (b, 1, h, s, K.shape[2]))
    given = []
    for number, (bias, shape) in enumerate(zip(biases, expected)):
        if bias is None:
            continue
        check_tensors(**{f"biases[{number}]": bias})
        if bias.shape != shape:
            raise ValueError(f"biases[{number}] has shape {tuple(bias.shape)}; "
                             f"accepted is {shape}")
        given.append(as_bias(bias, Q))
    out = attention(Q, K, V, given, layout="bnshd")
    return out


def _no() -> bool:
    return False


def _checkpoint(function: Callable[..., Any], *arguments: Any) -> Any:
    return torch.utils.checkpoint.checkpoint(function, *arguments,
                                             use_reentrant=True)


def _non_reentrant_checkpoint(function: Callable[..., Any], *arguments: Any) -> Any:
    return torch.utils.checkpoint.checkpoint(function, *arguments,
                                             use_reentrant=False)


REPLACES: dict[tuple[str, str], Any] = {
    ("deepspeed.ops.deepspeed4science", "DS4Sci_EvoformerAttention"):
        DS4Sci_EvoformerAttention,
}

# OpenFold and OpenFold3 take a DeepSpeed that is there for one that may have been
# set up, and ask it: nothing was. They import its checkpointing and its conversion
# of checkpoints by the way.
_CHECKPOINTING = {"is_configured": _no, "checkpoint": _checkpoint,
                  "non_reentrant_checkpoint": _non_reentrant_checkpoint}
BESIDES: dict[str, dict[str, Any]] = {
    "deepspeed.comm": {"is_initialized": _no},
    "deepspeed.comm.comm": {"is_initialized": _no},
    "deepspeed.utils": {"is_initialized": _no},
    "deepspeed.utils.zero_to_fp32": {},
    "deepspeed.checkpointing": _CHECKPOINTING,
    "deepspeed.runtime.activation_checkpointing.checkpointing": _CHECKPOINTING,
}
