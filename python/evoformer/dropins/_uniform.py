"""Rows whose keys are all dropped. Other packages fill the logits of dropped keys
with one large negative number: where that is every key, softmax gives all of them
equal weight. evoformer.attention gives 0 there, with gradients of 0, so that the
uniform softmax and its gradients are added."""

from typing import Any, Optional

import torch
from torch import Tensor

from ._operands import may_look


def _mean(v: Tensor, dead: Tensor) -> Tensor:
    mean = v.mean(-2, keepdim=True, dtype=torch.float32)
    return torch.where(dead, mean, 0.0).to(v.dtype)


class _UniformSoftmax(torch.autograd.Function):
    """softmax(logits) v in dead rows and 0 in others, where

        logits = scale * q k^T + bias + a constant that swallows all differences

    q: [b, n, h, sq, d], k and v: [b, n, h, sk, d], bias: broadcast to
    [b, n, h, sq, sk], dead: [b, n, 1, 1, 1] or broadcast to it. Every weight is
    1 / sk; the gradient of logit j is (<g, v_j> - <g, mean of v>) / sk.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor,
                dead: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(q, k, v, bias, dead)
        ctx.scale = scale
        return _mean(v, dead).expand(*q.shape[:-1], v.shape[-1])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Optional[Tensor], ...]:
        q, k, v, bias, dead = ctx.saved_tensors
        needs = ctx.needs_input_grad
        # Other rows may hold anything, NaN too.
        share = torch.where(dead, gradients[0], 0.0) / k.shape[-2]
        mean = v.mean(-2, keepdim=True, dtype=torch.float32)
        centred = torch.where(dead, v - mean, 0.0).to(v.dtype)
        share = share.to(v.dtype)
        of_q = of_k = of_v = of_bias = None
        if needs[0]:
            product = share @ (centred.transpose(-1, -2) @ k)
            of_q = torch.where(dead, product * ctx.scale, 0.0).to(q.dtype)
        if needs[1]:
            product = centred @ (share.transpose(-1, -2) @ q)
            of_k = torch.where(dead, product * ctx.scale, 0.0).to(k.dtype)
        if needs[2]:
            of_v = share.sum(-2, keepdim=True).expand_as(v)
        if needs[3]:
            # Summed where the bias is broadcast.
            kept = "".join(c for c, size in zip("bnhij", bias.shape) if size != 1)
            of_bias = torch.einsum(f"bnhid,bnhjd->{kept}", share, centred).to(
                bias.dtype).view(bias.shape)
        return of_q, of_k, of_v, of_bias, None, None


def add_uniform_softmax(out: Tensor, dead: Tensor, q: Tensor, k: Tensor, v: Tensor,
                        bias: Tensor, scale: Optional[float] = None) -> Tensor:
    """`out`, the attention of these operands, with the uniform softmax in dead
    rows, where it is 0. Order of dimensions and shapes as of _UniformSoftmax."""
    if k.shape[-2] == 0:
        return out  # No weights at all.
    # On a GPU asking would wait for it.
    if dead.device.type == "cpu" and may_look(dead) and not dead.any():
        return out
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    q, k, v = (t.to(out.dtype) for t in (q, k, v))  # Autocast's, where that is on.
    if torch.is_grad_enabled() and any([t.requires_grad for t in (q, k, v, bias)]):
        added: Tensor = _UniformSoftmax.apply(  # type: ignore[no-untyped-call]
            q, k, v, bias, dead, scale)
        return out + added
    return out + _mean(v, dead)
