"""In place of trifast's triangle attention."""

from typing import Any

import torch
from torch import Tensor

from .._attention import attention
from ._operands import as_bias, check_rank, check_tensors
from ._uniform import add_uniform_softmax


def trifast_triangle_attention(q: Tensor, k: Tensor, v: Tensor, b: Tensor,
                               mask: Tensor) -> Tensor:
    """trifast's `trifast.triangle_attention`:

        softmax over keys of (q k^T / sqrt(d) + b, masked keys filled), times v

    q, k, v: [batch, h, n, n, d], the first n the rows; b: [batch, h, n, n];
    mask: [batch, n, n] by row and key, bool, True *drops* the key. Returns
    [batch, h, n, n, d]. A row whose keys are all dropped gives the mean of v, with
    the gradients of a softmax whose weights are equal.
    """
    check_tensors(q=q, k=k, v=v, b=b, mask=mask)
    for name, tensor, rank in (("q", q, 5), ("b", b, 4), ("mask", mask, 3)):
        check_rank(tensor, name, rank)
    keep = ~mask.to(torch.bool)[:, :, None, None, :]
    bias = as_bias(b, q)[:, None]
    out = attention(q, k, v, [keep, bias], layout="bhnsd")
    dead = ~keep.any(-1, keepdim=True)
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    return add_uniform_softmax(out.transpose(1, 2), dead, q, k, v, bias).transpose(1, 2)


REPLACES: dict[tuple[str, str], Any] = {
    ("trifast", "triangle_attention"): trifast_triangle_attention,
    ("trifast.torch", "triangle_attention"): trifast_triangle_attention,
}
BESIDES: dict[str, dict[str, Any]] = {}
