"""In place of cuEquivariance's triangle attention (cuequivariance_torch)."""

from typing import Any, Optional, Union

import torch
from torch import Tensor

from .._attention import attention
from ._operands import (as_bias, check_broadcasts, check_optional, check_rank,
                        check_tensors, may_look)
from ._uniform import add_uniform_softmax


def _with_five(tensor: Tensor) -> Tensor:
    """With dimensions of size 1 in front, where some are missing."""
    return tensor[(None,) * (5 - tensor.dim())] if tensor.dim() < 5 else tensor


def mask_to_kv_lengths(mask: Tensor) -> Tensor:
    """cuEquivariance's `mask_to_kv_lengths`: how many keys each row keeps.

    mask: [b, n, 1, 1, sk] or, for b = 1, [n, 1, 1, sk]; True (or not 0) keeps, and
    all kept keys come first. Returns [b, n, 1, 1, 1] in int32. Raises ValueError
    for other shapes, and where a dropped key precedes a kept one, if there are values
    to look at.
    """
    check_tensors(mask=mask)
    keep = _with_five(mask.to(torch.bool))
    if keep.dim() != 5 or keep.shape[2:4] != (1, 1):
        raise ValueError(f"mask has shape {tuple(mask.shape)}; accepted is "
                         "(b, n, 1, 1, sk), b may be missing")
    if may_look(keep) and (keep[..., 1:] & ~keep[..., :-1]).any():
        raise ValueError("mask keeps a key behind one that it drops; accepted are "
                         "masks whose kept keys come first")
    return keep.sum(-1, keepdim=True, dtype=torch.int32)


def _lengths_as_mask(kv_lengths: Tensor, q: Tensor, keys: int) -> Tensor:
    expected = (*q.shape[:2], 1, 1, 1)
    if kv_lengths.dtype != torch.int32:
        raise ValueError(f"kv_lengths has type {kv_lengths.dtype}; accepted is "
                         "torch.int32")
    if kv_lengths.shape != expected:
        raise ValueError(f"kv_lengths has shape {tuple(kv_lengths.shape)}; "
                         f"accepted is {expected}")
    if kv_lengths.device != q.device:
        raise ValueError(f"kv_lengths is on {kv_lengths.device}, q on {q.device}: "
                         "all operands must be on one device")
    return torch.arange(keys, device=q.device) < kv_lengths


def _largest_logit(q: Tensor, k: Tensor, bias: Tensor, keep: Optional[Tensor],
                   scale: Optional[float]) -> tuple[Tensor, Tensor]:
    """The logarithm of the sum of exponentials and the largest logit where dropped
    keys have -1e9."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    logits = (q.float() * scale) @ k.float().transpose(-1, -2) + bias.float()
    if keep is not None:
        logits = torch.where(keep, logits, -1e9)
    return logits.logsumexp(-1), logits.amax(-1)


def triangle_attention(
        q: Tensor, k: Tensor, v: Tensor, bias: Tensor, mask: Optional[Tensor] = None,
        scale: Optional[float] = None, return_aux: bool = False, *,
        kv_lengths: Optional[Tensor] = None
) -> Union[Tensor, tuple[Tensor, Tensor, Tensor]]:
    """cuEquivariance's `cuequivariance_torch.triangle_attention`:

        softmax over keys of (scale * q k^T + bias where the mask is True, else
        -1e9), times v

    q: [b, n, h, sq, d], k and v: [b, n, h, sk, d], head-major; bias:
    [b, 1, h, sq, sk]; mask: [b, n, 1, 1, sk], True keeps. Each of them may be
    without b, or b and n, which are 1 then. kv_lengths, instead of a mask: [b, n, 1, 1, 1] in int32, how
    many keys of a row there are; more than sk means all. Work on the others is not
    done, and what they hold does not matter. scale: default
    1 / sqrt(d). Returns [b, n, h, sq, d], always of rank 5, in q's type, and, with
    return_aux, the logarithm of the sum of exponentials and the largest logit,
    both [b, n, h, sq] in float32.

    A row whose keys are all dropped by the mask gives the mean of v, with the
    gradients of a softmax whose weights are equal; one of length 0, and any
    without keys (sk = 0), gives 0 with gradients of 0. To have 0 in any case, and
    no pass over v besides the attention, call evoformer.attention. The largest
    logit costs all logits in memory, as it does in no kernel: return_aux is for
    tests.

    Raises TypeError for what is no tensor and ValueError for shapes that do not
    fit, a kv_lengths of another type, and mask and kv_lengths together.
    """
    check_tensors(q=q, k=k, v=v, bias=bias)
    check_optional(mask=mask, kv_lengths=kv_lengths)
    for name, tensor in (("q", q), ("k", k), ("v", v), ("bias", bias)):
        check_rank(tensor, name, 3, 4, 5)
    q, k, v, bias = map(_with_five, (q, k, v, as_bias(bias, q)))
    b, n, h, sq, _ = q.shape
    sk = k.shape[3]
    check_broadcasts(bias, "bias", (b, 1, h, sq, sk))
    keep = dead = None
    if kv_lengths is not None:
        if mask is not None:
            raise ValueError("mask and kv_lengths given; accepted is one of them")
        keep = _lengths_as_mask(kv_lengths, q, sk)
    elif mask is not None:
        keep = _with_five(mask.to(torch.bool))
        check_broadcasts(keep, "mask", (b, n, 1, 1, sk))
        dead = ~keep.any(-1, keepdim=True)
    if kv_lengths is not None:
        out = attention(q, k, v, [bias], scale=scale, layout="bnhsd",
                        key_lengths=kv_lengths.reshape(b, n))
    else:
        out = attention(q, k, v, [bias] if keep is None else [keep, bias],
                        scale=scale, layout="bnhsd")
    if dead is not None:
        out = add_uniform_softmax(out, dead, q, k, v, bias, scale)
    if not return_aux:
        return out
    with torch.no_grad():
        if sk == 0:
            nothing = out.new_zeros(out.shape[:-1], dtype=torch.float32)
            return out, nothing, nothing.clone()
        lse, largest = _largest_logit(q, k, bias, keep, scale)
        if kv_lengths is not None:
            some = kv_lengths[..., 0] > 0
            lse, largest = (torch.where(some, t, 0.0) for t in (lse, largest))
        return out, lse, largest


REPLACES: dict[tuple[str, str], Any] = {
    ("cuequivariance_torch", "triangle_attention"): triangle_attention,
    ("cuequivariance_torch.primitives.triangle", "triangle_attention"):
        triangle_attention,
    ("cuequivariance_torch", "mask_to_kv_lengths"): mask_to_kv_lengths,
    ("cuequivariance_torch.primitives.triangle", "mask_to_kv_lengths"):
        mask_to_kv_lengths,
}

# OpenFold3 asks for the number of tokens up to which no kernel would be used.
BESIDES: dict[str, dict[str, Any]] = {
    "cuequivariance_ops_torch.triangle_attention":
        {"CUEQ_TRIATTN_FALLBACK_THRESHOLD": 0},
}
