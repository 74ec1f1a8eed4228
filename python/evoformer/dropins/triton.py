"""In place of the Triton kernels' EvoformerAttention, OpenFold3's among them."""

import warnings
from typing import Any, Optional

import torch
from torch import Tensor

from .._attention import attention
from ._operands import as_bias, check_optional, check_tensors, may_look
from ._uniform import add_uniform_softmax

# Devices whose masks were looked at.
_looked_at: set[torch.device] = set()


def _warn_of_zeros_and_ones(mask: Tensor) -> None:
    """0 and 1 in a float mask nearly always mean what to keep, which is bool's
    meaning: added, they keep all. On a GPU looking waits for it, so that only the
    first mask there is looked at."""
    if not may_look(mask):
        return
    if mask.device.type != "cpu":
        if mask.device in _looked_at or torch.cuda.is_current_stream_capturing():
            return
        _looked_at.add(mask.device)
    if bool(((mask == 0) | (mask == 1)).all() & (mask == 1).any()):
        warnings.warn(
            "res_mask holds the numbers 0 and 1, which are added to the logits and "
            "drop no key; accepted to drop keys are res_mask.bool(), True keeps, or "
            "large negative numbers", stacklevel=3)


class EvoformerAttention:
    """The Triton kernels' `EvoformerAttention`; only `apply` is of use."""

    @staticmethod
    def apply(Q: Tensor, K: Tensor, V: Tensor, res_mask: Optional[Tensor],
              pair_bias: Optional[Tensor], has_pair_bias: bool = True,
              dynamic: bool = False, softmax_scale: Optional[float] = None) -> Tensor:
        """softmax(Q K^T / sqrt(d) + pair_bias, with masked keys filled) V

        Q, K, V: [b, n, s, h, d]; res_mask: [b, n, 1, 1, s], bool, True keeps, or,
        as in OpenFold3's version, of numbers that are added; pair_bias:
        [b, 1, h, s, s]. Either may be None. Returns [b, n, s, h, d]. Without
        has_pair_bias the pair bias is not read; softmax_scale replaces 1 / sqrt(d);
        dynamic chooses between kernels there and changes nothing here.

        The first public version reads [b, n, s, h, d] as [b, h, n, s, d] without
        moving anything (reshape instead of transpose): another function, which
        mixes heads and rows, and a known defect. This is the function that is
        meant, and that later versions compute. A row whose keys are all dropped
        by a bool mask gives the mean of V, with the gradients of a softmax whose
        weights are equal, as filling with one number does. Numbers that are all 0
        or 1 are added too, with a warning.
        """
        check_tensors(Q=Q, K=K, V=V)
        check_optional(res_mask=res_mask, pair_bias=pair_bias)
        bias = None
        if pair_bias is not None and has_pair_bias:
            bias = as_bias(pair_bias, Q)
        biases = [] if bias is None else [bias]
        keep = None
        if res_mask is not None and res_mask.is_floating_point():
            _warn_of_zeros_and_ones(res_mask)
            biases.insert(0, as_bias(res_mask, Q))
        elif res_mask is not None:
            keep = res_mask.to(torch.bool)
            biases.insert(0, keep)
        out = attention(Q, K, V, biases, scale=softmax_scale, layout="bnshd")
        if keep is None:
            return out
        dead = ~keep.any(-1, keepdim=True)
        if bias is None:
            bias = Q.new_zeros((1,) * 5)
        q, k, v = (t.transpose(2, 3) for t in (Q, K, V))
        return add_uniform_softmax(out.transpose(2, 3), dead, q, k, v, bias,
                                   softmax_scale).transpose(2, 3)


_OPENFOLD3 = "openfold3.core.kernels.triton.evoformer"
REPLACES: dict[tuple[str, str], Any] = {
    (_OPENFOLD3, "TritonEvoformer"): EvoformerAttention.apply,
    (_OPENFOLD3, "TritonEvoformerDynamic"): EvoformerAttention.apply,
}
BESIDES: dict[str, dict[str, Any]] = {}
